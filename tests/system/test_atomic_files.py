"""Files are replaced completely or not at all, keep their permissions, and errors name the path that the user gave."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main
from novikoff.errors import ModelFileError
from novikoff.system import atomic_files
from novikoff.system.atomic_files import open_atomic, write_atomic
from tests.support.bytecode_interrupts import Interrupt, count_bytecodes

RUNNER = CliRunner()
TABLE = "a,b,y\n1,2,yes\n3,1,no\n2,5,yes\n"


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def write_in_two_calls(path, content):
    with open_atomic(path) as file:
        for at in range(0, len(content), 3):
            file.write(content[at : at + 3])


@pytest.fixture(params=[write_atomic, write_in_two_calls])
def write(request):
    return request.param


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield 0o027
    os.umask(before)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o664, 0o200])
def test_the_mode_of_a_file_is_kept(tmp_path, write, umask, mode):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(mode)
    write(path, b"new content")
    assert mode_of(path) == mode
    path.chmod(0o600)
    assert path.read_bytes() == b"new content"


def test_a_new_file_has_the_default_mode(tmp_path, write, umask):
    path = tmp_path / "m"
    write(path, b"new")
    assert mode_of(path) == 0o666 & ~umask


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_owner_and_group_are_kept(tmp_path, write):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    os.chown(path, 12345, 23456)
    path.chmod(0o640)
    write(path, b"new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, mode_of(path)) == (12345, 23456, 0o640)


def test_a_group_that_cannot_be_kept_gets_no_more_rights(tmp_path, write, monkeypatch):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(0o664)
    real = os.fstat

    def of_another_group(handle):
        values = list(real(handle))
        values[5] += 1
        return os.stat_result(values)

    def refused(*arguments):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "fstat", of_another_group)
    monkeypatch.setattr(os, "fchown", refused)
    write(path, b"new")
    assert mode_of(path) == 0o644


def test_extended_attributes_are_kept(tmp_path, write):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    try:
        os.setxattr(path, "user.origin", b"by hand")
    except (AttributeError, OSError):
        pytest.skip("no extended attributes here")
    write(path, b"new")
    assert os.getxattr(path, "user.origin") == b"by hand"


def test_a_read_only_file_is_not_replaced(tmp_path, write):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(0o444)
    with pytest.raises(PermissionError, match=r"read-only.*chmod") as caught:
        write(path, b"new")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")
def test_chmod_is_advised_only_to_the_owner(tmp_path, write, monkeypatch):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    path.chmod(0o444)
    other = path.stat().st_uid + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(PermissionError, match=r"read-only for this user\. Name another file") as caught:
        write(path, b"new")
    assert "chmod" not in caught.value.strerror


@pytest.mark.skipif(not hasattr(os, "statvfs"), reason="the system does not tell how it is mounted")
@pytest.mark.parametrize("exists", [False, True])
def test_a_read_only_mount_is_the_reason(tmp_path, write, monkeypatch, exists):
    path = tmp_path / "m"
    if exists:
        path.write_bytes(b"old")
        path.chmod(0o444)
    real, real_access = os.statvfs, os.access

    def read_only(folder):
        return os.statvfs_result([*real(folder)[:8], os.ST_RDONLY, 255])

    monkeypatch.setattr(os, "statvfs", read_only)
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and real_access(path, mode))
    with pytest.raises(OSError, match=r"no file can be made in its folder .*Read-only file system") as caught:
        write(path, b"new")
    assert (caught.value.errno, caught.value.filename) == (errno.EROFS, str(path))


def test_a_symbolic_link_stays_and_its_file_is_replaced(tmp_path, write):
    (tmp_path / "models").mkdir()
    target, link, second = tmp_path / "models" / "m", tmp_path / "latest", tmp_path / "second"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(Path("models", "m"))
    second.symlink_to("latest")
    write(second, b"new")
    assert second.readlink() == Path("latest")
    assert link.readlink() == Path("models", "m")
    assert target.read_bytes() == b"new"
    assert mode_of(target) == 0o600
    assert os.listdir(tmp_path / "models") == ["m"]


def test_a_link_to_a_file_that_does_not_exist_yet(tmp_path, write):
    link = tmp_path / "latest"
    link.symlink_to("m")
    write(link, b"new")
    assert link.is_symlink()
    assert (tmp_path / "m").read_bytes() == b"new"


def test_other_hard_links_keep_the_old_file(tmp_path, write):
    path, other = tmp_path / "m", tmp_path / "backup"
    path.write_bytes(b"old")
    other.hardlink_to(path)
    write(path, b"new")
    assert (path.read_bytes(), other.read_bytes()) == (b"new", b"old")


def test_a_name_of_the_largest_length(tmp_path, write):
    path = tmp_path / ("m" * 255)
    write(path, b"new")
    assert path.read_bytes() == b"new"


def test_a_symlink_loop(tmp_path, write):
    path, other = tmp_path / "m", tmp_path / "n"
    path.symlink_to(other)
    other.symlink_to(path)
    with pytest.raises(OSError, match="Too many levels") as caught:
        write(path, b"new")
    assert caught.value.filename == str(path)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EROFS, errno.EIO])
@pytest.mark.parametrize("function", ["open", "fsync", "replace", "fchmod"])
def test_errors_name_the_path_that_was_given(tmp_path, write, monkeypatch, function, number):
    path = tmp_path / "m"
    path.write_bytes(b"old")
    real = getattr(os, function)

    def failing(*arguments, **options):
        if function == "open" and not str(arguments[0]).startswith(str(tmp_path)):
            return real(*arguments, **options)
        raise OSError(number, os.strerror(number), str(arguments[0]))

    monkeypatch.setattr(os, function, failing)
    with pytest.raises(OSError, match=os.strerror(number)) as caught:
        write(path, b"new")
    monkeypatch.undo()
    assert (caught.value.errno, caught.value.filename, caught.value.filename2) == (number, str(path), None)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m"]


def test_a_folder_that_cannot_be_read_is_not_an_error(tmp_path, write, monkeypatch):
    """Files can be created in it, but it cannot be synced."""
    real = os.open

    def failing(path, *arguments, **options):
        if Path(path) == tmp_path:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", failing)
    write(tmp_path / "m", b"new")
    assert (tmp_path / "m").read_bytes() == b"new"


def test_the_content_is_read_back_and_compared(tmp_path, monkeypatch):
    path = tmp_path / "m"
    write_atomic(path, b"old")
    real = os.fsync

    def corrupting(handle):
        os.pwrite(handle, b"?", 2)
        real(handle)

    monkeypatch.setattr(os, "fsync", corrupting)
    with pytest.raises(OSError, match="read back is not what was written") as caught:
        write_atomic(path, b"new content")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["m"]


def device(folder, name, minor):
    """Create a device. Tests that run as root must not use those of the system, which a bug would replace."""
    if not os.path.exists(f"/dev/{name}"):
        pytest.skip(f"no /dev/{name} here")
    if os.geteuid() != 0:
        return Path(f"/dev/{name}")
    path = folder / name
    try:
        os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, minor))
        path.open("rb").close()
    except OSError:
        pytest.skip("no devices can be made here")
    return path


def test_a_device_is_written_to(tmp_path, write):
    null, full = device(tmp_path, "null", 3), device(tmp_path, "full", 7)
    write(null, b"new")
    assert stat.S_ISCHR(null.stat().st_mode)
    with pytest.raises(OSError, match="No space left") as caught:
        write(full, b"new")
    assert caught.value.filename == str(full)
    assert stat.S_ISCHR(full.stat().st_mode)


def test_a_named_pipe_is_written_to(tmp_path, write):
    path, found = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    write(path, b"new")
    reader.join()
    assert found == [b"new"]
    assert stat.S_ISFIFO(path.stat().st_mode)


@pytest.mark.skipif(not os.path.exists("/proc/self/fd/1"), reason="no /proc here")
@pytest.mark.parametrize("is_file", [False, True])
def test_standard_output_is_written_to(tmp_path, is_file):
    """Also if it is redirected to a file that gets lines before and after."""
    path = tmp_path / "stdout"  # a link such as /dev/stdout, which a fault would replace
    path.symlink_to("/proc/self/fd/1")
    code = (
        "import sys\nfrom pathlib import Path\nfrom novikoff.system.atomic_files import write_atomic\n"
        "print('before', flush=True)\nwrite_atomic(Path(sys.argv[1]), b'content\\n')\nprint('after')"
    )
    with open(tmp_path / "out", "wb") as out:
        where = out if is_file else subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", code, path], stdout=where, check=True)
    assert ((tmp_path / "out").read_bytes() if is_file else done.stdout) == b"before\ncontent\nafter\n"


# -- models


def stream_model(folder):
    path = folder / "t.csv"
    path.write_text(TABLE)
    return nk.learn(path)


def tagger(folder):
    return nk.SequenceTagger(max_iter=2).fit([["a", "b"], ["b"]], [["x", "y"], ["y"]])


X, Y = np.array([[1.0, 2.0], [3.0, 1.0], [2.0, 5.0]]), np.array([1, 0, 1])
MODELS = {
    "perceptron": lambda folder: nk.Perceptron().fit(X, Y),
    "kernel": lambda folder: nk.KernelPerceptron().fit(X, Y),
    "kernel regressor": lambda folder: nk.KernelRegressor().fit(X, Y),
    "linear": lambda folder: nk.LinearClassifier().fit(X, Y),
    "linear regressor": lambda folder: nk.LinearRegressor().fit(X, Y),
    "stream": stream_model,
    "tagger": tagger,
}


@pytest.fixture(params=MODELS)
def model(request, tmp_path):
    return MODELS[request.param](tmp_path)


def test_every_save_keeps_permissions_and_links(tmp_path, model):
    target, path = tmp_path / "target.nk", tmp_path / "m.nk"
    path.symlink_to(target)
    model.save(path)
    target.chmod(0o600)
    model.save(path)
    assert path.is_symlink()
    assert mode_of(target) == 0o600
    nk.load(path)
    target.chmod(0o400)
    with pytest.raises(ModelFileError, match=rf"^{path} cannot be written: the file is read-only\..*chmod"):
        model.save(path)


def test_every_save_names_the_file_on_a_full_disk(tmp_path, model, monkeypatch):
    path = tmp_path / "m.nk"
    model.save(path)
    before, names = path.read_bytes(), sorted(os.listdir(tmp_path))

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ModelFileError, match=rf"^{path} cannot be written: No space left on device\.$"):
        model.save(path)
    assert path.read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == names


def corrupt_stream(model):
    model.model.state.raw.coef[0, 0] = np.inf


def corrupt_moments(model):
    model.encoding.moments[1][0] = np.nan


def corrupt_tagger(model):
    tags = model._snapshot.tags
    tags[0] = tags[1]


def corrupt_passes(model):
    model._snapshot.state.passes = -1


def corrupt_parameters(model):
    model.set_params(max_iter=-3)


@pytest.mark.parametrize(
    ("kind", "spoil"),
    [
        ("stream", corrupt_stream),
        ("stream", corrupt_moments),
        ("tagger", corrupt_tagger),
        ("tagger", corrupt_passes),
        *((kind, corrupt_parameters) for kind in ("perceptron", "kernel", "kernel regressor", "linear")),
        ("linear regressor", corrupt_parameters),
    ],
)
def test_a_model_that_could_not_be_loaded_replaces_nothing(tmp_path, kind, spoil):
    model, path = MODELS[kind](tmp_path), tmp_path / "m.nk"
    model.save(path)
    before = path.read_bytes()
    spoil(model)
    with pytest.raises(ValueError, match=r"."):
        model.save(path)
    assert path.read_bytes() == before
    nk.load(path)


def test_save_to_something_that_is_not_a_path(tmp_path, model):
    with pytest.raises(ModelFileError, match="cannot be written: embedded null byte"):
        model.save(str(tmp_path / "m\0.nk"))


# -- commands


def run(*words):
    return RUNNER.invoke(main, list(map(str, words)))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(TABLE)
    return path


def commands(table, output):
    model = table.with_name("model.nk")
    if not model.exists():
        assert run("learn", table, "-o", model).exit_code == 0
    return {
        "learn": ("learn", table, "-o", output),
        "convert": ("convert", table, output, "--to", "jsonl"),
        "convert to Parquet": ("convert", table, output, "--to", "parquet"),
        "predict": ("predict", model, table, "--target", "y", "-o", output),
        "export": ("export", model, "-o", output, "--to", "json"),
    }


COMMANDS = ["learn", "convert", "convert to Parquet", "predict", "export"]


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_follow_links_and_keep_permissions(tmp_path, table, name):
    output, target = tmp_path / "out", tmp_path / "target"
    output.symlink_to("target")
    for _ in range(2):
        done = run(*commands(table, output)[name])
        assert done.exit_code == 0, done.output
        assert output.is_symlink()
        target.chmod(0o600)
    assert run(*commands(table, output)[name]).exit_code == 0
    assert mode_of(target) == 0o600


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_do_not_replace_read_only_files(tmp_path, table, name):
    output = tmp_path / "out"
    assert run(*commands(table, output)[name]).exit_code == 0
    before = output.read_bytes()
    output.chmod(0o444)
    done = run(*commands(table, output)[name])
    assert done.exit_code == 1
    assert f"{output}: the file is read-only" in done.output
    assert output.read_bytes() == before


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_name_a_symlink_loop(tmp_path, table, name):
    output = tmp_path / "out"
    output.symlink_to("other")
    (tmp_path / "other").symlink_to("out")
    done = run(*commands(table, output)[name])
    assert done.exit_code == 1
    assert f"{output}: Too many levels of symbolic links" in done.output


def test_a_link_into_a_missing_folder_names_that_folder(tmp_path, table):
    link = tmp_path / "latest"
    link.symlink_to("models/m.nk")
    done = run("learn", table, "-o", link)
    assert done.exit_code == 2
    assert f"there is no folder {tmp_path.resolve() / 'models'}." in " ".join(done.output.split())
    plain = run("learn", table, "-o", "nowhere/m.nk")
    assert "there is no folder nowhere." in plain.output


def test_rejects_name_a_full_disk(tmp_path, table):
    full = device(tmp_path, "full", 7)
    table.write_text(f"{TABLE}1,2\n" + "5,6,yes\n")
    done = run("learn", table, "-o", tmp_path / "m.nk", "--bad-rows", "skip", "--rejects", full)
    assert done.exit_code == 1
    assert f"{full}: No space left on device" in done.output


@pytest.mark.parametrize("extension", ["parquet", "arrow", "csv", "csv.zst", "csv.gz"])
def test_ctrl_c_in_convert_leaves_no_file(tmp_path, table, extension, monkeypatch):
    """At every write: after an interrupt within pyarrow its writer cannot be closed."""
    from novikoff.data.writing import columnar, outputs

    output, names = tmp_path / f"out.{extension}", sorted(os.listdir(tmp_path))
    real, at = outputs.open_atomic, 0
    monkeypatch.setattr(outputs, "open_atomic", lambda path: _InterruptingFile(real(path), at))
    monkeypatch.setattr(columnar, "_MIN_CELLS", 1)
    while True:
        done = run("convert", table, output)
        if done.exit_code == 0:
            break
        assert done.exit_code == 130
        assert done.output.startswith("Stopped")
        assert sorted(os.listdir(tmp_path)) == names
        at += 1
    assert at
    assert output.exists()


class _InterruptingFile:
    """A file that raises a KeyboardInterrupt at one of its writes."""

    def __init__(self, opened, at):
        self.opened, self.left = opened, at

    def __enter__(self):
        self.file = self.opened.__enter__()
        return self

    def __exit__(self, *error):
        return self.opened.__exit__(*error)

    def write(self, data):
        self.left -= 1
        if self.left == -1:
            raise KeyboardInterrupt
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)


def test_an_interrupt_at_any_bytecode_leaves_no_file_open(tmp_path, write):
    """A file that is left to Python to close would be a ResourceWarning, which is an error here."""
    path, module = tmp_path / "m", atomic_files.__file__
    path.write_bytes(b"before")
    n = count_bytecodes(lambda: write(path, b"before"), module)
    for number in range(n):
        path.write_bytes(b"before")
        Interrupt(number, module)(lambda: write(path, b"after"))
        assert path.read_bytes() in (b"before", b"after"), number

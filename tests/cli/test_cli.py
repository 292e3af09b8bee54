"""The command as a whole: demo, errors, version."""

import os
import random
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from novikoff import __version__
from novikoff.cli import main
from novikoff.system.atomic_files import write_atomic

N_INTERRUPTED_RUNS = int(os.environ.get("NOVIKOFF_INTERRUPTED_RUNS", "12"))


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(main, words)


def test_demo_prints_its_ledger_and_writes_the_digits(run, tmp_path):
    result = run("demo")
    assert result.exit_code == 0, result.output
    table = [line.split() for line in result.output.splitlines() if line.strip()[:1].isdigit()]
    online = [row for row in table if len(row) == 7][:12]
    examples, mistakes, left = ([int(row[k].replace(",", "")) for row in online] for k in (0, 1, 6))
    assert examples == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 1297]
    assert mistakes == sorted(mistakes)
    assert all(m + more == mistakes[0] + left[0] for m, more in zip(mistakes, left, strict=True))
    assert left[-1] > 0, "the theorem was broken"
    for name in ("last", "averaged", "voted", "made no mistake"):
        assert name in result.output
    lines = (tmp_path / "digits.csv").read_text().splitlines()
    assert len(lines) == 1 + 1797
    assert lines[0].startswith("digit,pixel_0_0,")


def test_demo_overwrites_no_other_file(run, tmp_path):
    (tmp_path / "digits.csv").write_text("mine\n")
    result = run("demo")
    assert result.exit_code == 1
    assert "digits.csv exists" in result.output
    assert "--csv" in result.output
    assert (tmp_path / "digits.csv").read_text() == "mine\n"


def test_errors_are_one_line(run, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path, words in (("nowhere/x.csv", "nowhere/x.csv: No such file"), ("pipe", "pipe exists")):
        result = run("demo", "--csv", path)
        assert result.exit_code == 1
        assert result.output.startswith(f"Error: {words}")
        assert result.output.count("\n") == 1
    assert run("learn-to-fly").exit_code == 2


def test_version_by_module():
    command = [sys.executable, "-m", "novikoff", "--version"]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()[-1] == __version__


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model"
    write_atomic(path, b"old")

    def killed(*paths):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]


def run_entry_point(folder, before, *words):
    """Start the novikoff command in a process, as its script does, after some other code."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    module, function = project["scripts"]["novikoff"].split(":")
    code = f"{before}\nfrom {module} import {function}\nsys.exit({function}())"
    return subprocess.Popen(
        [sys.executable, "-c", code, *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


INTERRUPT_AN_IMPORT = """
import os, signal, sys
class Interrupter:
    @staticmethod
    def find_spec(name, *more):
        if name == "novikoff.cli.learn":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupter)
"""


def test_an_interrupt_while_the_command_is_imported(tmp_path):
    process = run_entry_point(tmp_path, INTERRUPT_AN_IMPORT, "--version")
    assert process.communicate(timeout=60) == ("", "Stopped. No file was written.\n")
    assert process.returncode == 130


INTERRUPT_A_CLASS = """
import signal, sys
class Interrupter:
    def __set_name__(self, owner, name):
        signal.raise_signal(signal.SIGINT)
class Finder:
    @staticmethod
    def find_spec(name, *more):
        if name == {module!r}:
            class Holder:
                field = Interrupter()
sys.meta_path.insert(0, Finder)
"""


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("novikoff.cli.learn", "Stopped. No file was written.\n"),
        ("novikoff.data.writing", "Stopped. t.parquet was not written.\n"),
    ],
)
def test_an_interrupt_while_a_class_names_its_fields(tmp_path, module, message):
    """Python 3.11 wraps it in a RuntimeError."""
    (tmp_path / "t.csv").write_text("a,y\n1,yes\n2,no\n")
    process = run_entry_point(tmp_path, INTERRUPT_A_CLASS.format(module=module), "convert", "t.csv", "t.parquet")
    assert process.communicate(timeout=60) == ("", message)
    assert process.returncode == 130


def test_interrupts_at_random_moments_print_no_traceback(tmp_path):
    """From the first import to the end, once or twice in a row, as when a key is held down."""
    (tmp_path / "t.csv").write_text("a,b,y\n" + "1.5,2,yes\n3,1,no\n" * 20_000)
    rng, duration = random.Random(8), None
    for attempt in range(1 + N_INTERRUPTED_RUNS):
        process = run_entry_point(tmp_path, "import sys; print('ready', flush=True)", "convert", "t.csv", "t.parquet")
        assert process.stdout.readline() == "ready\n"
        begin = time.monotonic()
        if duration is not None:
            time.sleep(rng.uniform(0.0, duration))
            process.send_signal(signal.SIGINT)
            if attempt % 2:
                time.sleep(0.01)
                process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
        duration = duration or time.monotonic() - begin
        assert "Traceback" not in errors
        assert "Exception ignored" not in errors
        assert process.returncode in (0, 130, -signal.SIGINT)  # the last one while the interpreter ends
        if process.returncode == 130:
            assert errors.lstrip("\n").startswith("Stopped.")
            is_written = "t.parquet was written." in errors  # the signal came between writing and the end
            assert sorted(os.listdir(tmp_path)) == (["t.csv", "t.parquet"] if is_written else ["t.csv"])
        (tmp_path / "t.parquet").unlink(missing_ok=True)

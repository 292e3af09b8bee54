"""Ctrl-C, as a real signal, during every command: what it says, its exit code, and the files it leaves."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import threading

import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main
from novikoff.cli.interrupts import Interrupted

pytestmark = pytest.mark.skipif(os.name == "nt", reason="there are no such signals and pipes")

PATIENCE = 120
TABLE = "a,b,y\n" + "".join(f"{k % 7},{k % 5},{'no' if k % 3 else 'yes'}\n" for k in range(60))
# Each command, with `pipe` in place of a file that it reads, which never ends; and the output that it then lacks.
READING = {
    "learn": (["learn", "pipe", "--format", "csv", "-o", "new.nk"], None),
    "tag learn": (["tag", "learn", "pipe", "-o", "new.nk"], "new.nk"),
    "tag apply": (["tag", "apply", "tagger.nk", "pipe", "-o", "new.txt"], "new.txt"),
    "tag test": (["tag", "test", "tagger.nk", "pipe"], None),
    "tag inspect": (["tag", "inspect", "pipe"], None),
    "select": (["select", "pipe", "--format", "csv", "-o", "new.nk"], "new.nk"),
    "compare": (["compare", "pipe", "--format", "csv"], None),
    "certify": (["certify", "pipe", "--format", "csv", "--plot", "new.png"], "new.png"),
    "convert": (["convert", "pipe", "new.svm", "--format", "csv"], "new.svm"),
    "predict": (["predict", "model.nk", "pipe", "--format", "csv", "-o", "new.txt"], "new.txt"),
    "test": (["test", "model.nk", "pipe", "--format", "csv"], None),
    "inspect": (["inspect", "pipe"], None),
    "export": (["export", "pipe", "-o", "new.json"], "new.json"),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """A folder with a table, a model that has learned from it, and a tagger."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "table.csv").write_text(TABLE)
    subprocess.run(command("learn", "table.csv", "-o", "model.nk"), cwd=folder, check=True, capture_output=True)
    nk.SequenceTagger(["word[0]"], max_iter=1).fit([["a", "b"]], [["X", "Y"]]).save(folder / "tagger.nk")
    return folder


def command(*arguments):
    return [sys.executable, "-m", "novikoff", *map(str, arguments)]


def start(folder, *arguments):
    process = subprocess.Popen(
        command(*arguments),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    timer = threading.Timer(PATIENCE, process.kill)
    timer.daemon = True
    timer.start()
    return process


def interrupt(process):
    """Send Ctrl-C; return what the command has printed on the standard error.

    A signal that comes after CPython's check for signals and before a call that blocks is handled after that call: then
    nothing happens, and a user presses the keys again.
    """
    errors = None
    while errors is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            errors = process.communicate(timeout=20)[1]
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors
    assert not errors.startswith("Error")
    return errors


ELSEWHERE = {"replay", "serve", "studio"}  # in tests/service/test_stopping.py and tests/cli/test_studio.py


def test_every_command_is_interrupted_here_or_elsewhere():
    commands = {name for name in main.commands if name != "tag"}
    assert {*commands, *(f"tag {name}" for name in main.commands["tag"].commands)} == {*READING, "demo", *ELSEWHERE}


@pytest.mark.parametrize("name", READING)
def test_every_command_says_that_it_stopped_and_writes_nothing(name, models, tmp_path):
    arguments, output = READING[name]
    for file in models.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    before = {file.name for file in tmp_path.iterdir()}
    os.mkfifo(tmp_path / "pipe")
    process = start(tmp_path, *arguments)
    with open(tmp_path / "pipe", "wb"):  # returns when the command has opened the other end: it has begun to read
        last = interrupt(process).splitlines()[-1]
    if name in ("learn", "tag learn"):
        assert last in ("Stopped. Nothing was learned, and new.nk was not written.", "Stopped. new.nk was not written.")
    else:
        assert last == (f"Stopped. {output} was not written." if output else "Stopped. No file was written.")
    assert {file.name for file in tmp_path.iterdir()} == before | {"pipe"}


def test_demo_says_that_its_digits_were_written(tmp_path):
    process = start(tmp_path, "demo")
    for line in process.stdout:
        if line.startswith("Online:"):
            break
    assert interrupt(process) == "Stopped. digits.csv was written.\n"
    assert (tmp_path / "digits.csv").read_text().startswith("digit,")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["select", "pipe", "--format", "csv", "--grid", "passes=1000000", "-o", "model.nk"], "model.nk is as it was."),
        (["compare", "pipe", "--format", "csv", "--passes", "100000000"], "No file was written."),
    ],
)
def test_interrupts_while_models_learn(arguments, expected, models, tmp_path):
    """All rows have been read, and the signal comes while the candidates learn from them, for longer than any test."""
    (tmp_path / "model.nk").write_bytes((models / "model.nk").read_bytes())
    os.mkfifo(tmp_path / "pipe")
    process = start(tmp_path, *arguments)
    with open(tmp_path / "pipe", "w") as pipe:
        pipe.write(TABLE)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(3)
    assert interrupt(process).splitlines()[-1] == f"Stopped. {expected}"
    assert (tmp_path / "model.nk").read_bytes() == (models / "model.nk").read_bytes()


def test_certify_prints_the_bounds_that_it_has(tmp_path, monkeypatch):
    """Ctrl-C ends the search for the fewest errors, whose bounds are printed: of XOR at least 1 row is wrong, and the
    simplest half-space, everything on one side, errs on 2."""

    def send_signal(search):
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr("novikoff.theory.fewest_errors_search.FewestErrorsSearch._try_guesses", send_signal)
    (tmp_path / "xor.csv").write_text("a,b,y\n0,0,no\n1,1,no\n0,1,yes\n1,0,yes\n")
    found = CliRunner().invoke(main, ["certify", str(tmp_path / "xor.csv")])
    assert found.exit_code == 130, found.output
    assert "NOT SEPARABLE" in found.stdout
    assert re.search(r"The best linear rule errs on .* 1 .* 2 ", " ".join(found.stdout.split()))
    assert found.stderr == (
        "Stopped. The verdict and the bounds on errors are proved; more time may improve the bounds.\n"
    )


def test_the_message_begins_below_the_caret(capsys, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    Interrupted("Stopped.").show()
    assert capsys.readouterr().err == "\nStopped.\n"

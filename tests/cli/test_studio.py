"""novikoff studio: the address, exports, and what is refused."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import urllib.request

import pytest
from click.testing import CliRunner

from novikoff.cli import main
from novikoff.errors import DataError
from novikoff.studio.lessons import read_lesson

STUDIO = [sys.executable, "-m", "novikoff", "studio", "--no-browser", "--port", "0"]


def run(*arguments):
    return CliRunner().invoke(main, ["studio", *map(str, arguments)])


@pytest.fixture
def started(tmp_path):
    """Return a function that starts the command and returns the process and the line that it prints."""
    processes = []

    def start(*arguments):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = subprocess.Popen(
            [*STUDIO, *map(str, arguments)], env={**os.environ, "TMPDIR": str(tmp_path)}, **pipes
        )
        processes.append(process)
        return process, process.stdout.readline()

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_it_prints_its_address_as_one_line_and_serves(started):
    process, line = started()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/open/[\w-]+/\n", line)
    root = re.match(r"http://127\.0\.0\.1:\d+/", line)[0]
    for address in (f"{root}?scene=xor", f"{line.strip()}?scene=xor"):
        with urllib.request.urlopen(address, timeout=60) as answer:
            assert b"novikoff studio" in answer.read()
            assert answer.url == f"{root}?scene=xor"
    process.send_signal(signal.SIGINT)
    rest, said = process.communicate(timeout=60)
    assert (rest, said, process.returncode) == ("", "Stopped.\n", 130)


def test_uploads_go_with_the_studio(started, tmp_path):
    process, line = started()
    root = re.match(r"http://127\.0\.0\.1:\d+/", line)[0]
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.open(line.strip(), timeout=60).close()
    request = urllib.request.Request(f"{root}api/files?name=../a.csv", b"x,y\n1,a\n2,b\n", method="POST")
    assert json.load(opener.open(request, timeout=60)) == {"id": "1", "name": "a.csv"}
    assert list(tmp_path.glob("novikoff-studio-*/*/a.csv"))
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=60)
    assert list(tmp_path.glob("novikoff-studio-*")) == []


def test_it_opens_a_scene_and_a_file(started, tmp_path):
    path = tmp_path / "mail.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    _, line = started(path, "--target", "y", "--scene", "xor")
    assert line.endswith("/?scene=xor\n")
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    opener.open(line.strip(), timeout=60).close()
    root = re.match(r"http://127\.0\.0\.1:\d+/", line)[0]
    found = json.load(opener.open(f"{root}api/files", timeout=60))
    assert found == {"is_open": True, "files": [{"id": "1", "name": "mail.csv"}], "target": "y"}


def test_export_writes_the_same_page_again(tmp_path):
    path = tmp_path / "cmu.html"
    first = run("export", "cmu", "-o", path)
    assert first.exit_code == 0, first.output
    assert first.output.endswith("bytes)\n")
    content = path.read_bytes()
    assert content.startswith(b"<!doctype html>")
    assert b'id="bundle"' in content
    assert run("export", "cmu", "-o", path).exit_code == 0
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["export", "zor", "-o", "{}/x.html"], 1, "There is no scene 'zor'. The scenes are cmu"),
        (["export", "cmu", "-o", "{}/none/x.html"], 1, "there is no folder"),
        (["export", "cmu"], 2, "Missing option '-o'"),
        (["--scene", "zor"], 1, "There is no scene 'zor'"),
        (["--target", "y"], 2, "--target is for a FILE"),
        (["{}/nothing.csv"], 2, "does not exist"),
        (["--port", "99999"], 2, "99999"),
    ],
)
def test_what_is_refused(arguments, code, words, tmp_path):
    found = run(*(argument.format(tmp_path) for argument in arguments))
    assert (found.exit_code, words in found.output) == (code, True), found.output


def test_a_port_in_use():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        found = run("--no-browser", "--port", port)
    assert found.exit_code == 1
    assert f"Port {port} is in use" in found.output


def test_without_the_extra(monkeypatch):
    monkeypatch.setattr(sys.modules["novikoff.cli.studio"], "find_spec", lambda name: None)
    found = run("--no-browser")
    assert found.exit_code == 1
    assert 'novikoff studio needs msgspec. Install the extra "studio"' in found.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", r"week\.json:1:2: this is not JSON"),
        ("[]", 'with a list of "steps"'),
        ('{"steps": []}', 'with a list of "steps"'),
        ('{"steps": [{"scene": "xor"}], "by": "me"}', "a lesson has no 'by'"),
        ('{"steps": [{"scene": "zor"}]}', "step 1: There is no scene 'zor'"),
        ('{"steps": [{"scene": "xor"}, {}]}', 'step 2: a step is an object with a "scene"'),
        ('{"steps": [{"scene": "xor", "variant": 2}]}', "variant should be from 0 to 1, found 2"),
        ('{"steps": [{"scene": "xor", "txt": "a"}]}', "a step has no 'txt'"),
    ],
)
def test_lessons_that_are_refused(text, words, tmp_path):
    path = tmp_path / "week.json"
    path.write_text(text)
    with pytest.raises(DataError, match=words):
        read_lesson(path)
    found = run("--no-browser", "--lesson", path)
    assert found.exit_code == 1

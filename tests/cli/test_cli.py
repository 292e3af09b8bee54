"""The command: what a person types, what it prints, and how it ends."""

import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from novikoff import __version__
from novikoff.cli import main
from novikoff.system.atomic_files import write_whole


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return lambda *words: CliRunner().invoke(main, words)


def test_demo_learns_prints_and_writes(run, tmp_path):
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


def test_demo_leaves_other_files_alone(run, tmp_path):
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


def test_a_file_is_whole_or_not_there(tmp_path, monkeypatch):
    path = tmp_path / "model"
    write_whole(path, b"old")

    def killed(*paths):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["model"]

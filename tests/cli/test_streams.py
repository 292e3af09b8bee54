"""novikoff learn, predict, test and inspect on small files, pipes and bad rows."""

import gzip
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

from novikoff.cli import main
from novikoff.streaming.model import StreamModel


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def svm(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = np.where(X @ [1.0, -2.0, 0.5, 0.0] > 0.0, 1, -1)
    lines = [
        f"{label} " + " ".join(f"{j + 1}:{v:.6g}" for j, v in enumerate(row)) for label, row in zip(y, X, strict=True)
    ]
    path = tmp_path / "train.svm"
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def csv(tmp_path):
    rng = np.random.default_rng(1)
    rows = ["age,sky,label"]
    for _ in range(300):
        age, sky = rng.normal(1000, 50), rng.choice(["sun", "rain", "fog"])
        rows.append(f"{age:.3f},{sky},{'stay' if sky == 'rain' or age > 1010 else 'go'}")
    path = tmp_path / "days.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("data", ["svm", "csv"])
def test_learn_predict_test_inspect(data, request, tmp_path):
    path, model = request.getfixturevalue(data), tmp_path / "m.nk"
    said = run("learn", path, "-o", model).stderr
    assert "since last" in said
    assert "300 rows in" in said
    run("predict", model, path, "-o", tmp_path / "out.txt")
    guesses = (tmp_path / "out.txt").read_text().split()
    assert len(guesses) == 300
    assert run("predict", model, path).stdout.split() == guesses
    tested = run("test", model, path).stdout
    text = path.read_text().splitlines()
    labels = [line.split()[0] for line in text] if data == "svm" else [line.split(",")[-1] for line in text[1:]]
    wrong = sum(a != b for a, b in zip(labels, guesses, strict=True))
    assert f"{wrong} errors on 300 rows" in tested
    assert wrong < 40
    facts = json.loads(run("inspect", model, "--json").stdout)
    assert facts["examples"] == 300
    assert sum(facts["rows_read"].values()) == 300
    assert "Ledger" in run("inspect", model).stdout


def test_heaviest_features_by_name(csv, tmp_path):
    run("learn", csv, "-o", tmp_path / "m.nk", "--passes", "3")
    said = run("inspect", tmp_path / "m.nk", "--top", 3).stdout
    assert "sky=rain" in said


def test_continuing_equals_learning_at_once(svm, tmp_path):
    lines = svm.read_text().splitlines(keepends=True)
    first, second = tmp_path / "a.svm", tmp_path / "b.svm"
    first.write_text("".join(lines[:123]))
    second.write_text("".join(lines[123:]))
    run("learn", first, second, "-o", tmp_path / "straight.nk")
    run("learn", first, "-o", tmp_path / "m.nk")
    run("learn", second, "--from", tmp_path / "m.nk", "-o", tmp_path / "m.nk")
    assert (tmp_path / "m.nk").read_bytes() == (tmp_path / "straight.nk").read_bytes()


def test_resume_skips_learned_rows(svm, tmp_path):
    whole = svm.read_bytes()
    run("learn", svm, "-o", tmp_path / "straight.nk")
    svm.write_bytes(b"".join(whole.splitlines(keepends=True)[:77]))
    run("learn", svm, "-o", tmp_path / "m.nk")
    svm.write_bytes(whole)
    run("learn", svm, "--from", tmp_path / "m.nk", "-o", tmp_path / "m.nk", "--resume")
    assert (tmp_path / "m.nk").read_bytes() == (tmp_path / "straight.nk").read_bytes()


def test_compressed_files_and_pipes(svm, tmp_path):
    packed = tmp_path / "train.svm.gz"
    packed.write_bytes(gzip.compress(svm.read_bytes()))
    run("learn", packed, "-o", tmp_path / "m.nk")
    run("learn", "-", "-o", tmp_path / "pipe.nk", "--format", "svmlight", stdin=svm.read_bytes())
    a, b = (json.loads(run("inspect", tmp_path / name, "--json").stdout) for name in ("m.nk", "pipe.nk"))
    assert a["heaviest"] == b["heaviest"]


def test_bad_rows_stop_or_are_skipped(svm, tmp_path):
    svm.write_text(svm.read_text() + "1 2:oops\n")
    said = run("learn", svm, "-o", tmp_path / "m.nk", code=1).output
    assert "train.svm:301" in said
    assert "oops" in said
    assert "has what was learned so far" in said
    assert StreamModel.load(tmp_path / "m.nk").ledger.examples == 300
    said = run("learn", svm, "-o", tmp_path / "m.nk", "--bad-rows", "skip").stderr
    assert "1 row rejected" in said
    kept = (tmp_path / "m.nk.rejects").read_text()
    assert "1 2:oops" in kept


def test_a_file_of_rejects_replaces_no_model(svm, tmp_path):
    run("learn", svm, "-o", tmp_path / "m.nk")
    before = (tmp_path / "m.nk").read_bytes()
    svm.write_text("1 2:oops\n-1 x:3\n")
    assert "nothing to learn from" in run("learn", svm, "-o", tmp_path / "m.nk", "--bad-rows", "skip", code=1).output
    assert (tmp_path / "m.nk").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["learn", "nowhere.svm", "-o", "m.nk"], "nowhere.svm", 1),
        (["learn", "train.svm"], "--output", 2),
        (["learn", "train.svm", "-o", "m.nk", "--resume"], "--from", 2),
        (["learn", "-", "-o", "m.nk", "--passes", "2"], "pipe", 2),
        (["predict", "train.svm", "train.svm"], "train.svm", 1),
        (["inspect", "nowhere.nk"], "nowhere.nk", 1),
    ],
)
def test_usage_errors(arguments, message, code, svm, monkeypatch):
    monkeypatch.chdir(svm.parent)
    assert message in run(*arguments, code=code).output


def test_an_interrupted_pipe_leaves_a_model(svm, tmp_path):
    """Ctrl-C while the command waits for a pipe leaves a model of the rows so far."""
    model = tmp_path / "m.nk"
    command = [sys.executable, "-m", "novikoff", "learn", "-", "-o", str(model), "--format", "svmlight"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdin.write(b"".join(svm.read_bytes().splitlines(keepends=True)[:64]))
        process.stdin.flush()
        deadline = time.monotonic() + 120
        seen = b""
        while b"64 " not in seen and time.monotonic() < deadline:
            seen += os.read(process.stderr.fileno(), 4096)
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate()
    assert process.returncode == 130
    assert b"--from" in rest
    assert b"--resume" not in rest  # a pipe continues where it is
    assert json.loads(run("inspect", model, "--json").stdout)["examples"] == 64

"""Commands with --cluster: lines for rounds, checkpoints, and what does not go together."""

import json
import os
import re
import signal
import subprocess
import sys

import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main
from tests.distributed.conftest import write_tables

pytest.importorskip("distributed")


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def address():
    """The address of a scheduler with two processes."""
    from novikoff.distributed.dask_engine import start_local

    with start_local(2) as client:
        yield client.scheduler.address


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    write_tables(folder)
    return folder


def test_learn_test_predict_and_certify(folder, tmp_path, address):
    files, model = f"{folder}/*.csv", tmp_path / "m.nk"
    learned = run("learn", files, "--target", "y", "--cluster", address, "--rounds", 2, "--chains", 3, "-o", model)
    assert learned.exit_code == 0, learned.output
    assert re.search(r"2 workers; watch them at http\S+", learned.output)
    lines = re.findall(r"^ +([\d,]+) +[\d,]+ .*", learned.output, re.MULTILINE)
    rows = nk.load(model).ledger.examples
    assert [int(line.replace(",", "")) for line in lines] == [rows // 2, rows]
    expected = nk.distributed.learn(files, target="y", rounds=2, chains=3, checkpoint=tmp_path / "expected.nk")
    assert model.read_bytes() == (tmp_path / "expected.nk").read_bytes()

    tested = run("test", model, files, "--cluster", address, "--json")
    facts, single = json.loads(tested.stdout), json.loads(run("test", model, files, "--json").stdout)
    assert facts["errors_by_hypothesis"] == single["errors_by_hypothesis"]
    assert facts["rows"] == rows // 2

    predicted = run("predict", model, files, "--cluster", address, "-o", tmp_path / "labels")
    assert predicted.exit_code == 0, predicted.output
    one = sorted(folder.glob("*.csv"))[0]
    assert (tmp_path / "labels" / f"{one.name}.txt").read_text().split() == expected.predict(one).tolist()

    certified = run("certify", files, "--target", "y", "--cluster", address, "--exit-code")
    assert certified.exit_code == 3
    assert re.search(r"named rows:\n +\S+part\d\.csv:\d+", certified.stdout)
    facts = json.loads(run("certify", files, "--target", "y", "--cluster", address, "--json").stdout)
    assert facts["verdicts"][0]["verdict"] == "inseparable"
    assert {"file", "line", "multiplier"} == set(facts["verdicts"][0]["named_rows"][0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rounds", 2], "--rounds is for learning on a cluster"),
        (["--cluster", "local:2", "--passes", 2], "--passes is for one machine"),
        (["--cluster", "local:2", "--shuffle", "always"], "--shuffle is for one machine"),
        (["--cluster", "local:2", "--loss", "squared"], "--loss is for one machine"),
        (["--cluster", "local:2", "--holdout", "0.1"], "--holdout is for one machine"),
        (["--cluster", "local:2", "--rule", "auto"], "'auto' cannot be forked"),
        (["--cluster", "local:2", "--hypothesis", "voted"], "'voted' keeps the rows"),
        (["--cluster", "local:2", "--chains", 9], "chains must be a number from 1 to that of the files"),
        (["--cluster", "nowhere"], "is no cluster"),
    ],
)
def test_options_that_do_not_go_together(folder, tmp_path, options, message):
    result = run("learn", f"{folder}/*.csv", "--target", "y", "-o", tmp_path / "m.nk", *options)
    assert result.exit_code in (1, 2)
    assert message in re.sub(r"\s+", " ", result.output)
    assert not (tmp_path / "m.nk").exists()


def test_a_folder_is_for_clusters_alone(folder, tmp_path):
    model = tmp_path / "m.nk"
    nk.learn(folder / "part0.csv", target="y", checkpoint=model)
    assert "is a folder" in run("predict", model, folder / "part0.csv", "-o", tmp_path).output
    assert "-o FOLDER" in run("predict", model, folder / "part0.csv", "--cluster", "local:1").output
    scores = run("predict", model, folder / "part0.csv", "--cluster", "local:1", "-o", tmp_path / "x", "--scores")
    assert "--scores is for one machine" in scores.output


def test_ctrl_c_leaves_the_model_of_the_last_round(folder, tmp_path):
    model = tmp_path / "m.nk"
    arguments = [f"{folder}/*.csv", "--target", "y", "--chains", "3"]
    command = [sys.executable, "-m", "novikoff", "learn", *arguments, "--cluster", "local:1", "-o", str(model)]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True, "env": environment}
    with subprocess.Popen([*command, "--rounds", "100000"], start_new_session=True, **pipes) as process:
        output = ""
        while "weighted" not in output:
            line = process.stderr.readline()
            assert line, output
            output += line
        for _ in range(3):
            output += process.stderr.readline()
        process.send_signal(signal.SIGINT)
        output += process.stderr.read()
    assert process.returncode == 130, output
    assert f"Stopped. {model} has the model after the last round. To continue:\n  novikoff learn" in output
    done = nk.load(model).cluster_run.rounds_done
    assert done >= 1
    further = ["--cluster", "local:1", "--rounds", done + 1, "-o", model, "--from", model, "--resume"]
    resumed = run("learn", *arguments, *further)
    assert resumed.exit_code == 0, resumed.output
    nk.distributed.learn(*arguments[:1], target="y", rounds=done + 1, chains=3, checkpoint=tmp_path / "expected.nk")
    assert model.read_bytes() == (tmp_path / "expected.nk").read_bytes()

"""novikoff predict --proba: calibrated probabilities beside the labels."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main


def run(*arguments, code=0):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(2)
    x = rng.normal(size=400)
    labels = np.where(x + rng.normal(size=400) > 0, "yes", "no")
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "".join(f"{v:.4f},{label}\n" for v, label in zip(x, labels, strict=True)))
    return path


@pytest.fixture
def calibrated(table, tmp_path):
    model = nk.learn(table, target="y")
    nk.calibrate(model, nk.open_stream(table, target="y"))
    model.save(tmp_path / "m.nk")
    return tmp_path / "m.nk"


def test_probabilities_beside_labels_and_scores(calibrated, table, tmp_path):
    head, *lines = run("predict", calibrated, table, "--scores", "--proba").stdout.splitlines()
    assert head.split("\t") == ["label", "score of yes", "probability of no", "probability of yes"]
    assert len(lines) == 400
    rows = [line.split("\t") for line in lines]
    numbers = np.array([row[1:] for row in rows], float)
    assert numbers[:, 1:].sum(axis=1) == pytest.approx(1.0)
    order = np.argsort(numbers[:, 0])
    assert (np.diff(numbers[order, 2]) >= 0.0).all()
    assert [row[0] for row in rows] == np.where(numbers[:, 0] >= 0, "yes", "no").tolist()
    # The share of a label is what the probabilities of all rows say, up to Platt's smoothing.
    share = np.mean([line.endswith("yes") for line in table.read_text().splitlines()[1:]])
    assert numbers[:, 2].mean() == pytest.approx(share, abs=0.01)
    run("predict", calibrated, table, "--proba", "-o", tmp_path / "out.tsv")
    alone = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()]
    assert alone[0] == ["label", "probability of no", "probability of yes"]
    assert alone[1:] == [[row[0], *row[2:]] for row in rows]


def test_a_model_without_calibration_says_how_to_get_one(table, tmp_path):
    run("learn", table, "--target", "y", "-o", tmp_path / "m.nk")
    failed = run("predict", tmp_path / "m.nk", table, "--proba", code=1)
    assert "m.nk has no probabilities" in failed.output
    assert "--holdout 0.1" in failed.output
    assert failed.stdout == ""


def test_inspect_says_how_the_model_was_calibrated(calibrated):
    assert "probabilities: by a sigmoid of the scores, fitted to 400 rows" in run("inspect", calibrated).output
    assert json.loads(run("inspect", calibrated, "--json").stdout)["calibration"]["rows"] == 400

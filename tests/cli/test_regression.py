"""novikoff learn --loss squared, and what predict, test, inspect and export do with such a model."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

import novikoff as nk
from novikoff.cli import main


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    assert result.exit_code == code, result.output
    return result


@pytest.fixture
def houses(tmp_path):
    rng = np.random.default_rng(0)
    rooms, towns = rng.integers(1, 8, 600), rng.choice(["Bern", "Genf"], 600)
    price = 100.0 * rooms + 200.0 * (towns == "Genf") + rng.normal(0.0, 20.0, 600)
    path = tmp_path / "houses.csv"
    rows = zip(rooms, towns, price, strict=True)
    path.write_text("rooms,town,price\n" + "".join(f"{r},{t},{p:.1f}\n" for r, t, p in rows))
    return path


def test_learn_predict_test_and_inspect(houses, tmp_path):
    learned = run("learn", houses, "--target", "price", "--loss", "squared", "-o", tmp_path / "h.nk")
    model = nk.load(tmp_path / "h.nk")
    ledger = model.ledger
    assert learned.stderr.splitlines()[1].split() == ["rows", "RMSE", "since", "last", "of", "mean", "R^2"]
    assert f"R^2 {ledger.r2:.4f}" in learned.stderr
    assert f"RMSE {ledger.rmse:.5g}, each row predicted before it was learned from" in learned.stderr
    assert "h.nk: predicts numbers, " in learned.stderr
    assert "mistake" not in learned.stderr

    predicted = list(map(float, run("predict", tmp_path / "h.nk", houses).stdout.split()))
    true = [float(line.rsplit(",", 1)[1]) for line in houses.read_text().splitlines()[1:]]
    tested = run("test", tmp_path / "h.nk", houses).stdout
    facts = json.loads(run("test", tmp_path / "h.nk", houses, "--json").stdout)
    assert facts == {
        "rows": 600,
        "rmse": pytest.approx(root_mean_squared_error(true, predicted)),
        "mae": pytest.approx(mean_absolute_error(true, predicted)),
        "r2": pytest.approx(r2_score(true, predicted)),
        "rmse_of_mean": pytest.approx(np.std(true)),
    }
    assert f"RMSE {facts['rmse']:.6g}, MAE {facts['mae']:.6g}, R^2 {facts['r2']:.4f} on 600 rows." in tested

    shown = run("inspect", tmp_path / "h.nk").stdout
    assert shown.startswith(f"{tmp_path / 'h.nk'}: a model of novikoff learn\n")
    assert "Regression with squared loss" in shown
    assert "for price:" in shown
    assert "rooms" in shown
    facts = json.loads(run("inspect", tmp_path / "h.nk", "--json").stdout)
    assert (facts["loss"], facts["examples"], facts["r2"]) == ("squared", 600, ledger.r2)


def test_inspect_shows_what_predicts(houses, tmp_path):
    """Per unit, intercept and weights are those of the predictions for numbers as they are in the file."""
    options = ["--target", "price", "--drop", "town", "--loss", "squared", "--plain-numbers"]
    run("learn", houses, *options, "-o", tmp_path / "h.nk")
    (found,) = json.loads(run("inspect", tmp_path / "h.nk", "--json").stdout)["heaviest"]
    predicted = list(map(float, run("predict", tmp_path / "h.nk", houses).stdout.split()))
    rooms = [float(line.split(",")[0]) for line in houses.read_text().splitlines()[1:]]
    inside = [(r, p) for r, p in zip(rooms, predicted, strict=True) if min(predicted) < p < max(predicted)]
    by_hand = [found["intercept_per_unit"] + found["weights_per_unit"]["rooms"] * r for r, _ in inside]
    assert len(inside) > 300
    assert by_hand == pytest.approx([p for _, p in inside], rel=1e-9)
    assert "the prediction changes by the weight" in run("inspect", tmp_path / "h.nk").stdout


def test_the_table_has_the_errors_since_its_last_line(houses, tmp_path):
    lines = run("learn", houses, "--target", "price", "--loss", "squared", "-o", tmp_path / "h.nk").stderr.splitlines()
    cells = [line.split() for line in lines[2:] if line[:12].strip().replace(",", "").isdigit()]
    assert [row[0] for row in cells] == ["1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "600"]
    assert cells[0] == ["1"]
    figures = np.array([[float(cell) for cell in row[:4]] for row in cells[1:]])
    rows, totals = figures[:, 0] - 1, figures[:, 1] ** 2 * (figures[:, 0] - 1)
    since = np.sqrt(np.diff(totals) / np.diff(rows))
    assert figures[1:, 2] == pytest.approx(since, rel=0.02)
    assert float(cells[-1][4]) == pytest.approx(1.0 - (figures[-1, 1] / figures[-1, 3]) ** 2, abs=1e-3)


def test_continue_and_resume(houses, tmp_path):
    rows = houses.read_text().splitlines(keepends=True)
    run("learn", houses, "--target", "price", "--loss", "squared", "--passes", "2", "-o", tmp_path / "whole.nk")
    houses.write_text("".join(rows[:200]))
    run("learn", houses, "--target", "price", "--loss", "squared", "-o", tmp_path / "part.nk")
    houses.write_text("".join(rows))
    run("learn", houses, "--from", tmp_path / "part.nk", "--resume", "--passes", "2", "-o", tmp_path / "part.nk")
    assert (tmp_path / "part.nk").read_bytes() == (tmp_path / "whole.nk").read_bytes()
    run("learn", houses, "--from", tmp_path / "part.nk", "-o", tmp_path / "more.nk")
    assert nk.load(tmp_path / "more.nk").ledger.examples == 1800
    failed = run("learn", houses, "--from", tmp_path / "part.nk", "--loss", "squared", "-o", tmp_path / "x.nk", code=2)
    assert "--loss is for a new model" in failed.output


def test_a_bad_target_stops_the_run_and_says_how_to_continue(houses, tmp_path):
    text = houses.read_text()
    houses.write_text(text + "3,Bern,much\n")
    arguments = ("learn", houses, "--target", "price", "--loss", "squared", "-o", tmp_path / "h.nk")
    failed = run(*arguments, code=1)
    assert "houses.csv:602" in failed.output
    run(*arguments, "--bad-rows", "skip")
    assert nk.load(tmp_path / "h.nk").ledger.examples == 600
    houses.write_text("rooms,town,price\n1,Bern,low\n2,Genf,high\n")
    failed = run("learn", houses, "--target", "price", "--loss", "squared", "-o", tmp_path / "new.nk", code=1)
    assert "houses.csv:2" in failed.output
    assert 'expected a number in column "price", found "low"' in failed.output
    assert not (tmp_path / "new.nk").exists()


def test_what_does_not_go_with_numbers(houses, tmp_path):
    arguments = ("learn", houses, "--target", "price", "--loss", "squared", "-o", tmp_path / "h.nk")
    for options, named in [
        (("--rule", "margin"), "--rule"),
        (("--hypothesis", "last"), "--hypothesis"),
        (("--no-intercept",), "--no-intercept"),
        (("--plot", tmp_path / "p.png"), "--plot"),
    ]:
        assert named in run(*arguments, *options, code=2).output
    assert not (tmp_path / "h.nk").exists()
    run(*arguments)
    assert "predicts numbers" in run("predict", tmp_path / "h.nk", houses, "--scores", code=2).output
    assert "predicts numbers" in run("predict", tmp_path / "h.nk", houses, "--proba", code=2).output
    assert "predicts numbers" in run("export", tmp_path / "h.nk", "-o", tmp_path / "h.json", code=1).output
    empty = run("test", tmp_path / "h.nk", "-", "--bad-rows", "skip", code=1, stdin="rooms,town,price\n1,Bern,?\n")
    assert "no rows to test on" in empty.output


def test_a_pipe(houses, tmp_path):
    run("learn", "-", "--target", "price", "--loss", "squared", "-o", tmp_path / "p.nk", stdin=houses.read_text())
    run("learn", houses, "--target", "price", "--loss", "squared", "-o", tmp_path / "f.nk")
    assert nk.load(tmp_path / "p.nk").ledger == nk.load(tmp_path / "f.nk").ledger
    rows = "\n".join(line.rsplit(",", 1)[0] for line in houses.read_text().splitlines()[:4]) + "\n"
    answers = run("predict", tmp_path / "p.nk", "-", stdin=rows).stdout.split()
    assert answers == run("predict", tmp_path / "p.nk", houses).stdout.split()[:3]

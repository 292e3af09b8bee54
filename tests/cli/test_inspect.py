"""novikoff inspect: every kind of model file, intercepts, weights per unit, and files that are no models."""

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff import losses
from novikoff.cli import main
from novikoff.model_files.container import read
from novikoff.model_files.loading import KINDS

GOLDEN = sorted((Path(__file__).parents[1] / "golden" / "files").glob("*.nk"))
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5], [0.5, 2.0]])
Y = np.array(["up", "down", "down", "up"])


def run(*arguments, code=0):
    found = CliRunner().invoke(main, list(map(str, arguments)))
    assert found.exit_code == code, found.output
    return found


def facts_of(path, *more):
    return json.loads(run("inspect", path, "--json", *more).stdout)


def test_golden_files_are_of_every_kind():
    assert {read(path)[0] for path in GOLDEN} == set(KINDS)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_every_kind_of_file(path):
    facts = facts_of(path)
    assert facts["kind"] == read(path)[0]
    text = run("inspect", path, "--top", 2).stdout
    assert text.startswith(f"{path}: a")
    if facts["kind"] == "tagger":
        assert f"tags: {', '.join(facts['tags'])}\n" in text
        assert "there is no intercept" in text
        return
    assert ("labels: " in text) == ("regressor" not in facts["kind"])
    assert f"features: {facts['features']:,}\n" in text
    if facts["kind"].startswith("kernel"):
        assert f"support vectors: {facts['support_vectors']}\n" in text
        assert "There are no weights by feature" in text
        return
    assert (
        text.count("  the intercept\n")
        == len(facts["heaviest"])
        == max(1, len(facts["labels"]) * (len(facts["labels"]) > 2))
    )
    if any("curves" in each for each in facts["heaviest"]):
        assert "each has a curve" in text
    else:
        assert ("standardised columns" in text) == facts["standardised"]
    if facts["kind"] == "stream-regressor":
        assert f"R^2            {facts['r2']:.4f}" in text
    elif not facts["kind"].startswith("linear"):
        assert f"mistakes       {facts['mistakes']}" in text


def test_weights_per_unit_give_the_scores_of_rows(tmp_path):
    """The score is linear in the numbers as they are in the file; deviations are those of NumPy."""
    rng = np.random.default_rng(0)
    table = np.column_stack(
        [rng.normal(100.0, 20.0, 80).round(1), rng.normal(0.0, 0.01, 80).round(4), np.full(80, 7.0)]
    )
    labels = np.where(table[:, 0] / 20 + 90 * table[:, 1] > 5.0, "high", "low")
    lines = [f"{a},{b},{c},{label}" for (a, b, c), label in zip(table.tolist(), labels, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c,y", *lines]) + "\n")
    run("learn", tmp_path / "t.csv", "-o", tmp_path / "m.nk", "--passes", 3, "--rule", "perceptron", "--plain-numbers")
    facts = facts_of(tmp_path / "m.nk")
    assert facts["standardised"]
    (found,) = facts["heaviest"]
    assert found["label"] == "low"
    for name, column in zip("ab", table.T, strict=False):
        assert found["weights_per_unit"][name] == pytest.approx(found["weights"][name] / np.std(column), rel=1e-9)
    assert "c" not in found["weights"], "a column of one number is 0 for the model"
    v = np.array([found["weights_per_unit"].get(name, 0.0) for name in "abc"])
    printed = run("predict", tmp_path / "m.nk", tmp_path / "t.csv", "--scores").stdout.splitlines()[1:]
    scores = [float(line.split("\t")[1]) for line in printed]
    assert (found["intercept_per_unit"] + table @ v).tolist() == pytest.approx(scores, rel=1e-9, abs=1e-9)
    means = table.mean(axis=0)
    assert found["intercept"] == pytest.approx(found["intercept_per_unit"] + means @ v, rel=1e-9)
    text = run("inspect", tmp_path / "m.nk").stdout
    assert "Weights are for standardised columns" in text
    assert f"{found['intercept']:+.6g} " in text
    assert f" {found['weights_per_unit']['a']:+.6g}  a\n" in text


def test_a_number_with_hats_is_one_curve(tmp_path):
    """Its heights are what the score of a row changes by: found here by rows that are the knots, standardised."""
    rng = np.random.default_rng(0)
    a, words = rng.normal(100.0, 20.0, 300).round(3), rng.choice(["x", "y"], 300)
    labels = np.where(np.abs(a - 100.0) > 15.0, "far", "near")
    lines = [f"{v},{word},{label}" for v, word, label in zip(a, words, labels, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,w,y", *lines]) + "\n")
    run("learn", tmp_path / "t.csv", "-o", tmp_path / "m.nk", "--hats", "--passes", 3, "--rule", "perceptron")
    (found,) = facts_of(tmp_path / "m.nk")["heaviest"]
    assert set(found["weights"]) == {"a", "w=x", "w=y"}
    heights = np.array(list(found["curves"]["a"].values()))
    knots = np.array([float(knot) for knot in found["curves"]["a"]])
    values = np.mean(a) + np.std(a) * knots
    (tmp_path / "new.csv").write_text("a,w\n" + "".join(f"{v!r},\n" for v in values.tolist()))
    printed = run("predict", tmp_path / "m.nk", tmp_path / "new.csv", "--scores").stdout.splitlines()[1:]
    scores = np.array([float(line.split("\t")[1]) for line in printed])
    np.testing.assert_allclose(scores - found["intercept"], heights, rtol=1e-6, atol=1e-6)
    assert heights[[0, -1]].min() < heights[5] - 1.0, "it is near in the middle, and far at both ends"
    usual = heights[np.abs(knots) <= 2.0]
    sign = -1.0 if usual[-1] < usual[0] else 1.0
    assert found["weights"]["a"] == pytest.approx(sign * (usual.max() - usual.min()) / 4.0)
    assert dict(nk.load(tmp_path / "m.nk").heaviest()[0][1]) == found["weights"]
    text = run("inspect", tmp_path / "m.nk").stdout
    assert text.count("  a\n") == 2, "the weight and the curve have a line each"
    assert f"{heights[0]:+.3g}" in text
    assert " near " not in text.replace("for near:", "").replace("labels: far, near", "")


def test_weights_of_numbers_as_they_are(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n2,no\n-2,yes\n")
    run("learn", tmp_path / "t.csv", "-o", tmp_path / "m.nk", "--no-scale", "--hypothesis", "last")
    facts = facts_of(tmp_path / "m.nk")
    assert not facts["standardised"]
    # The first row is a mistake (a score of 0 is the second label), w = -2 and b = -1; the second is right: 4 - 1 > 0.
    assert facts["heaviest"] == [{"label": "yes", "weights": {"a": -2.0}, "intercept": -1.0}]
    assert "standardised" not in run("inspect", tmp_path / "m.nk").stdout


def test_intercepts_are_those_of_the_estimators(tmp_path):
    model = nk.LinearClassifier("logistic", "newton").fit(X, Y)
    model.save(tmp_path / "m.nk")
    (found,) = facts_of(tmp_path / "m.nk")["heaviest"]
    assert found["intercept"] == model.intercept_[0]
    assert found["weights"] == {"column 0": model.coef_[0, 0], "column 1": model.coef_[0, 1]}
    kernel = nk.KernelPerceptron(kernel="rbf", gamma=1.0, fit_intercept=True, hypothesis="last", max_iter=5).fit(X, Y)
    kernel.save(tmp_path / "k.nk")
    constant = facts_of(tmp_path / "k.nk")["intercepts"]["up"]
    far = np.full((1, 2), 1e3)  # where all kernels are 0
    assert constant == pytest.approx(kernel.decision_function(far)[0])


def test_one_label_has_weights_for_the_other(tmp_path):
    nk.Perceptron().learn_one({"rain": 1.0}, 0).save(tmp_path / "m.nk")
    assert facts_of(tmp_path / "m.nk")["heaviest"][0]["label"] == "not 0"
    assert "for not 0:" in run("inspect", tmp_path / "m.nk").stdout


def half(margin, squared_norm):
    return 0.5 if margin <= 0 else 0.0


def shared(x, z):
    return float((x * z).sum())


def test_models_with_functions_that_files_do_not_hold(tmp_path):
    nk.Perceptron(rule=half).fit(X, Y).save(tmp_path / "rule.nk")
    text = run("inspect", tmp_path / "rule.nk").stdout
    assert "half, a function that is not in the file, last, with an intercept" in text
    nk.KernelPerceptron(kernel=shared, max_iter=5).fit(X, Y).save(tmp_path / "kernel.nk")
    assert "kernel: K(x, z) = shared\n" in run("inspect", tmp_path / "kernel.nk").stdout
    cosh = losses.Custom(lambda s, y: math.log(math.cosh(s - y)), lambda s, y: math.tanh(s - y))
    nk.LinearRegressor(cosh, "gd", tol=1.0).fit(X, X[:, 0]).save(tmp_path / "loss.nk")
    assert "the intercept" in run("inspect", tmp_path / "loss.nk").stdout
    tagger = nk.SequenceTagger(["mine[0]"], attributes={"mine": str.lower}).fit([["A", "B"]], [["X", "Y"]])
    tagger.save(tmp_path / "tags.nk")
    assert "mine[0]=mine(B)" in run("inspect", tmp_path / "tags.nk").stdout


def test_taggers_are_shown_as_by_tag_inspect(tmp_path):
    nk.SequenceTagger("pos", max_iter=2).fit([["a", "b"]], [["X", "Y"]]).save(tmp_path / "t.nk")
    first, *rest = run("inspect", tmp_path / "t.nk").stdout.splitlines()
    assert "a tagger of novikoff tag learn" in first
    assert rest == run("tag", "inspect", tmp_path / "t.nk").stdout.splitlines()
    assert facts_of(tmp_path / "t.nk") == json.loads(run("tag", "inspect", tmp_path / "t.nk", "--json").stdout)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a,b,y\n1,2,no\n", "it holds text. To learn from rows of data: novikoff learn {} -o model.nk"),
        (gzip.compress(b"a,b,y\n1,2,no\n", mtime=0), "it is compressed with gzip. To learn"),
        (b'{"a": 1, "y": 0}\n{"a": 2, "y": 1}\n', "it holds lines of JSON. To learn"),
        (b'{"format": "novikoff-coef", "version": 1}', "it holds the weights that novikoff export has written."),
        (b'{"file": "t.csv", "verdict": "separable"}', "the proof of novikoff certify --json about t.csv: separable."),
        (b"PK\x03\x04" + bytes(20), "it is a zip archive, as of Excel or NumPy. Model files are written by"),
        (b"\x80\x05\x95" + bytes(20), "it looks like a Python pickle. Model files are written by"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "it holds bytes that are not text. Model files are written by"),
        (b"", "is empty"),
    ],
)
@pytest.mark.parametrize("command", [["inspect"], ["tag", "inspect"], ["export", "-o", "new.json"]])
def test_files_that_are_no_models(content, message, command, tmp_path):
    path = tmp_path / "some.file"
    path.write_bytes(content)
    output = run(*command, path, code=1).output
    assert message.format(path) in output
    assert output.count("\n") == 1


@pytest.mark.parametrize("command", ["predict", "test"])
def test_a_table_in_place_of_the_model(tmp_path, command):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1,u\n2,v\n")
    said = run(command, path, path, code=1).output
    assert f"{path} is not a model file: it holds text. To learn from rows of data: novikoff learn" in said
    assert (
        "not a model file: it holds text" in run("learn", path, "--from", path, "-o", tmp_path / "m.nk", code=1).output
    )


def test_a_folder_is_no_model(tmp_path):
    assert "is a folder" in run("inspect", tmp_path, code=1).output
    assert "cannot be read: No such file" in run("inspect", tmp_path / "none.nk", code=1).output


def test_labels_and_names_cannot_control_the_terminal(tmp_path):
    model = nk.Perceptron().learn_one({"\x1b[31mred": 1.0}, "\x1b[1mbold").learn_one({"b": 1.0}, "plain")
    model.save(tmp_path / "m.nk")
    assert "\x1b" not in run("inspect", tmp_path / "m.nk").stdout

"""Exports predict as novikoff does: JSON scored by hand here, ONNX by its own runtime."""

import json
import math
import re
import sys
from collections import Counter

import numpy as np
import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main
from novikoff.errors import ModelFileError
from novikoff.exports import to_json, to_onnx

HYPOTHESES = ["last", "averaged", "pocket"]

# -- a scorer from the documented format, which uses nothing of novikoff


def features(row, facts):
    """Return the features of a row and their values."""
    if facts["features"] != "table":
        are_logs, linear = facts.get("log_counts", False), facts.get("linear", ())
        return {name: compress(v) if are_logs and name not in linear else v for name, v in row.items()}
    found, texts = {}, Counter()
    for name, column in facts["columns"].items():
        cell = row.get(name)
        if column["kind"] == "word":
            found[f"{name}={'?' if cell is None else cell}"] = 1.0
        elif column["kind"] == "text":
            texts.update(ngrams(name, cell, column) if cell is not None else [])
        elif cell is None:
            found[f"{name} is missing"] = 1.0
        elif "deviation" not in column:
            found[name] = cell
        else:
            found[name] = (cell - column["mean"]) / column["deviation"] if column["deviation"] else 0.0
    known = set(facts.get("zero", ())).union(*(vector["coef"] for vector in facts["vectors"]))
    texts = {name: compress(n) if facts["log_counts"] else n for name, n in texts.items() if name in known}
    length = math.sqrt(sum(count**2 for count in texts.values()))
    return found | {name: facts["text_length"] * count / length for name, count in texts.items()}


def compress(v):
    return math.copysign(1.0 + math.log(abs(v)), v) if abs(v) > 1.0 else v


def ngrams(name, text, column):
    text = text.lower() if text.isascii() else re.sub(r"[^\w\x00-\x7f]", " ", text.lower())
    text = " ".join(["", *text.split(), ""])
    words, (fewest, most) = re.findall(r"\w+", text), column["ngrams"]
    for size in range(fewest, most + 1):
        yield from (f"{name}:{' '.join(words[at : at + size])}" for at in range(len(words) - size + 1))
    fewest, most = column["char_ngrams"]
    for size in range(fewest, most + 1):
        runs = (text[at : at + size] for at in range(len(text) - size + 1))
        yield from (f"{name}~{run}" for run in runs if " " not in run[1:-1])


def scores_by_hand(row, facts):
    values = features(row, facts)
    return [
        v["intercept"]
        + sum(v["coef"].get(name, 0.0) * value for name, value in values.items())
        + sum(curve_by_hand(row, name, weights, facts) for name, weights in v.get("curves", {}).items())
        for v in facts["vectors"]
    ]


def curve_by_hand(row, name, weights, facts):
    """Interpolate the weights of a number's hats; a table has none for a missing cell, other rows have 0 there."""
    cell = row.get(name) if facts["features"] == "table" else row.get(name, 0.0)
    if cell is None:
        return 0.0
    moments = facts["curved"][name]
    z = (cell - moments["mean"]) / moments["deviation"] if moments["deviation"] else 0.0
    return float(np.interp(z, facts["knots"], weights))


def label_by_hand(row, facts):
    scores, classes = scores_by_hand(row, facts), facts["classes"]
    if len(scores) == 1:
        return classes[-1] if scores[0] > 0 or (scores[0] == 0 and facts["ties"] == "last") else classes[0]
    best = [k for k, score in enumerate(scores) if score == max(scores)]
    return classes[best[-1] if facts["ties"] == "last" else best[0]]


# -- data


def table(folder, n=400, words=True, labels=("go", "stay"), seed=0, missing=0.1):
    """Write a table to a file, and return its rows as dicts."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(n):
        row = {"age": float(rng.normal(40, 9)), "height": float(rng.integers(-3, 4)), "same": 5.0}
        if words:
            row["sky"] = str(rng.choice(["sun", "rain", "fog", 'a,"b"']))
        rows.append({name: None if rng.random() < missing and name != "same" else cell for name, cell in row.items()})
    weight = {"rain": 1.0, "sun": -1.0}
    told = [
        (row["age"] or 40.0) - 40.0 + 9.0 * weight.get(row.get("sky"), 0.0) + 2.0 * (row["height"] or 5.0)
        for row in rows
    ]
    edges = np.quantile(told, np.linspace(0, 1, len(labels) + 1)[1:-1])
    path = folder / "days.csv"
    lines = [",".join([*rows[0], "label"])]
    for row, score in zip(rows, told, strict=True):
        cells = ["" if cell is None else '"{}"'.format(str(cell).replace('"', '""')) for cell in row.values()]
        lines.append(",".join([*cells, str(labels[int(np.searchsorted(edges, score))])]))
    path.write_text("\n".join(lines) + "\n")
    return path, rows


def learn(path, hypothesis="averaged", **options):
    reading = {name: options.pop(name) for name in ("types", "format") if name in options}
    return nk.learn(nk.open_stream(path, **reading), hypothesis=hypothesis, **options)


def predictions(model, path, **options):
    """Return scores and labels of all rows by novikoff."""
    blocks = list(nk.open_stream(path, **options))
    scores = np.concatenate([model.model.scores(model.rows_of(block)) for block in blocks])
    return scores, np.concatenate([model.predict(block) for block in blocks]).tolist()


LABELS = [("go", "stay"), (1, -1), ("a", "b", "c"), (0, 1, 2, 3)]

# -- JSON


@pytest.mark.parametrize("hats", [False, True])
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("labels", LABELS)
def test_json_of_tables(hypothesis, labels, hats, tmp_path):
    path, rows = table(tmp_path, labels=labels)
    model = learn(path, hypothesis, hats=hats)
    facts = json.loads(to_json(model))
    assert ("curved" in facts) == hats
    assert not any(" near " in name for vector in facts["vectors"] for name in vector["coef"])
    scores, told = predictions(model, path)
    by_hand = np.array([scores_by_hand(row, facts) for row in rows])
    np.testing.assert_allclose(by_hand, scores.reshape(len(rows), -1), rtol=1e-9, atol=1e-9)
    assert [label_by_hand(row, facts) for row in rows] == told
    assert 0.0 not in [w for vector in facts["vectors"] for w in vector["coef"].values()]
    assert label_by_hand({"sky": "snow", "age": None}, facts) in facts["classes"]


@pytest.mark.parametrize("hats", [False, True])
def test_json_of_texts(hats, tmp_path):
    rng = np.random.default_rng(3)
    words = ["call", "NOW!", "win,", "lunch", "at", "été", "no-one", "x_1", "2"]
    texts = ["  ".join(rng.choice(words, rng.integers(0, 7))) for _ in range(200)]
    labels = ["spam" if ("win" in text) != ("lunch" in text) else "ham" for text in texts]
    path = tmp_path / "sms.csv"
    lines = [f'"{text}",{n % 7},{label}' for n, (text, label) in enumerate(zip(texts, labels, strict=True))]
    path.write_text("sms,length,label\n" + "\n".join(lines) + "\n")
    how = {"types": {"sms": "text"}}
    model = learn(path, hats=hats, **how)
    facts = json.loads(to_json(model))
    assert not any(" near " in name for name in facts["zero"])
    rows = [{"sms": text.strip() or None, "length": n % 7} for n, text in enumerate(texts)]
    scores, told = predictions(model, path, **how)
    np.testing.assert_allclose([scores_by_hand(row, facts)[0] for row in rows], scores, rtol=1e-9, atol=1e-9)
    assert [label_by_hand(row, facts) for row in rows] == told


@pytest.mark.parametrize("ties", ["mistake", "negative"])
def test_json_of_arrays_dicts_and_svmlight(ties, tmp_path):
    rng = np.random.default_rng(1)
    X = rng.integers(-2, 3, (60, 3)).astype(float)
    y = np.where(X @ [1, -1, 2] > 0, "p", "n")
    model = nk.Perceptron(ties=ties, max_iter=2, hypothesis="averaged").partial_fit(X, y)
    facts = json.loads(to_json(model))
    rows = [{str(j): value for j, value in enumerate(row)} for row in X.tolist()]
    assert facts["features"] == "array"
    assert [label_by_hand(row, facts) for row in rows] == model.predict(X).tolist()
    model = nk.Perceptron(ties=ties)
    for row, label in zip(rows, y.tolist(), strict=True):
        model.learn_one(row, label)
    facts = json.loads(to_json(model))
    assert facts["features"] == "names"
    assert [label_by_hand(row, facts) for row in rows] == [model.predict_one(row) for row in rows]
    path = svmlight(tmp_path, X, np.where(y == "p", 1, -1))
    model = learn(path, ties=ties)
    facts = json.loads(to_json(model))
    rows = [{str(j + 1): value for j, value in enumerate(row)} for row in X.tolist()]
    assert facts["classes"] == [-1, 1]
    assert [label_by_hand(row, facts) for row in rows] == predictions(model, path)[1]


@pytest.mark.parametrize("hats", [False, True])
def test_json_of_vw(hats, tmp_path):
    path = tmp_path / "ads.vw"
    path.write_text("1 |user old:0.5 |ad shoes price:3\n-1 | shoes shoes\n1 |ad price:4\n-1 |user old\n" * 5)
    model = learn(path, hats=hats)
    facts = json.loads(to_json(model))
    rows = [row for block in nk.open_stream(path) for row in block.dicts()]
    scores, told = predictions(model, path)
    np.testing.assert_allclose([scores_by_hand(row, facts)[0] for row in rows], scores, rtol=1e-9, atol=1e-9)
    assert [label_by_hand(row, facts) for row in rows] == told
    assert "hash_bits" not in facts
    with pytest.raises(ModelFileError, match="JSON"):
        to_onnx(model)


def test_shared_weights_are_reported(tmp_path):
    path, _ = table(tmp_path)
    model = learn(path, hash_bits=2)
    assert json.loads(to_json(model))["hash_bits"] == 2
    with pytest.raises(ModelFileError, match="larger hash_bits"):
        to_onnx(model)


def svmlight(folder, X, y):
    path = folder / "rows.svm"
    lines = (
        " ".join([str(label), *(f"{j + 1}:{value!r}" for j, value in enumerate(row) if value)])
        for row, label in zip(X.tolist(), y.tolist(), strict=True)
    )
    path.write_text("\n".join(lines) + "\n")
    return path


# -- ONNX


def run_onnx(model, inputs):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    label, scores = session.run(["label", "scores"], inputs)
    return scores, label.tolist()


@pytest.mark.parametrize("ties", ["mistake", "positive", "negative"])
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("classes", [2, 4])
def test_onnx_of_arrays(hypothesis, ties, classes):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (80, 3)).astype(float)
    y = (X @ [1, 1, 2]).astype(int) % classes
    model = nk.Perceptron(hypothesis=hypothesis, ties=ties).partial_fit(X, y)
    X = np.vstack([X, np.zeros((2, 3)), rng.normal(size=(50, 3))])
    scores, labels = run_onnx(model, {"X": X})
    np.testing.assert_allclose(scores, model.decision_function(X), rtol=0, atol=1e-9)
    assert labels == model.predict(X).tolist()


@pytest.mark.parametrize("ties", ["mistake", "negative"])
@pytest.mark.parametrize("labels", [["no", "yes"], ["a", "b", "c"], [0.5, 1.5], [False, True]])
def test_onnx_decides_ties_alike(ties, labels):
    """With zero weights every score is a tie."""
    model = nk.Perceptron(ties=ties, classes=labels)
    model.learn_one([1.0, 2.0], labels[0]).learn_one([-1.0, -2.0], labels[0])
    state = model._model.state
    state.raw.coef[:], state.raw.bias[:] = 0.0, 0.0
    model._model.state = state
    X = np.array([[0.0, 0.0], [1.0, -1.0]])
    assert run_onnx(model, {"X": X})[1] == model.predict(X).tolist() == [labels[0 if ties == "negative" else -1]] * 2


def test_onnx_of_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2.0, -1.0], "b": [0.0, 1.0, 3.0]})
    model = nk.Perceptron(max_iter=5).partial_fit(frame, [0, 0, 1])
    assert run_onnx(model, {"X": frame.to_numpy()})[1] == model.predict(frame).tolist()


@pytest.mark.parametrize("scaling", [{}, {"scale": False}, {"hats": True}])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("labels", LABELS)
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_onnx_of_tables_of_numbers(hypothesis, labels, missing, scaling, tmp_path):
    path, rows = table(tmp_path, words=False, labels=labels, missing=missing)
    model = learn(path, hypothesis, **scaling)
    X = np.array([[np.nan if cell is None else cell for cell in row.values()] for row in rows])
    scores, told = predictions(model, path)
    found, label = run_onnx(model, {"X": X})
    np.testing.assert_allclose(found, scores, rtol=1e-9, atol=1e-9)
    assert label == told
    assert not np.isnan(run_onnx(model, {"X": np.full((1, 3), np.nan)})[0]).any()


@pytest.mark.parametrize("hats", [False, True])
@pytest.mark.parametrize("labels", LABELS)
def test_onnx_of_tables_with_words(labels, hats, tmp_path):
    path, rows = table(tmp_path, labels=labels)
    model = learn(path, hats=hats)
    new = [{"age": 30.0, "height": None, "same": 5.0, "sky": "snow"}]
    scores, told = predictions(model, path)
    inputs = {
        name: np.array([[np.nan if row[name] is None else row[name]] for row in rows + new])
        for name in ("age", "height", "same")
    }
    inputs["sky"] = np.array([[row["sky"] or ""] for row in rows + new], object)
    found, label = run_onnx(model, inputs)
    np.testing.assert_allclose(found[:-1], scores, rtol=1e-9, atol=1e-9)
    assert label[:-1] == told
    facts = json.loads(to_json(model))
    np.testing.assert_allclose(np.ravel(found[-1]), scores_by_hand(new[0], facts), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("hats", [False, True])
def test_onnx_of_svmlight(hats, tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 4)) * (rng.random((50, 4)) < 0.5)
    model = learn(path := svmlight(tmp_path, X, np.where(X[:, 0] > X[:, 1], 1, -1)), hats=hats)
    scores, told = predictions(model, path)
    found, label = run_onnx(model, {"X": np.hstack([np.zeros((50, 1)), X])})  # index 0 is there, and empty
    np.testing.assert_allclose(found, scores, rtol=0, atol=1e-9)
    assert label == told


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("hats", [False, True])
def test_exports_of_svmlight_take_values_as_they_are_in_the_file(hats, hypothesis, n_classes, tmp_path):
    """A dense column far from 0, a dense one with zeros, a rare one of large numbers, one of 0 and 1, a constant, rare
    counts."""
    rng = np.random.default_rng(4)
    X = rng.normal([5000.0, -3.0, 900.0, 0.0, 0.0], [100.0, 1.0, 50.0, 0.0, 0.0], (120, 5))
    X[:, 1] *= rng.random(120) < 0.7
    X[:, 2] *= rng.random(120) < 0.2
    X[:, 3], X[:, 4] = rng.random(120) < 0.4, 7.0
    X = np.column_stack([X, rng.poisson(4.0, 120) * (rng.random(120) < 0.3)])
    y = ((X[:, 0] > 5000.0).astype(int) + X[:, 3].astype(int)) % n_classes
    path = svmlight(tmp_path, X, y)
    model = learn(path, hypothesis, hats=hats)
    scores, told = predictions(model, path)
    facts = json.loads(to_json(model))
    assert facts["linear"] == ["1", "2", "3", "5"]
    rows = [{str(j + 1): value for j, value in enumerate(row) if value} for row in X.tolist()]
    by_hand = np.array([scores_by_hand(row, facts) for row in rows])
    np.testing.assert_allclose(by_hand, scores.reshape(120, -1), rtol=1e-9, atol=1e-9)
    found, label = run_onnx(model, {"X": np.hstack([np.zeros((120, 1)), X])})
    np.testing.assert_allclose(found.reshape(120, -1), scores.reshape(120, -1), rtol=1e-9, atol=1e-9)
    assert label == told


def test_onnx_of_one_class():
    model = nk.Perceptron().partial_fit([[1.0], [2.0]], ["all", "all"])
    assert run_onnx(model, {"X": np.array([[1.0], [-1.0]])})[1] == model.predict([[1.0], [-1.0]]).tolist()


# -- what cannot be exported


def test_voted_perceptron_cannot_be_exported():
    model = nk.Perceptron(hypothesis="voted").partial_fit([[1.0], [-1.0]], [0, 1])
    for export in (to_json, to_onnx):
        with pytest.raises(ModelFileError, match="averaged"):
            export(model)


def test_named_features_and_text_cannot_be_exported_to_onnx(tmp_path):
    with pytest.raises(ModelFileError, match="JSON"):
        to_onnx(nk.Perceptron().learn_one({"a": 1}, "x").learn_one({"b": 1}, "y"))
    path = tmp_path / "sms.csv"
    path.write_text("sms,label\ncall now,spam\nlunch at one,ham\n")
    with pytest.raises(ModelFileError, match="text"):
        to_onnx(learn(path, types={"sms": "text"}))
    path.write_text(f"sky,label\n{'x' * 200},spam\n{'y' * 200},ham\n")
    with pytest.raises(ModelFileError, match="longer than the names that the model keeps whole"):
        to_onnx(learn(path, types={"sky": "word"}))


def test_model_that_has_learned_nothing_cannot_be_exported():
    with pytest.raises(ModelFileError, match="learned"):
        to_json(nk.Perceptron())
    with pytest.raises(ModelFileError, match="nothing"):
        to_json(nk.StreamModel(nk.Learner()))


def test_without_onnx(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ModelFileError, match=r"Install the extra \"onnx\".*pip install .*\[onnx\]"):
        to_onnx(nk.Perceptron().partial_fit([[1.0], [-1.0]], [0, 1]))


# -- the command


def run(*arguments, code=0):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result


def test_command(tmp_path):
    onnx = pytest.importorskip("onnx")
    path, rows = table(tmp_path)
    model = learn(path)
    model.save(tmp_path / "m.nk")
    run("export", tmp_path / "m.nk", "-o", tmp_path / "coef.json")
    facts = json.loads((tmp_path / "coef.json").read_text())
    assert [label_by_hand(row, facts) for row in rows] == predictions(model, path)[1]
    assert json.loads(run("export", tmp_path / "m.nk", "-o", "-", "--to", "json").stdout) == facts
    run("export", tmp_path / "m.nk", "-o", tmp_path / "m.onnx")
    onnx.checker.check_model(onnx.load(tmp_path / "m.onnx"))
    nk.Perceptron().partial_fit([[1.0], [-1.0]], [0, 1]).save(tmp_path / "e.nk")
    run("export", tmp_path / "e.nk", "-o", tmp_path / "e.onnx")


def test_wrong_calls(tmp_path):
    assert "--to" in run("export", "m.nk", "-o", "m.txt", code=2).output
    assert "nowhere.nk" in run("export", "nowhere.nk", "-o", tmp_path / "c.json", code=1).output
    assert not (tmp_path / "c.json").exists()


def test_example_in_the_help_is_right():
    said = run("export", "--help").output
    facts = json.loads(said[said.index("{") : said.index("A row with age")])
    assert scores_by_hand({"age": 50, "sky": "rain"}, facts) == [3.75]
    assert label_by_hand({"age": 50, "sky": "rain"}, facts) == "stay"

"""Class weights of streams: given and balanced, in any blocks, over checkpoints and interrupts."""

import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import DataError, ModelFileError
from novikoff.streaming.class_weights import ClassWeights
from novikoff.streaming.model import StreamModel
from tests.support import strategies
from tests.support.strategies import account


def table(path, n=200, seed=0, labels=("ham", "spam")):
    """Write a table of two columns of integers; one row in five has the second label."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (n, 2)), rng.random(n) < 0.2
    lines = ["a,b,y", *(f"{a},{b},{labels[int(k)]}" for (a, b), k in zip(X, y, strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path, X.astype(float), y


def running_balance(y):
    """n / (K * count) for each row, by the rows up to it."""
    weights, counts = [], {}
    for n, label in enumerate(y, 1):
        counts[label] = counts.get(label, 0) + 1
        weights.append(n / (len(counts) * counts[label]))
    return np.array(weights)


def weights_of(model):
    return np.append(model.model.state.raw.coef, model.model.state.raw.bias)


@pytest.mark.parametrize("class_weight", [{"spam": 5.0, "ham": 0.5}, {"spam": 5.0}, "balanced"], ids=str)
def test_a_stream_learns_with_the_weights_of_its_labels(class_weight, tmp_path):
    path, X, y = table(tmp_path / "mail.csv")
    labels = np.where(y, "spam", "ham").tolist()
    c = running_balance(labels) if class_weight == "balanced" else [class_weight.get(each, 1.0) for each in labels]
    expected = nk.Perceptron(hypothesis="averaged").partial_fit(X, labels, sample_weight=c)
    model = nk.learn(path, target="y", scale=False, hypothesis="averaged", class_weight=class_weight)
    np.testing.assert_allclose(weights_of(model), strategies.raw(expected)[0], rtol=1e-12)
    np.testing.assert_allclose(account(model.ledger), account(expected.ledger_), rtol=1e-12)
    assert model.ledger.importance_range == pytest.approx((min(c), max(c)))


@pytest.mark.parametrize("seed", range(5))
def test_balanced_weights_in_any_blocks(seed):
    rng = np.random.default_rng(seed)
    labels = np.array(["a", "b", "c", "d"])[np.minimum(rng.geometric(0.5, 60) - 1, 3)]
    weights, state = [], ClassWeights("balanced")
    for part in np.split(labels, np.sort(rng.integers(0, 60, 5))):
        classes, indices = np.unique(part, return_inverse=True)
        classes = np.append(classes, "never")  # a class may have no row
        found, state = state.weigh(classes, indices)
        weights += found.tolist()
    np.testing.assert_allclose(weights, running_balance(labels.tolist()), rtol=1e-15)
    assert state.counts == {str(label): int(n) for label, n in zip(*np.unique(labels, return_counts=True), strict=True)}


@pytest.mark.parametrize("class_weight", [{"spam": 5.0}, "balanced"], ids=str)
def test_a_resumed_run_equals_one_that_was_never_interrupted(class_weight, tmp_path):
    path, _, _ = table(tmp_path / "mail.csv", 400)
    text = path.read_text()
    whole = nk.learn(path, target="y", class_weight=class_weight)
    whole.save(tmp_path / "whole.nk")
    path.write_text("\n".join(text.splitlines()[:150]) + "\n")
    nk.learn(path, target="y", class_weight=class_weight, checkpoint=tmp_path / "m.nk")
    path.write_text(text)
    nk.learn(path, target="y", class_weight=class_weight, checkpoint=tmp_path / "m.nk", resume=True)
    assert (tmp_path / "m.nk").read_bytes() == (tmp_path / "whole.nk").read_bytes()
    with pytest.raises(DataError, match="class_weight=None"):
        nk.learn(path, target="y", checkpoint=tmp_path / "m.nk", resume=True)


def test_files_without_class_weights_have_none(tmp_path):
    path, _, _ = table(tmp_path / "mail.csv", 20)
    nk.learn(path, target="y", checkpoint=tmp_path / "m.nk")
    assert StreamModel.load(tmp_path / "m.nk").class_weights is None


def test_numeric_labels_have_weights_by_number_and_by_text(tmp_path):
    path, _, _ = table(tmp_path / "t.csv", labels=("0", "1"))
    found = [weights_of(nk.learn(path, target="y", class_weight=w)) for w in ({1: 3.0}, {"1": 3.0}, {1.0: 3.0})]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
    assert not np.array_equal(found[0], weights_of(nk.learn(path, target="y")))


def test_a_weight_for_no_label_is_told(tmp_path):
    path, _, _ = table(tmp_path / "mail.csv")
    with pytest.warns(UserWarning, match="weight for 'spma', but no row had this label"):
        nk.learn(path, target="y", class_weight={"spma": 5.0})


@pytest.mark.parametrize("weight", [0.0, -1.0, np.nan, np.inf, "much", None])
def test_weights_must_be_above_zero(weight):
    with pytest.raises(DataError, match=r"weight of the label 'spam' must be a number > 0"):
        ClassWeights({"spam": weight})


def test_class_weight_is_a_dict_or_balanced():
    with pytest.raises(DataError, match="or 'balanced', found 'unbalanced'"):
        ClassWeights("unbalanced")


def test_a_rejected_block_is_not_counted(tmp_path, monkeypatch):
    """The counts behind balanced weights change with the weights, or not at all."""
    path, _, _ = table(tmp_path / "mail.csv")
    (block,) = nk.open_stream(path, target="y")
    model, twice = (nk.learn([path] * n, target="y", class_weight="balanced") for n in (1, 2))
    counts = dict(model.class_weights.counts)
    with monkeypatch.context() as patch:
        patch.setattr(type(model.model), "learn_encoded", refuse)
        with pytest.raises(DataError, match="refused"):
            model.learn(block)
    assert model.class_weights.counts == counts
    model.learn(block)
    np.testing.assert_array_equal(weights_of(model), weights_of(twice))
    assert model.class_weights.counts == twice.class_weights.counts


def refuse(*_, **__):
    raise DataError("refused")


def test_damaged_weights_are_refused(tmp_path):
    path, _, _ = table(tmp_path / "mail.csv")
    model = nk.learn(path, target="y", class_weight={"spam": 5.0})
    model.class_weights.class_weight["spam"] = -5.0
    with pytest.raises(ModelFileError, match="not > 0"):
        model.save(tmp_path / "m.nk")

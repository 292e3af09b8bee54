"""Model files: saved models are loaded equal and continue alike; damaged or forged files are refused."""

import json
import math
import os
import pickle
import random
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

import novikoff as nk
from novikoff import Learner, Rows, model_files, rules
from novikoff.errors import ModelFileError
from novikoff.model_files.container import pack, unpack
from novikoff.model_files.loading import KINDS
from novikoff.perceptron.find_engine import find_engine
from novikoff.perceptron.model import Model
from tests.support.strategies import FORMATS, HYPOTHESES, TIES, csr, dicts, integers, one_by_one, streams


def half(margin, squared_norm):
    return 0.5 if margin <= 0 else 0.0


def third(margin, squared_norm):
    return 1.0 / 3.0 if margin <= 0 else 0.0


ALL_RULES = [*rules.NAMES, rules.Perceptron(2), rules.Margin(beta=np.float32(0.1)), rules.PassiveAggressive(C=0.3)]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.nk"


def content_of(model, path):
    """The bytes of the file of a model: everything it has learned, to the last bit."""
    model.save(path)
    return path.read_bytes()


def save_and_load(model, path, **how):
    model.save(path)
    return nk.load(path, **how)


def fit_perceptron(seed=0, n=40, d=3, n_classes=2, as_format="float64", **how):
    X, y = integers(seed, n, d, n_classes)
    return nk.Perceptron(**how).partial_fit(FORMATS[as_format](X), y)


# -- loaded models continue as if they had not been saved

WORDS = ("ham", "spam", "eggs", "tea")


@st.composite
def streams_and_models(draw):
    labels = draw(st.sampled_from([(0, 1), (False, True), WORDS[:2], (0, 1, 2), WORDS]))
    X, y = draw(streams(labels))
    scale = draw(st.sampled_from([1.0, 0.1]))  # tenths are not exact, so that the order of summation matters
    rule = draw(st.sampled_from(ALL_RULES))
    is_stateful = isinstance(rules.resolve(rule), rules.StatefulRule)
    how = {
        "rule": rule,
        "hypothesis": draw(st.sampled_from([name for name in HYPOTHESES if name != "voted" or not is_stateful])),
        "ties": draw(st.sampled_from(TIES)),
        "fit_intercept": draw(st.booleans()),
    }
    engine = find_engine(rules.resolve(how["rule"]))
    if engine is not None:
        how["hypothesis"] = draw(st.sampled_from([name.lower() for name in engine.hypotheses]))
    return X * scale, y.tolist(), how, draw(st.integers(1, len(y)))


def as_block(change):
    return lambda model, X, y: model.partial_fit(change(X), y) if len(y) else model


WAYS = {
    **{name: as_block(change) for name, change in FORMATS.items()},
    "dicts": as_block(lambda X: dicts(X, zeros=False)),
    "arrays one by one": one_by_one,
    "dicts one by one": lambda model, X, y: one_by_one(model, dicts(X, zeros=False), y),
}


@pytest.mark.parametrize("way", WAYS)
@given(streams_and_models())
@settings(max_examples=40)
def test_saving_and_loading_between_examples_changes_nothing(tmp_path_factory, way, drawn):
    """learn(A then B) = learn(A), save, load, learn(B): the files are equal byte for byte."""
    X, y, how, cut = drawn
    path = tmp_path_factory.getbasetemp() / "break.nk"
    learn = WAYS[way]
    uninterrupted = learn(learn(nk.Perceptron(**how), X[:cut], y[:cut]), X[cut:], y[cut:])
    resumed = save_and_load(learn(nk.Perceptron(**how), X[:cut], y[:cut]), path)
    resumed = learn(resumed, X[cut:], y[cut:])
    assert content_of(uninterrupted, path) == content_of(resumed, path)


@given(streams_and_models(), st.lists(st.sampled_from(["float64", "float32", "csr64"]), min_size=3, max_size=3))
def test_the_format_of_rows_may_change_after_loading(tmp_path_factory, drawn, formats):
    """The history of a voted perceptron then has rows of several formats, and weights have another memory layout."""
    X, y, how, cut = drawn
    path = tmp_path_factory.getbasetemp() / "mixed.nk"
    uninterrupted, resumed = nk.Perceptron(**how), nk.Perceptron(**how)
    for number, kind in enumerate(formats):
        part = slice(None, cut) if number % 2 else slice(None)
        for model in (uninterrupted, resumed):
            model.partial_fit(FORMATS[kind](X[part]), y[part])
        resumed = save_and_load(resumed, path)
        queries = FORMATS[formats[0]](X)
        assert resumed.decision_function(queries).tobytes() == uninterrupted.decision_function(queries).tobytes()
    assert content_of(uninterrupted, path) == content_of(resumed, path)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_new_names_and_labels_after_loading(path, hypothesis):
    stream = [({"a": 0.1, "b": 2}, "x"), ({"b": -1.3}, "y"), ({"c": 0.7, "a": -1}, "w"), ({"d": 1, "b": 0.1}, "x")]
    for cut in range(1, len(stream)):
        uninterrupted, resumed = nk.Perceptron(hypothesis=hypothesis), nk.Perceptron(hypothesis=hypothesis)
        one_by_one(uninterrupted, *zip(*stream[:cut], strict=True))
        resumed = save_and_load(one_by_one(resumed, *zip(*stream[:cut], strict=True)), path)
        for x, y in stream[cut:] * 3:
            assert uninterrupted.predict_one(x) == resumed.predict_one(x)
            uninterrupted.learn_one(x, y)
            resumed.learn_one(x, y)
        assert content_of(uninterrupted, path) == content_of(resumed, path)


def test_saving_does_not_change_the_model(path):
    X, y = integers(1, 60, 4, 3)
    watched, left_alone = nk.Perceptron(hypothesis="voted"), nk.Perceptron(hypothesis="voted")
    for x, label in zip(dicts(X * 0.1), y, strict=True):
        watched.learn_one(x, label).save(path)
        watched.predict_one(x)  # makes the history compact
        left_alone.learn_one(x, label)
    assert content_of(watched, path) == content_of(left_alone, path)


# -- loaded models are equal


@pytest.mark.parametrize("as_format", FORMATS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_a_loaded_model_has_equal_attributes(path, hypothesis, n_classes, as_format):
    X, y = integers(3, 80, 5, n_classes)
    X = FORMATS[as_format](X * 0.1)
    model = nk.Perceptron(hypothesis=hypothesis, max_iter=3, order="shuffled", random_state=5)
    with pytest.warns(UserWarning, match="did not converge"):
        model.fit(X, y)
    found = save_and_load(model, path)
    assert found.get_params() == model.get_params()
    assert vars(found).keys() == vars(model).keys()
    assert (found.n_iter_, found.converged_, found.n_features_in_) == (model.n_iter_, model.converged_, 5)
    assert repr(found.ledger_) == repr(model.ledger_)
    assert found.ledger_.norm == model.ledger_.norm
    np.testing.assert_array_equal(found.ledger_.trace.points, model.ledger_.trace.points)
    assert [*map(type, found.ledger_.trace.points[0])] == [int, int, int, float, float]
    assert found.classes_.dtype == model.classes_.dtype
    assert found.decision_function(X).tobytes() == model.decision_function(X).tobytes()
    assert content_of(found, path) == content_of(model, path)
    with pytest.warns(UserWarning, match="did not converge"):
        assert content_of(found.fit(X, y), path) == content_of(model.fit(X, y), path)


def test_the_memory_layout_of_weights_does_not_change_the_file(path):
    """The layout changes with the format of the rows, even by predicting."""
    X, y = integers(0, 50, 7, 3)
    model = nk.Perceptron(hypothesis="averaged").partial_fit(dicts(X * 0.1), y)
    assert model._model.state.raw.coef.flags.fnc
    before = content_of(model, path)
    model.predict_one(dicts(X)[0])
    assert not model._model.state.raw.coef.flags.fnc
    assert content_of(model, path) == before
    assert nk.load(path)._model.state.raw.coef.flags.writeable
    assert nk.load(path)._model.state.raw.coef.flags.aligned


def test_one_name_and_then_another(path):
    """The weights of one column for three classes are contiguous in both orders."""
    stream = [({"a": k % 3 - 1.0}, "xyz"[k % 3]) for k in range(9)] + [({"b": 0.1, "a": 0.7}, "x")] * 2
    uninterrupted = one_by_one(nk.Perceptron(), *zip(*stream, strict=True))
    resumed = save_and_load(one_by_one(nk.Perceptron(), *zip(*stream[:-1], strict=True)), path).learn_one(*stream[-1])
    assert content_of(uninterrupted, path) == content_of(resumed, path)


LABELS = [
    np.array([False, True]),
    np.array([-1, 1]),
    np.array([0, 5], np.int8),
    np.array([0.0, 2.0], np.float32),
    np.array(["ham", "spam"]),
    np.array(["a", "bb"], "<U9"),
    np.array(["ä", "𝄞 "], object),
    np.array([3, 1], ">i8"),
    np.array([2**60, 2**70], object),
    np.array([0, 1, 2], np.uint64),
    np.array(["x" * 20000, "y"]),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: f"{labels.dtype}{len(labels)}")
def test_labels_keep_their_type(path, labels):
    X, _ = integers(0, 12, 2, 2)
    model = nk.Perceptron(max_iter=1, hypothesis="averaged").partial_fit(X, np.resize(labels, 12))
    with pytest.warns(UserWarning, match="did not converge"):
        model = model.fit(X, np.resize(labels, 12))
    found = save_and_load(model, path)
    assert found.classes_.dtype == model.classes_.dtype
    assert [*map(type, found.classes_.tolist())] == [*map(type, model.classes_.tolist())]
    assert found.predict(X).tolist() == model.predict(X).tolist()


ONE_LABELS = [
    True,
    False,
    0,
    -3,
    10**500,
    0.1,
    -math.inf,
    "",
    "\ud800",
    "\0",
    "𝄞",
    b"\xff",
    np.int8(3),
    np.float16(0.1),
    np.uint64(2**64 - 1),
    np.bool_(True),
    np.str_("np"),
    np.float64(0.5),
]


@pytest.mark.parametrize("label", ONE_LABELS, ids=lambda label: f"{type(label).__name__} {str(label)[:9]!a}")
def test_a_single_label(path, label):
    """Its class code depends on its value."""
    model = nk.Perceptron().learn_one({"a": 1}, label)
    found = save_and_load(model, path)
    assert found._model.labels.known == [label]
    assert type(found._model.labels.known[0]) is type(label)
    assert found._model.labels.codes == model._model.labels.codes
    assert found.predict_one({"a": 1}) == model.predict_one({"a": 1})


def test_labels_of_other_types_are_refused(path):
    model = nk.Perceptron().learn_one({"a": 1}, (1, 2))
    with pytest.raises(ModelFileError, match=r"^The model cannot be saved: labels has \(1, 2\) of type tuple"):
        model.save(path)
    assert not path.exists()


def test_names_of_any_kind(path):
    names = ["", "ä𝄞", "\ud800", "a\0b", 7, 7.5, np.str_("np"), b"raw", "new\nline", "a" * 1000]
    model = nk.Perceptron().learn_one(dict.fromkeys(names, 0.5), True)
    found = save_and_load(model, path)
    assert list(found._model.vocabulary) == names
    assert [*map(type, found._model.vocabulary)] == [*map(type, names)]
    assert content_of(found, path) == content_of(model, path)
    assert content_of(save_and_load(nk.Perceptron().learn_one({}, "x"), path).learn_one({"a": 1}, "y"), path)


def test_columns_of_a_frame(path):
    X, y = integers(0, 30, 3, 2)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = nk.Perceptron().partial_fit(frame, y)
    found = save_and_load(model, path)
    assert found.feature_names_in_.dtype == model.feature_names_in_.dtype == object
    assert found.feature_names_in_.tolist() == ["a", "b", "c"]
    more = [{"a": 1.0, "new": 2.0}], [1]
    assert content_of(found.partial_fit(*more), path) == content_of(model.partial_fit(*more), path)
    assert save_and_load(found, path).n_features_in_ == 3


@pytest.mark.parametrize("rule", ALL_RULES, ids=str)
def test_rules(path, rule):
    found = save_and_load(fit_perceptron(rule=rule), path)
    assert found.rule == rule
    assert found._model.learner.rule == rules.resolve(rule)


@pytest.mark.parametrize("rule", [half, rules.Custom(half)], ids=["function", "value"])
def test_a_rule_that_is_a_function_must_be_passed(path, rule):
    X, y = integers(0, 20, 3, 2)
    model = nk.Perceptron(rule=rule).partial_fit(X, y)
    model.save(path)
    with pytest.raises(
        ModelFileError,
        match=r"trained by a function of its user, 'half', and a file holds no code: .*"
        r"rule=half",
    ):
        nk.load(path)
    with pytest.raises(ModelFileError, match="rule must be that function, found 'margin'"):
        nk.load(path, rule="margin")
    found = nk.load(path, rule=half)
    assert found.rule == rule
    assert content_of(found.partial_fit(X, y), path) == content_of(model.partial_fit(X, y), path)
    assert nk.load(path, rule=rules.Custom(half)).rule == rule
    with pytest.raises(ModelFileError, match="changed from one function to another"):
        model.set_params(rule=third).save(path)


def test_a_rule_that_is_not_needed_is_refused(path):
    fit_perceptron().save(path)
    with pytest.raises(ModelFileError, match="knows its rule"):
        nk.load(path, rule=half)


PARAMETERS = [
    {"max_iter": np.int64(7)},
    {"random_state": 3},
    {"random_state": None},
    {"fit_intercept": np.bool_(False)},
    {"classes": [0, 1]},
    {"classes": (0, 1)},
    {"classes": np.array([0, 1, 2])},
    {"classes": [0, 1, np.int64(5)]},
    {"classes": pd.Series([0, 1])},
    {"classes": range(2)},
    {"separator": [1, 0.5, 0, 2]},
    {"separator": np.ones(4)},
    {"separator": [[1, 0.5, 0, 2]]},
    {"separator": np.ones((1, 4), np.float32)},
]


@pytest.mark.parametrize("how", PARAMETERS, ids=str)
def test_parameters(path, how):
    model = fit_perceptron(**how)
    found = save_and_load(model, path)
    ((name, value),) = how.items()
    kept = getattr(found, name)
    np.testing.assert_array_equal(kept, value)
    assert type(kept) is type(value) or not isinstance(value, (list, tuple, np.ndarray, int))
    assert content_of(found, path) == content_of(model, path)
    assert repr(found.ledger_) == repr(model.ledger_)


def test_strings_as_classes(path):
    words = np.array(["ham", "spam"])
    for classes in (words, words.astype(object), words.tolist(), np.array([False, True])):
        found = save_and_load(nk.Perceptron(classes=classes).learn_one({"a": 1}, classes[1]), path)
        assert type(found.classes) is type(classes)
        assert np.asarray(found.classes).dtype == np.asarray(classes).dtype
        assert found.classes_.tolist() == list(classes)


def test_the_state_of_a_random_generator_is_saved(path):
    X, y = integers(0, 30, 3, 2)
    model = nk.Perceptron(order="random", max_iter=2, random_state=np.random.RandomState(3))
    model.random_state.standard_normal()  # the generator keeps a second number
    with pytest.warns(UserWarning, match="did not converge"):
        found = save_and_load(model.fit(X, y), path)
    for _ in range(2):
        with pytest.warns(UserWarning, match="did not converge"):
            assert content_of(found.fit(X, y), path) == content_of(model.fit(X, y), path)
    assert found.random_state.standard_normal() == model.random_state.standard_normal()
    with pytest.raises(ModelFileError, match=r"parameters\.random_state is a RandomState over PCG64"):
        model.set_params(random_state=np.random.RandomState(np.random.PCG64(1))).save(path)


def test_merged_learners(path):
    """Merged learners have several sequences of updates, each with a first weight vector."""
    X, y = integers(2, 60, 4, 3)
    learner = Learner(hypothesis="voted")
    states = [learner.update(learner.init(4, 3), Rows.of(X[k::2] * 0.1), y[k::2]) for k in (0, 1)]
    model = Model(learner, [0, 1, 2], learner.merge(states))
    model_files.save(path, model_files.SavedPerceptron("perceptron", model))
    found = model_files.load(path).model
    for each in (model, found):
        each.learn_rows(Rows.of(X * 0.1), y)
        each.learn_rows(Rows.of(csr(X[:9])), y[:9])
    assert found.scores(Rows.of(X)).tobytes() == model.scores(Rows.of(X)).tobytes()
    model_files.save(path, model_files.SavedPerceptron("perceptron", found))
    one = path.read_bytes()
    model_files.save(path, model_files.SavedPerceptron("perceptron", model))
    assert one == path.read_bytes()


def test_a_long_trace(path):
    model = nk.Perceptron()
    for k in range(1500):
        model.learn_one([1.0, k % 3], k % 2)
    assert model.ledger_.trace.stride > 1
    found = save_and_load(model, path)
    for k in range(1500):
        found.learn_one([k % 2, 1.0], k % 2)
        model.learn_one([k % 2, 1.0], k % 2)
    assert content_of(found, path) == content_of(model, path)


def test_bytes_do_not_depend_on_the_process(path):
    """They depend neither on the hash seed of Python nor on earlier calls."""
    code = (
        "import sys, novikoff as nk\n"
        "m = nk.Perceptron().learn_one({'b': 1, 'a': 2}, 'x').learn_one({'c': 1}, 'y')\n"
        "if sys.argv[2] == '1': m.classes_, m.predict_one({'a': 1}), m.ledger_\nm.save(sys.argv[1])"
    )
    found = set()
    for seed in ("0", "1"):
        subprocess.run(
            [sys.executable, "-c", code, str(path), seed], check=True, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        found.add(path.read_bytes())
    assert len(found) == 1


def test_values_that_cannot_be_saved(path):
    with pytest.raises(NotFittedError):
        nk.Perceptron().save(path)
    model = fit_perceptron()
    model._model.state.raw.coef[0, 0] = np.inf
    with pytest.raises(ModelFileError, match=r"^The model cannot be saved: state.raw.coef holds NaN or infinity\.$"):
        model.save(path)
    with pytest.raises(ModelFileError, match=r"none/m.nk cannot be written: No such file or directory\.$"):
        fit_perceptron().save(path.parent / "none" / "m.nk")
    with pytest.raises(ModelFileError, match=r"cannot be written: Is a directory\.$"):
        fit_perceptron().save(path.parent)
    with pytest.raises(ValueError, match="max_iter"):
        fit_perceptron().set_params(max_iter=-1).save(path)
    assert list(path.parent.iterdir()) == []


def test_a_failed_save_leaves_the_old_file(path):
    before = content_of(fit_perceptron(), path)
    bad = fit_perceptron(seed=1)
    bad._model.state.raw.coef[0, 0] = np.nan
    with pytest.raises(ModelFileError):
        bad.save(path)
    assert path.read_bytes() == before


# -- damaged and forged files


def write(path, content):
    path.write_bytes(content)
    return path


def newer():
    _, root = unpack(pack("perceptron", model_files.Section("", {})), "")
    entry = json.dumps({"schema": model_files.SCHEMA + 1, "kind": "perceptron", "facts": root.facts})
    return safetensors.numpy.save({}, {"novikoff": entry})


FOREIGN = {
    "empty": (b"", "is empty"),
    "short": (b"\x80\x04", "is cut short or damaged"),
    "text": (b"examples,mistakes\n1,2\n" * 9, "is not a model file of novikoff"),
    "pickle": (pickle.dumps({"w": list(range(99))}), "is not a model file of novikoff"),
    "zip": (b"PK\x03\x04" + bytes(99), "is not a model file of novikoff"),
    "zeros": (bytes(4096), "is not a model file of novikoff"),
    "safetensors": (safetensors.numpy.save({"w": np.ones(3)}), "is a safetensors file, but not one that novikoff"),
    "text metadata": (safetensors.numpy.save({}, {"novikoff": "7"}), "is a safetensors file, but not one that"),
    "bad JSON": (safetensors.numpy.save({}, {"novikoff": '{"schema": NaN}'}), "its metadata cannot be read"),
    "deep JSON": (safetensors.numpy.save({}, {"novikoff": "[" * 99999}), "its metadata cannot be read"),
    "no schema": (safetensors.numpy.save({}, {"novikoff": "{}"}), "its metadata does not describe a model"),
    "newer": (newer(), "was written by a newer novikoff: its schema is 2, this version reads 1; upgrade novikoff"),
    "other kind": (None, "holds a learner of kind 'forest'"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files(path, name):
    content, sentence = FOREIGN[name]
    if content is None:
        model_files.save(path, model_files.SavedPerceptron("forest", fit_perceptron()._model))
    else:
        write(path, content)
    with pytest.raises(ModelFileError, match=sentence) as found:
        nk.load(path)
    assert str(found.value).startswith(str(path))
    assert "\n" not in str(found.value)


def test_paths_that_are_not_files(path):
    for bad, sentence in ((path, "No such file"), (path.parent, "directory"), ("a\0b", "null")):
        with pytest.raises(ModelFileError, match=f"cannot be read: .*{sentence}"):
            nk.load(bad)


SMALL = {
    "binary": lambda: fit_perceptron(n=6, hypothesis="averaged"),
    "voted": lambda: fit_perceptron(n=9, n_classes=3, hypothesis="voted", as_format="csr32"),
    "names": lambda: one_by_one(nk.Perceptron(hypothesis="pocket"), [{"a": 1}, {"b": 2}, {"c": 1}], ["x", "y", "z"]),
}


@pytest.mark.parametrize("name", SMALL)
def test_every_truncation_is_detected(path, name):
    content = content_of(SMALL[name](), path)
    for size in range(len(content)):
        with pytest.raises(ModelFileError):
            nk.load(write(path, content[:size]))
    with pytest.raises(ModelFileError):
        nk.load(write(path, content + b"\0"))


@pytest.mark.parametrize("name", SMALL)
def test_every_flipped_byte_is_detected(path, name):
    """A change that is accepted (white space in the header) gives the same model."""
    content = content_of(SMALL[name](), path)
    rng = random.Random(0)
    offsets = [rng.choices(range(len(content)), k=rng.randint(1, 3)) for _ in range(600)]
    if name == "binary":
        offsets += [[at] for at in range(len(content))]
    for changed in offsets:
        bad = bytearray(content)
        for at in changed:
            bad[at] ^= 1 << rng.randrange(8)
        try:
            found = nk.load(write(path, bytes(bad)))
        except ModelFileError:
            continue
        assert content_of(found, path) == content


def write_forged(path, model, change):
    """Write the file of a model with a change and the right checksum for it."""
    model.save(path)
    kind, root = model_files.read(path)
    change(root)
    return write(path, pack(kind, root))


def with_tensor(name, change):
    def apply(root):
        root.tensors[name] = np.ascontiguousarray(change(root.tensors[name].copy()))

    return apply


def with_fact(path_of_fact, value):
    def apply(root):
        *path, last = path_of_fact.split("/")
        facts = root.facts
        for name in path:
            facts = facts[name]
        if value is KeyError:
            del facts[last]
        else:
            facts[last] = value

    return apply


def set_to(at, value):
    def change(array):
        array[at] = value
        return array

    return change


def without(name):
    return lambda root: root.tensors.pop(name)


FORGERIES = {
    "coef missing": (without("state.raw.coef"), "state.raw.coef is missing"),
    "coef NaN": (with_tensor("state.raw.coef", set_to((0, 0), np.nan)), "state.raw.coef holds NaN or infinity"),
    "bias inf": (with_tensor("state.raw.bias", set_to(0, np.inf)), "state.raw.bias holds NaN or infinity"),
    "coef wide": (with_tensor("state.raw.coef", lambda a: np.pad(a, ((0, 0), (0, 1)))), "3 names for 4 features"),
    "coef tall": (with_tensor("state.raw.coef", lambda a: np.pad(a, ((0, 1), (0, 0)))), "has shape"),
    "coef short type": (with_tensor("state.raw.coef", np.float32), "has dtype float32, expected float64"),
    "coef integers": (with_tensor("state.raw.coef", np.int64), "has dtype int64, expected float64"),
    "counts": (with_tensor("state.counts", set_to(1, -1)), "state.counts are"),
    "more mistakes than examples": (with_tensor("state.counts", set_to(1, 10**6)), "state.counts are"),
    "all of time": (with_tensor("state.counts", set_to(0, 2**63 - 1)), "state.counts are"),
    "measures": (with_tensor("state.measures", set_to(0, np.nan)), "state.measures are"),
    "capacity": (with_fact("state/trace/capacity", 0), "capacity 0"),
    "stride": (with_fact("state/trace/stride", 3), "stride 3"),
    "trace": (with_tensor("state.trace.counts", set_to((0, 0), 10**6)), "do not rise"),
    "passes": (with_fact("state/passes", -1), "state.passes is -1"),
    "huge": (with_fact("state/passes", 10**30), "state.passes is 1000"),
    "is_bounded": (with_fact("state/is_bounded", 1), "state.is_bounded is 1"),
    "no state": (with_fact("state", KeyError), "state is missing"),
    "state a list": (with_fact("state", []), r"state is \[\]"),
    "slot": (with_tensor("state.history.0.slots", set_to(0, 99)), "points outside 0..3"),
    "slot below": (with_tensor("state.history.0.slots", set_to(0, -1)), "points outside"),
    "class": (with_tensor("state.history.0.classes", set_to((0, 1), 3)), "points outside 0..2"),
    "step": (with_tensor("state.history.0.steps", set_to(0, np.nan)), "NaN"),
    "example": (with_tensor("state.history.0.examples", set_to(0, 99)), "not in the order"),
    "column": (with_tensor("state.history.0.rows.indices", set_to(0, 3)), "points outside 0..2"),
    "column below": (with_tensor("state.history.0.rows.indices", set_to(0, -1)), "points outside"),
    "column order": (with_tensor("state.history.0.rows.indices", lambda a: a * 0), "a column twice in a row"),
    "indptr": (with_tensor("state.history.0.rows.indptr", set_to(1, 99)), "do not rise from 0"),
    "indptr start": (with_tensor("state.history.0.rows.indptr", set_to(0, -1)), "do not rise from 0"),
    "indptr types": (with_tensor("state.history.0.rows.indptr", np.int64), "dtype int64"),
    "width": (with_fact("state/history/0/rows/width", 99), "more features than the model"),
    "no sequences": (with_fact("state/history/chains", 0), "has no sequences"),
    "too many sequences": (with_fact("state/history/chains", 2**60), "state.history.1 is missing"),
    "ended": (with_fact("state/history/0/ended", 5), "only the last sequence"),
    "born": (with_fact("state/history/0/born", 99), "not in the order"),
    "rule": (with_fact("learner/rule/type", "Magic"), "its rule is of type 'Magic'"),
    "rule's parameter": (with_fact("learner/rule/learning_rate", -1.0), "its rule is"),
    "rule's huge parameter": (with_fact("learner/rule/learning_rate", 10**400), "its rule is"),
    "rule of code": (with_fact("learner/rule/type", "Custom"), "its rule is a function"),
    "hypothesis": (with_fact("learner/hypothesis", "best"), "its hypothesis is 'best'"),
    "other hypothesis": (with_fact("learner/hypothesis", "averaged"), "state.sums is missing"),
    "ties": (with_fact("learner/ties", "maybe"), "ties must be one of"),
    "labels fewer": (with_tensor("labels.offsets", lambda a: a[:-1]), "labels.offsets do not rise"),
    "labels equal": (with_tensor("labels.bytes", lambda a: a * 0 + 97), "labels are not sorted"),
    "labels not text": (with_tensor("labels.bytes", lambda a: a | 128), "cannot be read"),
    "label types": (with_fact("labels/types", ["function"]), "labels.types is"),
    "label types none": (with_fact("labels/types", []), "labels.types is"),
    "label types unhashable": (with_fact("labels/types", [[]]), "labels.types is"),
    "dtype": (with_fact("labels/dtype", "<i8"), "not of dtype int64"),
    "dtype of objects": (with_fact("labels/dtype", "O"), "labels.dtype is 'O'"),
    "dtype of fields": (with_fact("labels/dtype", "i4,i4"), "labels.dtype is"),
    "dtype huge": (with_fact("labels/dtype", "<U99999999"), "labels.dtype is"),
    "names": (with_tensor("names.offsets", set_to(1, 99)), "names.offsets do not rise"),
    "names equal": (with_tensor("names.bytes", lambda a: a * 0 + 97), "two features have the same name"),
    "no names": (with_fact("has_names", KeyError), "has_names is missing"),
    "unknown parameter": (with_fact("parameters/depth", {"is": "plain", "value": 3}), "unexpected keyword"),
    "parameter": (with_fact("parameters/max_iter/value", "many"), "max_iter"),
    "parameter kind": (with_fact("parameters/max_iter/is", "call"), "parameters.max_iter is 'call'"),
    "parameter tree": (with_fact("parameters/max_iter/value", {"a": 1}), "is not a plain value"),
    "parameter of code": (with_fact("parameters/rule", {"is": "function"}), "parameters.rule is a function"),
    "fitted": (with_fact("fitted/predict", {"is": "plain", "value": 3}), "do not go with the weights"),
    "columns": (with_fact("fitted/n_features_in_", {"is": "plain", "value": 99}), "do not go with the weights"),
}


@pytest.fixture(scope="module")
def voter():
    """Three classes, three names, four stored rows."""
    X = [
        {"a": 1.0, "b": 1.0},
        {"b": 1.0, "c": -0.5},
        {"a": -1.0, "c": 1.0},
        {"a": 2.0, "b": -3.0},
        {"a": 1.0, "c": 0.1},
    ]
    model = nk.Perceptron(hypothesis="voted").partial_fit(X, ["x", "y", "z", "x", "y"])
    assert model.ledger_.updates == 4
    return model


@pytest.mark.parametrize("name", FORGERIES)
def test_forged_files(path, voter, name):
    """Everything is checked before anything is built from it, even if the checksum is right."""
    change, sentence = FORGERIES[name]
    with pytest.raises(ModelFileError, match=sentence) as found:
        nk.load(write_forged(path, voter, change))
    assert str(found.value).startswith(f"{path} holds no valid model: ")
    assert "\n" not in str(found.value)


def test_forged_generators(path):
    model = fit_perceptron(random_state=np.random.RandomState(0))
    with pytest.raises(ModelFileError, match="no state of a RandomState"):
        nk.load(write_forged(path, model, with_fact("parameters/random_state/position", 625)))
    with pytest.raises(ModelFileError, match="shape"):
        nk.load(write_forged(path, model, with_tensor("parameters.random_state.keys", lambda a: a[:9])))


def test_impossible_tensors(path):
    for dtype in ("BOOL", "BF16"):
        size = 1 if dtype == "BOOL" else 2
        header = json.dumps(
            {
                "__metadata__": {"novikoff": json.dumps({"schema": 1, "kind": "", "facts": {}})},
                "w": {"dtype": dtype, "shape": [1], "data_offsets": [0, size]},
            }
        ).encode()
        with pytest.raises(ModelFileError, match=f"the tensor 'w' has type {dtype}"):
            nk.load(write(path, struct.pack("<Q", len(header)) + header + bytes(size)))
    for shape in ([0, 2**63], [0] * 99, [0, 2**40, 2**40]):
        header = json.dumps(
            {
                "__metadata__": {"novikoff": json.dumps({"schema": 1, "kind": "", "facts": {}})},
                "w": {"dtype": "F64", "shape": shape, "data_offsets": [0, 0]},
            }
        ).encode()
        with pytest.raises(ModelFileError):
            nk.load(write(path, struct.pack("<Q", len(header)) + header))


STRANGE = [None, True, -1, 0, 1, 3, 2**62, 2**63, 10**30, 0.5, -1e308, "", "inf", "x", [], [[]], {}, {"is": "plain"}]


def tamper(root, rng):
    """Change one fact or tensor at random."""
    if rng.random() < 0.5:
        facts = root.facts
        while True:
            name = rng.choice(sorted(facts))
            if type(facts[name]) is dict and facts[name] and rng.random() < 0.9:
                facts = facts[name]
                continue
            facts[name] = rng.choice(STRANGE)
            return
    name = rng.choice(sorted(root.tensors))
    array = root.tensors[name]
    if rng.random() < 0.2:
        root.tensors[name] = rng.choice(
            [array[:-1], array.reshape(-1), array.astype("f4"), np.concatenate([array] * 2)]
        )
    elif array.size:
        strange = [0, 1, 2, 3, 127, 255, -1, -(2**31), 2**31 - 1, 2**63 - 1, -(2**63), np.nan, np.inf, 1e308]
        with np.errstate(all="ignore"):
            array.reshape(-1)[rng.randrange(array.size)] = (
                np.array(rng.choice(strange), object).astype(array.dtype, casting="unsafe")
                if array.dtype.kind == "f"
                else np.int64(rng.choice([s for s in strange if isinstance(s, int)])).astype(array.dtype)
            )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_tampered_file_that_is_accepted_can_be_used(path, voter):
    """A file with a random change and the right checksum is refused, or gives a model that learns and predicts."""
    X = [{"a": 1.0, "b": 1.0}, {"c": -0.5, "d": 1.0}]
    rng = random.Random(0)
    accepted = 0
    models = [voter, SMALL["names"](), one_by_one(nk.Perceptron(hypothesis="averaged"), X, ["x", "y"])]
    contents = [content_of(model, path) for model in models]
    for number in range(1500):
        kind, root = unpack(contents[number % 3], "m.nk")
        tamper(root, rng)
        write(path, pack(kind, root))
        try:
            found = nk.load(path)
        except ModelFileError:
            continue
        accepted += 1
        try:
            found.predict(X)
            found.partial_fit(X, found.classes_[:2] if len(found.classes_) > 1 else ["x", "y"]).predict(X)
            found.learn_one(X[0], found.classes_[0]).predict_one(X[1])
            repr(found.ledger_)
        except nk.errors.NovikoffError:
            pass  # its parameters or labels have been changed
    assert 50 < accepted < 1000


# -- killed processes


def test_killed_while_saving(path):
    """The file is always complete, after twenty kills at random moments."""
    code = """
import os, random, signal, sys, time
import numpy as np
from novikoff import Learner, model_files
from novikoff.perceptron.find_engine import find_engine
from novikoff.perceptron.model import Model

rng = random.Random(0)
model = Model(Learner(hypothesis="averaged"))
model.learn_one(np.zeros(30000), "ham")
start = time.monotonic()
model_files.save(sys.argv[1], model_files.SavedPerceptron("perceptron", model))
longest = 2 * (time.monotonic() - start)
reading, writing = os.pipe()
for _ in range(20):
    child = os.fork()
    while not child:
        model.learn_one(np.full(30000, rng.random()), rng.choice(["ham", "spam"]))
        model_files.save(sys.argv[1], model_files.SavedPerceptron("perceptron", model))
        os.write(writing, b".")
    os.read(reading, 1)  # wait for one save at least, however busy the machine is
    time.sleep(rng.random() * longest)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    model = model_files.load(sys.argv[1]).model
    print(model.ledger.examples)
"""
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    seen = [int(line) for line in run.stdout.splitlines()]
    assert len(seen) == 20
    assert seen == sorted(seen)  # each continued from what the one before had saved
    assert len(set(seen)) > 5
    assert nk.load(path).ledger_.examples == seen[-1]
    left = [each for each in path.parent.iterdir() if each != path]
    assert all(each.name.startswith(f".{path.name}.") for each in left)


# -- imports


def test_reading_needs_no_sklearn(path):
    fit_perceptron().save(path)
    code = f"import sys; from novikoff.model_files import load; load({str(path)!r}); print('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_no_code_in_files():
    for file in Path(model_files.__file__).parent.glob("*.py"):
        text = file.read_text()
        words = ["import pickle", "eval(", "exec(", "allow_pickle=True"]
        # The registry imports modules of novikoff by names in its source, not by names in a file.
        words += [] if file.name == "loading.py" else ["import_module"]
        assert not any(word in text for word in words)
    assert all(kind.module.startswith("novikoff.") for kind in KINDS.values())


def test_an_unknown_kind_is_refused(path):
    model_files.write(path, "oracle", model_files.Section("m.nk"), lambda root: None)
    with pytest.raises(ModelFileError, match="kind 'oracle', which this version of novikoff cannot load"):
        nk.load(path)

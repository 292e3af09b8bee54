"""Dicts one at a time in compiled code, held to the plain Python that says the same (perceptron/one_at_a_time.py), to
the last bit."""

import copy
import gc
import pickle
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff import rules
from novikoff._compiled import pyobjects
from novikoff._compiled.loops import dicts
from novikoff.perceptron.dict_fast_path import DictFastPath
from tests.support.strategies import TIES, account, raw

pytestmark = pytest.mark.skipif(not pyobjects.is_available(), reason="compiled code cannot read Python's objects here")

RULES = [
    rules.Perceptron(),
    rules.Perceptron(learning_rate=0.3),
    rules.Margin(beta=0.7),
    rules.PassiveAggressive(variant="I", C=0.9),
    rules.PassiveAggressive(variant="II", C=0.9),
]
floats = st.floats(-1e3, 1e3, allow_subnormal=False)
values = st.one_of(
    floats,
    st.integers(-5, 5),
    st.booleans(),
    st.just(0.0),
    floats.map(np.float64),
    floats.map(np.float32),
    st.integers(-100, 100).map(np.int8),
    st.sampled_from([2**53, 2**53 + 1, -(2**60), np.bool_(True)]),
)
bad = st.sampled_from([np.nan, np.inf, -np.inf, "red", None, 1e200, 10**400, 1j, np.float64("nan"), [1.0]])
examples = st.dictionaries(st.sampled_from("abcde"), values)


class Text(str):
    """Equal to a string, with a hash like its own, and not one that compiled code takes for a name."""


@st.composite
def streams(draw):
    """Dicts with two labels, after both of which have been met."""
    stream = draw(st.lists(st.tuples(examples, st.booleans()), min_size=1, max_size=40))
    return [({"a": 1}, True), ({"b": 1}, False), *stream]


@st.composite
def settings(draw):
    return {
        "rule": draw(st.sampled_from(RULES)),
        "hypothesis": draw(st.sampled_from(["last", "averaged"])),
        "ties": draw(st.sampled_from(TIES)),
        "fit_intercept": draw(st.booleans()),
    }


def plain(**of):
    """A model that never goes the short way."""
    model = nk.Perceptron(**of).learn_one({"a": 1}, True).learn_one({"b": 1}, False)
    model._model._now = replace(model._model._now, fast_path=None)
    model._model.fast_path = None
    return model


def quick(**of):
    model = nk.Perceptron(**of).learn_one({"a": 1}, True).learn_one({"b": 1}, False)
    assert isinstance(model._model.fast_path, DictFastPath)
    return model


def everything(model):
    """All that a model has learned, to the last bit."""
    state = model._model.state
    return (
        list(model._model.vocabulary),
        state.raw.coef.tobytes(),
        state.raw.bias.tobytes(),
        state.sums.coef.tobytes(),
        state.sums.bias.tobytes(),
        state.counts.tolist(),
        state.measures.tobytes(),
        np.array(state.trace.points).tobytes(),
    )


@given(stream=streams(), of=settings())
def test_the_short_way_is_the_long_way(stream, of):
    one, other = quick(**of), plain(**of)
    for x, y in stream:
        assert one.predict_one(x) is other.predict_one(x)
        one.learn_one(x, y)
        other.learn_one(x, y)
    assert one._model.fast_path is not None
    assert everything(one) == everything(other)


@given(stream=streams(), of=settings(), wrong=bad, data=st.data())
def test_what_is_rejected_changes_nothing(stream, of, wrong, data):
    model = quick(**of)
    for x, y in stream:
        model.learn_one(x, y)
    name = data.draw(st.sampled_from("abxy"))
    expected = everything(copy.deepcopy(model))
    with pytest.raises(ValueError, match="Input X"):
        model.learn_one({"a": 1.0, name: wrong}, True)
    with pytest.raises((TypeError, ValueError), match=r"unhashable|label"):
        model.learn_one({"a": 1.0}, [True])
    assert everything(model) == expected
    if isinstance(wrong, float) and abs(wrong) == 1e200:
        return  # too long to learn from, but it has an answer
    with pytest.raises(ValueError, match="Input X"):
        model.predict_one({"a": 1.0, "b": wrong})


@pytest.mark.parametrize("hypothesis", ["last", "averaged"])
def test_more_updates_than_the_log_holds(hypothesis):
    n = 3 * dicts.LOG_SIZE + 7
    rng = np.random.default_rng(0)
    rows, labels = rng.standard_normal((n, 2)).tolist(), rng.integers(0, 2, n).astype(bool).tolist()
    stream = [({"a": a, "b": b}, label) for (a, b), label in zip(rows, labels, strict=True)]
    one, other = (model(rule=rules.Margin(beta=1e9), hypothesis=hypothesis) for model in (quick, plain))
    for x, y in stream:
        one.learn_one(x, y)
        other.learn_one(x, y)
    assert one.ledger_.updates == n + 2
    assert everything(one) == everything(other)


@given(stream=streams(), of=settings(), cut=st.integers(0, 40))
def test_a_copy_goes_on_as_if_it_were_the_same(stream, of, cut):
    whole, first = quick(**of), quick(**of)
    for x, y in stream:
        whole.learn_one(x, y)
    for x, y in stream[:cut]:
        first.learn_one(x, y)
    before = everything(copy.deepcopy(first))
    for resumed in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        for x, y in stream[cut:]:
            resumed.learn_one(x, y)
        assert everything(resumed) == everything(whole)
    assert everything(first) == before


def test_new_labels_and_new_names_end_the_short_way_and_begin_it_anew():
    model = nk.Perceptron()
    for label in (True, False):
        model.learn_one({"a": 1.0}, label)
    model.learn_one({"c": 1.0, "a": 2.0}, True)
    assert list(model._model.vocabulary) == ["a", "c"]
    assert model._model.fast_path is not None
    three = nk.Perceptron()
    for label in ("ham", "spam", "eggs", "ham"):
        three.learn_one({label: 1.0}, label)
    assert three._model.fast_path is None
    assert list(three._model.vocabulary) == ["ham", "spam", "eggs"]


def test_names_of_other_kinds_find_their_weights():
    model, named = quick(), plain()
    for x, y in [({Text("a"): 2.0, "b": 1.0}, False), ({"b": 3.0, Text("a"): 1.0}, True), ({Text("z"): 1.0}, True)]:
        for each in (model, named):
            each.learn_one(x, y)
        assert model.predict_one(x) is named.predict_one(x)
    assert everything(model) == everything(named)


class Label(int):
    """Not one of the small numbers that live for ever."""


def test_nothing_leaks():
    labels, names = [Label(1001), Label(1002)], [f"a name {k}" for k in range(5)]
    rng = np.random.default_rng(0)
    rows, classes = rng.standard_normal((400, 5)).tolist(), rng.integers(0, 2, 400).tolist()
    stream = [(dict(zip(names, row, strict=True)), labels[k]) for row, k in zip(rows, classes, strict=True)]

    def growth(model):
        """What is left behind by a pass: references to these, and memory."""

        def learn():
            for x, y in stream:
                model.predict_one(x)
                model.learn_one(x, y)
                model.predict_one({"an unknown name": 1.0})
            model.ledger_  # noqa: B018 - what has been logged is taken in
            gc.collect()
            return np.array([*map(sys.getrefcount, [*labels, *names, None, NotImplemented]), sys.getallocatedblocks()])

        return [learn() for _ in range(3)][-1] * -1 + learn()

    models = [nk.Perceptron(hypothesis="averaged", classes=labels) for _ in range(2)]
    for model in models:
        model.learn_one(*stream[0])
    models[1]._model._now = replace(models[1]._model._now, fast_path=None)
    models[1]._model.fast_path = None
    more = growth(models[0]) - growth(models[1])
    assert models[0]._model.fast_path is not None
    assert np.abs(more).max() < 100  # of 400 examples, each with a dozen objects


def test_weights_are_those_of_an_array_that_learned_the_same():
    rng = np.random.default_rng(1)
    X, y = rng.integers(-3, 4, (200, 4)).astype(float), rng.integers(0, 2, 200)
    named, array = nk.Perceptron(), nk.Perceptron()
    for x, label in zip(X, y.tolist(), strict=True):
        named.learn_one(dict(zip("abcd", x.tolist(), strict=True)), label)
        array.learn_one(x, label)
    np.testing.assert_array_equal(raw(named), raw(array))
    assert account(named.ledger_) == account(array.ledger_)


class Loud:
    """A name or a label whose hash is Python code, which may do anything."""

    def __init__(self, name, when_asked=lambda: None):
        self.name, self.when_asked = name, when_asked

    def __hash__(self):
        self.when_asked()
        return hash(self.name)

    def __eq__(self, other):
        return self is other or self.name == other

    def __lt__(self, other):
        return self.name < other.name


def test_names_that_are_not_strings_take_the_long_way():
    one, other = quick(), plain()
    name = Loud("a")
    for model in (one, other):
        for x, y in [({name: 2.0}, False), ({"a": 1.0, Loud("c"): 1.0}, True), ({"c": 3.0, name: 1.0}, False)]:
            model.learn_one(x, y)
    assert everything(one)[1:] == everything(other)[1:]

    def interrupt():
        raise KeyboardInterrupt

    before = everything(copy.deepcopy(one))[1:]
    x = {name: 1.0, "b": 1.0}
    name.when_asked = interrupt
    for call in (lambda: one.learn_one(x, True), lambda: one.predict_one(x)):
        with pytest.raises(KeyboardInterrupt):
            call()
    name.when_asked = lambda: None
    assert everything(one)[1:] == before


def test_a_label_that_learns_while_it_is_looked_up():
    """The log is full when the lookup is over, and was not when it began."""
    label, other = Loud("yes"), Loud("no")
    model = nk.Perceptron(rule=rules.Margin(beta=1e9), classes=[other, label]).learn_one({"a": 1.0}, other)
    slots = model._model.fast_path._int_slots

    def fill():
        while slots[dicts.LOGGED] < dicts.LOG_SIZE:
            model.learn_one({"a": 1.0}, other)

    label.when_asked = fill
    model.learn_one({"a": 1.0}, label)
    label.when_asked = lambda: None
    assert slots[dicts.LOGGED] <= dicts.LOG_SIZE
    assert model.ledger_.updates == dicts.LOG_SIZE + 2


def test_an_interrupt_while_a_label_is_looked_up_is_not_lost():
    def interrupt():
        raise KeyboardInterrupt

    label, other = Loud("yes"), Loud("no")
    model = nk.Perceptron(classes=[other, label]).learn_one({"a": 1.0}, other)
    label.when_asked = interrupt
    with pytest.raises(KeyboardInterrupt):
        model.learn_one({"a": 1.0}, label)
    assert model.ledger_.examples == 1


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.longdouble, int])
def test_the_type_of_a_rules_number_is_not_that_of_weights(kind):
    rule = rules.PassiveAggressive(C=kind(1))
    stream = [({"a": 0.1 * k}, bool(k % 3)) for k in range(1, 20)]
    one, other = (quick(rule=rule), plain(rule=rule))
    for x, y in stream:
        one.learn_one(x, y)
        other.learn_one(x, y)
    assert everything(one) == everything(other)
    assert {type(w) for w in one._model._now.example_learner.raw[0].w.values()} == {float}

"""A KeyboardInterrupt before any bytecode: an example or a block is learned whole or not at all."""

import copy
import pickle
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest

import novikoff as nk
from novikoff import Learner, rules
from novikoff.data.encoding import Features
from novikoff.data.formats import CategoricalColumn, TableBlock, TextColumn
from novikoff.data.formats.sources import Source
from novikoff.data.formats.svmlight import SvmlightReader
from novikoff.data.formats.vw import VwReader
from novikoff.model_files import container
from novikoff.streaming.model import StreamModel
from tests.support.interrupts import Interrupter, everything, interrupted_everywhere

STREAM = [
    ({"a": 1.0, "b": -2.0}, "spam"),
    ({"b": 1.0, "c": 0.5}, "ham"),
    ({"a": -1.0, "c": 2.0}, "spam"),
    ({"b": 3.0}, "ham"),
    ({"a": 2.0, "b": 1.0, "c": 1.0}, "ham"),
]
ROWS = np.array([[1.0, -2.0, 0.0], [0.0, 1.0, 0.5], [-1.0, 0.0, 2.0], [0.0, 3.0, 0.0], [2.0, 1.0, 1.0]])
LABELS = np.array([y for _, y in STREAM])
REST = [({"a": 1.0, "z": 1.0}, "ham"), ({"b": 0.5, "d": 1.0}, "spam"), ({"a": 1.0}, "ham"), ({"c": 1.5}, "spam")]


@pytest.fixture(autouse=True)
def _no_sync(monkeypatch):
    """Write files without waiting for the disk: thousands are written here, and no process is killed meanwhile."""
    monkeypatch.setattr(container, "write_atomic", lambda path, content: path.write_bytes(content))


def learned(stream=STREAM, plain=False, **parameters):
    model = nk.Perceptron(**parameters)
    for x, y in stream:
        model.learn_one(x, y)
    if plain:
        model._model._now = replace(model._model._now, fast_path=None)
        model._model.fast_path = None
    return model


def fitted(**parameters):
    return nk.Perceptron(**parameters).partial_fit(ROWS, LABELS)


def dicts_fitted(**parameters):
    return nk.Perceptron(**parameters).partial_fit([x for x, _ in STREAM], LABELS)


MAKERS = {
    "nothing": lambda: nk.Perceptron(),
    "last": learned,
    "averaged": lambda: learned(hypothesis="averaged"),
    "plain": lambda: learned(plain=True, rule=rules.Margin(beta=2.0)),
    "pocket": lambda: learned(hypothesis="pocket"),
    "voted": lambda: learned(hypothesis="voted"),
    "one label": lambda: learned([({"a": 1.0}, "spam")]),
    "three labels": lambda: learned([*STREAM, ({"b": 1.0}, "eggs")], hypothesis="averaged"),
    "auto": lambda: learned(rule="auto"),
    "from dicts": lambda: dicts_fitted(hypothesis="averaged"),
}
ARRAYS = {
    "last": fitted,
    "averaged": lambda: fitted(hypothesis="averaged"),
    "pocket": lambda: fitted(hypothesis="pocket"),
    "voted": lambda: fitted(hypothesis="voted"),
    "auto": lambda: fitted(rule="auto"),
    "separator": lambda: nk.Perceptron(separator=[0.5, 1.0, 1.0, -1.0], classes=["ham", "spam"]).partial_fit(
        ROWS, LABELS
    ),
}
ONE = {
    "known": ({"a": -3.0, "b": 4.0}, "spam"),
    "right": ({"b": 3.0}, "ham"),
    "new names": ({"x": 1.0, "a": -2.0, "y": -1.0}, "spam"),
    "new label": ({"a": 1.0, "x": 2.0}, "toast"),
    "other numbers": ({"a": np.float32(1.5), "b": np.int8(100)}, "spam"),
}


def copies_of(model, path):
    yield copy.deepcopy(model)
    yield pickle.loads(pickle.dumps(model))
    if hasattr(model, "_model"):
        model.save(path)
        yield nk.load(path)


def check(make, act, go_on, path, every=1):
    """Interrupt `act` everywhere: the model, and a file of it, must be as before or as after it, and go on learning
    so."""
    before, after = make(), make()
    act(after)
    expected = []
    for each in (before, after):
        found = everything(each)
        go_on(each)
        expected.append((found, everything(each)))
    seen = set()
    for number, (where, model) in enumerate(interrupted_everywhere(make, act, every)):
        assert not (hasattr(model, "_model") and model._model._lock._is_owned()), where
        found = everything(model)
        is_after = found == expected[1][0]
        assert is_after or found == expected[0][0], where
        copies = [] if is_after in seen and number % 20 else list(copies_of(model, path))
        seen.add(is_after)
        for one in (model, *copies):
            go_on(one)
            assert everything(one) == expected[is_after][1], where
    return seen


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        *((kind, "new names") for kind in MAKERS),
        *((kind, "known") for kind in ("averaged", "plain", "pocket")),
        *((kind, "new label") for kind in ("nothing", "one label", "last", "voted", "three labels")),
        *((kind, "other numbers") for kind in ("averaged", "plain")),
        ("pocket", "right"),
    ],
)
def test_learn_one_is_whole_or_not_at_all(kind, how, tmp_path):
    def go_on(model):
        for x, y in REST:
            model.learn_one(x, y)

    seen = check(
        MAKERS[kind],
        lambda model: model.learn_one(*ONE[how]),
        go_on,
        tmp_path / "model",
        every=5 if how == "new label" else 1,
    )
    assert False in seen


@pytest.mark.parametrize("kind", ARRAYS)
def test_learn_one_array_is_whole_or_not_at_all(kind, tmp_path):
    def go_on(model):
        for x, y in zip(ROWS[::-1], LABELS, strict=True):
            model.learn_one(x, y)

    def make():
        model = ARRAYS[kind]()
        model.learn_one(ROWS[1], "spam")
        return model

    assert check(make, lambda model: model.learn_one(-ROWS[2], "spam"), go_on, tmp_path / "model") == {False, True}
    check(ARRAYS[kind], lambda model: model.learn_one(-ROWS[2], "spam"), go_on, tmp_path / "model")


BLOCKS = {
    "dicts": ([x for x, _ in REST], [y for _, y in REST]),
    "new label": ([x for x, _ in REST], ["ham", "spam", "eggs", "toast"]),
    "new label first": ([x for x, _ in REST], ["toast", "spam", "ham", "toast"]),
}


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        *((kind, "dicts") for kind in ("nothing", "averaged", "pocket", "voted", "from dicts")),
        *((kind, "new label") for kind in ("last", "voted", "three labels")),
        ("averaged", "new label first"),
    ],
)
def test_partial_fit_of_dicts_is_whole_or_not_at_all(kind, how, tmp_path):
    def go_on(model):
        for x, y in REST:
            model.learn_one(x, y)
        model.partial_fit([x for x, _ in STREAM], LABELS)

    seen = check(MAKERS[kind], lambda model: model.partial_fit(*BLOCKS[how]), go_on, tmp_path / "model", every=5)
    assert False in seen


@pytest.mark.parametrize("kind", ARRAYS)
def test_partial_fit_of_arrays_is_whole_or_not_at_all(kind, tmp_path):
    def act(model):
        model.partial_fit(-ROWS, LABELS)

    def change(model):
        model.set_params(ties="positive").partial_fit(-ROWS, LABELS)

    def go_on(model):
        model.set_params(ties="mistake").partial_fit(ROWS, LABELS[::-1])

    assert check(ARRAYS[kind], act, go_on, tmp_path / "model", every=5) == {False, True}
    if kind != "separator":
        check(ARRAYS[kind], change, go_on, tmp_path / "model", every=5)


@pytest.mark.parametrize("read", ["predict_one", "ledger_", "coef_", "predict", "deepcopy", "save"])
@pytest.mark.parametrize("kind", ["averaged", "voted"])
def test_interrupted_reading_changes_nothing(kind, read, tmp_path):
    if (kind, read) == ("voted", "coef_"):
        return  # it has none
    path = tmp_path / "model"
    acts = {
        "predict_one": lambda model: model.predict_one({"a": 1.0, "new": np.float32(1.0)}),
        "predict": lambda model: model.predict([x for x, _ in REST]),
        "deepcopy": copy.deepcopy,
        "save": lambda model: model.save(path),
    }

    def go_on(model):
        for x, y in REST:
            model.learn_one(x, y)

    check(MAKERS[kind], acts.get(read, lambda model: getattr(model, read)), go_on, tmp_path / "other", every=5)
    if path.exists():
        nk.load(path)


@pytest.mark.parametrize("kind", MAKERS)
def test_interrupts_during_recovery(kind):
    """The next interrupt may come while the model recovers from the one before."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        model, reference = MAKERS[kind](), MAKERS[kind]()
        for x, y in [*ONE.values(), *REST, *STREAM]:
            after = copy.deepcopy(reference).learn_one(x, y)
            for _ in range(3):
                with Interrupter(int(rng.integers(1, 400))), suppress(KeyboardInterrupt):
                    _ = model.ledger_ if hasattr(model, "_model") else None
            with Interrupter(int(rng.integers(1, 400))), suppress(KeyboardInterrupt):
                model.learn_one(x, y)
            found = everything(model)
            assert found in (everything(after), everything(reference))
            if found == everything(after):
                reference = after


# -- other models


def as_strings(y):
    return np.array(y, object)


def table_block(numbers, words, y):
    columns = {"size": np.array(numbers, float), "sky": CategoricalColumn.from_cells(words)}
    return TableBlock("days.csv", np.arange(2, 2 + len(y)), as_strings(y), columns)


def text_block(texts, y):
    return TableBlock("mail.txt", np.arange(1, 1 + len(y)), as_strings(y), {"text": TextColumn.from_cells(texts)})


def vw(content):
    chunks = iter([content.encode()])
    return next(iter(VwReader(Source("vw", lambda n: next(chunks, b"")))))


def svmlight(content):
    chunks = iter([content.encode()])
    return next(iter(SvmlightReader(Source("svmlight", lambda n: next(chunks, b"")))))


STREAMS = {
    "table": lambda: [
        table_block([1, 2, 3], ["sun", "rain", "sun"], "aba"),
        table_block([0, np.nan, 4, 2], ["rain", "fog", None, "snow"], "abba"),
        table_block([3, 1], ["hail", "sun"], "ca"),
    ],
    "numbers": lambda: [
        TableBlock("n.csv", np.arange(2), as_strings("ab"), {"n": np.array([1.0, 3.0]), "m": np.array([0.5, 2.0])}),
        TableBlock(
            "n.csv",
            np.arange(3),
            as_strings("aab"),
            {"n": np.array([1.0, 2.0, np.nan]), "m": np.array([0.5, 2.0, 7.0])},
        ),
        TableBlock("n.csv", np.arange(1), as_strings("b"), {"n": np.array([1.5]), "m": np.array([-0.5])}),
    ],
    "text": lambda: [
        text_block(["call now", "see you"], "ba"),
        text_block(["now or never", "you call", "win a prize now"], "bab"),
        text_block(["see the prize"], "a"),
    ],
    "names": lambda: [vw("1 | a b:2\n-1 | c\n"), vw("1 |x d e:0.5 d\n-1 |x a\n1 | z\n"), vw("-1 | a q\n")],
    "indices": lambda: [svmlight("1 1:2 3:1\n-1 2:1\n"), svmlight("1 9:1\n-1 1:1 2:3\n"), svmlight("1 20:1\n")],
}


@pytest.mark.parametrize("hypothesis", ["averaged", "voted"])
@pytest.mark.parametrize("kind", STREAMS)
def test_a_block_of_a_stream_is_whole_or_not_at_all(kind, hypothesis, tmp_path):
    first, second, third = STREAMS[kind]()
    path = tmp_path / "model"

    def make():
        model = StreamModel(Learner(hypothesis=hypothesis), Features(hash_bits=4))
        model.learn(first)
        return model

    def content(model):
        model.save(path)
        return path.read_bytes()

    expected = []
    for blocks in ([], [second]):
        model = make()
        for block in blocks:
            model.learn(block)
        expected.append((content(model), content(learn_next(model, third))))
    seen = set()
    for number, (where, model) in enumerate(interrupted_everywhere(make, lambda model: model.learn(second), every=5)):
        found = content(model)
        is_after = found == expected[1][0]
        assert is_after or found == expected[0][0], where
        copies = [] if is_after in seen and number % 20 else [copy.deepcopy(model)]
        seen.add(is_after)
        for one in (model, *copies):
            assert content(learn_next(one, third)) == expected[is_after][1], where
    assert seen == {False, True}


def learn_next(model, block):
    model.learn(block)
    return model


KERNELS = {
    "kernel": lambda: nk.KernelPerceptron("poly", degree=2).partial_fit(ROWS, LABELS),
    "rbf": lambda: nk.KernelPerceptron("rbf", hypothesis="averaged").partial_fit(ROWS, LABELS),
    "direct": lambda: nk.KernelPerceptron(multi_class="direct").partial_fit(ROWS, [*"abcab"]),
    "dicts": lambda: nk.KernelPerceptron("linear").partial_fit([x for x, _ in STREAM], LABELS),
    "budget": lambda: nk.KernelPerceptron("rbf", hypothesis="last", budget=2).partial_fit(ROWS, LABELS),
    "regressor": lambda: nk.KernelRegressor("rbf").partial_fit(ROWS, [1.0, 2.0, 0.5, -1.0, 0.0]),
    "linear": lambda: nk.LinearClassifier().partial_fit(ROWS, LABELS),
    "linear regressor": lambda: nk.LinearRegressor(solver="sgd").partial_fit(ROWS, [1.0, 2.0, 0.5, -1.0, 0.0]),
}


@pytest.mark.parametrize("kind", KERNELS)
def test_other_estimators_learn_a_block_whole_or_not_at_all(kind, tmp_path):
    X = [x for x, _ in REST] if kind == "dicts" else -ROWS[:4]
    y = (
        [1.5, -2.0, 0.25, 3.0]
        if "regressor" in kind
        else ["ham", "spam", "ham", "spam" if "linear" in kind else "eggs"]
    )
    path = tmp_path / "model"

    def content(model):
        model.save(path)
        return path.read_bytes()

    if kind == "budget":
        y = ["ham", "spam", "spam", "ham"]
    expected = []
    for is_after in (False, True):
        model = KERNELS[kind]()
        model = model.partial_fit(X, y) if is_after else model
        expected.append((content(model), content(model.partial_fit(X, y))))
    seen = set()
    interrupted = interrupted_everywhere(KERNELS[kind], lambda model: model.partial_fit(X, y), every=7)
    for number, (where, model) in enumerate(interrupted):
        found = content(model)
        is_after = found == expected[1][0]
        assert is_after or found == expected[0][0], where
        copies = [] if is_after in seen and number % 20 else [copy.deepcopy(model)]
        seen.add(is_after)
        for one in (model, *copies):
            assert content(one.partial_fit(X, y)) == expected[is_after][1], where
    assert False in seen

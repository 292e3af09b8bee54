"""One model, used by several threads, from within its own calls, and in forked processes."""

import copy
import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import UserDict
from contextlib import suppress

import numpy as np
import pytest

import novikoff as nk
from novikoff import Learner, rules
from novikoff._compiled import pyobjects
from novikoff.data.formats import CategoricalColumn, TableBlock
from novikoff.errors import ReentryError
from novikoff.perceptron.dict_fast_path import DictFastPath
from novikoff.streaming.model import StreamModel
from novikoff.system import exclusive
from tests.support.forks import call_in_fork
from tests.support.interrupts import everything

ALWAYS = rules.Margin(beta=1e18)  # one step for every example: the weights are a sum, whatever the order


@pytest.fixture
def _switching_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def run_at_once(*calls):
    """Run functions in threads at the same time; raise what one of them raises."""
    failures = []

    def guarded(call):
        try:
            call()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def stream(seed, n=300):
    rng = np.random.default_rng(seed)
    return [({f"name {k}": float(k % 5) for k in rng.integers(0, 2000, 4)}, int(rng.choice([-1, 1]))) for _ in range(n)]


def sums_of(streams):
    expected = {}
    for x, y in (each for one in streams for each in one):
        for name, value in x.items():
            expected[name] = expected.get(name, 0.0) + y * value
    return expected


def weights(model):
    return dict(zip(model._model.vocabulary, model.raw_coef_[0].tolist(), strict=True))


@pytest.mark.usefixtures("_switching_often")
@pytest.mark.parametrize("is_begun", [False, True])
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "pocket"])
def test_no_example_of_any_thread_is_lost(hypothesis, is_begun):
    streams = [stream(seed) for seed in range(4)]
    model = nk.Perceptron(ALWAYS, hypothesis, fit_intercept=False, classes=[-1, 1] if is_begun else None)
    run_at_once(*(lambda one=one: [model.learn_one(x, y) for x, y in one] for one in streams))
    assert model.ledger_.examples == model.ledger_.updates == sum(map(len, streams))
    assert weights(model) == sums_of(streams)


@pytest.mark.usefixtures("_switching_often")
def test_no_row_of_any_thread_is_lost():
    streams = [stream(seed) for seed in range(4)]
    model = nk.Perceptron(ALWAYS, fit_intercept=False)

    def learn(one):
        for k in range(0, len(one), 10):
            model.partial_fit([x for x, _ in one[k : k + 10]], [y for _, y in one[k : k + 10]])

    run_at_once(
        *(lambda one=one: learn(one) for one in streams[:3]), lambda: [model.learn_one(x, y) for x, y in streams[3]]
    )
    assert model.ledger_.examples == sum(map(len, streams))
    assert weights(model) == sums_of(streams)


@pytest.mark.usefixtures("_switching_often")
@pytest.mark.parametrize(
    "kind", [lambda: nk.KernelPerceptron("linear", hypothesis="last"), lambda: nk.LinearClassifier()]
)
def test_no_row_of_any_thread_is_lost_by_other_estimators(kind):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((200, 5)), rng.integers(0, 2, 200)
    model = kind().partial_fit(X[:4], [0, 1, 0, 1])
    run_at_once(
        *(lambda k=k: [model.partial_fit(X[i : i + 4], y[i : i + 4]) for i in range(k, 200, 16)] for k in (0, 4, 8, 12))
    )
    assert model.ledger_.examples == 204


@pytest.mark.usefixtures("_switching_often")
def test_no_block_of_any_thread_is_lost():
    def block(seed):
        words = [f"word {k}" for k in np.random.default_rng(seed).integers(0, 300, 5)]
        return TableBlock(
            "t.csv", np.arange(5), np.array([*"ababa"], object), {"word": CategoricalColumn.from_cells(words)}
        )

    model = StreamModel(Learner())
    run_at_once(*(lambda k=k: [model.learn(block(seed)) for seed in range(k, 120, 4)] for k in range(4)))
    assert model.ledger.examples == model.rows_read["t.csv"] == 600
    assert model.n_features == model.model.state.n_features


@pytest.mark.usefixtures("_switching_often")
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "pocket"])
def test_readers_see_the_weights_between_two_examples(hypothesis):
    """The two weights are always opposite, so a row of two ones scores 0 unless half an update is seen."""
    model = nk.Perceptron(ALWAYS, hypothesis, fit_intercept=False, ties="positive", classes=[-1, 1])
    model.learn_one({"one": 1.0, "other": -1.0}, 1)
    done = threading.Event()

    def learn():
        for k in range(2000):
            model.learn_one({"one": float(k), "other": -float(k), f"new {k % 50}": np.float32(1.0)}, 1 if k % 3 else -1)
        done.set()

    def read():
        while not done.is_set():
            assert model.predict_one({"one": 1.0, "other": 1.0}) == 1
            assert model.predict_one({"one": np.float32(1.0), "other": 1.0}) == 1
            assert not model.decision_function([{"one": 1.0, "other": 1.0}]).any()
            for one in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
                assert one.ledger_.updates == one.ledger_.examples
                found = weights(one)
                assert found["one"] == -found["other"]

    run_at_once(learn, read, read)


# -- calls from within calls


class CallingNumber(float):
    """Calls a function when it is multiplied."""

    act = None

    def __mul__(self, other):
        self.act()
        return float(self) * other

    __rmul__ = __mul__


class CallingDict(UserDict):
    """Calls a function when it is iterated over."""

    act = None

    def __iter__(self):
        self.act()
        return super().__iter__()


def begun(hypothesis="last"):
    return nk.Perceptron(hypothesis=hypothesis).learn_one({"a": 1.0}, "spam").learn_one({"b": 1.0}, "ham")


def test_a_mapping_may_call_learn_while_it_is_read():
    model, expected = begun(), begun()
    x = CallingDict({"a": 2.0, "c": 1.0})
    x.act = lambda: model.learn_one({"b": 3.0}, "spam")
    model.learn_one(x, "ham")
    expected.learn_one({"b": 3.0}, "spam").learn_one({"a": 2.0, "c": 1.0}, "ham")
    assert everything(model) == everything(expected)


@pytest.mark.parametrize("hypothesis", ["last", "averaged", "pocket", "voted"])
def test_a_number_that_calls_learn_gets_an_error(hypothesis):
    model = begun(hypothesis)
    before = everything(model)
    number = CallingNumber(2.0)
    number.act = lambda: model.learn_one({"b": 3.0}, "spam")
    with pytest.raises(ReentryError, match="asked to learn while this thread was inside another call"):
        model.learn_one({"a": number}, "spam")
    assert everything(model) == before
    number.act = lambda: model.predict_one({"a": 1.0})
    model.learn_one({"a": number}, "spam")
    assert model.ledger_.examples == 3


@pytest.mark.parametrize("hypothesis", ["last", "averaged", "pocket", "voted"])
def test_a_number_that_changes_its_example(hypothesis):
    model, after = begun(hypothesis), begun(hypothesis).learn_one({"a": 2.0, "b": 1.0}, "spam")
    before = everything(model)
    x = {"a": CallingNumber(2.0), "b": 1.0}
    x["a"].act = x.clear
    with suppress(RuntimeError):  # the dict changed while it was gone through
        model.learn_one(x, "spam")
    assert everything(model) in (before, everything(after))


def test_a_rule_that_calls_learn_gets_an_error():
    model = None

    def rule(margin, squared_norm):
        if model is not None:
            model.learn_one({"a": 1.0}, "ham")
        return 1.0

    learner = nk.Perceptron(rule).learn_one({"a": 1.0}, "spam").learn_one({"b": 1.0}, "ham")
    model, before = learner, everything(learner)
    with pytest.raises(ReentryError):
        learner.learn_one({"a": 1.0}, "ham")
    model = None
    assert everything(learner) == before
    assert learner.learn_one({"a": 1.0}, "ham").ledger_.examples == 3


@pytest.mark.parametrize("hypothesis", ["last", "averaged", "pocket", "voted"])
def test_a_signal_handler_may_read_and_save_at_any_time(hypothesis, tmp_path):
    """As a service does that saves its model when it gets a signal to end."""
    model = begun(hypothesis)
    seen = []

    def save(*_):
        model.save(tmp_path / "model")
        loaded = nk.load(tmp_path / "model")
        assert loaded.ledger_.examples in (model.ledger_.examples, model.ledger_.examples + 1)
        assert loaded.predict_one({"a": 1.0}) == model.predict_one({"a": 1.0})
        seen.append(loaded.ledger_.examples)

    before = signal.signal(signal.SIGALRM, save)
    try:
        examples = 2
        for number in range(20):
            signal.setitimer(signal.ITIMER_REAL, 1e-5 * (1 + number))
            while len(seen) == number:
                label = "ham" if examples % 3 else "spam"
                model.learn_one({f"name {examples % 97}": 1.0, "a": np.float32(-1.0)}, label)
                examples += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert model.ledger_.examples == examples


def test_finalizers_may_read_at_any_time():
    model, seen = begun("averaged"), []

    class Cycle:
        def __init__(self):
            self.me = self

        def __del__(self):
            seen.append(model.predict_one({"a": np.float32(1.0)}))

    before = gc.get_threshold()
    gc.set_threshold(3)
    try:
        for k in range(300):
            Cycle()
            model.learn_one({f"name {k}": 1.0, "a": 1.0}, "spam")
    finally:
        gc.set_threshold(*before)
    assert seen
    assert set(seen) <= {"ham", "spam"}
    assert model.ledger_.examples == 302


# -- forks


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_a_complete_model_and_does_not_wait():
    model = nk.Perceptron(ALWAYS, fit_intercept=False, classes=[-1, 1])
    model.learn_one({"one": 1.0, "other": -1.0}, 1)
    done = threading.Event()

    def learn():
        k = 0
        while not done.is_set():
            k += 1
            model.learn_one({"one": 2.0, "other": -2.0, f"name {k % 1000}": np.float32(1.0)}, 1)

    def fork():
        try:
            for _ in range(20):
                assert child_of(model) == 0
        finally:
            done.set()

    run_at_once(learn, learn, fork)


def child_of(model):
    def use():
        found = weights(model)
        assert found["one"] == -found["other"]
        examples = model.ledger_.examples
        model.learn_one({"one": 1.0, "other": -1.0, "new": 1.0}, -1)
        assert model.ledger_.examples == model.ledger_.updates == examples + 1

    return call_in_fork(use)


# -- what compiled code reads


@pytest.mark.skipif(not pyobjects.is_available(), reason="nothing is compiled here")
def test_a_memory_error_changes_nothing():
    """Each call of the interpreter's allocator is made to fail in turn."""
    testing = pytest.importorskip("_testcapi")
    model = nk.Perceptron(hypothesis="averaged", classes=["ham", "spam"]).learn_one({"a": 1.5, "b": 2.5}, "ham")
    x = {"a": 1001.5, "b": -77.25}
    failed = 0
    for k in range(60):
        before = everything(model)
        label = "spam" if model.predict_one(x) == "ham" else "ham"
        learn = model._model.fast_path.try_learn
        found = None
        testing.set_nomemory(k, k + 1)
        try:
            found = learn(x, label)
        except MemoryError:
            failed += 1
            found = MemoryError
        finally:
            testing.remove_mem_hooks()
        if found is not None:
            assert everything(model) == before
    assert failed


COMPILING = """
import signal
from novikoff._compiled import compile_here
rings = 0
def ring(*_):
    global rings
    rings += 1
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, ring)
def double(x):
    return [2.0 * each for each in [x, x]][1]
compiled = compile_here(double)
while True:
    try:
        if rings < 12:
            signal.setitimer(signal.ITIMER_REAL, 0.004 * (1 + rings))
        found = compiled(21.0)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        break
    except KeyboardInterrupt:
        pass
assert found == 42.0 and rings
"""


COLLECTING = """
import gc, threading
from numba.core import event
from novikoff._compiled import compile_here

def one(x):
    return x + 1.0

def other(x):
    return x + 2.0

compiled_one, compiled_other = compile_here(one), compile_here(other)
waiting = threading.Thread(target=compiled_other, args=(1.0,), daemon=True)

class Waits:
    def __init__(self):
        self.me = self

    def __del__(self):
        waiting.start()
        waiting.join()

class Listener(event.Listener):
    def on_start(self, _):
        event.unregister("numba:compile", self)
        Waits()
        gc.set_threshold(1)

    def on_end(self, _):
        pass

gc.collect()
event.register("numba:compile", Listener())
assert compiled_one(1.0) == 2.0
gc.collect()
assert not waiting.is_alive()
"""


@pytest.mark.skipif(not pyobjects.is_available(), reason="nothing is compiled here")
def test_the_garbage_collector_is_paused_while_compiling():
    """A finalizer that waits for a thread that is about to compile would wait for ever."""
    ended = subprocess.run([sys.executable, "-c", COLLECTING], capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.skipif(not pyobjects.is_available(), reason="nothing is compiled here")
def test_interrupts_do_not_reach_the_compiler():
    """An interrupt would leave numba's registries inconsistent."""
    ended = subprocess.run([sys.executable, "-c", COMPILING], capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.skipif(not pyobjects.is_available(), reason="nothing is compiled here")
def test_a_read_within_a_call_suspends_the_fast_path(monkeypatch):
    """A signal handler may read after the fast path was resumed and before the lock is released: other threads could
    learn by compiled code meanwhile, and the handler would see half of it."""
    model = nk.Perceptron().learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1).learn_one({"a": 2.0}, 0)
    resume, seen = DictFastPath.resume, []

    def resume_and_read(self):
        resume(self)
        monkeypatch.setattr(DictFastPath, "resume", resume)
        examples = model.ledger_.examples
        seen.append((examples, self.try_learn({"a": 1.0}, 0)))

    monkeypatch.setattr(DictFastPath, "resume", resume_and_read)
    assert model.ledger_.examples == 3
    assert seen == [(3, NotImplemented)]
    assert model.learn_one({"a": 1.0}, 0).ledger_.examples == 4


def test_an_owner_has_its_lock_before_a_fork_can_find_it(monkeypatch):
    found = []
    monkeypatch.setattr(exclusive._owners, "add", lambda owner: found.append(owner._lock))
    Owner = type("Owner", (), {})
    owner = Owner()
    assert exclusive.make_lock(owner) is owner._lock
    assert found == [owner._lock]

"""Rules, losses and kernels that are functions of the user: what they may not do, and what they cost."""

import gc
import math
import os
import pickle
import subprocess
import sys
from itertools import product
from types import ModuleType

import numpy as np
import pytest
import scipy.sparse as sp
from numba.core import event

import novikoff as nk
from novikoff import losses, rules
from novikoff._compiled import is_compiling, user_functions
from novikoff._compiled.llvm import CAN_CALL_POINTERS
from novikoff._compiled.user_functions import Pointers, same_function
from novikoff.descent import compiled_losses as descent
from novikoff.errors import NovikoffError, RuleError
from novikoff.perceptron.compiled_rules import _loops_for_pointers

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
compiles = pytest.mark.skipif(not is_compiling, reason="nothing is compiled")
calls_pointers = pytest.mark.skipif(not CAN_CALL_POINTERS, reason="loops are compiled for every function")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 3))
TWO = np.where((X[:, 0] > 0) ^ (RNG.random(200) < 0.2), "yes", "no")
THREE = np.array(["no", "perhaps", "yes"])[np.arange(200) % 3]
NAMED = [dict(zip("abc", row, strict=True)) for row in X.tolist()]


# -- rules that diverge


def grows(margin, squared_norm):
    return 1.0 - 2.0 * margin if margin <= 0.0 else 0.0


def explodes(margin, squared_norm):
    return math.exp(-50.0 * margin) if margin <= 0.0 else 0.0


def squares(margin, squared_norm):
    return 10.0 * margin**2 + 1.0 if margin <= 0.0 else 0.0


def leaps(margin, squared_norm):
    return 1e307 if margin <= 0.0 else 0.0


def divides(margin, squared_norm):
    return 1.0 / margin if margin <= 0.0 else 0.0


def takes_roots(margin, squared_norm):
    return math.sqrt(margin) if margin < 0.0 else 1.0 - margin


def sinks(margin, squared_norm):
    return margin if margin < 0.0 else 1.0


def gives_up(margin, squared_norm):
    if margin < -1.0:
        raise ValueError("enough")
    return 1.0 if margin <= 0.0 else 0.0


RULES = [grows, explodes, leaps, gives_up, squares, divides, takes_roots, sinks]


def stream_of(labels, folder):
    path = folder / "rows.csv"
    lines = [f"{','.join(map(repr, row))},{label}" for row, label in zip(X.tolist(), labels, strict=True)]
    path.write_text("\n".join(["a,b,c,label", *lines * 20, ""]))
    return nk.open_stream(path, target="label")


def one_by_one(model, examples, labels):
    for _ in range(20):
        for x, label in zip(examples, labels, strict=True):
            model.learn_one(x, label)


PATHS = {
    "dense": lambda model, y: model.fit(X, TWO),
    "sparse": lambda model, y: model.fit(sp.csr_array(X), y),
    "dicts": lambda model, y: model.fit(NAMED, y),
    "blocks": lambda model, y: [model.partial_fit(X, y) for _ in range(20)],
    "one dict": lambda model, y: one_by_one(model, NAMED, y),
    "one array": lambda model, y: one_by_one(model, list(X), y),
}


@pytest.fixture(params=["compiled", pytest.param("called", marks=calls_pointers)])
def called(request, monkeypatch):
    """Whether functions are compiled into loops, or called by them in Python as there are too many."""
    if request.param == "called":
        monkeypatch.setattr(user_functions, "LIMIT", 0)
        monkeypatch.setattr("novikoff.perceptron.compiled_rules._user_loops", user_functions.Compilations())
    return request.param == "called"


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize(("rule", "path"), [*product(RULES[:4], PATHS), *product(RULES[4:], ["dense", "one dict"])])
def test_a_rule_that_diverges(rule, path, labels, called):
    model = nk.Perceptron(rule, "averaged", max_iter=20)
    with pytest.raises(
        RuleError, match=rf"The rule {rule.__name__} r(aised|eturned).* for margin .*-?\d.*min\(step, C\)"
    ) as found:
        PATHS[path](model, labels)
    if not path.startswith("one"):
        assert str(found.value).startswith("At row ")
    if hasattr(model, "_model"):  # what was learned before the example that was refused
        assert np.isfinite(model.coef_).all()
        assert np.isfinite(model.ledger_.norm)


@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("rule", RULES[:4])
def test_a_rule_that_diverges_on_a_stream(rule, labels, tmp_path, called):
    with pytest.raises(RuleError, match=rf"At row \d+, example [\d,]+ of the run: The rule {rule.__name__}"):
        nk.learn(stream_of(labels, tmp_path), rule=rule, scale=False)


def test_the_reason_is_kept():
    with pytest.raises(RuleError, match="raised OverflowError") as found:
        nk.Perceptron(explodes).fit(X, TWO)
    assert isinstance(found.value.__cause__, OverflowError)
    with pytest.raises(RuleError, match=r"At row 0, example 1 of the run: The rule leaps returned a step of 1e.307"):
        nk.Perceptron(leaps).fit(X, TWO)


def test_errors_of_ours_within_a_rule_stay_what_they_are():
    class OwnError(NovikoffError):
        pass

    def refuses(margin, squared_norm):
        raise OwnError

    with pytest.raises(OwnError):
        rules.Custom(refuses).step(0.0, 1.0, True)


def test_long_steps_that_cannot_overflow_are_taken():
    far = rules.Custom(lambda margin, squared_norm: 1e100 if margin <= 0.0 else 0.0)
    near = rules.Custom(lambda margin, squared_norm: 1.0 if margin <= 0.0 else 0.0)
    one, other = (nk.Perceptron(rule, max_iter=3).fit(X, TWO) for rule in (far, near))
    np.testing.assert_allclose(one.coef_, 1e100 * other.coef_, rtol=1e-12)


# -- what they cost


class Compiling(event.Listener):
    """Counts how often numba compiles."""

    def __init__(self):
        self.times = 0

    def on_start(self, _):
        self.times += 1

    def on_end(self, _):
        pass


@pytest.fixture
def compiling():
    listener = Compiling()
    with event.install_listener("numba:compile", listener):
        yield listener


def rule_of(step):
    return lambda margin, squared_norm: step if margin <= 0.0 else 0.0


def loss_of(scale):
    return losses.Custom(
        lambda s, y: scale * (s - y) ** 2, lambda s, y: 2.0 * scale * (s - y), lambda s, y: 2.0 * scale
    )


def kernel_of(scale):
    return lambda x, z: scale * (x * z).sum()


FAMILIES = {
    "rule": lambda c: nk.Perceptron(rule_of(c), max_iter=2).fit(X, TWO).coef_,
    "loss": lambda c: nk.LinearRegressor(loss_of(c), alpha=0.1).fit(X, X[:, 1]).coef_,
    "kernel": lambda c: (
        nk.KernelPerceptron(kernel_of(c), hypothesis="last", max_iter=2).fit(X, TWO).decision_function(X)
    ),
}


@compiles
@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_function_made_again_is_not_compiled_again(family, compiling):
    first = FAMILIES[family](0.375)
    assert compiling.times
    compiling.times = 0
    assert np.array_equal(FAMILIES[family](0.375), first)
    assert compiling.times == 0


@pytest.mark.parametrize("family", FAMILIES)
def test_functions_that_differ_are_told_apart(family):
    assert not np.allclose(FAMILIES[family](0.75), FAMILIES[family](0.625), rtol=1e-6)


STEP = 1.0


def by_a_global(margin, squared_norm):
    return STEP if margin <= 0.0 else 0.0


def test_a_global_that_has_changed(monkeypatch):
    """Whether it is compiled or not, a rule sees the globals there are when learning begins."""
    one = nk.Perceptron(by_a_global, max_iter=2).fit(X, TWO).coef_
    monkeypatch.setitem(globals(), "STEP", 2.0)
    np.testing.assert_allclose(nk.Perceptron(by_a_global, max_iter=2).fit(X, TWO).coef_, 2.0 * one)


def test_what_makes_functions_different():
    def made(one, default=0, table=None):
        return lambda m, q: one + default + table if m <= STEP else 0.0

    assert same_function(made(1)) == same_function(made(1))
    different = [
        (1,),
        (1.0,),
        (True,),
        (np.float32(1),),
        ((1, 2),),
        (-0.0,),
        (0.0,),
        (math,),
        (1, 2),
        (1, 0, np.arange(3)),
        (1, 0, np.ones(3)),
        (1, 0, np.zeros(3)),
    ]
    keys = [same_function(made(*values)) for values in different]
    assert len(set(keys)) == len(keys)
    assert same_function(max) == same_function(max) != same_function(min)


@calls_pointers
@pytest.mark.parametrize("family", FAMILIES)
def test_many_functions_are_called_and_not_compiled(family, compiling, monkeypatch):
    """What they say is the same to the last bit, and no machine code is made for them that nobody can free."""
    right = [FAMILIES[family](c) for c in (0.5, 0.25)]
    monkeypatch.setattr(user_functions, "LIMIT", 0)
    for module in (
        "novikoff.perceptron.compiled_rules._user_loops",
        "novikoff.descent.compiled_losses._compilations",
        "novikoff.kernel_methods.kernels._compiled_pairs",
    ):
        monkeypatch.setattr(module, user_functions.Compilations())
    assert np.array_equal(FAMILIES[family](0.5), right[0])
    compiling.times = 0
    assert np.array_equal(FAMILIES[family](0.25), right[1])
    assert compiling.times == 0


@calls_pointers
def test_there_are_no_more_compiled_than_the_limit(compiling, monkeypatch):
    found = user_functions.Compilations()
    monkeypatch.setattr("novikoff.perceptron.compiled_rules._user_loops", found)
    monkeypatch.setattr(user_functions, "LIMIT", 2)
    for k in range(5):
        nk.Perceptron(rule_of(10.0 + k), max_iter=2).fit(X, TWO)
    assert len(found._loops) == 2


@compiles
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_ctrl_c_within_a_function_that_is_called(error, monkeypatch):
    calls = []

    def interrupted(margin, squared_norm):
        calls.append(margin)
        if len(calls) == 50:
            raise error
        return 1.0 if margin <= 0.0 else 0.0

    loop = _loops_for_pointers()
    monkeypatch.setattr("novikoff.perceptron.compiled_rules._user_loops.find", lambda functions, compiled: None)
    model = nk.Perceptron(rule_of(1.0), max_iter=2).fit(X, TWO)
    before = model.coef_
    model.set_params(rule=interrupted)
    with pytest.raises(error):
        model.fit(X, TWO)
    assert len(calls) == 50
    assert np.array_equal(model.coef_, before)
    assert loop is _loops_for_pointers()


@compiles
def test_ctrl_c_that_comes_as_the_guard_of_a_function_begins(monkeypatch):
    """Python handles signals at the start of a function, before its first `try`."""
    monkeypatch.setattr("novikoff.perceptron.compiled_rules._user_loops.find", lambda functions, compiled: None)
    model = nk.Perceptron(rule_of(1.0), max_iter=2).fit(X, TWO)
    before, calls, hook = model.coef_, [], sys.unraisablehook

    def trace(frame, event, arg):
        if frame.f_code.co_qualname == "_guard.<locals>.call":
            calls.append(frame)
            if len(calls) == 50:
                raise KeyboardInterrupt

    tracing = sys.gettrace()
    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        sys.settrace(trace)
        try:
            model.fit(-X, TWO)
        finally:
            sys.settrace(tracing)
    assert np.array_equal(model.coef_, before)
    assert sys.unraisablehook is hook


@compiles
def test_an_error_within_a_loss_that_is_called(monkeypatch):
    monkeypatch.setattr("novikoff.descent.compiled_losses._compilations.find", lambda functions, compiled: None)

    def fails(s, y):
        raise RuntimeError("mine")

    for solver in ("sgd", "gd", "newton"):
        with pytest.raises(RuntimeError, match="mine"):
            nk.LinearRegressor(losses.Custom(fails, fails, fails), solver).fit(X, X[:, 0])
    assert descent.compile_loss(loss_of(1.0)).code != -1


def test_functions_that_are_called_are_freed():
    class Witness:
        alive = 0

        def __init__(self):
            Witness.alive += 1

        def __del__(self):
            Witness.alive -= 1

        def __call__(self, one, other):
            return one

    pointers = Pointers([Witness(), Witness()])
    assert Witness.alive == 2
    assert pointers.address
    del pointers
    gc.collect()
    assert Witness.alive == 0


def test_a_rule_is_pickled_as_before():
    assert pickle.loads(pickle.dumps(rules.Custom(grows))) == rules.Custom(grows)


def test_a_function_that_reads_a_module_follows_its_changes():
    settings = ModuleType("settings")
    settings.STEP = 1.0

    def make():
        return lambda margin, squared_norm: settings.STEP if margin <= 0.0 else 0.0

    once = nk.Perceptron(make(), max_iter=2).fit(X, TWO)
    settings.STEP = 2.0
    assert np.array_equal(nk.Perceptron(make(), max_iter=2).fit(X, TWO).coef_, 2.0 * once.coef_)


def test_a_function_that_reads_a_large_array_follows_its_changes():
    table = np.ones(20_000)

    def make():
        return lambda margin, squared_norm: table[0] if margin <= 0.0 else 0.0

    once = nk.Perceptron(make(), max_iter=2).fit(X, TWO)
    table[0] = 2.0
    assert np.array_equal(nk.Perceptron(make(), max_iter=2).fit(X, TWO).coef_, 2.0 * once.coef_)


FORK = """
import os, signal, threading
import numpy as np
import novikoff as nk
from numba.core import event

X = np.random.default_rng(0).normal(size=(50, 3))
y = X[:, 0] > 0
compiling = threading.Event()

class Listener(event.Listener):
    def on_start(self, _): compiling.set()
    def on_end(self, _): pass

event.register("numba:compile", Listener())
def fit(step):
    nk.Perceptron(lambda margin, squared_norm: step if margin <= 0 else 0.0).fit(X, y)

thread = threading.Thread(target=fit, args=(0.7,))
thread.start()
compiling.wait()
child = os.fork()
if not child:
    signal.alarm(100)
    fit(0.3)
    os._exit(0)
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@compiles
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_forked_while_a_thread_compiles_can_compile():
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", FORK], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"

"""Without a fast path the results are the same: hand-written IR, private parts of numba, compiled dicts."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from llvmlite import ir

import novikoff as nk
from novikoff._compiled import compile_here, is_compiling, jit, numba_private, pyobjects, switches
from novikoff._compiled.llvm import INDEX, in_llvm
from novikoff._compiled.loops import columns, dicts
from tests.support.compiled_code import folder_of

compiles = pytest.mark.skipif(not is_compiling, reason="nothing is compiled")


def _raises(w, x, out):
    raise AttributeError("this llvmlite has no such instruction")


def _writes_nonsense(w, x, out):
    out.store(ir.IntType(8)(1), w.bitcast(INDEX(0), ir.DoubleType()))  # an index that is a double


def _writes_twice_x(w, x, out):
    out.store(w.multiply_add(x.load(INDEX(0)), ir.DoubleType()(2.0), ir.DoubleType()(0.0)), INDEX(0))


@pytest.mark.parametrize("write", [_raises, _writes_nonsense, _writes_twice_x])
def test_the_plain_body_runs_where_the_ir_cannot_be_built(write, monkeypatch):
    monkeypatch.setattr(switches, "_statuses", {})

    @in_llvm(write)
    def double_first(x, out):
        """out[0] = 2 * x[0]."""
        out[0] = 2.0 * x[0]

    @compile_here
    def call(x, out):
        double_first(x, out)

    out = np.zeros(1)
    call(np.array([21.0]), out)
    assert out.tolist() == [42.0]
    if is_compiling and not switches.PLAIN:
        failed = "off for double_first" in switches.fast_paths().get("hand-written IR", "")
        assert failed == (write is not _writes_twice_x)


@compiles
def test_columns_are_stacked_by_numpy_where_the_ir_cannot_be_built(monkeypatch):
    """The plain bodies of the two functions raise; only `rows_of_columns` calls them, and catches that."""
    plain = compile_here(columns.transpose_block.py_func)

    def without_ir(addresses, values):
        plain(addresses, 0, 0, values)

    monkeypatch.setattr(columns, "transpose_columns", without_ir)
    given = [np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0])]
    values = np.empty((3, 2))
    squares = columns.rows_of_columns(np.array([column.ctypes.data for column in given], np.uint64), values)
    assert values.tolist() == [[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]
    assert squares == 91.0


class Renamed:
    """A dispatcher of a numba in which everything private has another name."""

    __slots__ = ()


def test_private_parts_of_numba_may_be_missing(monkeypatch):
    monkeypatch.setattr(switches, "_statuses", {})
    assert not numba_private.uncount(Renamed())
    assert not numba_private.stamp(Renamed(), [])
    assert not numba_private.guard_signals(Renamed())
    assert all(status.startswith("off: ") for status in switches.fast_paths().values())
    assert len(switches.fast_paths()) == 3


@compiles
def test_a_cache_that_cannot_be_checked_is_not_used(monkeypatch):
    monkeypatch.setattr(jit, "stamp", lambda compiled, files: False)

    @jit.loop
    def add_one(x):
        return x + 1

    assert add_one(1) == 2
    assert add_one.stats.cache_path is None


@compiles
def test_dicts_are_learned_in_python_if_the_builtins_cannot_be_built(monkeypatch):
    examples = [({"a": 1.0, "b": -2.0}, "ham"), ({"b": 1.0}, "spam"), ({"a": 1.0}, "ham"), ({"a": -3.0}, "spam")]

    def learn_all():
        model = nk.Perceptron(hypothesis="averaged")
        for x, y in examples:
            model.learn_one(x, y)
        return model.predict_one({"a": 1.0}), model.ledger_.mistakes

    expected = learn_all()
    monkeypatch.setattr(pyobjects, "_is_on", True)
    monkeypatch.setattr(switches, "_statuses", {})
    monkeypatch.setattr(dicts.learn, "bound_to", lambda own: (_ for _ in ()).throw(RuntimeError("no linker")))
    assert learn_all() == expected
    assert not pyobjects.is_available()
    assert switches.fast_paths()["compiled dicts"] == "off: RuntimeError: no linker"


def test_show_versions(capsys):
    nk.show_versions()
    text = capsys.readouterr().out
    for name in ("novikoff", "numba", "processor", "threads", "compiled code", "hand-written IR", "compiled dicts"):
        assert f"\n{name} " in f"\n{text}"


CODE = """
import numpy as np, novikoff as nk
from novikoff._compiled.switches import fast_paths
rng = np.random.default_rng(0)
X = rng.integers(-3, 4, (300, 9)).astype(float)
y = (X @ np.arange(9) > 0) * 1 + (X[:, 0] > 1)
model = nk.Perceptron(hypothesis="averaged").partial_fit(X, y)
dicts = nk.Perceptron()
for row, label in zip(X.tolist(), (y > 0).tolist()):
    dicts.learn_one({str(j): v for j, v in enumerate(row)}, label)
kernel = nk.KernelPerceptron("poly", degree=2).partial_fit(X, y)
tagger = nk.SequenceTagger().partial_fit([["a", "b", "a"], ["b"]], [["X", "Y", "X"], ["Y"]])
print(model.coef_.tolist(), dicts.ledger_.mistakes, sorted(dicts.coef_.ravel().tolist()), kernel.ledger_.mistakes)
print(tagger.predict([["b", "a"]]))
print(sum(status.startswith("off: NOVIKOFF_PLAIN") for status in fast_paths().values()))
"""


@compiles
def test_plain_and_fast_agree():
    """In a process each, for the switch is read when the package is imported."""

    def run(plain):
        environment = {**os.environ, "NOVIKOFF_PLAIN": plain}
        environment["NUMBA_CACHE_DIR"] = folder_of(environment)
        done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.splitlines()

    *plain, n_off = run("1")
    *fast, n_off_fast = run("0")
    assert plain == fast
    assert (n_off, n_off_fast) == ("2", "0")

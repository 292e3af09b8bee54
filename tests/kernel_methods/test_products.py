"""Powers of inner products are exact for integers, whatever the method and the number of threads."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Rows
from novikoff._compiled.loops.kernel_matrix import ROWS_PER_TILE
from novikoff._compiled.loops.simd import LANES
from novikoff.errors import DataError
from novikoff.kernel_methods import products
from novikoff.kernel_methods.points import Points
from novikoff.kernel_methods.products import powers_of_dots
from novikoff.system.threads import limit_threads, run_in_threads


def _random_rows(rng, n, columns, filled, largest):
    return rng.integers(-largest, largest + 1, (n, columns)).astype(np.float64) * (rng.random((n, columns)) < filled)


def _exact_powers(A, B, gamma, coef0, degree):
    """Compute the powers in Python integers, which do not overflow."""
    found = [
        [(gamma * sum(int(x) * int(z) for x, z in zip(a, b, strict=True)) + coef0) ** degree for b in B] for a in A
    ]
    return np.array(found, object).astype(np.float64)


@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 9),
    m=st.sampled_from([1, 7, 64, 70]),
    columns=st.sampled_from([1, 5, 63, 64, 65, 130]),
    filled=st.sampled_from([0.0, 0.03, 0.2, 0.6, 1.0]),
    largest=st.sampled_from([1, 255, 4000]),
    is_negative=st.booleans(),
    gamma=st.integers(1, 3),
    coef0=st.integers(-2, 2),
    is_sparse=st.tuples(st.booleans(), st.booleans()),
)
def test_integers_are_exact(seed, n, m, columns, filled, largest, is_negative, gamma, coef0, is_sparse):
    rng = np.random.default_rng(seed)
    A, B = _random_rows(rng, n, columns, filled, largest), _random_rows(rng, m, columns, filled, largest)
    if not is_negative:  # integers from 0 to 255 are stored as bytes
        A, B = abs(A), abs(B)
    a, b = (Points.of(Rows.of(sp.csr_array(X) if sparse else X)) for X, sparse in zip((A, B), is_sparse, strict=True))
    found = powers_of_dots(a, b, float(gamma), float(coef0), 1)
    assert found.dtype == np.float64
    assert np.array_equal(found, _exact_powers(A, B, gamma, coef0, 1))
    # Cubes of integers up to 2^31 are rounded twice at most.
    np.testing.assert_allclose(
        powers_of_dots(a, b, float(gamma), float(coef0), 3), _exact_powers(A, B, gamma, coef0, 3), rtol=4e-16
    )


@pytest.mark.parametrize("columns", [64, 101])
def test_more_rows_than_fit_into_a_tile(columns):
    """More rows than are multiplied with a tile at once, and more rows than a tile has."""
    rng = np.random.default_rng(0)
    A, B = (
        _random_rows(rng, 2 * ROWS_PER_TILE + 3, columns, 0.2, 255),
        _random_rows(rng, 2 * LANES + 1, columns, 0.2, 255),
    )
    found = powers_of_dots(Points.of(Rows.of(A)), Points.of(Rows.of(B)))
    assert np.array_equal(found, (A.astype(np.int64) @ B.astype(np.int64).T).astype(np.float64))


@pytest.mark.parametrize("filled", [0.02, 0.2, 0.9])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_floats(filled, is_sparse):
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((n, 150)) * (rng.random((n, 150)) < filled) for n in (40, 70))
    a, b = (Points.of(Rows.of(sp.csr_array(X) if is_sparse else X)) for X in (A, B))
    np.testing.assert_allclose(powers_of_dots(a, b, 0.5, 1.0, 5), (0.5 * A @ B.T + 1.0) ** 5, rtol=1e-12, atol=1e-12)


def test_sparse_rows_may_have_different_widths():
    a, b = (Points(sp.csr_array(np.ones((3, columns)))) for columns in (4, 6))
    assert powers_of_dots(a, b).tolist() == [[4.0] * 3] * 3


@pytest.mark.parametrize("filled", [0.1, 1.0])
@pytest.mark.parametrize("columns", [(100, 80), (80, 100)])
def test_dense_rows_of_different_widths_are_rejected(filled, columns):
    rng = np.random.default_rng(0)
    a, b = (Points.of(Rows.of(_random_rows(rng, 70, each, filled, 9))) for each in columns)
    with pytest.raises(DataError, match=r"Rows of (100|80) columns and of (100|80) have no product"):
        powers_of_dots(a, b)


@pytest.mark.parametrize("filled", [0.1, 1.0])
@pytest.mark.parametrize("is_whole", [False, True])
def test_result_does_not_depend_on_the_number_of_threads(monkeypatch, filled, is_whole):
    monkeypatch.setattr(products, "_LEAST", 1)
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((n, 100)) * (rng.random((n, 100)) < filled) for n in (37, 71))
    a, b = (Points.of(Rows.of(np.rint(9.0 * X) if is_whole else X)) for X in (A, B))
    found = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        monkeypatch.setattr("os.sched_getaffinity", lambda _: range(8), raising=False)
        found.append(powers_of_dots(a, b, 1.0, 1.0, 3))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


@given(n=st.integers(0, 50), least=st.integers(0, 60), processors=st.integers(1, 7))
def test_each_row_belongs_to_one_thread(n, least, processors):
    parts = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.sched_getaffinity", lambda _: range(processors), raising=False)
        patch.delenv("OMP_NUM_THREADS", raising=False)
        run_in_threads(lambda begin, end: parts.append((begin, end)), n, least)
    assert sorted(row for begin, end in parts for row in range(begin, end)) == list(range(n))
    assert len(parts) <= processors
    assert len(parts) == 1 or min(end - begin for begin, end in parts) >= least


@pytest.mark.parametrize(
    ("setting", "threads"), [("1", 1), (" 2", 2), ("3,2", 3), ("0", 4), ("many", 4), ("²", 4), ("9", 4)]
)
def test_number_of_threads_follows_omp_num_threads(monkeypatch, setting, threads):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(4), raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    parts = []
    run_in_threads(lambda begin, end: parts.append(begin), 100, 1)
    assert len(parts) == threads
    with limit_threads(1):
        run_in_threads(lambda begin, end: parts.append(begin), 100, 1)
    assert len(parts) == threads + 1


def test_work_after_the_end_of_the_main_thread():
    """Python starts no new threads then, but running ones may still share work."""
    code = (
        "import threading, time; from novikoff.system import threads; threads.n_processors = lambda: 2\n"
        "def late():\n"
        "    threading.main_thread().join(); time.sleep(0.1)\n"
        "    threads.run_in_threads(lambda begin, end: print(begin, end), 10, 1)\n"
        "threads.run_in_threads(lambda begin, end: None, 10, 1); threading.Thread(target=late).start()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert sorted(done.stdout.split("\n")) == ["", "0 5", "5 10"]
    assert done.stderr == ""


def test_exception_in_another_thread_is_raised(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: range(2), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)

    def work(begin, end):
        if threading.current_thread() is not threading.main_thread():
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        run_in_threads(work, 10, 1)

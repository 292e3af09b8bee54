"""What is written for LLVM does what its Python says."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Rows, _compiled
from novikoff._compiled import compile_here
from novikoff._compiled.jit import files_behind
from novikoff._compiled.llvm import CAN_CALL_POINTERS
from novikoff._compiled.loops import columns, simd, tokens
from novikoff.perceptron.weights import Weights, linear_scores

WHOLE = st.sampled_from([np.int32, np.int64])


def _bits(number):
    return np.iinfo(number).bits


@compile_here
def add_rows(W, rows, m, e):
    simd.add_rows(W, rows, m, e)


@compile_here
def advance_best(before, q, n, e, best):
    simd.advance_best(before, q, n, e, best)


@compile_here
def sum_weighted_rows(values, rows, begin, end, W, s):
    simd.sum_weighted_rows(values, rows, begin, end, W, s)


@compile_here
def subtract_max(b, floor, top):
    simd.subtract_max(b, floor, top)


@compile_here
def multiply_pairs(places, values, begin, end, tile, sums):
    simd.multiply_pairs(places, values, begin, end, tile, sums)


@given(seed=st.integers(0, 2**32 - 1), n=st.integers(0, 70), p=st.integers(1, 13), holes=st.booleans())
def test_columns_become_rows(seed, n, p, holes):
    rng = np.random.default_rng(seed)
    given = [rng.integers(-9, 9, n).astype(np.float64) for _ in range(p)]
    if holes and n:
        given[rng.integers(p)][rng.integers(n)] = np.nan
    addresses = np.array([column.ctypes.data for column in given], np.uint64)
    values = np.full((n, p), -1.0)
    squares = columns.rows_of_columns(addresses, values)
    assert np.array_equal(values, np.column_stack(given), equal_nan=True)
    assert np.array_equal(squares, np.sum(values**2), equal_nan=True)


@compile_here
def mark_bytes_within(text, at, first, last):
    return simd.mark_bytes_within(text, at, first, last)


@given(
    text=st.binary(min_size=simd.WINDOW, max_size=2 * simd.WINDOW),
    at=st.integers(0, simd.WINDOW),
    ends=st.lists(st.integers(0, 255), min_size=2, max_size=2).map(sorted),
)
def test_bytes_of_a_window(text, at, ends):
    at = min(at, len(text) - simd.WINDOW)
    expected = sum(1 << k for k in range(simd.WINDOW) if ends[0] <= text[at + k] <= ends[1])
    assert int(mark_bytes_within(np.frombuffer(text, np.uint8), at, *ends)) == expected


@given(seed=st.integers(0, 2**32 - 1), eights=st.integers(1, 5), m=st.integers(0, 9), narrow=WHOLE, wide=WHOLE)
def test_sums_of_rows(seed, eights, m, narrow, wide):
    rng = np.random.default_rng(seed)
    largest = 2**28 if np.int32 in (narrow, wide) else 2**60
    W = rng.integers(-largest // 10, largest // 10, (7, 8 * eights)).astype(min(narrow, wide, key=_bits))
    rows = rng.integers(0, 7, 9)
    e = rng.integers(-largest // 10, largest // 10, 8 * eights).astype(max(narrow, wide, key=_bits))
    expected = e + W[rows[:m]].sum(axis=0)
    add_rows(W, rows, m, e)
    assert np.array_equal(e, expected)


@given(seed=st.integers(0, 2**32 - 1), eights=st.integers(1, 5), n=st.integers(1, 40), number=WHOLE)
def test_the_best_of_sums(seed, eights, n, number):
    rng = np.random.default_rng(seed)
    n, width = min(n, 8 * eights), 8 * eights
    largest = np.iinfo(number).max // 3
    before, q, e = (rng.integers(-largest, largest, shape).astype(number) for shape in (width, (n, width), width))
    best = np.empty(width, number)
    advance_best(before, q, n, e, best)
    expected = [int(e[z]) + max(int(before[a]) + int(q[a, z]) for a in range(n)) for z in range(width)]
    assert best.tolist() == expected


@given(
    seed=st.integers(0, 2**32 - 1),
    width=st.integers(1, 45),
    begin=st.integers(0, 3),
    m=st.integers(0, 9),
    precision=st.sampled_from([np.float32, np.float64]),
    index=WHOLE,
)
def test_weighted_rows(seed, width, begin, m, precision, index):
    """With integers, so that there is one right answer."""
    rng = np.random.default_rng(seed)
    W, s = rng.integers(-1000, 1000, (7, width)).astype(np.float64), np.full(width, np.nan)
    values, rows = rng.integers(-1000, 1000, 12).astype(precision), rng.integers(0, 7, 12).astype(index)
    sum_weighted_rows(values, rows, begin, begin + m, W, s)
    assert np.array_equal(s, values[begin : begin + m].astype(np.float64) @ W[rows[begin : begin + m]])


@given(seed=st.integers(0, 2**32 - 1), eights=st.integers(1, 5), number=WHOLE)
def test_levelling(seed, eights, number):
    rng = np.random.default_rng(seed)
    b, top = rng.integers(-1000, 1000, 8 * eights).astype(number), np.empty(1, number)
    floor = int(rng.integers(-2000, 0))
    most = max(b.tolist())
    expected = [max(each - most, floor) for each in b.tolist()]
    subtract_max(b, floor, top)
    assert b.tolist() == expected
    assert top.tolist() == [most]


@given(
    seed=st.integers(0, 2**32 - 1),
    begin=st.integers(0, 3),
    m=st.integers(0, 9),
    kind=st.sampled_from([np.uint8, np.int16]),
)
def test_products_of_pairs(seed, begin, m, kind):
    rng = np.random.default_rng(seed)
    largest = min(np.iinfo(kind).max, 4096)  # as large as kernels take them
    tile = rng.integers(max(np.iinfo(kind).min, -largest), largest + 1, (5, simd.LANES, 2)).astype(kind)
    places, values = rng.integers(0, 5, 12), rng.integers(-4096, 4097, (12, 2)).astype(np.int16)
    sums = np.empty(simd.LANES, np.int32)
    multiply_pairs(places, values, begin, begin + m, tile, sums)
    some = range(begin, begin + m)
    expected = [
        sum(int(values[p, k]) * int(tile[places[p], lane, k]) for p in some for k in (0, 1))
        for lane in range(simd.LANES)
    ]
    assert sums.tolist() == expected


def test_weights_laid_out_for_dense_rows_score_sparse_ones():
    rng = np.random.default_rng(0)
    weights, X = (rng.integers(-5, 5, (n, 4)).astype(np.float64) for n in (3, 6))
    rows = Rows.of(sp.csr_array(X))
    assert np.array_equal(linear_scores(rows, Weights(weights, np.zeros(3)), 1.0), X @ weights.T)


@pytest.mark.skipif(not CAN_CALL_POINTERS, reason="plain loops accept any array")
def test_arrays_in_another_order_are_refused():
    with pytest.raises(TypeError, match="add_rows is for arrays in C order"):
        add_rows(np.zeros((8, 3), np.int32).T, np.zeros(1, np.int64), 1, np.zeros(8, np.int32))


@pytest.mark.skipif(not _compiled.is_compiling, reason="nothing is kept on the disk")
def test_kernels_are_compiled_anew_when_this_file_changes():
    assert simd.__file__ in files_behind(tokens.score_tokens.py_func)

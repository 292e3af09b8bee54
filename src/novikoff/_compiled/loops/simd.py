"""Several numbers at once: plain loops, each beside the IR that keeps its vectors in registers.

Compiled by numba, these loops write each sum to memory and read it again, and first test whether two arrays overlap;
for rows of a few numbers that takes longer than the sums.

The gain in each docstring is measured against the plain loop as numba compiles it (`python -m benchmarks.hand_written`,
AMD Zen 4); what gains less than a tenth is not hand-written.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir

from novikoff._compiled import inlined
from novikoff._compiled.llvm import INDEX, UINT64, in_llvm

EIGHT = 8  # 32-bit integers that most processors add at once: rows are padded to a multiple of it
LANES = 64  # rows that `multiply_pairs` sums at a time: half of the registers
WINDOW = 32  # bytes of a text that are compared together

_INT32, _INT16, _BYTE = ir.IntType(32), ir.IntType(16), ir.IntType(8)


# -- rows


def _write_add_rows(w, W, rows, m, e):
    width, eight = e.sizes[0], ir.VectorType(e.element_type, EIGHT)
    with w.loop(INDEX(0), width, EIGHT) as y:
        total = w.variable(e.load(y, eight))
        with w.loop(INDEX(0), m) as k:
            weights = W.load(w.add(w.mul(rows.load(k), width), y), ir.VectorType(W.element_type, EIGHT))
            total.set(w.add(total.get(), w.widen(weights, eight, W.is_signed)))
        e.store(total.get(), y)


@in_llvm(_write_add_rows)
def add_rows(W, rows, m, e):
    """e <- e + sum of W[rows[k]] over k < m, for rows of a multiple of EIGHT integers; e may have more bits. Gain: 7.7
    times (24 tags)."""
    for k in range(m):
        for y in range(e.shape[0]):
            e[y] += W[rows[k], y]


def _write_advance_best(w, before, q, n, e, best):
    width, eight = best.sizes[0], ir.VectorType(best.element_type, EIGHT)

    def after(a, z):
        return w.add(w.spread(before.load(a), EIGHT), q.load(w.add(w.mul(a, width), z), eight))

    with w.loop(INDEX(0), width, EIGHT) as z:
        largest = w.variable(after(INDEX(0), z))
        with w.loop(INDEX(1), n) as a:
            largest.set(w.maximum(after(a, z), largest.get()))
        best.store(w.add(e.load(z, eight), largest.get()), z)


@in_llvm(_write_advance_best)
def advance_best(before, q, n, e, best):
    """best[z] = e[z] + max over a < n of before[a] + q[a, z], for rows of a multiple of EIGHT integers. Gain: 3.5 times
    (24 tags)."""
    for z in range(best.shape[0]):
        best[z] = before[0] + q[0, z]
    for a in range(1, n):
        for z in range(best.shape[0]):
            best[z] = max(best[z], before[a] + q[a, z])
    for z in range(best.shape[0]):
        best[z] += e[z]


def _write_subtract_max(w, b, floor, top):
    width, eight = b.sizes[0], ir.VectorType(b.element_type, EIGHT)
    largest = w.variable(b.load(INDEX(0), eight))
    with w.loop(INDEX(EIGHT), width, EIGHT) as z:
        largest.set(w.maximum(b.load(z, eight), largest.get()))
    most = largest.get()
    for apart in (4, 2, 1):
        most = w.maximum(most, w.shuffle(most, [lane ^ apart for lane in range(EIGHT)]))
    lowest = w.spread(w.narrow(floor, b.element_type), EIGHT)
    with w.loop(INDEX(0), width, EIGHT) as z:
        b.store(w.maximum(w.sub(b.load(z, eight), most), lowest), z)
    top.store(w.lane(most, 0), INDEX(0))


@in_llvm(_write_subtract_max)
def subtract_max(b, floor, top):
    """top[0] = max of b; b <- max(b - top, floor), for a row of a multiple of EIGHT integers. Gain: 1.8 times (24
    tags)."""
    most = b[0]
    for z in range(1, b.shape[0]):
        most = max(most, b[z])
    for z in range(b.shape[0]):
        b[z] = max(b[z] - most, floor)
    top[0] = most


def _write_sum_weighted_rows(w, values, rows, begin, end, W, s):
    """Sixteen sums at a time, then four, then one by one."""
    width, done = s.sizes[0], INDEX(0)
    for lanes in (2 * EIGHT, EIGHT // 2, 1):
        until = w.sub(width, w.remainder(w.sub(width, done), INDEX(lanes)))
        with w.loop(done, until, lanes) as k:
            total = w.variable(w.spread(s.element_type(0.0), lanes))
            with w.loop(begin, end) as p:
                value = w.spread(w.widen_float(values.load(p), s.element_type), lanes)
                start = w.mul(w.index(rows.load(p)), width)
                weights = W.load(w.add(start, k), ir.VectorType(s.element_type, lanes))
                total.set(w.multiply_add(value, weights, total.get()))
            s.store(total.get(), k)
        done = until


@in_llvm(_write_sum_weighted_rows)
def sum_weighted_rows(values, rows, begin, end, W, s):
    """s = sum over begin <= p < end of values[p] * W[rows[p]], for rows of any number of doubles. Gain: 7.6 times (20
    classes)."""
    for k in range(s.shape[0]):
        s[k] = 0.0
    for p in range(begin, end):
        for k in range(s.shape[0]):
            s[k] += values[p] * W[rows[p], k]


# -- pairs of columns


def _write_multiply_pairs(w, indices, values, begin, end, tile, sums):
    """Two products and their sum are one instruction, eight of them at once, and so twice the work of one for floats.
    LLVM finds it where products of int16 vectors are added pairwise."""
    wide, stored = ir.VectorType(_INT32, 2 * EIGHT), ir.VectorType(tile.element_type, 2 * EIGHT)
    even, odd = (list(range(first, 2 * EIGHT, 2)) for first in (0, 1))
    totals = [w.variable(ir.Constant(ir.VectorType(_INT32, EIGHT), [0] * EIGHT)) for _ in range(LANES // EIGHT)]
    with w.loop(begin, end) as p:
        pair = w.spread(values.load(w.mul(p, INDEX(2)), _INT32), EIGHT)
        pair = w.widen(w.bitcast(pair, ir.VectorType(_INT16, 2 * EIGHT)), wide, values.is_signed)
        start = w.mul(indices.load(p), INDEX(2 * LANES))
        for k, total in enumerate(totals):
            there = tile.load(w.add(start, INDEX(2 * EIGHT * k)), stored)
            products = w.mul(pair, w.widen(there, wide, tile.is_signed))
            total.set(w.add(total.get(), w.add(w.shuffle(products, even), w.shuffle(products, odd))))
    for k, total in enumerate(totals):
        sums.store(total.get(), INDEX(EIGHT * k))


@in_llvm(_write_multiply_pairs)
def multiply_pairs(indices, values, begin, end, tile, sums):
    """sums[l] = sum over begin <= p < end of x * tile[indices[p], l, 0] + y * tile[indices[p], l, 1], where x, y are
    values[p], for l < LANES. The values are int16, the tile of bytes or int16, the sums int32. Gain: 40 times."""
    for lane in range(LANES):
        sums[lane] = 0
    for p in range(begin, end):
        x, y = np.int32(values[p, 0]), np.int32(values[p, 1])
        for lane in range(LANES):
            sums[lane] += x * tile[indices[p], lane, 0] + y * tile[indices[p], lane, 1]


# -- text


def _write_mark_bytes_within(w, text, at, first, last):
    lowest, width = w.narrow(first, _BYTE), w.narrow(w.sub(last, first), _BYTE)
    above = w.sub(text.load(at, ir.VectorType(_BYTE, WINDOW)), w.spread(lowest, WINDOW))
    return w.widen(w.are_at_most(above, w.spread(width, WINDOW)), INDEX, is_signed=False)


@in_llvm(_write_mark_bytes_within, returns=UINT64)
def mark_bytes_within(text, at, first, last):
    """Return which of the WINDOW bytes of a text from `at` on are from `first` to `last`: bit k for text[at + k]. Gain:
    24 times."""
    marks = np.uint64(0)
    for k in range(WINDOW):
        if first <= text[at + k] <= last:
            marks |= np.uint64(1) << np.uint64(k)
    return marks


# -- memory


def _write_prefetch(w, array, at):
    to_read, into_first_cache, data = _INT32(0), _INT32(3), _INT32(1)
    w.call("llvm.prefetch.p0i8", array.address(at, _BYTE), to_read, into_first_cache, data)


@in_llvm(_write_prefetch)
def prefetch(array, at):
    """Load the cache line of element `at` of an array, counted in memory order, into the first cache. Nothing is read,
    whatever the address; without hand-written IR nothing is done. Gain: 1.2 to 1.4 times (random rows of weights)."""


def _write_prefetch_far(w, array, at):
    to_read, into_second_cache, data = _INT32(0), _INT32(2), _INT32(1)
    w.call("llvm.prefetch.p0i8", array.address(at, _BYTE), to_read, into_second_cache, data)


@in_llvm(_write_prefetch_far)
def prefetch_far(array, at):
    """Load a cache line that is used much later into the second cache, from which `prefetch` loads it into the
    first. Gain: 1.2 to 1.3 times."""


@inlined
def prefetch_ends(W, row):
    """Prefetch the first and the last cache line of a row: all of it if it has 32 integers of 32 bits; the processor
    prefetches the rest of longer ones by itself."""
    width = W.shape[1]
    prefetch(W, row * width)
    prefetch(W, row * width + width - 1)

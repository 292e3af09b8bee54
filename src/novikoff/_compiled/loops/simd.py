"""Several numbers at once: each function as Python says it, and as it is written for LLVM.

Left to itself, numba would write each sum to memory and read it again, and first ask whether two arrays are one; all of
which takes longer than adding up a row of a few numbers.
"""

from __future__ import annotations

from ctypes import c_double

import numpy as np
from llvmlite import ir

from novikoff._compiled import part
from novikoff._compiled.llvm import INDEX, in_llvm, word_in_llvm, writes

EIGHT = 8  # numbers of 32 bits that most processors add at once: rows are filled up to a multiple of it
LANES = 64  # rows that `pair_products` has sums of at a time: half of the registers
FOUR = 4  # doubles in a vector of most processors
WINDOW = 32  # bytes of a text that are looked at together

_NUMBER, _SMALL, _BYTE = ir.IntType(32), ir.IntType(16), ir.IntType(8)


# -- rows


@in_llvm
def add_rows(W, rows, m, e):
    """e <- e + sum of W[rows[k]] over k < m, for rows of a multiple of EIGHT whole numbers; e may have more bits."""
    for k in range(m):
        e += W[rows[k]]


@writes(add_rows)
def _add_rows(w, W, rows, m, e):
    width, eight = e.sizes[0], ir.VectorType(e.number, EIGHT)
    with w.loop(INDEX(0), width, EIGHT) as y:
        total = w.variable(e.load(y, eight))
        with w.loop(INDEX(0), m) as k:
            weights = W.load(w.add(w.mul(rows.load(k), width), y), ir.VectorType(W.number, EIGHT))
            total.set(w.add(total.get(), w.widened(weights, eight, W.is_signed)))
        e.store(total.get(), y)


@in_llvm
def best_step(before, q, n, e, best):
    """best[z] = e[z] + max over a < n of before[a] + q[a, z], for rows of a multiple of EIGHT whole numbers."""
    best[:] = e + (before[:n, None] + q[:n]).max(axis=0)


@writes(best_step)
def _best_step(w, before, q, n, e, best):
    width, eight = best.sizes[0], ir.VectorType(best.number, EIGHT)

    def after(a, z):
        return w.add(w.spread(before.load(a), EIGHT), q.load(w.add(w.mul(a, width), z), eight))

    with w.loop(INDEX(0), width, EIGHT) as z:
        largest = w.variable(after(INDEX(0), z))
        with w.loop(INDEX(1), n) as a:
            largest.set(w.larger(after(a, z), largest.get()))
        best.store(w.add(e.load(z, eight), largest.get()), z)


@in_llvm
def level(b, floor, top):
    """top[0] = max of b; b <- max(b - top, floor), for a row of a multiple of EIGHT whole numbers."""
    top[0] = b.max()
    b[:] = np.maximum(b - top[0], floor)


@writes(level)
def _level(w, b, floor, top):
    width, eight = b.sizes[0], ir.VectorType(b.number, EIGHT)
    largest = w.variable(b.load(INDEX(0), eight))
    with w.loop(INDEX(EIGHT), width, EIGHT) as z:
        largest.set(w.larger(b.load(z, eight), largest.get()))
    most = largest.get()
    for apart in (4, 2, 1):
        most = w.larger(most, w.chosen(most, [lane ^ apart for lane in range(EIGHT)]))
    lowest = w.spread(w.narrowed(floor, b.number), EIGHT)
    with w.loop(INDEX(0), width, EIGHT) as z:
        b.store(w.larger(w.sub(b.load(z, eight), most), lowest), z)
    top.store(w.lane(most, 0), INDEX(0))


@in_llvm
def weighted_rows(values, rows, begin, end, W, s):
    """s = sum over begin <= p < end of values[p] * W[rows[p]], for rows of any number of doubles."""
    s[:] = 0.0
    for p in range(begin, end):
        s += values[p] * W[rows[p]]


@writes(weighted_rows)
def _weighted_rows(w, values, rows, begin, end, W, s):
    """Sixteen sums at a time, then four, then one by one."""
    width, done = s.sizes[0], INDEX(0)
    for lanes in (2 * EIGHT, EIGHT // 2, 1):
        until = w.sub(width, w.remainder(w.sub(width, done), INDEX(lanes)))
        with w.loop(done, until, lanes) as k:
            total = w.variable(w.spread(s.number(0.0), lanes))
            with w.loop(begin, end) as p:
                value = w.spread(w.precise(values.load(p), s.number), lanes)
                start = w.mul(w.index(rows.load(p)), width)
                weights = W.load(w.add(start, k), ir.VectorType(s.number, lanes))
                total.set(w.multiply_add(value, weights, total.get()))
            s.store(total.get(), k)
        done = until


# -- pairs of columns


@in_llvm
def pair_products(places, values, begin, end, tile, sums):
    """sums[l] = sum over begin <= p < end of x * tile[places[p], l, 0] + y * tile[places[p], l, 1], where x, y are
    values[p], for l < LANES. The values are int16, the tile of bytes or int16, the sums int32."""
    sums[:] = (tile[places[begin:end]].astype(sums.dtype) * values[begin:end, None]).sum(axis=(0, 2))


@writes(pair_products)
def _pair_products(w, places, values, begin, end, tile, sums):
    """Two products and their sum are one instruction, eight of them at once, and so twice the work of one for floats.
    LLVM finds it where products of vectors of int16 are added by neighbours."""
    whole, stored = ir.VectorType(_NUMBER, 2 * EIGHT), ir.VectorType(tile.number, 2 * EIGHT)
    even, odd = (list(range(first, 2 * EIGHT, 2)) for first in (0, 1))
    totals = [w.variable(ir.Constant(ir.VectorType(_NUMBER, EIGHT), [0] * EIGHT)) for _ in range(LANES // EIGHT)]
    with w.loop(begin, end) as p:
        pair = w.spread(values.load(w.mul(p, INDEX(2)), _NUMBER), EIGHT)
        pair = w.widened(w.bitcast(pair, ir.VectorType(_SMALL, 2 * EIGHT)), whole, values.is_signed)
        start = w.mul(places.load(p), INDEX(2 * LANES))
        for k, total in enumerate(totals):
            there = tile.load(w.add(start, INDEX(2 * EIGHT * k)), stored)
            products = w.mul(pair, w.widened(there, whole, tile.is_signed))
            total.set(w.add(total.get(), w.add(w.chosen(products, even), w.chosen(products, odd))))
    for k, total in enumerate(totals):
        sums.store(total.get(), INDEX(EIGHT * k))


# -- columns


@in_llvm
def turn(addresses, j, i, values):
    """values[i + r, j + c] = the double that comes i + r after that at addresses[j + c], for r, c < FOUR."""
    for c in range(FOUR):
        values[i : i + FOUR, j + c] = (c_double * FOUR).from_address(int(addresses[j + c]) + 8 * int(i))


@writes(turn)
def _turn(w, addresses, j, i, values):
    """Four vectors along columns become four along rows: what would be sixteen numbers to write are four."""
    four, width = ir.VectorType(values.number, FOUR), values.sizes[1]
    a, b, c, d = (w.load_from(w.add(addresses.load(w.add(j, INDEX(k))), w.mul(i, INDEX(8))), four) for k in range(FOUR))
    ab, cd = (w.chosen(x, [0, 4, 2, 6], y) for x, y in ((a, b), (c, d)))
    ab_odd, cd_odd = (w.chosen(x, [1, 5, 3, 7], y) for x, y in ((a, b), (c, d)))
    rows = [
        w.chosen(ab, [0, 1, 4, 5], cd),
        w.chosen(ab_odd, [0, 1, 4, 5], cd_odd),
        w.chosen(ab, [2, 3, 6, 7], cd),
        w.chosen(ab_odd, [2, 3, 6, 7], cd_odd),
    ]
    for r, row in enumerate(rows):
        values.store(row, w.add(w.mul(w.add(i, INDEX(r)), width), j))


@in_llvm
def place(addresses, j, i, values):
    """values[i, j] = the double that comes i after that at addresses[j]."""
    values[i, j] = c_double.from_address(int(addresses[j]) + 8 * int(i)).value


@writes(place)
def _place(w, addresses, j, i, values):
    number = w.load_from(w.add(addresses.load(j), w.mul(i, INDEX(8))), values.number)
    values.store(number, w.add(w.mul(i, values.sizes[1]), j))


# -- text


@word_in_llvm
def bytes_within(text, at, first, last):
    """Which of the WINDOW bytes of a text from `at` on are from `first` to `last`: bit k for text[at + k]."""
    is_within = text[at : at + WINDOW] - np.uint8(first) <= last - first
    return np.packbits(is_within, bitorder="little").view(np.uint32)[0].astype(np.uint64)


@writes(bytes_within)
def _bytes_within(w, text, at, first, last):
    lowest, width = w.narrowed(first, _BYTE), w.narrowed(w.sub(last, first), _BYTE)
    above = w.sub(text.load(at, ir.VectorType(_BYTE, WINDOW)), w.spread(lowest, WINDOW))
    return w.widened(w.at_most(above, w.spread(width, WINDOW)), INDEX, is_signed=False)


# -- memory


@in_llvm
def prefetch(array, at):
    """Ask for the cache line of element `at` of an array, counted in memory order, before it is used. Nothing is read,
    whatever the address."""


@writes(prefetch)
def _prefetch(w, array, at):
    to_read, to_be_kept, data = _NUMBER(0), _NUMBER(3), _NUMBER(1)
    w.call("llvm.prefetch.p0i8", array.address(at, _BYTE), to_read, to_be_kept, data)


@in_llvm
def prefetch_far(array, at):
    """The same for what is used much later: into the second cache, whence `prefetch` brings it into the first."""


@writes(prefetch_far)
def _prefetch_far(w, array, at):
    to_read, not_so_near, data = _NUMBER(0), _NUMBER(2), _NUMBER(1)
    w.call("llvm.prefetch.p0i8", array.address(at, _BYTE), to_read, not_so_near, data)


@part
def ask_for(W, row):
    """Ask for a row before it is needed. It takes two lines of the cache at most, if it is of 32 numbers of 32 bits;
    of longer ones the processor fetches the rest by itself."""
    width = W.shape[1]
    prefetch(W, row * width)
    prefetch(W, row * width + width - 1)

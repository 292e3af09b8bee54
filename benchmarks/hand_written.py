"""How much each hand-written function gains over its plain fallback: python -m benchmarks.hand_written.

Both are compiled into the same small loop and timed in turn; the gain is the ratio of the fastest runs. The figures in
the docstrings of `_compiled/loops/simd.py` and `columns.py` come from here.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from novikoff._compiled import compile_here, inlined
from novikoff._compiled.loops import columns, simd

RNG = np.random.default_rng(0)
REPEATS = 25


def fastest(runs: list[Callable[[], Any]]) -> list[float]:
    """The shortest time of each run, alternating."""
    best = [np.inf] * len(runs)
    for _ in range(REPEATS):
        for k, run in enumerate(runs):
            begin = time.perf_counter()
            run()
            best[k] = min(best[k], time.perf_counter() - begin)
    return best


def report(name: str, fast: Callable[[], Any], plain: Callable[[], Any]) -> None:
    """Print both times and their ratio."""
    fast(), plain()  # compile
    a, b = fastest([fast, plain])
    print(f"{name:<16} hand-written {1e6 * a:9.1f} us   plain {1e6 * b:9.1f} us   gain {b / a:5.1f}")


def compare(name: str, around: Callable[[Any], Callable[..., Any]], *arguments: Any) -> None:
    """Compile a function of simd.py and its fallback into the same loop, and report."""
    function = getattr(simd, name)
    fast, plain = around(function), around(inlined(function.py_func))
    report(name, lambda: fast(*arguments), lambda: plain(*arguments))


def around_add_rows(function: Any) -> Any:
    @compile_here
    def run(W, rows, e):
        for i in range(rows.shape[0]):
            function(W, rows[i], 8, e)

    return run


def around_best_step(function: Any) -> Any:
    @compile_here
    def run(before, q, e, best, n):
        for _ in range(n):
            function(before, q, 22, e, best)

    return run


def around_subtract_max(function: Any) -> Any:
    @compile_here
    def run(b, top, n):
        for _ in range(n):
            function(b, -1000, top)

    return run


def around_weighted_rows(function: Any) -> Any:
    @compile_here
    def run(values, rows, W, s, n):
        for _ in range(n):
            function(values, rows, 0, rows.size, W, s)

    return run


def around_pair_products(function: Any) -> Any:
    @compile_here
    def run(indices, values, tile, sums, n):
        for _ in range(n):
            function(indices, values, 0, indices.size, tile, sums)

    return run


def around_bytes_within(function: Any) -> Any:
    @compile_here
    def run(text):
        found = np.uint64(0)
        for at in range(0, text.size - simd.WINDOW, simd.WINDOW):
            found ^= function(text, at, 58, 58)
        return found

    return run


def around_prefetch(function: Any) -> Any:
    @compile_here
    def run(W, rows):
        total = 0
        for i in range(rows.size - 8):
            function(W, rows[i + 8] * W.shape[1])
            for k in range(W.shape[1]):
                total += W[rows[i], k]
        return total

    return run


def main() -> None:
    """Print a line for each function."""
    W = RNG.integers(-99, 99, (5000, 24)).astype(np.int32)
    compare("add_rows", around_add_rows, W, RNG.integers(0, 5000, (20_000, 8)), np.zeros(24, np.int32))
    q = RNG.integers(-99, 99, (24, 24)).astype(np.int32)
    compare("advance_best", around_best_step, q[0].copy(), q, q[1].copy(), np.zeros(24, np.int32), 20_000)
    compare("subtract_max", around_subtract_max, q[0].copy(), np.zeros(1, np.int32), 20_000)
    rows, weights = RNG.integers(0, 5000, 100), RNG.normal(size=(5000, 20))
    compare("sum_weighted_rows", around_weighted_rows, RNG.normal(size=100), rows, weights, np.zeros(20), 2000)
    tile, pairs = RNG.integers(0, 255, (400, 64, 2)).astype(np.uint8), RNG.integers(0, 255, (300, 2)).astype(np.int16)
    compare("multiply_pairs", around_pair_products, RNG.integers(0, 400, 300), pairs, tile, np.zeros(64, np.int32), 200)
    compare("mark_bytes_within", around_bytes_within, RNG.integers(32, 127, 100_000).astype(np.uint8))
    large = RNG.integers(-99, 99, (400_000, 24)).astype(np.int32)
    for name in ("prefetch", "prefetch_far"):
        compare(name, around_prefetch, large, RNG.integers(0, 400_000, 200_000))
    apart, out = [RNG.normal(size=20_000) for _ in range(100)], np.empty((20_000, 100))
    addresses = np.array([column.ctypes.data for column in apart], np.uint64)

    def column_by_column() -> float:
        for j, column in enumerate(apart):
            out[:, j] = column
        return float(np.square(out).sum())

    report("rows_of_columns", lambda: columns.transpose_columns(addresses, out), column_by_column)


if __name__ == "__main__":
    main()

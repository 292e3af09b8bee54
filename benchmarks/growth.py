"""How time grows: constant per example, and in proportion to the non-zeros of a row."""

from __future__ import annotations

import numpy as np

import novikoff as nk
from benchmarks import data
from benchmarks.batch import PASSES
from benchmarks.measure import Benchmark, Line, Options, at_most, best_of

_SETTLED = 100_000  # below this number of examples the fixed cost of fit shows


def per_example(options: Options) -> list[Line]:
    sizes = [10**k for k in range(4, options.size(7, 6) + 1)]
    rows = data.noisy_linear(sizes[-1], 10, np.float32)
    model = nk.Perceptron(max_iter=PASSES)
    each = {n: best_of(lambda n=n: model.fit(rows.X[:n], rows.y[:n]), options.repeats) / n / PASSES for n in sizes}
    settled = [each[n] for n in sizes if n >= _SETTLED]
    shown = ", ".join(f"{n:.0e}: {time * 1e9:.1f} ns" for n, time in each.items())
    return [
        Line(
            f"time per example, {sizes[0]:.0e} to {sizes[-1]:.0e} of them, {PASSES} passes",
            f"itself: longest / shortest from {_SETTLED:.0e} on",
            at_most(1.5),
            max(settled) / min(settled),
            note=f"float32, d = 10; {shown}",
        )
    ]


def per_nonzero(options: Options) -> list[Line]:
    n, d = options.size(50_000, 10_000), 50_000
    counts, times = [], []
    for per_row in (50, 100, 200, 400):
        X, y = data.uniform_sparse(n, d, per_row)
        model = nk.Perceptron(max_iter=PASSES)
        counts.append(X.nnz)
        times.append(best_of(lambda X=X, y=y, model=model: model.fit(X, y), options.repeats))
    slope = float(np.polyfit(np.log(counts), np.log(times), 1)[0])
    shown = ", ".join(f"{c / 1e6:.1f}M: {t / c / PASSES * 1e9:.2f} ns each" for c, t in zip(counts, times, strict=True))
    note = f"CSR float64, {n:,} rows, d = {d:,}, uniform columns; {shown}"
    work = f"time against non-zeros, slope of log on log, {PASSES} passes"
    # A slope below 1 is expected: the cost of a row besides its non-zeros weighs less in longer rows.
    return [Line(work, "itself", at_most(1.15), slope, note=note)]


BENCHMARKS: dict[str, Benchmark] = {"growth-examples": per_example, "growth-nonzeros": per_nonzero}

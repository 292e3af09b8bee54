"""Mistakes in one pass over real streams: novikoff learn against the best peer in hindsight, and Vowpal Wabbit.

Each row is predicted before it is learned, and the share of wrong predictions counts. Ours is what `novikoff learn
FILE` prints by default. The peers are the set-ups of benchmarks/mistakes, on the file as it is and on novikoff's
encoding of it: the best of them on each stream, chosen after the fact; and Vowpal Wabbit's default on the file as it
is.
What the peers reach is kept in the temporary folder, and measured again by `python -m benchmarks.mistakes --refresh`.
"""

from __future__ import annotations

import importlib.util
import math

from benchmarks.measure import Benchmark, Line, Options, at_most
from benchmarks.mistakes.files import STREAMS
from benchmarks.mistakes.peers import PACKAGES, Run
from benchmarks.mistakes.results import SLACK, Result, measure

_QUICK = 500  # rows
_BEST, _DEFAULT = "the best in hindsight", "Vowpal Wabbit's default"


def progressive(options: Options) -> list[Line]:
    absent = [package for package in PACKAGES if importlib.util.find_spec(package) is None]
    lines = []
    for stream in STREAMS:
        work = f"mistakes on {stream.name}"
        if absent:
            lines.append(Line(work, "all", at_most(1.0), note=f"pip install {' '.join(absent)} to measure this"))
            continue
        result = measure(stream, rows=_QUICK if options.quick else None, with_learners=False)
        if result is None:
            lines.append(Line(work, "all", at_most(1.0), note="set NOVIKOFF_DATA to measure this"))
        else:
            lines += _lines(f"{work}, {result.rows:,} rows", result)
    return lines


def _lines(work: str, result: Result) -> list[Line]:
    best, default = result.best_peer, result.vw_default
    assert best is not None
    assert default is not None
    return [
        _line(work, f"{_BEST}: {best}", result.default, best, SLACK),
        _line(work, _DEFAULT, result.default, default, 0.0),
    ]


def _line(work: str, peer: str, ours: float, run: Run, slack: float) -> Line:
    """A line with our mistakes as a multiple of theirs and a slack; without a slack ours must be fewer."""
    target = at_most(1.0 if slack else math.nextafter(1.0, 0.0))
    return Line(work, peer, target, ours / max(run.error + slack, 1e-9), scores=(run.error, ours))


BENCHMARKS: dict[str, Benchmark] = {"progressive": progressive}

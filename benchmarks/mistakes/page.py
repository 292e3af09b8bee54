"""docs/mistakes.md: the tables of all streams, who wins, and the claims with their targets."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from benchmarks.mistakes.claims import Claim
from benchmarks.mistakes.files import STREAMS
from benchmarks.mistakes.means import geometric_mean
from benchmarks.mistakes.ours import LEARNERS
from benchmarks.mistakes.results import SLACK, Result

__all__ = ["render"]

_INTRODUCTION = """\
# Mistakes in one pass

Each row is predicted before it is learned from; the tables give the share of wrong predictions in per cent. Measured
{month} on {machine}; `python -m benchmarks.mistakes --write` measures again and writes this page.

A peer's figure is the best **in hindsight** of its set-ups, chosen for each stream after the fact: Vowpal Wabbit {vw}
with its default, `--coin`, `--ftrl`, `--pistol` and `--sgd` on the squared, hinge and logistic loss, some with `--l2`
or with steps that do not fall, {n_vw} in all; river {river} with Perceptron, ALMA, passive-aggressive steps and
logistic regression by SGD, AdaGrad and Adam, {n_river} in all, with and without a StandardScaler. Each has learned
from the file as it is (numbers, one feature for each categorical value, the words of texts) and from novikoff's
encoding of it, and the better counts. "Peers with hats" is the best of all of them on the encoding with the
interpolation weights of numbers. "VW default" is Vowpal Wabbit without any options on the file as it is. Vowpal
Wabbit's features are numbered, so that no two share a weight; with more than two classes it runs with `--oaa`. A score
of 0 is the negative label.

Ours have no option but the rule, and one encoding for all; "averaged" answers with the mean of the perceptron's
weights, and `learn` is `novikoff learn` with its defaults. The last column compares `learn` with the best peer in
hindsight, without hats: those within 0.1 points of each other are tied. The fewest mistakes in a row are in bold.
"""

_GENERATED = "Streams that are generated, or come with scikit-learn"

_SMALL_FILES = """\
Rows sorted by label are shuffled ({shuffled}; seed 0). Files of fewer than 700 rows are averaged over
{orders} random orders; there luck decides much.
"""


def render(results: Sequence[Result], claims: Sequence[Claim], header: dict[str, str]) -> str:
    """Return the page in Markdown."""
    generated = [result for result in results if result.stream.is_generated]
    results = [result for result in results if not result.stream.is_generated]
    large = [result for result in results if result.orders == 1 and not result.stream.has_many_classes]
    small = [result for result in results if result.orders > 1 and not result.stream.has_many_classes]
    many = [result for result in results if result.stream.has_many_classes]
    parts = [_INTRODUCTION.format(month=time.strftime("%Y-%m"), **header)]
    tables = {"Two classes": large, "Small files, averaged over orders": small, "Many classes": many}
    tables[_GENERATED] = generated
    parts += [f"## {title}\n\n{_table(rows)}" for title, rows in tables.items() if rows]
    shuffled = ", ".join(result.stream.name for result in results if result.stream.is_shuffled) or "none here"
    orders = max((result.orders for result in results), default=1)
    parts.append(_SMALL_FILES.format(orders=orders, shuffled=shuffled))
    if missing := {stream.name for stream in STREAMS} - {result.stream.name for result in results}:
        parts.append(f"Not measured: {', '.join(sorted(missing))}.\n")
    parts += ["## Geometric means\n", _means(large + small, many)]
    parts += ["## The best peer of each stream\n", _set_ups([*results, *generated])]
    parts += ["## Claims\n", _claims(claims)]
    return "\n".join(part for part in parts if part)


def _table(results: Sequence[Result]) -> str:
    """A row for each stream, its least figures in bold."""
    learners = [name for name in LEARNERS if any(result.learners[name] is not None for result in results)]
    columns = [*_PEERS, *learners, "`learn`"]
    rows = []
    for result in results:
        peers = (read(result) for read in _PEERS.values())
        figures = [*peers, *(result.learners[name] for name in learners), result.default]
        least = min(figure for figure in figures if figure is not None)
        cells = [_cell(figure, is_least=figure is not None and figure < least + 5e-6) for figure in figures]
        rows.append([result.stream.name, f"{result.rows:,}", *cells, _winner(result)])
    return _markdown(["stream", "rows", *columns, "fewest"], rows) if rows else ""


def _error(run: object) -> float | None:
    return getattr(run, "error", None)


_PEERS: dict[str, Callable[[Result], float | None]] = {
    "VW default": lambda result: _error(result.vw_default),
    "VW*": lambda result: _error(result.peers.best("vowpalwabbit")),
    "river*": lambda result: _error(result.peers.best("river")),
    "peers with hats": lambda result: _error(result.peers.best(kinds=("hats",))),
}


def _winner(result: Result) -> str:
    theirs = result.best_peer
    if theirs is None:
        return "–"
    if abs(result.default - theirs.error) <= SLACK:
        return "tied"
    return "novikoff" if result.default < theirs.error else {"vowpalwabbit": "VW"}.get(theirs.package, theirs.package)


def _means(two_classes: Sequence[Result], many: Sequence[Result]) -> str:
    """Ours as a multiple of the best peer in hindsight, and of Vowpal Wabbit's default."""
    rows = []
    readers: dict[str, Callable[[Result], float | None]] = {
        name: (lambda result, name=name: result.learners.get(name)) for name in LEARNERS
    }
    readers |= {"`learn`": lambda result: result.default, **_PEERS}
    for name, read in readers.items():
        cells = [
            geometric_mean((read(result), _error(base(result))) for result in results)
            for results in (two_classes, many)
            for base in (lambda result: result.best_peer, lambda result: result.vw_default)
        ]
        if any(cell is not None for cell in cells):
            rows.append([name, *("–" if cell is None else f"{cell:.3f}" for cell in cells)])
    heading = ["", "two classes: best peer", "VW default", "many classes: best peer", "VW default"]
    return "Mistakes as a multiple of those of\n\n" + _markdown(heading, rows)


def _set_ups(results: Sequence[Result]) -> str:
    """Which set-ups were the best in hindsight."""
    rows = []
    for result in results:
        runs = [result.peers.best("vowpalwabbit"), result.peers.best("river"), result.peers.best(kinds=("hats",))]
        rows.append([result.stream.name, *("–" if run is None else f"{run} {100 * run.error:.2f}" for run in runs)])
    return _markdown(["stream", "Vowpal Wabbit", "river", "with hats"], rows, left=4)


def _claims(claims: Sequence[Claim]) -> str:
    rows = [[claim.text, claim.target, claim.got, claim.verdict] for claim in claims]
    return _markdown(["claim", "target", "measured", ""], rows, left=4)


def _cell(figure: float | None, *, is_least: bool) -> str:
    if figure is None:
        return "–"
    text = f"{100 * figure:.2f}" if figure < 0.1 else f"{100 * figure:.1f}"
    return f"**{text}**" if is_least else text


def _markdown(heading: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> str:
    bars = ["---" if k < left else "---:" for k in range(len(heading))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heading, bars, *rows)) + "\n"

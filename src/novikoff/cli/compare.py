"""novikoff compare: perceptrons beside their neighbours, on a file of one's own."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.interrupts import Interrupted
from novikoff.cli.options import feature_options, files_argument, reading, reading_options, rejects_option
from novikoff.cli.tables import print_table

if TYPE_CHECKING:
    import numpy as np

    from novikoff.data.formats.block import Block
    from novikoff.estimators.baselines import Neighbour
    from novikoff.inputs.rows import Rows

_EPILOG = """\b
Examples:
  novikoff compare train.csv --target y --test test.csv
  novikoff compare mail.svm                             a fifth of the rows held out
"""


@click.command(epilog=_EPILOG)
@files_argument
@click.option(
    "--test",
    "test_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(),
    help="Rows to count the errors on. May be repeated.  [default: a share of FILES]",
)
@click.option(
    "--validation",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    help="The share of rows to hold out where there is no --test.",
)
@click.option("--passes", type=click.IntRange(1), default=5, show_default=True, help="Of the perceptrons.")
@feature_options
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the split and of shuffling.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@rejects_option
@reading_options
def compare(
    files: list[str],
    test_files: tuple[str, ...],
    validation: float,
    passes: int,
    seed: int,
    as_json: bool,
    rejects: Path | None,
    no_scale: bool,
    hash_bits: int,
    ngrams: tuple[int, int],
    char_ngrams: tuple[int, int],
    **options: Any,
) -> None:
    """Set perceptrons beside their neighbours.

    Perceptrons, hinge and logistic loss by stochastic gradient descent, and scikit-learn's logistic regression, naive
    Bayes and linear support vector machine learn from the same rows of FILES, held in memory and encoded as `novikoff
    learn` would; the perceptrons in a new order in every pass. For each: errors on rows it has not seen, seconds of
    learning, and the size of the model. None is tuned: `novikoff select` chooses among perceptrons.
    """
    from novikoff.cli.holding import Held, split, warn_of_unknown
    from novikoff.data.encoding import Features

    given = reading(options)
    held = Held.read(files, given, rejects)
    held.require_classes()
    if test_files:
        train, test = held.blocks, Held.read(test_files, given, target=held.target).blocks
    else:
        train, test = split(held.blocks, 1, validation, seed)[0]
    features = Features(scale=not no_scale, hash_bits=hash_bits, ngrams=ngrams, char_ngrams=char_ngrams)
    known, unknown = _encoded(train, test, features)
    warn_of_unknown(sorted(set(unknown[1].tolist()) - set(known[1].tolist())))
    try:
        found = _compared(known, unknown, passes, seed)
    except KeyboardInterrupt:
        raise Interrupted("Stopped.") from None
    if as_json:
        click.echo(json.dumps([asdict(each) for each in found], indent=2))
    else:
        _report(found, sum(map(len, train)))


def _encoded(
    train: Sequence[Block], test: Sequence[Block], features: Any
) -> tuple[tuple[Rows, np.ndarray], tuple[Rows, np.ndarray]]:
    """Numbers of both, by what the rows to learn from have brought: names, and the moments of columns."""
    import numpy as np

    from novikoff.cli.tested import shown
    from novikoff.inputs.rows import Rows
    from novikoff.streaming.model import encoding_for

    encoding = encoding_for(train[0], features)
    for block in train:
        encoding.require(block)
        for _ in encoding.learn(block):
            pass

    def encoded(blocks: Sequence[Block]) -> tuple[Rows, np.ndarray]:
        rows = Rows.joined([encoding.read(block) for block in blocks])
        rows.require_numbers()
        # As words: scikit-learn takes numbers such as 0.5 for quantities.
        labels = [str(label) for block in blocks for label in shown(np.asarray(block.labels).tolist())]
        return rows, np.array(labels)

    return encoded(train), encoded(test)


def _compared(train: tuple[Rows, np.ndarray], test: tuple[Rows, np.ndarray], passes: int, seed: int) -> list[Neighbour]:
    import sys

    from rich.console import Console
    from rich.progress import Progress

    from novikoff.estimators.baselines import compare as compared
    from novikoff.estimators.baselines import neighbours

    total = len(neighbours(False, passes, seed))
    found = []
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("learning", total=total)
        for each in compared(train, test, passes=passes, seed=seed):
            found.append(each)
            bar.update(task, completed=len(found), description=each.name)
    return found


def _report(found: list[Neighbour], n_train: int) -> None:
    rows = []
    for each in sorted(found, key=lambda own: own.errors):
        share = each.errors / each.rows
        spread = math.sqrt(share * (1.0 - share) / each.rows)
        note = "" if each.is_done else "not converged"
        rows.append(
            [
                each.name,
                each.by,
                each.errors,
                f"{share:.2%} ± {spread:.2%}",
                f"{each.seconds:.3f} s",
                _bytes(each.size),
                note,
            ]
        )
    print_table(
        f"Learned from {n_train:,} rows, tried on {found[0].rows:,}",
        ["model", "by", "errors", "share", "learning", "size", ""],
        rows,
    )


def _bytes(size: float) -> str:
    """Such as 1.5 MB."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"

"""novikoff compare: perceptrons and other linear methods on a file of your own."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.interrupts import InterruptibleCommand
from novikoff.cli.options import drop_unset, feature_options, files_argument, reading_options, rejects_option
from novikoff.cli.progress import announce_compilation
from novikoff.cli.tables import print_table

if TYPE_CHECKING:
    import numpy as np

    from novikoff.estimators.baselines import BaselineResult
    from novikoff.inputs.rows import Rows

_EPILOG = """\b
Examples:
  novikoff compare train.csv --target y --test test.csv
  novikoff compare mail.svm                             a fifth of the rows held out
"""


@click.command(cls=InterruptibleCommand, epilog=_EPILOG)
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
@click.option("--passes", type=click.IntRange(1), default=5, show_default=True, help="Passes of the perceptrons.")
@feature_options
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the split and of shuffling."
)
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
    hats: bool,
    hash_bits: int,
    ngrams: tuple[int, int],
    char_ngrams: tuple[int, int],
    **options: Any,
) -> None:
    """Compare perceptrons with other linear methods.

    Perceptrons, AROW, AdaGrad, coin betting, the vote of the rule auto, hinge and logistic loss by stochastic gradient
    descent, and scikit-learn's logistic regression, naive Bayes and linear support vector machine learn from the same
    rows of FILES, held in memory and encoded as `novikoff learn` would; the perceptrons and the vote in a new order in
    every pass. For each: errors on rows it has
    not seen, seconds of learning, and the size of the model. None of them is tuned: `novikoff select` chooses among
    perceptrons.
    """
    from novikoff.cli.in_memory import read_in_memory, require_two_classes, warn_of_unknown_labels
    from novikoff.data.encoding import Features
    from novikoff.selection.in_memory import split_blocks
    from novikoff.streaming.candidates import encode_split

    announce_compilation()
    given = drop_unset(options)
    data = read_in_memory(files, given, rejects)
    require_two_classes(data)
    if test_files:
        train, test = data.blocks, read_in_memory(test_files, given, target=data.target, form=data.form).blocks
    else:
        train, test = split_blocks(data.blocks, 1, validation, seed)[0]
    features = Features(not no_scale, hash_bits, ngrams, char_ngrams, hats=hats)
    to_learn, to_test = encode_split(train, test, features)
    warn_of_unknown_labels(sorted(set(to_test[1].tolist()) - set(to_learn[1].tolist())))
    found = _fit_all(to_learn, to_test, passes, seed)
    if as_json:
        click.echo(json.dumps([asdict(each) for each in found], indent=2))
    else:
        _report(found, sum(map(len, train)))


def _fit_all(
    train: tuple[Rows, np.ndarray], test: tuple[Rows, np.ndarray], passes: int, seed: int
) -> list[BaselineResult]:
    import sys

    from rich.console import Console
    from rich.progress import Progress

    from novikoff.estimators.baselines import compare as compared
    from novikoff.estimators.baselines import make_baselines

    total = len(make_baselines(False, passes, seed))
    found = []
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("learning", total=total)
        for each in compared(train, test, passes=passes, seed=seed):
            found.append(each)
            bar.update(task, completed=len(found), description=each.name)
    return found


def _report(found: list[BaselineResult], n_train: int) -> None:
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
                _format_bytes(each.size),
                note,
            ]
        )
    print_table(
        f"Learned from {n_train:,} rows, tried on {found[0].rows:,}",
        ["model", "by", "errors", "share", "learning", "size", ""],
        rows,
    )


def _format_bytes(size: float) -> str:
    """A size with its unit, such as 1.5 MB."""
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"

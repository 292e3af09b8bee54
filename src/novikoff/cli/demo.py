"""novikoff demo: a perceptron learns to read digits, with its ledger printed as it goes."""

from __future__ import annotations

import csv
import io
import math
import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from novikoff.cli.interrupts import InterruptibleCommand

if TYPE_CHECKING:
    import numpy as np

    from novikoff.hypotheses import HypothesisName
    from novikoff.perceptron.ledger import Ledger

_TRAIN = 1297  # of 1,797 digits; the other 500 are the test set
_BETA = 1000.0  # of the margin rule: with it the margin is nearly half of the largest
_HYPOTHESES: tuple[HypothesisName, ...] = ("last", "averaged", "voted", "pocket")

_HEADER = " examples  mistakes  since last   error      |w|  margin at most  theorem allows"


@click.command(cls=InterruptibleCommand)
@click.option(
    "-o",
    "--csv",
    "path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("digits.csv"),
    show_default=True,
    help="Where to write the digits. An existing file that holds something else is left alone.",
)
def demo(path: Path) -> None:
    """Watch a perceptron learn to read handwritten digits.

    Writes scikit-learn's 1,797 digits to a CSV file, learns the first 1,297 of them online, one at a time, and prints
    its ledger as it goes, after 1, 2, 4, 8, ... examples:

    \b
      mistakes         so far, each counted before the update it led to
      since last       mistakes per example since the line above
      margin at most   |w| / mistakes: no half-spaces separate what was seen
                       by more than this, certified by the run itself
      theorem allows   mistakes still to come, at most

    Then it continues until a whole pass makes no mistake, and compares the hypotheses on the 500 test digits.
    """
    from novikoff.estimators.datasets import load_digit_images

    names, X, y = load_digit_images()
    _write_csv(path, names, X, y)
    X, y = _read_csv(path)
    train, test = (X[:_TRAIN], y[:_TRAIN]), (X[_TRAIN:], y[_TRAIN:])
    click.echo(
        f"{path}: {len(X):,} handwritten digits, 8 x 8 pixels each; {_TRAIN:,} to learn, {len(test[0])} to test."
    )

    click.echo("(The first run on a machine compiles its loops; that takes some seconds.)")

    known = _ledger_with_margin(*train)
    click.echo(
        f"\nThe margin rule found weights that separate all {_TRAIN:,} by {known.margin:.4f}; the longest vector is "
        f"{known.radius:.2f}.\nBy Novikoff's theorem a perceptron errs at most (R / margin)^2 = "
        f"{known.mistake_bound:,.0f} times on them, ever."
    )
    click.echo(f"\nOnline: each digit is guessed first, then learned.\n\n{_HEADER}")
    _learn_online(*train, known)
    click.echo(f"\nAgain and again, until a whole pass is clean.\n\n{_HEADER}")
    passes = _learn_until_clean(*train, known)
    click.echo(f"\nPass {passes} made no mistake: every training digit is read correctly.")
    _compare(train, test, passes)
    file, model = (shlex.quote(str(name)) for name in (path, path.with_suffix(".nk")))
    command = _command()
    click.echo(
        f"\nThe digits are in {path}. Next, on them or on a file of yours:\n"
        f"  {command} learn {file} --target digit -o {model}\n"
        f"  {command} certify {file} --target digit --positive 0\n"
        "and in Python:  import novikoff as nk; help(nk.Perceptron)"
    )


def _command() -> str:
    """The name of this command for the shell: its path if it is not on PATH."""
    if shutil.which("novikoff") or os.path.basename(sys.argv[0]) != "novikoff":
        return "novikoff"
    near = os.path.relpath(sys.argv[0])
    return shlex.quote(os.path.abspath(sys.argv[0]) if near.startswith(os.pardir) else near)


def _ledger_with_margin(X: np.ndarray, y: np.ndarray) -> Ledger:
    """A ledger with the radius of the rows, and the margin of weights found by the margin rule."""
    from novikoff import rules
    from novikoff.estimators import Perceptron

    found = Perceptron(rule=rules.Margin(beta=_BETA), order="shuffled", random_state=0, max_iter=100_000).fit(X, y)
    separator = [[b, *w] for b, w in zip(found.intercept_, found.coef_, strict=True)]
    return Perceptron(separator=separator).partial_fit(X, y, classes=found.classes_).ledger_


def _learn_online(X: np.ndarray, y: np.ndarray, known: Ledger) -> None:
    from novikoff.estimators import Perceptron

    model = Perceptron(classes=range(10))
    table = _DemoTable(known)
    for n, (x, digit) in enumerate(zip(X, y.tolist(), strict=True), start=1):
        model.predict_one(x)
        model.learn_one(x, digit)
        if _is_power_of_two(n) or n == len(X):
            table.add_line(model.ledger_)


def _learn_until_clean(X: np.ndarray, y: np.ndarray, known: Ledger) -> int:
    from novikoff.estimators import Perceptron

    model, table = Perceptron(), _DemoTable(known)
    passes, mistakes, is_clean = 0, 0, False
    while not is_clean:
        model.partial_fit(X, y, classes=range(10))
        is_clean = model.ledger_.mistakes == mistakes
        passes, mistakes = passes + 1, model.ledger_.mistakes
        if is_clean or _is_power_of_two(passes):
            table.add_line(model.ledger_)
    return passes


class _DemoTable:
    """A table that grows by a line at a time."""

    def __init__(self, known: Ledger) -> None:
        assert known.mistake_bound is not None
        self.allowed = int(known.mistake_bound)
        self.examples = self.mistakes = 0

    def add_line(self, ledger: Ledger) -> None:
        since = (ledger.mistakes - self.mistakes) / (ledger.examples - self.examples)
        self.examples, self.mistakes = ledger.examples, ledger.mistakes
        click.echo(
            f"{ledger.examples:>9,} {ledger.mistakes:>9,} {since:>11.3f} {ledger.error_rate:>7.3f} {ledger.norm:>8.2f} "
            f"{math.ceil((ledger.margin_at_most or 0.0) * 1e4) / 1e4:>15.4f} {self.allowed - ledger.mistakes:>15,}"
        )


def _is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0


def _compare(train: tuple[np.ndarray, np.ndarray], test: tuple[np.ndarray, np.ndarray], passes: int) -> None:
    from rich.console import Console
    from rich.table import Table

    from novikoff.estimators import Perceptron

    table = Table(title=f"Errors on {len(test[0])} digits not seen before")
    table.add_column("hypothesis")
    for title in ("after 1 pass", f"after {passes} passes"):
        table.add_column(title, justify="right")
    for name in _HYPOTHESES:
        once = Perceptron(hypothesis=name).partial_fit(*train, classes=range(10))
        often = Perceptron(hypothesis=name).fit(*train)
        table.add_row(name, *(f"{1.0 - model.score(*test):.1%}" for model in (once, often)))
    click.echo()
    Console().print(table)


def _write_csv(path: Path, names: list[str], X: np.ndarray, y: np.ndarray) -> None:
    from novikoff.errors import DataError
    from novikoff.system.atomic_files import write_atomic

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["digit", *names])
    writer.writerows([digit, *map(int, pixels)] for digit, pixels in zip(y.tolist(), X.tolist(), strict=True))
    content = text.getvalue().encode()
    if path.exists():
        if not path.is_file() or path.stat().st_size != len(content) or path.read_bytes() != content:
            raise DataError(f"{path} exists and is not the file this demo writes; name another with --csv.")
        return
    write_atomic(path, content)


def _read_csv(path: Path) -> tuple[np.ndarray, np.ndarray]:
    import numpy as np

    table = np.loadtxt(path, delimiter=",", skiprows=1)
    return table[:, 1:] / 16.0, table[:, 0].astype(int)

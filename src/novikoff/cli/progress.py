"""What is to be seen while a model learns: a table that grows, and on a terminal a bar below it."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.data.formats.sources import Source
    from novikoff.perceptron.ledger import Ledger

__all__ = ["Gauge", "Lines", "progress", "say", "tell_of_compiling"]


def say(words: str) -> None:
    """A line on the standard error, above the bar; click.echo would write past rich's stand-in for it, into the bar."""
    print(words, file=sys.stderr, flush=True)


@cache
def tell_of_compiling() -> None:
    """Have it said, on a terminal, why the first run takes some seconds longer than others."""
    if sys.stderr.isatty():
        from novikoff._compiled import before_compiling

        before_compiling(lambda: say("Compiling for this machine: some seconds, once."))


class Lines:
    """The growing table: a line after 1, 2, 4, 8, ... rows."""

    def __init__(self, ledger: Ledger) -> None:
        self.examples, self.mistakes = ledger.examples, ledger.mistakes
        self.shown = -1
        self.began = time.perf_counter()
        self.first = ledger.examples

    def show(self, ledger: Ledger) -> None:
        """One more line."""
        if self.shown < 0:
            say(f"{'rows':>12} {'mistakes':>11} {'since last':>11} {'rate':>8} {'norm |w|':>10}")
        since = (ledger.mistakes - self.mistakes) / max(1, ledger.examples - self.examples)
        self.examples, self.mistakes = ledger.examples, ledger.mistakes
        self.shown = ledger.examples
        say(
            f"{ledger.examples:>12,} {ledger.mistakes:>11,} {since:>11.4f} {ledger.error_rate:>8.4f} "
            f"{ledger.norm:>10.4g}"
        )

    def end(self, ledger: Ledger) -> None:
        """The last line, and how fast it went."""
        if ledger.examples not in (self.shown, self.first):
            self.show(ledger)
        seconds = max(time.perf_counter() - self.began, 1e-9)
        rate = (ledger.examples - self.first) / seconds
        say(f"{ledger.examples - self.first:,} rows in {seconds:.1f} s, {rate:,.0f} rows/s.")


class Gauge:
    """How many bytes of all files have been read, of how many; packed files are counted as they are.

    Attributes
    ----------
    total : int or None
        For all passes; None if one of the files is a pipe.
    """

    def __init__(self, files: Sequence[str], passes: int) -> None:
        sizes = [_size(file) for file in files]
        known = [size for size in sizes if size is not None]
        self.total = sum(known) * passes if len(known) == len(sizes) else None
        self._before = 0
        self._source: Source | None = None

    @classmethod
    def of_rows(cls) -> Gauge:
        """Where only rows can be counted."""
        gauge = cls((), 1)
        gauge.total = None
        return gauge

    def watch(self, source: Source) -> None:
        """Go on with the next source."""
        self._before = self.taken
        self._source = source

    @property
    def taken(self) -> int:
        return self._before + (0 if self._source is None else self._source.taken)


def _size(file: str) -> int | None:
    try:
        facts = os.stat(file)
    except (OSError, ValueError):
        return None
    return facts.st_size if stat.S_ISREG(facts.st_mode) else None


@contextmanager
def progress(gauge: Gauge, *, is_shown: bool = True) -> Iterator[Callable[[int], None]]:
    """Keep a bar below all that is printed, on a terminal; it goes away in the end. Yields what to tell the number of
    rows so far."""
    if not (is_shown and sys.stderr.isatty()):
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import Progress  # costs a tenth of a second

    began = time.perf_counter()
    with Progress(*_columns(gauge), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=gauge.total, rows=0, rate=0.0)

        def show(rows: int) -> None:
            bar.update(task, completed=gauge.taken, rows=rows, rate=rows / (time.perf_counter() - began))

        yield show


def _columns(gauge: Gauge) -> list[Any]:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        SpinnerColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    rows = [TextColumn("{task.fields[rows]:,} rows"), TextColumn("{task.fields[rate]:,.0f} rows/s")]
    if gauge.total is None:
        return [SpinnerColumn(), *rows, TimeElapsedColumn()]
    return [BarColumn(24), TaskProgressColumn(), DownloadColumn(), *rows, TimeRemainingColumn(), TextColumn("left")]

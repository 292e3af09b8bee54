"""Progress on the terminal: lines on the standard error, a growing table, and a bar below it."""

from __future__ import annotations

import math
import os
import stat
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from novikoff.formatting.phrases import pluralize

if TYPE_CHECKING:
    from novikoff.data.formats.sources import Source
    from novikoff.perceptron.ledger import Ledger
    from novikoff.regression.ledger import RegressionLedger

__all__ = ["ByteCounter", "ErrorTable", "LedgerTable", "announce_compilation", "progress", "say", "table_for"]


def say(message: str) -> None:
    """Print a line on the standard error, above the progress bar.

    click.echo would bypass the stream that rich puts in place of the standard error, and write into the bar.
    """
    print(message, file=sys.stderr, flush=True)


@cache
def announce_compilation() -> None:
    """Have a line printed on a terminal when something must be compiled: a first run takes some seconds longer."""
    if sys.stderr.isatty():
        from novikoff._compiled import before_compiling

        before_compiling(lambda: say("Compiling (once on this machine) ..."))


class _GrowingTable(ABC):
    """A table on the standard error that grows by a line at a time.

    Attributes
    ----------
    first : int
        How many examples the ledger had at the beginning.
    """

    headings: str

    def __init__(self, ledger: Any) -> None:
        from novikoff._compiled import compile_seconds, working_time

        self.first = ledger.examples
        self._before = ledger  # as it was at the last line
        self._last = -1  # examples in the last line
        self._began, self._compiled_before = working_time(), compile_seconds()

    @abstractmethod
    def format_line(self, ledger: Any, before: Any) -> str:
        """The figures of a ledger, and those since it was as before."""

    def add_line(self, ledger: Any) -> None:
        """Print the figures of a ledger, below the headings if it is the first line."""
        if self._last < 0:
            say(self.headings)
        say(self.format_line(ledger, self._before))
        self._before, self._last = ledger, ledger.examples

    def finish(self, ledger: Any) -> None:
        """Print the last line, and how many rows were learned per second, apart from compiling."""
        from novikoff._compiled import compile_seconds, working_time

        if ledger.examples not in (self._last, self.first):
            self.add_line(ledger)
        seconds = max(working_time() - self._began, 1e-9)
        rate = (ledger.examples - self.first) / seconds
        compiling = compile_seconds() - self._compiled_before
        apart = f", besides {compiling:.1f} s of compiling" if compiling >= 0.05 else ""
        say(f"{pluralize(ledger.examples - self.first, 'row')} in {seconds:.1f} s, {rate:,.0f} rows/s{apart}.")


class LedgerTable(_GrowingTable):
    """The mistakes of a run."""

    headings = f"{'rows':>12} {'mistakes':>11} {'since last':>11} {'rate':>8} {'norm |w|':>10}"

    def format_line(self, ledger: Ledger, before: Ledger) -> str:
        since = (ledger.mistakes - before.mistakes) / max(1, ledger.examples - before.examples)
        return (
            f"{ledger.examples:>12,} {ledger.mistakes:>11,} {since:>11.4f} {ledger.error_rate:>8.4f} "
            f"{ledger.norm:>10.4g}"
        )


class ErrorTable(_GrowingTable):
    """The errors of a run of regression, and those of the mean of the targets so far."""

    headings = f"{'rows':>12} {'RMSE':>11} {'since last':>11} {'of mean':>11} {'R^2':>8}"

    def format_line(self, ledger: RegressionLedger, before: RegressionLedger) -> str:
        if ledger.examples < 2:  # nothing to predict the first row from
            return f"{ledger.examples:>12,}"
        rows = max(1, ledger.examples - max(1, before.examples))
        since = math.sqrt(max(0.0, ledger.squared_error - before.squared_error) / rows)
        r2 = "" if math.isnan(ledger.r2) else f"{ledger.r2:>8.4f}"
        return f"{ledger.examples:>12,} {ledger.rmse:>11.5g} {since:>11.5g} {ledger.rmse_of_mean:>11.5g} {r2}".rstrip()

    def finish(self, ledger: RegressionLedger) -> None:
        super().finish(ledger)
        if not math.isnan(ledger.r2):
            say(
                f"RMSE {ledger.rmse:.5g}, each row predicted before it was learned from; predicting the mean of the "
                f"targets before it has {ledger.rmse_of_mean:.5g}: R^2 {ledger.r2:.4f}."
            )


def table_for(ledger: Ledger | RegressionLedger) -> _GrowingTable:
    """A table for the ledger of a model."""
    return LedgerTable(ledger) if hasattr(ledger, "mistakes") else ErrorTable(ledger)


class ByteCounter:
    """How many bytes of all files have been read, and how many there are; those of compressed files as they are stored.

    Attributes
    ----------
    total : int or None
        For all passes; None if one of the files is a pipe.
    """

    def __init__(self, files: Sequence[str], passes: int) -> None:
        sizes = [_file_size(file) for file in files]
        known = [size for size in sizes if size is not None]
        self.total = sum(known) * passes if len(known) == len(sizes) else None
        self._before = 0
        self._source: Source | None = None

    @classmethod
    def unknown(cls) -> ByteCounter:
        """A counter for work of which only rows can be counted."""
        counter = cls((), 1)
        counter.total = None
        return counter

    def follow(self, source: Source) -> None:
        """Count the bytes of the next source."""
        self._before = self.bytes_read
        self._source = source

    @property
    def bytes_read(self) -> int:
        """Of all sources so far."""
        return self._before + (0 if self._source is None else self._source.bytes_read)


def _file_size(file: str) -> int | None:
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return status.st_size if stat.S_ISREG(status.st_mode) else None


@contextmanager
def progress(counter: ByteCounter, *, is_visible: bool = True) -> Iterator[Callable[[int], None]]:
    """Keep a bar below all that is printed on a terminal, and remove it in the end.

    Yields a function that updates the bar; call it with the number of rows so far.
    """
    if not (is_visible and sys.stderr.isatty()):
        yield lambda rows: None
        return
    from rich.console import Console
    from rich.progress import Progress  # takes a tenth of a second to import

    from novikoff._compiled import working_time

    began = working_time()
    with Progress(*_bar_columns(counter), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=counter.total, rows=0, rate=0.0)

        def update(rows: int) -> None:
            bar.update(task, completed=counter.bytes_read, rows=rows, rate=rows / max(working_time() - began, 1e-9))

        yield update


def _bar_columns(counter: ByteCounter) -> list[Any]:
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
    if counter.total is None:
        return [SpinnerColumn(), *rows, TimeElapsedColumn()]
    return [BarColumn(24), TaskProgressColumn(), DownloadColumn(), *rows, TimeRemainingColumn(), TextColumn("left")]

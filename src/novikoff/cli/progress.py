"""Progress on the terminal: lines on the standard error, a growing table, and a bar below it."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from novikoff.data.formats.sources import Source
    from novikoff.perceptron.ledger import Ledger

__all__ = ["ByteCounter", "LedgerTable", "announce_compilation", "progress", "say"]


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


class LedgerTable:
    """A table on the standard error that grows by a line at a time.

    Attributes
    ----------
    first : int
        How many examples the ledger had at the beginning.
    """

    def __init__(self, ledger: Ledger) -> None:
        from novikoff._compiled import compile_seconds, working_time

        self.first = ledger.examples
        self._examples, self._mistakes = ledger.examples, ledger.mistakes
        self._last = -1  # examples in the last line
        self._began, self._compiled_before = working_time(), compile_seconds()

    def add_line(self, ledger: Ledger) -> None:
        """Print the figures of a ledger, below the headings if it is the first line."""
        if self._last < 0:
            say(f"{'rows':>12} {'mistakes':>11} {'since last':>11} {'rate':>8} {'norm |w|':>10}")
        since = (ledger.mistakes - self._mistakes) / max(1, ledger.examples - self._examples)
        self._examples, self._mistakes = ledger.examples, ledger.mistakes
        self._last = ledger.examples
        say(
            f"{ledger.examples:>12,} {ledger.mistakes:>11,} {since:>11.4f} {ledger.error_rate:>8.4f} "
            f"{ledger.norm:>10.4g}"
        )

    def finish(self, ledger: Ledger) -> None:
        """Print the last line, and how many rows were learned per second, apart from compiling."""
        from novikoff._compiled import compile_seconds, working_time

        if ledger.examples not in (self._last, self.first):
            self.add_line(ledger)
        seconds = max(working_time() - self._began, 1e-9)
        rate = (ledger.examples - self.first) / seconds
        compiling = compile_seconds() - self._compiled_before
        apart = f", besides {compiling:.1f} s of compiling" if compiling >= 0.05 else ""
        say(f"{ledger.examples - self.first:,} rows in {seconds:.1f} s, {rate:,.0f} rows/s{apart}.")


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

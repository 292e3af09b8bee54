"""Tables on the standard output, for people and for files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from novikoff.cli.printable import printable

__all__ = ["print_table"]


def print_table(title: str, headings: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """Print a title and a right-aligned table; integers get commas, and no cell is interpreted as markup."""
    import sys

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # rich would cut lines at 80 characters where the output is a file.
    console = Console(width=None if sys.stdout.isatty() else 10_000, highlight=False)
    table = Table(box=None, padding=(0, 1, 0, 2), header_style="italic")
    for heading in headings:
        table.add_column(Text(printable(heading)), justify="right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(f"{cell:,}" if isinstance(cell, int) else printable(cell)) for cell in row))
    console.print(Text(title, style="bold"))
    console.print(table)

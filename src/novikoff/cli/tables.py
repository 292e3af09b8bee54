"""Tables on the standard output, for people and for files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

__all__ = ["print_table"]


def print_table(title: str, headings: Sequence[Any], rows: Iterable[Sequence[Any]]) -> None:
    """A title and a table below it, aligned to the right; numbers get commas, and nothing is taken for markup."""
    import sys

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # Into a file lines may be as long as they are; rich would cut them at 80.
    console = Console(width=None if sys.stdout.isatty() else 10_000, highlight=False)
    table = Table(box=None, padding=(0, 1, 0, 2), header_style="italic")
    for heading in headings:
        table.add_column(Text(_word(heading)), justify="right", overflow="fold")
    for row in rows:
        table.add_row(*(Text(f"{cell:,}" if isinstance(cell, int) else _word(cell)) for cell in row))
    console.print(Text(title, style="bold"))
    console.print(table)


def _word(label: Any) -> str:
    """Without what could play tricks on a terminal."""
    return "".join(c if c.isprintable() else "?" for c in str(label))

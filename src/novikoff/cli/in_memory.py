"""Files held in memory, for commands that go through their rows more than once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.columns_report import ColumnsReport
from novikoff.cli.progress import say
from novikoff.errors import DataError
from novikoff.formatting.phrases import quoted_list

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.data.table_form import TableForm
    from novikoff.selection.in_memory import InMemoryBlocks

__all__ = ["read_in_memory", "require_two_classes", "warn_of_unknown_labels"]


def read_in_memory(
    files: Sequence[str],
    options: dict[str, Any],
    rejects: Path | None = None,
    target: str | None = None,
    form: TableForm | None = None,
) -> InMemoryBlocks:
    """Read files to the end; say what their columns are read as, and which rows were left out.

    Without a known `target` these are rows to learn from: labels that cannot be classes are refused after the first
    block, as `novikoff learn` does.
    """
    from novikoff.cli.learning_report import check_first_block
    from novikoff.selection.in_memory import InMemoryBlocks
    from novikoff.streaming.rejects import RejectLog

    log = RejectLog(rejects, notify=say)
    is_first = target is None

    def check(block: Block) -> None:
        nonlocal is_first
        log.add(block)
        if is_first and len(block):
            check_first_block(block)
            is_first = False

    data = InMemoryBlocks.read(files, options, target=target, form=form, on_open=ColumnsReport().add, on_block=check)
    log.close()
    return data


def require_two_classes(data: InMemoryBlocks) -> None:
    """Raise an error that names --target if all rows have the same label."""
    try:
        data.require_two_classes()
    except DataError as error:
        raise click.ClickException(f"{error} --target names another.") from error


def warn_of_unknown_labels(labels: Sequence[Any]) -> None:
    """Say that test rows have labels that no row to learn from has."""
    if labels:
        say(
            f"The test rows have labels that the others do not: {quoted_list(list(map(str, labels)))}. Each of "
            "these rows counts as an error."
        )

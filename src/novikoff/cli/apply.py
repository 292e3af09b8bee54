"""novikoff predict and novikoff test: a model on rows that it does not learn from."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.options import reading, reading_options

if TYPE_CHECKING:
    import numpy as np

    from novikoff.online import StreamModel
    from novikoff.streams.block import Block


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Where to write the labels.  [default: the standard output]")  # fmt: skip
@reading_options
def predict(model: Path, files: tuple[Path, ...], output: Path | None, **options: Any) -> None:
    """Label the rows of files or a pipe.

    Writes the label that MODEL gives to each row of FILES, a line for each.

    - reads the standard input, and answers rows as they come: tail -f log.svm | novikoff predict mail.nk -
    """
    from novikoff.files import opened_whole
    from novikoff.online import StreamModel

    learned = StreamModel.load(model)
    if output is None:
        for block in _blocks(learned, files, reading(options), target=False):
            click.echo("".join(f"{label}\n" for label in _shown(learned.predict(block))), nl=False)
        return
    with opened_whole(output) as file:
        for block in _blocks(learned, files, reading(options), target=False):
            file.write("".join(f"{label}\n" for label in _shown(learned.predict(block))).encode())


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@reading_options
def test(model: Path, files: tuple[Path, ...], **options: Any) -> None:
    """Count the errors of a model.

    FILES have labels; says on how many rows MODEL errs, and which labels it confuses.
    """
    from collections import Counter

    from novikoff.online import StreamModel

    learned = StreamModel.load(model)
    counts: Counter[tuple[Any, Any]] = Counter()
    for block in _blocks(learned, files, reading(options), target=learned.target):
        assert block.labels is not None
        counts.update(zip(_shown(block.labels), _shown(learned.predict(block)), strict=True))
    _report(counts)


def _blocks(
    learned: StreamModel, files: tuple[Path, ...], options: dict[str, Any], *, target: str | bool | None
) -> Iterator[Block]:
    """All blocks of all files; where tables have no column named for the labels, it is `target`."""
    from novikoff.streams.opening import open_stream

    if learned.takes_tables and target is not None:
        options = {"target": target, **options}
    for file in files:
        with open_stream(os.fspath(file), **options) as reader:
            yield from reader


def _shown(labels: np.ndarray) -> list[Any]:
    """Labels as people write them: a number that is whole without its point."""
    return [int(label) if isinstance(label, float) and label.is_integer() else label for label in labels.tolist()]


def _report(counts: Any) -> None:
    from rich.console import Console
    from rich.table import Table

    rows = sum(counts.values())
    if not rows:
        raise click.ClickException("There are no rows to test on.")
    wrong = sum(count for (true, guess), count in counts.items() if true != guess)
    click.echo(f"{wrong:,} errors on {rows:,} rows, {wrong / rows:.4%}.")
    labels = sorted({label for pair in counts for label in pair}, key=str)
    table = Table(title="rows by label, columns by prediction")
    for heading in ("label", *map(str, labels), "precision", "recall"):
        table.add_column(heading, justify="right")
    for true in labels:
        row = [counts[true, guess] for guess in labels]
        guessed, there = sum(counts[other, true] for other in labels), sum(row)
        shares = (f"{counts[true, true] / n:.4f}" if n else "" for n in (guessed, there))
        table.add_row(str(true), *(f"{count:,}" for count in row), *shares)
    Console().print(table)

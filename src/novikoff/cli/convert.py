"""novikoff convert: write rows in another format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.columns_report import describe_notes
from novikoff.cli.interrupts import InterruptibleCommand
from novikoff.cli.options import drop_unset, files_argument, reading_options
from novikoff.cli.progress import ByteCounter, progress, say

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.data.writing import ConversionResult

# A copy of the choices in novikoff.data.writing, which loads too much for --help.
_FORMATS = ("csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw", "text")
_LISTED = 20  # labels

_EPILOG = """\b
Formats, by the extension of OUTPUT or --to:
  csv tsv          .csv .tsv     a header, the labels in the last column; missing cells are empty
  parquet arrow    .parquet .arrow .feather
                                 doubles and strings, the labels last; missing is null
  jsonl            .jsonl        an object for each row; of a table's missing cells, null
  svmlight         .svm .svmlight .libsvm
                                 numbers by column, from 1; words as column=word, 1 where a row
                                 has it; missing numbers as "column is missing". OUTPUT.names
                                 lists the name of each index
  vw               .vw           column:number, column=word; texts as a namespace of their words;
                                 blanks, | and : in names become _
  text             .txt          label, tab, text: for a table with one column besides the labels
Text may also end in .gz, .bz2, .xz or .zst.

\b
What to expect:
  Numbers are read back as the same doubles. Labels of svmlight and vw are numbers: words become
  0, 1, 2, ... in the order in which they come, and OUTPUT.labels lists them.
  svmlight becomes a table with a column for each index, 0 where a row has no value, and JSON lines
  a table with a column for each name; the files are read twice for that, so a pipe will not do.
  jsonl and vw get only the values that a row has. A name that a row of JSON lines lacks is 0 in
  svmlight and vw, and missing in a table. Vowpal Wabbit's rows may have any number of names, and
  cannot become tables.
  Numbers in disguise, such as 51,257 or $7, become plain ones, dates numbers of seconds since 1970
  (keep them with --dates word), true and false 1 and 0 (keep them with --types flag=word).
  CSV loses some distinctions: a word such as NA or ? is read back as missing, a column of words
  that all look like numbers as numbers (read it with --types zip=word), and blanks around words
  are lost.

\b
Examples:
  novikoff convert train.csv train.svm                    labels in the last column
  novikoff convert train.csv train.vw.gz --target is_spam
  novikoff convert mail.svm mail.parquet
  novikoff convert 'log-*.jsonl' log.parquet              many files into one
  novikoff convert days.csv days.parquet --no-labels      every column is just a column
  zcat log.gz | novikoff convert - - --format vw --to jsonl | head
"""


@click.command(cls=InterruptibleCommand, epilog=_EPILOG)
@files_argument
@click.argument("output", type=click.Path(allow_dash=True))
@click.option(
    "--to",
    metavar="FORMAT",
    type=click.Choice(_FORMATS),
    help=f"What to write: {', '.join(_FORMATS)}.  [default: by the extension]",
)
@click.option("--label", metavar="NAME", help="Name of the labels in OUTPUT.  [default: that in FILES, else label]")
@click.option("--no-labels", is_flag=True, help="FILES have no labels: every column is just a column.")
@click.option(
    "--rejects",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where --bad-rows skip writes the rows it leaves out.  [default: OUTPUT.rejects]",
)
@reading_options
def convert(
    files: list[str],
    output: str,
    to: str | None,
    label: str | None,
    no_labels: bool,
    rejects: Path | None,
    **options: Any,
) -> None:
    """Write rows in another format.

    FILES are read as `novikoff learn` reads them, block by block, and written to OUTPUT, which is replaced whole, or
    not at all if anything goes wrong. - is the standard input or output.
    """
    from novikoff.data.writing import convert as write
    from novikoff.data.writing import format_of
    from novikoff.errors import DataError
    from novikoff.streaming.rejects import RejectLog

    if no_labels and options["target"] is not None:
        raise click.UsageError("--target names a column of labels, and --no-labels says that there is none.")
    try:
        format_of(output, to)
    except DataError as error:
        advice = " Name a format with --to." if to is None else ""
        raise click.UsageError(f"{error}{advice}") from error
    how = {**drop_unset(options), **({"target": False} if no_labels else {})}
    log = RejectLog(rejects or (None if output == "-" else Path(f"{output}.rejects")), notify=say)
    rows = 0
    with progress(ByteCounter.unknown()) as update:

        def note(block: Block) -> None:
            nonlocal rows
            log.add(block)
            rows += len(block)
            update(rows)

        try:
            converted = write(files, output, to=to, label=label, note=note, on_open=_say_notes, **how)
        finally:
            log.close()
    _report(converted, output)


def _say_notes(reader: Any) -> None:
    """Say what numbers in disguise are taken for: they are written as plain numbers."""
    for line in describe_notes(reader):
        say(f"{reader.name}: {line}")


def _report(converted: ConversionResult, output: str) -> None:
    """Say where the names of features and labels are, which svmlight and vw do not hold."""
    if output != "-":
        for extension in converted.side_files:
            click.echo(f"{output}.{extension} has the {extension} of its numbers.", err=True)
        return
    if "names" in converted.side_files:
        click.echo("The names of the features are lost: to keep them, write to a file.", err=True)
    if labels := converted.side_files.get("labels", b"").decode().splitlines():
        more = f" and {len(labels) - _LISTED} more" if len(labels) > _LISTED else ""
        click.echo(f"Labels: {', '.join(label.replace(chr(9), ' is ') for label in labels[:_LISTED])}{more}.", err=True)

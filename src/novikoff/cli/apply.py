"""novikoff predict and novikoff test: a model on rows that it does not learn from."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.options import files_argument, reading, reading_options, rejects_option, require_apart
from novikoff.cli.progress import Gauge, progress
from novikoff.cli.sources import LeftOut, open_for
from novikoff.cli.tables import print_table

if TYPE_CHECKING:
    from novikoff.cli.tested import Outcome
    from novikoff.data.formats.block import Block
    from novikoff.streaming.model import StreamModel

_MATRIX = 12  # labels, at most: a larger matrix is no picture any more
_PAIRS = 10  # the most confused ones, shown instead

_PREDICT_EPILOG = """\b
Examples:
  novikoff predict mail.nk new.csv                     a label for each row
  novikoff predict mail.nk 'new/*.csv' -o labels.txt
  novikoff predict mail.nk new.csv --scores -o out.tsv
  tail -f log.svm | novikoff predict mail.nk -         row by row, as they arrive
"""

_TEST_EPILOG = """\b
Examples:
  novikoff test mail.nk test.csv
  novikoff test mail.nk test.csv --target is_spam      if the labels are in another column
  novikoff test mail.nk test.csv --json                the same for a program
"""


@click.command(epilog=_PREDICT_EPILOG)
@click.argument("model", type=click.Path(path_type=Path))
@files_argument
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the labels.  [default: the standard output]",
)
@click.option(
    "--scores", "with_scores", is_flag=True, help="Write scores too, parted by tabs, below a line that names them."
)
@rejects_option
@reading_options
def predict(
    model: Path, files: list[str], output: Path | None, with_scores: bool, rejects: Path | None, **options: Any
) -> None:
    """Label the rows of files or a pipe.

    Writes the label that MODEL gives to each row of FILES, a line for each; - is the standard input, and a pattern in
    quotes all files that match. A row that --bad-rows skip leaves out has an empty line.

    With --scores each label is followed by what it was decided by. Of two labels the second has a score, and is given
    where that is not below 0; of more each has one, and the highest wins.
    """
    from novikoff.streaming.model import StreamModel
    from novikoff.system.atomic_files import opened_whole

    require_apart({"--output": output, "--rejects": rejects}, [model, *files])
    learned = StreamModel.load(model)
    lines = _lines(learned, _blocks(learned, files, reading(options), rejects, labelled=False), with_scores)
    if output is None:
        for text in lines:
            click.echo(text, nl=False)  # which flushes: who feeds a pipe may be waiting for the answer
        return
    with opened_whole(output) as file:
        for text in lines:
            file.write(text.encode())


def _lines(learned: StreamModel, blocks: Iterator[Block], with_scores: bool) -> Iterator[str]:
    """The answers to each block, as text."""
    from novikoff.cli.tested import shown

    if with_scores:
        yield "\t".join(["label", *(f"score of {label}" for label in _scored(learned))]) + "\n"
    for block in blocks:
        lines = []
        if len(block):
            rows = learned.rows_of(block)
            lines = list(map(str, shown(learned.model.predict(rows).tolist())))
        if with_scores and lines:
            scores = learned.model.scores(rows).reshape(len(block), -1).tolist()
            lines = ["\t".join([label, *map(repr, row)]) for label, row in zip(lines, scores, strict=True)]
        yield "".join(f"{line}\n" for line in _with_gaps(lines, block))


def _with_gaps(lines: list[str], block: Block) -> list[str]:
    """The answers, with an empty line for each row that was left out, so that both files stay side by side."""
    if not block.rejects:
        return lines
    numbered = [*zip(block.lines.tolist(), lines, strict=True), *((reject.line, "") for reject in block.rejects)]
    return [line for _, line in sorted(numbered)]


def _scored(learned: StreamModel) -> list[Any]:
    """The labels that scores speak for: of two the second, which may not have been met yet."""
    from novikoff.cli.tested import shown

    labels = learned.model.labels
    if len(labels) > 2:
        return shown(labels.known)
    first, second = shown(labels.of_code)
    return [f"not {first}" if second is None else second]


@click.command(epilog=_TEST_EPILOG)
@click.argument("model", type=click.Path(path_type=Path))
@files_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@rejects_option
@reading_options
def test(model: Path, files: list[str], as_json: bool, rejects: Path | None, **options: Any) -> None:
    """Count the errors of a model.

    FILES have labels. Says on how many rows MODEL errs, which labels it confuses, and how it would do with the other
    hypotheses that it holds: the last weights, their average, the vote of them all. A label that it has never met
    counts as an error.
    """
    from novikoff.cli.tested import Tester
    from novikoff.streaming.model import StreamModel

    require_apart({"--rejects": rejects}, [model, *files])
    learned = StreamModel.load(model)
    tester = Tester(learned)
    for block in _blocks(learned, files, reading(options), rejects, labelled=True):
        if len(block):
            tester.count(block)
    if not tester.outcome.rows:
        raise click.ClickException("There are no rows to test on.")
    if as_json:
        click.echo(json.dumps(tester.outcome.facts(), indent=2))
    else:
        _report(tester.outcome)


def _blocks(
    learned: StreamModel, files: list[str], options: dict[str, Any], rejects: Path | None, *, labelled: bool
) -> Iterator[Block]:
    """All blocks of all files, and on a terminal a bar of how far it is, unless the answers themselves go there."""
    left_out, gauge, rows = LeftOut(rejects), Gauge(files, 1), 0
    with progress(gauge, is_shown=labelled or not sys.stdout.isatty()) as show:
        for file in files:
            with open_for(learned, file, options, labelled=labelled) as reader:
                gauge.watch(reader.source)
                for block in reader:
                    left_out.note(block)
                    yield block
                    rows += len(block)
                    show(rows)
    left_out.close()


def _report(outcome: Outcome) -> None:
    wrong = outcome.errors[outcome.hypothesis]
    click.echo(f"{wrong:,} errors on {outcome.rows:,} rows, {wrong / outcome.rows:.4%}.")
    if outcome.unknown:
        rows = sum(count for (true, _), count in outcome.counts.items() if true in outcome.unknown)
        click.echo(f"{rows:,} of them have labels that the model has never met, and cannot predict.")
    tables = [_matrix(outcome) if len(outcome.labels) <= _MATRIX else _pairs(outcome), _per_label(outcome)]
    for found in [_comparison(outcome), *tables] if len(outcome.errors) > 1 else tables:
        click.echo()
        print_table(*found)


_Table = tuple[str, list[Any], list[list[Any]]]  # title, headings, rows


def _comparison(outcome: Outcome) -> _Table:
    rows = [
        [name, wrong, f"{wrong / outcome.rows:.4%}", "answers" if name == outcome.hypothesis else ""]
        for name, wrong in outcome.errors.items()
    ]
    return "Hypotheses", ["hypothesis", "errors", "share", ""], rows


def _matrix(outcome: Outcome) -> _Table:
    labels = outcome.labels
    rows = [[str(true), *(outcome.counts[true, guess] for guess in labels)] for true in labels]
    return "Confusion: a row for each label, a column for each prediction", ["label", *labels], rows


def _pairs(outcome: Outcome) -> _Table:
    confused = outcome.confused()
    rows = [[str(true), str(guess), count] for true, guess, count in confused[:_PAIRS]]
    rest = f", the {_PAIRS} most frequent of {len(confused):,} pairs" if len(confused) > _PAIRS else ""
    return f"Confusion{rest}", ["label", "prediction", "rows"], rows


def _per_label(outcome: Outcome) -> _Table:
    rows = []
    for found in outcome.per_label():
        shares = ("" if found[name] is None else f"{found[name]:.4f}" for name in ("precision", "recall", "f1"))
        rows.append([str(found["label"]), found["support"], *shares])
    return "Labels", ["label", "support", "precision", "recall", "F1"], rows

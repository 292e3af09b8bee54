"""novikoff predict and novikoff test: apply a model to rows without learning from them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.interrupts import InterruptibleCommand
from novikoff.cli.options import (
    cluster_option,
    drop_unset,
    files_argument,
    reading_options,
    rejects_option,
    require_distinct_paths,
)
from novikoff.cli.progress import ByteCounter, announce_compilation, progress, say
from novikoff.cli.small_inputs import run_small_inputs_uncompiled
from novikoff.cli.tables import print_table
from novikoff.formatting.phrases import pluralize

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.selection.evaluation import Evaluation
    from novikoff.selection.number_errors import NumberErrors
    from novikoff.streaming.model import StreamModel

_MATRIX = 12  # labels at most; a larger confusion matrix does not fit on a screen
_PAIRS = 10  # the most frequent confusions, printed instead

_PREDICT_EPILOG = """\b
Examples:
  novikoff predict mail.nk new.csv                     a label for each row
  novikoff predict mail.nk 'new/*.csv' -o labels.txt
  novikoff predict mail.nk new.csv --scores -o out.tsv
  novikoff predict mail.nk new.csv --proba             of a model learned with --holdout 0.1
  tail -f log.svm | novikoff predict mail.nk -         row by row, as they arrive
"""

_TEST_EPILOG = """\b
Examples:
  novikoff test mail.nk test.csv
  novikoff test mail.nk test.csv --target is_spam      if the labels are in another column
  novikoff test mail.nk test.csv --json                for a program
"""


@click.command(cls=InterruptibleCommand, epilog=_PREDICT_EPILOG)
@click.argument("model", type=click.Path(path_type=Path))
@files_argument
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Where to write the labels; with --cluster a folder, with a file for each.  [default: the standard output]",
)
@click.option("--scores", "with_scores", is_flag=True, help="Write scores too, separated by tabs, below a header line.")
@click.option("--proba", "with_proba", is_flag=True, help="Write the probability of each label too, likewise.")
@rejects_option
@cluster_option
@reading_options
def predict(
    model: Path,
    files: list[str],
    output: Path | None,
    with_scores: bool,
    with_proba: bool,
    rejects: Path | None,
    cluster: str | None,
    **options: Any,
) -> None:
    """Label the rows of files or a pipe.

    Writes the label, or the number, that MODEL predicts for each row of FILES, one per line; - is the standard input,
    and a pattern in quotes stands for all files that match. A row that --bad-rows skip leaves out has an empty line.

    With --scores each label is followed by the scores that decided it. Of two labels the second has a score, and is
    predicted where that is not below 0; of more than two each has one, and the highest wins.

    With --proba each label is followed by the probabilities of all labels. They were fitted to rows that the model has
    never learned from, which learn --holdout keeps: of two labels a sigmoid of the score (Platt 1999), of more one
    temperature for the softmax of all scores (Guo et al. 2017). The scores still decide, so that of two labels the one
    predicted may have a probability a little below a half.
    """
    run_small_inputs_uncompiled(files, model=model, cluster=cluster)
    from novikoff.cli.model_loading import load_stream_model
    from novikoff.system.atomic_files import open_atomic

    require_distinct_paths({"--output": output, "--rejects": rejects}, [model, *files])
    learned = load_stream_model(model)
    if learned.predicts_numbers and (with_scores or with_proba):
        option = "--scores" if with_scores else "--proba"
        raise click.UsageError(f"{option} is for labels; {model} predicts numbers, which are all it computes.")
    if with_proba and learned.calibration is None:
        raise click.ClickException(
            f"{model} has no probabilities: they are fitted to rows that it has never learned from. Learn it again "
            "with novikoff learn --holdout 0.1, which keeps a tenth of the rows for this."
        )
    if cluster is not None:
        _predict_on_cluster(learned, files, output, cluster, drop_unset(options))
        return
    if output is not None and output.is_dir():
        raise click.UsageError(f"{output} is a folder: name a file, or predict with --cluster.")
    blocks = _blocks(learned, files, drop_unset(options), rejects, labelled=False)
    lines = _lines(learned, blocks, with_scores=with_scores, with_proba=with_proba)
    if output is None:
        for text in lines:
            click.echo(text, nl=False)  # which flushes: the program that feeds a pipe may be waiting for the answer
        return
    with open_atomic(output) as file:
        for text in lines:
            file.write(text.encode())


def _predict_on_cluster(
    learned: StreamModel, files: list[str], output: Path | None, cluster: str, options: dict[str, Any]
) -> None:
    """Write the labels of each file to a file in a folder."""
    from novikoff.cli.cluster import counting, refuse_options
    from novikoff.distributed import predict as predict_files

    refuse_options(["with_scores", "with_proba", "rejects"], "is for one machine: --cluster writes labels alone.")
    if output is None:
        raise click.UsageError("--cluster needs a folder for the labels: -o FOLDER.")
    with counting("Files") as bar:
        written = predict_files(learned, files, output, cluster=cluster, progress=bar, **options)
    say(f"{output}: the labels of {pluralize(len(written), 'file')}.")


def _lines(learned: StreamModel, blocks: Iterator[Block], *, with_scores: bool, with_proba: bool) -> Iterator[str]:
    """The predictions for each block, as text."""
    import numpy as np

    from novikoff.selection.evaluation import plain_labels

    if with_scores or with_proba:
        scored = _labels_with_scores(learned) if with_scores else []
        probable = plain_labels(learned.labels) if with_proba else []
        names = [*(f"score of {label}" for label in scored), *(f"probability of {label}" for label in probable)]
        yield "\t".join(["label", *names]) + "\n"
    for block in blocks:
        lines = []
        if len(block):
            rows = learned.rows_of(block)
            lines = list(map(str, plain_labels(learned.model.predict(rows).tolist())))
        if (with_scores or with_proba) and lines:
            scores = learned.model.scores(rows)
            numbers = [scores.reshape(len(block), -1)] if with_scores else []
            if with_proba and learned.calibration is not None:
                numbers.append(learned.calibration.probabilities(scores))
            columns = np.hstack(numbers).tolist()
            lines = ["\t".join([label, *map(repr, row)]) for label, row in zip(lines, columns, strict=True)]
        yield "".join(f"{line}\n" for line in _with_gaps(lines, block))


def _with_gaps(lines: list[str], block: Block) -> list[str]:
    """The lines, with an empty one for each row that was left out, so that line k still belongs to row k."""
    if not block.rejects:
        return lines
    numbered = [*zip(block.lines.tolist(), lines, strict=True), *((reject.line, "") for reject in block.rejects)]
    return [line for _, line in sorted(numbered)]


def _labels_with_scores(learned: StreamModel) -> list[Any]:
    """The labels that have a score: of two the second, which may not have been learned yet."""
    from novikoff.selection.evaluation import plain_labels

    labels = learned.model.labels
    if len(labels) > 2:
        return plain_labels(labels.known)
    first, second = plain_labels(labels.of_code)
    return [f"not {first}" if second is None else second]


@click.command(cls=InterruptibleCommand, epilog=_TEST_EPILOG)
@click.argument("model", type=click.Path(path_type=Path))
@files_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@rejects_option
@cluster_option
@reading_options
def test(
    model: Path, files: list[str], as_json: bool, rejects: Path | None, cluster: str | None, **options: Any
) -> None:
    """Count the errors of a model.

    FILES have labels. Prints on how many rows MODEL errs, which labels it confuses, and the errors of the other
    hypotheses that it can answer by: the last weights, their average, the vote of them all. A row whose label the model
    has never met counts as an error.

    Of a model that predicts numbers it prints the root of the mean squared error (RMSE), the mean absolute error (MAE),
    and R^2, which compares the squared errors with those of predicting the mean of these rows.
    """
    run_small_inputs_uncompiled(files, model=model, cluster=cluster)
    from novikoff.cli.model_loading import load_stream_model
    from novikoff.streaming.candidates import evaluate
    from novikoff.streaming.regressor import StreamRegressor

    require_distinct_paths({"--rejects": rejects}, [model, *files])
    learned = load_stream_model(model)
    if cluster is not None:
        _report_evaluation(_test_on_cluster(learned, files, cluster, drop_unset(options)), as_json)
        return
    blocks = _blocks(learned, files, drop_unset(options), rejects, labelled=True)
    if isinstance(learned, StreamRegressor):
        _report_number_errors(learned.measure_errors(blocks), as_json)
        return
    _report_evaluation(evaluate(learned, blocks), as_json)


def _test_on_cluster(learned: StreamModel, files: list[str], cluster: str, options: dict[str, Any]) -> Evaluation:
    """Count the errors of a model, each file on one worker."""
    from novikoff.cli.cluster import counting, refuse_options
    from novikoff.distributed import test as test_files

    refuse_options(["rejects"], "is for one machine.")
    with counting("Files") as bar:
        return test_files(learned, files, cluster=cluster, progress=bar, **options)


def _report_evaluation(evaluation: Evaluation, as_json: bool) -> None:
    if not evaluation.rows:
        raise click.ClickException("There are no rows to test on.")
    if as_json:
        click.echo(json.dumps(evaluation.facts(), indent=2))
    else:
        _report(evaluation)


def _blocks(
    learned: StreamModel, files: list[str], options: dict[str, Any], rejects: Path | None, *, labelled: bool
) -> Iterator[Block]:
    """All blocks of all files, with a progress bar on a terminal unless the predictions are printed there."""
    from novikoff.streaming.opening import open_for_model
    from novikoff.streaming.rejects import RejectLog

    announce_compilation()
    log, counter, rows = RejectLog(rejects, notify=say), ByteCounter(files, 1), 0
    with progress(counter, is_visible=labelled or not sys.stdout.isatty()) as update:
        for file in files:
            with open_for_model(learned, file, options, labelled=labelled) as reader:
                counter.follow(reader.source)
                for block in reader:
                    log.add(block)
                    yield block
                    rows += len(block)
                    update(rows)
    log.close()


def _report_number_errors(errors: NumberErrors, as_json: bool) -> None:
    if not errors.rows:
        raise click.ClickException("There are no rows to test on.")
    if as_json:
        click.echo(json.dumps(errors.facts(), indent=2))
        return
    r2 = f"R^2 {errors.r2:.4f}" if errors.r2 == errors.r2 else "no R^2, since all targets are equal"
    click.echo(f"RMSE {errors.rmse:.6g}, MAE {errors.mae:.6g}, {r2} on {errors.rows:,} rows.")
    click.echo(f"Predicting their mean for each of them: RMSE {errors.rmse_of_mean:.6g}.")


def _report(evaluation: Evaluation) -> None:
    wrong = evaluation.errors[evaluation.hypothesis]
    click.echo(f"{wrong:,} errors on {evaluation.rows:,} rows, {wrong / evaluation.rows:.4%}.")
    if evaluation.unknown:
        rows = sum(n for (label, _), n in evaluation.counts.items() if label in evaluation.unknown)
        click.echo(f"{rows:,} of them have labels that the model has never met, and cannot predict.")
    tables = [
        _confusion_matrix(evaluation) if len(evaluation.labels) <= _MATRIX else _confusion_pairs(evaluation),
        _label_table(evaluation),
    ]
    if len(evaluation.errors) > 1:
        tables.insert(0, _hypothesis_table(evaluation))
    for table in tables:
        click.echo()
        print_table(*table)


_Table = tuple[str, list[Any], list[list[Any]]]  # title, headings, rows


def _hypothesis_table(evaluation: Evaluation) -> _Table:
    rows = [
        [name, wrong, f"{wrong / evaluation.rows:.4%}", "answers" if name == evaluation.hypothesis else ""]
        for name, wrong in evaluation.errors.items()
    ]
    return "Hypotheses", ["hypothesis", "errors", "share", ""], rows


def _confusion_matrix(evaluation: Evaluation) -> _Table:
    labels = evaluation.labels
    rows = [[str(label), *(evaluation.counts[label, prediction] for prediction in labels)] for label in labels]
    return "Confusion: a row for each label, a column for each prediction", ["label", *labels], rows


def _confusion_pairs(evaluation: Evaluation) -> _Table:
    confusions = evaluation.confusions()
    rows = [[str(label), str(prediction), n] for label, prediction, n in confusions[:_PAIRS]]
    rest = f", the {_PAIRS} most frequent of {len(confusions):,} pairs" if len(confusions) > _PAIRS else ""
    return f"Confusion{rest}", ["label", "prediction", "rows"], rows


def _label_table(evaluation: Evaluation) -> _Table:
    rows = []
    for scores in evaluation.per_label():
        shares = ("" if scores[name] is None else f"{scores[name]:.4f}" for name in ("precision", "recall", "f1"))
        rows.append([str(scores["label"]), scores["support"], *shares])
    return "Labels", ["label", "support", "precision", "recall", "F1"], rows

"""LearningReport: what `novikoff learn` prints about the rows it learns, and how good the model is."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.columns_report import ColumnsReport
from novikoff.cli.printable import printable
from novikoff.cli.progress import ByteCounter, say
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize
from novikoff.streaming.data_checks import ColumnDoubt, doubtful_columns, likely_targets, require_repeated_labels
from novikoff.streaming.passes import PassObserver
from novikoff.streaming.progressive import ErrorCount, ProgressiveErrors

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.streaming.label_runs import LabelRuns, TargetRuns
    from novikoff.streaming.model import StreamModel
    from novikoff.streaming.row_order import RunOrder, Shuffles
    from novikoff.streaming.session import LearningSession
    from novikoff.streaming.warm_up import WarmUp

__all__ = ["LearningReport", "check_first_block", "print_errors"]


def check_first_block(block: Block) -> None:
    """Raise an error if the labels cannot be classes; say which columns are probably no features."""
    try:
        require_repeated_labels(block)
    except DataError as error:
        are_numbers = block.labels is not None and block.labels.dtype.kind == "f"
        also = " --loss squared predicts numbers." if are_numbers else ""
        likely = likely_targets(block)[:1]
        such = f", such as --target {shlex.quote(printable(likely[0], 40))}" if likely else ""
        raise click.ClickException(f"{error} --target names another{such}.{also}") from error
    for doubt in doubtful_columns(block):
        say(_explain(doubt))


def _explain(doubt: ColumnDoubt) -> str:
    name = printable(doubt.column, 40)
    drop = f"leave it out with --drop {shlex.quote(name)}"
    if doubt.reason == "row number":
        return f'Column "{name}" numbers the rows: {drop}, unless it means something.'
    if doubt.reason == "id":
        why = "has a number of its own for nearly every row, as ids do"
        return f'Column "{name}" {why}: {drop}, unless it means something.'
    return (
        f'Column "{name}" has a new word in nearly every row, from which nothing can be learned: {drop}, '
        f"or take it as text with --types {shlex.quote(f'{name}=text')}."
    )


class LearningReport(PassObserver):
    """Prints what is done with the rows, and in the end what the numbers of mistakes mean.

    Parameters
    ----------
    model : StreamModel
    counter : ByteCounter
        Follows the bytes of each file.
    warm_up : WarmUp
        Told what the rows of each file are like.
    shuffle : {"sorted", "always", "never"}
        Which rows the first pass visits in a random order.

    Attributes
    ----------
    progressive : ProgressiveErrors or None
        Of the first pass; None if the model predicts numbers.
    session : LearningSession
        Set it before the first block is learned.
    """

    session: LearningSession

    def __init__(self, model: StreamModel, counter: ByteCounter, warm_up: WarmUp, shuffle: Shuffles) -> None:
        self.model, self._shuffle = model, shuffle
        self.progressive = None if model.predicts_numbers else ProgressiveErrors(model.model)
        self._counter, self._columns, self._warm_up = counter, ColumnsReport(), warm_up
        self._examples, self._mistakes = model.ledger.examples, getattr(model.ledger, "mistakes", 0)
        self._first_pass: ErrorCount | None = None
        self._is_sorted = False
        self._long_runs: LabelRuns | TargetRuns | None = None

    def on_open(self, reader: Any) -> None:
        self._counter.follow(reader.source)
        self._columns.add(reader)
        self._warm_up.expect(reader)

    def on_notice(self, message: str) -> None:
        say(message)

    def on_order(self, order: RunOrder) -> None:
        why = "Passes after the first are"
        if order.is_first_shuffled:
            why = "The rows are" if self._shuffle == "always" else "The rows come sorted by label, and are"
        how = f" {order.parts} parts one after another, since they do not fit in memory," if order.parts > 1 else ""
        say(f"{why} learned in a random order,{how} with seed {order.seed}; --shuffle never keeps the order.")

    def on_sorted(self, runs: LabelRuns | TargetRuns) -> None:
        self._is_sorted = True
        rows = f"the first {runs.n_rows:,} rows"
        what = f"{rows} all have one label" if len(runs.labels) == 1 else f"{rows} come sorted by label"
        say(
            f"{what[0].upper()}{what[1:]}. If all rows come sorted, the rates below mean nothing: shuffle them first, "
            "or give a file by its name instead of a pipe."
        )

    def on_long_runs(self, runs: LabelRuns | TargetRuns) -> None:
        self._long_runs = runs

    def on_pass_end(self, k: int) -> None:
        if k == 0 and self.progressive is not None:
            self._first_pass = self._count_mistakes()
            self.session.progressive = None

    def _count_mistakes(self) -> ErrorCount:
        ledger = self.model.ledger
        return ErrorCount(ledger.mistakes - self._mistakes, ledger.examples - self._examples)

    def print_mistakes(self) -> None:
        """Print the mistakes over the first pass and over its last tenth, and say what they are."""
        if self.progressive is None:
            return
        count = self._first_pass or self._count_mistakes()
        if not count.rows:
            return
        say(f"Mistakes while learning: {count}; each row was predicted before it was learned from.")
        recent = self.progressive.recent
        if recent is not None:
            say(f"Mistakes {self._of_what_answers()} at the end of the pass: {recent}.")
        self._print_leader()
        if self._is_sorted:
            say("The rows seemed to be sorted by label: these rates say nothing about other rows.")
        elif self._long_runs is not None:
            say(
                f"The labels came in {self._long_runs.n_runs:,} runs; in a random order there would be about "
                f"{self._long_runs.expected_runs:,.0f}. Unless new rows will come in such runs too, these rates say "
                "nothing about them: shuffle the rows, as --shuffle always does with files."
            )

    def _of_what_answers(self) -> str:
        learner = self.model.model.learner
        if self.model.ledger.candidates:
            return "of the vote"
        return f"of the {type(learner.hypothesis).__name__.lower()} weights, which answer,"

    def _print_leader(self) -> None:
        """Print which of the learners that vote leads, and the bound that follows from its mistakes."""
        ledger = self.model.ledger
        best = ledger.best_candidate
        if best is not None:
            say(
                f"Of the {len(ledger.candidates)} learners that vote, {best.name} has the fewest mistakes: "
                f"{best.mistakes:,}. By theorem the vote made at most {ledger.vote_bound:,.0f}."
            )

    def calibrate(self, blocks: Iterator[Block]) -> None:
        """Fit the probabilities of labels to rows that were not learned, or say why that is impossible."""
        from novikoff.streaming.calibrating import calibrate

        try:
            calibrate(self.model, blocks)
        except DataError as error:
            say(f"No probabilities for predict --proba: {error}")


def print_errors(model: StreamModel, name: str, blocks: Iterator[Block]) -> None:
    """Print the errors on rows that were not learned."""
    from novikoff.streaming.candidates import evaluate
    from novikoff.streaming.regressor import StreamRegressor

    if isinstance(model, StreamRegressor):
        errors = model.measure_errors(blocks)
        say(f"{name}, never learned from: RMSE {errors.rmse:.5g} on {pluralize(errors.rows, 'row')}.")
        return
    evaluation = evaluate(model, blocks)
    if not evaluation.rows:
        say(f"{name}: there are no rows to test on.")
        return
    count = ErrorCount(evaluation.errors[evaluation.hypothesis], evaluation.rows)
    say(f"{name}, never learned from: {count} wrong.")

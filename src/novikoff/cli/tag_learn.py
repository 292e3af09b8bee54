"""novikoff tag learn: train a tagger on files with tags."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from novikoff.cli.interrupts import DeferredInterrupts, Interrupted, RecordingCommand, without_options
from novikoff.cli.options import require_distinct_paths, require_replaceable, require_writable
from novikoff.cli.progress import say
from novikoff.cli.tag_files import (
    BadSentences,
    ColumnLayout,
    Corpus,
    column_options,
    load_tagger,
    read_blocks,
    read_corpus,
    warn_of_one_tag,
)
from novikoff.errors import NovikoffError
from novikoff.formatting.phrases import pluralize

if TYPE_CHECKING:
    from novikoff.structured import SequenceTagger
    from novikoff.structured.evaluation import TaggingEvaluation
    from novikoff.structured.sentence_files import FileColumns

__all__ = ["learn"]

_MODEL_OPTIONS = ("templates", "hypothesis", "markov_order", "beam", "constraints", "hash_bits", "seed")
_SCHEMES = ("bio", "iob1", "ioe1", "ioe2", "bilou")
_CHECKPOINT = 60.0  # seconds between two checkpoints


@click.command(cls=RecordingCommand)
@click.argument("files", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="MODEL",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the model.",
)
@click.option(
    "--from",
    "start",
    metavar="MODEL",
    type=click.Path(path_type=Path),
    help="Continue from this model; its templates and search stay as they are.",
)
@click.option(
    "--templates",
    default="pos",
    show_default=True,
    metavar="SET|FILE",
    help="pos, chunk or ner, or a file of templates; files of CRF++ are accepted.",
)
@click.option("--dev", metavar="FILE", help="Evaluate each pass on this file, and keep the best.")
@click.option("--passes", type=click.IntRange(1), default=10, show_default=True, help="Number of passes.")
@click.option(
    "--stream",
    is_flag=True,
    help="Read the files again in each pass, in their order, instead of keeping the sentences in memory and shuffling "
    "them.",
)
@click.option(
    "--hypothesis",
    type=click.Choice(["averaged", "last"]),
    default="averaged",
    show_default=True,
    help="Which weights predict: the mean of all, or the last.",
)
@click.option(
    "--markov-order",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="On how many previous tags the score of a tag depends.",
)
@click.option(
    "--beam",
    type=click.IntRange(1),
    metavar="WIDTH",
    help="Beam search with this many prefixes, instead of exact search.",
)
@click.option(
    "--constraints", type=click.Choice(_SCHEMES), help="Predict only tags that are valid spans of this scheme."
)
@click.option(
    "--bad-sentences",
    type=click.Choice(["stop", "skip"]),
    default="stop",
    show_default=True,
    help="What to do with a sentence whose tags --constraints forbids.",
)
@click.option("--hash-bits", type=click.IntRange(1, 30), help="At most 2^BITS features, which then have no names.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Seed of the shuffling.")
@column_options
def learn(
    files: tuple[str, ...],
    output: Path,
    start: Path | None,
    dev: str | None,
    passes: int,
    stream: bool,
    format: str | None,
    column: str | None,
    columns: str | None,
    use: str | None,
    bad_sentences: str,
    **chosen: Any,
) -> None:
    """Learn a tagger from files with tags.

    Reports for each pass the number of sentences with mistakes, and with --dev the accuracy on that file; the best pass
    is kept. With --stream, memory does not grow with the files. Ctrl-C leaves a model to continue from.
    """
    if stream and "-" in files and passes > 1:
        raise click.UsageError("A pipe can be read once: use --passes 1, or leave out --stream.")
    require_writable(output)
    require_distinct_paths({"--output": output}, [*files, *([dev] if dev else [])])
    require_replaceable(output)
    tagger = _make_tagger(start, chosen)
    if start is not None:
        use = use or ",".join(tagger.columns_)
    if bad_sentences == "skip" and tagger.constraints is None:
        raise click.UsageError("--bad-sentences skip needs a scheme by which tags are bad: --constraints.")
    choices = {"column": column, "columns": columns, "use": use, "known": tagger.files}
    tagger.max_iter = passes
    held_out = None if dev is None else read_corpus([dev], format, **choices)
    run = _TrainingRun(tagger, output, held_out, is_new=start is None, files=tagger.files if column is None else None)
    run.bad = BadSentences(tagger.constraints, skip=bad_sentences == "skip")
    if stream:
        results = run.learn_from_stream(files, passes, format, choices)
    else:
        results = run.learn_in_memory(files, format, choices)
    run.run_passes(results, passes)


def _make_tagger(start: Path | None, chosen: dict[str, Any]) -> SequenceTagger:
    """Return a new tagger, or the one to continue from, whose options cannot be changed."""
    from novikoff.structured import SequenceTagger

    if start is None:
        return SequenceTagger(chosen.pop("templates"), random_state=chosen.pop("seed"), **chosen)
    ctx = click.get_current_context()
    given = [name for name in chosen if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if given:
        raise click.UsageError(f"--{given[0].replace('_', '-')} is for a new tagger; {start} keeps its own.")
    return load_tagger(start, "learn")


class _TrainingRun:
    """Learns pass by pass, reports on each, and writes the model."""

    def __init__(
        self,
        tagger: SequenceTagger,
        output: Path,
        held_out: tuple[ColumnLayout, Corpus] | None,
        *,
        is_new: bool,
        files: FileColumns | None,
    ) -> None:
        self.tagger, self.output, self.held_out, self.is_new = tagger, output, held_out, is_new
        self.deferred = DeferredInterrupts()
        self.done = 0  # passes
        self.files = files
        self.bad = BadSentences(tagger.constraints, skip=False)
        self.best, self.best_score = 0, -1.0  # the best of them on the sentences held out
        self.began = self.saved = time.monotonic()

    def learn_in_memory(
        self, files: tuple[str, ...], format: str | None, choices: dict[str, Any]
    ) -> Iterator[tuple[int, int]]:
        """Read all sentences once and learn from them; yield the mistakes of each pass, and its number of sentences."""
        layout, (X, y) = read_corpus(files, format, bad=self.bad, **choices)
        self._apply_layout(layout)
        self.bad.report()
        warn_of_one_tag(layout, chain.from_iterable(y))
        n = len(X)
        counts = f"{pluralize(n, 'sentence')}, {pluralize(sum(map(len, X)), 'token')}"
        say(f"{counts}; tags in column {layout.tag_name}, templates use {', '.join(layout.used_names)}.")
        mistakes = self.tagger.passes(X, y, go_on=not self.is_new)
        del X, y
        while True:
            with self.deferred:
                found = next(mistakes, None)
            if found is None:
                return
            yield found, n

    def learn_from_stream(
        self, files: tuple[str, ...], passes: int, format: str | None, choices: dict[str, Any]
    ) -> Iterator[tuple[int, int]]:
        """Read the files in each pass and learn block by block; yield the mistakes of each pass, and its number of
        sentences."""
        for number in range(passes):
            mistakes = examples = 0
            for layout, (X, y) in read_blocks(files, format, bad=self.bad, **choices):
                if not X:
                    continue
                self._apply_layout(layout)
                before = self.tagger.ledger_.mistakes if self.tagger.is_fitted else 0
                with self.deferred:
                    self.tagger.partial_fit(X, y)
                mistakes, examples = mistakes + self.tagger.ledger_.mistakes - before, examples + len(X)
                self._save_checkpoint()
            if not examples:
                raise click.ClickException(f"{layout.file}: the tags of all sentences break the scheme.")
            if number == 0:
                self.bad.report()
                warn_of_one_tag(layout, self.tagger.tags_)
            yield mistakes, examples

    def _apply_layout(self, layout: ColumnLayout) -> None:
        """Set the columns of a new tagger; raise an error if they are not those of the sentences held out."""
        self.files = self.files or layout.file_columns
        if self.is_new and self.tagger.columns is None:
            self.tagger.columns = tuple(layout.used_names)
        if self.held_out is not None and self.held_out[0].used_names != layout.used_names:
            raise click.ClickException(f"{self.held_out[0].file}: its columns are not those of {layout.file}.")

    def run_passes(self, results: Iterator[tuple[int, int]], passes: int) -> None:
        """Run all passes, or as many as possible, and write the model."""
        stop: BaseException | None = None
        try:
            with self.deferred:
                for mistakes, sentences in results:
                    self.done += 1
                    self._report_pass(mistakes, sentences)
        except KeyboardInterrupt as interrupt:
            stop = interrupt
        except NovikoffError as error:
            if not self._has_learned():
                raise
            stop = error
        if not self._has_learned():
            raise Interrupted(f"Stopped. Nothing was learned, and {self.output} was not written.")
        if not self.best:
            self._save()
        if stop is not None:
            raise self._explain_stop(stop, passes)
        kept = f"Pass {self.best} is kept. " if self.best else ""
        tags = pluralize(len(self.tagger.tags_), "tag")
        say(f"{kept}{self.output}: {tags}, {self.output.stat().st_size / 1e6:.1f} MB.")

    def _has_learned(self) -> bool:
        """Return whether anything was learned."""
        return self.done > 0 or (self.tagger.is_fitted and self.tagger.ledger_.passes > 0)

    def _report_pass(self, mistakes: int, sentences: int) -> None:
        """Print a line for a pass, and write the model if it is the best so far."""
        from novikoff.structured.evaluation import evaluate_tagger

        if self.done == 1:
            say(f"{'pass':>5} {'mistakes':>9} {'rate':>8} {'seconds':>8}" + ("" if self.held_out is None else "  dev"))
        seconds = time.monotonic() - self.began
        line = f"{self.done:>5} {mistakes:>9,} {mistakes / sentences:>8.4f} {seconds:>8.1f}"
        if self.held_out is not None:
            evaluation = evaluate_tagger(self.tagger, *self.held_out[1])
            score = evaluation.accuracy if evaluation.f1 is None else evaluation.f1
            line += f"  {_format_scores(evaluation)}"
            if score > self.best_score:
                self.best, self.best_score = self.done, score
                self._save()
        else:
            self._save_checkpoint()
        say(line)

    def _save(self) -> None:
        self.tagger.files = self.files
        self.tagger.save(self.output)

    def _save_checkpoint(self) -> None:
        if self.held_out is None and time.monotonic() - self.saved > _CHECKPOINT:
            self._save()
            self.saved = time.monotonic()

    def _explain_stop(self, stop: BaseException, passes: int) -> click.ClickException:
        """Return the error for a run that ended early: what is in the model file, and how to continue."""
        import shlex

        left = max(1, passes - (self.best or self.done))
        arguments = without_options(RecordingCommand.arguments(), [*_MODEL_OPTIONS, "passes", "from"])
        again = shlex.join(["novikoff", "tag", "learn", *arguments, "--passes", str(left), "--from", str(self.output)])
        what = f"the best pass, {self.best}" if self.best else "what was learned so far"
        if isinstance(stop, NovikoffError):
            return click.ClickException(
                f"{stop}\n{self.output} has {what}; to continue after correcting it:\n  {again}"
            )
        done = f"after {self.done:,} of {passes:,} {'pass' if passes == 1 else 'passes'}"
        return Interrupted(f"Stopped. {self.output} has {what}, {done}; to continue:\n  {again}")


def _format_scores(evaluation: TaggingEvaluation) -> str:
    f1 = "" if evaluation.f1 is None else f", span F1 {evaluation.f1:.2%}"
    return f"accuracy {evaluation.accuracy:.2%}{f1}"

"""novikoff tag learn: from files with tags to a tagger."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from novikoff.cli.interrupts import Interrupted, InterruptedBetween, Remembering, without
from novikoff.cli.options import require_apart, require_replaceable, require_writable
from novikoff.cli.progress import say
from novikoff.cli.tag_files import Corpus, Layout, column_options, load_tagger, parts_of, read_all
from novikoff.errors import NovikoffError

if TYPE_CHECKING:
    from novikoff.structured import SequenceTagger
    from novikoff.structured.evaluation import Outcome
    from novikoff.structured.sentence_files import FileColumns

__all__ = ["learn"]

_OF_THE_MODEL = ("templates", "hypothesis", "markov_order", "beam", "constraints", "hash_bits", "seed")
_SCHEMES = ("bio", "iob1", "ioe1", "ioe2", "bilou")
_CHECKPOINT = 60.0  # seconds between two times of writing the model


@click.command(cls=Remembering)
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
    help="Go on from this model; templates and search are its own.",
)
@click.option(
    "--templates",
    default="pos",
    show_default=True,
    metavar="SET|FILE",
    help="pos, chunk or ner, or a file with templates, also of CRF++.",
)
@click.option("--dev", metavar="FILE", help="Score each pass on this file, and keep the best.")
@click.option("--passes", type=click.IntRange(1), default=10, show_default=True, help="How often to go through.")
@click.option(
    "--stream",
    is_flag=True,
    help="Read the files anew in each pass, in their order, instead of keeping the "
    "sentences in memory and shuffling them.",
)
@click.option(
    "--hypothesis",
    type=click.Choice(["averaged", "last"]),
    default="averaged",
    show_default=True,
    help="Which weights answer.",
)
@click.option(
    "--markov-order",
    type=click.IntRange(1, 2),
    default=1,
    show_default=True,
    help="How many tags before have a say in the next one.",
)
@click.option(
    "--beam",
    type=click.IntRange(1),
    metavar="WIDTH",
    help="Keep so many beginnings of a sentence, instead of all that may turn out best.",
)
@click.option("--constraints", type=click.Choice(_SCHEMES), help="Give only tags that are spans of this scheme.")
@click.option("--hash-bits", type=click.IntRange(1, 30), help="At most 2^BITS features, which then have no names.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of the shuffling.")
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
    **chosen: Any,
) -> None:
    """Learn a tagger from files with tags.

    Says for each pass in how many sentences it made mistakes, and with --dev how good the tagger is by then; the best
    pass is kept. With --stream memory does not grow with the files. Ctrl-C leaves a model to go on from.
    """
    if stream and "-" in files and passes > 1:
        raise click.UsageError("A pipe can be read once: give --passes 1, or leave out --stream.")
    require_writable(output)
    require_apart({"--output": output}, [*files, *([dev] if dev else [])])
    require_replaceable(output)
    tagger = _tagger(start, chosen)
    if start is not None:
        use = use or ",".join(tagger.columns_)
    choices = {"column": column, "columns": columns, "use": use, "known": tagger.files}
    tagger.max_iter = passes
    held_out = None if dev is None else read_all([dev], format, **choices)
    run = _Run(tagger, output, held_out, is_new=start is None, files=tagger.files if column is None else None)
    run.go(run.in_passes(files, passes, format, choices) if stream else run.in_memory(files, format, choices), passes)


def _tagger(start: Path | None, chosen: dict[str, Any]) -> SequenceTagger:
    """A new tagger, or the one to go on from, which has been chosen already."""
    from novikoff.structured import SequenceTagger

    if start is None:
        return SequenceTagger(chosen.pop("templates"), random_state=chosen.pop("seed"), **chosen)
    ctx = click.get_current_context()
    given = [name for name in chosen if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    if given:
        raise click.UsageError(f"--{given[0].replace('_', '-')} is for a new tagger; {start} keeps its own.")
    return load_tagger(start, "learn")


class _Run:
    """Learns pass by pass, says how it goes, and sees to it that the model is written."""

    def __init__(
        self,
        tagger: SequenceTagger,
        output: Path,
        held_out: tuple[Layout, Corpus] | None,
        *,
        is_new: bool,
        files: FileColumns | None,
    ) -> None:
        self.tagger, self.output, self.held_out, self.is_new = tagger, output, held_out, is_new
        self.whole = InterruptedBetween()
        self.done = 0  # passes
        self.files = files
        self.best, self.best_score = 0, -1.0  # of them, by what is held out
        self.began = self.saved = time.monotonic()

    def in_memory(
        self, files: tuple[str, ...], format: str | None, choices: dict[str, Any]
    ) -> Iterator[tuple[int, int]]:
        """Learn from all sentences, read once; yields the mistakes of each pass, and how many sentences it had."""
        layout, (X, y) = read_all(files, format, constraints=self.tagger.constraints, **choices)
        self._fit_in(layout)
        n = len(X)
        say(
            f"{n:,} sentences, {sum(map(len, X)):,} tokens; tags in column {layout.tag_name}, templates see "
            f"{', '.join(layout.used_names)}."
        )
        mistakes = self.tagger.passes(X, y, go_on=not self.is_new)
        del X, y
        while True:
            with self.whole:
                found = next(mistakes, None)
            if found is None:
                return
            yield found, n

    def in_passes(
        self, files: tuple[str, ...], passes: int, format: str | None, choices: dict[str, Any]
    ) -> Iterator[tuple[int, int]]:
        """The same, reading the files in each pass, so that they need not fit into memory."""
        for _ in range(passes):
            mistakes = examples = 0
            for layout, (X, y) in parts_of(files, format, constraints=self.tagger.constraints, **choices):
                self._fit_in(layout)
                before = self.tagger.ledger_.mistakes if self.tagger.is_fitted else 0
                with self.whole:
                    self.tagger.partial_fit(X, y)
                mistakes, examples = mistakes + self.tagger.ledger_.mistakes - before, examples + len(X)
                self._save_now_and_then()
            yield mistakes, examples

    def _fit_in(self, layout: Layout) -> None:
        """Refuse files whose columns are not those of the tagger or of what is held out."""
        self.files = self.files or layout.remembered
        if self.is_new and self.tagger.columns is None:
            self.tagger.columns = tuple(layout.used_names)
        if self.held_out is not None and self.held_out[0].used_names != layout.used_names:
            raise click.ClickException(f"{self.held_out[0].file}: its columns are not those of {layout.file}.")

    def go(self, results: Iterator[tuple[int, int]], passes: int) -> None:
        """Go through all passes, or as many as there can be."""
        stop: BaseException | None = None
        try:
            with self.whole:
                for mistakes, sentences in results:
                    self.done += 1
                    self._tell(mistakes, sentences)
        except KeyboardInterrupt as asked:
            stop = asked
        except NovikoffError as error:
            if not self._has_learned():
                raise
            stop = error
        if not self._has_learned():
            raise Interrupted("Stopped before anything was learned.")
        if not self.best:
            self._save()
        if stop is not None:
            raise self._stopped(stop, passes)
        kept = f"Pass {self.best} is kept. " if self.best else ""
        say(f"{kept}{self.output}: {len(self.tagger.tags_)} tags, {self.output.stat().st_size / 1e6:.1f} MB.")

    def _has_learned(self) -> bool:
        """Whether there is more to keep than there was."""
        return self.done > 0 or (self.tagger.is_fitted and self.tagger.ledger_.passes > 0)

    def _tell(self, mistakes: int, sentences: int) -> None:
        """A line for a pass; the model is written if it is the best so far."""
        from novikoff.structured.evaluation import outcome_of

        if self.done == 1:
            say(f"{'pass':>5} {'mistakes':>9} {'rate':>8} {'seconds':>8}" + ("" if self.held_out is None else "  dev"))
        seconds = time.monotonic() - self.began
        line = f"{self.done:>5} {mistakes:>9,} {mistakes / sentences:>8.4f} {seconds:>8.1f}"
        if self.held_out is not None:
            found = outcome_of(self.tagger, *self.held_out[1])
            score = found.accuracy if found.f1 is None else found.f1
            line += f"  {_scores(found)}"
            if score > self.best_score:
                self.best, self.best_score = self.done, score
                self._save()
        else:
            self._save_now_and_then()
        say(line)

    def _save(self) -> None:
        self.tagger.files = self.files
        self.tagger.save(self.output)

    def _save_now_and_then(self) -> None:
        if self.held_out is None and time.monotonic() - self.saved > _CHECKPOINT:
            self._save()
            self.saved = time.monotonic()

    def _stopped(self, stop: BaseException, passes: int) -> click.ClickException:
        """What to say when it ended before the end, but not in vain."""
        import shlex

        left = max(1, passes - (self.best or self.done))
        words = without(Remembering.words(), [*_OF_THE_MODEL, "passes", "from"])
        again = shlex.join(["novikoff", "tag", "learn", *words, "--passes", str(left), "--from", str(self.output)])
        what = f"the best pass, {self.best}" if self.best else "what was learned so far"
        if isinstance(stop, NovikoffError):
            return click.ClickException(f"{stop}\n{self.output} has {what}; to go on then:\n  {again}")
        return Interrupted(
            f"Stopped after {self.done} of {passes} passes. {self.output} has {what}; to go on:\n  {again}"
        )


def _scores(found: Outcome) -> str:
    f1 = "" if found.f1 is None else f", span F1 {found.f1:.2%}"
    return f"accuracy {found.accuracy:.2%}{f1}"

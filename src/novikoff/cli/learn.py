"""novikoff learn: from files or a pipe to a model, in one pass or a few."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from novikoff.cli.interrupts import Interrupted, InterruptedBetween, Remembering, without
from novikoff.cli.options import (
    HYPOTHESES,
    RULES,
    Duration,
    feature_options,
    files_argument,
    reading,
    reading_options,
    require_apart,
    require_replaceable,
    require_writable,
)
from novikoff.cli.progress import Gauge, Lines, progress, say
from novikoff.cli.sources import Columns, LeftOut, open_for
from novikoff.errors import NovikoffError
from novikoff.formatting.phrases import counted

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.streaming.model import StreamModel

_EPILOG = """\b
Examples:
  novikoff learn train.svm -o mail.nk                       one pass, online
  novikoff learn train.csv --target is_spam -o mail.nk      a table with a header
  novikoff learn 'logs/*.csv' --types zip=word -o logs.nk   many files, in order of their names
  novikoff learn more.csv --from mail.nk -o mail.nk         go on where it stopped
  novikoff learn train.csv --from mail.nk -o mail.nk --resume
                                                            after Ctrl-C: only the rows not read yet
  novikoff learn sms.txt --char-ngrams 2-5 -o sms.nk        lines of label<TAB>text
  novikoff learn ads.vw --passes 5 --hash-bits 22 --plot run.png -o ads.nk
  zcat log.gz | novikoff learn - -o log.nk
"""

_OF_THE_MODEL = ("rule", "hypothesis", "no_intercept", "no_scale", "hash_bits", "ngrams", "char_ngrams")


@click.command(cls=Remembering, epilog=_EPILOG)
@files_argument
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
    help="Go on from this model; rule and hypothesis are its own.",
)
@click.option("--resume", is_flag=True, help="With --from: pass over the rows of these files that it has read.")
@click.option("--rule", type=click.Choice(RULES), default="perceptron", show_default=True, help="How far to move.")
@click.option(
    "--hypothesis", type=click.Choice(HYPOTHESES), default="averaged", show_default=True, help="Which weights answer."
)
@click.option("--no-intercept", is_flag=True, help="No constant besides the columns.")
@feature_options
@click.option("--passes", type=click.IntRange(1), default=1, show_default=True, help="How often to read the files.")
@click.option(
    "--rejects",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where --bad-rows skip puts the rows it left out.  [default: MODEL.rejects]",
)
@click.option(
    "--checkpoint",
    metavar="TIME",
    type=Duration(),
    default="60s",
    show_default=True,
    help="How often to write the model while learning: 90 or 90s, 5m, 2h.",
)
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Draw the run in the end, as .png, .svg, .pdf or what else matplotlib can write.",
)
@reading_options
def learn(
    files: list[str],
    output: Path,
    start: Path | None,
    resume: bool,
    passes: int,
    rejects: Path | None,
    checkpoint: float,
    plot: Path | None,
    **options: Any,
) -> None:
    """Learn from files or a pipe.

    FILES are read in the order given, and the mistakes counted on the way. They are CSV or TSV, Parquet, Arrow, JSON
    lines, svmlight, Vowpal Wabbit's text, or lines of label<TAB>text, those that are text also packed with gzip, bzip2,
    xz or zstandard; - is the standard input, and a pattern in quotes all files that match. Each row is predicted before
    it is learned from, so the rate of mistakes is that on rows never seen before (in the first pass). Memory does not
    grow with the files, and Ctrl-C leaves a model to go on from.

    What the columns of a table were taken for is said first; correct it with --types, --target and --drop. Numbers are
    standardised as they come, a word becomes a feature of its own, a text many: its words and pairs of words, and the
    pieces of words that are three or four characters long.
    """
    if resume and start is None:
        raise click.UsageError("--resume needs a model to go on from: --from MODEL.")
    if "-" in files and (passes > 1 or resume):
        raise click.UsageError("A pipe can be read once, and from where it is: --passes and --resume need files.")
    require_writable(output)
    rejects = rejects or output.with_name(f"{output.name}.rejects")
    require_apart({"--output": output, "--rejects": rejects, "--plot": plot}, files)
    require_replaceable(output)
    model = _model(start, {name: options.pop(name) for name in _OF_THE_MODEL})
    if plot is not None:
        from novikoff.cli.ledger_plot import require_drawable

        require_drawable(plot, model.ledger)
    left_out = LeftOut(rejects, append=resume)
    gauge = Gauge(files, passes)
    stop = _learn(
        model,
        _blocks(model, files, passes, resume, reading(options), gauge),
        gauge,
        _Keeper(model, output, checkpoint, left_out),
        left_out,
    )
    left_out.close()
    if stop is not None and model.encoding is None:
        raise Interrupted(f"Stopped before anything was learned; {output} was not written.")
    _finish(model, output, plot)
    if stop is not None:
        raise _stopped(stop, output, _again(files, output))


def _stopped(stop: BaseException, output: Path, again: str) -> click.ClickException:
    """What to say when it ended before the end, but not in vain."""
    kept = f"{output} has what was learned so far; to go on"
    if isinstance(stop, NovikoffError):
        return click.ClickException(f"{stop}\n{kept} then:\n  {again}")
    return Interrupted(f"Stopped. {kept}:\n  {again}")


def _model(start: Path | None, chosen: dict[str, Any]) -> StreamModel:
    """A new model, or the one to go on from, which has been chosen already."""
    from novikoff.data.encoding import Features
    from novikoff.perceptron.learner import Learner
    from novikoff.streaming.model import StreamModel

    if start is not None:
        ctx = click.get_current_context()
        given = [name for name in chosen if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE]
        if given:
            raise click.UsageError(f"--{given[0].replace('_', '-')} is for a new model; {start} keeps its own.")
        return StreamModel.load(start)
    learner = Learner(chosen["rule"], chosen["hypothesis"], fit_intercept=not chosen["no_intercept"])
    features = {name: chosen[name] for name in ("hash_bits", "ngrams", "char_ngrams")}
    return StreamModel(learner, Features(scale=not chosen["no_scale"], **features))


def _learn(
    model: StreamModel, blocks: Iterator[Block], gauge: Gauge, keeper: _Keeper, left_out: LeftOut
) -> BaseException | None:
    """Learn from all blocks; return what ended it before the end: Ctrl-C, or an error after something was learned."""
    lines = Lines(model.ledger)
    stop: BaseException | None = None
    try:
        with progress(gauge) as show, InterruptedBetween() as whole:
            for block in blocks:
                with whole:
                    left_out.note(block)
                    for examples in model.learn_until(block, _powers_of_two()) if len(block) else ():
                        if _is_power_of_two(examples):
                            lines.show(model.ledger)
                    show(model.ledger.examples - lines.first)
                    keeper.save_now_and_then()
    except KeyboardInterrupt as asked:
        stop = asked
    except NovikoffError as error:
        if model.ledger.examples == lines.first:
            raise
        stop = error
    lines.end(model.ledger)
    return stop


def _blocks(
    model: StreamModel, files: list[str], passes: int, resume: bool, options: dict[str, Any], gauge: Gauge
) -> Iterator[Block]:
    """All blocks of all files, `passes` times; the rows that the model has read before passed over if it resumes."""
    # The same file may be called by another name now.
    to_pass_over = {os.path.realpath(name): rows for name, rows in model.rows_of_run.items()} if resume else {}
    columns = Columns()
    if not resume:
        model.forget_run(files)
    elif not any(os.path.realpath(file) in to_pass_over for file in files):
        say("The model has read none of these files before: there is nothing to pass over.")
    for turn in range(passes):
        for file in files:
            with open_for(model, file, options) as reader:
                model.target = getattr(reader, "target_name", None)
                gauge.watch(reader.source)
                columns.say(reader)
                where = os.path.realpath(reader.name)
                yield from model.ahead_of(_unread(reader, to_pass_over, where, is_first_turn=not turn))
                if turn == passes - 1 and to_pass_over.get(where):
                    say(f"{reader.name} has {to_pass_over[where]:,} rows fewer than the model has read of it.")


def _unread(
    reader: Iterable[Block], to_pass_over: dict[str, int], where: str, *, is_first_turn: bool
) -> Iterator[Block]:
    """The blocks of a file without as many rows as are to be passed over in it, which are counted down."""
    for block in reader:
        left = to_pass_over.get(where, 0)
        known = min(left, len(block))
        to_pass_over[where] = left - known
        if not left or known < len(block):
            yield _rest(block, known, is_first_turn=is_first_turn)


def _rest(block: Block, known: int, *, is_first_turn: bool) -> Block:
    """A block without the rows that were learned from before, and the rejects that were told of."""
    from dataclasses import replace

    if not known and (is_first_turn or not block.rejects):
        return block
    from_line = block.lines[known] if known else 0
    rejects = [reject for reject in block.rejects if reject.line >= from_line] if is_first_turn else []
    return replace(block.after(known) if known else block, rejects=rejects)


def _powers_of_two() -> Iterator[int]:
    return (1 << k for k in range(62))


def _is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0


def _finish(model: StreamModel, output: Path, plot: Path | None) -> None:
    """Write what was learned, and draw how."""
    if model.encoding is None:
        raise click.ClickException("There was nothing to learn from.")
    model.save(output)
    click.echo(f"{output}: {counted(len(model.labels), 'label')}, {counted(model.n_features, 'feature')}.", err=True)
    if len(model.labels) > max(100, model.ledger.examples // 2):
        click.echo(
            "Nearly every row has a label of its own. Is this the column of the labels? --target names another.",
            err=True,
        )
    if plot is not None:
        from novikoff.cli.ledger_plot import draw_ledger

        ledger = model.ledger
        title = f"{output.name}: {ledger.examples:,} examples, {ledger.error_rate:.2%} mistakes"
        draw_ledger(plot, ledger, title)


def _again(files: list[str], output: Path) -> str:
    """The same command, to go on from what it has written, without what the model knows; of options given twice the
    last one counts."""
    import shlex

    words = without(Remembering.words(), _OF_THE_MODEL)
    end = ["--from", str(output), *([] if "-" in files else ["--resume"])]  # a pipe goes on where it is
    return f"novikoff learn {shlex.join(words if words[-len(end) :] == end else words + end)}"


class _Keeper:
    """Writes the model now and then."""

    def __init__(self, model: StreamModel, output: Path, seconds: float, left_out: LeftOut) -> None:
        self.model, self.output, self.seconds, self.left_out = model, output, seconds, left_out
        self.saved = time.monotonic()

    def save_now_and_then(self) -> None:
        if self.model.encoding is not None and time.monotonic() - self.saved > self.seconds:
            self.left_out.flush()  # the model counts them as read
            self.model.save(self.output)
            self.saved = time.monotonic()

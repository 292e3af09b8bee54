"""novikoff learn: from files or a pipe to a model, in one pass or a few."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.options import reading, reading_options

if TYPE_CHECKING:
    from novikoff.ledger import Ledger
    from novikoff.online import StreamModel
    from novikoff.streams.block import Block

_EPILOG = """\b
Examples:
  novikoff learn train.svm -o mail.nk                       one pass, online
  novikoff learn train.csv --target is_spam -o mail.nk      a table with a header
  novikoff learn more.csv --from mail.nk -o mail.nk         go on where it stopped
  novikoff learn train.csv --from mail.nk -o mail.nk --resume
                                                            after Ctrl-C: only the rows not read yet
  novikoff learn train.svm --passes 5 --hypothesis averaged -o mail.nk
  zcat log.gz | novikoff learn - -o log.nk
"""

_RULES = ("perceptron", "margin", "passive-aggressive", "passive-aggressive-I", "passive-aggressive-II")


@click.command(epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path, allow_dash=True))
@click.option("-o", "--output", required=True, metavar="MODEL", type=click.Path(path_type=Path, dir_okay=False),
              help="Where to write the model.")  # fmt: skip
@click.option("--from", "start", metavar="MODEL", type=click.Path(path_type=Path),
              help="Go on from this model; rule and hypothesis are its own.")  # fmt: skip
@click.option("--resume", is_flag=True, help="With --from: pass over the rows of these files that it has read.")
@click.option("--rule", type=click.Choice(_RULES), default="perceptron", show_default=True, help="How far to move.")
@click.option("--hypothesis", type=click.Choice(["last", "averaged", "voted", "pocket"]), default="averaged",
              show_default=True, help="Which weights answer.")  # fmt: skip
@click.option("--no-intercept", is_flag=True, help="No constant besides the columns.")
@click.option("--no-scale", is_flag=True, help="Take the numbers of a table as they are, not standardised.")
@click.option("--passes", type=click.IntRange(1), default=1, show_default=True, help="How often to read the files.")
@click.option("--rejects", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Where --bad-rows skip puts the rows it left out.  [default: MODEL.rejects]")  # fmt: skip
@click.option("--checkpoint", metavar="SECONDS", type=click.FloatRange(min=0.0, min_open=True), default=60.0,
              show_default=True, help="How often to write the model while learning.")  # fmt: skip
@reading_options
def learn(
    files: tuple[Path, ...], output: Path, start: Path | None, resume: bool, passes: int, rejects: Path | None,
    checkpoint: float, **options: Any,
) -> None:  # fmt: skip
    """Learn from files or a pipe.

    FILES are read in the order given, and the mistakes counted on the way. They are svmlight or CSV, plain or packed
    with gzip, bzip2 or xz; - is the standard input. Each row is predicted before it is learned from, so the rate of
    mistakes is that on rows never seen before (in the first pass). Memory does not grow with the files, and Ctrl-C
    leaves a model to go on from.
    """
    if resume and start is None:
        raise click.UsageError("--resume needs a model to go on from: --from MODEL.")
    if passes > 1 and any(str(file) == "-" for file in files):
        raise click.UsageError("A pipe can be read once: --passes needs files.")
    if not output.resolve().parent.is_dir():
        raise click.UsageError(f"{output} cannot be written: there is no folder {output.parent}.")
    model = _model(start, options)
    keeper = _Keeper(model, output, checkpoint, rejects or output.with_name(f"{output.name}.rejects"))
    lines = _Lines(model.ledger)
    try:
        with _InterruptedBetween() as whole:
            for block in _blocks(model, files, passes, resume, reading(options)):
                with whole:
                    keeper.note(block)
                    for examples in model.learn_until(block, _powers_of_two()):
                        if _is_power_of_two(examples):
                            lines.show(model.ledger)
                    keeper.save_now_and_then()
    except KeyboardInterrupt:
        lines.end(model.ledger)
        keeper.close()
        again = f"novikoff learn {' '.join(map(str, files))} --from {output} -o {output} --resume"
        raise click.ClickException(f"Stopped. {output} has what was learned so far; to go on:\n  {again}") from None
    lines.end(model.ledger)
    keeper.close()


def _model(start: Path | None, options: dict[str, Any]) -> StreamModel:
    from novikoff.learner import Learner
    from novikoff.online import StreamModel

    chosen = {name: options.pop(name) for name in ("rule", "hypothesis", "no_intercept", "no_scale")}
    if start is not None:
        return StreamModel.load(start)
    learner = Learner(chosen["rule"], chosen["hypothesis"], fit_intercept=not chosen["no_intercept"])
    return StreamModel(learner, scale=not chosen["no_scale"])


def _blocks(
    model: StreamModel, files: tuple[Path, ...], passes: int, resume: bool, options: dict[str, Any]
) -> Iterator[Block]:
    """All blocks of all files, `passes` times; the rows that the model has read before passed over if it resumes."""
    from novikoff.streams.opening import open_stream

    for _ in range(passes):
        for file in files:
            if model.target is not None:
                options = {"target": model.target, **options}
            with open_stream(str(file), **options) as reader:
                model.target = getattr(reader, "target_name", None)
                known = model.rows_read.get(reader.name, 0) if resume else 0
                for block in reader:
                    if known < len(block):
                        yield block.after(known) if known else block
                    known = max(0, known - len(block))


def _powers_of_two() -> Iterator[int]:
    return (1 << k for k in range(62))


def _is_power_of_two(n: int) -> bool:
    return n & (n - 1) == 0


class _InterruptedBetween:
    """Within it Ctrl-C waits for the end of a block, so that no half of one is learned: `with` it once around all, and
    again around each block."""

    def __init__(self) -> None:
        self.depth, self.is_asked = 0, False

    def __enter__(self) -> _InterruptedBetween:
        if not self.depth:
            self.before = signal.signal(signal.SIGINT, self._ask)
        self.depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        self.depth -= 1
        if not self.depth:
            signal.signal(signal.SIGINT, self.before)
        elif self.is_asked:
            raise KeyboardInterrupt

    def _ask(self, number: int, frame: Any) -> None:
        if self.depth < 2:
            raise KeyboardInterrupt
        self.is_asked = True


class _Lines:
    """The growing table: a line after 1, 2, 4, 8, ... rows."""

    def __init__(self, ledger: Ledger) -> None:
        self.examples, self.mistakes = ledger.examples, ledger.mistakes
        self.shown = -1
        self.began = time.perf_counter()
        self.first = ledger.examples

    def show(self, ledger: Ledger) -> None:
        if self.shown < 0:
            click.echo(f"{'rows':>12} {'mistakes':>11} {'since last':>11} {'rate':>8} {'norm |w|':>10}", err=True)
        since = (ledger.mistakes - self.mistakes) / max(1, ledger.examples - self.examples)
        self.examples, self.mistakes = ledger.examples, ledger.mistakes
        self.shown = ledger.examples
        click.echo(f"{ledger.examples:>12,} {ledger.mistakes:>11,} {since:>11.4f} {ledger.error_rate:>8.4f} "
                   f"{ledger.norm:>10.4g}", err=True)  # fmt: skip

    def end(self, ledger: Ledger) -> None:
        """The last line, and how fast it went."""
        if ledger.examples not in (self.shown, self.first):
            self.show(ledger)
        seconds = max(time.perf_counter() - self.began, 1e-9)
        rate = (ledger.examples - self.first) / seconds
        click.echo(f"{ledger.examples - self.first:,} rows in {seconds:.1f} s, {rate:,.0f} rows/s.", err=True)


class _Keeper:
    """Writes the model now and then, and the rows that were left out as they come."""

    def __init__(self, model: StreamModel, output: Path, seconds: float, rejects: Path) -> None:
        self.model, self.output, self.seconds, self.rejects = model, output, seconds, rejects
        self.saved = time.monotonic()
        self.left_out: list[bytes] = []

    def note(self, block: Block) -> None:
        for reject in block.rejects:
            if len(self.left_out) < 3:
                click.echo(f"left out: {reject.reason}", err=True)
            self.left_out.append(reject.reason.encode() + b"\t" + reject.text.rstrip(b"\r\n") + b"\n")

    def save_now_and_then(self) -> None:
        if time.monotonic() - self.saved > self.seconds:
            self.model.save(self.output)
            self.saved = time.monotonic()

    def close(self) -> None:
        from novikoff.files import write_whole

        if self.left_out:
            write_whole(self.rejects, b"".join(self.left_out))
            click.echo(
                f"{len(self.left_out):,} rows left out; they are in {self.rejects}, each with its reason.", err=True
            )
        if self.model.encoding is None:
            raise click.ClickException("There was nothing to learn from.")
        self.model.save(self.output)
        click.echo(f"{self.output}: {len(self.model.labels)} labels, {len(self.model.names):,} features.", err=True)
        sys.stderr.flush()

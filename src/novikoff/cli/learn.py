"""novikoff learn: from files or a pipe to a model, in one pass or several."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from novikoff.cli.advice import advise
from novikoff.cli.interrupts import DeferredInterrupts, Interrupted, RecordingCommand, without_options
from novikoff.cli.options import (
    HYPOTHESES,
    RULES,
    SHUFFLES,
    Duration,
    drop_unset,
    feature_options,
    files_argument,
    parse_class_weight,
    reading_options,
    require_distinct_paths,
    require_replaceable,
    require_writable,
    round_options,
)
from novikoff.cli.progress import ByteCounter, announce_compilation, progress, say, table_for
from novikoff.cli.small_inputs import run_small_inputs_uncompiled
from novikoff.errors import NovikoffError
from novikoff.formatting.phrases import pluralize

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.streaming.holdout import Holdout
    from novikoff.streaming.model import StreamModel
    from novikoff.streaming.row_order import Shuffles
    from novikoff.streaming.session import LearningSession

_EPILOG = """\b
Examples:
  novikoff learn train.svm -o mail.nk                       one pass, online
  novikoff learn train.csv --target is_spam -o mail.nk      a table with a header
  novikoff learn 'logs/*.csv' --types zip=word -o logs.nk   many files, in order of their names
  novikoff learn more.csv --from mail.nk -o mail.nk         continue where it stopped
  novikoff learn train.csv --from mail.nk -o mail.nk --resume
                                                            after Ctrl-C: only the rows not learned yet
  novikoff learn sms.txt --char-ngrams 2-5 -o sms.nk        lines of label<TAB>text
  novikoff learn houses.csv --target price --loss squared -o houses.nk
                                                            predict a number: regression
  novikoff learn ads.vw --passes 5 --hash-bits 22 --plot run.png -o ads.nk
  zcat log.gz | novikoff learn - -o log.nk
  novikoff learn 'data/*.parquet' --target y --cluster local:2 --rounds 5 -o m.nk
                                                            many files, in two processes or on a cluster
"""

_MODEL_OPTIONS = (
    "loss",
    "rule",
    "hypothesis",
    "no_intercept",
    "class_weight",
    "no_scale",
    "hats",
    "hash_bits",
    "ngrams",
    "char_ngrams",
)


@click.command(cls=RecordingCommand, epilog=_EPILOG)
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
    help="Continue from this model, with its rule and hypothesis.",
)
@click.option("--resume", is_flag=True, help="With --from: skip the rows of these files that it has learned.")
@click.option(
    "--loss",
    type=click.Choice(["mistakes", "squared"]),
    default="mistakes",
    show_default=True,
    help="What to keep small: wrong labels, or the squared errors of predicted numbers.",
)
@click.option(
    "--rule",
    type=click.Choice(RULES),
    help="How far the weights move on an example; auto runs six such learners, which vote.  [default: auto; perceptron "
    "if a hypothesis is chosen]",
)
@click.option(
    "--hypothesis",
    type=click.Choice(HYPOTHESES),
    help="Which weights predict.  [default: averaged; for auto, arow, adagrad and coin: last]",
)
@click.option("--no-intercept", is_flag=True, help="No constant feature besides the columns.")
@click.option(
    "--class-weight",
    metavar="LABEL=WEIGHT,...",
    multiple=True,
    callback=parse_class_weight,
    help="How many times as far the weights move on rows with a label, such as spam=5,ham=1; labels left out have 1. "
    "Or balanced: n / (K * rows with the label), for the n rows and K labels so far.",
)
@feature_options
@click.option(
    "--passes", type=click.IntRange(1), default=1, show_default=True, help="How many times to go through the files."
)
@click.option(
    "--shuffle",
    type=click.Choice(SHUFFLES),
    default="sorted",
    show_default=True,
    help="When the first pass visits the rows in a random order: if they come sorted by label, always, or never. "
    "Later passes do, each in a new order, unless it is never. Rows of more than 512 MB are shuffled in parts. A pipe "
    "keeps its order.",
)
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of random orders and --holdout."
)
@click.option(
    "--holdout",
    metavar="SHARE",
    type=click.FloatRange(0.0, 1.0, max_open=True),
    default=0.0,
    help="Keep this share of the rows out of learning; in the end count the errors on them, and calibrate the "
    "probabilities of predict --proba by them.  [default: none]",
)
@click.option(
    "--test",
    "test_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    help="Count the errors on the rows of this file in the end. May be repeated.",
)
@click.option(
    "--rejects",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where --bad-rows skip writes the rows it leaves out.  [default: MODEL.rejects]",
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
    help="Plot the run in the end, as .png, .svg, .pdf or another format of matplotlib.",
)
@round_options
@reading_options
def learn(
    files: list[str],
    output: Path,
    start: Path | None,
    resume: bool,
    passes: int,
    shuffle: Shuffles,
    seed: int,
    holdout: float,
    test_files: tuple[str, ...],
    rejects: Path | None,
    checkpoint: float,
    plot: Path | None,
    **options: Any,
) -> None:
    """Learn from files or a pipe.

    FILES are read in the order given. They are CSV or TSV, Parquet, Arrow, JSON, Excel, svmlight, Vowpal Wabbit's text,
    or lines of label<TAB>text; the text formats may be compressed with gzip, bzip2, xz or zstandard. - is the standard
    input, and a pattern in quotes stands for all files that match. Each row is predicted before it is learned, and
    mistakes are counted: in the first pass their rate is that on rows never seen before. Rows that come sorted by label
    are shuffled first, since nothing can be learned in that order. Memory does not grow with the files, and Ctrl-C
    leaves a model to continue from. A model that exists is replaced when the run is complete; until then, and if it
    stops early, what was learned is in MODEL.partial.

    The kinds of the columns of a table are guessed from the first rows and printed before learning begins; correct them
    with --types, --target and --drop. Numbers may have a decimal comma, digits in groups, a currency or percent sign;
    true and false are 1 and 0, and dates are seconds since 1970. Numbers are standardised as they come; in svmlight and
    Vowpal Wabbit's text those that fewer than half of the rows have are only scaled, 0 and 1 stay as they are, and
    larger counts n become 1 + ln n. The others are also interpolated between eleven knots, from -3 to 3 standard
    deviations from the mean, so that the model has a curve over each. Each value of a column of words becomes a
    feature. A text becomes many features: its words and pairs of words, and its runs of three or four characters.

    The rule auto learns by six linear learners side by side, two mixers add up their scores, and all eight vote. The
    last lines name the one that leads, and the bound on the mistakes of the vote that follows from it.

    With --loss squared the labels are numbers, and the model predicts a number (regression, by ScInOL2 of Kempka et al.
    2019). Nothing is to be tuned: the scales of columns and target do not matter. Instead of mistakes the table has the
    root of the mean squared error (RMSE), and R^2, which compares it with predicting the mean of the targets so far: 1
    is perfect, and 0 no better than that.

    With --cluster several processes learn from FILES, each of which is read by one of them. After a first pass over all
    rows for names and moments, the learners of each round begin with the same weights, and their results are mixed, in
    --rounds rounds. The result depends on --chains, not on the number of workers. Not for the rule auto and the
    hypothesis voted; see docs/cluster.md.
    """
    run_small_inputs_uncompiled([*files, *test_files], passes, start, options["cluster"])
    from novikoff.cli.learning_report import LearningReport, check_first_block, print_errors
    from novikoff.streaming.checkpoints import Checkpointer, publish
    from novikoff.streaming.holdout import Holdout
    from novikoff.streaming.opening import read_for_model
    from novikoff.streaming.passes import FilePasses
    from novikoff.streaming.rejects import RejectLog
    from novikoff.streaming.row_order import ShufflePolicy
    from novikoff.streaming.session import LearningSession
    from novikoff.streaming.warm_up import WarmUp

    if resume and start is None:
        raise click.UsageError("--resume needs a model to continue from: --from MODEL.")
    if "-" in files and (passes > 1 or resume or holdout):
        raise click.UsageError(
            "A pipe can be read once, and from where it is: --passes, --resume and --holdout need files."
        )
    require_writable(output)
    rejects = rejects or output.with_name(f"{output.name}.rejects")
    require_distinct_paths({"--output": output, "--rejects": rejects, "--plot": plot}, [*files, *test_files])
    require_replaceable(output)
    round_settings = {name: options.pop(name) for name in ("cluster", "rounds", "chains", "persist")}
    if round_settings["cluster"] is not None:
        if start is not None and not resume:
            raise click.UsageError("--cluster continues an interrupted run: give --resume with --from.")
        _learn_in_rounds(files, output, start, rejects, test_files, round_settings, options)
        return
    given = [name for name in round_settings if _is_given(name)]
    if given:
        raise click.UsageError(f"--{given[0]} is for learning on a cluster: give --cluster, such as local:2.")
    model = _load_or_create(start, {name: options.pop(name) for name in _MODEL_OPTIONS})
    if plot is not None:
        from novikoff.cli.ledger_plot import require_drawable

        if model.predicts_numbers:
            raise click.UsageError("--plot draws mistakes; a model of --loss squared makes none.")
        require_drawable(plot, model.ledger)
    announce_compilation()
    counter, guard = ByteCounter(files, 1), DeferredInterrupts()
    log, draft = RejectLog(rejects, append=resume, notify=say), _draft_path(output, start if resume else None)
    warm_up = WarmUp(hats=model.features.has_hats)
    if not model.predicts_numbers:
        warm_up = WarmUp(model.model.learner.rule, hats=model.features.has_hats)
    report = LearningReport(model, counter, warm_up, shuffle)
    options = drop_unset(options)
    held_out = Holdout(holdout, seed)
    blocks = FilePasses(
        model,
        files,
        passes=passes,
        resume=resume,
        options=options,
        policy=ShufflePolicy(shuffle, seed),
        holdout=held_out,
        check=None if model.predicts_numbers else check_first_block,
        observer=report,
    )
    session = LearningSession(
        model,
        warm_up.before_first(blocks),
        checkpointer=Checkpointer(model, draft, checkpoint, log),
        rejects=log,
        progressive=report.progressive,
        guard=guard,
    )
    report.session = session
    stop = _learn(session, counter, guard)
    log.close()
    if stop is not None and model.encoding is None:
        raise Interrupted(f"Stopped. Nothing was learned, and {output} was not written.")
    if stop is None and held_out.share and not model.predicts_numbers:
        report.calibrate(held_out.held_out_rows(read_for_model(model, files, options)))
    session.save()
    report.print_mistakes()
    if stop is not None:
        _report(model, draft, plot)
        raise _stopped(stop, draft, output, _command_to_continue(files, draft))
    publish(draft, output)
    for name, test_blocks in _test_rows(model, files, test_files, options, held_out):
        print_errors(model, name, test_blocks)
    _report(model, output, plot)


def _learn_in_rounds(
    files: list[str],
    output: Path,
    start: Path | None,
    rejects: Path,
    test_files: tuple[str, ...],
    round_settings: dict[str, Any],
    options: dict[str, Any],
) -> None:
    """Learn on a cluster, and publish and report the model."""
    from novikoff.cli.cluster_learn import learn_on_cluster
    from novikoff.cli.learning_report import print_errors
    from novikoff.streaming.checkpoints import publish
    from novikoff.streaming.opening import read_for_model

    draft = _draft_path(output, start)
    chosen = {name: options.pop(name) for name in _MODEL_OPTIONS}
    given = [name for name in chosen if _is_given(name)]
    if start is not None and given:
        raise click.UsageError(f"--{given[0].replace('_', '-')} is for a new model; {start} keeps its own.")
    model = learn_on_cluster(
        files,
        draft,
        start,
        **round_settings,
        model_options=chosen,
        reading=options,
        rejects=rejects,
        continuation=lambda path: _command_to_continue(files, path),
    )
    publish(draft, output)
    for file in test_files:
        print_errors(model, file, read_for_model(model, [file], drop_unset(options)))
    _report(model, output, None)


def _draft_path(output: Path, resumed: Path | None) -> Path:
    """Where to write the model until the run is complete: beside a model that exists, unless this run continues it."""
    is_own = resumed is not None and os.path.realpath(resumed) == os.path.realpath(output)
    return output if is_own or not output.exists() else output.with_name(f"{output.name}.partial")


def _test_rows(
    model: StreamModel, files: list[str], test_files: tuple[str, ...], options: dict[str, Any], held_out: Holdout
) -> Iterator[tuple[str, Iterator[Block]]]:
    """Rows that were not learned, and what to call them."""
    from novikoff.streaming.opening import read_for_model

    if held_out.share:
        yield "Held-out rows", held_out.held_out_rows(read_for_model(model, files, options))
    for file in test_files:
        yield file, read_for_model(model, [file], options)


def _load_or_create(start: Path | None, chosen: dict[str, Any]) -> StreamModel:
    """The model to continue from, which keeps its own options, or a new one with those that were chosen."""
    from novikoff.cli.model_loading import load_stream_model
    from novikoff.data.encoding import Features
    from novikoff.perceptron.learner import Learner
    from novikoff.streaming.defaults import choose_rule_and_hypothesis
    from novikoff.streaming.model import StreamModel
    from novikoff.streaming.regressor import StreamRegressor

    if start is not None:
        given = [name for name in chosen if _is_given(name)]
        if given:
            option = "plain-numbers" if given[0] == "hats" and not chosen["hats"] else given[0].replace("_", "-")
            raise click.UsageError(f"--{option} is for a new model; {start} keeps its own.")
        return load_stream_model(start)
    rule, hypothesis = choose_rule_and_hypothesis(chosen["rule"], chosen["hypothesis"])
    learner = Learner(rule, hypothesis, fit_intercept=not chosen["no_intercept"])
    options = {name: chosen[name] for name in ("hats", "hash_bits", "ngrams", "char_ngrams")}
    features = Features(scale=not chosen["no_scale"], **options)
    if chosen["loss"] == "squared":
        given = [name for name in ("rule", "hypothesis", "no_intercept", "class_weight") if _is_given(name)]
        if given:
            raise click.UsageError(f"--{given[0].replace('_', '-')} is not for --loss squared, which needs no choice.")
        return StreamRegressor(features)
    return StreamModel(learner, features, chosen["class_weight"])


def _is_given(name: str) -> bool:
    """Whether an option of the running command is on its command line."""
    return click.get_current_context().get_parameter_source(name) is ParameterSource.COMMANDLINE


def _learn(session: LearningSession, counter: ByteCounter, guard: DeferredInterrupts) -> BaseException | None:
    """Learn from all blocks; return what ended it early: Ctrl-C, or an error after something was learned."""
    table = table_for(session.model.ledger)
    stop: BaseException | None = None
    try:
        with progress(counter) as update, guard:
            session.on_power_of_two = table.add_line
            session.on_block = lambda ledger: update(ledger.examples - table.first)
            session.learn()
    except KeyboardInterrupt as interrupt:
        stop = interrupt
    except NovikoffError as error:
        if not session.n_learned:
            raise
        stop = error
    table.finish(session.model.ledger)
    return stop


def _report(model: StreamModel, output: Path, plot: Path | None) -> None:
    """Print what was written, and plot the run."""
    labels = "predicts numbers" if model.predicts_numbers else pluralize(len(model.labels), "label")
    say(f"{output}: {labels}, {pluralize(model.n_features, 'feature')}.")
    if len(model.labels) == 1:
        say(f"Every row has the label {model.labels[0]!r}. Is this the column of the labels? --target names another.")
    if model.class_weights is not None and (unused := model.class_weights.unused(model.labels)):
        say(f"--class-weight: no row had the label {unused[0]!r}.")
    if plot is not None:
        from novikoff.cli.ledger_plot import draw_ledger

        ledger = model.ledger
        title = f"{output.name}: {ledger.examples:,} examples, {ledger.error_rate:.2%} mistakes"
        draw_ledger(plot, ledger, title)


def _stopped(stop: BaseException, draft: Path, output: Path, command: str) -> click.ClickException:
    """The message for a run that ended early but was saved."""
    kept = "" if draft == output else f" {output} is as it was."
    saved = f"{draft} has what was learned so far.{kept} To continue"
    if isinstance(stop, NovikoffError):
        advice = advise(stop, click.get_current_context().command)
        return click.ClickException(f"{advice}\n{saved} then:\n  {command}")
    return Interrupted(f"Stopped. {saved}:\n  {command}")


def _command_to_continue(files: list[str], draft: Path) -> str:
    """The command that continues from what this one has written: its arguments, without those that the model keeps.

    Of an option that is given twice the last one counts.
    """
    import shlex

    arguments = without_options(RecordingCommand.arguments(), [*_MODEL_OPTIONS, "plain_numbers"])
    end = ["--from", str(draft), *([] if "-" in files else ["--resume"])]  # a pipe continues where it is
    return f"novikoff learn {shlex.join(arguments if arguments[-len(end) :] == end else arguments + end)}"

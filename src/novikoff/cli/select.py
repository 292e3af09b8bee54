"""novikoff select: choose how to learn, by the textbook."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from novikoff.cli.interrupts import Interrupted
from novikoff.cli.options import (
    HYPOTHESES,
    RULES,
    Range,
    files_argument,
    reading,
    reading_options,
    rejects_option,
    require_apart,
    require_writable,
)
from novikoff.cli.progress import say
from novikoff.cli.tables import print_table
from novikoff.formatting.phrases import counted

if TYPE_CHECKING:
    from novikoff.cli.holding import Held
    from novikoff.data.formats.block import Block
    from novikoff.selection.choosing import Selection, Trial
    from novikoff.streaming.model import StreamModel

_EPILOG = """\b
Examples:
  novikoff select train.csv --target y --test test.csv -o best.nk
  novikoff select train.csv --target y --grid rule=perceptron,passive-aggressive-I \\
      --grid hypothesis=last,averaged,voted --grid passes=1,5 --cv 5 -o best.nk
  novikoff select sms.txt --grid char-ngrams=0,2-3,3-5 --grid ngrams=1,1-2 -o sms.nk
"""

_KINDS: dict[str, click.ParamType] = {
    "rule": click.Choice(RULES),
    "hypothesis": click.Choice(HYPOTHESES),
    "passes": click.IntRange(1),
    "intercept": click.BOOL,
    "scale": click.BOOL,
    "hash-bits": click.IntRange(1, 28),
    "ngrams": Range(),
    "char-ngrams": Range(),
}
_DEFAULT_GRID: dict[str, list[Any]] = {
    "rule": ["perceptron", "passive-aggressive-I"],
    "hypothesis": ["last", "averaged"],
    "passes": [1, 5],
}

Candidate = dict[str, Any]


def _grid(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, list[Any]]:
    """{name: values} from name=value,value, which may be repeated."""
    found: dict[str, list[Any]] = {}
    for text in values:
        name, equals, listed = text.partition("=")
        if name not in _KINDS or not equals or not listed:
            raise click.BadParameter(
                f"expected NAME=VALUE,VALUE,... with a name of {', '.join(_KINDS)}; found "
                f"{text!r}. For example: --grid passes=1,5,10"
            )
        read = [_KINDS[name].convert(word, param, ctx) for word in listed.split(",")]
        found[name] = list(dict.fromkeys([*found.get(name, []), *read]))
    return found or _DEFAULT_GRID


@click.command(epilog=_EPILOG)
@files_argument
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="MODEL",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the winner, which has then learned from all rows.",
)
@click.option(
    "--grid",
    metavar="NAME=VALUE,...",
    multiple=True,
    callback=_grid,
    help="What to try; all combinations are. Names: " + ", ".join(_KINDS) + ".  [default: "
    "rule=perceptron,passive-aggressive-I, hypothesis=last,averaged, passes=1,5]",
)
@click.option(
    "--validation",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    help="The share of rows to hold out.",
)
@click.option("--cv", type=click.IntRange(2), help="Cross-validate in so many folds instead.")
@click.option(
    "--test",
    "test_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(),
    help="Rows to report the error of the winner on, once. May be repeated.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the split.")
@click.option("--jobs", type=click.IntRange(1), default=1, show_default=True, help="How many candidates at once.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@rejects_option
@reading_options
def select(
    files: list[str],
    output: Path,
    grid: dict[str, list[Any]],
    validation: float,
    cv: int | None,
    test_files: tuple[str, ...],
    seed: int,
    jobs: int,
    as_json: bool,
    rejects: Path | None,
    **options: Any,
) -> None:
    """Choose how to learn from files.

    Every combination in the grid learns from most rows of FILES and is tried on the others. The one with the fewest
    errors there wins (of equals the smaller model, then the first), learns again from all rows, as `novikoff learn`
    would, and is written. Only then are the rows of --test looked at: their error is the one to report, since that of
    the winner on the rows it was chosen by is a little too good to be true.

    FILES are what `novikoff learn` reads; here they, and the rows of --test, are held in memory. Rows to try on are
    drawn one by one, of each label as many. As there, rows are learned from in the order in which they stand: shuffle a
    file that is sorted.
    """
    from novikoff.cli.holding import Held, split

    require_apart({"--output": output, "--rejects": rejects}, [*files, *test_files])
    if [*files, *test_files].count("-") > 1:
        raise click.UsageError("A pipe can be read once: give - for FILES or for --test.")
    if cv and click.get_current_context().get_parameter_source("validation") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--validation holds rows out once, --cv several times: give one of them.")
    require_writable(output)
    given = reading(options)
    held = Held.read(files, given, rejects)
    held.require_classes()
    held.warn_of_order()
    tests = _read_tests(test_files, held, given)
    splits = split(held.blocks, cv or 1, validation, seed)
    try:
        found = _choose(grid, splits, jobs)
        winner = _taught(found.best_params_, held.blocks)
    except KeyboardInterrupt:
        raise Interrupted("Stopped. Nothing was written.") from None
    winner.target = held.target
    winner.save(output)
    outcome = _tested(winner, tests) if test_files else None
    if as_json:
        click.echo(json.dumps(_facts(found, held, splits, outcome), indent=2))
    else:
        _report(found, held, splits, outcome, output)


def _read_tests(files: tuple[str, ...], held: Held, options: dict[str, Any]) -> list[Block]:
    """The rows to test on, to the last: what is wrong with them is said now rather than after all candidates."""
    from novikoff.cli.sources import open_for

    if not files:
        return []
    known, blocks = _taught({}, [block[:2] for block in held.blocks]), []  # which knows what columns hold
    known.target = held.target
    for file in files:
        with open_for(known, file, options) as reader:
            for block in reader:
                if len(block):
                    known.rows_of(block)  # or says why it cannot be read
                    blocks.append(block)
    if not blocks:
        raise click.ClickException("There are no rows to test on.")
    return blocks


def _choose(grid: dict[str, list[Any]], splits: list[Any], jobs: int) -> Selection:
    import sys

    from rich.console import Console
    from rich.progress import Progress

    from novikoff.cli.holding import errors_of
    from novikoff.selection.choosing import choose

    candidates = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    few = [splits[0][0][0][:2]]
    for name in grid.get("hypothesis", ["averaged"]):  # compiled before its time is taken
        errors_of(_taught({"hypothesis": name}, few), few)
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(f"{len(candidates)} candidates", total=len(candidates))
        return choose(
            candidates,
            _attempt(splits),
            n_jobs=jobs,
            after_each=lambda done, of, trial: bar.update(task, completed=done),
        )


def _attempt(splits: list[Any]) -> Callable[[Candidate], Trial]:
    """What is done with each candidate."""
    from novikoff.cli.holding import errors_of, learned
    from novikoff.selection.choosing import Trial, size_of, spread_of

    def attempt(candidate: Candidate) -> Trial:
        import numpy as np

        shares, train_wrong, train_rows, seconds, size, rows = [], 0, 0, 0.0, 0, 0
        for train, held_out in splits:
            model = _new(candidate)
            seconds += learned(model, train, candidate.get("passes", 1))
            wrong, rows = errors_of(model, held_out)
            shares.append(wrong / rows)
            own = errors_of(model, train)
            train_wrong, train_rows = train_wrong + own[0], train_rows + own[1]
            size = max(size, size_of(model.model))
        error = float(np.mean(shares))
        return Trial(candidate, error, spread_of(shares, rows), train_wrong / train_rows, seconds, size)

    return attempt


def _new(candidate: Candidate) -> StreamModel:
    """A model that has learned nothing, as a candidate says."""
    from novikoff.data.encoding import Features
    from novikoff.perceptron.learner import Learner
    from novikoff.streaming.model import StreamModel

    learner = Learner(
        candidate.get("rule", "perceptron"),
        candidate.get("hypothesis", "averaged"),
        fit_intercept=candidate.get("intercept", True),
    )
    names = {"scale": "scale", "hash-bits": "hash_bits", "ngrams": "ngrams", "char-ngrams": "char_ngrams"}
    return StreamModel(learner, Features(**{own: candidate[name] for name, own in names.items() if name in candidate}))


def _taught(candidate: Candidate, blocks: list[Any]) -> StreamModel:
    from novikoff.cli.holding import learned

    model = _new(candidate)
    learned(model, blocks, candidate.get("passes", 1))
    return model


def _tested(model: StreamModel, blocks: list[Block]) -> tuple[int, int]:
    from novikoff.cli.holding import warn_of_unknown
    from novikoff.cli.tested import Tester

    tester = Tester(model)
    for block in blocks:
        tester.count(block)
    outcome = tester.outcome
    warn_of_unknown(outcome.unknown)
    return outcome.errors[outcome.hypothesis], outcome.rows


def _shown(value: Any) -> str:
    """A value of the grid as it is written there."""
    if isinstance(value, tuple):
        return str(value[0]) if value[0] == value[1] else f"{value[0]}-{value[1]}"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _facts(found: Selection, held: Held, splits: list[Any], outcome: tuple[int, int] | None) -> dict[str, Any]:
    from novikoff.selection.choosing import ranking

    def plain(candidate: Candidate) -> dict[str, str]:
        return {name: _shown(value) for name, value in candidate.items()}

    trials = [found.trials[k] for k in ranking(found.trials)]
    return {
        "rows": len(held),
        "splits": len(splits),
        "best": plain(found.best_params_),
        "validation_error": found.best_error_,
        "test_error": None if outcome is None else outcome[0] / outcome[1],
        "test_rows": None if outcome is None else outcome[1],
        "candidates": [
            {
                **plain(trial.parameters),
                "validation_error": None if trial.trouble else trial.error,
                "train_error": None if trial.trouble else trial.train_error,
                "seconds": None if trial.trouble else trial.seconds,
                "bytes": trial.size,
                "trouble": trial.trouble,
            }
            for trial in trials
        ],
    }


def _report(found: Selection, held: Held, splits: list[Any], outcome: tuple[int, int] | None, output: Path) -> None:
    from novikoff.selection.choosing import ranking

    names = list(found.trials[0].parameters)
    rows: list[list[Any]] = []
    for k in ranking(found.trials):
        trial = found.trials[k]
        own = [_shown(trial.parameters[name]) for name in names]
        figures = [f"{trial.error:.2%} ± {trial.spread:.2%}", f"{trial.train_error:.2%}", f"{trial.seconds:.2f} s"]
        rows.append([*own, *(figures if not trial.trouble else ["–", "–", "–"]), "← best" if not rows else ""])
    how = f"{len(splits)} folds" if len(splits) > 1 else f"{sum(map(len, splits[0][1])):,} rows held out"
    print_table(
        f"{counted(len(rows), 'candidate')}, tried on {how}", [*names, "error", "on its own rows", "learning", ""], rows
    )
    for trial in found.trials:
        if trial.trouble:
            say(f"{', '.join(f'{name}={_shown(value)}' for name, value in trial.parameters.items())}: {trial.trouble}")
    click.echo(f"\nThe best has learned again from all {len(held):,} rows: {output}")
    if outcome is not None:
        wrong, total = outcome
        click.echo(f"Test: {wrong:,} errors on {total:,} rows, {wrong / total:.2%}.")

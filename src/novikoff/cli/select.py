"""novikoff select: choose rule, hypothesis and features by their errors on held-out rows."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from novikoff.cli.interrupts import InterruptibleCommand
from novikoff.cli.options import (
    HYPOTHESES,
    RULES,
    NgramRange,
    drop_unset,
    files_argument,
    reading_options,
    rejects_option,
    require_distinct_paths,
    require_writable,
)
from novikoff.cli.progress import announce_compilation, say
from novikoff.cli.tables import print_table
from novikoff.formatting.phrases import pluralize

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.selection.choosing import Selection
    from novikoff.selection.in_memory import InMemoryBlocks
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
    "ngrams": NgramRange(),
    "char-ngrams": NgramRange(),
}
_DEFAULT_GRID: dict[str, list[Any]] = {
    "rule": ["perceptron", "passive-aggressive-I", "arow", "adagrad", "coin", "auto"],
    "hypothesis": ["last", "averaged"],
    "passes": [1, 5],
}

Candidate = dict[str, Any]  # by the names of the grid


def _parse_grid(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, list[Any]]:
    """A dict {name: values} from name=value,value; the option may be repeated."""
    found: dict[str, list[Any]] = {}
    for text in values:
        name, equals, listed = text.partition("=")
        if name not in _KINDS or not equals or not listed:
            raise click.BadParameter(
                f"expected NAME=VALUE,VALUE,... with a name of {', '.join(_KINDS)}; found "
                f"{text!r}. For example: --grid passes=1,5,10"
            )
        more = [_KINDS[name].convert(value, param, ctx) for value in listed.split(",")]
        found[name] = list(dict.fromkeys([*found.get(name, []), *more]))
    return found or _DEFAULT_GRID


@click.command(cls=InterruptibleCommand, epilog=_EPILOG)
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
    callback=_parse_grid,
    help="What to try; all combinations are, but for rule=auto, which has one hypothesis. Names: "
    + ", ".join(_KINDS)
    + ".  [default: rule=perceptron,passive-aggressive-I,arow,adagrad,coin,auto, hypothesis=last,averaged, passes=1,5]",
)
@click.option(
    "--validation",
    type=click.FloatRange(0.0, 1.0, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    help="The share of rows to hold out.",
)
@click.option("--cv", type=click.IntRange(2), help="Cross-validate with this number of folds instead.")
@click.option(
    "--test",
    "test_files",
    metavar="FILE",
    multiple=True,
    type=click.Path(),
    help="Test rows, on which the error of the winner is reported. May be repeated.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the split.")
@click.option(
    "--jobs", type=click.IntRange(1), default=1, show_default=True, help="How many candidates to try at once."
)
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
    would, and is written. Only then are the errors on the rows of --test counted: this is the figure to report, since
    the error on the rows by which the winner was chosen is a little too low.

    FILES are what `novikoff learn` reads; here they, and the rows of --test, are held in memory. The rows to try on are
    a random sample, stratified by label. Rows are learned in the order of the files, or in a random one if they come
    sorted by label; passes after the first in a new random order each.
    """
    from novikoff.cli.in_memory import read_in_memory, require_two_classes
    from novikoff.selection.in_memory import split_blocks
    from novikoff.streaming.candidates import fit_candidate

    require_distinct_paths({"--output": output, "--rejects": rejects}, [*files, *test_files])
    if [*files, *test_files].count("-") > 1:
        raise click.UsageError("A pipe can be read once: give - for FILES or for --test.")
    if cv and click.get_current_context().get_parameter_source("validation") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--validation holds rows out once, --cv several times: give one of them.")
    require_writable(output)
    announce_compilation()
    given = drop_unset(options)
    data = read_in_memory(files, given, rejects)
    require_two_classes(data)
    test_blocks = _read_test_blocks(test_files, data, given)
    splits = split_blocks(data.blocks, cv or 1, validation, seed)
    found = _choose(grid, splits, jobs)
    winner = fit_candidate(_arguments(found.best_params_), data.blocks)
    winner.target, winner.form = data.target, data.form
    winner.save(output)
    test_errors = _count_test_errors(winner, test_blocks) if test_files else None
    if as_json:
        click.echo(json.dumps(_facts(found, data, splits, test_errors), indent=2))
    else:
        _report(found, data, splits, test_errors, output)


def _read_test_blocks(files: tuple[str, ...], data: InMemoryBlocks, options: dict[str, Any]) -> list[Block]:
    """Read and encode all test rows, so that an error in them is reported before all candidates are tried."""
    from novikoff.streaming.candidates import fit_candidate
    from novikoff.streaming.opening import open_for_model

    if not files:
        return []
    model, blocks = fit_candidate({}, [block[:2] for block in data.blocks]), []  # it knows the kinds of all columns
    model.target, model.form = data.target, data.form
    for file in files:
        with open_for_model(model, file, options) as reader:
            for block in reader:
                if len(block):
                    model.rows_of(block)  # or raises an error
                    blocks.append(block)
    if not blocks:
        raise click.ClickException("There are no rows to test on.")
    return blocks


def _choose(grid: dict[str, list[Any]], splits: list[Any], jobs: int) -> Selection:
    """Try all combinations of the grid, with a progress bar."""
    import sys

    from rich.console import Console
    from rich.progress import Progress

    from novikoff.selection.choosing import choose
    from novikoff.streaming.candidates import count_errors, fit_candidate, try_candidate

    all_of_grid = (dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values()))
    candidates = [each for each in all_of_grid if _is_possible(each.get("rule"), each.get("hypothesis"), grid)]
    few = [splits[0][0][0][:2]]
    # Compile before any candidate is timed.
    for rule, name in itertools.product(grid.get("rule", [None]), grid.get("hypothesis", [None])):
        if _is_possible(rule, name, grid):
            count_errors(fit_candidate({"rule": rule, "hypothesis": name}, few), few)
    with Progress(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(f"{len(candidates)} candidates", total=len(candidates))
        return choose(
            candidates,
            lambda candidate: try_candidate(_arguments(candidate), splits, candidate),
            n_jobs=jobs,
            after_each=lambda done, of, trial: bar.update(task, completed=done),
        )


def _is_possible(rule: str | None, hypothesis: str | None, grid: dict[str, list[Any]]) -> bool:
    """Whether to try a rule with a hypothesis. "auto" has the last one only; if the grid does not have that, learning
    says so."""
    return rule != "auto" or hypothesis in (None, "last") or "last" not in grid["hypothesis"]


def _arguments(candidate: Candidate) -> Candidate:
    """A candidate by the names of Python's arguments instead of those of options."""
    return {name.replace("-", "_"): value for name, value in candidate.items()}


def _count_test_errors(model: StreamModel, blocks: list[Block]) -> tuple[int, int]:
    from novikoff.cli.in_memory import warn_of_unknown_labels
    from novikoff.streaming.candidates import evaluate

    evaluation = evaluate(model, blocks)
    warn_of_unknown_labels(evaluation.unknown)
    return evaluation.errors[evaluation.hypothesis], evaluation.rows


def _as_in_grid(value: Any) -> str:
    """A value as it is written in --grid."""
    if isinstance(value, tuple):
        return str(value[0]) if value[0] == value[1] else f"{value[0]}-{value[1]}"
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _facts(
    found: Selection, data: InMemoryBlocks, splits: list[Any], test_errors: tuple[int, int] | None
) -> dict[str, Any]:
    from novikoff.selection.choosing import ranking

    def plain(candidate: Candidate) -> dict[str, str]:
        return {name: _as_in_grid(value) for name, value in candidate.items()}

    trials = [found.trials[k] for k in ranking(found.trials)]
    return {
        "rows": len(data),
        "splits": len(splits),
        "best": plain(found.best_params_),
        "validation_error": found.best_error_,
        "test_error": None if test_errors is None else test_errors[0] / test_errors[1],
        "test_rows": None if test_errors is None else test_errors[1],
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


def _report(
    found: Selection, data: InMemoryBlocks, splits: list[Any], test_errors: tuple[int, int] | None, output: Path
) -> None:
    from novikoff.selection.choosing import ranking

    names = list(found.trials[0].parameters)
    rows: list[list[Any]] = []
    for k in ranking(found.trials):
        trial = found.trials[k]
        own = [_as_in_grid(trial.parameters[name]) for name in names]
        figures = [f"{trial.error:.2%} ± {trial.spread:.2%}", f"{trial.train_error:.2%}", f"{trial.seconds:.2f} s"]
        rows.append([*own, *(figures if not trial.trouble else ["–", "–", "–"]), "← best" if not rows else ""])
    how = f"{len(splits)} folds" if len(splits) > 1 else f"{sum(map(len, splits[0][1])):,} rows held out"
    print_table(
        f"{pluralize(len(rows), 'candidate')}, tried on {how}",
        [*names, "error", "on its own rows", "learning", ""],
        rows,
    )
    for trial in found.trials:
        if trial.trouble:
            parameters = ", ".join(f"{name}={_as_in_grid(value)}" for name, value in trial.parameters.items())
            say(f"{parameters}: {trial.trouble}")
    click.echo(f"\nThe best has learned again from all {len(data):,} rows: {output}")
    if test_errors is not None:
        wrong, total = test_errors
        click.echo(f"Test: {wrong:,} errors on {total:,} rows, {wrong / total:.2%}.")

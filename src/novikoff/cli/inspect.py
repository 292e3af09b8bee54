"""novikoff inspect: show what a model file holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from novikoff.cli.interrupts import InterruptibleCommand
from novikoff.cli.printable import printable

_LISTED, _LONGEST = 40, 40  # labels, and characters of each
_KINDS = {
    "stream": "a model of novikoff learn",
    "stream-regressor": "a model of novikoff learn",
    "tagger": "a tagger of novikoff tag learn, or a SequenceTagger saved in Python",
}
_STANDARDISED = (
    "Weights are for standardised columns: the {score} changes by the weight if a number grows by one standard",
    "deviation, and by the weight per unit if it grows by 1. The intercept is the {score} of a row without words or",
    "texts whose numbers are all at their means; per unit, of one whose numbers are all 0.",
)
_CURVED = (
    "Numbers are standardised, and each has a curve: what it adds to the {score} so many standard deviations from its",
    "mean, straight in between. Its weight is the difference between the highest and the lowest point within two",
    "standard deviations, per standard deviation. The intercept is the {score} of a row without anything else.",
)
_AS_GIVEN = "Weights are for columns as they were given: the {score} changes by the weight if a number grows by 1."
_OF_TEXTS = "A text has a feature for each of its n-grams: their counts, scaled together to length {:g}."
_LAST_OF_VOTED = (
    "All weight vectors along the run vote; the weights below are the last of them, from which it continues."
)
_BLENDED = (
    "Eight learners vote; the weights below are those of one of them, which adds up the scores of six others. Exports",
    "have these weights too.",
)
_NO_WEIGHTS = "There are no weights by feature: a score is a sum of kernels around the support vectors."


@click.command(cls=InterruptibleCommand)
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="Features to show for each label.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def inspect(model: Path, top: int, as_json: bool) -> None:
    """Show what a model is.

    How MODEL learns, its ledger of mistakes, its intercepts, and the features with the largest weights. MODEL is any
    model file: of `novikoff learn`, `novikoff select` or `novikoff tag learn`, or saved in Python.

    `novikoff learn` standardises numbers, so that the weights of different columns can be compared: each is for one
    standard deviation of its column. The weight of one unit is beside it.
    """
    from novikoff.cli.model_loading import load_to_show
    from novikoff.streaming.model import StreamModel
    from novikoff.structured import SequenceTagger

    kind, found = load_to_show(model)
    if isinstance(found, SequenceTagger):
        from novikoff.cli.tag_report import describe_tagger, tagger_facts

        facts, lines = tagger_facts(found, top), describe_tagger(found, top)
    else:
        from novikoff.cli.model_facts import estimator_facts, stream_facts

        facts = stream_facts(found, top) if isinstance(found, StreamModel) else estimator_facts(found, top)
        lines = _describe(found, facts)
    if as_json:
        click.echo(json.dumps({"kind": kind, **facts}, indent=2))
        return
    click.echo(f"{model}: {_KINDS.get(kind, f'a {type(found).__name__} saved in Python')}")
    for line in lines:
        click.echo(line)


def _describe(found: Any, facts: dict[str, Any]) -> Iterator[str]:
    """Yield the lines that describe a model of rows."""
    if "rows_read" not in facts:
        yield repr(found)
    if "rule" in facts:
        rule = facts["rule"] if "function" not in facts else f"{facts['function']}, a function that is not in the file"
        yield f"{rule}, {facts['hypothesis']}, {'with' if facts['fit_intercept'] else 'without'} an intercept"
    if "loss" in facts:
        yield f"Regression with {facts['loss']} loss"
    if "kernel" in facts:
        yield f"kernel: K(x, z) = {facts['kernel']}"
    if facts["labels"]:
        yield f"labels: {_list_labels(facts['labels'])}"
    counted = [name for name in ("features", "support_vectors") if name in facts]
    yield from (f"{name.replace('_', ' ')}: {facts[name]:,}" for name in counted)
    if facts.get("passes"):
        yield f"passes: {facts['passes']}{'' if facts['converged'] else ', without converging'}"
    yield from (f"read {rows:,} rows of {source}" for source, rows in facts.get("rows_read", {}).items())
    if calibration := facts.get("calibration"):
        kind, rows = calibration["kind"], calibration["rows"]
        yield f"probabilities: by a {kind} of the scores, fitted to {rows:,} rows not learned from"
    ledger = getattr(found, "ledger", None) or getattr(found, "ledger_", None)
    if ledger is not None:
        yield from ("", repr(ledger))
    yield ""
    yield from _explain_weights(facts)
    yield from _list_weights(facts)


def _explain_weights(facts: dict[str, Any]) -> Iterator[str]:
    """Yield lines that say what the weights are for."""
    if "kernel" in facts:
        yield _NO_WEIGHTS
        return
    score = "prediction" if facts.get("loss") == "squared" else "score"
    if facts.get("weights_of") == "blended":
        yield from _BLENDED
    elif facts.get("weights_of", facts.get("hypothesis")) != facts.get("hypothesis"):
        yield _LAST_OF_VOTED
    if any("curves" in each for each in facts["heaviest"]):
        yield from (line.format(score=score) for line in _CURVED)
    elif facts["standardised"]:
        yield from (line.format(score=score) for line in _STANDARDISED)
    elif not facts.get("text_length"):
        yield _AS_GIVEN.format(score=score)
    if facts.get("text_length"):
        yield _OF_TEXTS.format(facts["text_length"])


def _list_weights(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the intercept and the largest weights of each label."""
    for each in facts.get("heaviest", []):
        yield from ("", f"for {printable(each['label'], _LONGEST)}:")
        if "weights_per_unit" in each:
            yield f"  {'weight':>12} {'per unit':>12}"
        for name, weight, unit in _weight_rows(each):
            yield f"  {weight:>+12.6g} {'' if unit is None else f'{unit:>+12.6g} '} {name}"
        yield from _draw_curves(each.get("curves", {}))
    if facts.get("intercepts"):
        yield from ("", "intercepts:")
        yield from (f"  {value:>+12.6g}  for {printable(label)}" for label, value in facts["intercepts"].items())


def _draw_curves(curves: dict[str, dict[str, float]]) -> Iterator[str]:
    """Yield a line for each curve, below one with the knots."""
    for knots in list(curves.values())[:1]:
        yield "  " + " ".join(f"{knot:>8}" for knot in knots)
    for name, heights in curves.items():
        yield "  " + " ".join(f"{height:>+8.3g}" for height in heights.values()) + f"  {printable(name)}"


def _weight_rows(each: dict[str, Any]) -> Iterator[tuple[str, float, float | None]]:
    """Yield the name, the weight, and the weight per unit where there is one: of the intercept, then of features."""
    units = each.get("weights_per_unit", {})
    yield "the intercept", each["intercept"], each.get("intercept_per_unit")
    yield from ((printable(name), weight, units.get(name)) for name, weight in each["weights"].items())


def _list_labels(labels: list[Any]) -> str:
    """The first labels of many, and the beginning of each long one.

    >>> from novikoff.cli.inspect import _list_labels
    >>> _list_labels(["ham", "spam"]), _list_labels(["x" * 99]) == "x" * 39 + "…", _list_labels(list(range(50)))[-13:]
    ('ham, spam', True, '39, 10 others')
    """
    some = [printable(label, _LONGEST) for label in labels[:_LISTED]]
    return ", ".join([*some, *([f"{len(labels) - _LISTED} others"] if len(labels) > _LISTED else [])])

"""novikoff inspect: what a model file holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from novikoff.online import StreamModel


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="Features to show for each label.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of words.")
def inspect(model: Path, top: int, as_json: bool) -> None:
    """Show what a model is.

    How MODEL learns, its account of mistakes, and its heaviest features by name.
    """
    from novikoff.online import StreamModel

    found = StreamModel.load(model)
    click.echo(json.dumps(_facts(found, top), indent=2) if as_json else _words(found, top))


def _facts(model: StreamModel, top: int) -> dict[str, Any]:
    from novikoff.cli.tested import shown

    learner, ledger = model.model.learner, model.ledger
    labels = shown(model.labels)
    return {
        "rule": type(learner.rule).__name__,
        "hypothesis": type(learner.hypothesis).__name__.lower(),
        "fit_intercept": learner.fit_intercept,
        "labels": [label if isinstance(label, (str, int, float, bool)) else str(label) for label in labels],
        "features": len(model.names),
        "rows_read": model.rows_read,
        "examples": ledger.examples,
        "mistakes": ledger.mistakes,
        "radius": ledger.radius,
        "norm": ledger.norm,
        "margin_at_most": ledger.margin_at_most,
        "heaviest": [{"label": str(label), "weights": dict(weights)} for label, weights in _heaviest(model, top)],
    }


def _heaviest(model: StreamModel, top: int) -> list[tuple[Any, list[tuple[str, float]]]]:
    from novikoff.cli.tested import shown

    found = model.heaviest(top)
    return list(zip(shown([label for label, _ in found]), [weights for _, weights in found], strict=True))


def _words(model: StreamModel, top: int) -> str:
    facts = _facts(model, top)
    lines = [f"{facts['rule']}, {facts['hypothesis']}, {'with' if facts['fit_intercept'] else 'without'} an intercept",
             f"labels: {', '.join(map(str, facts['labels']))}",
             f"features: {facts['features']:,}",
             *(f"read {rows:,} rows of {source}" for source, rows in model.rows_read.items()),
             "", repr(model.ledger)]  # fmt: skip
    for label, weights in _heaviest(model, top):
        lines += ["", f"for {label}:", *(f"  {weight:>+12.6g}  {name}" for name, weight in weights)]
    return "\n".join(lines)

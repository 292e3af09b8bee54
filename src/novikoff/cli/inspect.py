"""novikoff inspect: show what a model file holds."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from novikoff.streaming.model import StreamModel

_LISTED, _LONGEST = 40, 40  # labels, and characters of each


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="Features to show for each label.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def inspect(model: Path, top: int, as_json: bool) -> None:
    """Show what a model is.

    How MODEL learns, its ledger of mistakes, and the features with the largest weights; of a model that was saved in
    Python, as many of these as it has. For taggers there is `novikoff tag inspect`.
    """
    from novikoff.model_files.loading import load
    from novikoff.streaming.model import StreamModel

    found = load(model)
    if isinstance(found, StreamModel):
        click.echo(json.dumps(_facts(found, top), indent=2) if as_json else _describe(found, top))
        return
    facts = _estimator_facts(found, top, model)
    click.echo(json.dumps(facts, indent=2) if as_json else _describe_estimator(found, facts))


def _facts(model: StreamModel, top: int) -> dict[str, Any]:
    from novikoff.selection.evaluation import plain_labels

    if model.predicts_numbers:
        return _regression_facts(model, top)
    learner, ledger = model.model.learner, model.ledger
    labels = plain_labels(model.labels)
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
        "calibration": None if model.calibration is None else asdict(model.calibration),
        "heaviest": [
            {"label": str(label), "weights": dict(weights)} for label, weights in _largest_weights(model, top)
        ],
    }


def _regression_facts(model: StreamModel, top: int) -> dict[str, Any]:
    ledger: Any = model.ledger
    figures = {name: getattr(ledger, name) for name in ("rmse", "rmse_of_mean", "r2", "mean", "lowest", "highest")}
    return {
        "loss": "squared",
        "features": len(model.names),
        "rows_read": model.rows_read,
        "examples": ledger.examples,
        **{name: None if value != value else value for name, value in figures.items()},
        "heaviest": [{"label": str(label), "weights": dict(weights)} for label, weights in model.heaviest(top)],
    }


def _largest_weights(model: StreamModel, top: int) -> list[tuple[Any, list[tuple[str, float]]]]:
    from novikoff.selection.evaluation import plain_labels

    found = model.heaviest(top)
    return list(zip(plain_labels([label for label, _ in found]), [weights for _, weights in found], strict=True))


def _describe(model: StreamModel, top: int) -> str:
    facts = _facts(model, top)
    if model.predicts_numbers:
        heading = ["Regression with squared loss"]
    else:
        with_or_without = "with" if facts["fit_intercept"] else "without"
        heading = [
            f"{facts['rule']}, {facts['hypothesis']}, {with_or_without} an intercept",
            f"labels: {_list_labels(facts['labels'])}",
        ]
    lines = [
        *heading,
        f"features: {facts['features']:,}",
        *(f"read {rows:,} rows of {source}" for source, rows in model.rows_read.items()),
        "",
        repr(model.ledger),
    ]
    if model.calibration is not None:
        kind, rows = model.calibration.kind, model.calibration.rows
        lines.insert(-2, f"probabilities: by a {kind} of the scores, fitted to {rows:,} rows not learned from")
    for label, weights in _largest_weights(model, top):
        lines += ["", f"for {label}:", *(f"  {weight:>+12.6g}  {name}" for name, weight in weights)]
    return "\n".join(lines)


def _estimator_facts(found: Any, top: int, path: Path) -> dict[str, Any]:
    """The facts of an estimator that was saved in Python, as far as it has them."""
    from novikoff.selection.evaluation import plain_labels
    from novikoff.structured import SequenceTagger

    if isinstance(found, SequenceTagger):
        raise click.ClickException(f"{path} holds a tagger. To inspect it: novikoff tag inspect {path}")
    labels = plain_labels(found.classes_.tolist()) if hasattr(found, "classes_") else []
    facts = {
        "type": type(found).__name__,
        "parameters": {k: str(v) for k, v in found.get_params(deep=False).items()},
        "labels": [label if isinstance(label, (str, int, float, bool)) else str(label) for label in labels],
        "passes": getattr(found, "n_iter_", None),
        "converged": getattr(found, "converged_", None),
    }
    if hasattr(found, "support_"):
        facts["support_vectors"] = len(found.support_)
    ledger = getattr(found, "ledger_", None)
    for name in ("examples", "mistakes", "radius", "norm", "margin_at_most"):
        if hasattr(ledger, name):
            facts[name] = getattr(ledger, name)
    if hasattr(found, "coef_"):
        facts["features"] = found.coef_.shape[-1]
        facts["heaviest"] = _estimator_weights(found, labels, top)
    return facts


def _list_labels(labels: list[Any]) -> str:
    """The first labels of many, and the beginning of each long one.

    >>> from novikoff.cli.inspect import _list_labels
    >>> _list_labels(["ham", "spam"]), _list_labels(["x" * 99]) == "x" * 40 + "...", _list_labels(list(range(50)))[-13:]
    ('ham, spam', True, '39, 10 others')
    """
    some = [text if len(text := str(label)) <= _LONGEST else f"{text[:_LONGEST]}..." for label in labels[:_LISTED]]
    return ", ".join([*some, *([f"{len(labels) - _LISTED} others"] if len(labels) > _LISTED else [])])


def _estimator_weights(found: Any, labels: list[Any], top: int) -> list[dict[str, Any]]:
    import numpy as np

    coef = np.atleast_2d(found.coef_)
    known = getattr(found._model, "vocabulary", None)
    names = list(getattr(found, "feature_names_in_", ()) if known is None else known)
    names = names or [f"column {j}" for j in range(coef.shape[1])]
    rows = []
    for label, weights in zip(labels if len(coef) > 1 else labels[-1:] or ["the prediction"], coef, strict=True):
        order = [j for j in np.argsort(-np.abs(weights), kind="stable")[:top].tolist() if weights[j]]
        rows.append({"label": str(label), "weights": {names[j]: float(weights[j]) for j in order}})
    return rows


def _describe_estimator(found: Any, facts: dict[str, Any]) -> str:
    lines = [repr(found)]
    if facts["labels"]:
        lines.append(f"labels: {_list_labels(facts['labels'])}")
    counted = [name for name in ("features", "support_vectors") if name in facts]
    lines += [f"{name.replace('_', ' ')}: {facts[name]:,}" for name in counted]
    if facts["passes"]:
        lines.append(f"passes: {facts['passes']}{'' if facts['converged'] else ', without converging'}")
    if hasattr(found, "ledger_"):
        lines += ["", repr(found.ledger_)]
    for each in facts.get("heaviest", []):
        lines += ["", f"for {each['label']}:", *(f"  {w:>+12.6g}  {name}" for name, w in each["weights"].items())]
    return "\n".join(lines)

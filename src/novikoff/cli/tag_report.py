"""novikoff tag test and inspect: how good a tagger is, and what it has learned."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.tag_files import column_options, load_tagger, model_argument, read_all, word

if TYPE_CHECKING:
    from novikoff.structured.evaluation import Outcome

__all__ = ["inspect", "test"]


@click.command()
@model_argument
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@column_options
def test(
    model: Path, files: tuple[str, ...], as_json: bool, format: str | None, use: str | None, **choices: Any
) -> None:
    """Score a tagger on files with tags.

    Counts tokens, words that it has never met, whole sentences and, if the tags are BIO, IOB1, IOE or BILOU, spans.
    """
    from novikoff.structured.evaluation import outcome_of

    tagger = load_tagger(model, "test")
    use = use or ",".join(tagger.columns_)
    _, (X, y) = read_all(files, format, use=use, known=tagger.files, **choices)
    found = outcome_of(tagger, X, y)
    click.echo(json.dumps(found.facts(), indent=2) if as_json else "\n".join(_report(found, set(tagger.tags_))))


def _report(found: Outcome, known: set[Any]) -> Iterator[str]:
    yield f"{found.right:,} of {found.tokens:,} tokens right, {found.accuracy:.2%}."
    if found.unknown_accuracy is not None:
        unknown = sum(found.unknown.values())
        yield f"Of {unknown:,} tokens whose words were never met before, {found.unknown_accuracy:.2%}."
    yield f"{found.sentences_right:,} of {found.sentences:,} sentences have no mistake."
    strangers = sorted({str(tag) for tag, _ in found.counts if tag not in known})
    if strangers:
        yield f"The tagger has never met the tags {', '.join(strangers)}, and cannot give them."
    if found.spans is not None:
        precision, recall, f1 = (f"{0.0 if value is None else value:.2%}" for value in found.spans.scores())
        yield f"Spans: precision {precision}, recall {recall}, F1 {f1}."
        yield from _table("type", found.per_type())
    yield from _table("tag", found.per_tag())


def _table(what: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    width = max(len(what), *(len(word(row[what])) for row in rows))
    yield ""
    yield f"  {what:<{width}} {'support':>9} {'precision':>10} {'recall':>8} {'F1':>8}"
    for row in rows:
        shares = ["" if row[name] is None else f"{row[name]:.4f}" for name in ("precision", "recall", "f1")]
        name = f"{word(row[what]):<{width}}"
        yield f"  {name} {row['support']:>9,} {shares[0]:>10} {shares[1]:>8} {shares[2]:>8}".rstrip()


@click.command()
@model_argument
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="Features to show for each tag.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of words.")
def inspect(model: Path, top: int, as_json: bool) -> None:
    """Show what a tagger has learned.

    Its account of mistakes, and by name the features and pairs of tags that weigh most.
    """
    tagger = load_tagger(model, "inspect")
    heaviest = tagger.heaviest(top)
    pairs, triples = (_largest(weights, top) for weights in (tagger.transitions(), tagger.triples()))
    if as_json:
        ledger = tagger.ledger_
        facts = {
            "templates": list(tagger.templates.lines),
            "columns": list(tagger.columns_),
            "tags": tagger.tags_,
            "markov_order": tagger.markov_order,
            "beam": tagger.beam,
            "constraints": tagger.constraints,
            "features": tagger.n_features_,
            "sentences": ledger.examples,
            "mistakes": ledger.mistakes,
            "radius": ledger.radius,
            "norm": ledger.norm,
            "margin_at_most": ledger.margin_at_most,
            "heaviest": {str(tag): dict(weights) for tag, weights in heaviest.items()},
            "transitions": [{"from": a, "to": b, "weight": weight} for (a, b), weight in pairs],
            "triples": [{"tags": tags, "weight": weight} for tags, weight in triples],
        }
        click.echo(json.dumps(facts, indent=2))
        return
    lines = [
        f"tags: {', '.join(map(word, tagger.tags_))}",
        f"features: {tagger.n_features_:,}, of columns {', '.join(tagger.columns_)}",
        "",
        repr(tagger.ledger_),
    ]
    for name, weights in heaviest.items():
        lines += ["", f"for {word(name)}:", *(f"  {weight:>+12.6g}  {word(name)}" for name, weight in weights)]
    for title, weights in ("one tag after the other:", pairs), ("three tags in a row:", triples):
        if weights:
            lines += ["", title, *(f"  {weight:>+12.6g}  {' '.join(map(word, tags))}" for tags, weight in weights)]
    click.echo("\n".join(lines))


def _largest(weights: dict[Any, float], top: int) -> list[tuple[Any, float]]:
    return sorted(weights.items(), key=lambda item: (-abs(item[1]), str(item[0])))[:top]

"""novikoff tag test and inspect: the evaluation of a tagger, and its largest weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.interrupts import InterruptibleCommand
from novikoff.cli.printable import printable
from novikoff.cli.tag_files import (
    BadSentences,
    column_options,
    load_tagger,
    model_argument,
    read_corpus,
    warn_of_one_tag,
)

if TYPE_CHECKING:
    from novikoff.structured import SequenceTagger
    from novikoff.structured.evaluation import TaggingEvaluation

__all__ = ["describe_tagger", "inspect", "tagger_facts", "test"]


@click.command(cls=InterruptibleCommand)
@model_argument
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option(
    "--bad-sentences",
    type=click.Choice(["count", "skip"]),
    default="count",
    show_default=True,
    help="Whether to evaluate sentences whose tags the constraints of the tagger forbid; it cannot get them right.",
)
@column_options
def test(
    model: Path,
    files: tuple[str, ...],
    as_json: bool,
    bad_sentences: str,
    format: str | None,
    use: str | None,
    **choices: Any,
) -> None:
    """Evaluate a tagger on files with tags.

    Reports the accuracy on tokens, unknown words and whole sentences and, if the tags are BIO, IOB1, IOE or BILOU,
    precision, recall and F1 of spans.
    """
    from novikoff.structured.evaluation import evaluate_tagger

    tagger = load_tagger(model, "test")
    use = use or ",".join(tagger.columns_)
    if bad_sentences == "skip" and tagger.constraints is None:
        raise click.UsageError(f"--bad-sentences skip: {model} was learned without --constraints, so no tags are bad.")
    bad = BadSentences(tagger.constraints, skip=True) if bad_sentences == "skip" else None
    layout, (X, y) = read_corpus(files, format, bad=bad, use=use, known=tagger.files, **choices)
    if bad is not None:
        bad.report()
    warn_of_one_tag(layout, chain.from_iterable(y))
    evaluation = evaluate_tagger(tagger, X, y)
    click.echo(
        json.dumps(evaluation.facts(), indent=2) if as_json else "\n".join(_report(evaluation, set(tagger.tags_)))
    )


def _report(evaluation: TaggingEvaluation, known: set[Any]) -> Iterator[str]:
    yield f"{evaluation.right:,} of {evaluation.tokens:,} tokens right, {evaluation.accuracy:.2%}."
    if evaluation.unknown_accuracy is not None:
        unknown = sum(evaluation.unknown.values())
        yield f"Of {unknown:,} tokens whose words were never seen before, {evaluation.unknown_accuracy:.2%}."
    yield f"{evaluation.sentences_right:,} of {evaluation.sentences:,} sentences have no mistake."
    unknown_tags = sorted({str(tag) for tag, _ in evaluation.counts if tag not in known})
    if unknown_tags:
        yield f"The tagger has never seen the tags {', '.join(unknown_tags)}, and cannot predict them."
    if evaluation.spans is not None:
        precision, recall, f1 = (f"{0.0 if value is None else value:.2%}" for value in evaluation.spans.scores())
        yield f"Spans: precision {precision}, recall {recall}, F1 {f1}."
        yield from _table("type", evaluation.per_type())
    yield from _table("tag", evaluation.per_tag())


def _table(what: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    width = max(len(what), *(len(printable(row[what])) for row in rows))
    yield ""
    yield f"  {what:<{width}} {'support':>9} {'precision':>10} {'recall':>8} {'F1':>8}"
    for row in rows:
        shares = ["" if row[name] is None else f"{row[name]:.4f}" for name in ("precision", "recall", "f1")]
        name = f"{printable(row[what]):<{width}}"
        yield f"  {name} {row['support']:>9,} {shares[0]:>10} {shares[1]:>8} {shares[2]:>8}".rstrip()


@click.command(cls=InterruptibleCommand)
@model_argument
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="Features to show for each tag.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
def inspect(model: Path, top: int, as_json: bool) -> None:
    """Show what a tagger has learned.

    Prints its ledger, and the features and pairs of tags with the largest weights.
    """
    tagger = load_tagger(model, "inspect")
    if as_json:
        click.echo(json.dumps({"kind": "tagger", **tagger_facts(tagger, top)}, indent=2))
    else:
        click.echo("\n".join(describe_tagger(tagger, top)))


def tagger_facts(tagger: SequenceTagger, top: int) -> dict[str, Any]:
    """Return what is shown of a tagger, as values that JSON can hold."""
    ledger = tagger.ledger_
    pairs, triples = _find_pairs_and_triples(tagger, top)
    return {
        "templates": list(tagger.templates.lines),
        "columns": list(tagger.columns_),
        "tags": tagger.tags_,
        "hypothesis": tagger.hypothesis,
        "markov_order": tagger.markov_order,
        "beam": tagger.beam,
        "constraints": tagger.constraints,
        "features": tagger.n_features_,
        "sentences": ledger.examples,
        "mistakes": ledger.mistakes,
        "radius": ledger.radius,
        "norm": ledger.norm,
        "margin_at_most": ledger.margin_at_most,
        "heaviest": {str(tag): dict(weights) for tag, weights in tagger.heaviest(top).items()},
        "transitions": [{"from": a, "to": b, "weight": weight} for (a, b), weight in pairs],
        "triples": [{"tags": tags, "weight": weight} for tags, weight in triples],
    }


def describe_tagger(tagger: SequenceTagger, top: int) -> Iterator[str]:
    """Yield the lines that describe a tagger."""
    search = "exact search" if tagger.beam is None else f"beam search with {tagger.beam} prefixes"
    scheme = "" if tagger.constraints is None else f", only valid spans of {tagger.constraints}"
    yield f"chains of order {tagger.markov_order}, {tagger.hypothesis} weights, {search}{scheme}"
    yield f"tags: {', '.join(map(printable, tagger.tags_))}"
    yield f"features: {tagger.n_features_:,}, of columns {', '.join(tagger.columns_)}"
    yield from (
        "",
        repr(tagger.ledger_),
        "",
        "Weights are for features that are present or not; there is no intercept.",
    )
    for tag, weights in tagger.heaviest(top).items():
        yield from ("", f"for {printable(tag)}:")
        yield from (f"  {weight:>+12.6g}  {printable(name)}" for name, weight in weights)
    pairs, triples = _find_pairs_and_triples(tagger, top)
    for title, weights in ("pairs of tags:", pairs), ("triples of tags:", triples):
        if weights:
            yield from ("", title)
            yield from (f"  {weight:>+12.6g}  {' '.join(map(printable, tags))}" for tags, weight in weights)


def _find_pairs_and_triples(tagger: SequenceTagger, top: int) -> tuple[list[Any], list[Any]]:
    return _find_largest(tagger.transitions(), top), _find_largest(tagger.triples(), top)


def _find_largest(weights: dict[Any, float], top: int) -> list[tuple[Any, float]]:
    return sorted(weights.items(), key=lambda item: (-abs(item[1]), str(item[0])))[:top]

"""novikoff certify --cluster: a certificate of many files, with its rows named by file and line."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.cluster import refuse_options
from novikoff.cli.progress import announce_compilation, say
from novikoff.theory.certificates import Certificate, Inseparable, Separable, Verdicts

if TYPE_CHECKING:
    from novikoff.distributed.certifying import Proof

__all__ = ["certify_on_cluster"]

_MOST_ROWS = 20  # of those that prove a verdict, printed one below the other
_SEPARATE = ("kernel", "degree", "gamma", "coef0", "drop_missing", "errors", "time_limit", "plot", "verify")


def certify_on_cluster(
    pattern: Path,
    cluster: str,
    *,
    positive: str | None,
    fit_intercept: bool,
    as_json: bool,
    exit_code: int | None,
    reading: dict[str, Any],
) -> None:
    """Decide about the files that match a pattern, print the proof, and exit with a code if they are inseparable."""
    from novikoff.distributed import certify

    refuse_options(_SEPARATE, "is for one machine.")
    announce_compilation()
    options = {name: value for name, value in reading.items() if value not in (None, ())}
    label: Any = positive
    try:
        proof = certify(
            str(pattern), cluster=cluster, positive=label, fit_intercept=fit_intercept, progress=say, **options
        )
    except KeyboardInterrupt:
        raise click.ClickException("Stopped before there was a verdict.") from None
    if as_json:
        click.echo(json.dumps(_facts(pattern, proof), indent=2))
    else:
        _print(proof)
    if exit_code is not None and not proof:
        sys.exit(exit_code)


def _print(proof: Proof) -> None:
    for certificate in _certificates(proof):
        click.echo(str(certificate))
        rows = proof.named_rows(certificate)
        click.echo("  named rows:")
        for row in rows[:_MOST_ROWS]:
            click.echo(f"    {row}")
        if len(rows) > _MOST_ROWS:
            click.echo(f"    and {len(rows) - _MOST_ROWS:,} more; --json lists all")
    click.echo(
        f"\nProved in {proof.passes} passes over the files; in the last one independent code has checked every row in "
        "exact arithmetic."
    )


def _certificates(proof: Proof) -> list[Certificate]:
    return list(proof.verdict.values()) if isinstance(proof.verdict, Verdicts) else [proof.verdict]


def _facts(pattern: Path, proof: Proof) -> dict[str, Any]:
    return {
        "files": str(pattern),
        "passes": proof.passes,
        "verified": True,
        "verdicts": [_proof(certificate, proof) for certificate in _certificates(proof)],
    }


def _proof(certificate: Certificate, proof: Proof) -> dict[str, Any]:
    question = certificate.question
    facts: dict[str, Any] = {
        "positive": question.positive,
        "negative": question.negative,
        "against_rest": question.one_against_rest,
        "fit_intercept": question.fit_intercept,
        "rows": certificate.n_rows,
    }
    multipliers: list[Any]
    if isinstance(certificate, Separable):
        weights = zip(proof.feature_names, certificate.separator, strict=True)
        facts |= {
            "verdict": "separable",
            "margin_lower": _exact(certificate.margin_lower),
            "margin_upper": certificate.margin_upper,
            "radius": certificate.radius,
            "separator": {name: _exact(weight) for name, weight in weights if weight},
            "intercept": _exact(certificate.intercept),
        }
        multipliers = list(certificate.multipliers)
    else:
        assert isinstance(certificate, Inseparable)
        facts["verdict"] = "inseparable"
        multipliers = [str(multiplier) for multiplier in certificate.multipliers]
    named = zip(proof.named_rows(certificate), multipliers, strict=True)
    return facts | {"named_rows": [{"file": row.file, "line": row.line, "multiplier": _exact(m)} for row, m in named]}


def _exact(number: Any) -> float | str:
    """A double, or a fraction or an integer of any size as a string."""
    return float(number) if isinstance(number, float) else str(number)

"""Complete proofs as JSON, for a program to check.

Rows are numbered from 0 among all rows of the file, lines from 1. Doubles are written so that they are read back the
same; integers of any size, and fractions p/q where a margin is too small for doubles, are strings.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.theory.certificates import Certificate, Inseparable, Separable, Verdicts

if TYPE_CHECKING:
    from novikoff.data.whole_table import WholeTable
    from novikoff.theory.fewest_errors import FewestErrors
    from novikoff.theory.geometric_margin import GeometricMargin

__all__ = ["to_json"]


def to_json(
    file: str,
    table: WholeTable,
    found: Certificate | Verdicts,
    fewest: FewestErrors | None,
    verified: bool,
    geometric: GeometricMargin | None = None,
) -> str:
    """One JSON object: what was read, and the verdict with its proof, or a list of them."""
    labels, counts = np.unique(table.y, return_counts=True)
    first = found if isinstance(found, Certificate) else next(iter(found.values()))
    about = {
        "file": file,
        "format": table.format,
        "rows_used": table.X.shape[0],
        "columns_used": table.X.shape[1],
        "target": table.target,
        "labels": [{"label": a, "rows": b} for a, b in zip(labels.tolist(), counts.tolist(), strict=True)],
        "notes": table.notes,
        "fit_intercept": first.question.fit_intercept,
        **({} if first.question.kernel is None else {"kernel": asdict(first.question.kernel)}),
        "verified": verified,
    }
    if isinstance(found, Certificate):
        about |= _proof(found, table)
    else:
        about["verdicts"] = [_proof(certificate, table) for certificate in found.values()]
    if fewest is not None:
        about["fewest_errors"] = _fewest(fewest, table)
    if geometric is not None:
        about["geometric_margin"] = _geometric(geometric, table)
    return json.dumps(about, indent=2)


def _proof(found: Certificate, table: WholeTable) -> dict[str, Any]:
    question = found.question
    sides = {"positive": question.positive, "negative": question.negative, "against_rest": question.one_against_rest}
    if isinstance(found, Separable):
        return sides | {
            "verdict": "separable",
            "margin_lower": _exact(found.margin_lower),
            "margin_upper": found.margin_upper,
            "mistake_bound": found.mistake_bound if found.mistake_bound < math.inf else None,
            "radius": found.radius,
            **_separator(found, table),
            "rows": _rows(found.support, [_exact(weight) for weight in found.multipliers], table),
        }
    assert isinstance(found, Inseparable)
    return sides | {"verdict": "inseparable", "rows": _rows(found.rows, [str(m) for m in found.multipliers], table)}


def _separator(found: Separable, table: WholeTable) -> dict[str, Any]:
    """Weights of columns; in the feature space of a kernel, of rows."""
    if found.question.kernel is None:
        return {"separator": _weights(found.separator, table), "intercept": _exact(found.intercept)}
    used = np.flatnonzero(found.separator)
    return {"separator": [_locate(row, table) | {"weight": _exact(found.separator[row])} for row in used.tolist()]}


def _geometric(found: GeometricMargin, table: WholeTable) -> dict[str, Any]:
    """The margin whose bias is free; `margin_lower` beside the separator above is Novikoff's."""
    return {
        "margin_lower": _exact(found.margin_lower),
        "margin_upper": found.margin_upper,
        "separator": _weights(found.separator, table),
        "intercept": _exact(found.intercept),
        "rows": _rows(found.support, [_exact(weight) for weight in found.multipliers], table),
    }


def _fewest(found: FewestErrors, table: WholeTable) -> dict[str, Any]:
    return {
        "lower": found.lower,
        "upper": found.upper,
        "separator": _weights(found.separator, table),
        "intercept": _exact(found.intercept),
        "rows_wrong": [_locate(row, table) for row in found.rows_wrong.tolist()],
        "witnesses": [
            {"share": str(share), "rows": _rows(witness.rows, [str(m) for m in witness.multipliers], table)}
            for witness, share in zip(found.witnesses, found.shares, strict=True)
        ],
    }


def _weights(separator: np.ndarray, table: WholeTable) -> dict[str, Any]:
    """Weights by the names of the columns; columns that are not listed have weight 0."""
    return {name: _exact(weight) for name, weight in zip(table.feature_names, separator, strict=True) if weight}


def _rows(rows: np.ndarray, multipliers: list[Any], table: WholeTable) -> list[dict[str, Any]]:
    return [_locate(row, table) | {"multiplier": m} for row, m in zip(rows.tolist(), multipliers, strict=True)]


def _locate(row: int, table: WholeTable) -> dict[str, Any]:
    """The number of a row in the file, its line, and its label."""
    return {"row": int(table.row_numbers[row]), "line": int(table.lines[row]), "label": table.y[row].item()}


def _exact(number: Any) -> float | str:
    """A double, or a fraction as a string."""
    return float(number) if isinstance(number, (float, np.floating)) else str(number)

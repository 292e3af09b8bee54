"""The verdict about a file: per class and pair, the rows that clash, and the fewest errors from both sides."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from novikoff.data.whole_table import TableError, WholeTable, read_whole_table
from novikoff.errors import DataError
from novikoff.inputs.labels import encode_labels
from novikoff.plots.projection import project
from novikoff.studio.jobs import Job
from novikoff.theory.certificates import Certificate, Inseparable, Separable
from novikoff.theory.conflicts import find_conflicts
from novikoff.theory.fewest_errors import fewest_errors
from novikoff.theory.questions import Question
from novikoff.theory.separability import certify_classes, certify_signs, read_data

__all__ = ["certify_file"]

_MOST_LABELS = 30  # for each a question, and for each pair
_SECONDS = 10.0  # for the fewest errors
_PAIRS = 10  # of identical rows with opposite labels
_CLASHING = 12  # rows of a witness that are listed
_COLUMNS = 10  # of them that differ
_DRAWN = 4_000  # points of the picture

_ADVICE = "Rows with missing cells are left out; a column that holds text can be left out above."


def certify_file(path: Path, options: dict[str, Any], job: Job) -> dict[str, Any]:
    """Decide whether the rows of a file are separable, and return the answer with its proof as a JSON object."""
    job.report(stage="reading the table")
    try:
        table = read_whole_table(str(path), drop_missing=True, drop_unreadable=True, **options)
    except TableError as error:
        raise DataError(f"{error.problem} {_ADVICE}") from error
    names = encode_labels(table.y)[0].tolist()
    if not 2 <= len(names) <= _MOST_LABELS:
        raise DataError(
            f"{path.name}: column {table.target!r} has {len(names):,} different labels; a verdict needs 2 to "
            f"{_MOST_LABELS}. Choose another column of labels."
        )
    rows, labels = read_data(table.X, table.y)
    total, numbers = (1 if len(names) == 2 else len(names) * (len(names) + 1) // 2), count(1)

    def ask(question: Question) -> Certificate:
        job.report(stage=f"question {next(numbers)} of {total}: {question}")
        found = certify_signs(rows, question.signs(labels), question)
        found.verify(table.X, table.y)
        return found

    if len(names) > 2:
        verdicts = list(certify_classes(ask, names, fit_intercept=True).values())
    else:
        verdicts = [ask(Question(names[1], names[0], fit_intercept=True))]
    result = {
        "rows": len(labels),
        "columns": table.X.shape[1],
        "target": table.target,
        "notes": list(table.notes),
        "verdicts": [_describe(found, table) for found in verdicts],
        "fewest": None,
        "plane": None,
    }
    if len(verdicts) == 1:
        job.report(stage="looking for the fewest errors", partial=result)
        result |= _describe_errors_and_plane(verdicts[0], table, job)
    return result


def _describe(found: Certificate, table: WholeTable) -> dict[str, Any]:
    question = found.question
    about = {
        "positive": str(question.positive),
        "negative": "the rest" if question.one_against_rest else str(question.negative),
        "separable": bool(found),
    }
    if isinstance(found, Separable):
        bound = found.mistake_bound
        return about | {
            "margin": found.margin,
            "radius": found.radius,
            "bound": bound if bound < float("inf") else None,
            "support": _locate(found.support[:_CLASHING], table),
        }
    assert isinstance(found, Inseparable)
    signs = question.signs(table.y)
    return about | {
        "n_rows": len(found.rows),
        "clash": _lay_out(found.rows[:_CLASHING], [str(m) for m in found.multipliers[:_CLASHING]], table),
        "identical": [
            [_locate([one], table)[0], _locate([other], table)[0]]
            for one, other in find_conflicts(table.X, signs, _PAIRS)
        ],
    }


def _locate(rows: Any, table: WholeTable) -> list[dict[str, Any]]:
    return [{"line": int(table.lines[row]), "label": str(table.y[row])} for row in rows]


def _lay_out(rows: np.ndarray, multipliers: list[str], table: WholeTable) -> dict[str, Any]:
    """Return rows side by side: the columns in which they differ, and their cells."""
    cells = {column.name: [_cell(row, column, table) for row in rows.tolist()] for column in table.columns}
    differing = [name for name, values in cells.items() if len(set(values)) > 1]
    shown = differing[:_COLUMNS] or list(cells)[:_COLUMNS]
    return {
        "columns": shown,
        "n_same": len(cells) - len(differing),
        "n_differing": len(differing),
        "rows": [
            located | {"multiplier": multiplier, "cells": [cells[name][at] for name in shown]}
            for at, (located, multiplier) in enumerate(zip(_locate(rows, table), multipliers, strict=True))
        ],
    }


def _cell(row: int, column: Any, table: WholeTable) -> str:
    """Return what is in a cell of the file, from the columns of X that encode it."""
    width = len(column.values) or 1
    part = table.X[[row]][:, column.first : column.first + width]
    values = np.asarray(part.toarray() if hasattr(part, "toarray") else part).ravel()
    return str(column.values[int(values.argmax())]) if column.values else f"{values[0]:.6g}"


def _describe_errors_and_plane(found: Certificate, table: WholeTable, job: Job) -> dict[str, Any]:
    """Return the fewest errors, unless there are none, and the rows projected on the best direction."""
    if isinstance(found, Separable):
        w, intercept = np.asarray(found.separator, float), float(found.intercept)
        return {"plane": _draw(w, intercept, table, found)}
    fewest = fewest_errors(
        table.X,
        table.y,
        time_limit=_SECONDS,
        progress=lambda lower, upper: job.report(fewest=[int(lower), int(upper)]),
    )
    fewest.verify(table.X, table.y)
    wrong = _locate(fewest.rows_wrong[:_CLASHING], table)
    return {
        "fewest": {"lower": fewest.lower, "upper": fewest.upper, "wrong": wrong},
        "plane": _draw(np.asarray(fewest.separator, float), float(fewest.intercept), table, found),
    }


def _draw(w: np.ndarray, intercept: float, table: WholeTable, found: Certificate) -> dict[str, Any]:
    """Return points for a picture: the distance from the boundary, and the direction of largest remaining variance."""
    chosen = np.arange(len(table.y))
    if len(chosen) > _DRAWN:
        chosen = np.sort(np.random.default_rng(0).choice(chosen, _DRAWN, replace=False))
    points = project(table.X[chosen], w, intercept, table.feature_names)
    signs = found.question.signs(table.y[chosen])
    return {
        "axes": list(points.axes),
        "normal": points.normal.tolist(),
        "offset": float(points.offset),
        "points": [
            [float(f"{x:.5g}"), float(f"{y:.5g}"), int(sign), int(line)]
            for (x, y), sign, line in zip(points.coordinates.tolist(), signs, table.lines[chosen], strict=True)
        ],
        "n_rows": len(table.y),
    }

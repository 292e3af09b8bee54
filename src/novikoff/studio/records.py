"""Records: points, settings, verdict, bound and all events of a run, as JSON that a page can draw by itself.

A record depends on points and settings alone: equal ones give equal bytes.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from novikoff.inputs.rows import Rows
from novikoff.kernel_methods import Points
from novikoff.studio.commands import reproduce
from novikoff.studio.runs import Run, run_kernel, run_linear
from novikoff.studio.settings import PlanePoints, Settings
from novikoff.studio.verdicts import certify_points, describe_bound, describe_verdict
from novikoff.theory.certificates import Certificate, KernelSeparable, Separable

__all__ = ["RECORD_VERSION", "make_record", "to_bytes"]

RECORD_VERSION = 1
_GRID = 45  # kernel values are sent for a grid of this many points in each direction


def make_record(points: Any, settings: Settings | dict[str, Any] | None = None) -> dict[str, Any]:
    """Learn from points of the plane, certify them, and return the record of it.

    Parameters
    ----------
    points : list of [x1, x2, label]
        With labels -1 and 1.
    settings : Settings or dict, optional

    Returns
    -------
    dict
        Of JSON values: `record` (the version of the format), `settings`, `points`, `verdict`, `bound`, `run`,
        `events` (a list for each column, see `runs.Run`), `alpha`, `python` and `command`; with a kernel also `fields`.

    Examples
    --------
    >>> from novikoff.studio import make_record
    >>> xor = make_record([[0, 0, -1], [0, 1, 1], [1, 0, 1], [1, 1, -1]], {"passes": 2})
    >>> xor["verdict"]["separable"], xor["verdict"]["multipliers"]
    (False, ['1', '1', '1', '1'])
    """
    chosen = settings if isinstance(settings, Settings) else Settings.from_json(settings or {})
    known = points if isinstance(points, PlanePoints) else PlanePoints.from_json(points)
    record: dict[str, Any] = {
        "record": RECORD_VERSION,
        "settings": chosen.to_json(),
        "points": known.to_json(),
    }
    certificate = certify_points(known, chosen)
    record["verdict"] = describe_verdict(certificate, known, chosen)
    record["bound"] = describe_bound(certificate, known, chosen)
    if not len(known.y):
        return record | {"run": None, "events": None, "alpha": [], **reproduce(known, chosen)}
    run = run_kernel(known, chosen) if chosen.is_curved else run_linear(known, chosen)
    columns, stride = run.thinned()
    events: dict[str, Any] = {**columns, "progress": _progress(columns, certificate, known, run)}
    record |= {
        "run": _describe_run(run, stride, len(events["t"])),
        "events": events,
        "alpha": run.alpha,
        **reproduce(known, chosen),
    }
    if chosen.is_curved:
        record["fields"] = _kernel_fields(run, certificate, known, chosen)
    return record


def to_bytes(record: Any) -> bytes:
    """Return a record as JSON, in which no character can end a script element of a page."""
    text = json.dumps(record, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").encode()


def _describe_run(run: Run, stride: int, n_events: int) -> dict[str, Any]:
    names = ("passes", "converged", "stalled", "examples", "mistakes", "updates", "radius")
    return {name: getattr(run, name) for name in names} | {
        "stride": stride,
        "is_complete": stride == 1 and n_events == run.examples,
    }


def _progress(
    events: dict[str, list[Any]], certificate: Certificate | None, points: PlanePoints, run: Run
) -> list[float] | None:
    """Return <w, u> after each event, for the unit separator u of the certificate; None if there is none."""
    if not isinstance(certificate, Separable):
        return None
    if isinstance(certificate, KernelSeparable):
        if len(events["t"]) != run.examples:  # of a thinned run the steps on other rows are not known
            return None
        scores = certificate.scores(points.X, points.X) * points.y
        steps = np.array(events["step"]) * scores[np.array(events["row"])]
        return [float(value) for value in np.cumsum(steps)]
    u = np.array([float(value) for value in certificate.separator])
    return [float(u @ w) + float(certificate.intercept) * b for w, b in zip(events["w"], events["b"], strict=True)]


def _kernel_fields(
    run: Run, certificate: Certificate | None, points: PlanePoints, settings: Settings
) -> dict[str, Any]:
    """Return K(x_i, z) for each row x_i that was updated on, and all z of a grid: boundaries are sums of these."""
    low, high = points.X.min(axis=0), points.X.max(axis=0)
    side = max(float((high - low).max()), 1e-9)
    center = (low + high) / 2.0
    from_, to = center - 0.7 * side, center + 0.7 * side
    axes = [np.linspace(from_[axis], to[axis], _GRID) for axis in (0, 1)]
    grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 2)
    rows = [row for row, alpha in enumerate(run.alpha) if alpha]
    kernel, at = settings.kernel_value, Points.of(Rows.of(grid))
    values = kernel.block(Points.of(Rows.of(points.X[rows])), at) if rows else np.zeros((0, len(grid)))
    best = certificate.scores(points.X, grid) if isinstance(certificate, KernelSeparable) else None
    return {
        "n": _GRID,
        "from": from_.tolist(),
        "to": to.tolist(),
        "rows": rows,
        "values": [_round_row(row) for row in values],
        "best": None if best is None else _round_row(best),
    }


def _round_row(values: np.ndarray) -> list[float]:
    """Return numbers with five digits: enough to draw."""
    return [float(f"{value:.5g}") for value in values]

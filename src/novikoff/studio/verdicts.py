"""Verdicts and mistake bounds as JSON, with all that a program needs to check them in exact arithmetic.

Doubles are written so that they are read back the same. Multipliers of a witness are integers of any size, as strings;
a margin that is too small for doubles is a string p/q.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from novikoff.studio.settings import PlanePoints, Settings
from novikoff.theory.bounds import mistake_bound
from novikoff.theory.certificates import Certificate, Inseparable, Separable
from novikoff.theory.separability import certify

__all__ = ["certify_points", "describe_bound", "describe_verdict"]


def certify_points(points: PlanePoints, settings: Settings) -> Certificate | None:
    """Decide whether the points are separable, with the kernel of the settings; None unless both labels are there."""
    if not points.has_both_labels:
        return None
    if settings.is_curved:
        kernel = {name: getattr(settings, name) for name in ("kernel", "degree", "gamma", "coef0")}
        found = certify(points.X, points.y, fit_intercept=False, **kernel)
    else:
        found = certify(points.X, points.y, fit_intercept=settings.fit_intercept)
    assert isinstance(found, Certificate)
    found.verify(points.X, points.y)
    return found


def describe_verdict(certificate: Certificate | None, points: PlanePoints, settings: Settings) -> dict[str, Any] | None:
    """Return the verdict and its proof as a JSON object."""
    if certificate is None:
        return None
    about = {"constant": certificate.question.constant, "in_feature_space": settings.is_curved}
    if isinstance(certificate, Inseparable):
        return {
            "separable": False,
            **about,
            "rows": certificate.rows.tolist(),
            "multipliers": [str(multiplier) for multiplier in certificate.multipliers],
            "meeting": _meeting_point(certificate, points, settings),
        }
    assert isinstance(certificate, Separable)
    return {
        "separable": True,
        **about,
        "w": [_exact(value) for value in certificate.separator],
        "b": _exact(certificate.intercept),
        "margin_lower": _exact(certificate.margin_lower),
        "margin_upper": _exact(certificate.margin_upper),
        "support": certificate.support.tolist(),
        "multipliers": [_exact(value) for value in certificate.multipliers],
        "radius": certificate.radius,
        "gap": max(0.0, 1.0 - certificate.margin / certificate.margin_upper),
    }


def _meeting_point(certificate: Inseparable, points: PlanePoints, settings: Settings) -> list[float] | None:
    """Return the point that the hulls of both labels share: sum of shares times rows, of the positive ones.

    Without an intercept it is y * x whose hull has the origin, and with a kernel the hulls are not in the plane: None.
    """
    if settings.is_curved or not settings.fit_intercept:
        return None
    signs = points.y[certificate.rows]
    shares = 2.0 * certificate.shares[signs > 0]
    return [float(value) for value in shares @ points.X[certificate.rows[signs > 0]]]


def describe_bound(certificate: Certificate | None, points: PlanePoints, settings: Settings) -> dict[str, Any] | None:
    """Return what a theorem says about the number of mistakes, as a JSON object; None where none applies."""
    if certificate is None:
        return None
    if isinstance(certificate, Separable) and certificate.margin:
        radius, margin = certificate.radius, certificate.margin
        value = settings.rule_value.mistake_bound(radius, margin)
        if value is None or not math.isfinite(value):
            return None
        return {
            "theorem": "novikoff" if settings.rule == "perceptron" else settings.rule,
            "value": value,
            "mistakes": math.floor(value * (1.0 + 1e-12)),
            "passes": "any",
            "radius": radius,
            "margin": margin,
        }
    if settings.is_curved or settings.rule != "perceptron":
        return None
    found = mistake_bound(points.X, points.y, fit_intercept=settings.fit_intercept, certificate=certificate)
    freund = found.candidates["freund-schapire"]
    return {
        "theorem": found.theorem,
        "value": found.value,
        "mistakes": found.mistakes,
        "passes": found.passes,
        "radius": found.radius,
        "margin": found.margin,
        "freund_schapire": {
            "value": freund.value,
            "margin": freund.margin,
            "D": freund.deviation,
            "u": [float(value) for value in freund.u],
            "b": float(freund.intercept),
        },
    }


def _exact(number: Any) -> float | str:
    """Return a double, or a fraction as a string."""
    return float(number) if isinstance(number, (float, int, np.floating)) else str(number)

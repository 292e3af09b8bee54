"""Calibration: from scores to probabilities, fitted on rows that the model has not learned from.

    two classes     P(second) = 1 / (1 + exp(-(a s + b)))      Platt 1999: a sigmoid of the score
    more            P(k) = exp(a s_k) / sum_j exp(a s_j)       Guo et al. 2017: one temperature 1 / a for all classes

Both minimise the log loss, with a >= 0, so that a higher score never means a lower probability. Neither changes how
scores rank: with more than two classes the label with the highest score is the most probable one. Softmax suits the
scores of a multiclass perceptron because neither changes if a constant is added to all scores of a row.

Platt's targets are used instead of 0 and 1: of n held-out rows of a class, each counts as (n + 1) / (n + K) of that
class and as 1 / (n + K) of each of the K - 1 others, as if one further row of each class had been seen there. So no
probability is ever 0 or 1, and the fit is finite even if every held-out row is predicted right.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from novikoff.errors import DataError
from novikoff.model_files import Section

__all__ = ["Calibration", "fit_calibration"]

_MAX_STEPS = 100
_FLAT = 1e-10  # the slope of the mean log loss at which its minimum has been found; scores are scaled to 1


@dataclass(frozen=True)
class Calibration:
    """How scores become probabilities.

    Attributes
    ----------
    kind : {"sigmoid", "softmax"}
        For two classes, and for more.
    slope, intercept : float
        a >= 0 and b of the formulas in `novikoff.selection.calibration`; b is 0 for softmax.
    rows : int
        The number of held-out rows that it was fitted on.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.selection.calibration import Calibration
    >>> Calibration("sigmoid", slope=1.0, intercept=0.0, rows=9).probabilities(np.array([0.0, np.log(3.0)]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """

    kind: Literal["sigmoid", "softmax"]
    slope: float
    intercept: float
    rows: int

    def probabilities(self, scores: np.ndarray) -> np.ndarray:
        """Return the probability of each class, (rows, classes), for scores as a model computes them."""
        if scores.ndim == 1:
            logits = self.slope * scores + self.intercept
            return np.exp(-np.logaddexp(0.0, np.stack([logits, -logits], axis=1)))
        logits = self.slope * (scores - scores.max(axis=1, keepdims=True))
        weights = np.exp(logits)
        return weights / weights.sum(axis=1, keepdims=True)

    def write_to(self, section: Section) -> None:
        """Write the calibration to a section of a model file."""
        section.facts |= {
            "kind": self.kind,
            "slope": self.slope,
            "intercept": self.intercept,
            "rows": self.rows,
        }

    @classmethod
    def read_from(cls, section: Section, n_classes: int) -> Calibration:
        """Read the calibration of a model with this many classes."""
        kind = section.fact("kind", str)
        slope, intercept = section.fact("slope", float), section.fact("intercept", float)
        fits = kind == ("sigmoid" if n_classes == 2 else "softmax") and n_classes >= 2
        is_valid = fits and 0.0 <= slope < math.inf and math.isfinite(intercept)
        section.require(is_valid, f"{section.path} is {section.facts!r}, for {n_classes} classes")
        return cls(kind, slope, intercept, section.fact("rows", int))  # type: ignore[arg-type]


def fit_calibration(scores: np.ndarray, codes: np.ndarray) -> Calibration:
    """Fit a calibration to the scores of rows that the model has not learned from, and their classes.

    Parameters
    ----------
    scores : array
        (rows,) for two classes, (rows, classes) for more.
    codes : array of int
        The class of each row.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.selection.calibration import fit_calibration
    >>> three_of_four_are_right = fit_calibration(np.array([-1.0, 1.0] * 400), np.array([0, 1, 0, 1, 0, 1, 1, 0] * 100))
    >>> three_of_four_are_right.probabilities(np.array([1.0, 0.0])).round(2).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    scores, codes = np.asarray(scores, np.float64), np.asarray(codes)
    if not len(scores):
        raise DataError("There are no held-out rows to calibrate on.")
    # Fitted to scores of size 1, so that the result does not depend on their scale.
    scale = float(np.abs(scores if scores.ndim == 1 else scores - scores.max(axis=1, keepdims=True)).max()) or 1.0
    if not math.isfinite(scale):
        raise DataError("The scores of the held-out rows are not finite: no probabilities can be fitted to them.")
    if scores.ndim == 1:
        slope, intercept = _fit_sigmoid(scores / scale, codes)
        return Calibration("sigmoid", slope / scale, intercept, len(scores))
    return Calibration("softmax", _fit_softmax(scores / scale, codes) / scale, 0.0, len(scores))


def _targets(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Platt's targets (rows, classes), each row with the sum 1."""
    counts = np.bincount(codes, minlength=n_classes)
    other = 1.0 / (counts + n_classes)
    targets = np.repeat(other[codes][:, None], n_classes, axis=1)
    targets[np.arange(len(codes)), codes] = (counts * other + other)[codes]
    return targets


def _fit_sigmoid(scores: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    """Platt's sigmoid, by Newton's method with backtracking, in the stable form of Lin, Lin & Weng 2007."""
    targets = _targets(codes, 2)[:, 1]

    def loss(parameters: np.ndarray) -> _Loss:
        logits = parameters[0] * scores + parameters[1]
        p = np.exp(-np.logaddexp(0.0, -logits))
        residuals, curvatures = p - targets, p * (1.0 - p)
        mixed = (curvatures * scores).mean()
        return (
            float((np.logaddexp(0.0, logits) - targets * logits).mean()),
            np.array([(residuals * scores).mean(), residuals.mean()]),
            np.array([[(curvatures * scores**2).mean(), mixed], [mixed, curvatures.mean()]]),
        )

    share = float(targets.mean())
    constant = math.log(share / (1.0 - share))  # the best intercept for slope 0
    slope, intercept = _minimise(loss, np.array([0.0, constant])).tolist()
    # The loss is convex: where its minimum has a slope below 0, the best slope that is not is 0.
    return (slope, intercept) if slope > 0.0 else (0.0, constant)


def _fit_softmax(scores: np.ndarray, codes: np.ndarray) -> float:
    """Return the inverse temperature, by Newton's method in one variable."""
    scores = scores - scores.max(axis=1, keepdims=True)
    wanted = float((_targets(codes, scores.shape[1]) * scores).sum(axis=1).mean())

    def loss(parameters: np.ndarray) -> _Loss:
        weights = np.exp(parameters[0] * scores)
        totals = weights.sum(axis=1)
        p = weights / totals[:, None]
        means = (p * scores).sum(axis=1)
        variance = ((p * scores**2).sum(axis=1) - means**2).mean()
        value = float(np.log(totals).mean() - parameters[0] * wanted)
        return value, np.array([means.mean() - wanted]), np.array([[variance]])

    return max(0.0, float(_minimise(loss, np.zeros(1))[0]))


_Loss = tuple[float, np.ndarray, np.ndarray]  # value, gradient, Hessian


def _minimise(loss: Callable[[np.ndarray], _Loss], parameters: np.ndarray) -> np.ndarray:
    """Minimise a convex function of few variables by Newton's method, halving steps that do not go down enough."""
    value, gradient, hessian = loss(parameters)
    for _ in range(_MAX_STEPS):
        if np.abs(gradient).max() < _FLAT:
            break
        direction = np.linalg.solve(hessian + 1e-12 * np.eye(len(parameters)), -gradient)
        descent, step = float(gradient @ direction), 1.0
        while step >= 1e-10:
            tried = loss(parameters + step * direction)
            if tried[0] < value + 1e-4 * step * descent:
                break
            step /= 2.0
        else:
            break  # the value cannot be lowered any more in doubles
        parameters = parameters + step * direction
        value, gradient, hessian = tried
    return parameters

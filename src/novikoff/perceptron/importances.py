"""Importances: by how much an example counts, as the factor of its step.

An example of importance c > 0 is learned by w <- w + c * tau * y * x instead of w + tau * y * x. Nothing else depends
on c: the example is predicted, and counted in the ledger, in averages, in votes and in runs of correct answers, once.
One of importance 0 is left out before it gets here: neither counted nor learned.

The weights are still a sum of examples with factors above 0, w = sum c * tau * y * x, so gamma <= |w| / sum c * tau is
certified as before. Novikoff's bound changes. Let every importance be from c_min to c_max, and let S be the sum of
those of the k mistakes of a perceptron with tau = 1. A mistake adds at most c^2 R^2 <= c_max * c * R^2 to |w|^2, hence

    gamma * S  <=  <w, u>  <=  |w|  <=  sqrt(c_max * S) * R        and    c_min * k  <=  S  <=  c_max * (R / gamma)^2

so that there are at most (c_max / c_min) (R / gamma)^2 mistakes. If all importances are equal, that is Novikoff's
bound. For rules whose step depends on the margin no such bound is given.
"""

from __future__ import annotations

from novikoff.errors import RuleError
from novikoff.rules import LARGEST_SQUARED_UPDATE

__all__ = ["join_ranges", "weigh_step"]


def join_ranges(one: tuple[float, float] | None, other: tuple[float, float]) -> tuple[float, float]:
    """Return the smallest range (smallest, largest) that includes both.

    >>> from novikoff.perceptron.importances import join_ranges
    >>> join_ranges((1.0, 1.0), (0.5, 0.75)), join_ranges(None, (2.0, 3.0))
    ((0.5, 1.0), (2.0, 3.0))
    """
    return other if one is None else (min(one[0], other[0]), max(one[1], other[1]))


def weigh_step(tau: float, importance: float, squared_norm: float) -> float:
    """Return the step of an example times its importance; raise a RuleError if weights could overflow.

    >>> from novikoff.perceptron.importances import weigh_step
    >>> weigh_step(0.5, 3.0, squared_norm=2.0)
    1.5
    """
    step = tau * importance
    if not step * step * squared_norm <= LARGEST_SQUARED_UPDATE:
        raise RuleError(
            f"The step {tau:g}, times the weight {importance:g} of this example, is too long for a row of squared norm "
            f"{squared_norm:g}: steps grow from update to update. Make the weights smaller, at most 1 for a "
            "passive-aggressive rule; or use rule='perceptron', whose steps do not grow."
        )
    return step

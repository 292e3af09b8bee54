"""Duality gaps for solvers that know nothing but weights: sgd, gd, Newton's method.

Such a solver has no dual variables. The slopes of the losses at its weights are some; they prove a minimum of a smooth
loss, but hardly that of the hinge loss, where the dual variables of rows with a margin of 1 are between the slopes on
both sides. Where they do not suffice, dual coordinate ascent improves them, which costs a pass for each step.
"""

from __future__ import annotations

import numpy as np

from novikoff.descent.dual_ascent import DualAscent, is_ascendable
from novikoff.descent.duality import DualBound
from novikoff.descent.objective import DescentPoint, Objective

__all__ = ["GapProver"]

_SEED = 0  # of its own, so that a proof changes no weights
_NEAR = 0.8  # the gap is computed when its estimate is below this part of the goal


class GapProver:
    """Lower bounds of the minimum, found along a descent of another solver."""

    def __init__(self, objective: Objective) -> None:
        self._objective, self._bound = objective, DualBound(objective)
        self._ascent: DualAscent | None = None

    @property
    def is_tight(self) -> bool:
        """Whether the gap falls to 0 as the descent goes on: there is a penalty, and the loss has a dual problem."""
        return self._bound.is_tight

    def gap(self, value: float) -> float:
        """Return the gap where F has this value, without looking for a better bound."""
        return self._bound.gap(value)

    def improve(self, point: DescentPoint) -> float:
        """Return the gap at a point, after one pass for the bound that follows from the slopes there."""
        self._bound.include_slopes(point)
        return self._bound.gap(point.value)

    def prove(self, point: DescentPoint, goal: float, passes: int) -> float:
        """Return the gap at a point, after `passes` passes, or as many as suffice for a gap of at most `goal`."""
        gap = self.improve(point)
        if gap <= goal or not is_ascendable(self._objective):
            return gap
        if self._ascent is None:
            self._ascent = DualAscent(self._objective, np.random.default_rng(_SEED), point)
        for number in range(1, passes + 1):
            estimate, is_whole = self._ascent.run_pass()
            if estimate <= _NEAR * goal and not is_whole:
                self._ascent.include_all_rows()
            elif estimate <= _NEAR * goal or number == passes:
                self._bound.include(self._ascent.duals)
                gap = self._bound.gap(point.value)
                if gap <= goal or self._ascent.point().value < point.value - goal:  # no bound can prove this point
                    break
        return gap

"""Decide about points that doubles leave open: on scaled rows and columns, without rows that are easy to satisfy.

Neither changes the verdict. What is found here is a proof only after exact arithmetic has confirmed it on the points as
they were given: the rows of a witness, whose multipliers are computed from these, or the weights of a separator.

1  scale rows and columns by powers of two (scaling.py)
2  remove rows that some column alone puts on their side (peeling.py)
3  search in doubles, as they are, then in coordinates in which the columns are orthogonal (orthogonal_columns.py)
4  Wolfe's algorithm over the rationals, until it separates
"""

from __future__ import annotations

import numpy as np

from novikoff.inputs.rows import Rows
from novikoff.theory import exact, hull
from novikoff.theory.exact_corrals import find_nearest_point
from novikoff.theory.null_vectors import find_witness
from novikoff.theory.peeling import Peeling
from novikoff.theory.precise_corrals import MOST_PRECISE_ROWS, improve_corral
from novikoff.theory.proofs import Witness
from novikoff.theory.scaling import EvenPoints
from novikoff.theory.search_clock import SearchClock
from novikoff.theory.signed_points import SignedPoints

__all__ = ["ANY_MARGIN", "VerdictSearch"]

ANY_MARGIN = 1.0 - 2.0**-20  # a tolerance: it matters whether there is a separator, not which


class VerdictSearch:
    """The search for a verdict about points, by whatever means.

    Attributes
    ----------
    even, peeling : EvenPoints, Peeling
        The scaled points, and which of them are easy.
    core : SignedPoints
        The scaled points that are not.
    """

    def __init__(self, points: SignedPoints, clock: SearchClock) -> None:
        self.points, self.clock = points, clock
        self.even = EvenPoints.of(points)
        self.peeling = Peeling.of(self.even.points)
        self.core = self._take_core()

    def _take_core(self) -> SignedPoints:
        even, kept = self.even.points, self.peeling.core
        if len(kept) == len(even):
            return even
        rows = Rows.of(even.rows.take(kept))
        rows.require_numbers()
        return SignedPoints(rows, even.signs[kept], 0.0)

    def run(self) -> Witness | np.ndarray:
        """Return a witness, or the weights of a separator, bias last: doubles, or Fractions where these are too
        coarse."""
        if not len(self.core):
            w = self._confirm(np.zeros(len(self.even.column_exponents) + 1))
            return self._decide_exactly(hull.Corral.empty(self.core)) if w is None else w
        corral = hull.search(self.core, ANY_MARGIN, self.clock)
        verdict = self._prove(corral)
        if verdict is None and 0 < len(corral.rows) <= MOST_PRECISE_ROWS:
            corral = improve_corral(self.core, corral, ANY_MARGIN, self.clock)
            verdict = self._prove(corral)
        return self._decide_exactly(corral) if verdict is None else verdict

    def _prove(self, corral: hull.Corral) -> Witness | np.ndarray | None:
        """Return the separator that a corral of the core gives, or the witness that it is, if it is one."""
        if corral.lower > 0.0:
            return self._confirm(corral.best)
        return find_witness(self.points, self.peeling.core[corral.rows]) if len(corral.rows) else None

    def _confirm(self, w: np.ndarray) -> np.ndarray | None:
        """Return weights of the given columns, of weights that have the core on its side; None if these do not
        separate."""
        w = self.peeling.extend(w[:-1])
        if not np.isfinite(w).all() or not w.any():
            return None
        w = self.even.original_direction(np.append(w / np.abs(w).max(), 0.0))
        if not w.any():
            return None
        w = w / np.abs(w).max()
        return w if exact.margin_lower_bound(self.points, exact.to_rational_vector(w)) > 0 else None

    def _decide_exactly(self, start: hull.Corral) -> Witness | np.ndarray:
        """Decide by Wolfe's algorithm over the rationals, on the core, or on all points if the core has none."""
        points, rows = (self.core, start.rows) if len(self.core) else (self.points, np.empty(0, np.int64))
        corral = find_nearest_point(points, rows, start.weights, ANY_MARGIN, check=self.clock.check)
        x = corral.point()
        if not x:
            kept = self.peeling.core if len(self.core) else np.arange(len(self.points))
            witness = find_witness(self.points, kept[np.array(corral.rows)])
            if witness is not None:
                return witness
        elif len(self.core):
            w = self._confirm(exact.direction_in_doubles(x, points))
            if w is not None:
                return w
        return self._decide_given()

    def _decide_given(self) -> Witness | np.ndarray:
        """Decide by Wolfe's algorithm over the rationals on the points as they were given."""
        points = self.points
        corral = find_nearest_point(points, np.empty(0, np.int64), np.empty(0), ANY_MARGIN, check=self.clock.check)
        x = corral.point()
        if not x:
            return np.array(corral.rows), exact.to_coprime_integers(corral.weights)
        size = points.rows.n_features + 1
        return exact.to_fraction_array(x.numbers.get(column, 0) * x.unit for column in range(size))

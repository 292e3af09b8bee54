"""compare_bounds: which change of the rows would lower the mistake bound of a perceptron most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.formatting.summary import SummaryMixin
from novikoff.inputs.rows import Rows
from novikoff.theory.bounds import mistake_bound
from novikoff.theory.mistake_bounds import MistakeBound
from novikoff.theory.row_changes import RowChange

__all__ = ["BoundComparison", "compare_bounds"]

_FACTORS = 0.25, 1.0, 4.0  # of the longest row: constants that are tried by default


@dataclass(frozen=True, repr=False)
class BoundComparison(SummaryMixin):
    """Mistake bounds on rows as they are and on changed rows.

    Attributes
    ----------
    bounds : list of MistakeBound
        The lowest first; of equals, that of the smaller change. `bound.change` says what was changed, and
        ``bound.change.apply(X)`` gives the rows to learn from.
    unchanged : MistakeBound
        That of the rows as they are.
    """

    bounds: list[MistakeBound]
    unchanged: MistakeBound

    @property
    def best(self) -> MistakeBound:
        """The lowest bound."""
        return self.bounds[0]

    def _lines(self) -> list[tuple[str, str]]:
        return [(str(bound.change), self._describe(bound)) for bound in self.bounds]

    def _describe(self, bound: MistakeBound) -> str:
        change = bound.mistakes - self.unchanged.mistakes
        passes = "any passes" if bound.passes == "any" else "one pass"
        differs = "" if bound is self.unchanged else f"   {change:+,}"
        return f"at most {bound.mistakes:>9,} in {passes:<10}   {bound.theorem}{differs}"

    def _title(self) -> str:
        if self.best.mistakes < self.unchanged.mistakes:
            return f"BoundComparison: the lowest bound is that of rows with {self.best.change}"
        return "BoundComparison: no change lowers the bound"


def compare_bounds(
    X: Any, y: Any, *, fit_intercept: bool = True, positive: Any = None, constants: Iterable[float] | None = None
) -> BoundComparison:
    """Bound the mistakes of a perceptron on rows as they are, centred, divided by their length, with other constants.

    Parameters
    ----------
    X : 2-D array or sparse matrix
        Of sparse rows the columns are not centred, which would make them dense.
    y : array of labels
        Two of them, or more and `positive`.
    fit_intercept : bool, default=True
        Whether rows have a constant coordinate, which is 1 where they are not changed.
    positive : label, optional
        The class on the positive side, against all others.
    constants : numbers > 0, optional
        Constants to try instead of 1; by default a quarter of the length of the longest row, that length, and four
        times as much.

    Returns
    -------
    BoundComparison

    Examples
    --------
    >>> import novikoff as nk
    >>> X, y = [[9.0, 9.5], [8.0, 9.0], [9.0, 8.5], [9.5, 9.2]], [1, 1, -1, -1]
    >>> found = nk.compare_bounds(X, y, fit_intercept=False)
    >>> str(found.best.change), found.best.mistakes, found.unchanged.mistakes
    ('columns centred, rows of length 1', 2, 4)
    """
    longest = _longest_row(X)
    if constants is None:
        constants = [float(f"{factor * longest:.1g}") for factor in _FACTORS] if longest else []
    one = float(fit_intercept)
    changes = [RowChange(), RowChange(unit_length=True, constant=one)]
    if not sp.issparse(X):
        changes += [RowChange(center=True, constant=one), RowChange(center=True, constant=one, unit_length=True)]
    if fit_intercept:
        changes += [RowChange(constant=float(each)) for each in constants]
    bounds = [
        mistake_bound(change.apply(X), y, fit_intercept=fit_intercept and not change.constant, positive=positive)
        for change in changes
    ]
    found = [bound.with_change(change) for bound, change in zip(bounds, changes, strict=True)]
    return BoundComparison(sorted(found, key=lambda bound: bound.mistakes), found[0])


def _longest_row(X: Any) -> float:
    rows = Rows.of(X)
    rows.require_numbers()
    return float(np.sqrt(rows.squared_norms.max(initial=0.0)))

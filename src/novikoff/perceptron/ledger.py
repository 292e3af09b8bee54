"""The account of a run, and what follows from it by the theorems.

Novikoff's proof is two facts about the weights after k updates that can be watched: they have grown at least linearly
along any separator u of the examples, and at most like a square root in length,

    k * gamma  <=  <w, u>  <=  |w|  <=  sqrt(k) * R        hence  k <= (R / gamma)^2

Read backwards, gamma <= |w| / k at every moment: a running learner carries a certified upper bound on the margin of
all it has seen. For steps tau other than 1, k on the left is their sum, because w = sum tau * y * x.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from novikoff.formatting.summary import Readable
from novikoff.rules import Perceptron, Rule

__all__ = ["Ledger", "Trace"]

_COLUMNS = ("updates", "examples", "mistakes", "norm", "progress")


class Trace:
    """A bounded record of the run: every stride-th update, the stride a power of two that doubles when it is full.

    What it holds depends on the run alone, not on the blocks it came in.

    Attributes
    ----------
    updates, examples, mistakes, norm, progress : ndarray
        After so many updates: the examples and mistakes so far, |w|, and <w, u> where a separator u is known.
    """

    def __init__(self, capacity: int = 512) -> None:
        self.capacity, self.stride = capacity, 1
        self.points: list[tuple[float, ...]] = []

    def add_one(self, updates: int, examples: int, mistakes: int, norm: float, progress: float = math.nan) -> None:
        """Record the state after an update."""
        thin = self.thinned(updates)
        self.stride, self.points = thin.stride, thin.points
        if updates % self.stride == 0:
            self.points.append((updates, examples, mistakes, norm, progress))

    def add(
        self,
        first: int,
        examples: np.ndarray,
        mistakes: np.ndarray,
        squared_norms: np.ndarray,
        progress: np.ndarray | None,
    ) -> None:
        """Record the states after consecutive updates, the first of them number `first`."""
        thin = self.thinned(first + len(examples) - 1)
        points = [*thin.points, *thin.points_of(first, examples, mistakes, squared_norms, progress)]
        self.stride, self.points = thin.stride, points

    def thinned(self, updates: int) -> Trace:
        """A trace with room for this many updates: itself, or a copy with a longer stride."""
        if updates <= self.capacity * self.stride:
            return self
        other = Trace(self.capacity)
        other.stride = self.stride
        while updates > other.capacity * other.stride:
            other.stride *= 2
        other.points = [point for point in self.points if point[0] % other.stride == 0]
        return other

    def points_of(
        self,
        first: int,
        examples: np.ndarray,
        mistakes: np.ndarray,
        squared_norms: np.ndarray,
        progress: np.ndarray | None,
    ) -> list[tuple[float, ...]]:
        """The points that this trace, thin enough, keeps of consecutive updates, the first of them number `first`."""
        kept = slice((-first) % self.stride, None, self.stride)
        norms = np.sqrt(np.maximum(squared_norms[kept], 0.0)).tolist()
        known = [math.nan] * len(norms) if progress is None else progress[kept].tolist()
        numbers = range(first + kept.start, first + len(examples), self.stride)
        return list(zip(numbers, examples[kept].tolist(), mistakes[kept].tolist(), norms, known, strict=True))

    def copy(self) -> Trace:
        other = Trace(self.capacity)
        other.stride, other.points = self.stride, self.points.copy()
        return other

    def scaled(self, by: float) -> Trace:
        """The same trace for weights that are `by` times as long."""
        other = Trace(self.capacity)
        other.stride = self.stride
        other.points = [(k, t, m, norm * by, progress * by) for k, t, m, norm, progress in self.points]
        return other

    def __len__(self) -> int:
        return len(self.points)

    def __getattr__(self, name: str) -> np.ndarray:
        if name in _COLUMNS:
            return np.array(self.points).reshape(-1, len(_COLUMNS))[:, _COLUMNS.index(name)]
        raise AttributeError(name)


@dataclass(frozen=True, eq=False, repr=False)
class Ledger(Readable):
    """Mistakes made, and what the theorems say of them.

    Attributes
    ----------
    examples, mistakes, updates, passes : int
        What happened. Mistakes are counted while learning, each before its update (progressive validation).
    radius : float
        R, the longest vector met, the constant coordinate included. With many classes it is the longest
        phi(x, y) - phi(x, z), which is sqrt(2) times the longest x.
    norm : float
        |w| of the raw weights, bias included.
    step_sum : float
        The sum of all steps; for the perceptron, the mistakes.
    margin : float or None
        gamma, if it is known: given to `with_margin`, or measured along a `separator`.
    trace : Trace
        Arrays `updates`, `examples`, `mistakes`, `norm`, `progress`, evenly thinned.

    Examples
    --------
    >>> import novikoff as nk
    >>> X = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]]
    >>> y = [-1, 1, 1, -1, -1, 1]
    >>> clf = nk.Perceptron(fit_intercept=False).fit(X, y)
    >>> clf.ledger_.mistakes, clf.ledger_.updates, clf.n_iter_
    (3, 3, 2)
    >>> clf.ledger_.with_margin(0.5).mistakes_left
    17
    """

    examples: int
    mistakes: int
    updates: int
    passes: int
    radius: float
    norm: float
    step_sum: float
    trace: Trace
    rule: Rule = Perceptron()  # noqa: RUF009 - frozen
    n_weights: int = 1
    margin: float | None = None
    is_bounded: bool = True

    def with_margin(self, margin: float) -> Ledger:
        """The same account, read by someone who knows the margin gamma of the data."""
        if not 0.0 < margin < math.inf:
            raise ValueError(f"margin must be a number > 0, found {margin!r}.")
        return replace(self, margin=margin)

    @property
    def error_rate(self) -> float:
        """Mistakes per example so far."""
        return self.mistakes / self.examples if self.examples else math.nan

    @property
    def margin_at_most(self) -> float | None:
        """A certified upper bound on the margin of everything seen: |w| / sum of steps (|w| / mistakes for the
        perceptron), rounded outwards. None before the first update."""
        if not self.step_sum:
            return None
        # |w| is computed to n_weights units of 2^-52, and each update may have lost 2^-53 |w| <= 2^-53 step_sum R.
        unit = 2.0**-52
        return self.norm * (1.0 + unit * self.n_weights) / self.step_sum + unit * self.updates * self.radius

    @property
    def mistake_bound(self) -> float | None:
        """The most mistakes there can ever be on examples like these, if their margin is known; for the perceptron
        (R / gamma)^2. None where nothing is proved: for rules of one's own, after a merge, and for rules with a unit
        of margin whose third class came late."""
        if self.margin is None or self.margin <= 0.0 or not self.is_bounded:
            return None
        return self.rule.mistake_bound(self.radius, self.margin)

    @property
    def mistakes_left(self) -> int | None:
        """How many of those are still to come at most."""
        if self.mistake_bound is None or math.isinf(self.mistake_bound):
            return None
        return max(0, math.floor(self.mistake_bound * (1.0 + 1e-12)) - self.mistakes)

    def _lines(self) -> list[tuple[str, str]]:
        rate = f"{self.mistakes:,}" + (f"   ({self.error_rate:.2%} of examples)" if self.examples else "")
        lines = [
            ("examples", f"{self.examples:,}" + (f" in {self.passes} passes" if self.passes > 1 else "")),
            ("mistakes", rate),
            ("updates", f"{self.updates:,}"),
            ("radius R", f"{self.radius:.6g}"),
            ("norm |w|", f"{self.norm:.6g}"),
        ]
        if self.margin_at_most is not None:
            lines.append(("margin", f"at most {_rounded_up(self.margin_at_most)}   (certified: |w| / sum of steps)"))
        if self.mistake_bound is not None:
            lines.append(("known margin", f"{self.margin:.6g}"))
            left = "" if self.mistakes_left is None else f"   ({self.mistakes_left:,} left)"
            lines.append(("mistake bound", f"{self.mistake_bound:,.1f}{left}"))
        return lines


def _rounded_up(value: float) -> str:
    """Six digits that are not below the value: what is printed must be as true as what was computed."""
    text = f"{value:.6g}"
    if float(text) >= value:
        return text
    return f"{value + 10.0 ** (math.floor(math.log10(value)) - 5):.6g}"

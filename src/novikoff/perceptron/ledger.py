"""Ledger: what was counted during a run, and the bounds that follow by theorem.

Novikoff's proof rests on two facts about the weights after k updates, both of which can be measured: along any unit
vector u that separates the examples they have grown at least linearly, and their length at most like a square root,

    k * gamma  <=  <w, u>  <=  |w|  <=  sqrt(k) * R        hence  k <= (R / gamma)^2

The left part gives gamma <= |w| / k at any time: a certified upper bound on the margin of all examples seen so far. For
steps tau other than 1, k on the left is their sum, because w = sum tau * y * x. An example with a weight c has the step
c * tau, and the sum is that of all c * tau; perceptron/importances.py derives the mistake bound for weights.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from novikoff.auto_rule import bound_vote
from novikoff.formatting.summary import SummaryMixin
from novikoff.perceptron.candidates import Candidate, CandidateTrace
from novikoff.rules import Perceptron, Rule

__all__ = ["Ledger", "LedgerTrace"]

_COLUMNS = ("updates", "examples", "mistakes", "norm", "progress")


class LedgerTrace:
    """Measurements after every stride-th update; the stride doubles when the trace is full.

    The points depend on the run alone, not on how the rows were split into blocks.

    Attributes
    ----------
    updates, examples, mistakes : ndarray
        The counts so far, at each point.
    norm : ndarray
        |w|.
    progress : ndarray
        <w, u> for the known separator u; NaN if there is none.
    """

    def __init__(self, capacity: int = 512) -> None:
        self.capacity, self.stride = capacity, 1
        self.points: list[tuple[float, ...]] = []

    def append(self, updates: int, examples: int, mistakes: int, norm: float, progress: float = math.nan) -> None:
        """Append the measurements after an update, if its number is a multiple of the stride."""
        thinned = self.thin(updates)
        self.stride, self.points = thinned.stride, thinned.points
        if updates % self.stride == 0:
            self.points.append((updates, examples, mistakes, norm, progress))

    def extend(
        self,
        first: int,
        examples: np.ndarray,
        mistakes: np.ndarray,
        squared_norms: np.ndarray,
        progress: np.ndarray | None,
    ) -> None:
        """Append the measurements after consecutive updates, the first of which has the number `first`."""
        thinned = self.thin(first + len(examples) - 1)
        points = [*thinned.points, *thinned.select_points(first, examples, mistakes, squared_norms, progress)]
        self.stride, self.points = thinned.stride, points

    def thin(self, updates: int) -> LedgerTrace:
        """Return a trace with capacity for this many updates: this trace, or a copy with a larger stride."""
        if updates <= self.capacity * self.stride:
            return self
        other = LedgerTrace(self.capacity)
        other.stride = self.stride
        while updates > other.capacity * other.stride:
            other.stride *= 2
        other.points = [point for point in self.points if point[0] % other.stride == 0]
        return other

    def select_points(
        self,
        first: int,
        examples: np.ndarray,
        mistakes: np.ndarray,
        squared_norms: np.ndarray,
        progress: np.ndarray | None,
    ) -> list[tuple[float, ...]]:
        """Return the points of those updates whose numbers are multiples of the stride.

        The measurements are those after consecutive updates, the first of which has the number `first`.
        """
        kept = slice((-first) % self.stride, None, self.stride)
        norms = np.sqrt(np.maximum(squared_norms[kept], 0.0)).tolist()
        known_progress = [math.nan] * len(norms) if progress is None else progress[kept].tolist()
        numbers = range(first + kept.start, first + len(examples), self.stride)
        return list(zip(numbers, examples[kept].tolist(), mistakes[kept].tolist(), norms, known_progress, strict=True))

    def copy(self) -> LedgerTrace:
        other = LedgerTrace(self.capacity)
        other.stride, other.points = self.stride, self.points.copy()
        return other

    def scale(self, factor: float) -> LedgerTrace:
        """Return the trace for weights multiplied by `factor`."""
        other = LedgerTrace(self.capacity)
        other.stride = self.stride
        other.points = [(k, t, m, norm * factor, progress * factor) for k, t, m, norm, progress in self.points]
        return other

    def __len__(self) -> int:
        return len(self.points)

    def __getattr__(self, name: str) -> np.ndarray:
        if name in _COLUMNS:
            return np.array(self.points).reshape(-1, len(_COLUMNS))[:, _COLUMNS.index(name)]
        raise AttributeError(name)


@dataclass(frozen=True, eq=False, repr=False)
class Ledger(SummaryMixin):
    """Counts of a run, and the bounds that follow from them by theorem.

    Attributes
    ----------
    examples, mistakes, updates, passes : int
        Counts. Mistakes are counted while learning, each before its update (progressive validation).
    radius : float
        R, the length of the longest x, including the constant coordinate. With more than two classes it is the length
        of the longest phi(x, y) - phi(x, z), which is sqrt(2) times that of the longest x; phi(x, y) is the joint
        feature map, x in the block of class y and 0 elsewhere.
    norm : float
        |w| of the raw weights, including the bias.
    step_sum : float
        The sum of all steps, each times the weight of its example; for the perceptron without weights, the number of
        mistakes.
    trace : LedgerTrace
        Arrays `updates`, `examples`, `mistakes`, `norm`, `progress`, with values after every stride-th update.
    rule : Rule
        The update rule, which determines the mistake bound.
    mistake_norm : float or None
        For a stateful rule |theta|, with theta the sum of y * x over the mistakes, and `step_sum` is their number: its
        weights are no sum of steps. The trace then has |theta| for the norm, and <theta, u>.
    candidates : tuple of Candidate
        For the rule "auto" the learners that vote, each with `name`, `mistakes` and `weight`; else empty.
    candidate_trace : CandidateTrace or None
        For the rule "auto" weights and mistakes of the candidates along the run, from the start or the last merge.
    vote_cost : float
        What the theorem on the vote has for ln K: ln 8, and more after a merge.
    n_weights : int
        The number of weights and biases, which determines the rounding error of `norm`.
    margin : float or None
        gamma, if it is known: passed to `with_margin`, or measured along a `separator`.
    is_bounded : bool
        Whether the mistake bounds apply: a single run from zero weights, without merging.
    importance_range : tuple of float
        The smallest and the largest weight of an example, sample_weight times class_weight; both 1 without them, and
        0 and infinity if they were not recorded.

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
    trace: LedgerTrace
    rule: Rule = Perceptron()  # noqa: RUF009 - frozen
    n_weights: int = 1
    margin: float | None = None
    is_bounded: bool = True
    importance_range: tuple[float, float] = (1.0, 1.0)
    mistake_norm: float | None = None
    candidates: tuple[Candidate, ...] = ()
    candidate_trace: CandidateTrace | None = None
    vote_cost: float = 0.0

    def with_margin(self, margin: float) -> Ledger:
        """Return a copy with the known margin gamma of the data, from which a mistake bound follows."""
        if not 0.0 < margin < math.inf:
            raise ValueError(f"margin must be a number > 0, found {margin!r}.")
        return replace(self, margin=margin)

    @property
    def error_rate(self) -> float:
        """Mistakes per example so far."""
        return self.mistakes / self.examples if self.examples else math.nan

    @property
    def weighted_mistakes(self) -> float | None:
        """For the perceptron, the mistakes of each learner of a round times its share, over all rounds.

        It is at most (R / gamma)^2, whatever the shares are; see `novikoff.Learner.join`. Without rounds it is the
        number of mistakes. None for other rules, and for examples with weights.
        """
        if not isinstance(self.rule, Perceptron) or self.importance_range != (1.0, 1.0):
            return None
        return self.step_sum / self.rule.learning_rate

    @property
    def margin_at_most(self) -> float | None:
        """A certified upper bound on the margin of all examples seen; None before the first update.

        It is |w| / sum of steps (|w| / mistakes for the perceptron), and |theta| / mistakes for stateful rules, rounded
        up.
        """
        if not self.step_sum:
            return None
        norm = self.norm if self.mistake_norm is None else self.mistake_norm
        # |w| is computed with an error of n_weights units of 2^-52, and each update may have lost
        # 2^-53 |w| <= 2^-53 step_sum R.
        unit = 2.0**-52
        return norm * (1.0 + unit * self.n_weights) / self.step_sum + unit * self.updates * self.radius

    @property
    def mistake_bound(self) -> float | None:
        """The largest possible number of mistakes on examples of this radius and margin; None if it is not known.

        For the perceptron it is (R / gamma)^2; if examples have weights from c_min to c_max, c_max / c_min times that.
        It needs a known margin. Even then it is None if no bound is known: for custom rules, after a merge, and, for
        rules whose step depends on the margin, if examples have weights or if a third class was added during training.
        """
        if self.margin is None or self.margin <= 0.0 or not self.is_bounded:
            return None
        smallest, largest = self.importance_range
        if (smallest, largest) == (1.0, 1.0):
            return self.rule.mistake_bound(self.radius, self.margin)
        bound = self.rule.mistake_bound(self.radius, self.margin)
        if not self.rule.depends_only_on_mistakes or bound is None or not smallest:
            return None
        return bound * (largest / smallest)

    @property
    def best_candidate(self) -> Candidate | None:
        """For the rule "auto" the candidate with the fewest mistakes; None for other rules."""
        return min(self.candidates, key=lambda candidate: candidate.mistakes, default=None)

    @property
    def vote_bound(self) -> float | None:
        """For the rule "auto" the most mistakes that its vote can have made, given those of the best candidate.

        It holds on every sequence of examples: 2.3303 times the mistakes of any candidate, plus 16.16; see
        `novikoff.rules.Auto`. None for other rules.
        """
        best = self.best_candidate
        return None if best is None else bound_vote(best.mistakes, self.vote_cost)

    @property
    def mistakes_left(self) -> int | None:
        """The mistake bound minus the mistakes so far; None without a finite bound."""
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
            ("norm |theta|" if self.candidates else "norm |w|", f"{self.norm:.6g}"),
        ]
        best = self.best_candidate
        if best is not None and self.vote_bound is not None:
            lines[1:2] = [
                ("mistakes", rate),
                ("best of pool", f"{best.mistakes:,}   ({best.name}; so at most {self.vote_bound:,.1f} by the vote)"),
            ]
        if self.importance_range not in ((1.0, 1.0), (0.0, math.inf)):
            lines.append(("weights c", f"{self.importance_range[0]:.6g} to {self.importance_range[1]:.6g}"))
        if self.margin_at_most is not None:
            source = "|w| / sum of steps" if self.mistake_norm is None else "|sum of y*x| / mistakes, over the mistakes"
            lines.append(("margin", f"at most {_format_rounded_up(self.margin_at_most)}   (certified: {source})"))
        if self.mistake_bound is not None:
            lines.append(("known margin", f"{self.margin:.6g}"))
            left = "" if self.mistakes_left is None else f"   ({self.mistakes_left:,} left)"
            lines.append(("mistake bound", f"{self.mistake_bound:,.1f}{left}"))
        return lines


def _format_rounded_up(value: float) -> str:
    """Format a value with six digits, rounded up, so that the printed upper bound holds too."""
    text = f"{value:.6g}"
    if float(text) >= value:
        return text
    return f"{value + 10.0 ** (math.floor(math.log10(value)) - 5):.6g}"

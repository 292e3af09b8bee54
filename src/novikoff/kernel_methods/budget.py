"""A kernel perceptron for endless streams: no more than B rows are kept, by the rule of the Forgetron.

Every row is scaled to length 1 in feature space, K(x, z) / (|x| |z|), as the theorem asks; whether a score is right or
wrong does not depend on it. For every function g of that space, with hinge losses l_t = max(0, 1 - y_t g(x_t)) on the
rows erred on, and Q and S as the run adds them up (see _compiled/loops/forgetron.py),

    M  <=  (1 + S) |g|^2  +  2 sum l_t  +  Q

on any sequence: |f - g|^2 begins at |g|^2; the perceptron's step on row t takes 2 y_t g(x_t) - 1 from it at least,
forgetting row r gives 2 lambda phi y_r g(x_r) + (lambda phi)^2 - 2 lambda phi^2 mu back, and shrinking
(1 - phi) / (1 + phi) |g|^2 at most. phi is chosen such that Q <= 15/32 M; and for B >= 84 and |g| <= U, where
U = sqrt((B + 1) / log(B + 1)) / 4, shrinking costs M / 32 at most, so that M <= 2 |g|^2 + 4 sum l_t (Dekel,
Shalev-Shwartz & Singer 2008, whose constants these are).

Only the last function can be read: the rows of a mean, or of all that vote, would be more than the budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from novikoff._compiled.loops import forgetron
from novikoff._compiled.loops.additive import EXAMPLES, MISTAKES, SQUARED_NORM, UPDATES
from novikoff._compiled.loops.forgetron import DEVIATION, HEAD, LOGGED, SHRINKAGE, TAIL
from novikoff.errors import DataError, RuleError
from novikoff.kernel_methods.dual import DualLearner, Standing
from novikoff.kernel_methods.matrices import require_numbers
from novikoff.kernel_methods.points import Growing, Points, Support
from novikoff.perceptron.ledger import Ledger, Trace

__all__ = ["BudgetLearner", "BudgetLedger", "BudgetState", "require_last"]

_OLD = 32  # of the oldest rows the kernels with all kept ones are made at a time, once a mistake needs them


def require_last(hypothesis: str, budget: int) -> None:
    """Refuse a hypothesis that would need rows that have been forgotten."""
    if hypothesis != "last":
        raise RuleError(
            f"hypothesis={hypothesis!r} needs every row ever erred on, and budget={budget} forgets all but "
            "the last of them: pass hypothesis='last', or budget=None."
        )


@dataclass(frozen=True, eq=False, repr=False)
class BudgetLedger(Ledger):
    """The account of a run on a budget: R is 1 and margins are those of rows of length 1 in feature space.

    Attributes
    ----------
    budget : int
        B, the most rows it keeps.
    deviation, shrinkage : float
        Q and S, what forgetting and shrinking may have cost so far.

    Examples
    --------
    >>> import numpy as np
    >>> import novikoff as nk
    >>> X = np.random.default_rng(0).standard_normal((500, 2))
    >>> clf = nk.KernelPerceptron("rbf", gamma=1.0, hypothesis="last", budget=20)
    >>> ledger = clf.partial_fit(X, X[:, 0] * X[:, 1] > 0).ledger_
    >>> len(clf.support_), ledger.examples, ledger.deviation < 15 / 32 * ledger.mistakes
    (20, 500, True)
    """

    budget: int = 1
    deviation: float = 0.0
    shrinkage: float = 0.0

    @property
    def mistake_bound(self) -> float | None:
        """(R / gamma)^2 if the margin is known and the budget has room for so many: then nothing is ever forgotten.
        None otherwise."""
        if self.margin is None or not self.is_bounded:
            return None
        bound = self.rule.mistake_bound(self.radius, self.margin)
        return bound if bound is not None and bound < self.budget + 1 else None

    def mistakes_against(self, norm: float, hinge_loss: float) -> float | None:
        """The most mistakes there can have been so far, if some function of this norm has so much hinge loss on the
        same rows of length 1; None where nothing is proved, as for a kernel that is no inner product."""
        return (1.0 + self.shrinkage) * norm**2 + 2.0 * hinge_loss + self.deviation if self.is_bounded else None

    def _lines(self) -> list[tuple[str, str]]:
        return [
            *super()._lines(),
            ("budget", f"{self.budget:,} rows"),
            ("cost", f"{self.deviation:.6g}   (of forgetting: at most 15/32 of the mistakes)"),
        ]


@dataclass(eq=False)
class BudgetState:
    """What a learner on a budget has learned. Made by `BudgetLearner.init`, changed by `BudgetLearner.update`.

    Attributes
    ----------
    support : Support
        The rows in use, the oldest first. One that was erred on twice is there twice.
    origins : Growing of int64
        For each its place in the training set, or in the stream.
    alpha, winners, rivals : array
        For each its weight, the class it was added to and the class it was taken from.
    lengths : array
        For each |x| in feature space.
    counts, measures, trace, passes, n_rows
        As in `DualState`.
    """

    n_classes: int = 2
    support: Support = field(default_factory=Support)
    origins: Growing = field(default_factory=lambda: Growing(np.empty(0, np.int64)))
    alpha: np.ndarray = field(default_factory=lambda: np.empty(0))
    winners: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    rivals: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    lengths: np.ndarray = field(default_factory=lambda: np.empty(0))
    counts: np.ndarray = field(default_factory=lambda: np.zeros(5, np.int64))
    measures: np.ndarray = field(default_factory=lambda: np.zeros(5))
    trace: Trace = field(default_factory=Trace)
    passes: int = 0
    n_rows: int = 0

    @property
    def n_vectors(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    def branch(self) -> BudgetState:
        """A state to go on from: learning replaces the rows and their weights, never changes them."""
        return self.copy()

    def copy(self) -> BudgetState:
        """The same state; neither changes when the other learns."""
        return replace(self, counts=self.counts.copy(), measures=self.measures.copy(), trace=self.trace.copy())

    def coefficients(self, hypothesis: str) -> np.ndarray:
        """The weight of each kept row in each weight vector, (vectors, kept rows); psi is a row over its length, and
        with many classes over sqrt(2)."""
        require_last(hypothesis, len(self.alpha))
        weights = self.alpha / self.lengths
        if self.n_classes == 2:
            return np.where(self.winners == 1, weights, -weights)[None, :]
        found, each = np.zeros((self.n_classes, len(weights))), np.arange(len(weights))
        found[self.winners, each], found[self.rivals, each] = weights * 0.5**0.5, -weights * 0.5**0.5
        return found

    def flipped(self) -> BudgetState:
        """The same state with the two classes exchanged."""
        return replace(self, winners=self.rivals, rivals=self.winners)

    def with_class(self, at: int, *, direct: bool) -> BudgetState:
        """Make room for one more class at place `at`: two classes have had a vector each from the start."""
        if not direct:
            raise DataError(
                "A budget is for all classes together: with more than two of them pass "
                "multi_class='direct', under which every mistake keeps one row."
            )
        return replace(
            self,
            n_classes=self.n_classes + 1,
            winners=self.winners + (self.winners >= at),
            rivals=self.rivals + (self.rivals >= at),
        )


@dataclass(frozen=True)
class BudgetLearner(DualLearner):
    """A dual learner that keeps no more than `budget` rows."""

    budget: int = 1

    def init(self, n_classes: int = 2) -> Any:
        """A state that has seen nothing."""
        if n_classes > 2 and self.multi_class != "direct":
            BudgetState().with_class(0, direct=False)
        return BudgetState(n_classes)

    # -- learning

    def stand(self, state: Any, n_rows: int) -> Standing:
        """For rows that have not been met before. Their scores are not kept: all of them shrink at every mistake."""
        state.n_rows += n_rows
        return Standing(0, 0)

    def _catch_up(self, state: Any, points: Points, at: np.ndarray, standing: Standing) -> None:
        """Nothing to be done ahead."""

    def _learn_block(self, state: Any, points: Points, codes: np.ndarray, at: np.ndarray, standing: Standing) -> None:
        pool = _Pool(self, state, points, at)
        m, n, t = len(state.alpha), len(at), 0
        queue, ends = np.arange(m + n), np.array([0, m, 0])
        alpha, winners, rivals = (
            np.concatenate([kept, np.zeros(n, kept.dtype)]) for kept in (state.alpha, state.winners, state.rivals)
        )
        log, norms, scores = np.empty((n, 3), np.int64), np.empty(n), np.empty(state.n_classes)
        before, updates = int(state.counts[EXAMPLES]), int(state.counts[UPDATES])
        old, first = np.empty((0, m)), 0
        while True:
            t = forgetron.walk(
                pool.products,
                old,
                first,
                t,
                self.budget,
                codes,
                self.tie,
                scores,
                queue,
                ends,
                alpha,
                winners,
                rivals,
                state.counts,
                state.measures,
                log,
                norms,
            )
            if t == n:
                break
            first = int(queue[ends[HEAD]])
            old = pool.oldest(first, min(m, first + _OLD, first + n - t))
        used, logged = queue[ends[HEAD] : ends[TAIL]], log[: ends[LOGGED]]
        if not len(logged):
            return
        state.support, state.origins, state.lengths = pool.kept(used)
        state.alpha, state.winners, state.rivals = alpha[used], winners[used], rivals[used]
        state.trace.add(updates + 1, logged[:, 0] + (before + 1), logged[:, 2], norms[: len(logged)], None)

    def standing_scores(self, state: Any, points: Points, standing: Standing) -> np.ndarray:
        """The scores of all rows of a training set under the last weights, (vectors, rows)."""
        scores = np.zeros((state.n_vectors, len(points)))
        self._sum(state, points, state.coefficients("last"), scores)
        return scores

    def errors(self, scores: np.ndarray, codes: np.ndarray) -> int:
        """How many mistakes scores (vectors, rows) would be."""
        decided = self.decide(scores[0] if len(scores) == 1 else scores.T)
        tied = self.margins(scores, codes) == 0.0 if self.ties == "mistake" else False
        return int(((decided != codes) | tied).sum())

    # -- reading

    def score(self, state: Any, points: Points, hypothesis: str) -> np.ndarray:
        """What the last function says: (rows,) for two classes, positive for class 1; (rows, classes) for many."""
        require_last(hypothesis, self.budget)
        scores = self.standing_scores(state, points, Standing(0, 0))
        return scores[0] if state.n_vectors == 1 else scores.T

    def ledger(self, state: Any) -> BudgetLedger:
        """The account of how this state came to be; where K is no inner product nothing follows from it."""
        counts, measures, proved = state.counts.tolist(), state.measures, self.potential.is_positive
        squared_norm = max(0.0, float(measures[SQUARED_NORM]))
        return BudgetLedger(
            examples=counts[EXAMPLES],
            mistakes=counts[MISTAKES],
            updates=counts[UPDATES],
            passes=state.passes,
            radius=1.0 if counts[UPDATES] else 0.0,
            norm=squared_norm**0.5,
            step_sum=float(state.alpha.sum()) if proved else 0.0,  # gamma <= |f| / sum of the weights
            trace=state.trace.copy(),
            # |f|^2 changes by sums of B terms at every update, and each may be off by as many units of rounding
            n_weights=int(
                min(2.0**52, 100.0 * (counts[UPDATES] + 1.0) * (self.budget + 1.0) ** 2 / max(squared_norm, 2.0**-100))
            ),
            is_bounded=proved,
            budget=self.budget,
            deviation=float(measures[DEVIATION]),
            shrinkage=float(measures[SHRINKAGE]),
        )


class _Pool:
    """The kept rows and those of a block, and their kernels at length 1."""

    def __init__(self, learner: BudgetLearner, state: BudgetState, points: Points, at: np.ndarray) -> None:
        self.potential, self.state, self.points, self.at = learner.potential, state, points, at
        rows, m = points.take(at), len(state.alpha)
        products = np.empty((len(at), m + len(at)))
        products[:, m:] = self.potential.gram(rows, at)
        self.lengths = np.concatenate([state.lengths, _lengths(products[:, m:].diagonal(), at)])
        if m:
            products[:, :m] = self.potential.block(state.support.points, rows).T
        require_numbers(products, at)
        with np.errstate(divide="ignore"):
            self.scales = np.where(self.lengths > 0.0, 1.0 / self.lengths, 0.0)
        products *= np.outer(self.scales[m:], self.scales)  # K(x, z) and K(z, x) rounded alike
        self.products = products

    def oldest(self, first: int, last: int) -> np.ndarray:
        """The kernels of some of the kept rows with all of them."""
        some, m = np.arange(first, last), len(self.state.alpha)
        kept = self.state.support.points
        if kept.is_kernel:  # only their numbers are kept, but then the whole matrix is at hand
            found = self.potential.block(kept, self.points.take(kept.data[some, 0])).T
        else:
            found = self.potential.block(kept.take(some), kept)
        return found * np.outer(self.scales[some], self.scales[:m])

    def kept(self, used: np.ndarray) -> tuple[Support, Growing, np.ndarray]:
        """The rows in use, copied out of the pool; their places in the stream; their lengths."""
        state, m = self.state, len(self.state.alpha)
        new = self.at[used[used >= m] - m]
        support = Support(state.support.points.take(used[used < m])) if (used < m).any() else Support()
        support.extend(self.points.kept(new))
        origins = np.concatenate([state.origins.values[used[used < m]], new + (state.n_rows - len(self.points))])
        return support, Growing(origins), self.lengths[used]


def _lengths(squared: np.ndarray, at: np.ndarray) -> np.ndarray:
    """|x| in feature space from K(x, x)."""
    if squared.min(initial=0.0) < 0.0:
        row = int(np.argmin(squared))
        raise DataError(
            f"K(x, x) = {squared[row]:.6g} at row {at[row]}: no inner product is negative there, and a "
            "budget needs one. Choose another kernel, or other parameters for it."
        )
    return np.sqrt(squared)

"""The Forgetron: a kernel perceptron for endless streams, which keeps at most B rows.

Every row is scaled to norm 1 in feature space, K(x, z) / (|x| |z|), as the theorem requires; the sign of a score does
not depend on it. For every function g of that space, with hinge losses l_t = max(0, 1 - y_t g(x_t)) on the
rows with mistakes, and Q and S as the run sums them (see _compiled/loops/forgetron.py),

    M  <=  (1 + S) |g|^2  +  2 sum l_t  +  Q

on any sequence: |f - g|^2 begins at |g|^2; the perceptron's step on row t takes 2 y_t g(x_t) - 1 from it at least,
forgetting row r gives 2 lambda phi y_r g(x_r) + (lambda phi)^2 - 2 lambda phi^2 mu back, and shrinking
(1 - phi) / (1 + phi) |g|^2 at most. phi is chosen such that Q <= 15/32 M; and for B >= 84 and |g| <= U, where
U = sqrt((B + 1) / log(B + 1)) / 4, shrinking costs M / 32 at most, so that M <= 2 |g|^2 + 4 sum l_t (Dekel,
Shalev-Shwartz & Singer 2008, whose constants these are).

Only the last function can be evaluated: a mean, or a vote, would need more rows than the budget.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from novikoff._compiled.loops import forgetron
from novikoff._compiled.loops.additive import EXAMPLES, MISTAKES, SQUARED_NORM, UPDATES
from novikoff._compiled.loops.forgetron import DEVIATION, HEAD, LOGGED, SHRINKAGE, TAIL
from novikoff.errors import DataError, RuleError
from novikoff.kernel_methods.dual import DualLearner
from novikoff.kernel_methods.dual_state import RowScores
from novikoff.kernel_methods.matrices import require_numbers
from novikoff.kernel_methods.points import GrowingArray, Points, Support
from novikoff.perceptron.ledger import Ledger, LedgerTrace

__all__ = ["BudgetLearner", "BudgetLedger", "BudgetState", "require_last"]

_OLD = 32  # of the oldest rows, kernel values with all kept rows are computed at a time, once a mistake needs them


def require_last(hypothesis: str, budget: int) -> None:
    """Raise a RuleError for a hypothesis that needs rows which a budget forgets."""
    if hypothesis != "last":
        raise RuleError(
            f"hypothesis={hypothesis!r} needs every row ever erred on, and budget={budget} forgets all but "
            "the last of them: pass hypothesis='last', or budget=None."
        )


@dataclass(frozen=True, eq=False, repr=False)
class BudgetLedger(Ledger):
    """The ledger of a run on a budget: R is 1 and margins are those of rows of norm 1 in feature space.

    Attributes
    ----------
    budget : int
        B, the largest number of rows to keep.
    deviation, shrinkage : float
        Q and S, bounds on the cost of forgetting and shrinking so far.

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
        """(R / gamma)^2 if the margin is known and the budget is at least as large, so that nothing is ever forgotten;
        None otherwise."""
        if self.margin is None or not self.is_bounded:
            return None
        bound = self.rule.mistake_bound(self.radius, self.margin)
        return bound if bound is not None and bound < self.budget + 1 else None

    def mistakes_against(self, norm: float, hinge_loss: float) -> float | None:
        """Return a bound on the mistakes so far, given a function of this norm and its hinge loss on the same rows of
        norm 1; None where nothing is proved, as for a kernel that is no inner product."""
        return (1.0 + self.shrinkage) * norm**2 + 2.0 * hinge_loss + self.deviation if self.is_bounded else None

    def _lines(self) -> list[tuple[str, str]]:
        return [
            *super()._lines(),
            ("budget", f"{self.budget:,} rows"),
            ("cost", f"{self.deviation:.6g}   (of forgetting: at most 15/32 of the mistakes)"),
        ]


@dataclass(eq=False)
class BudgetState:
    """The state of a learner on a budget. Made by `BudgetLearner.init`, changed by `BudgetLearner.update`.

    Attributes
    ----------
    support : Support
        The kept rows, the oldest first. A row with two mistakes is there twice.
    origins : GrowingArray of int64
        For each of them, its index in the training set or in the stream.
    alpha, winners, rivals : array
        For each, its weight, the class it was added to and the class it was subtracted from.
    lengths : array
        For each, |x| in feature space.
    counts, measures, trace, passes, n_rows
        As in `DualState`.
    """

    n_classes: int = 2
    support: Support = field(default_factory=Support)
    origins: GrowingArray = field(default_factory=lambda: GrowingArray(np.empty(0, np.int64)))
    alpha: np.ndarray = field(default_factory=lambda: np.empty(0))
    winners: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    rivals: np.ndarray = field(default_factory=lambda: np.empty(0, np.int64))
    lengths: np.ndarray = field(default_factory=lambda: np.empty(0))
    counts: np.ndarray = field(default_factory=lambda: np.zeros(5, np.int64))
    measures: np.ndarray = field(default_factory=lambda: np.zeros(5))
    trace: LedgerTrace = field(default_factory=LedgerTrace)
    passes: int = 0
    n_rows: int = 0

    @property
    def n_vectors(self) -> int:
        return 1 if self.n_classes == 2 else self.n_classes

    def derive(self) -> BudgetState:
        """Return a state to learn with, which leaves this one unchanged: learning replaces its arrays."""
        return self.copy()

    def copy(self) -> BudgetState:
        """Return a copy; neither changes when the other learns."""
        return replace(self, counts=self.counts.copy(), measures=self.measures.copy(), trace=self.trace.copy())

    def coefficients(self, hypothesis: str) -> np.ndarray:
        """Return the coefficient of each kept row in each weight vector, of shape (n_vectors, n_support).

        Rows are scaled to norm 1; with many classes an update is to two vectors, and scaled by sqrt(1/2).
        """
        require_last(hypothesis, len(self.alpha))
        weights = self.alpha / self.lengths
        if self.n_classes == 2:
            return np.where(self.winners == 1, weights, -weights)[None, :]
        coefficients, each = np.zeros((self.n_classes, len(weights))), np.arange(len(weights))
        coefficients[self.winners, each] = weights * 0.5**0.5
        coefficients[self.rivals, each] = -weights * 0.5**0.5
        return coefficients

    def swap_classes(self) -> BudgetState:
        """Return a state with the two classes exchanged."""
        return replace(self, winners=self.rivals, rivals=self.winners)

    def insert_class(self, at: int, *, direct: bool) -> BudgetState:
        """Return a state with one more class, of code `at`; two classes have had a vector each from the start."""
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
        """Return a state that has seen nothing."""
        if n_classes > 2 and self.multi_class != "direct":
            BudgetState().insert_class(0, direct=False)  # raises the error
        return BudgetState(n_classes)

    # -- learning

    def start_scores(self, state: Any, n_rows: int) -> RowScores:
        """Return no scores: they are not kept between passes, since every mistake shrinks all of them."""
        state.n_rows += n_rows
        return RowScores(0, 0)

    def _update_scores(self, state: Any, points: Points, at: np.ndarray, row_scores: RowScores) -> None:
        """Do nothing: scores are not kept."""

    def _learn_block(
        self, state: Any, points: Points, codes: np.ndarray, at: np.ndarray, row_scores: RowScores
    ) -> None:
        pool = _Pool(self, state, points, at)
        m, n, t = len(state.alpha), len(at), 0
        queue, ends = np.arange(m + n), np.array([0, m, 0])
        alpha, winners, rivals = (
            np.concatenate([values, np.zeros(n, values.dtype)]) for values in (state.alpha, state.winners, state.rivals)
        )
        log, norms, scores = np.empty((n, 3), np.int64), np.empty(n), np.empty(state.n_classes)
        before, updates = int(state.counts[EXAMPLES]), int(state.counts[UPDATES])
        old, first = np.empty((0, m)), 0
        terms = forgetron.BudgetTerms(queue, ends, alpha, winners, rivals)
        while True:
            kernels = forgetron.BudgetKernels(pool.products, old, first)
            t = forgetron.learn_block(
                kernels, terms, t, self.budget, codes, self.tie, scores, state.counts, state.measures, log, norms
            )
            if t == n:
                break
            first = int(queue[ends[HEAD]])
            old = pool.oldest(first, min(m, first + _OLD, first + n - t))
        used, logged = queue[ends[HEAD] : ends[TAIL]], log[: ends[LOGGED]]
        if not len(logged):
            return
        state.support, state.origins, state.lengths = pool.select(used)
        state.alpha, state.winners, state.rivals = alpha[used], winners[used], rivals[used]
        state.trace.extend(updates + 1, logged[:, 0] + (before + 1), logged[:, 2], norms[: len(logged)], None)

    def current_scores(self, state: Any, points: Points, row_scores: RowScores) -> np.ndarray:
        """Return the scores of all rows of a training set under the last weights, of shape (n_vectors, n_rows)."""
        return self._sum(state, points, state.coefficients("last"))

    def errors(self, scores: np.ndarray, codes: np.ndarray) -> int:
        """Count the mistakes that scores of shape (n_vectors, n_rows) would be."""
        predicted = self.decide(scores[0] if len(scores) == 1 else scores.T)
        is_tie = self.margins(scores, codes) == 0.0 if self.ties == "mistake" else False
        return int(((predicted != codes) | is_tie).sum())

    # -- reading

    def score(self, state: Any, points: Points, hypothesis: str) -> np.ndarray:
        """Return scores under the last function, (rows,) for two classes, positive for class 1, or (rows, classes)."""
        require_last(hypothesis, self.budget)
        scores = self.current_scores(state, points, RowScores(0, 0))
        return scores[0] if state.n_vectors == 1 else scores.T

    def ledger(self, state: Any) -> BudgetLedger:
        """Return the ledger of a state; if K is no inner product, no bound follows from it."""
        counts, measures, proved = state.counts.tolist(), state.measures, self.kernel.is_positive
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
    """The kept rows and those of a block, and their kernel values at norm 1."""

    def __init__(self, learner: BudgetLearner, state: BudgetState, points: Points, at: np.ndarray) -> None:
        self.kernel, self.state, self.points, self.at = learner.kernel, state, points, at
        rows, m = points.take(at), len(state.alpha)
        products = np.empty((len(at), m + len(at)))
        products[:, m:] = self.kernel.gram(rows, at)
        self.lengths = np.concatenate([state.lengths, _lengths(products[:, m:].diagonal(), at)])
        if m:
            products[:, :m] = self.kernel.block(state.support.points, rows).T
        require_numbers(products, at)
        with np.errstate(divide="ignore"):
            self.scales = np.where(self.lengths > 0.0, 1.0 / self.lengths, 0.0)
        products *= np.outer(self.scales[m:], self.scales)  # K(x, z) and K(z, x) rounded alike
        self.products = products

    def oldest(self, first: int, last: int) -> np.ndarray:
        """Return the kernel values of some of the kept rows with all of them."""
        some, m = np.arange(first, last), len(self.state.alpha)
        support = self.state.support.points
        if support.is_kernel:  # only their indices are kept, but then the whole matrix is at hand
            products = self.kernel.block(support, self.points.take(support.data[some, 0])).T
        else:
            products = self.kernel.block(support.take(some), support)
        return products * np.outer(self.scales[some], self.scales[:m])

    def select(self, used: np.ndarray) -> tuple[Support, GrowingArray, np.ndarray]:
        """Return copies of the rows to keep, their indices in the stream, and their norms."""
        state, m = self.state, len(self.state.alpha)
        new = self.at[used[used >= m] - m]
        support = Support(state.support.points.take(used[used < m])) if (used < m).any() else Support()
        support.extend(self.points.copy_rows(new))
        origins = np.concatenate([state.origins.values[used[used < m]], new + (state.n_rows - len(self.points))])
        return support, GrowingArray(origins), self.lengths[used]


def _lengths(squared: np.ndarray, at: np.ndarray) -> np.ndarray:
    """Return |x| in feature space from K(x, x)."""
    if squared.min(initial=0.0) < 0.0:
        row = int(np.argmin(squared))
        raise DataError(
            f"K(x, x) = {squared[row]:.6g} at row {at[row]}: an inner product of a row with itself is never "
            "negative, and a budget needs an inner product. Choose another kernel, or other parameters for it."
        )
    return np.sqrt(squared)

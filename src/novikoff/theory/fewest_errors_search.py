"""FewestErrorsSearch: improve both bounds until they meet or time is up."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from novikoff._compiled import working_time
from novikoff.errors import CertificateError
from novikoff.inputs.rows import Rows
from novikoff.theory.certificates import Inseparable, Separable
from novikoff.theory.checkers.fewest_errors import MOST_VISITS, check_fewest_errors
from novikoff.theory.distinct_points import DistinctPoints, exact_signs
from novikoff.theory.half_space_guesses import descend_in_stages, guess_half_spaces
from novikoff.theory.hitting_sets import WitnessPool
from novikoff.theory.questions import Question
from novikoff.theory.separability import certify_signs
from novikoff.theory.signed_points import SignedPoints, normalize, scale_to_doubles

__all__ = ["BoundsListener", "FewestErrorsSearch"]

BoundsListener = Callable[[int, int], None]  # called with the lower and the upper bound whenever one improves

_ANY_MARGIN = 1.0 - 2.0**-20  # a tolerance: here it matters whether there is a separator, not which

_VISITS_PER_SECOND = 500_000  # to witnesses, in the checker's proof by cases


class _TimeLimitError(Exception):
    """Raised inside the search when the time limit is reached."""


class FewestErrorsSearch:
    """The best bounds so far, on the distinct points; rows that are wrong whatever the half-space are added to both.

    Attributes
    ----------
    w, right : ndarray
        The best half-space so far, and which points it certainly has on their side.
    least, proof : int, list of (index, share)
        The best lower bound so far, and the witnesses of the pool that prove it with their shares.
    relevant : ndarray
        The points with a cost: of the others as many rows are z as -z, and the same number is wrong in any case.
    """

    def __init__(self, given: SignedPoints, question: Question, deadline: float) -> None:
        self.given, self.question, self.deadline = given, question, deadline
        self.distinct = DistinctPoints.from_points(given)
        self.points, self.costs = self.distinct.points, self.distinct.costs
        self.pool = WitnessPool(self.costs)
        self.relevant = np.flatnonzero(self.costs)
        self.w = np.zeros(given.rows.n_features + 1)
        self.right = np.zeros(len(self.points), bool)
        self.least, self.proof = 0, list[tuple[int, Fraction]]()
        # The packing: shares so far, what they leave of each point's cost, and how many points to search at a time.
        self.packed: dict[int, Fraction] = {}
        self.left, self.part = self.costs.copy(), max(64, 8 * (self.points.dimension + 1))
        self.announced = (0, len(given))
        self.listeners: list[BoundsListener] = []
        self.rng = np.random.default_rng(0)

    @property
    def most(self) -> int:
        """The best upper bound so far."""
        return int(self.costs[~self.right].sum())

    def is_expired(self) -> bool:
        """Return whether the time limit is reached."""
        return working_time() > self.deadline

    def run(self) -> None:
        """Search until the bounds meet, the time limit is reached or Ctrl-C; the bounds found by then are kept."""
        try:
            self._try_simplest()
            if self.relevant.size and self._find_witness(self.costs > 0) is not None:
                self._try_guesses()
                self._pack_witnesses(self._time_after(0.5))
                self._try_adding_points(self._time_after(0.5))
                self._pack_again(self._time_after(0.5))
                self._improve_by_hitting_sets()
        except (KeyboardInterrupt, _TimeLimitError):
            pass

    def _notify(self) -> None:
        bounds = self.distinct.unavoidable + self.least, self.distinct.unavoidable + self.most
        if bounds != self.announced:
            self.announced = bounds
            for listener in self.listeners:
                listener(*bounds)

    # From above: half-spaces

    def _try_simplest(self) -> None:
        """Try half-spaces that need no search: the bias alone, or the direction of a point."""
        for direction in (1.0, -1.0):
            w = np.zeros(len(self.w))
            if self.points.constant:
                w[-1] = direction
            elif not len(self.points):  # rows of zeros are wrong whatever the weights
                w[:-1] = direction
            else:
                w[:-1] = direction * np.asarray(self.points.take(np.array([0])).reshape(1, -1))[0, :-1]
            self._keep_if_better(w)

    def _keep_if_better(self, w: np.ndarray, known_right: np.ndarray | None = None) -> None:
        """Keep a half-space if it errs less. Points whose side rounding could change count as wrong, unless known."""
        direction = scale_to_doubles(w)
        right = self.points.margins(direction) > self.points.rounding(direction)
        if known_right is not None:
            right |= known_right
        if not self.w.any() or self.costs[~right].sum() < self.most:
            self.w, self.right = w, right
            self._notify()

    def _find_witness(self, kept: np.ndarray, *, try_separator: bool = True) -> int | None:
        """Find a witness among these points and return its index in the pool; None if they are separable.

        Then what separates them is tried as a half-space, if `try_separator`: for few points it is not worth the time.
        """
        if self.is_expired():
            raise _TimeLimitError
        if not kept.any():
            return None
        signs = np.where(kept, self.points.signs, 0)
        verdict = certify_signs(self.points.rows, signs, self.question, tol=_ANY_MARGIN)
        if isinstance(verdict, Inseparable):
            return self.pool.add(verdict.rows, verdict.multipliers)
        assert isinstance(verdict, Separable)
        if try_separator:
            self._keep_if_better(np.append(verdict.separator, verdict.intercept), kept)
        return None

    def _try_guesses(self) -> None:
        """Try guesses of half-spaces, and pack a little after each, so that both bounds are good soon on large data."""
        for w in guess_half_spaces(self._relevant_points(), self.costs[self.relevant], self.is_expired):
            self._keep_if_better(w)
            self._pack_witnesses(self._time_after(0.03))
            if self.is_expired():
                raise _TimeLimitError

    def _relevant_points(self) -> SignedPoints:
        """Return the points with a cost."""
        if len(self.relevant) == len(self.points):
            return self.points
        rows = Rows.of(self.points.rows.take(self.relevant))
        rows.require_numbers()
        return SignedPoints(rows, self.points.signs[self.relevant], self.points.constant)

    def _perturb_best(self) -> None:
        """Descend again from a random perturbation of the best half-space."""
        w = normalize(scale_to_doubles(self.w))
        w += self.rng.standard_normal(len(w)) * np.abs(w).mean() * self.rng.choice([0.1, 0.3, 1.0])
        if not self.points.constant:
            w[-1] = 0.0
        for better in descend_in_stages(self._relevant_points(), self.costs[self.relevant], w, self.is_expired):
            self._keep_if_better(better)

    def _try_adding_points(self, until: float) -> None:
        """Look for a half-space that is also right on a point that the best one errs on, the nearest points first."""
        margins = self.points.margins(scale_to_doubles(self.w))
        wrong = np.flatnonzero(~self.right & (self.costs > 0))
        for point in wrong[np.argsort(-margins[wrong])].tolist():
            if working_time() > until:
                return
            if not self.right[point]:
                kept = self.right & (self.costs > 0)
                kept[point] = True
                self._find_witness(kept)

    # From below: witnesses

    def _pack_witnesses(self, until: float) -> None:
        """Find witnesses without a common point in random parts of the points, small parts first, which are faster."""
        while working_time() < until:
            unpacked = self.rng.permutation(np.flatnonzero(self.left))
            before = len(self.packed)
            parts = np.array_split(unpacked, math.ceil(len(unpacked) / self.part)) if unpacked.size else []
            for part in parts:
                self._pack_part(part)
                if working_time() > until:
                    break
            self._raise_lower_bound(list(self.packed.items()))
            if self.part >= len(unpacked):
                return
            if len(self.packed) - before < max(1, len(parts) // 4):
                self.part *= 4

    def _pack_again(self, until: float) -> None:
        """Pack again from the start, where each witness has only one of the points that the best half-space errs on.

        There are few of those, and without them the rest is separable. Only for data that the first packing has
        searched as a whole: larger data would take too long.
        """
        if self.part < np.count_nonzero(self.left):
            return
        self.packed, self.left = {}, self.costs.copy()
        for point in np.flatnonzero(~self.right & (self.costs > 0)).tolist():
            self._pack_part(np.append(np.flatnonzero(self.right & (self.left > 0)), point))
            if working_time() > until:
                break
        self._raise_lower_bound(list(self.packed.items()))
        self.part = len(self.points)
        self._pack_witnesses(until)

    def _pack_part(self, part: np.ndarray) -> None:
        """Find witnesses among some points until these are separable; each takes as large a share as costs allow."""
        kept = np.zeros(len(self.points), bool)
        kept[part] = True
        while (at := self._find_witness(kept, try_separator=False)) is not None:
            witness = self.pool.sets[at]
            share = int(self.left[witness].min())
            self.packed[at] = self.packed.get(at, Fraction(0)) + share
            self.left[witness] -= share
            kept[witness] &= self.left[witness] > 0
            if len(self.packed) % 16 == 0:
                self._raise_lower_bound(list(self.packed.items()))

    def _raise_lower_bound(self, proof: list[tuple[int, Fraction]], least: int | None = None) -> None:
        """Keep a lower bound if it is larger: the one that the shares prove, or one that the checker has accepted."""
        least = math.ceil(sum(share for _, share in proof)) if least is None else least
        if least > self.least:
            self.least, self.proof = least, proof
            self._notify()

    def _improve_by_hitting_sets(self) -> None:
        """Search what hitting sets of the pool leave: greedy ones while that gives new witnesses, then the cheapest."""
        rounds = 0
        while self.least < self.most:
            rounds += 1
            is_new = self._find_new_witnesses(self.pool.find_greedily(self.rng))
            if rounds % 8 == 0 or not is_new:
                self._claim_by_shares()
                self._perturb_best()
            if not is_new:
                self._use_cheapest_hitting_set()

    def _use_cheapest_hitting_set(self) -> None:
        """Claim the cost of the cheapest hitting set as a bound, and search what it leaves for new witnesses."""
        cheapest, is_cheapest = self.pool.find_cheapest(self._seconds_left())
        if is_cheapest and self.costs[cheapest].sum() > self.least:
            self._claim_by_cases(int(self.costs[cheapest].sum()))
        if not self._find_new_witnesses(cheapest) and is_cheapest and self.least < self.most:
            # No half-space errs less, but the checker would take too long to prove it.
            raise _TimeLimitError

    def _find_new_witnesses(self, without: np.ndarray) -> bool:
        """Find witnesses without a common point in what a hitting set leaves; False if none of them is new."""
        kept = self.costs > 0
        kept[without] = False
        before = len(self.pool)
        while (at := self._find_witness(kept)) is not None:
            kept[self.pool.sets[at]] = False
        return len(self.pool) > before

    def _claim_by_shares(self) -> None:
        """Claim the bound that the best shares of the whole pool prove."""
        self._raise_lower_bound(
            [(at, share) for at, share in enumerate(self.pool.find_shares(self._seconds_left())) if share]
        )

    def _claim_by_cases(self, least: int) -> None:
        """Claim the cost of the cheapest hitting set, if the checker accepts it.

        The checker gets as few witnesses as have no cheaper hitting set: those with a share, and repeatedly one more
        that the cheapest hitting set of these misses.
        """
        shares = self.pool.find_shares(self._seconds_left())
        if math.ceil(sum(shares)) >= least:
            return self._raise_lower_bound([(at, share) for at, share in enumerate(shares) if share])
        chosen = [at for at, share in enumerate(shares) if share]
        while True:
            hitting, is_cheapest = self.pool.find_cheapest(self._seconds_left(), np.array(chosen))
            if not is_cheapest or self.is_expired():
                raise _TimeLimitError
            if self.costs[hitting].sum() >= least:
                break
            chosen.append(next(at for at, points in enumerate(self.pool.sets) if not np.isin(points, hitting).any()))
        proof = [(at, shares[at]) for at in chosen]
        if self._is_accepted(proof, least):
            self._raise_lower_bound(proof, least)
        return None

    def _is_accepted(self, proof: list[tuple[int, Fraction]], least: int) -> bool:
        """Return whether the checker accepts the bound in the time that is left."""
        witnesses, shares = self.witnesses(proof)
        rows = self.given.rows
        X = rows.take(np.arange(len(rows)))
        sets, least = [witness.rows for witness in witnesses], self.distinct.unavoidable + least
        most_visits = min(MOST_VISITS, int(_VISITS_PER_SECOND * self._seconds_left()))
        try:
            check_fewest_errors(X, self.given.signs, sets, shares, least, self.question.constant, most_visits)
        except CertificateError:
            return False
        return True

    def _seconds_left(self) -> float:
        return max(0.0, self.deadline - working_time())

    def _time_after(self, share: float) -> float:
        """Return the moment at which this share of the time that is left will have passed."""
        return working_time() + share * self._seconds_left()

    def witnesses(self, proof: list[tuple[int, Fraction]]) -> tuple[list[Inseparable], list[Fraction]]:
        """Return the witnesses of a proof as certificates about rows, with their shares: rows that are 0, opposite
        rows, and those of the pool."""
        distinct, size = self.distinct, (len(self.given), self.given.rows.n_features)
        one, witnesses, shares = Fraction(1), [], []
        if distinct.zeros.size:
            witnesses.append(Inseparable(self.question, distinct.zeros[:1], (one,), *size))
            shares.append(Fraction(len(distinct.zeros)))
        for at in np.flatnonzero(distinct.pairs).tolist():
            pair = np.sort([distinct.first[at], distinct.opposite[at]])
            witnesses.append(Inseparable(self.question, pair, (one, one), *size))
            shares.append(Fraction(int(distinct.pairs[at])))
        for at, share in proof:
            points = self.pool.sets[at]
            rows, multipliers = distinct.first[points], distinct.unscale_multipliers(points, self.pool.multipliers[at])
            order = np.argsort(rows)
            witnesses.append(Inseparable(self.question, rows[order], tuple(multipliers[a] for a in order), *size))
            shares.append(share)
        return witnesses, shares

    def final_half_space(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the best half-space, and the sign of <w, z> for each point.

        Where a point is on its boundary, the half-space is turned a little: of opposite rows one is right on either
        side, and none on the boundary.
        """
        w, signs = self.w, exact_signs(self.points, self.w)
        for _ in range(3):
            if signs.all():
                break
            # w + epsilon v gets right what w does, and has no point on its boundary
            v = self.rng.standard_normal(len(w))
            turned = np.where(signs == 0, np.sign(self.points.margins(v)) * self.points.signs, 0).astype(np.int64)
            verdict = certify_signs(
                self.points.rows, np.where(signs > 0, self.points.signs, turned), self.question, tol=_ANY_MARGIN
            )
            if isinstance(verdict, Separable):  # as it must be, unless rounding changed the sign of some <v, z>
                w = np.append(verdict.separator, verdict.intercept)
                signs = exact_signs(self.points, w)
        return w, signs

"""The search behind fewest_errors: half-spaces that err less and less, witnesses that prove more and more."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from novikoff.errors import CertificateError
from novikoff.inputs.rows import Rows
from novikoff.theory import checker
from novikoff.theory.certificates import Inseparable, Question, Separable
from novikoff.theory.hitting_sets import Distinct, Pool, exact_sides, guesses, sharpened
from novikoff.theory.separability import certify_signs
from novikoff.theory.signed_points import Points, as_doubles, unit

__all__ = ["Progress", "Search"]

Progress = Callable[[int, int], None]

_ANY_MARGIN = 1.0 - 2.0**-20  # as a tolerance: whether there is a separator matters here, not which

_WORK_PER_SECOND = 500_000  # of the checker's cases


class _TimeUpError(Exception):
    """The time limit has been reached."""


class Search:
    """The best bounds so far, on the different points; what is wrong whatever the half-space comes on top.

    `right` are the points that the half-space `w` certainly has on their side, `proof` witnesses of the pool with
    their shares.
    """

    def __init__(self, given: Points, question: Question, deadline: float) -> None:
        self.given, self.question, self.deadline = given, question, deadline
        self.distinct = Distinct.of(given)
        self.points, self.costs = self.distinct.points, self.distinct.costs
        self.pool = Pool(self.costs)
        self.at_stake = np.flatnonzero(self.costs)
        self.w = np.zeros(given.rows.n_features + 1)
        self.right = np.zeros(len(self.points), bool)
        self.least, self.proof = 0, list[tuple[int, Fraction]]()
        # the packing: shares so far, what they leave of each point's cost, and how many points to look at together
        self.packed: dict[int, Fraction] = {}
        self.left, self.part = self.costs.copy(), max(64, 8 * (self.points.dimension + 1))
        self.announced = (0, len(given))
        self.listeners: list[Progress] = []
        self.rng = np.random.default_rng(0)

    @property
    def most(self) -> int:
        return int(self.costs[~self.right].sum())

    def expired(self) -> bool:
        return time.monotonic() > self.deadline

    def run(self) -> None:
        """Search until the bounds meet, time is up or Ctrl-C: what has been found by then stays found."""
        try:
            self._offer_simplest()
            if self.at_stake.size and self._witness_in(self.costs > 0) is not None:
                self._guess()
                self._pack(self._moment(0.5))
                self._put_back(self._moment(0.5))
                self._pack_singly(self._moment(0.5))
                self._hit()
        except (KeyboardInterrupt, _TimeUpError):
            pass

    def _announce(self) -> None:
        bounds = self.distinct.unavoidable + self.least, self.distinct.unavoidable + self.most
        if bounds != self.announced:
            self.announced = bounds
            for listener in self.listeners:
                listener(*bounds)

    # From above: half-spaces

    def _offer_simplest(self) -> None:
        """The side of the bias alone, or the direction of a point."""
        for direction in (1.0, -1.0):
            w = np.zeros(len(self.w))
            if self.points.constant:
                w[-1] = direction
            elif not len(self.points):  # rows of zeros are wrong whatever the weights
                w[:-1] = direction
            else:
                w[:-1] = direction * np.asarray(self.points.take(np.array([0])).reshape(1, -1))[0, :-1]
            self._offer(w)

    def _offer(self, w: np.ndarray, known_right: np.ndarray | None = None) -> None:
        """Keep a half-space if it errs less. Points that doubles are not sure of count as wrong, unless known."""
        direction = as_doubles(w)
        right = self.points.margins(direction) > self.points.rounding(direction)
        if known_right is not None:
            right |= known_right
        if not self.w.any() or self.costs[~right].sum() < self.most:
            self.w, self.right = w, right
            self._announce()

    def _witness_in(self, kept: np.ndarray, *, offer: bool = True) -> int | None:
        """The place in the pool of a witness among these points; None if they are separable, and then what separates
        them is worth offering, unless they are few."""
        if self.expired():
            raise _TimeUpError
        if not kept.any():
            return None
        signs = np.where(kept, self.points.signs, 0)
        found = certify_signs(self.points.rows, signs, self.question, tol=_ANY_MARGIN)
        if isinstance(found, Inseparable):
            return self.pool.add(found.rows, found.multipliers)
        assert isinstance(found, Separable)
        if offer:
            self._offer(np.append(found.separator, found.intercept), kept)
        return None

    def _guess(self) -> None:
        """Guess at half-spaces, and pack a little after each: of large data both bounds are to be good soon."""
        for w in guesses(self._at_stake_only(), self.costs[self.at_stake], self.expired):
            self._offer(w)
            self._pack(self._moment(0.03))
            if self.expired():
                raise _TimeUpError

    def _at_stake_only(self) -> Points:
        if len(self.at_stake) == len(self.points):
            return self.points
        rows = Rows.of(self.points.rows.take(self.at_stake))
        rows.require_numbers()
        return Points(rows, self.points.signs[self.at_stake], self.points.constant)

    def _shake(self) -> None:
        """Sharpen again from near the best half-space."""
        w = unit(as_doubles(self.w))
        w += self.rng.standard_normal(len(w)) * np.abs(w).mean() * self.rng.choice([0.1, 0.3, 1.0])
        if not self.points.constant:
            w[-1] = 0.0
        for better in sharpened(self._at_stake_only(), self.costs[self.at_stake], w, self.expired):
            self._offer(better)

    def _put_back(self, until: float) -> None:
        """Points that the best half-space errs on, the nearest first: perhaps another one has them right as well."""
        margins = self.points.margins(as_doubles(self.w))
        wrong = np.flatnonzero(~self.right & (self.costs > 0))
        for point in wrong[np.argsort(-margins[wrong])].tolist():
            if time.monotonic() > until:
                return
            if not self.right[point]:
                kept = self.right & (self.costs > 0)
                kept[point] = True
                self._witness_in(kept)

    # From below: witnesses

    def _pack(self, until: float) -> None:
        """Witnesses without a common point, from ever larger random parts of the points: small parts cost little."""
        while time.monotonic() < until:
            alive = self.rng.permutation(np.flatnonzero(self.left))
            before = len(self.packed)
            parts = np.array_split(alive, math.ceil(len(alive) / self.part)) if alive.size else []
            for part in parts:
                self._pack_part(part)
                if time.monotonic() > until:
                    break
            self._claim(list(self.packed.items()))
            if self.part >= len(alive):
                return
            if len(self.packed) - before < max(1, len(parts) // 4):
                self.part *= 4

    def _pack_singly(self, until: float) -> None:
        """Again from the start, with only one point in each witness that the best half-space errs on, as long as that
        goes: there are few of those, and without them the rest is separable.

        Only for data of which the first packing has left nothing: others are too large to look at so often.
        """
        if self.part < np.count_nonzero(self.left):
            return
        self.packed, self.left = {}, self.costs.copy()
        for point in np.flatnonzero(~self.right & (self.costs > 0)).tolist():
            self._pack_part(np.append(np.flatnonzero(self.right & (self.left > 0)), point))
            if time.monotonic() > until:
                break
        self._claim(list(self.packed.items()))
        self.part = len(self.points)
        self._pack(until)

    def _pack_part(self, part: np.ndarray) -> None:
        kept = np.zeros(len(self.points), bool)
        kept[part] = True
        while (at := self._witness_in(kept, offer=False)) is not None:
            witness = self.pool.sets[at]
            share = int(self.left[witness].min())
            self.packed[at] = self.packed.get(at, Fraction(0)) + share
            self.left[witness] -= share
            kept[witness] &= self.left[witness] > 0
            if len(self.packed) % 16 == 0:
                self._claim(list(self.packed.items()))

    def _claim(self, proof: list[tuple[int, Fraction]], least: int | None = None) -> None:
        """A bound that the shares prove; or a larger one that the checker has been asked about."""
        least = math.ceil(sum(share for _, share in proof)) if least is None else least
        if least > self.least:
            self.least, self.proof = least, proof
            self._announce()

    def _hit(self) -> None:
        """Hitting sets of the witnesses so far: quick ones while they leave new witnesses, else the cheapest."""
        rounds = 0
        while self.least < self.most:
            rounds += 1
            is_new = self._dig(self.pool.greedy(self.rng))
            if rounds % 8 == 0 or not is_new:
                self._claim_shares()
                self._shake()
            if not is_new:
                self._hit_cheaply()

    def _hit_cheaply(self) -> None:
        cheapest, is_cheapest = self.pool.cheapest(self._seconds())
        if is_cheapest and self.costs[cheapest].sum() > self.least:
            self._claim_by_cases(int(self.costs[cheapest].sum()))
        if not self._dig(cheapest) and is_cheapest and self.least < self.most:
            # nothing errs less, but the checker would take too long to see it
            raise _TimeUpError

    def _dig(self, without: np.ndarray) -> bool:
        """Look for witnesses without a common point in what a hitting set leaves; False if it leaves none."""
        kept = self.costs > 0
        kept[without] = False
        before = len(self.pool)
        while (at := self._witness_in(kept)) is not None:
            kept[self.pool.sets[at]] = False
        return len(self.pool) > before

    def _claim_shares(self) -> None:
        self._claim([(at, share) for at, share in enumerate(self.pool.packing(self._seconds())) if share])

    def _claim_by_cases(self, least: int) -> None:
        """Claim the cost of the cheapest hitting set, if the checker can follow.

        It is given as few witnesses as have no cheaper hitting set: those with a share, then again and again one that
        the cheapest hitting set of these misses.
        """
        shares = self.pool.packing(self._seconds())
        if math.ceil(sum(shares)) >= least:
            return self._claim([(at, share) for at, share in enumerate(shares) if share])
        chosen = [at for at, share in enumerate(shares) if share]
        while True:
            hitting, is_cheapest = self.pool.cheapest(self._seconds(), np.array(chosen))
            if not is_cheapest or self.expired():
                raise _TimeUpError
            if self.costs[hitting].sum() >= least:
                break
            chosen.append(next(at for at, points in enumerate(self.pool.sets) if not np.isin(points, hitting).any()))
        proof = [(at, shares[at]) for at in chosen]
        if self._checks(proof, least):
            self._claim(proof, least)
        return None

    def _checks(self, proof: list[tuple[int, Fraction]], least: int) -> bool:
        witnesses, shares = self.witnesses(proof)
        rows = self.given.rows
        X = rows.take(np.arange(len(rows)))
        sets, least = [witness.rows for witness in witnesses], self.distinct.unavoidable + least
        work = min(checker.WORK, int(_WORK_PER_SECOND * self._seconds()))
        try:
            checker.check_fewest(X, self.given.signs, sets, shares, least, self.question.constant, work)
        except CertificateError:
            return False
        return True

    def _seconds(self) -> float:
        return max(0.0, self.deadline - time.monotonic())

    def _moment(self, share: float) -> float:
        """When this share of the time that is left will have passed."""
        return time.monotonic() + share * self._seconds()

    def witnesses(self, proof: list[tuple[int, Fraction]]) -> tuple[list[Inseparable], list[Fraction]]:
        """Certificates of rows: rows that are 0, rows that are opposite, and those of the pool."""
        distinct, size = self.distinct, (len(self.given), self.given.rows.n_features)
        one, found, shares = Fraction(1), [], []
        if distinct.zeros.size:
            found.append(Inseparable(self.question, distinct.zeros[:1], (one,), *size))
            shares.append(Fraction(len(distinct.zeros)))
        for at in np.flatnonzero(distinct.pairs).tolist():
            twins = np.sort([distinct.first[at], distinct.opposite[at]])
            found.append(Inseparable(self.question, twins, (one, one), *size))
            shares.append(Fraction(int(distinct.pairs[at])))
        for at, share in proof:
            points = self.pool.sets[at]
            rows, multipliers = distinct.first[points], distinct.unscaled_multipliers(points, self.pool.multipliers[at])
            order = np.argsort(rows)
            found.append(Inseparable(self.question, rows[order], tuple(multipliers[a] for a in order), *size))
            shares.append(share)
        return found, shares

    def settled(self) -> tuple[np.ndarray, np.ndarray]:
        """The best half-space and the side of each point. Where a point is on its boundary, it is turned a little:
        of opposite rows one is right on either side, and none on the boundary."""
        w, sides = self.w, exact_sides(self.points, self.w)
        for _ in range(3):
            if sides.all():
                break
            # w + epsilon v gets right what w does, and has no point on its boundary
            v = self.rng.standard_normal(len(w))
            turned = np.where(sides == 0, np.sign(self.points.margins(v)) * self.points.signs, 0).astype(np.int64)
            found = certify_signs(
                self.points.rows, np.where(sides > 0, self.points.signs, turned), self.question, tol=_ANY_MARGIN
            )
            if isinstance(found, Separable):  # as it must be, unless doubles got a sign of <v, z> wrong
                w = np.append(found.separator, found.intercept)
                sides = exact_sides(self.points, w)
        return w, sides

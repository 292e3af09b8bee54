"""Accounts: mistakes that were served, updates, and the bounds that hold for them under delay.

Novikoff's theorem bounds updates: an update is decided by the weights at the moment when the label is learned. A
mistake that was served was decided by older weights, so it is counted apart; docs/service.md proves what bounds it.
"""

from __future__ import annotations

import math
from collections import deque
from typing import Any

import msgspec

from novikoff.perceptron.ledger import Ledger
from novikoff.service.online_model import REFUSED, UPDATED
from novikoff.service.records import Outcomes, Totals

__all__ = ["WINDOWS", "Accounts", "LedgerReport", "WindowReport"]

WINDOWS = 100, 1_000, 10_000
_NOT_SERVED = 4  # beside UPDATED and REFUSED
_MISTAKE = 8


class WindowReport(msgspec.Struct):
    """Counts over the last labels: how many there are, how many of them had a prediction, how many of these predictions
    were mistakes, and how many labels changed the weights."""

    labels: int
    served: int
    mistakes: int
    updates: int


class LedgerReport(msgspec.Struct):
    """What was counted, and what follows by theorem.

    Attributes
    ----------
    seq : int
        Labels learned from this log.
    pending : int
        Predictions that wait for their label.
    served, mistakes_served : int
        Labels of predictions that were answered, and those whose answer was another label.
    updates : int
        Labels from this log that changed the weights.
    examples, mistakes_learned : int
        Of the model in all, each mistake counted by the weights at the moment when the label was learned.
    rule : str
    radius : float
        R, the length of the longest row.
    norm : float
        |w|.
    margin_at_most : float or None
        A certified upper bound on the margin of all examples learned; None before the first update.
    best_candidate : str or None
        For the rule "auto" the learner with the fewest mistakes,
    best_candidate_mistakes : int or None
        its mistakes,
    vote_bound : float or None
        and the most mistakes_learned that follow from them by theorem.
    windows : dict
        Of the last 100, 1,000 and 10,000 labels.
    """

    seq: int
    pending: int
    served: int
    mistakes_served: int
    updates: int
    refused: int
    examples: int
    mistakes_learned: int
    rule: str
    radius: float
    norm: float
    margin_at_most: float | None
    best_candidate: str | None
    best_candidate_mistakes: int | None
    vote_bound: float | None
    windows: dict[str, WindowReport]


class Accounts:
    """Counts over the labels of a log.

    Parameters
    ----------
    seq : int
        The last label that has been counted.
    totals : Totals
        Up to it.

    Examples
    --------
    >>> from novikoff.service.accounts import Accounts
    >>> accounts = Accounts()
    >>> accounts.count([True, None, False], bytes([1, 0, 0]))
    >>> accounts.totals.served, accounts.totals.mistakes, accounts.totals.updates
    (2, 1, 1)
    """

    def __init__(self, seq: int = 0, totals: Totals | None = None) -> None:
        self.seq = seq
        self.totals = totals or Totals()
        self._unlogged: list[Outcomes] = []
        self._recent: deque[int] = deque(maxlen=WINDOWS[-1])

    def count(self, mistakes: list[bool | None], flags: bytes) -> None:
        """Count labels: whether what was served was a mistake, and the flags of `OnlineModel.learn`."""
        if not flags:
            return
        self._count(mistakes, flags)
        self._unlogged.append(Outcomes(self.seq + 1, flags, self.totals))
        self.seq += len(flags)

    def recount(self, mistakes: list[bool | None], flags: bytes) -> None:
        """Fill the windows with labels that are in the totals already."""
        totals = self.totals
        self._count(mistakes, flags)
        self.totals = totals

    def _count(self, mistakes: list[bool | None], flags: bytes) -> None:
        served = len(mistakes) - mistakes.count(None)
        totals = self.totals
        self.totals = Totals(
            totals.served + served,
            totals.mistakes + mistakes.count(True),
            totals.updates + flags.count(UPDATED),
            totals.refused + flags.count(REFUSED),
        )
        self._recent.extend(
            flag | (_NOT_SERVED if mistake is None else _MISTAKE if mistake else 0)
            for mistake, flag in zip(mistakes, flags, strict=True)
        )

    def unlogged(self) -> list[Outcomes]:
        """Return the outcomes that are not in the log."""
        return self._unlogged

    def keep_logged(self, n: int) -> None:
        """Remove the first n of `unlogged`, which are in the log now."""
        self._unlogged = self._unlogged[n:]

    def find_flag(self, seq: int) -> int | None:
        """Return the flag of one of the last labels; None if it is not in memory."""
        back = self.seq - seq
        return self._recent[-1 - back] & (UPDATED | REFUSED) if 0 <= back < len(self._recent) else None

    def windows(self) -> dict[str, WindowReport]:
        """Return the counts over the last labels."""
        recent = list(self._recent)
        found = {}
        for size in WINDOWS:
            part = recent[-size:]
            served = [flag for flag in part if not flag & _NOT_SERVED]
            mistakes, updates = sum(map(bool, (f & _MISTAKE for f in served))), sum(f & UPDATED for f in part)
            found[str(size)] = WindowReport(len(part), len(served), mistakes, updates)
        return found

    def report(self, ledger: Ledger, pending: int) -> LedgerReport:
        """Return everything, with the model's own ledger."""
        best, totals = ledger.best_candidate, self.totals
        return LedgerReport(
            seq=self.seq,
            pending=pending,
            served=totals.served,
            mistakes_served=totals.mistakes,
            updates=totals.updates,
            refused=totals.refused,
            examples=ledger.examples,
            mistakes_learned=ledger.mistakes,
            rule=type(ledger.rule).__name__,
            radius=ledger.radius,
            norm=ledger.norm,
            margin_at_most=_finite(ledger.margin_at_most),
            best_candidate=None if best is None else best.name,
            best_candidate_mistakes=None if best is None else best.mistakes,
            vote_bound=_finite(ledger.vote_bound),
            windows=self.windows(),
        )


def _finite(value: Any) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)

"""Ledgers of learners that predict structures."""

from __future__ import annotations

from dataclasses import dataclass

from novikoff.perceptron.ledger import Ledger

__all__ = ["SentenceLedger", "StructuredLedger"]


@dataclass(frozen=True, eq=False, repr=False)
class StructuredLedger(Ledger):
    """Mistakes made on structures, and the bound on them, which does not depend on the number of structures.

    With gamma the margin by which some unit vector u prefers right structures, <u, phi(x, y) - phi(x, z)> >= gamma,
    and R the longest phi(x, y) - phi(x, y^) of the mistakes made, there were at most (R / gamma)^2 of them (Collins
    2002, theorem 1); and gamma is at most |w| / mistakes. R is known for the mistakes so far only, so there is no bound
    on the mistakes to come.
    """

    @property
    def mistakes_left(self) -> int | None:
        """None: a mistake to come may have a longer difference of features than all so far."""
        return None


@dataclass(frozen=True, eq=False, repr=False)
class SentenceLedger(StructuredLedger):
    """Mistakes made on sentences. A sentence with a wrong tag is one mistake, however many of its tags are wrong."""

    def _lines(self) -> list[tuple[str, str]]:
        lines = dict(super()._lines())
        sentences = lines.pop("examples")
        lines["mistakes"] = lines["mistakes"].replace("of examples", "of sentences")
        return [("sentences", sentences), *lines.items()]

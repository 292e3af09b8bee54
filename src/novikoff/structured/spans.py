"""Spans from tags: BIO, IOB1, IOE and BILOU (also called IOBES), all by one rule.

A tag is O, or a letter, a hyphen and a type. Between two neighbouring tokens a span ends and another begins, as in the
script of the CoNLL-2000 task (conlleval): whatever is between, a span that no tag closes ends where it must. So tags of
any of these schemes need not say which it is, and chains that none of them allows still stand for spans.

    B begins a span       I is within one     O is in none
    E or L ends one       S or U is one of its own
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["SpanCounts", "are_spans", "spans"]

_TAG = re.compile(r"[BIELSU]-.+\Z", re.DOTALL)


def are_spans(tags: Iterable[object]) -> bool:
    """Whether a set of tags is of such a scheme.

    >>> are_spans(["B-NP", "I-NP", "O"]), are_spans(["NOUN", "VERB"]), are_spans(["O"])
    (True, False, False)
    """
    others = [tag for tag in tags if tag != "O"]
    return bool(others) and all(isinstance(tag, str) and _TAG.match(tag) for tag in others)


def spans(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """All spans, each its type, the number of its first token and that after its last.

    >>> spans(["B-NP", "I-NP", "B-NP", "O", "U-PER"])
    [('NP', 0, 2), ('NP', 2, 3), ('PER', 4, 5)]
    """
    found, begin = [], 0
    before, kind_before = "O", ""
    for i, tag in enumerate([*tags, "O"]):
        letter, kind = tag[:1], tag[2:]
        is_new = kind != kind_before or before in "ELSU" or letter in "BSU"
        if before != "O" and (letter == "O" or is_new):
            found.append((kind_before, begin, i))
        if letter != "O" and (before == "O" or is_new):
            begin = i
        before, kind_before = letter, kind
    return found


@dataclass
class SpanCounts:
    """Spans of each type: how many there are, were guessed, and were guessed right."""

    there: Counter[str] = field(default_factory=Counter)
    guessed: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def add(self, tags: Sequence[str], guesses: Sequence[str]) -> None:
        """Count the spans of one sentence."""
        there, guessed = set(spans(tags)), set(spans(guesses))
        for counter, some in (self.there, there), (self.guessed, guessed), (self.right, there & guessed):
            counter.update(kind for kind, _, _ in some)

    def scores(self, kind: str | None = None) -> tuple[float | None, float | None, float | None]:
        """Precision, recall and F1 of a type, or of all; None where there is nothing to divide by."""
        there, guessed, right = (
            sum(counter.values()) if kind is None else counter[kind]
            for counter in (self.there, self.guessed, self.right)
        )
        return _share(right, guessed), _share(right, there), _share(2 * right, there + guessed)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None

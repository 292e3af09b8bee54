"""Spans from tags: BIO, IOB1, IOE and BILOU (also called IOBES), all by one rule.

A tag is O, or a letter, a hyphen and a type. Where a span ends and another begins between two neighbouring tokens is
decided as in the script of the CoNLL-2000 task (conlleval): a span that no tag closes ends where the next tag cannot
continue it. So the scheme of the tags need not be known, and chains that no scheme allows still have spans.

    B begins a span       I is inside one     O is in none
    E or L ends one       S or U is a span of one token
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

__all__ = ["SpanCounts", "are_spans", "find_spans"]

_TAG = re.compile(r"[BIELSU]-.+\Z", re.DOTALL)


def are_spans(tags: Iterable[object]) -> bool:
    """Return whether a set of tags is of such a scheme.

    >>> are_spans(["B-NP", "I-NP", "O"]), are_spans(["NOUN", "VERB"]), are_spans(["O"])
    (True, False, False)
    """
    others = [tag for tag in tags if tag != "O"]
    return bool(others) and all(isinstance(tag, str) and _TAG.match(tag) for tag in others)


def find_spans(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """Return all spans, each as (type, position of its first token, position after its last).

    >>> find_spans(["B-NP", "I-NP", "B-NP", "O", "U-PER"])
    [('NP', 0, 2), ('NP', 2, 3), ('PER', 4, 5)]
    """
    spans, begin = [], 0
    before, kind_before = "O", ""
    for i, tag in enumerate([*tags, "O"]):
        letter, kind = tag[:1], tag[2:]
        is_new = kind != kind_before or before in "ELSU" or letter in "BSU"
        if before != "O" and (letter == "O" or is_new):
            spans.append((kind_before, begin, i))
        if letter != "O" and (before == "O" or is_new):
            begin = i
        before, kind_before = letter, kind
    return spans


@dataclass
class SpanCounts:
    """Spans of each type: how many there are, how many were predicted, and how many predictions were right."""

    support: Counter[str] = field(default_factory=Counter)
    predicted: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def add(self, tags: Sequence[str], predictions: Sequence[str]) -> None:
        """Count the spans of one sentence."""
        true, predicted = set(find_spans(tags)), set(find_spans(predictions))
        for counter, some in (self.support, true), (self.predicted, predicted), (self.right, true & predicted):
            counter.update(kind for kind, _, _ in some)

    def scores(self, kind: str | None = None) -> tuple[float | None, float | None, float | None]:
        """Return precision, recall and F1 of a type, or of all types; None where the denominator is 0."""
        support, predicted, right = (
            sum(counter.values()) if kind is None else counter[kind]
            for counter in (self.support, self.predicted, self.right)
        )
        return _divide(right, predicted), _divide(right, support), _divide(2 * right, support + predicted)


def _divide(part: int, total: int) -> float | None:
    return part / total if total else None

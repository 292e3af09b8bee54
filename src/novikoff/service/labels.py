"""KnownLabels: which labels the service takes, and how they are written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from novikoff.selection.evaluation import plain_labels
from novikoff.service.refusals import BadLabelError

__all__ = ["MOST_LABELS", "KnownLabels"]

MOST_LABELS = 1000
_LONGEST = 200


class KnownLabels:
    """The labels of a model.

    Parameters
    ----------
    labels : iterable
        Those known so far: strings, or numbers.
    is_closed : bool
        Whether no other label is taken.

    Examples
    --------
    >>> from novikoff.service.labels import KnownLabels
    >>> labels = KnownLabels([0.0, 1.0], is_closed=True)
    >>> labels.check(1), labels.check("1")
    (1.0, 1.0)
    >>> labels.check("spam")
    Traceback (most recent call last):
    novikoff.service.refusals.BadLabelError: The label "spam" is none of those that this model takes: 0, 1.
    """

    def __init__(self, labels: Iterable[Any] = (), *, is_closed: bool = False) -> None:
        self.is_closed = is_closed
        self._by_text: dict[str, Any] = {}
        self._new: list[str] = []
        for label in labels:
            self._by_text[_as_text(label)] = label

    @property
    def known(self) -> list[Any]:
        return list(self._by_text.values())

    def check(self, label: Any) -> str | float:
        """Return a label as the model has it, or will have it. Raise a BadLabelError if it is not taken."""
        if isinstance(label, bool) or not isinstance(label, (str, int, float)):
            raise BadLabelError("A label must be a string or a number.")
        text = _as_text(label)
        found = self._by_text.get(text)
        return self._check_new(text, label) if found is None else found

    def _check_new(self, text: str, label: str | float) -> str | float:
        if self.is_closed:
            known = ", ".join(sorted(self._by_text)[:20])
            raise BadLabelError(f'The label "{text[:_LONGEST]}" is none of those that this model takes: {known}.')
        if not text or len(text) > _LONGEST or not text.isprintable():
            raise BadLabelError(f"A label must be printable, not empty, and of at most {_LONGEST} characters.")
        if len(self._by_text) >= MOST_LABELS:
            raise BadLabelError(f"The model has {MOST_LABELS:,} labels already, as many as it may have.")
        new = label if isinstance(label, str) else float(label)
        if self._by_text and isinstance(next(iter(self._by_text.values())), str) != isinstance(new, str):
            known = next(iter(self._by_text))
            raise BadLabelError(f'Labels are all strings or all numbers: "{text}" does not go with "{known}".')
        return new

    def add(self, label: str | float) -> None:
        """Add a label that `check` has returned, if it is new."""
        text = _as_text(label)
        if text not in self._by_text:
            self._by_text[text] = label
            self._new.append(text)

    def keep_new(self) -> None:
        """Keep the labels that were added: they are logged."""
        self._new = []

    def forget_new(self) -> None:
        """Remove the labels that were added since `keep_new`."""
        for text in self._new:
            del self._by_text[text]
        self._new = []


def _as_text(label: str | float) -> str:
    if isinstance(label, str):
        return label
    if not abs(label) < 2**53:
        raise BadLabelError("A label that is a number must be smaller than 2^53.")
    return str(plain_labels([float(label)])[0])

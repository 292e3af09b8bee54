"""Entries: predictions as a batch sees them, and the recent ones in memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from novikoff.service.features import Row
from novikoff.service.records import LabelEvent, Prediction, StoredPrediction, decode

__all__ = ["Entry", "RecentEntries"]


class Entry:
    """A prediction and what became of it.

    Attributes
    ----------
    prediction : Prediction
    row : dict or None
        Its features; None if they have not been decoded.
    label, scores
        What was answered; None and {} if nothing was.
    event : LabelEvent or None
        Its label; None if it has none.
    updated : bool or None
        Whether learning the label changed the weights; None if that has to be looked up.
    is_late : bool
        Whether its label came after the window.
    """

    __slots__ = ("event", "is_late", "label", "prediction", "row", "scores", "updated")

    def __init__(self, prediction: Prediction, row: Row | None = None) -> None:
        self.prediction, self.row = prediction, row
        self.label: Any = None
        self.scores: dict[str, float] = {}
        self.event: LabelEvent | None = None
        self.updated: bool | None = None
        self.is_late = False

    @classmethod
    def from_stored(cls, stored: StoredPrediction) -> Entry:
        """Return the entry of a prediction in the log."""
        found = cls(stored.prediction)
        one = stored.prediction
        if one.answer is not None:
            answer = decode(one.answer)
            found.label, found.scores = answer["label"], answer["scores"]
        if stored.seq is not None and stored.label is not None:
            found.event = LabelEvent(stored.seq, one.number, stored.label, 0, stored.mistake, 0, one.id, one.features)
        found.is_late = stored.late_label is not None
        return found

    def read_row(self) -> Row:
        """Return its features."""
        if self.row is None:
            self.row = decode(self.prediction.features)
        return self.row


class RecentEntries:
    """The last entries by id; the log has all of them."""

    def __init__(self, capacity: int = 50_000) -> None:
        self._capacity = capacity
        self._entries: OrderedDict[str, Entry] = OrderedDict()  # a dict would search for its first key

    def get(self, id: str) -> Entry | None:
        return self._entries.get(id)

    def add(self, entry: Entry) -> None:
        """Add an entry; the oldest one leaves if there are too many."""
        entries = self._entries
        entries[entry.prediction.id] = entry
        if len(entries) > self._capacity:
            entries.popitem(last=False)

    def __len__(self) -> int:
        return len(self._entries)

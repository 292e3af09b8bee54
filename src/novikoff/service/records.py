"""Records: what an event log holds, and what is appended to it at once."""

from __future__ import annotations

import zlib

import msgspec

__all__ = [
    "Batch",
    "LabelEvent",
    "LogState",
    "Outcomes",
    "Prediction",
    "StoredPrediction",
    "Totals",
    "decode",
    "encode",
    "next_checksum",
]

encode = msgspec.json.encode
decode = msgspec.json.decode


class Prediction(msgspec.Struct, gc=False):
    """A row that was predicted, or that came with its label.

    Attributes
    ----------
    number : int
        Counts the predictions of a log from 1.
    id : str
    at : int
        When it came, in milliseconds since 1970.
    version : int
        The seq of the last label that had been learned when it was answered.
    features : bytes
        A JSON object.
    answer : bytes or None
        {"label", "scores"} as JSON; None if nothing was predicted.
    """

    number: int
    id: str
    at: int
    version: int
    features: bytes
    answer: bytes | None


class LabelEvent(msgspec.Struct, gc=False):
    """A label that is learned, as the seq-th.

    Attributes
    ----------
    seq, number : int
        Counts labels from 1; the number of the prediction.
    label : bytes
        As JSON.
    at : int
    mistake : bool or None
        Whether the prediction that was served had another label; None if there was none.
    checksum : int
        Of this label and all before it; see `next_checksum`.
    id : str
    features : bytes
        Of the prediction.
    """

    seq: int
    number: int
    label: bytes
    at: int
    mistake: bool | None
    checksum: int
    id: str
    features: bytes


class StoredPrediction(msgspec.Struct, gc=False):
    """A prediction, and the label that it has got. `late_label` came after the window and is not learned."""

    prediction: Prediction
    seq: int | None = None
    label: bytes | None = None
    mistake: bool | None = None
    late_label: bytes | None = None


class Totals(msgspec.Struct, frozen=True):
    """Counts over all labels from the first one.

    Attributes
    ----------
    served : int
        Labels of predictions that were answered.
    mistakes : int
        Those whose answer was another label.
    updates : int
        Labels that changed the weights.
    refused : int
        Labels whose row the learner could not learn from.
    """

    served: int = 0
    mistakes: int = 0
    updates: int = 0
    refused: int = 0


class Outcomes(msgspec.Struct):
    """What learning some consecutive labels led to: a byte for each, 1 if it changed the weights, 2 if it was refused.

    `totals` are those after the last of them.
    """

    first: int
    flags: bytes
    totals: Totals

    @property
    def end(self) -> int:
        return self.first + len(self.flags)


class Batch(msgspec.Struct):
    """What is appended in one transaction.

    Attributes
    ----------
    predictions : list of Prediction
    labels : list of LabelEvent
    late : list of (number, label as JSON, at)
        Labels that came after the window.
    columns : dict of str to str
        Names of features that are new, and what they hold.
    pending : list of int
        The numbers of predictions that wait for their label.
    expired_before : int
        Predictions that came before this moment no longer wait for their label.
    outcomes : list of Outcomes
        Of labels of earlier batches.
    """

    predictions: list[Prediction] = []
    labels: list[LabelEvent] = []
    late: list[tuple[int, bytes, int]] = []
    columns: dict[str, str] = {}
    pending: list[int] = []
    expired_before: int = 0
    outcomes: list[Outcomes] = []

    def __bool__(self) -> bool:
        return bool(self.predictions or self.labels or self.late or self.outcomes)


class LogState(msgspec.Struct, frozen=True):
    """Where a log ends.

    Attributes
    ----------
    number, seq, checksum : int
        Of the last prediction and the last label; 0 if there is none.
    outcomes_end : int
        One more than the last seq whose outcome is logged.
    totals : Totals
        Of these outcomes.
    columns : dict of str to str
        What each feature holds: "number", "word" or "text".
    """

    number: int
    seq: int
    checksum: int
    outcomes_end: int
    totals: Totals
    columns: dict[str, str]


def next_checksum(checksum: int, id: str, features: bytes, label: bytes) -> int:
    """Return the checksum of a log with one more label: CRC-32 of the one before, the id, the row and the label.

    >>> from novikoff.service.records import next_checksum
    >>> next_checksum(0, "a", b"{}", b'"spam"') == next_checksum(0, "a", b"{}", b'"ham"')
    False
    """
    return zlib.crc32(label, zlib.crc32(features, zlib.crc32(id.encode(), checksum)))

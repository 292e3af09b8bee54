"""Requests to a model, and their answers, without HTTP."""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["Answer", "Labelled", "Learn", "Learned", "Predict", "Predicted", "PutLabel", "Request"]


class Predict(msgspec.Struct, gc=False):
    """Predict the label of a row. An id that was used before gives the stored answer."""

    features: Any
    id: str | None = None


class PutLabel(msgspec.Struct, gc=False):
    """Learn the label of a prediction; with features also of a row that was not predicted here."""

    id: str
    label: Any
    features: Any = None


class Learn(msgspec.Struct, gc=False):
    """Predict the label of a row, then learn it."""

    features: Any
    label: Any
    id: str | None = None


class Predicted(msgspec.Struct, gc=False):
    """A prediction: its id, the label, the score of each label, and the seq of the last label learned before it."""

    id: str
    label: str | float | int | None
    scores: dict[str, float]
    version: int


class Labelled(msgspec.Struct, gc=False):
    """A label that is learned.

    `mistake` says whether the prediction that was served had another label (null: none was served), `updated` whether
    the ledger counts an update by the label (for the rule "auto", a mistake of the vote as it is now), `duplicate`
    whether the label was there before.
    """

    seq: int
    mistake: bool | None
    updated: bool
    duplicate: bool


class Learned(msgspec.Struct, gc=False):
    """A prediction and its label, which is learned."""

    id: str
    label: str | float | int | None
    scores: dict[str, float]
    version: int
    seq: int
    mistake: bool | None
    updated: bool
    duplicate: bool


Request = Predict | PutLabel | Learn
Answer = Predicted | Labelled | Learned

"""Wire: what the bodies of requests and answers hold, as types. They are read, written and documented by these."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

__all__ = [
    "InferInput",
    "InferOutput",
    "InferRequest",
    "InferResponse",
    "LabelBody",
    "LabelLine",
    "LearnBody",
    "LineStatus",
    "Live",
    "ModelMetadata",
    "PendingPredictions",
    "PredictBody",
    "Problem",
    "Ready",
    "ServerMetadata",
    "SnapshotInfo",
    "StoredAnswer",
    "TensorMetadata",
]

Id = Annotated[str, Meta(pattern=r"^[A-Za-z0-9._~:@+=-]{1,128}$", description="Named by the caller, or a UUID.")]
Features = Annotated[
    dict[str, Any],
    Meta(
        description="Values by name: numbers, strings, true, false; null is missing. What a name holds is decided by "
        "its first value.",
        extra_json_schema={"additionalProperties": {"type": ["number", "string", "boolean", "null"]}},
    ),
]
Label = str | int | float


class PredictBody(msgspec.Struct, forbid_unknown_fields=True):
    """A row to predict."""

    features: Features
    id: Id | None = None


class LabelBody(msgspec.Struct, forbid_unknown_fields=True):
    """The label of a prediction; with features also of a row that was not predicted here."""

    label: Label
    features: Features | None = None


class LabelLine(msgspec.Struct, forbid_unknown_fields=True):
    """A line of labels."""

    id: Id
    label: Label
    features: Features | None = None


class LearnBody(msgspec.Struct, forbid_unknown_fields=True):
    """A row and its label: predict, count, learn."""

    features: Features
    label: Label
    id: Id | None = None


class LineStatus(msgspec.Struct, omit_defaults=True):
    """What became of a line of labels."""

    status: int
    id: str | None = None
    seq: int | None = None
    mistake: bool | None = None
    updated: bool | None = None
    duplicate: bool | None = None
    error: str | None = None


class Problem(msgspec.Struct):
    """A problem document (RFC 9457), with the member `error` of the Open Inference Protocol."""

    title: str
    status: int
    detail: str
    error: str
    type: str = "about:blank"


class Live(msgspec.Struct):
    """Whether the process runs."""

    live: bool


class Ready(msgspec.Struct):
    """Whether requests are answered: after replay and compilation, until the service stops."""

    ready: bool


class ServerMetadata(msgspec.Struct):
    """The server."""

    name: str
    version: str
    extensions: list[str]


class TensorMetadata(msgspec.Struct):
    """A tensor that a model takes or returns."""

    name: str
    datatype: str
    shape: list[int]


class ModelMetadata(msgspec.Struct):
    """A model: what it takes, what it answers, and the labels it knows."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]
    labels: list[Label]


class InferInput(msgspec.Struct):
    """A feature of all rows: its values, in the shape [rows] or [rows, 1]."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Any]
    parameters: dict[str, Any] | None = None


class InferRequest(msgspec.Struct):
    """Rows to predict, as tensors by feature name."""

    inputs: list[InferInput]
    id: str | None = None
    parameters: dict[str, Any] | None = None
    outputs: list[dict[str, Any]] | None = None


class InferOutput(msgspec.Struct):
    """A tensor of the answer."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Any]


class InferResponse(msgspec.Struct, omit_defaults=True):
    """Labels, ids and scores of rows."""

    model_name: str
    model_version: str
    outputs: list[InferOutput]
    id: str | None = None


class StoredAnswer(msgspec.Struct):
    """A prediction in the log: what was asked, what was answered, and its label if it has one."""

    id: str
    at: int
    version: int
    features: msgspec.Raw
    label: msgspec.Raw
    scores: msgspec.Raw
    status: str
    true_label: msgspec.Raw
    seq: int | None
    mistake: bool | None


class PendingPredictions(msgspec.Struct):
    """Predictions that wait for their label, the oldest first; `next` is the `after` of the next page, or null."""

    predictions: list[StoredAnswer]
    next: int | None


class SnapshotInfo(msgspec.Struct):
    """A snapshot that was written."""

    seq: int
    file: str

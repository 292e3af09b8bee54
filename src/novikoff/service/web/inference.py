"""The Open Inference Protocol, version 2: server and models, and predictions of tensors by feature name."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response
from starlette.types import ASGIApp

from novikoff import __version__
from novikoff.selection.evaluation import plain_labels
from novikoff.service.ids import is_id
from novikoff.service.refusals import BadRequestError, BadRowError
from novikoff.service.requests import Predict, Predicted
from novikoff.service.web.operations import Call, json_answer
from novikoff.service.web.wire import (
    InferInput,
    InferOutput,
    InferRequest,
    InferResponse,
    Live,
    ModelMetadata,
    Ready,
    ServerMetadata,
    TensorMetadata,
)

__all__ = ["get_live", "get_model", "get_model_ready", "get_ready", "get_server", "infer"]

_DECODER = msgspec.json.Decoder(InferRequest)
_MOST_ROWS = 2048
_NUMBERS = ("FP64", "FP32", "FP16", "INT64", "INT32", "INT16", "INT8", "UINT64", "UINT32", "UINT16", "UINT8")
_TYPES = {"number": "FP64", "word": "BYTES", "text": "BYTES"}


async def get_server(call: Call) -> ASGIApp:
    """Describe the server."""
    return json_answer(ServerMetadata("novikoff", __version__, []))


async def get_live(call: Call) -> ASGIApp:
    """Say that the process runs."""
    return json_answer(Live(True))


async def get_ready(call: Call) -> ASGIApp:
    """Say whether requests are answered."""
    call.state.require_ready()
    return json_answer(Ready(True))


async def get_model_ready(call: Call) -> ASGIApp:
    """Say whether requests to a model are answered."""
    _require_version(call)
    _ = call.model
    return json_answer(Ready(True))


async def get_model(call: Call) -> ASGIApp:
    """Describe a model."""
    _require_version(call)
    model = call.model

    def describe() -> ModelMetadata:
        writer = model.hosted.writer
        inputs = [TensorMetadata(name, _TYPES[kind], [-1]) for name, kind in writer.features.kinds.items()]
        outputs = [
            TensorMetadata("label", "BYTES", [-1]),
            TensorMetadata("id", "BYTES", [-1]),
            TensorMetadata("scores", "FP64", [-1, -1]),
        ]
        labels = plain_labels(writer.labels.known)
        return ModelMetadata(model.hosted.name, ["1"], "novikoff", inputs, outputs, labels)

    return json_answer(await model.bridge.run(describe))


def _require_version(call: Call) -> None:
    if call.scope["path_params"].get("version", "1") != "1":
        raise BadRequestError('A model has one version, "1"; what `version` in predictions counts the labels learned.')


async def infer(call: Call) -> ASGIApp:
    """Predict rows that are tensors by feature name; each row gets an id, under which its label can come."""
    _require_version(call)
    model, body = call.model, await call.read(_DECODER)
    rows = _rows_of(body.inputs)
    if body.id is not None and not is_id(body.id):
        raise BadRequestError("id has characters that an id cannot have, or too many.")
    results = await model.bridge.ask([Predict(row) for row in rows])
    for result in results:
        if isinstance(result, Exception):
            raise result
    answers = [result for result in results if isinstance(result, Predicted)]
    names = list(answers[0].scores)
    outputs = [
        InferOutput("label", [len(answers)], "BYTES", ["" if one.label is None else str(one.label) for one in answers]),
        InferOutput("id", [len(answers)], "BYTES", [one.id for one in answers]),
        InferOutput(
            "scores", [len(answers), len(names)], "FP64", [one.scores[name] for one in answers for name in names]
        ),
    ]
    return Response(
        msgspec.json.encode(InferResponse(model.hosted.name, "1", outputs, body.id)), media_type="application/json"
    )


def _rows_of(inputs: list[InferInput]) -> list[dict[str, Any]]:
    """Return the rows of tensors."""
    if not inputs:
        raise BadRowError("inputs is empty: there are no rows.")
    n = len(inputs[0].data)
    if not 0 < n <= _MOST_ROWS:
        raise BadRowError(f"The input {inputs[0].name!r} has {n} values; there may be 1 to {_MOST_ROWS:,} rows.")
    rows: list[dict[str, Any]] = [{} for _ in range(n)]
    for one in inputs:
        if one.shape not in ([n], [n, 1]) or len(one.data) != n:
            raise BadRowError(f"The input {one.name[:100]!r} must have the shape [{n}] or [{n}, 1], and {n} values.")
        if one.datatype not in (*_NUMBERS, "BYTES", "BOOL"):
            raise BadRowError(f"The input {one.name[:100]!r} has the datatype {one.datatype[:20]!r}, which is unknown.")
        if rows[0].keys() & {one.name}:
            raise BadRowError(f"The input {one.name[:100]!r} is there twice.")
        for row, value in zip(rows, one.data, strict=True):
            row[one.name] = value
    return rows

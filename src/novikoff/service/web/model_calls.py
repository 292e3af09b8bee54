"""Calls of one model: predictions, labels, and what is known of them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

import msgspec
from starlette.responses import FileResponse
from starlette.types import ASGIApp

from novikoff.service.ids import require_id
from novikoff.service.records import StoredPrediction, decode
from novikoff.service.refusals import BadRequestError, NotFoundError, UnavailableError
from novikoff.service.requests import Learn, Predict, PutLabel
from novikoff.service.web.bodies import MediaTypeError, is_lines
from novikoff.service.web.operations import Call, json_answer
from novikoff.service.web.streams import LINES, StreamedAnswer, answer_lines
from novikoff.service.web.wire import (
    LabelBody,
    LabelLine,
    LearnBody,
    PendingPredictions,
    PredictBody,
    SnapshotInfo,
    StoredAnswer,
)

__all__ = [
    "get_ledger",
    "get_log",
    "get_prediction",
    "get_snapshot",
    "learn",
    "list_predictions",
    "post_labels",
    "post_snapshot",
    "predict",
    "put_label",
]

_PREDICT, _LEARN = msgspec.json.Decoder(PredictBody), msgspec.json.Decoder(LearnBody)
_LABEL, _LABEL_LINE = msgspec.json.Decoder(LabelBody), msgspec.json.Decoder(LabelLine)
_PAGE = 1000
_NULL = msgspec.Raw(b"null")


async def predict(call: Call) -> ASGIApp:
    """Predict the label of a row, or of the row on each line."""
    bridge = call.model.bridge
    if is_lines(call.scope):
        return StreamedAnswer(answer_lines(call.receive, bridge, _PREDICT, _as_predict), LINES)
    [result] = await bridge.ask([_as_predict(await call.read(_PREDICT))])
    return json_answer(result)


async def learn(call: Call) -> ASGIApp:
    """Predict the label of a row, count, and learn; or so for the row on each line."""
    bridge = call.model.bridge
    if is_lines(call.scope):
        return StreamedAnswer(answer_lines(call.receive, bridge, _LEARN, _as_learn), LINES)
    [result] = await bridge.ask([_as_learn(await call.read(_LEARN))])
    return json_answer(result)


async def put_label(call: Call) -> ASGIApp:
    """Learn the label of a prediction."""
    bridge, id = call.model.bridge, require_id(call.path("id"))
    body = await call.read(_LABEL)
    [result] = await bridge.ask([PutLabel(id, body.label, body.features)])
    return json_answer(result)


async def post_labels(call: Call) -> ASGIApp:
    """Learn the labels on the lines of the body."""
    if not is_lines(call.scope):
        raise MediaTypeError("Labels come as lines: send application/x-ndjson.")
    return StreamedAnswer(answer_lines(call.receive, call.model.bridge, _LABEL_LINE, _as_label), LINES)


def _as_predict(body: PredictBody) -> Predict:
    return Predict(body.features, body.id)


def _as_learn(body: LearnBody) -> Learn:
    return Learn(body.features, body.label, body.id)


def _as_label(line: LabelLine) -> PutLabel:
    return PutLabel(line.id, line.label, line.features)


# -- what is known


async def get_prediction(call: Call) -> ASGIApp:
    """Return a prediction."""
    model, id = call.model, require_id(call.path("id"))
    found = await model.bridge.run(model.hosted.writer.log.find, [id])
    if id not in found:
        raise NotFoundError(f'There is no prediction "{id}".')
    return json_answer(_as_answer(found[id]))


async def list_predictions(call: Call) -> ASGIApp:
    """Return predictions that wait for their label."""
    model = call.model
    if call.query("status", "pending") != "pending":
        raise BadRequestError('status must be "pending".')
    limit, after = call.integer("limit", 100, _PAGE), call.integer("after", 0, 1 << 62)
    found = await model.bridge.run(model.hosted.writer.log.pending, after, limit)
    last = found[-1].prediction.number if found and len(found) == limit else None
    return json_answer(PendingPredictions([_as_answer(each) for each in found], last))


def _as_answer(stored: StoredPrediction) -> StoredAnswer:
    one = stored.prediction
    answer = (
        {"label": _NULL, "scores": _NULL} if one.answer is None else decode(one.answer, type=dict[str, msgspec.Raw])
    )
    status = "labelled" if stored.seq is not None else "expired" if stored.late_label is not None else "pending"
    own = stored.label or stored.late_label
    return StoredAnswer(
        one.id,
        one.at,
        one.version,
        msgspec.Raw(one.features),
        answer["label"],
        answer["scores"],
        status,
        _NULL if own is None else msgspec.Raw(own),
        stored.seq,
        stored.mistake,
    )


async def get_ledger(call: Call) -> ASGIApp:
    """Return the ledger."""
    model = call.model
    return json_answer(await model.bridge.run(model.hosted.writer.report))


async def get_log(call: Call) -> ASGIApp:
    """Return the labels in the order in which they were learned, as rows that `novikoff learn` reads."""
    model, first = call.model, call.integer("from", 1, 1 << 62)

    async def rows() -> AsyncGenerator[bytes, None]:
        log, target, after = model.hosted.writer.log, model.hosted.writer.features.target, max(first, 1) - 1
        while events := await model.bridge.run(log.labels, after, _PAGE):
            lines = []
            for event in events:
                row: dict[str, Any] = decode(event.features, type=dict[str, msgspec.Raw])
                row[target] = msgspec.Raw(event.label)
                lines.append(msgspec.json.encode(row))
            yield b"\n".join(lines) + b"\n"
            after = events[-1].seq

    return StreamedAnswer(rows(), LINES, watch=True)


# -- snapshots


async def post_snapshot(call: Call) -> ASGIApp:
    """Write a snapshot."""
    model = call.model
    path = await model.bridge.run(model.hosted.writer.save_snapshot)
    if path is None:
        raise UnavailableError("There is nothing to save yet, or no room for it.")
    [(seq, newest), *_] = model.hosted.snapshots.paths()
    return json_answer(SnapshotInfo(seq, newest.name))


async def get_snapshot(call: Call) -> ASGIApp:
    """Return the newest snapshot: a model file that all other commands take."""
    model = call.model
    found = await model.bridge.run(model.hosted.snapshots.paths)
    if not found:
        raise NotFoundError("There is no snapshot yet; POST to snapshots writes one.")
    seq, path = found[0]
    name = f"{model.hosted.name}-{seq}.nk"
    return FileResponse(path, media_type="application/octet-stream", filename=name)

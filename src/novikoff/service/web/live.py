"""Live updates: events that the server sends as labels are learned, and a page that shows them."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from typing import Any

import msgspec
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp

from novikoff.service.refusals import BadRequestError
from novikoff.service.web.operations import Call
from novikoff.service.web.pages import LIVE_PAGE, SECURITY_HEADERS
from novikoff.service.web.state import ServedModel
from novikoff.service.web.streams import StreamedAnswer

__all__ = ["get_events", "get_live_page"]

_PAGE = 500
_HEARTBEAT = 10.0  # seconds without labels, after which a comment is sent, so that connections stay open
_LEDGER_EVERY = 0.5  # seconds


async def get_events(call: Call) -> ASGIApp:
    """Send an event for every label that is learned, and the ledger after them; both stop when the server stops."""
    model = call.model
    given = call.scope["novikoff.headers"].get(b"last-event-id", b"").decode("latin-1")
    if given and not (given.isascii() and given.isdigit() and len(given) < 19):
        raise BadRequestError("Last-Event-ID must be the seq of a label.")
    after = int(given) if given else model.hosted.writer.seq
    return StreamedAnswer(_events(call, model, after), "text/event-stream", watch=True)


async def _events(call: Call, model: ServedModel, after: int) -> AsyncGenerator[bytes, None]:
    writer, sent_at = model.hosted.writer, 0.0
    yield b"retry: 1000\n\n"
    while call.state.status == "ready":
        events = await model.bridge.run(writer.log.labels, after, _PAGE) if writer.seq > after else []
        if events:
            yield b"".join(_event("label", _describe(each), each.seq) for each in events)
            after = events[-1].seq
        if time.monotonic() - sent_at >= _LEDGER_EVERY:
            yield _event("ledger", await model.bridge.run(writer.report))
            sent_at = time.monotonic()
        if writer.seq > after:
            continue
        await model.hub.wait(_HEARTBEAT)
        if writer.seq <= after:
            yield b": no new labels\n\n"


def _describe(event: Any) -> dict[str, Any]:
    label = msgspec.Raw(event.label)
    return {"seq": event.seq, "id": event.id, "label": label, "mistake": event.mistake, "at": event.at}


def _event(kind: str, data: Any, seq: int | None = None) -> bytes:
    number = b"" if seq is None else b"id: %d\n" % seq
    return number + b"event: " + kind.encode() + b"\ndata: " + msgspec.json.encode(data) + b"\n\n"


async def get_live_page(call: Call) -> ASGIApp:
    """Return a page that shows the ledger of a model as it changes."""
    _ = call.model
    return HTMLResponse(LIVE_PAGE, headers=SECURITY_HEADERS)

"""Streams: answers that are sent line by line, and lines of requests that are answered as they come."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from typing import Any, TypeVar

import msgspec
from starlette.types import Receive, Scope, Send

from novikoff.service.refusals import QueueFullError, UnavailableError
from novikoff.service.requests import Request
from novikoff.service.web.bodies import read_lines
from novikoff.service.web.bridge import Bridge
from novikoff.service.web.problems import describe_error, problem_of, status_of
from novikoff.service.web.wire import LineStatus
from novikoff.service.writer import Results

__all__ = ["LINES", "StreamedAnswer", "answer_lines"]

T = TypeVar("T")

LINES = "application/x-ndjson"
_AHEAD = 4  # submissions whose answers are waited for at a time
_FULL_WAIT = 0.02  # seconds until a queue that was full is tried again
_encode = msgspec.json.Encoder().encode


class StreamedAnswer:
    """An answer that is sent piece by piece. An error before the first piece is a problem document.

    Parameters
    ----------
    pieces : asynchronous generator of bytes
    media_type : str
    watch : bool
        Whether to stop when the client closes the connection; not while the body is still being read.
    """

    status_code = 200

    def __init__(self, pieces: AsyncGenerator[bytes, None], media_type: str, *, watch: bool = False) -> None:
        self._pieces, self._media_type, self._watch = pieces, media_type, watch

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            first = await anext(self._pieces, b"")
        except Exception as error:
            await problem_of(error)(scope, receive, send)
            return
        headers = [(b"content-type", self._media_type.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        sending = asyncio.ensure_future(self._send(first, send))
        watching = asyncio.ensure_future(_wait_for_end(receive)) if self._watch else None
        try:
            await asyncio.wait([sending, *([watching] if watching else [])], return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (sending, watching):
                if task is not None and not task.done():
                    task.cancel()
                    with contextlib.suppress(asyncio.CancelledError):
                        await task
            await self._pieces.aclose()
        if sending.done() and not sending.cancelled():
            sending.result()

    async def _send(self, first: bytes, send: Send) -> None:
        await send({"type": "http.response.body", "body": first, "more_body": True})
        async for piece in self._pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _wait_for_end(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def answer_lines(
    receive: Receive, bridge: Bridge, decoder: msgspec.json.Decoder[T], as_request: Callable[[T], Request]
) -> AsyncGenerator[bytes, None]:
    """Yield the answers to the lines of a body, as they come; the answer to a line that is refused says why."""
    queue: asyncio.Queue[_Waiting | Exception | None] = asyncio.Queue(_AHEAD)
    reading = asyncio.ensure_future(_read(receive, bridge, decoder, as_request, queue))
    try:
        while True:
            waiting = await queue.get()
            if waiting is None:
                return
            if isinstance(waiting, Exception):
                yield _line_of(waiting, None)
                return
            yield await waiting.lines()
    finally:
        reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await reading


class _Waiting:
    """Lines that were submitted together: for each a request, or the error that it is no request."""

    __slots__ = ("errors", "future", "requests")

    def __init__(
        self, requests: Sequence[Request], errors: dict[int, Exception], future: asyncio.Future[Results] | None
    ) -> None:
        self.requests, self.errors, self.future = requests, errors, future

    async def lines(self) -> bytes:
        """Return the answers to all lines, when they are there."""
        results = [] if self.future is None else await self.future
        lines = []
        position = 0
        for at in range(len(self.requests) + len(self.errors)):
            if at in self.errors:
                lines.append(_line_of(self.errors[at], None))
            else:
                lines.append(_line_of(results[position], self.requests[position].id))
                position += 1
        return b"".join(lines)


async def _read(
    receive: Receive,
    bridge: Bridge,
    decoder: msgspec.json.Decoder[T],
    as_request: Callable[[T], Request],
    queue: asyncio.Queue[_Waiting | Exception | None],
) -> None:
    """Read lines and submit them, at most `_AHEAD` pieces before the answers are sent."""
    decode = decoder.decode
    try:
        async for lines in _in_parts(read_lines(receive)):
            requests: list[Request] = []
            errors: dict[int, Exception] = {}
            for at, line in enumerate(lines):
                try:
                    requests.append(as_request(decode(line)))
                except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                    errors[at] = error
            await queue.put(_Waiting(requests, errors, await _submit(bridge, requests) if requests else None))
        await queue.put(None)
    except Exception as error:
        await queue.put(error)


async def _in_parts(pieces: AsyncIterator[list[bytes]]) -> AsyncIterator[list[bytes]]:
    async for lines in pieces:
        for start in range(0, len(lines), 1024):
            yield lines[start : start + 1024]


async def _submit(bridge: Bridge, requests: Sequence[Request]) -> asyncio.Future[Results]:
    """Submit requests; wait while the queue is full, which slows the sender down."""
    while True:
        try:
            return bridge.submit(requests)
        except QueueFullError:
            await asyncio.sleep(_FULL_WAIT)


def _line_of(result: Any, id: str | None) -> bytes:
    if isinstance(result, Exception):
        status = 503 if isinstance(result, UnavailableError) else status_of(result)
        return _encode(LineStatus(status, id, error=describe_error(result))) + b"\n"
    if hasattr(result, "id"):
        return _encode(result) + b"\n"
    return _encode(LineStatus(200, id, result.seq, result.mistake, result.updated, result.duplicate)) + b"\n"

"""Bodies: reading them from a connection, with limits."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.types import Receive, Scope

from novikoff.service.refusals import RefusalError

__all__ = ["LARGEST", "is_lines", "read_body", "read_lines", "require_json"]

LARGEST = 1 << 20  # bytes of a body, and of a line
_LINES = ("application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines")
# curl -d sends the second one, whatever the content.
_JSON = ("application/json", "application/x-www-form-urlencoded", "")


class TooLargeError(RefusalError):
    """A body or a line is too large."""

    status, title = 413, "Too large"


class MediaTypeError(RefusalError):
    """A body is of a type that is not read here."""

    status, title = 415, "Unsupported media type"


class GoneError(RefusalError):
    """The client has closed the connection within the body."""

    status, title = 400, "Incomplete body"


def _media_type(scope: Scope) -> str:
    kind = scope["novikoff.headers"].get(b"content-type", b"")
    return "application/json" if kind == b"application/json" else _parse_media_type(kind)


def _parse_media_type(kind: bytes) -> str:
    return kind.decode("latin-1").partition(";")[0].strip().lower()


def is_lines(scope: Scope) -> bool:
    """Whether a body is lines of JSON."""
    return _media_type(scope) in _LINES


def require_json(scope: Scope) -> None:
    """Raise an error unless a body is said to be JSON, or not said to be anything else."""
    kind = _media_type(scope)
    if kind not in _JSON and not kind.endswith("+json"):
        raise MediaTypeError(f"The body is said to be {kind[:100]!r}. Send application/json.")


async def read_body(scope: Scope, receive: Receive) -> bytes:
    """Read a whole body."""
    length = scope["novikoff.headers"].get(b"content-length", b"")
    if length.isdigit() and int(length) > LARGEST:
        raise TooLargeError(f"The body has more than {LARGEST:,} bytes. Send lines (application/x-ndjson).")
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise GoneError("The connection was closed before the end of the body.")
        body += message.get("body", b"")
        if len(body) > LARGEST:
            raise TooLargeError(f"The body has more than {LARGEST:,} bytes. Send lines (application/x-ndjson).")
        if not message.get("more_body"):
            return body


async def read_lines(receive: Receive) -> AsyncIterator[list[bytes]]:
    """Yield the lines of a body as they come, those of each piece together; blank ones are left out."""
    rest = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return
        *lines, rest = (rest + message.get("body", b"")).split(b"\n")
        is_last = not message.get("more_body")
        if is_last and rest:
            lines.append(rest)
        found = [line for line in lines if line.strip()]
        if found:
            yield found
        if is_last:
            return
        if len(rest) > LARGEST:
            raise TooLargeError(f"A line has more than {LARGEST:,} bytes.")

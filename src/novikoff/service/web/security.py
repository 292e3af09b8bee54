"""Security: who may call what. Hosts and origins are checked first, so that no web page can call a local service."""

from __future__ import annotations

import hmac
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

from novikoff.errors import ServiceError
from novikoff.service.web.problems import problem

__all__ = ["Guard", "TokenScope", "Tokens", "is_loopback", "read_tokens"]

TokenScope = Literal["predict", "label", "admin"]
SCOPES: tuple[TokenScope, ...] = ("predict", "label", "admin")
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_SHORTEST = 16
_ONCE = (b"host", b"origin", b"authorization", b"content-type", b"content-length")
_PREFLIGHT_SECONDS = "600"


def is_loopback(host: str) -> bool:
    """Whether an address is one that only this machine can reach."""
    return host in _LOOPBACK or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


class Tokens:
    """Bearer tokens and their scopes.

    Parameters
    ----------
    scopes : dict of str to set of str
        By token.

    Examples
    --------
    >>> from novikoff.service.web.security import Tokens
    >>> tokens = Tokens({"0123456789abcdef": {"predict"}})
    >>> tokens.scopes_of("Bearer 0123456789abcdef"), tokens.scopes_of("Bearer wrong")
    ({'predict'}, None)
    """

    def __init__(self, scopes: dict[str, set[str]]) -> None:
        self._scopes = [(token.encode(), own) for token, own in scopes.items()]

    def scopes_of(self, authorization: str) -> set[str] | None:
        """Return the scopes of the token in an Authorization header; None if it is none of these.

        Every token is compared, each in a time that does not depend on where it differs.
        """
        kind, _, given = authorization.partition(" ")
        found = None
        for token, scopes in self._scopes:
            if hmac.compare_digest(token, given.strip().encode()) and kind.lower() == "bearer":
                found = scopes
        return found


def read_tokens(path: Path) -> Tokens:
    """Read a file of tokens: on each line the scopes, separated by commas, and a token; # begins a comment."""
    scopes: dict[str, set[str]] = {}
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        parts = line.partition("#")[0].split()
        if not parts:
            continue
        if len(parts) != 2 or not set(parts[0].split(",")) <= set(SCOPES):
            raise ServiceError(
                f"{path}:{number}: expected scopes among {', '.join(SCOPES)}, separated by commas, and a token."
            )
        if len(parts[1]) < _SHORTEST:
            raise ServiceError(f"{path}:{number}: the token has fewer than {_SHORTEST} characters. Make a random one.")
        scopes[parts[1]] = set(parts[0].split(","))
    if not scopes:
        raise ServiceError(f"{path} has no tokens.")
    return Tokens(scopes)


class Guard:
    """An ASGI middleware that refuses calls from other hosts and origins, and puts the scopes of the caller into
    `scope["novikoff.scopes"]`; None there means that no token was given or needed.

    Parameters
    ----------
    app : ASGI application
    hosts : sequence of str
        Names that the Host header may have, without ports; "*" for any.
    origins : sequence of str
        Origins of web pages that may call the service.
    tokens : Tokens or None
    """

    def __init__(self, app: ASGIApp, hosts: Sequence[str], origins: Iterable[str], tokens: Tokens | None) -> None:
        self._app, self._hosts, self._origins, self._tokens = app, frozenset(hosts), frozenset(origins), tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        given = scope["headers"]
        headers = dict(given)
        if len(headers) < len(given) and _names_twice(given):
            await problem(400, "Ambiguous headers", "A header is there twice that may be there once.")(
                scope, receive, send
            )
            return
        scope["novikoff.headers"] = headers
        host = headers.get(b"host", b"").decode("latin-1")
        origin = headers[b"origin"].decode("latin-1") if b"origin" in headers else None
        if "*" not in self._hosts and _name_of(host) not in self._hosts:
            detail = f"The Host header names {host[:100]!r}, which is not this service. --allow-host allows a name."
            await problem(403, "Forbidden host", detail)(scope, receive, send)
            return
        if origin is not None and origin not in self._origins and urlsplit(origin).netloc != host:
            detail = f"Web pages of {origin[:100]!r} may not call this service. --allow-origin allows an origin."
            await problem(403, "Forbidden origin", detail)(scope, receive, send)
            return
        if origin is not None and origin in self._origins:
            if scope["method"] == "OPTIONS":
                await _answer_preflight(origin, send)
                return
            send = _allow_origin(origin, send)
        if self._tokens is not None:
            authorization = headers.get(b"authorization", b"").decode("latin-1")
            scopes = self._tokens.scopes_of(authorization) if authorization else None
            scope["novikoff.scopes"] = scopes or set()
        await self._app(scope, receive, send)


def _names_twice(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether a header that decides something is there twice."""
    names = [name for name, _ in headers if name in _ONCE]
    return len(set(names)) < len(names)


@lru_cache(maxsize=256)
def _name_of(host: str) -> str:
    """The name in a Host header, without the port.

    >>> _name_of("localhost:8000"), _name_of("[::1]:80"), _name_of("a.b")
    ('localhost', '::1', 'a.b')
    """
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


async def _answer_preflight(origin: str, send: Send) -> None:
    headers = {
        "access-control-allow-origin": origin,
        "access-control-allow-methods": "GET, POST, PUT",
        "access-control-allow-headers": "authorization, content-type, last-event-id",
        "access-control-max-age": _PREFLIGHT_SECONDS,
        "vary": "Origin",
    }
    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 204, "headers": raw})
    await send({"type": "http.response.body", "body": b""})


def _allow_origin(origin: str, send: Send) -> Send:
    async def send_with_header(message: dict) -> None:  # type: ignore[type-arg,unused-ignore]
        if message["type"] == "http.response.start":
            own = [(b"access-control-allow-origin", origin.encode("latin-1")), (b"vary", b"Origin")]
            message = {**message, "headers": [*message["headers"], *own]}
        await send(message)

    return send_with_header  # type: ignore[return-value,unused-ignore]

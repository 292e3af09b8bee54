"""Guard: what a page of another site, or another user of the machine, may not do with the studio's server.

    Host      must be 127.0.0.1, localhost or [::1] with our port: names that an attacker's DNS points at us are refused
    Origin    must be ours, if there is one: no other page may read answers or send data
    token     what reads or changes files needs it, as a cookie that the opening address sets

Scenes and the computation of records need no token: they read and write nothing. Every answer forbids the browser to
load anything from elsewhere, or to show the page inside another.
"""

from __future__ import annotations

import secrets
from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["Guard", "cookie_name", "has_token"]

_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src 'self' data: blob:; frame-ancestors 'self'; "
    "form-action 'self'; base-uri 'none'; object-src 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def cookie_name(port: int) -> str:
    """Return the name of the cookie; browsers send cookies to all ports of a host."""
    return f"novikoff-studio-{port}"


def has_token(request: HTTPConnection, token: str, port: int) -> bool:
    """Return whether a request comes from a browser that the opening address was opened in."""
    return secrets.compare_digest(request.cookies.get(cookie_name(port), "").encode(), token.encode())


class Guard:
    """Middleware that refuses foreign hosts and origins, and adds the headers of `_HEADERS` to every answer."""

    def __init__(self, app: ASGIApp, port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        self.origins = {f"http://{host}" for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add_headers(message)
            await send(message)

        refusal = self._refusal(Headers(scope=scope))
        app = self.app if refusal is None else JSONResponse({"error": refusal}, 403)
        await app(scope, receive, send_with_headers)

    def _refusal(self, headers: Headers) -> str | None:
        if headers.get("host", "") not in self.hosts:
            return "The studio answers to 127.0.0.1 and localhost only."
        if headers.get("origin", next(iter(self.origins))) not in self.origins:
            return "The studio answers to its own page only."
        if headers.get("sec-fetch-site", "none") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
            return "The studio answers to its own page only."
        return None


def _add_headers(message: MutableMapping[str, Any]) -> None:
    headers = MutableHeaders(scope=message)
    for name, value in _HEADERS.items():
        headers.setdefault(name, value)
    headers.setdefault("Cache-Control", "no-store")

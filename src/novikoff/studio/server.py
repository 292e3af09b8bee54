"""The server of the studio: the page, scenes, and records of points that the page sends."""

from __future__ import annotations

import secrets
import signal
import socket
from collections.abc import Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from novikoff.errors import DataError, NovikoffError
from novikoff.studio.files import FileViews
from novikoff.studio.guard import Guard, cookie_name, has_token
from novikoff.studio.lessons import Lesson
from novikoff.studio.pages import make_page, read_static
from novikoff.studio.records import make_record, to_bytes
from novikoff.studio.scene import make_bundle
from novikoff.studio.scenes import SCENES, find_scene
from novikoff.studio.settings import Settings

__all__ = ["Studio", "bind", "serve"]

_MOST_BYTES = 1 << 18  # of a request that is no file
_TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}

_Endpoint = Callable[[Request], Awaitable[Response]]


@dataclass(eq=False)
class Studio:
    """What one studio serves.

    Attributes
    ----------
    port : int
    files : FileViews
    lesson : Lesson or None
    token : str
        Whoever opens the address with it may read and upload files.
    """

    port: int
    files: FileViews
    lesson: Lesson | None = None
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))

    @property
    def address(self) -> str:
        """The address to open: it sets a cookie and leads to the page."""
        return f"http://127.0.0.1:{self.port}/open/{self.token}/"

    def make_app(self) -> Starlette:
        """Return the ASGI application."""
        routes = [
            Route("/", _page),
            Route("/open/{token}/", self._open),
            Route("/static/{name}", _static),
            Route("/api/scenes", _scenes),
            Route("/api/scenes/{name}", _scene),
            Route("/api/lesson", self._lesson),
            Route("/api/records", _record, methods=["POST"]),
            Route("/api/page", _exported_page, methods=["POST"]),
            Route("/api/files", self._files),
            *(Route(path, self._guarded(call), methods=methods) for path, call, methods in self.files.routes()),
        ]
        handlers: dict[Any, Any] = {NovikoffError: _explain, HTTPException: _explain_status}
        return Starlette(routes=routes, middleware=[Middleware(Guard, port=self.port)], exception_handlers=handlers)

    async def _open(self, request: Request) -> Response:
        if not secrets.compare_digest(request.path_params["token"].encode(), self.token.encode()):
            raise HTTPException(403, "This address has another studio's token: open the one that the command printed.")
        query = f"?{request.url.query}" if request.url.query else ""
        response = RedirectResponse(f"/{query}", 303)
        response.set_cookie(cookie_name(self.port), self.token, httponly=True, samesite="strict")
        return response

    async def _lesson(self, request: Request) -> Response:
        return _json(None if self.lesson is None else self.lesson.to_json())

    async def _files(self, request: Request) -> Response:
        """Return the files; without the token only that it is missing, which is no error of the page."""
        is_open = has_token(request, self.token, self.port)
        return _json({"is_open": is_open} | (self.files.to_json() if is_open else {}))

    def _guarded(self, endpoint: _Endpoint) -> _Endpoint:
        async def checked(request: Request) -> Response:
            if not has_token(request, self.token, self.port):
                raise HTTPException(
                    403, "Files need the address with the token: open the one that the command printed."
                )
            return await endpoint(request)

        return checked


def _json(value: Any) -> Response:
    return Response(to_bytes(value), media_type="application/json")


async def _page(request: Request) -> Response:
    return Response(read_static("index.html"), media_type="text/html")


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    kind = _TYPES.get(name.rpartition(".")[2])
    if kind is None or not name.replace(".", "").replace("_", "").isalnum():
        raise HTTPException(404, f"There is no file {name!r}.")
    try:
        return Response(read_static(name), media_type=kind)
    except FileNotFoundError:
        raise HTTPException(404, f"There is no file {name!r}.") from None


async def _scenes(request: Request) -> Response:
    return _json([{"name": scene.name, "title": scene.title} for scene in SCENES.values()])


@cache
def _scene_bytes(name: str) -> bytes:
    return to_bytes(make_bundle(find_scene(name)))


async def _scene(request: Request) -> Response:
    found = await run_in_threadpool(_scene_bytes, find_scene(request.path_params["name"]).name)
    return Response(found, media_type="application/json")


async def _record(request: Request) -> Response:
    given = await _read_json(request)
    return await run_in_threadpool(
        lambda: _json(make_record(given.get("points"), Settings.from_json(given.get("settings", {}))))
    )


async def _exported_page(request: Request) -> Response:
    given = await _read_json(request)

    def make() -> bytes:
        if "scene" in given:
            return make_page(make_bundle(find_scene(str(given["scene"]))))
        record = make_record(given.get("points"), Settings.from_json(given.get("settings", {})))
        return make_page(bundle_of(record))

    return Response(await run_in_threadpool(make), media_type="text/html")


def bundle_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return a bundle, as `make_bundle` does, of one record of a user's own."""
    scene = {"name": "own", "title": "Points in the plane", "text": "A run of the perceptron, recorded.", "axis": ""}
    panels = ["squeeze", "ledger", "proof", "points"]
    return {
        "v": record["record"],
        "scene": {**scene, "panels": panels, "question": "Will the perceptron stop making mistakes?"},
        "variants": [{"label": "the points", "parameter": None, "record": record}],
    }


async def _read_json(request: Request) -> dict[str, Any]:
    """Return the object that a request holds; a DataError if it is too large or none."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise HTTPException(413, f"A request may hold {_MOST_BYTES:,} bytes.")
    try:
        found = msgspec.json.decode(body)
    except msgspec.DecodeError as error:
        raise DataError(f"The request is not JSON: {error}.") from error
    if not isinstance(found, dict):
        raise DataError(f"The request should be a JSON object, found {type(found).__name__}.")
    return found


async def _explain(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 400)


async def _explain_status(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code)


def bind(port: int | None) -> socket.socket:
    """Return a socket that listens on this port of 127.0.0.1; by default the first free one from 8765 on."""
    first, tries = (8765, 20) if port is None else (port, 1)
    for number in range(first, first + tries):
        listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", number))
        except OSError:
            listening.close()
            continue
        return listening
    raise DataError(f"Port {first} is in use. Name another; 0 takes any that is free.")


def serve(studio: Studio, listening: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM; both end as a KeyboardInterrupt."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # uvicorn raises it again once it has shut down
    config = uvicorn.Config(studio.make_app(), log_level="warning", access_log=False, lifespan="off")
    with closing(listening), studio.files:
        uvicorn.Server(config).run(sockets=[listening])

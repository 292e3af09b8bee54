"""FileViews: the files of a studio, uploaded or named on the command line, and the jobs about them.

An upload is copied to a temporary folder, which goes with the studio; a file named on the command line is read where it
is. Neither is ever written to.
"""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from novikoff.errors import DataError
from novikoff.studio.file_columns import describe_file, reading_options
from novikoff.studio.file_learning import learn_file
from novikoff.studio.file_verdicts import certify_file
from novikoff.studio.jobs import Job
from novikoff.studio.records import to_bytes

__all__ = ["MOST_UPLOADED", "FileViews"]

MOST_UPLOADED = 1 << 28  # bytes, of all uploads together; larger files are for the command line, which copies nothing
_MOST_FILES = 50
_Endpoint = Callable[[Request], Awaitable[Response]]


class _FileView:
    """One file: where it is, and the job about it."""

    def __init__(self, name: str, path: Path, model_path: Path) -> None:
        self.name, self.path, self.model_path = name, path, model_path
        self.job: Job | None = None

    def start(self, kind: str, work: Callable[[Job], dict[str, Any]]) -> None:
        if self.job is not None and self.job.state == "running":
            raise HTTPException(409, "Something is running on this file: wait for its end, or cancel it.")
        self.job = Job(kind, lambda job: _without_folder(self.path, lambda: work(job)))


class FileViews:
    """The files of a studio. Use it as a context manager: its temporary folder goes at the end.

    Parameters
    ----------
    file : Path, optional
        A file to begin with.
    target : str, optional
        The column of its labels.
    """

    def __init__(self, file: Path | None = None, target: str | None = None) -> None:
        self.target = target
        self._folder = Path(tempfile.mkdtemp(prefix="novikoff-studio-"))
        self._numbers, self._uploaded = count(1), 0
        self.views: dict[str, _FileView] = {}
        if file is not None:
            self._add(file.name, file)

    def __enter__(self) -> FileViews:
        return self

    def __exit__(self, *error: object) -> None:
        for view in self.views.values():
            if view.job is not None:
                view.job.cancel()
                view.job.wait(2.0)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _add(self, name: str, path: Path) -> str:
        number = str(next(self._numbers))
        self.views[number] = _FileView(name, path, self._folder / f"{number}.nk")
        return number

    def routes(self) -> list[tuple[str, _Endpoint, list[str]]]:
        """Return (path, endpoint, methods) of all requests about files."""
        return [
            ("/api/files", self._upload, ["POST"]),
            ("/api/files/{number}/columns", self._columns, ["POST"]),
            ("/api/files/{number}/certify", self._certify, ["POST"]),
            ("/api/files/{number}/learn", self._learn, ["POST"]),
            ("/api/files/{number}/cancel", self._cancel, ["POST"]),
            ("/api/files/{number}/run", self._run, ["GET"]),
            ("/api/files/{number}/model", self._model, ["GET"]),
        ]

    def to_json(self) -> dict[str, Any]:
        """Return the files by name, and the target of the first."""
        files = [{"id": number, "name": view.name} for number, view in self.views.items()]
        return {"files": files, "target": self.target}

    async def _upload(self, request: Request) -> Response:
        if len(self.views) >= _MOST_FILES:
            raise HTTPException(413, f"This studio has {_MOST_FILES} files: start another.")
        name = _safe_name(request.query_params.get("name", ""))
        folder = Path(tempfile.mkdtemp(dir=self._folder))
        path = folder / name
        try:
            with path.open("xb") as file:
                async for chunk in request.stream():
                    self._uploaded += len(chunk)
                    if self._uploaded > MOST_UPLOADED:
                        raise HTTPException(
                            413,
                            f"Uploads may have {MOST_UPLOADED >> 20} MB together. Give a larger file to the command, "
                            "which reads it where it is: novikoff studio FILE.",
                        )
                    await run_in_threadpool(file.write, chunk)
        except BaseException:
            self._uploaded -= path.stat().st_size if path.exists() else 0
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return _json({"id": self._add(name, path), "name": name})

    def _view(self, request: Request) -> _FileView:
        found = self.views.get(request.path_params["number"])
        if found is None:
            raise HTTPException(404, "There is no such file.")
        return found

    async def _columns(self, request: Request) -> Response:
        view, options = self._view(request), reading_options(await _body(request))
        return _json(await run_in_threadpool(_without_folder, view.path, lambda: describe_file(view.path, options)))

    async def _certify(self, request: Request) -> Response:
        view, given = self._view(request), await _body(request)
        view.start("certify", partial(certify_file, view.path, reading_options(given.get("options", {}))))
        return _json({})

    async def _learn(self, request: Request) -> Response:
        view, given = self._view(request), await _body(request)
        options = reading_options(given.get("options", {}))
        view.start("learn", lambda job: learn_file(view.path, options, given, view.model_path, job))
        return _json({})

    async def _cancel(self, request: Request) -> Response:
        view = self._view(request)
        if view.job is not None:
            view.job.cancel()
        return _json({})

    async def _run(self, request: Request) -> Response:
        job = self._view(request).job
        return _json(None if job is None else job.to_json())

    async def _model(self, request: Request) -> Response:
        view = self._view(request)
        if not view.model_path.exists():
            raise HTTPException(404, "Nothing has been learned from this file yet.")
        return FileResponse(view.model_path, filename=f"{Path(view.name).stem}.nk")


def _without_folder(path: Path, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return what `work` returns; its errors leave out the folder that the file is in."""
    try:
        return work()
    except DataError as error:
        raise DataError(str(error).replace(f"{path.parent}/", "")) from error


def _safe_name(name: str) -> str:
    """Return the last part of a name, with nothing in it that could lead elsewhere."""
    last = re.split(r"[/\\]", name)[-1]
    kept = re.sub(r"[^\w.() +=-]", "_", last).lstrip(".")[-120:]
    return kept or "data"


async def _body(request: Request) -> Any:
    try:
        return msgspec.json.decode(await request.body() or b"{}")
    except msgspec.DecodeError as error:
        raise DataError(f"The request is not JSON: {error}.") from error


def _json(value: Any) -> Response:
    return Response(to_bytes(value), media_type="application/json")

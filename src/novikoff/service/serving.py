"""Serving: one process, its models, and HTTP in front of them, from start to stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import uvicorn

from novikoff.errors import NovikoffError, ServiceError
from novikoff.service.folder import FolderLock, model_names, require_name
from novikoff.service.hosting import HostedModel, HostingOptions
from novikoff.service.starting import Beginning
from novikoff.service.web.application import make_application
from novikoff.service.web.security import Tokens, is_loopback
from novikoff.service.web.state import Hub, ServedModel, ServiceState

__all__ = ["ModelSource", "ServerOptions", "serve"]

_GRACE = 2  # seconds that connections have to end after SIGTERM
_LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")


class ModelSource(msgspec.Struct, frozen=True):
    """What a model begins with: a file, or nothing."""

    file: Path | None = None
    new: Beginning | None = None


class ServerOptions(msgspec.Struct, frozen=True):
    """Where a server listens, and who may call it.

    Attributes
    ----------
    host : str
        Another address than this machine's own needs tokens.
    port : int
        0 for any that is free.
    tokens : Tokens or None
    hosts : sequence of str
        Names that the Host header may have, besides the address itself.
    origins : sequence of str
        Of web pages that may call the service.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    tokens: Tokens | None = None
    hosts: Sequence[str] = ()
    origins: Sequence[str] = ()


def serve(
    data: Path,
    sources: Mapping[str, ModelSource],
    options: ServerOptions,
    hosting: HostingOptions,
    say: Callable[[str], None],
) -> int:
    """Serve models until SIGTERM or Ctrl-C; return the exit code of the process.

    Parameters
    ----------
    data : Path
        The data folder. Models that are in it are served too.
    sources : dict of str to ModelSource
        By name.
    options : ServerOptions
    hosting : HostingOptions
    say : callable
        Prints a line for the user.
    """
    if not is_loopback(options.host) and options.tokens is None:
        raise ServiceError(
            f"{options.host} can be reached from other machines, and without tokens everyone there could change the "
            "models. Give a file of tokens, or listen on 127.0.0.1."
        )
    names = sorted({*map(require_name, sources), *model_names(data)})
    if not names:
        raise ServiceError(f"{data} has no models. Name a model file, or begin with nothing by a name for it.")
    with FolderLock(data), _listen(options) as listener:
        server = _Server(data, names, sources, options, hosting, say, listener)
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            return runner.run(server.run())


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The event loop of uvloop, where it is installed: not on Windows."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _listen(options: ServerOptions) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
        return socket.create_server((options.host, options.port), family=family, backlog=2048)
    except OSError as error:
        raise ServiceError(f"{options.host}:{options.port} cannot be listened on: {error.strerror}.") from error


class _Server:
    """A server while it runs."""

    def __init__(
        self,
        data: Path,
        names: Sequence[str],
        sources: Mapping[str, ModelSource],
        options: ServerOptions,
        hosting: HostingOptions,
        say: Callable[[str], None],
        listener: socket.socket,
    ) -> None:
        self._data, self._names, self._sources = data, names, sources
        self._hosting, self._say, self._listener = hosting, say, listener
        self._state = ServiceState(options.tokens is not None)
        self._hosted: list[HostedModel] = []
        self._exit_code = 0
        hosts = [*_LOOPBACK_NAMES, *options.hosts] if is_loopback(options.host) else list(options.hosts) or ["*"]
        application = make_application(self._state, hosts, options.origins, options.tokens)
        config = uvicorn.Config(
            application,
            http="auto",
            proxy_headers=False,
            ws="none",
            lifespan="off",
            access_log=False,
            log_level="error",
            server_header=False,
            timeout_graceful_shutdown=_GRACE,
        )
        self._http = _QuietServer(config)
        self._host = options.host

    async def run(self) -> int:
        """Serve until a signal; return the exit code."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):  # Windows
                loop.add_signal_handler(number, self._stop)
        starting = asyncio.ensure_future(self._start(loop))
        await self._http.serve(sockets=[self._listener])
        self._state.status = "stopping"
        await starting
        for hosted in self._hosted:
            await loop.run_in_executor(None, hosted.stop)
        return self._exit_code

    async def _start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Bring all models back, then answer."""
        try:
            for name in self._names:
                hub = Hub()
                hosted = await loop.run_in_executor(None, self._host_model, name, hub)
                self._hosted.append(hosted)
                self._state.models[name] = ServedModel(hosted, hub, loop)
        except (NovikoffError, OSError) as error:
            self._say(f"Error: {error}")
            self._exit_code = 1
            self._http.should_exit = True
            return
        if self._state.status == "starting":
            self._state.status = "ready"
        host, port = self._listener.getsockname()[:2]
        address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
        self._say(f"Serving {', '.join(self._names)} at {address}, its reference at {address}/docs")

    def _host_model(self, name: str, hub: Hub) -> HostedModel:
        source = self._sources.get(name, ModelSource())
        return HostedModel(
            name,
            self._data,
            source.file,
            source.new,
            self._hosting,
            warn=lambda message: self._say(f"Warning: {message}"),
            on_batch=hub.notify,
            on_failure=_exit_at_once,
        )

    def _stop(self) -> None:
        self._state.status = "stopping"
        for model in self._state.models.values():
            model.hub.notify()
        self._http.should_exit = True


class _QuietServer(uvicorn.Server):
    """A server of uvicorn that leaves signals to us, so that the exit code of a clean stop is 0."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _exit_at_once(error: BaseException) -> Any:
    """End the process: the log cannot be written, so nothing more may be acknowledged."""
    print(
        f"Error: {error}\nThe service ends at once. What was acknowledged is in the log.", file=sys.stderr, flush=True
    )
    os._exit(1)

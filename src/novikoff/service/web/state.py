"""ServiceState: the models of a server, and whether they answer yet."""

from __future__ import annotations

import asyncio
from typing import Literal

from novikoff.service.hosting import HostedModel
from novikoff.service.refusals import NotFoundError, UnavailableError
from novikoff.service.web.bridge import Bridge
from novikoff.service.web.metrics import RequestCounts

__all__ = ["Hub", "ServedModel", "ServiceState"]


class Hub:
    """Wakes all who wait for new labels of a model; `notify` may be called from any thread."""

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """Say on which loop waiting happens."""
        self._loop = loop

    def notify(self) -> None:
        """Wake all who wait."""
        loop = self._loop
        if self._waiting and loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        waiting, self._waiting = self._waiting, set()
        for future in waiting:
            if not future.done():
                future.set_result(None)

    async def wait(self, timeout: float) -> None:
        """Wait for `notify`, or for some seconds. Labels that have just come may be missed for that long."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            await asyncio.wait([future], timeout=timeout)
        finally:
            self._waiting.discard(future)
            future.cancel()


class ServedModel:
    """A model, the way to its writer, and who waits for its labels."""

    def __init__(self, hosted: HostedModel, hub: Hub, loop: asyncio.AbstractEventLoop) -> None:
        self.hosted, self.hub, self.bridge = hosted, hub, Bridge(hosted.writer, loop)
        hub.attach(loop)


class ServiceState:
    """What all calls share.

    Attributes
    ----------
    status : {"starting", "ready", "stopping"}
    models : dict of str to ServedModel
    """

    def __init__(self, has_tokens: bool = False) -> None:
        self.status: Literal["starting", "ready", "stopping"] = "starting"
        self.models: dict[str, ServedModel] = {}
        self.has_tokens = has_tokens
        self.counts = RequestCounts()

    def require_ready(self) -> None:
        """Raise an UnavailableError unless requests are answered now."""
        if self.status == "starting":
            raise UnavailableError("The service is starting: it learns again what its log has after the last snapshot.")
        if self.status == "stopping":
            raise UnavailableError("The service is stopping.")

    def model(self, name: str) -> ServedModel:
        """Return a model by its name."""
        self.require_ready()
        found = self.models.get(name)
        if found is None:
            known = ", ".join(self.models)
            raise NotFoundError(f"There is no model {name[:64]!r}. The models are: {known}.")
        return found

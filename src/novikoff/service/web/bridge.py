"""Bridge: requests from the event loop to the thread of a writer, and their results back."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

from novikoff.service.refusals import UnavailableError
from novikoff.service.requests import Request
from novikoff.service.writer import Results, Writer

__all__ = ["Bridge"]

T = TypeVar("T")


class Bridge:
    """Asks one writer from one event loop.

    Parameters
    ----------
    writer : Writer
    loop : asyncio event loop
    """

    def __init__(self, writer: Writer, loop: asyncio.AbstractEventLoop) -> None:
        self.writer, self._loop = writer, loop
        self._deliver_all = self._deliver  # one object, by which the writer knows that answers go to the same place

    async def ask(self, requests: Sequence[Request]) -> Results:
        """Return the results of requests, in their order."""
        return await self.submit(requests)

    def submit(self, requests: Sequence[Request]) -> asyncio.Future[Results]:
        """Queue requests; return a future of their results."""
        future: asyncio.Future[Results] = self._loop.create_future()
        self.writer.submit(requests, self._deliver_all, future)
        return future

    async def run(self, function: Callable[..., T], *arguments: Any) -> T:
        """Return the result of a function that the writer's thread calls between two batches."""
        future: asyncio.Future[T] = self._loop.create_future()

        def done(result: Any, error: BaseException | None) -> None:
            self._call_soon(_resolve, future, result, error)

        self.writer.call(partial(function, *arguments), done)
        return await future

    def _deliver(self, pairs: list[tuple[Any, Results]]) -> None:
        self._call_soon(_resolve_all, pairs)

    def _call_soon(self, function: Callable[..., Any], *arguments: Any) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits
            self._loop.call_soon_threadsafe(function, *arguments)


def _resolve_all(pairs: list[tuple[asyncio.Future[Results], Results]]) -> None:
    for future, results in pairs:
        if not future.done():  # else its client has gone
            future.set_result(results)


def _resolve(future: asyncio.Future[Any], result: Any, error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error if isinstance(error, Exception) else UnavailableError(str(error)))

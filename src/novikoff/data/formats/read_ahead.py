"""Threads that compute results ahead of the caller that iterates over them.

All that the caller's thread does with the others is one C call each: `put` and `get` of a SimpleQueue. Ctrl-C raises
KeyboardInterrupt between two bytecodes, also within the methods of threading.Semaphore, Event and Future, which are
written in Python; there it can leave their lock held, and then every thread that needs it waits forever.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

__all__ = ["map_in_threads", "read_ahead"]

_WAITING = 2  # results, the caller's among them, while all workers work

S = TypeVar("S")
T = TypeVar("T")


def map_in_threads(
    function: Callable[[S], T], items: Iterator[S], workers: int, waiting: int = _WAITING
) -> Generator[T, None, None]:
    """function(item) for every item, in order, several at a time in threads; for functions that release the GIL.

    Besides those that the workers compute, at most `waiting` results exist, the caller's among them. An exception of
    `items` reaches the caller after all results before it. Without workers, each item is fetched and each result
    computed when the caller asks for it.
    """
    if not workers:
        yield from map(function, items)
        return
    pool = _WorkerPool(function, items)
    threads: list[threading.Thread] = []
    try:
        for _ in range(workers + waiting):
            pool.permits.put(None)
        for _ in range(workers):  # an interrupt may come after some of them
            threads.append(_start_thread(pool.run_worker, "novikoff-worker"))  # noqa: PERF401
        while (result := pool.results.get()) is not None:
            outcome = result.get()
            if isinstance(outcome, _Failure):
                raise outcome.take_error()
            yield outcome
            del result, outcome
            pool.permits.put(None)
    finally:
        pool.is_over = True
        pool.permits.put(None)  # for a worker that waits; it passes the permit on to the others
        # If the garbage collector has closed this generator in one of the workers, that cannot join itself.
        if threading.current_thread() not in threads:
            for thread in threads:
                thread.join()


def _start_thread(target: Callable[[], None], name: str) -> threading.Thread:
    thread = threading.Thread(target=target, name=name, daemon=True)
    try:
        thread.start()
    except RuntimeError as error:
        # An interrupt while `start` waits for the thread makes its condition variable release a lock that it has not.
        if isinstance(error.__context__, KeyboardInterrupt):
            raise error.__context__ from None
        raise
    return thread


@dataclass(eq=False)
class _Failure:
    """An exception in place of a result."""

    error: BaseException

    def take_error(self) -> BaseException:
        """Return the exception once: its traceback refers to the caller, and the caller to this object."""
        error = self.error
        del self.error
        return error


@dataclass(eq=False)
class _WorkerPool(Generic[S, T]):
    """Workers that fetch the next item one after the other, and work on their items at the same time."""

    function: Callable[[S], T]
    items: Iterator[S]
    is_over: bool = False
    permits: SimpleQueue[None] = field(default_factory=SimpleQueue)  # one for each result that may yet be made
    # A queue for each result, in the order of the items; then None.
    results: SimpleQueue[SimpleQueue[T | _Failure] | None] = field(default_factory=SimpleQueue)
    fetching: threading.Lock = field(default_factory=threading.Lock)  # only of workers: they are never interrupted

    def run_worker(self) -> None:
        while True:
            self.permits.get()
            fetched = self._fetch()
            if fetched is None:
                self.permits.put(None)
                return
            item, result = fetched
            try:
                result.put(self.function(item))
            except BaseException as error:
                result.put(_Failure(error))
            del fetched, item, result  # their memory is to be free while this thread waits

    def _fetch(self) -> tuple[S, SimpleQueue[T | _Failure]] | None:
        """Return the next item, and the queue for its result; None if there is none."""
        with self.fetching:
            if self.is_over:
                return None
            result: SimpleQueue[T | _Failure] = SimpleQueue()
            try:
                item = next(self.items)
            except BaseException as error:
                self.is_over = True
                if not isinstance(error, StopIteration):
                    result.put(_Failure(error))
                    self.results.put(result)
                self.results.put(None)
                return None
            self.results.put(result)
            return item, result


def read_ahead(items: Generator[T, None, None], depth: int = 1) -> Generator[T, None, None]:
    """Iterate over items, each computed in a thread while the caller works on those before it.

    At most `depth` items wait. The thread starts with the first item that the caller asks for and ends with the last,
    or when this generator is closed or garbage; then `items` is closed too. An exception of `items` reaches the caller.
    """
    prefetch = _Prefetch(items)
    try:
        for _ in range(depth):
            prefetch.permits.put(None)
        _start_thread(prefetch.run, "novikoff-reader")
        while (item := prefetch.ready.get()) is not _END:
            if isinstance(item, _Failure):
                raise item.take_error()
            prefetch.permits.put(None)
            yield item
            del item
    finally:
        prefetch.is_over = True
        prefetch.permits.put(None)


_END: Any = object()  # after the last item


@dataclass(eq=False)
class _Prefetch(Generic[T]):
    """A thread that fetches items, each as soon as there is a permit for it."""

    items: Generator[T, None, None]
    is_over: bool = False
    permits: SimpleQueue[None] = field(default_factory=SimpleQueue)
    ready: SimpleQueue[T | _Failure] = field(default_factory=SimpleQueue)

    def run(self) -> None:
        last = _END
        try:
            while True:
                self.permits.get()
                if self.is_over:
                    break
                self.ready.put(next(self.items))
        except StopIteration:
            pass
        except BaseException as error:
            last = _Failure(error)
        finally:
            self.items.close()
            self.ready.put(last)

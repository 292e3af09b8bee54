"""Threads that work ahead of whoever goes through the results."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import Generic, TypeVar

__all__ = ["in_parallel", "read_ahead"]

_WAITING = 2  # results, the caller's among them, while all workers work

S = TypeVar("S")
T = TypeVar("T")


def in_parallel(
    work: Callable[[S], T], items: Iterator[S], workers: int, waiting: int = _WAITING
) -> Generator[T, None, None]:
    """work(item) for every item, in order, several at a time in threads; for work that lets other threads run.

    Besides what the workers have in hand, `waiting` results may be there, the caller's among them.
    An exception of `items` reaches the caller after all that came before it. Without workers nothing is asked for
    before it is needed.
    """
    if not workers:
        yield from map(work, items)
        return
    crew = _Crew(work, items, threading.Semaphore(workers + waiting))
    threads = [threading.Thread(target=crew.labour, name="novikoff-worker", daemon=True) for _ in range(workers)]
    for thread in threads:
        thread.start()
    try:
        while (result := crew.results.get()) is not None:
            yield result.result()
            del result
            crew.room.release()
    finally:
        crew.is_over = True
        crew.room.release(workers)
        if threading.current_thread() not in threads:  # where a worker collects garbage, nobody can wait for it
            for thread in threads:
                thread.join()


@dataclass(eq=False)
class _Crew(Generic[S, T]):
    """Workers that fetch the next item one after the other, and work on their items at the same time."""

    work: Callable[[S], T]
    items: Iterator[S]
    room: threading.Semaphore
    is_over: bool = False
    results: SimpleQueue[Future[T] | None] = field(default_factory=SimpleQueue)  # in the order of the items
    turn: threading.Lock = field(default_factory=threading.Lock)

    def labour(self) -> None:
        while self.room.acquire() and (taken := self._taken()):
            item, result = taken
            try:
                result.set_result(self.work(item))
            except BaseException as error:
                result.set_exception(error)
            del taken, item, result  # while this thread waits, nobody is to wait for their memory

    def _taken(self) -> tuple[S, Future[T]] | None:
        """The next item, and where its result goes; None if there is none."""
        with self.turn:
            if self.is_over:
                return None
            result: Future[T] = Future()
            try:
                item = next(self.items)
            except BaseException as error:
                self.is_over = True
                if not isinstance(error, StopIteration):
                    result.set_exception(error)
                    self.results.put(result)
                self.results.put(None)
                return None
            self.results.put(result)
            return item, result


@dataclass(frozen=True)
class _End:
    error: BaseException | None


def read_ahead(items: Generator[T, None, None], depth: int = 1) -> Generator[T, None, None]:
    """The same items, each made in a thread while the caller is busy with those before it.

    At most `depth` items wait. The thread starts with the first item asked for and ends with the last, or when this
    generator is closed or forgotten; then `items` is closed too. An exception of `items` reaches the caller.
    """
    ready: SimpleQueue[T | _End] = SimpleQueue()
    room = threading.Semaphore(depth)
    stop = threading.Event()
    threading.Thread(target=_fill, args=(items, ready, room, stop), name="novikoff-reader", daemon=True).start()
    try:
        while not isinstance(item := ready.get(), _End):
            room.release()
            yield item
            del item
        if item.error is not None:
            raise item.error
    finally:
        stop.set()
        room.release()


def _fill(
    items: Generator[T, None, None], ready: SimpleQueue[T | _End], room: threading.Semaphore, stop: threading.Event
) -> None:
    error = None
    try:
        while room.acquire() and not stop.is_set():
            ready.put(next(items))
    except StopIteration:
        pass
    except BaseException as found:
        error = found
    finally:
        items.close()
        ready.put(_End(error))

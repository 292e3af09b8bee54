"""How long this process has been compiling, so that no other time has to include it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

__all__ = ["before_compiling", "compile_seconds", "waiting_for_compiler", "working_time"]


class _CompileClock(event.Listener):
    """Adds up the time during which at least one thread compiles; loading from the disk does not count."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a signal handler may compile while its thread holds it
        self._depth = 0  # a function that is compiled may need others
        self._began = self._seconds = 0.0
        self.callbacks: list[Callable[[], None]] = []

    def on_start(self, event: Any) -> None:
        with self._lock:
            callbacks, self.callbacks = self.callbacks, []
            self._depth += 1
            if self._depth == 1:
                self._began = time.perf_counter()
        for callback in callbacks:
            callback()

    def on_end(self, event: Any) -> None:
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._seconds += time.perf_counter() - self._began

    def seconds_until(self, now: float) -> float:
        """Return the seconds until this moment, including those of a compilation that is going on."""
        with self._lock:
            return self._seconds + (max(0.0, now - self._began) if self._depth else 0.0)


_clock = _CompileClock()
event.register("numba:compile", _clock)  # type: ignore[no-untyped-call]


def before_compiling(callback: Callable[[], None]) -> None:
    """Call a function once, when something has to be compiled next; loading from the disk does not count."""
    _clock.callbacks.append(callback)


@contextmanager
def waiting_for_compiler() -> Iterator[None]:
    """Count the time in the `with` block as compiling: another process does it for this one."""
    _clock.on_start(None)
    try:
        yield
    finally:
        _clock.on_end(None)


def compile_seconds() -> float:
    """Return how many seconds this process has been compiling."""
    return _clock.seconds_until(time.perf_counter())


def working_time() -> float:
    """Return a clock in seconds, as `time.perf_counter`, that stands still while something is compiled.

    Use it for rates, time limits and traces: compiling happens once on a machine, and says nothing about the work.
    """
    now = time.perf_counter()
    return now - _clock.seconds_until(now)

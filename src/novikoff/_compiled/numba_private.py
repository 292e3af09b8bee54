"""What is used of numba beyond its documented interface, in one place.

    uncount          no reference counts for the arrays that an inlined function is given
    stamp            the disk cache of a function is stale, too, when a file has changed from which it imports; and one
                     process at a time reads or writes it
    guard_signals    a KeyboardInterrupt cannot interrupt the compiler
    (at import)      a fork waits until no thread compiles

Each function returns whether it succeeded. If a later numba has renamed what is used here, loops are compiled with
reference counts, or in every process again, or their compilation can be interrupted; the results are the same.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any

from novikoff._compiled.switches import PLAIN, note

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["guard_signals", "stamp", "uncount", "uninterrupted"]

_FEWER_COUNTS = "numba: no reference counts in inlined functions"
_STAMPS = "numba: disk cache, checked against all files behind a loop, and locked"
_SIGNALS = "numba: compilation that Ctrl-C cannot interrupt"
_FORKS = "numba: forks wait for the compiler"


def uncount(compiled: Any) -> bool:
    """Compile a dispatcher without counting references: the function may neither make arrays nor return any.

    The counts are atomic, two for each array and call. Measured: more than half of the time of reading a table.
    """
    try:
        compiled.targetoptions["_nrt"] = False
    except (AttributeError, TypeError) as error:
        return _note_missing(_FEWER_COUNTS, error)
    note(_FEWER_COUNTS, "on")
    return True


def stamp(compiled: Any, files: Iterable[str]) -> bool:
    """Check a function's disk cache against these files too: numba checks only the file of the function itself.

    If this returns False, the cache must not be used: after an upgrade it could hold stale code.
    """
    try:
        kept = compiled._cache._cache_file
        kept._source_stamp = (kept._source_stamp, PLAIN, *_stamps(files))
        lock = os.path.join(os.path.dirname(kept._index_path), "novikoff.lock")
        kept.load, kept.save = _add_lock(kept.load, lock), _add_lock(kept.save, lock)
    except AttributeError as error:
        return _note_missing(_STAMPS, error)
    note(_STAMPS, "on")
    return True


def _stamps(files: Iterable[str]) -> list[tuple[str, int, int]]:
    """Return name, modification time and size of each file: numba identifies a version of a file by the last two."""
    return [(os.path.basename(file), (stat := os.stat(file)).st_mtime_ns, stat.st_size) for file in sorted(files)]


def _add_lock(function: Callable[..., Any], path: str) -> Callable[..., Any]:
    """Call a function that reads or writes the disk cache while no other process does.

    numba gives each signature of a function the next free number, without a lock: two processes that compile different
    signatures at the same time could take the same number, and load each other's code (numba issue 4807).
    """
    if fcntl is None:
        return function

    @wraps(function)
    def call(*args: Any) -> Any:
        try:
            file = open(path, "ab")  # noqa: SIM115 - closed below, which releases the lock
        except OSError:  # a read-only or missing folder: there is nothing to protect
            return function(*args)
        with file:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX)
            return function(*args)

    return call


def guard_signals(compiled: Any) -> bool:
    """Compile a dispatcher in a thread that no signal interrupts; see `uninterrupted`."""
    try:
        compiled._compile_for_args = uninterrupted(compiled._compile_for_args)
    except AttributeError as error:
        return _note_missing(_SIGNALS, error)
    note(_SIGNALS, "on")
    return True


def _note_missing(what: str, error: Exception) -> bool:
    note(what, f"off: this numba has no such attribute ({error})")
    return False


def uninterrupted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Call a function in another thread while the main thread waits: Python handles signals in the main thread only.

    A KeyboardInterrupt while numba compiles, or loads from the disk, may leave its registries half-filled, and every
    later compilation fails until the process ends ("generator raised StopIteration"). An interrupt of the waiting
    thread does no harm: the function runs to its end.
    """

    def call_without_collecting(*args: Any, **kwargs: Any) -> Any:
        with _pause_collector():
            return function(*args, **kwargs)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return call_without_collecting(*args, **kwargs)
        thread = _CallThread(lambda: call_without_collecting(*args, **kwargs))
        try:
            thread.start()
        except RuntimeError:  # the interpreter is shutting down and starts no more threads
            return call_without_collecting(*args, **kwargs)
        thread.join()
        if thread.error is not None:
            raise thread.error
        return thread.result

    return call


_pausing = threading.Lock()
_n_pausing = 0
_was_collecting = False


@contextmanager
def _pause_collector() -> Iterator[None]:
    """Pause the garbage collector while any thread compiles.

    A thread that compiles holds numba's global lock. If the collector runs in it, a finalizer may wait for a thread
    that waits for this lock (a reader for its workers), or for a lock of the thread that waits for the compiler.
    """
    global _n_pausing, _was_collecting
    with _pausing:
        if _n_pausing == 0:
            _was_collecting = gc.isenabled()
            gc.disable()
        _n_pausing += 1
    try:
        yield
    finally:
        with _pausing:
            _n_pausing -= 1
            if _n_pausing == 0 and _was_collecting:
                gc.enable()


def _stop_pausing() -> None:
    """Turn the collector on again in a forked process, in which the threads that compiled do not exist."""
    global _pausing, _n_pausing
    _pausing = threading.Lock()
    if _n_pausing and _was_collecting:
        gc.enable()
    _n_pausing = 0


def _hold_compiler_over_forks() -> None:
    """Let a fork wait until no thread compiles: in the child, no thread would ever release numba's lock."""
    try:
        from numba.core.compiler_lock import global_compiler_lock as lock

        acquire, release = lock.acquire, lock.release
    except (ImportError, AttributeError) as error:
        _note_missing(_FORKS, error)
        return
    os.register_at_fork(before=acquire, after_in_parent=release, after_in_child=release)
    note(_FORKS, "on")


if hasattr(os, "register_at_fork"):
    _hold_compiler_over_forks()
    os.register_at_fork(after_in_child=_stop_pausing)


class _CallThread(threading.Thread):
    """A thread that calls a function and keeps its result or its exception."""

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__(name="novikoff compiles")
        self._function, self.result = function, None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self._function()
        except BaseException as error:
            self.error = error

"""The one folder that imports numba: which flags our kernels are compiled with, and why.

nogil       kernels touch only arrays, so other threads may run meanwhile.
cache       compiled code is kept on disk; a fresh process pays milliseconds, not seconds. numba checks only the
            file that defines a function before it trusts the disk; we have it check the kernel files that this
            one imports from as well.
fastmath    reassoc and contract only. They let a dot product use SIMD lanes and fused multiply-add, which is
            the whole gain; NaN and infinity keep their meaning.
error_model numpy: 1/0 is inf as in the arrays around it, without a branch per division.
parallel    never: its thread layer aborts when two threads enter it at once.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from llvmlite.binding import get_host_cpu_features
from numba.core import event

is_compiling = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
_FLAGS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"reassoc", "contract"},
    "error_model": "numpy",
}


# Whether the processor at hand fetches rows that are read in order early enough by itself. By measurement: one of 2022,
# which also was the first of its maker with vectors of 512 bits, does, and loses a tenth where it is asked to; older
# ones gain as much.
FETCHES_AHEAD = get_host_cpu_features().get("avx512f", False)

_OWN_FILES = {str(file) for file in Path(__file__).parent.glob("*.py")}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that Python calls, on its first call, and keep the result on disk."""
    try:
        compiled = numba.njit(cache=True, **_FLAGS)(function)
    except RuntimeError:
        # numba found no folder it may write to (read-only install, no home): compile in every process instead.
        return _compiled_apart(numba.njit(**_FLAGS)(function))
    if is_compiling:
        check_files_behind(function, compiled._cache)
    return _compiled_apart(compiled)


def _compiled_apart(compiled: Any) -> Any:
    if is_compiling:
        compiled._compile_for_args = out_of_reach_of_signals(compiled._compile_for_args)
    return compiled


def out_of_reach_of_signals(function: Callable[..., Any]) -> Callable[..., Any]:
    """Have the main thread wait for another one to call a function: only there Python handles signals.

    A KeyboardInterrupt while numba compiles, or reads what it has compiled from the disk, may leave its registries by
    half, and every later attempt fails until the process ends ("generator raised StopIteration"). An interrupt of who
    waits does no harm: the function is called to its end.
    """

    def compile_without_collecting(*args: Any, **kwargs: Any) -> Any:
        with _collector_paused():
            return function(*args, **kwargs)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return compile_without_collecting(*args, **kwargs)
        thread = _Call(lambda: compile_without_collecting(*args, **kwargs))
        try:
            thread.start()
        except RuntimeError:  # the interpreter is about to end and starts no threads any more
            return compile_without_collecting(*args, **kwargs)
        thread.join()
        if thread.error is not None:
            raise thread.error
        return thread.result

    return call


_pausing = threading.Lock()
_n_pausing = 0
_was_collecting = False


@contextmanager
def _collector_paused() -> Iterator[None]:
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
    """Collect again in a forked process: it has none of the threads that were compiling."""
    global _pausing, _n_pausing
    _pausing = threading.Lock()
    if _n_pausing and _was_collecting:
        gc.enable()
    _n_pausing = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stop_pausing)


class _Call(threading.Thread):
    """Calls a function, and keeps what it returns or raises."""

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__(name="novikoff compiles")
        self._function, self.result = function, None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.result = self._function()
        except BaseException as error:
            self.error = error


def check_files_behind(function: Callable[..., Any], cache: Any) -> None:
    """Have numba trust its cache for a function only if the files that it imports from have not changed either."""
    kept = cache._cache_file
    kept._source_stamp = (kept._source_stamp, *_stamps(_OWN_FILES | _files_behind(function)))


def _files_behind(function: Any) -> set[str]:
    """The other files whose compiled functions the file of this one has imported, and theirs."""
    own, found = function.__code__.co_filename, set()
    for value in function.__globals__.values():
        source = _python_source(value)
        if isinstance(source, FunctionType) and source is not value and source.__code__.co_filename != own:
            found |= {source.__code__.co_filename} | _files_behind(source)
    return found


def _stamps(files: set[str]) -> list[tuple[str, int, int]]:
    """What tells a changed file, as numba does it for one: when it was written, and its size."""
    return [(os.path.basename(file), (stat := os.stat(file)).st_mtime_ns, stat.st_size) for file in sorted(files)]


def part(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only kernels call, as a piece of each of them: a call per row costs as much as twenty
    features. For the same reason it is not cached by itself; what comes from the disk cannot be inlined.

    It counts no references to the arrays it is given, and so **may neither make arrays nor return any**. The counts are
    atomic, two for each array and call, and numba takes back few of them where a function has loops and several ends:
    they took more than half of the time of reading a table.
    """
    return _uncounted(numba.njit(forceinline=True, **_FLAGS)(function))


def part_in_order(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, with sums added up in the order written: left to itself, LLVM would use the gather instructions,
    which are slower than loads one by one."""
    return _uncounted(numba.njit(forceinline=True, **{**_FLAGS, "fastmath": {"contract"}})(function))


def part_to_the_letter(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same, rounded after each operation as Python would."""
    return _uncounted(numba.njit(forceinline=True, **{**_FLAGS, "fastmath": False})(function))


def _uncounted(compiled: Any) -> Any:
    if is_compiling:
        compiled.targetoptions["_nrt"] = False
    return compiled


def before_compiling(tell: Callable[[], None]) -> None:
    """Call `tell` once, when next something has to be compiled; what comes from the disk has not."""

    class Listener(event.Listener):
        def on_start(self, _: Any) -> None:
            event.unregister("numba:compile", self)  # type: ignore[no-untyped-call]
            tell()

        def on_end(self, _: Any) -> None:
            """Nothing to tell."""

    event.register("numba:compile", Listener())  # type: ignore[no-untyped-call]


def rebuild(compiled: Callable[..., Any], **replaced: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a kernel again with some of the functions it calls replaced.

    This is how a user's own rule gets into our loops: same source, same flags, another callee. The result is
    not cached on disk, because numba cannot tell two such versions apart there.
    """
    source = _python_source(compiled)
    substitutes = {name: compile_here(function) for name, function in replaced.items()}
    return compile_here(FunctionType(source.__code__, {**source.__globals__, **substitutes}, source.__name__))


def compile_here(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile for this process only, with our flags; for functions that are the user's."""
    return _compiled_apart(numba.njit(**_FLAGS)(_python_source(function)))


def _python_source(function: Any) -> FunctionType:
    """The Python function inside a compiled one; a plain function is its own source."""
    return getattr(function, "py_func", function)

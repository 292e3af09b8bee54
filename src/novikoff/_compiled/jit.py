"""The decorators of compiled functions, and which flags they compile with.

nogil       loops touch only arrays, so other threads may run meanwhile.
cache       compiled code is kept on disk; a new process loads it in milliseconds instead of compiling it in seconds.
            numba checks only whether the file that defines a function has changed; `loop` also checks the files that
            this one imports from.
fastmath    reassoc and contract only. They let a dot product use SIMD lanes and fused multiply-add, which is
            the whole gain; NaN and infinity keep their meaning.
error_model numpy: 1/0 is inf as in the arrays around it, without a branch per division.
parallel    never: its thread layer aborts when two threads enter it at once.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core.errors import NumbaError

from novikoff._compiled.numba_private import guard_signals, stamp, uncount

__all__ = [
    "check_cache",
    "compile_here",
    "inlined",
    "inlined_exactly",
    "inlined_in_order",
    "is_compiling",
    "loop",
    "rebuild",
]

is_compiling = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
_FLAGS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"reassoc", "contract"},
    "error_model": "numpy",
}
CompilationError = NumbaError  # what numba raises for a function that it cannot compile
_OWN_FILES = {str(file) for file in Path(__file__).parent.glob("*.py")}


def loop(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that Python calls, on its first call, and keep the result on disk."""
    if not is_compiling:
        return numba.njit(**_FLAGS)(function)
    try:
        compiled = numba.njit(cache=True, **_FLAGS)(function)
    except RuntimeError:  # numba found no folder it may write to (read-only install, no home)
        return compile_here(function)
    if not check_cache(function, compiled):
        return compile_here(function)
    guard_signals(compiled)
    return compiled


def compile_here(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile for this process only, with our flags: for users' functions, and where nothing can be cached."""
    compiled = numba.njit(**_FLAGS)(_python_source(function))
    if is_compiling:
        guard_signals(compiled)
    return compiled


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that only loops call, into each of them: a call per row costs as much as twenty features.

    It is not cached by itself, because what comes from the disk cannot be inlined. It counts no references to the
    arrays it is given, and so **may neither make arrays nor return any**.
    """
    return _inlined(function, _FLAGS["fastmath"])


def inlined_in_order(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile as `inlined` does, but add up sums in the order written: otherwise LLVM would use gather instructions,
    which are slower than single loads."""
    return _inlined(function, {"contract"})


def inlined_exactly(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile as `inlined` does, but round after each operation, as Python does."""
    return _inlined(function, False)


def _inlined(function: Callable[..., Any], fastmath: Any) -> Callable[..., Any]:
    compiled = numba.njit(forceinline=True, **{**_FLAGS, "fastmath": fastmath})(function)
    if is_compiling:
        uncount(compiled)
    return compiled


def check_cache(function: Callable[..., Any], compiled: Any) -> bool:
    """Make numba's disk cache of a function depend on the files behind it; return False if that is impossible."""
    return stamp(compiled, _OWN_FILES | files_behind(function))


def files_behind(function: Any) -> set[str]:
    """Return the files of all compiled functions that a function can call, except its own file.

    These are the functions that its module has imported or that it has captured, and those that they can call."""
    own, paths = function.__code__.co_filename, set()
    captured = [cell.cell_contents for cell in getattr(_python_source(function), "__closure__", None) or ()]
    for value in [*function.__globals__.values(), *captured]:
        source = _python_source(value)
        if isinstance(source, FunctionType) and source is not value and source.__code__.co_filename != own:
            paths |= {source.__code__.co_filename} | files_behind(source)
    return paths


def rebuild(compiled: Callable[..., Any], **replaced: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop again with some of the functions it calls replaced.

    This is how our loops call a user's own rule: they are compiled from the same source with the same flags. The
    result is not cached on disk, because numba would take one such version for another.
    """
    source = _python_source(compiled)
    substitutes = {name: compile_here(function) for name, function in replaced.items()}
    return compile_here(FunctionType(source.__code__, {**source.__globals__, **substitutes}, source.__name__))


def _python_source(function: Any) -> FunctionType:
    """Return the Python function inside a compiled one; a plain function is its own source."""
    return getattr(function, "py_func", function)

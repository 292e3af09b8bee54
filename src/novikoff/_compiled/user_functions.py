"""Functions of users within compiled loops, in bounded memory.

A loop is compiled again for every function that it calls, and numba never frees machine code: every module stays in
its engine to the end of the process. A rule takes 4.6 MB and two seconds, a loss 12 MB, a kernel 3 MB. So the loops
compiled for a function serve every other function that does the same, such as a lambda made again and again; and after
LIMIT different ones new functions are called in Python, through a pointer, by loops that are compiled once for all of
them. That takes no memory, and half a microsecond for a call.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any, Generic, TypeVar

import numpy as np

from novikoff._compiled import is_compiling

__all__ = ["LIMIT", "Compilations", "Pointers", "same_function"]

LIMIT = 16  # different functions of a family that loops are compiled for in a process: 75 MB for rules, 200 for losses

_LARGEST_ARRAY = 1 << 16  # bytes of one that is told from others by its content
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic)

Loops = TypeVar("Loops")


class Compilations(Generic[Loops]):
    """Loops compiled for functions of users, found again by what the functions do."""

    def __init__(self) -> None:
        self._found: dict[Any, Loops] = {}

    def find(self, functions: Sequence[Any], compiled: Callable[[], Loops]) -> Loops | None:
        """The loops for these functions, compiled if there are none yet; None if there are as many as there may be."""
        key = tuple(map(same_function, functions))
        if key not in self._found:
            if is_compiling and len(self._found) >= LIMIT:
                return None
            self._found[key] = compiled()
        return self._found[key]


def same_function(function: Any) -> Any:
    """A key that is equal for functions that compile to the same: of their code, and the values of defaults, of
    variables around them and of globals as they are now.

    >>> same_function(lambda m, q: 1.0) == same_function(lambda m, q: 2.0)
    False
    >>> one, other = (lambda m, q, c=c: c for c in (1.0, 1.0))
    >>> one is other, same_function(one) == same_function(other)
    (False, True)
    """
    function = getattr(function, "py_func", function)
    if not isinstance(function, FunctionType):
        return _content(function)
    named = [
        (name, _content(function.__globals__[name]))
        for name in sorted(_names_in(function.__code__))
        if name in function.__globals__
    ]
    around = [_content_of_cell(cell) for cell in function.__closure__ or ()]
    return function.__code__, tuple(named), tuple(around), _content(function.__defaults__ or ())


def _names_in(code: CodeType) -> set[str]:
    """Of globals and attributes that a function and those within it refer to."""
    return {
        *code.co_names,
        *(name for each in code.co_consts if isinstance(each, CodeType) for name in _names_in(each)),
    }


def _content_of_cell(cell: Any) -> Any:
    try:
        return _content(cell.cell_contents)
    except ValueError:  # it is empty
        return _Itself(cell)


def _content(value: Any) -> Any:
    """Something equal for values that are compiled to the same constant; 1, 1.0 and True are not."""
    if isinstance(value, _PLAIN):
        return type(value), repr(value)
    if isinstance(value, tuple):
        return tuple, tuple(map(_content, value))
    if isinstance(value, np.ndarray) and value.nbytes <= _LARGEST_ARRAY and not value.dtype.hasobject:
        return value.dtype.str, value.shape, value.strides, value.tobytes()
    return _Itself(value)


class _Itself:
    """Equal only to itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


_OF_TWO_NUMBERS = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)


class Pointers:
    """Python functions of two numbers, for compiled loops to call.

    Attributes
    ----------
    address : int
        Of a table of their addresses, as `llvm.call_at` takes it. It lasts as long as this does.
    """

    def __init__(self, functions: Sequence[Callable[[float, float], float]]) -> None:
        self._errors: list[BaseException] = []
        self._functions = [_OF_TWO_NUMBERS(_guarded(function, self._errors)) for function in functions]
        addresses = [ctypes.cast(each, ctypes.c_void_p).value for each in self._functions]
        self._table = np.array(addresses, np.int64)
        self.address = int(self._table.ctypes.data)

    def within(self, loop: Callable[..., Any], *, but: type[Exception] | tuple[()] = ()) -> Callable[..., Any]:
        """The loop, which then raises what one of the functions has raised; but not these, which are NaN to it."""

        def call(*args: Any) -> Any:
            found = loop(*args)
            if self._errors and not isinstance(self._errors[0], but):
                raise self._errors[0]
            return found

        return call


def _guarded(function: Callable[[float, float], float], errors: list[BaseException]) -> Callable[[float, float], float]:
    """A function that never raises, as no exception gets through compiled code: NaN, and the error is kept."""

    def call(one: float, other: float) -> float:
        if errors:
            return math.nan
        try:
            return float(1.0 * function(one, other))  # a string is no number, even if float would read it
        except BaseException as error:  # Ctrl-C among them
            errors.append(error)
            return math.nan

    return call

"""Users' own functions within compiled loops, in bounded memory.

A loop is compiled again for every function that it calls, and numba never frees machine code: a rule takes 4.6 MB and
two seconds, a loss 12 MB, a kernel 3 MB. So the loops compiled for a function also serve every other function that
compiles to the same, such as a lambda made again and again; and after LIMIT different ones new functions are called in
Python, through a pointer, by loops that are compiled once for all of them. That takes no memory, and half a
microsecond per call. Without hand-written IR (NOVIKOFF_PLAIN=1) loops are compiled for every function.
"""

from __future__ import annotations

import ctypes
import hashlib
import math
import sys
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any, Generic, TypeVar

import numpy as np

from novikoff._compiled.llvm import CAN_CALL_POINTERS

__all__ = ["LIMIT", "Compilations", "Pointers", "same_function"]

LIMIT = 16  # different functions that loops are compiled for: 75 MB for rules, 200 MB for losses

_SCALARS = (bool, int, float, complex, str, bytes, type(None), np.generic)

Loops = TypeVar("Loops")


class Compilations(Generic[Loops]):
    """Loops compiled for users' functions, found again by `same_function`."""

    def __init__(self) -> None:
        self._loops: dict[Any, Loops] = {}

    def find(self, functions: Sequence[Any], compiled: Callable[[], Loops]) -> Loops | None:
        """Return the loops for these functions, compiled if there are none yet; None if LIMIT is reached."""
        key = tuple(map(same_function, functions))
        if key not in self._loops:
            if CAN_CALL_POINTERS and len(self._loops) >= LIMIT:
                return None
            self._loops[key] = compiled()
        return self._loops[key]


def same_function(function: Any) -> Any:
    """Return a key that is equal for functions that compile to the same code.

    numba compiles what a function reads from outside into constants, so the key has the function's bytecode and the
    present values of its defaults, of the variables around it, of its globals and of the attributes that it reads from
    modules. A function that reads anything else is equal only to itself.

    >>> same_function(lambda m, q: 1.0) == same_function(lambda m, q: 2.0)
    False
    >>> one, other = (lambda m, q, c=c: c for c in (1.0, 1.0))
    >>> one is other, same_function(one) == same_function(other)
    (False, True)
    """
    function = getattr(function, "py_func", function)
    if not isinstance(function, FunctionType):
        return _Identity(function)
    names = sorted(_names_in(function.__code__))
    read = [(name, function.__globals__[name]) for name in names if name in function.__globals__]
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    read += [(name, _cell_content(cell)) for name, cell in cells]
    read += _module_attributes(read, names)
    is_constant = all(_is_constant(value) for _, value in read)
    key = function.__code__, tuple((name, _content(value)) for name, value in read)
    return *key, _content(function.__defaults__ or ()), None if is_constant else _Identity(function)


def _names_in(code: CodeType) -> set[str]:
    """Return the names of globals and attributes that a function and those nested in it refer to."""
    return {
        *code.co_names,
        *(name for each in code.co_consts if isinstance(each, CodeType) for name in _names_in(each)),
    }


def _module_attributes(read: list[tuple[str, Any]], names: list[str]) -> list[tuple[str, Any]]:
    """Return the attributes that a function may read from modules: they can change while the module stays the same."""
    return [
        (f"{name}.{attribute}", getattr(module, attribute))
        for name, module in read
        if isinstance(module, ModuleType)
        for attribute in names
        if hasattr(module, attribute)
    ]


def _cell_content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is empty
        return cell


def _is_constant(value: Any) -> bool:
    """Return whether `_content` covers all that numba compiles of a value; it compiles a function once."""
    if isinstance(value, tuple):
        return all(map(_is_constant, value))
    if isinstance(value, np.ndarray):
        return not value.dtype.hasobject
    return isinstance(value, (*_SCALARS, ModuleType, type)) or callable(value)


def _content(value: Any) -> Any:
    """Return a key that is equal for values that compile to the same constant; 1, 1.0 and True have different keys."""
    if isinstance(value, _SCALARS):
        return type(value), repr(value)
    if isinstance(value, tuple):
        return tuple, tuple(map(_content, value))
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        digest = hashlib.blake2b(np.ascontiguousarray(value).view(np.uint8).data).digest()
        return value.dtype.str, value.shape, value.strides, digest
    return _Identity(value)


class _Identity:
    """Equal only for the very same object, which it keeps alive."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


_OF_TWO_NUMBERS = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_double)


class Pointers:
    """Python functions of two numbers, for compiled loops to call.

    Attributes
    ----------
    address : int
        Of a table of their addresses, for `llvm.call_at`. Valid as long as this object lives.
    """

    def __init__(self, functions: Sequence[Callable[[float, float], float]]) -> None:
        self._errors: list[BaseException] = []
        self._guards = [_guard(function, self._errors) for function in functions]
        self._functions = [_OF_TWO_NUMBERS(guard) for guard in self._guards]
        addresses = [ctypes.cast(each, ctypes.c_void_p).value for each in self._functions]
        self._table = np.array(addresses, np.int64)
        self.address = int(self._table.ctypes.data)

    def within(self, loop: Callable[..., Any], *, but: type[Exception] | tuple[()] = ()) -> Callable[..., Any]:
        """Return the loop with a check after it, which raises the first error that a function has raised.

        An error of type `but` is not raised: for the loop the function has returned NaN."""

        def call(*args: Any) -> Any:
            before = sys.unraisablehook
            try:
                sys.unraisablehook = lambda unraisable: self._record(unraisable, before)
                result = loop(*args)
            finally:
                sys.unraisablehook = before
            if self._errors and not isinstance(self._errors[0], but):
                raise self._errors[0]
            return result

        return call

    def _record(self, unraisable: Any, otherwise: Callable[[Any], Any]) -> None:
        """Record what a guard has raised: a Ctrl-C that Python handles at its start, where it cannot catch it yet."""
        if unraisable.object in self._guards:
            self._errors.append(unraisable.exc_value)
        else:
            otherwise(unraisable)


def _guard(function: Callable[[float, float], float], errors: list[BaseException]) -> Callable[[float, float], float]:
    """Return a function that never raises, because exceptions cannot pass through compiled code: it returns NaN and
    appends the error to `errors`."""

    def call(one: float, other: float) -> float:
        if errors:
            return math.nan
        try:
            return float(1.0 * function(one, other))  # a string is no number, even if float would read it
        except BaseException as error:  # Ctrl-C among them
            errors.append(error)
            return math.nan

    return call

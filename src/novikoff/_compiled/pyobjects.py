"""Python objects in compiled code: functions that Python calls as builtins.

numba converts a dict before it calls a function with it, which takes a microsecond: five times as long as looking up
nine names. A `Builtin` is called like `len`, without conversion. It gets the addresses of objects, calls Python's C API
with them, and returns the address of an object, or 0 for an exception.

In CPython with the global interpreter lock an object begins with its reference count and its type, followed in a float
by its value. Builds without the lock have another layout, and other threads could intervene. `is_available` returns
whether this Python has the expected layout; everything here has a fallback in plain Python
(perceptron/one_at_a_time.py), which is also used if a function cannot be compiled.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable
from functools import cached_property
from inspect import signature
from typing import Any

import numba
from llvmlite import ir
from numba.core import types
from numba.core.ccallback import CFunc
from numba.extending import intrinsic

from novikoff._compiled.jit import check_cache, is_compiling
from novikoff._compiled.numba_private import uninterrupted
from novikoff._compiled.switches import PLAIN, note

__all__ = [
    "Builtin",
    "address_of",
    "allocate",
    "bytearray_data",
    "carray",
    "clear_error",
    "dict_get",
    "dict_next",
    "dict_set",
    "dict_size",
    "error_matches",
    "error_occurred",
    "float64_at",
    "free",
    "int64_at",
    "int_as_double",
    "int_as_index",
    "is_available",
    "new_float",
    "raise_memory_error",
    "release",
    "retain",
    "store_int64",
    "tuple_get",
    "turn_off",
]

carray: Any = numba.carray  # type: ignore[attr-defined]

_NAME = "compiled dicts"
_WHY_NOT = (
    "NOVIKOFF_PLAIN is set"
    if PLAIN
    else "the JIT is disabled"
    if not is_compiling
    else "this is not CPython"
    if sys.implementation.name != "cpython"
    else "this Python has no global interpreter lock"
    if sysconfig.get_config_var("Py_GIL_DISABLED")
    else "objects have another layout here"
    if (object.__basicsize__, float.__basicsize__) != (16, 24)
    else None
)
_is_on = _WHY_NOT is None
note(_NAME, "on" if _is_on else f"off: {_WHY_NOT}")


def is_available() -> bool:
    """Return whether compiled code can read Python objects in this process."""
    return _is_on


def turn_off(error: Exception) -> None:
    """Use plain Python from now on, because the compiled functions cannot be built."""
    global _is_on
    _is_on = False
    note(_NAME, f"off: {type(error).__name__}: {error}")


class Builtin:
    """A compiled function that Python calls as a builtin, with the object it is bound to as its first argument.

    It is compiled when it is first bound, and kept on disk. The caller owns the reference that it returns.

    Parameters
    ----------
    function : callable
        Of addresses: (own, x) for a function of one argument; (own, given, n) for one of several, the first of which
        is at `int64_at(given)`.
    """

    def __init__(self, function: Callable[..., int]) -> None:
        self._function = function

    def bound_to(self, own: object) -> Callable[..., Any]:
        """Return the builtin, bound to an object that it keeps alive."""
        return _new_function(ctypes.addressof(self._definition), own, None)

    @cached_property
    def _definition(self) -> _Definition:
        """The PyMethodDef of the function. Python reads it at every call, up to the last one, so neither it nor the
        code may ever be freed."""
        try:
            compiled = self._compile(cached=True)
        except (RuntimeError, OSError):  # no folder to write to, or a full disk: compile in every process
            compiled = self._compile(cached=False)
        kind = {2: _ONE, 3: _SEVERAL}[len(signature(self._function).parameters)]
        definition = _Definition(self._function.__name__.encode(), compiled.address, kind, None)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object((compiled, definition)))
        return definition

    def _compile(self, *, cached: bool) -> Any:
        form = (types.intp,) * len(signature(self._function).parameters), types.intp
        compiled: Any = CFunc(self._function, form, {}, {"error_model": "numpy"})
        if cached:
            compiled.enable_caching()
            if not check_cache(self._function, compiled):
                return self._compile(cached=False)
        uninterrupted(compiled.compile)()
        return compiled


_ONE, _SEVERAL = 0x08, 0x80  # METH_O, METH_FASTCALL


class _Definition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


_new_function: Any = ctypes.pythonapi.PyCFunction_NewEx
_new_function.restype = ctypes.py_object
_new_function.argtypes = ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p


# -- Python's C API, as compiled code calls it. Objects are addresses; references are borrowed unless noted.


def _interface(name: str, returned: Any, *given: Any) -> Any:
    return types.ExternalFunction(name, returned(*given))


_object, _size, _double = types.intp, types.intp, types.float64

dict_next = _interface("PyDict_Next", types.intc, _object, _size, _size, _size)  # writes position, key, value
dict_get = _interface("PyDict_GetItemWithError", _object, _object, _object)  # 0 if there is none
dict_set = _interface("PyDict_SetItem", types.intc, _object, _object, _object)  # -1 for an exception
dict_size = _interface("PyDict_Size", _size, _object)
tuple_get = _interface("PyTuple_GetItem", _object, _object, _size)
bytearray_data = _interface("PyByteArray_AsString", types.voidptr, _object)
new_float = _interface("PyFloat_FromDouble", _object, _double)  # a new reference; 0 for an exception
int_as_double = _interface("PyLong_AsDouble", _double, _object)  # -1.0 for an exception
int_as_index = _interface("PyLong_AsSsize_t", _size, _object)
retain = _interface("Py_IncRef", types.void, _object)
release = _interface("Py_DecRef", types.void, _object)
error_occurred = _interface("PyErr_Occurred", _object)
error_matches = _interface("PyErr_ExceptionMatches", types.intc, _object)
clear_error = _interface("PyErr_Clear", types.void)
raise_memory_error = _interface("PyErr_NoMemory", _object)
allocate = _interface("PyMem_Malloc", types.intp, _size)  # 0 if there is no memory
free = _interface("PyMem_Free", types.void, types.intp)


def _reader(kind: Any, returned: Any) -> Any:
    def read(typing: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
            return builder.load(builder.inttoptr(values[0], kind.as_pointer()))

        return returned(types.int64), generate

    return intrinsic(read)


int64_at = _reader(ir.IntType(64), types.int64)  # the 64-bit integer at an address
float64_at = _reader(ir.DoubleType(), types.float64)  # the double at an address


def _put_word(typing: Any, address: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
        builder.store(values[1], builder.inttoptr(values[0], ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


store_int64: Any = intrinsic(_put_word)  # write a 64-bit integer to an address


def _address_of(typing: Any, memory: Any) -> Any:
    def generate(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return builder.ptrtoint(values[0], ir.IntType(64))

    return types.int64(types.voidptr), generate


address_of: Any = intrinsic(_address_of)  # a pointer as an integer

"""Python's own objects in compiled code: functions that Python calls as it calls its own.

Before a compiled function sees a dict, numba turns it into something else, and a microsecond is gone: five times as
long as it takes to look up nine names. A `builtin` is called as `len` is. It gets the addresses of objects, asks
Python's C interface about them, and returns the address of one, or 0 for an exception.

That an object begins with the count of its references and its type, and a float goes on with its value, is so in
CPython with its lock, and only there: `AVAILABLE`. Builds without the lock have other objects, and other threads would
come in between.
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

from novikoff._compiled import check_files_behind, out_of_reach_of_signals

__all__ = [
    "AVAILABLE",
    "Builtin",
    "address_of",
    "allocate",
    "bytearray_memory",
    "carray",
    "dict_get",
    "dict_next",
    "dict_set",
    "dict_size",
    "fail_for_memory",
    "float_of_int",
    "forget_failure",
    "free",
    "has_failed",
    "has_failed_with",
    "new_float",
    "put_word",
    "real_at",
    "release",
    "retain",
    "size_of_int",
    "tuple_get",
    "word_at",
]

carray: Any = numba.carray  # type: ignore[attr-defined]

AVAILABLE = (
    sys.implementation.name == "cpython"
    and not sysconfig.get_config_var("Py_GIL_DISABLED")
    and (object.__basicsize__, float.__basicsize__) == (16, 24)
    and not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
)


class Builtin:
    """A function in compiled code that Python calls by itself, with the object it is bound to first.

    It is compiled when it is first bound, and kept on disk. What it returns is Python's to release.

    Parameters
    ----------
    function : callable
        Of addresses: (own, x) for a function of one argument; (own, given, n) for one of several, the first of which
        is at `word_at(given)`.
    """

    def __init__(self, function: Callable[..., int]) -> None:
        self._function = function

    def bound_to(self, own: object) -> Callable[..., Any]:
        """The function as Python calls it. It keeps `own` alive."""
        return _new_function(ctypes.addressof(self._definition), own, None)

    @cached_property
    def _definition(self) -> _Definition:
        """As Python's C interface describes functions. Python looks into it at every call, up to the last one, so that
        neither it nor the code may ever be freed."""
        try:
            compiled = self._compiled(cached=True)
        except (RuntimeError, OSError):  # no folder that it may write to, or no room there: compiled in every process
            compiled = self._compiled(cached=False)
        kind = {2: _ONE, 3: _SEVERAL}[len(signature(self._function).parameters)]
        definition = _Definition(self._function.__name__.encode(), compiled.address, kind, None)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object((compiled, definition)))
        return definition

    def _compiled(self, *, cached: bool) -> Any:
        form = (types.intp,) * len(signature(self._function).parameters), types.intp
        compiled: Any = CFunc(self._function, form, {}, {"error_model": "numpy"})
        if cached:
            compiled.enable_caching()
            check_files_behind(self._function, compiled._cache)
        out_of_reach_of_signals(compiled.compile)()
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


# -- Python's C interface, as compiled code calls it. Objects are addresses, and borrowed unless it says otherwise.


def _interface(name: str, returned: Any, *given: Any) -> Any:
    return types.ExternalFunction(name, returned(*given))


_object, _size, _double = types.intp, types.intp, types.float64

dict_next = _interface("PyDict_Next", types.intc, _object, _size, _size, _size)  # writes position, key, value
dict_get = _interface("PyDict_GetItemWithError", _object, _object, _object)  # 0 if there is none
dict_set = _interface("PyDict_SetItem", types.intc, _object, _object, _object)  # -1 for an exception
dict_size = _interface("PyDict_Size", _size, _object)
tuple_get = _interface("PyTuple_GetItem", _object, _object, _size)
bytearray_memory = _interface("PyByteArray_AsString", types.voidptr, _object)
new_float = _interface("PyFloat_FromDouble", _object, _double)  # ours to release; 0 for an exception
float_of_int = _interface("PyLong_AsDouble", _double, _object)  # -1.0 for an exception
size_of_int = _interface("PyLong_AsSsize_t", _size, _object)
retain = _interface("Py_IncRef", types.void, _object)
release = _interface("Py_DecRef", types.void, _object)
has_failed = _interface("PyErr_Occurred", _object)
has_failed_with = _interface("PyErr_ExceptionMatches", types.intc, _object)
forget_failure = _interface("PyErr_Clear", types.void)
fail_for_memory = _interface("PyErr_NoMemory", _object)
allocate = _interface("PyMem_Malloc", types.intp, _size)  # 0 if there is no memory
free = _interface("PyMem_Free", types.void, types.intp)


def _reader(kind: Any, returned: Any) -> Any:
    def read(typing: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
            return builder.load(builder.inttoptr(values[0], kind.as_pointer()))

        return returned(types.int64), generate

    return intrinsic(read)


word_at = _reader(ir.IntType(64), types.int64)  # the whole number in memory at an address
real_at = _reader(ir.DoubleType(), types.float64)  # the double there


def _put_word(typing: Any, address: Any, word: Any) -> Any:
    def generate(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
        builder.store(values[1], builder.inttoptr(values[0], ir.IntType(64).as_pointer()))
        return context.get_dummy_value()

    return types.void(types.int64, types.int64), generate


put_word: Any = intrinsic(_put_word)  # write a whole number to memory at an address


def _address_of(typing: Any, memory: Any) -> Any:
    def generate(context: Any, builder: Any, kinds: Any, values: Any) -> Any:
        return builder.ptrtoint(values[0], ir.IntType(64))

    return types.int64(types.voidptr), generate


address_of: Any = intrinsic(_address_of)  # memory as a number

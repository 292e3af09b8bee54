"""Functions in LLVM's own words, for what numba cannot be brought to say: vectors that stay in registers, prefetching.

A function marked `in_llvm`, or `word_in_llvm` if it returns a number, says in Python what is done, and does it where
nothing is compiled; another, marked with `writes`, writes the same for LLVM, which has vectors of any number of lanes
and finds the instructions that the processor at hand has for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, signature
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

__all__ = ["INDEX", "Array", "Writer", "call_at", "in_llvm", "word_in_llvm", "writes"]

INDEX = ir.IntType(64)


def in_llvm(function: Callable[..., None]) -> Any:
    """Let `writes` say how this function, which returns nothing, is written for LLVM. Its arrays must be C-ordered."""
    return _in_llvm(function, types.void)


def word_in_llvm(function: Callable[..., Any]) -> Any:
    """The same for a function that returns a whole number of 64 bits, without a sign."""
    return _in_llvm(function, types.uint64)


def _in_llvm(function: Callable[..., Any], returned: Any) -> Any:
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function

    def define(typing: Any, *kinds: Any) -> Any:
        if any(isinstance(kind, types.Array) and kind.layout != "C" for kind in kinds):
            raise TypeError(f"{function.__name__} is for arrays in C order.")

        def generate(context: Any, builder: Any, types_: Any, values: Any) -> Any:
            found = [
                Array(context, builder, kind, value) if isinstance(kind, types.Array) else value
                for kind, value in zip(types_.args, values, strict=True)
            ]
            result = compiled.write(Writer(builder), *found)
            return context.get_dummy_value() if result is None else result

        return returned(*kinds), generate

    own = signature(function)
    define.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[Parameter("typing", Parameter.POSITIONAL_OR_KEYWORD), *own.parameters.values()]
    )  # numba wants to know how many there are
    compiled: Any = intrinsic(define)
    compiled.py_func = function  # tells which file is behind it
    return compiled


def writes(compiled: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Have the function decorated, of a `Writer` and the arguments, write what `compiled` does, and return what it
    returns: arrays come as `Array`, numbers as LLVM's values."""

    def decorate(write: Callable[..., Any]) -> Callable[..., Any]:
        compiled.write = write
        return write

    return decorate


class Array:
    """A C-ordered array as LLVM sees it.

    Attributes
    ----------
    number : ir.Type
        Of its elements.
    is_signed : bool
    sizes : list of ir.Value
    """

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        array = context.make_array(kind)(context, builder, value)
        self._builder, self._start = builder, array.data
        self.number, self.is_signed = context.get_data_type(kind.dtype), getattr(kind.dtype, "signed", True)
        self.sizes = cgutils.unpack_tuple(builder, array.shape)  # type: ignore[no-untyped-call]

    def address(self, at: Any, kind: Any) -> Any:
        """Where element `at` is, counted in memory order, as that of a value of this kind."""
        return self._builder.bitcast(self._builder.gep(self._start, [at]), kind.as_pointer())

    def load(self, at: Any, kind: Any = None) -> Any:
        """Element `at`; or a vector, or whatever is of this kind, that begins there."""
        return self._builder.load(self.address(at, kind or self.number), align=1)

    def store(self, value: Any, at: Any) -> None:
        self._builder.store(value, self.address(at, value.type), align=1)


class Variable:
    """What changes along a loop; LLVM keeps it in a register."""

    def __init__(self, builder: Any, first: Any) -> None:
        self._builder, self._place = builder, cgutils.alloca_once(builder, first.type)  # type: ignore[no-untyped-call]
        self.set(first)

    def get(self) -> Any:
        return self._builder.load(self._place)

    def set(self, value: Any) -> None:
        self._builder.store(value, self._place)


class Writer:
    """What a function is written with."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder
        self.add, self.sub, self.mul, self.bitcast = builder.add, builder.sub, builder.mul, builder.bitcast

    @contextmanager
    def loop(self, begin: Any, end: Any, step: int = 1) -> Iterator[Any]:
        """Write what is done for each of range(begin, end, step)."""
        with cgutils.for_range_slice(self._builder, begin, end, INDEX(step)) as (index, _):
            yield index

    def variable(self, first: Any) -> Variable:
        return Variable(self._builder, first)

    def spread(self, number: Any, lanes: int) -> Any:
        """A vector of this number in all lanes."""
        vector = ir.Constant(ir.VectorType(number.type, lanes), ir.Undefined)
        return self.chosen(self._builder.insert_element(vector, number, ir.IntType(32)(0)), [0] * lanes)

    def chosen(self, vector: Any, places: list[int], other: Any = None) -> Any:
        """Some lanes of a vector, or of two; those of the other are counted on."""
        which = ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)
        return self._builder.shuffle_vector(vector, vector if other is None else other, which)

    def index(self, number: Any) -> Any:
        """A whole number, not negative, that counts elements."""
        return self.widened(number, INDEX, is_signed=True)

    def remainder(self, number: Any, divisor: Any) -> Any:
        """Of whole numbers that are not negative."""
        return self._builder.urem(number, divisor)

    def precise(self, number: Any, kind: Any) -> Any:
        """A number with a point, of as many bits or more."""
        return number if number.type == kind else self._builder.fpext(number, kind)

    def multiply_add(self, x: Any, y: Any, z: Any) -> Any:
        """x * y + z, rounded once if the processor can."""
        return self._builder.fadd(self._builder.fmul(x, y, flags=["contract"]), z, flags=["contract"])

    def larger(self, one: Any, other: Any) -> Any:
        """The larger of two signed whole numbers, lane by lane."""
        return self._builder.select(self._builder.icmp_signed(">", one, other), one, other)

    def widened(self, number: Any, kind: Any, is_signed: bool) -> Any:
        """A whole number of as many bits or more, lane by lane."""
        if number.type == kind:
            return number
        return (self._builder.sext if is_signed else self._builder.zext)(number, kind)

    def at_most(self, numbers: Any, limits: Any) -> Any:
        """Whether whole numbers without a sign are no larger than others, lane by lane: a bit for each."""
        return self.bitcast(self._builder.icmp_unsigned("<=", numbers, limits), ir.IntType(numbers.type.count))

    def narrowed(self, number: Any, kind: Any) -> Any:
        """A whole number of as many bits or fewer."""
        return number if number.type == kind else self._builder.trunc(number, kind)

    def lane(self, vector: Any, place: int) -> Any:
        """One lane of a vector."""
        return self._builder.extract_element(vector, ir.IntType(32)(place))

    def load_from(self, address: Any, kind: Any) -> Any:
        """What is at an address in memory, given as a whole number."""
        return self._builder.load(self._builder.inttoptr(address, kind.as_pointer()), align=1)

    def call(self, name: str, *arguments: Any) -> None:
        """Call one of LLVM's own functions that returns nothing."""
        form = ir.FunctionType(ir.VoidType(), [each.type for each in arguments])
        function = cgutils.get_or_insert_function(self._builder.module, form, name)  # type: ignore[no-untyped-call]
        self._builder.call(function, arguments)


def _call_at(typing: Any, table: Any, place: Any, one: Any, other: Any) -> Any:
    """Call a C function of two doubles: that at this place of a table of addresses, itself given by its address."""

    def generate(context: Any, builder: Any, types_: Any, values: Any) -> Any:
        double, (start, index, *arguments) = ir.DoubleType(), values
        addresses = builder.inttoptr(start, INDEX.as_pointer())
        address = builder.load(builder.gep(addresses, [index]))
        function = builder.inttoptr(address, ir.FunctionType(double, [double, double]).as_pointer())
        return builder.call(function, arguments)

    return types.float64(types.int64, types.int64, types.float64, types.float64), generate


call_at: Any = intrinsic(_call_at)

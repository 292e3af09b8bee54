"""Functions written in LLVM's intermediate representation (IR): vectors in registers, prefetching.

numba offers no way to keep a row of sums in registers, or to prefetch. A function decorated with `in_llvm` is a plain
loop that numba can compile; the argument of the decorator is a function that emits IR for the same result with a
`Writer`. LLVM has vectors of any number of lanes, and selects the instructions of the processor for them.

The plain loop runs without the JIT, with NOVIKOFF_PLAIN=1, and where the IR cannot be built: the IR of every signature
is first built in a separate module, which LLVM verifies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import Parameter, signature
from typing import Any

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from novikoff._compiled.jit import inlined, is_compiling
from novikoff._compiled.switches import PLAIN, note

__all__ = ["CAN_CALL_POINTERS", "INDEX", "UINT64", "Array", "Writer", "call_at", "in_llvm"]

INDEX = ir.IntType(64)
UINT64 = types.uint64
_IR = "hand-written IR"

note(_IR, "off: NOVIKOFF_PLAIN is set" if PLAIN else "on" if is_compiling else "off: the JIT is disabled")


def in_llvm(write: Callable[..., Any], *, returns: Any = types.void) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function from IR emitted by `write`.

    The decorated function's Python body is the fallback, and says what is computed.

    Parameters
    ----------
    write : callable
        Called with a `Writer` and the arguments of the function: arrays are `Array`, scalars are LLVM values.
    returns : numba type
        The type of the result: `types.void` (no result) or `UINT64`.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        if PLAIN or not is_compiling:
            return inlined(function)
        return _intrinsic(function, write, returns)

    return decorate


def _intrinsic(function: Callable[..., Any], write: Callable[..., Any], returns: Any) -> Any:
    """Return the numba intrinsic that `write` defines, or that falls back on `function`."""

    def define(typing: Any, *numba_types: Any) -> Any:
        if any(isinstance(each, types.Array) and each.layout != "C" for each in numba_types):
            raise TypeError(f"{function.__name__} is for arrays in C order.")

        def generate(context: Any, builder: Any, numba_signature: Any, values: Any) -> Any:
            arguments = _convert_arguments(context, builder, numba_signature, values)
            error = _try_build(write, arguments)
            if error is not None:
                note(_IR, f"off for {function.__name__}: {error}")
                return context.compile_internal(builder, function, numba_signature, values)
            result = write(Writer(builder), *arguments)
            return context.get_dummy_value() if result is None else result

        return returns(*numba_types), generate

    own = signature(function)
    define.__signature__ = own.replace(  # type: ignore[attr-defined]
        parameters=[Parameter("typing", Parameter.POSITIONAL_OR_KEYWORD), *own.parameters.values()]
    )  # numba reads the number of parameters from it
    compiled: Any = intrinsic(define)
    compiled.py_func = function  # so that the source file of the function can be found
    return compiled


def _convert_arguments(context: Any, builder: Any, numba_signature: Any, values: Any) -> list[Any]:
    """Return the arguments for `write`: arrays of numba as `Array`, other values as they are."""
    return [
        Array.of_numba(context, builder, numba_type, value) if isinstance(numba_type, types.Array) else value
        for numba_type, value in zip(numba_signature.args, values, strict=True)
    ]


def _try_build(write: Callable[..., Any], arguments: list[Any]) -> Exception | None:
    """Build the IR for arguments of these types in a separate module, and let LLVM verify it.

    Return None if that succeeds, otherwise the error.
    """
    try:
        module = ir.Module()
        module.triple = binding.get_default_triple()
        llvm_types: list[Any] = []
        for each in arguments:
            llvm_types += [each.start.type, *(INDEX for _ in each.sizes)] if isinstance(each, Array) else [each.type]
        trial = ir.Function(module, ir.FunctionType(ir.VoidType(), llvm_types), "trial")
        builder, rest = ir.IRBuilder(trial.append_basic_block("entry")), list(trial.args)
        copies = [
            Array(builder, rest.pop(0), [rest.pop(0) for _ in each.sizes], each.element_type, each.is_signed)
            if isinstance(each, Array)
            else rest.pop(0)
            for each in arguments
        ]
        write(Writer(builder), *copies)
        builder.ret_void()
        binding.parse_assembly(str(module)).verify()
    except Exception as error:
        return error
    return None


class Array:
    """A C-ordered array in IR.

    An index counts elements in memory order, also if the array has several dimensions.

    Attributes
    ----------
    start : ir.Value
        The address of the first element.
    sizes : list of ir.Value
        The length of each dimension.
    element_type : ir.Type
        The LLVM type of the elements.
    is_signed : bool
        Whether the elements are signed; true for floats.
    """

    def __init__(self, builder: Any, start: Any, sizes: list[Any], element_type: Any, is_signed: bool) -> None:
        self._builder, self.start, self.sizes = builder, start, sizes
        self.element_type, self.is_signed = element_type, is_signed

    @classmethod
    def of_numba(cls, context: Any, builder: Any, numba_type: Any, value: Any) -> Array:
        """Return the array for an argument of a numba function."""
        array = context.make_array(numba_type)(context, builder, value)
        sizes = cgutils.unpack_tuple(builder, array.shape)  # type: ignore[no-untyped-call]
        element_type = context.get_data_type(numba_type.dtype)
        return cls(builder, array.data, sizes, element_type, getattr(numba_type.dtype, "signed", True))

    def address(self, index: Any, llvm_type: Any) -> Any:
        """Return the address of the element at an index, as a pointer to a value of this type."""
        return self._builder.bitcast(self._builder.gep(self.start, [index]), llvm_type.as_pointer())

    def load(self, index: Any, llvm_type: Any = None) -> Any:
        """Load the element at an index or, with `llvm_type`, a value of that type (say, a vector) that starts there."""
        return self._builder.load(self.address(index, llvm_type or self.element_type), align=1)

    def store(self, value: Any, index: Any) -> None:
        """Store a scalar or a vector; it starts at the element with this index."""
        self._builder.store(value, self.address(index, value.type), align=1)


class Variable:
    """A value that changes in a loop; LLVM keeps it in a register."""

    def __init__(self, builder: Any, first: Any) -> None:
        self._builder = builder
        self._slot = cgutils.alloca_once(builder, first.type)  # type: ignore[no-untyped-call]
        self.set(first)

    def get(self) -> Any:
        return self._builder.load(self._slot)

    def set(self, value: Any) -> None:
        self._builder.store(value, self._slot)


class Writer:
    """Emits the instructions of hand-written functions."""

    def __init__(self, builder: Any) -> None:
        self._builder = builder
        self.add, self.sub, self.mul, self.bitcast = builder.add, builder.sub, builder.mul, builder.bitcast

    @contextmanager
    def loop(self, begin: Any, end: Any, step: int = 1) -> Iterator[Any]:
        """Emit a loop over range(begin, end, step); its body is what the `with` block emits."""
        with cgutils.for_range_slice(self._builder, begin, end, INDEX(step)) as (index, _):
            yield index

    def variable(self, first: Any) -> Variable:
        return Variable(self._builder, first)

    def spread(self, value: Any, n_lanes: int) -> Any:
        """Return a vector with this value in all lanes."""
        vector = ir.Constant(ir.VectorType(value.type, n_lanes), ir.Undefined)
        return self.shuffle(self._builder.insert_element(vector, value, ir.IntType(32)(0)), [0] * n_lanes)

    def shuffle(self, vector: Any, lane_indices: list[int], other: Any = None) -> Any:
        """Return a vector of the lanes with these indices, taken from `vector` followed by `other`."""
        mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lane_indices)), lane_indices)
        return self._builder.shuffle_vector(vector, vector if other is None else other, mask)

    def index(self, value: Any) -> Any:
        """Convert a non-negative integer to an index."""
        return self.widen(value, INDEX, is_signed=True)

    def remainder(self, value: Any, divisor: Any) -> Any:
        """Return value % divisor, for non-negative integers."""
        return self._builder.urem(value, divisor)

    def widen_float(self, value: Any, llvm_type: Any) -> Any:
        """Convert a float to a type with as many bits or more."""
        return value if value.type == llvm_type else self._builder.fpext(value, llvm_type)

    def multiply_add(self, x: Any, y: Any, z: Any) -> Any:
        """Return x * y + z, rounded only once if the processor has such an instruction."""
        return self._builder.fadd(self._builder.fmul(x, y, flags=["contract"]), z, flags=["contract"])

    def maximum(self, one: Any, other: Any) -> Any:
        """Return the larger of two signed integers, lane by lane."""
        return self._builder.select(self._builder.icmp_signed(">", one, other), one, other)

    def widen(self, value: Any, llvm_type: Any, is_signed: bool) -> Any:
        """Convert an integer to a type with as many bits or more, lane by lane."""
        if value.type == llvm_type:
            return value
        return (self._builder.sext if is_signed else self._builder.zext)(value, llvm_type)

    def narrow(self, value: Any, llvm_type: Any) -> Any:
        """Convert an integer to a type with as many bits or fewer."""
        return value if value.type == llvm_type else self._builder.trunc(value, llvm_type)

    def are_at_most(self, vector: Any, limits: Any) -> Any:
        """Compare unsigned integers lane by lane; bit k of the result is 1 if vector[k] <= limits[k]."""
        return self.bitcast(self._builder.icmp_unsigned("<=", vector, limits), ir.IntType(vector.type.count))

    def lane(self, vector: Any, lane_index: int) -> Any:
        """Return one lane of a vector."""
        return self._builder.extract_element(vector, ir.IntType(32)(lane_index))

    def load_from(self, address: Any, llvm_type: Any) -> Any:
        """Load a value of this type from an address, given as an integer."""
        return self._builder.load(self._builder.inttoptr(address, llvm_type.as_pointer()), align=1)

    def call(self, name: str, *arguments: Any) -> None:
        """Call an intrinsic function of LLVM that returns nothing."""
        function_type = ir.FunctionType(ir.VoidType(), [each.type for each in arguments])
        function = cgutils.get_or_insert_function(  # type: ignore[no-untyped-call]
            self._builder.module, function_type, name
        )
        self._builder.call(function, arguments)


CAN_CALL_POINTERS = is_compiling and not PLAIN  # whether `call_at` works here


def _call_at(typing: Any, table: Any, index: Any, one: Any, other: Any) -> Any:
    """Call the C function at address table[index] with two doubles; `table` is the address of an array of addresses."""

    def generate(context: Any, builder: Any, numba_signature: Any, values: Any) -> Any:
        double, (table_address, i, *arguments) = ir.DoubleType(), values
        addresses = builder.inttoptr(table_address, INDEX.as_pointer())
        address = builder.load(builder.gep(addresses, [i]))
        function = builder.inttoptr(address, ir.FunctionType(double, [double, double]).as_pointer())
        return builder.call(function, arguments)

    return types.float64(types.int64, types.int64, types.float64, types.float64), generate


call_at: Any = intrinsic(_call_at)

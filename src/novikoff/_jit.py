"""The one place that imports numba: which flags our kernels are compiled with, and why.

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

import os
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, event, types
from numba.extending import intrinsic

_is_compiling = not numba.config.DISABLE_JIT  # type: ignore[attr-defined]
_FLAGS: dict[str, Any] = {
    "nogil": True,
    "fastmath": {"reassoc", "contract"},
    "error_model": "numpy",
}


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function that Python calls, on its first call, and keep the result on disk."""
    try:
        compiled = numba.njit(cache=True, **_FLAGS)(function)
    except RuntimeError:
        # numba found no folder it may write to (read-only install, no home): compile in every process instead.
        return numba.njit(**_FLAGS)(function)
    if _is_compiling:
        kept = compiled._cache._cache_file
        kept._source_stamp = (kept._source_stamp, *_stamps({__file__} | _files_behind(function)))
    return compiled


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


def _uncounted(compiled: Any) -> Any:
    if _is_compiling:
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
    return numba.njit(**_FLAGS)(_python_source(function))


def _python_source(function: Any) -> FunctionType:
    """The Python function inside a compiled one; a plain function is its own source."""
    return getattr(function, "py_func", function)


def _no_prefetch(array: Any, at: int) -> None:
    """Without compilation there is nothing to be gained."""


def _prefetch(typing: Any, array: Any, at: Any) -> tuple[Any, Callable[..., Any]]:
    """Ask for the cache line of element `at` of a C-ordered array, counted in memory order, before it is used. Nothing
    is read, whatever the address; numba has no name of its own for the processor's instruction."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        start = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(start, [arguments[1]]), ir.IntType(8).as_pointer())
        number = ir.IntType(32)
        form = ir.FunctionType(ir.VoidType(), [address.type, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, form, "llvm.prefetch.p0i8")  # type: ignore[no-untyped-call]
        builder.call(function, [address, number(0), number(3), number(1)])  # to read, to be kept, data
        return context.get_dummy_value()

    return types.void(array, at), generate


prefetch: Callable[..., Any] = intrinsic(_prefetch) if _is_compiling else _no_prefetch


def _plain_pair_products(places: Any, values: Any, begin: int, end: int, tile: Any, sums: Any) -> None:
    """The same in so many words."""
    sums[:] = (tile[places[begin:end]].astype(sums.dtype) * values[begin:end, None]).sum(axis=(0, 2))


def _pair_products(
    typing: Any, places: Any, values: Any, begin: Any, end: Any, tile: Any, sums: Any
) -> tuple[Any, Callable[..., Any]]:
    """sums = sum over begin <= p < end of x * tile[place, :, 0] + y * tile[place, :, 1], with x, y = values[p] and
    place = places[p]. All arrays are C-ordered: int64, int16, small integers of any kind for LANES rows, int32.

    Two products and their sum are one instruction, eight of them at once, and so twice the work of one for floats;
    numba makes no use of it. LLVM does where it sees the products of two vectors of int16 added by neighbours, and
    for processors without the instruction makes what they have. The sums stay in registers.
    """
    index, number, small = ir.IntType(64), ir.IntType(32), ir.IntType(16)
    eight, sixteen, pairs = ir.VectorType(number, 8), ir.VectorType(number, 16), ir.VectorType(small, 16)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def address(array: int, at: Any, kind: Any) -> Any:
            start = context.make_array(signature.args[array])(context, builder, arguments[array]).data
            return builder.bitcast(builder.gep(start, [at]), kind.as_pointer())

        def chosen(vector: Any, *places: int) -> Any:
            return builder.shuffle_vector(vector, vector, ir.Constant(eight, places))

        stored = ir.VectorType(context.get_data_type(tile.dtype), 16)
        widened = builder.sext if tile.dtype.signed else builder.zext
        nothing = ir.Constant(eight, [0] * 8)
        totals = [cgutils.alloca_once_value(builder, nothing) for _ in range(LANES // 8)]  # type: ignore[no-untyped-call]
        with cgutils.for_range_slice(builder, arguments[2], arguments[3], index(1)) as (p, _):
            xy = builder.load(address(1, builder.mul(p, index(2)), number), align=2)
            xy = chosen(builder.insert_element(nothing, xy, number(0)), *[0] * 8)
            xy = builder.sext(builder.bitcast(xy, pairs), sixteen)
            start = builder.mul(builder.load(address(0, p, index)), index(2 * LANES))
            for k, total in enumerate(totals):
                z = builder.load(address(4, builder.add(start, index(16 * k)), stored), align=1)
                products = builder.mul(xy, widened(z, sixteen))
                added = builder.add(chosen(products, *range(0, 16, 2)), chosen(products, *range(1, 16, 2)))
                builder.store(builder.add(builder.load(total), added), total)
        for k, total in enumerate(totals):
            builder.store(builder.load(total), address(5, index(8 * k), eight), align=4)
        return context.get_dummy_value()

    return types.void(places, values, begin, end, tile, sums), generate


LANES = 64  # sums at a time: half of the registers of a processor
pair_products: Callable[..., Any] = intrinsic(_pair_products) if _is_compiling else _plain_pair_products

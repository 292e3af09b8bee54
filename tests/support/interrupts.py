"""Raise an exception before any bytecode of the package, and compare what a model has learned."""

from __future__ import annotations

import dis
import os
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np
import scipy.sparse as sp

import novikoff as nk

_PACKAGE = Path(nk.__file__).parent
# Files whose code changes objects that a model shares; the others only build new objects.
_FILES = {
    str(_PACKAGE / f"{name}.py")
    for name in (
        "system/exclusive",
        "perceptron/model",
        "perceptron/block_update",
        "perceptron/accounting",
        "perceptron/one_at_a_time",
        "perceptron/weight_vectors",
        "perceptron/dict_fast_path",
        "perceptron/learner",
        "perceptron/history",
        "perceptron/ledger",
        "streaming/model",
        "estimators/perceptron",
        "estimators/kernel_perceptron",
        "estimators/kernel_regressor",
        "estimators/linear_base",
        "estimators/linear_classifier",
        "kernel_methods/model",
        "kernel_methods/dual",
        "kernel_methods/budget",
        "kernel_methods/points",
        "descent/model",
        "data/encoding/vocabulary",
        "data/encoding/indices",
        "data/encoding/named",
        "data/encoding/tables",
    )
}


@cache
def _uninterruptible_offsets(code: CodeType) -> frozenset[int]:
    """Return the offsets before the release of a lock at which CPython handles no signals.

    It handles them after calls and backward jumps, and at the start of functions. There is none of these between the
    end of a `try` and the call of `lock.release` in its `finally`, so no interrupt can occur there.
    """
    found: set[int] = set()
    instructions = list(dis.get_instructions(code))
    for k, instruction in enumerate(instructions):
        if instruction.opname in ("LOAD_METHOD", "LOAD_ATTR") and instruction.argval == "release":
            first = k - 1
            while instructions[first - 1].opname in ("NOP", "PUSH_EXC_INFO", "PUSH_NULL"):
                first -= 1
            last = k
            while instructions[last].opname != "CALL":
                last += 1
            found |= {each.offset for each in instructions[first : last + 1]}
    return frozenset(found)


class Interrupter:
    """Raises KeyboardInterrupt before the bytecodes of the package with given numbers, and records all locations."""

    def __init__(self, *at: int) -> None:
        self.at, self.locations, self.raised = set(at), list[tuple[CodeType, int]](), 0

    def __enter__(self) -> Interrupter:
        self._before = sys.gettrace()
        sys.settrace(self._trace)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(self._before)

    def _trace(self, frame: FrameType, event: str, arg: Any) -> Any:
        if frame.f_code.co_filename not in _FILES:
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return self._trace_opcode

    def _trace_opcode(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "opcode" and frame.f_lasti not in _uninterruptible_offsets(frame.f_code):
            self.locations.append((frame.f_code, frame.f_lasti))
            if len(self.locations) in self.at:
                self.raised += 1
                raise KeyboardInterrupt(f"{frame.f_code.co_qualname} at {frame.f_lasti}, line {frame.f_lineno}")
        return self._trace_opcode


def interrupted_everywhere(
    make: Callable[[], Any], act: Callable[[Any], Any], every: int = 1
) -> Iterator[tuple[str, Any]]:
    """Yield, for every bytecode of `act`, its location and an object that was interrupted there.

    A bytecode is interrupted the first and the last time it is reached. If `every` is 3, only each third one is tried,
    unless NOVIKOFF_EVERY_BYTECODE is set.
    """
    every = 1 if "NOVIKOFF_EVERY_BYTECODE" in os.environ else every
    act(make())  # do what is done only once, such as compiling
    once = make()
    with Interrupter() as counting:
        act(once)
    last = {location: number for number, location in enumerate(counting.locations, 1)}
    first = {location: number for number, location in reversed(list(enumerate(counting.locations, 1)))}
    for step in sorted({*first.values(), *last.values()})[::every]:
        found = make()
        with Interrupter(step) as interrupter:
            try:
                act(found)
            except KeyboardInterrupt as interrupt:
                where = str(interrupt)
            else:
                where = ""
        assert interrupter.raised, f"there was no bytecode {step}"
        assert where, f"the interrupt at bytecode {step} was swallowed"
        yield where, found


def _updates_of(history: Any) -> Any:
    """Return the updates in a history, without the widths of the arrays that hold them."""
    if history is None:
        return None
    history.compact()
    found: list[Any] = []
    for sequence in history.sequences:
        found += [
            tuple(np.ravel(piece).tolist())
            for name in ("row_indices", "steps", "classes", "examples")
            for piece in getattr(sequence, name)
        ]
        for block in map(sp.csr_array, sequence.blocks):
            block.eliminate_zeros()
            found.append((block.indptr.tolist(), block.indices.tolist(), block.data.tolist()))
    return found


def everything(model: nk.Perceptron) -> tuple[Any, ...]:
    """Return everything that a perceptron has learned, to the last bit; None before the first example."""
    if not hasattr(model, "_model"):
        return (None,)
    snapshot = model._model.snapshot()
    state = snapshot.state
    vectors = (state.raw, state.sums, state.pocket)
    return (
        None if snapshot.vocabulary is None else tuple(snapshot.vocabulary),
        tuple(snapshot.labels.known),
        tuple(part.tobytes() for weights in vectors for part in (np.ascontiguousarray(weights.coef), weights.bias)),
        tuple(state.counts.tolist()),
        state.measures.tobytes(),
        state.is_bounded,
        np.array(state.trace.points, float).tobytes(),
        state.trace.stride,
        _updates_of(state.history),
    )

"""States of perceptrons in model files: weights, counters and trace."""

from __future__ import annotations

import numpy as np

from novikoff._compiled.loops.additive import EXAMPLES, SEEN_MARGIN, SQUARED_RADIUS, STEP_SUM
from novikoff.hypotheses import Hypothesis
from novikoff.model_files.histories import read_history, write_history
from novikoff.model_files.section import LARGEST_COUNT, Section
from novikoff.model_files.weights import read_weights, write_weights
from novikoff.perceptron.engines import StatefulEngine
from novikoff.perceptron.ledger import LedgerTrace
from novikoff.perceptron.slots import Slots
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["read_state", "read_trace", "write_state", "write_trace"]


def write_state(section: Section, state: State) -> None:
    """Write a state. Which of the optional weights it has depends on the hypothesis."""
    if state.fork_of is not None:
        section.fail("it is a fork, which counts only what it has learned itself: join it first")
    for name in ("raw", "sums", "pocket"):
        if getattr(state, name):
            write_weights(section.add_part(name), getattr(state, name))
    section.add_tensor("counts", state.counts)
    section.add_tensor("measures", state.measures)
    section.facts |= {"passes": int(state.passes), "is_bounded": bool(state.is_bounded)}
    if state.importance_range is not None:
        section.add_tensor("importance_range", np.array(state.importance_range))
    write_trace(section.add_part("trace"), state.trace)
    if state.history is not None:
        write_history(section.add_part("history"), state.history)
    if state.memory is not None:
        part = section.add_part("slots")
        for name, array in state.memory.arrays().items():
            part.add_tensor(name, array)


def read_state(section: Section, hypothesis: Hypothesis, n_vectors: int, engine: StatefulEngine | None = None) -> State:
    """Read a state for this hypothesis and number of weight vectors, and for this engine if its rule is stateful."""
    raw = read_weights(section.part("raw"), n_vectors, None)
    n_features = raw.coef.shape[1]

    def optional_weights(name: str, wanted: bool) -> Weights:
        return read_weights(section.part(name), n_vectors, n_features) if wanted else Weights.none()

    counts = section.tensor("counts", np.int64, (5,))
    examples = int(counts[EXAMPLES])
    is_valid = (counts >= 0).all() and (counts <= min(examples, LARGEST_COUNT)).all()
    section.require(
        is_valid,
        f"{section.full_name('counts')} are {counts.tolist()}: a count is negative or larger than that of the examples",
    )
    n_classes = max(2, n_vectors)
    state = State(
        raw=raw,
        sums=optional_weights("sums", hypothesis.averages),
        pocket=optional_weights("pocket", hypothesis.pockets),
        history=read_history(section.part("history"), n_classes, n_features, examples)
        if hypothesis.remembers
        else None,
        counts=counts,
        measures=_read_measures(section),
        trace=read_trace(section.part("trace")),
        passes=section.fact("passes", int),
        is_bounded=section.fact("is_bounded", bool),
        importance_range=_read_importance_range(section),
        memory=None if engine is None else _read_slots(section.part("slots"), engine, n_vectors, n_features),
    )
    state.remember_past()  # the file may be read again
    return state


def _read_slots(section: Section, engine: StatefulEngine, n_vectors: int, n_features: int) -> Slots:
    shapes = engine.slot_shapes(n_vectors, n_features)
    return engine.slots_of_arrays({name: section.finite(name, np.float64, shape) for name, shape in shapes.items()})


def _read_importance_range(section: Section) -> tuple[float, float] | None:
    """Read the range of importances; None if there were none, as in files of earlier versions."""
    if section.full_name("importance_range") not in section.tensors:
        return None
    smallest, largest = section.finite("importance_range", np.float64, (2,)).tolist()
    section.require(0.0 < smallest <= largest, f"its importances are from {smallest} to {largest}")
    return smallest, largest


def _read_measures(section: Section) -> np.ndarray:
    """Read the measures. Lengths must not be negative, but a length may be infinite if learning overflowed."""
    measures = section.tensor("measures", np.float64, (5,))
    is_valid = measures[SQUARED_RADIUS] >= 0.0 and measures[STEP_SUM] >= 0.0 and not np.isnan(measures[SEEN_MARGIN])
    section.require(is_valid, f"{section.full_name('measures')} are {measures.tolist()}")
    return measures


def write_trace(section: Section, trace: LedgerTrace) -> None:
    """Write the trace of a run."""
    section.facts |= {"capacity": trace.capacity, "stride": trace.stride}
    section.add_tensor("counts", np.array([point[:3] for point in trace.points], np.int64).reshape(-1, 3))
    section.add_tensor("sizes", np.array([point[3:] for point in trace.points], np.float64).reshape(-1, 2))


def read_trace(section: Section) -> LedgerTrace:
    """Read the trace of a run."""
    trace = LedgerTrace(section.fact("capacity", int))
    trace.stride = section.fact("stride", int)
    # The trace would double a capacity or a stride of 0 forever.
    is_valid = trace.capacity > 0 and trace.stride > 0 and trace.stride & (trace.stride - 1) == 0
    section.require(is_valid, f"{section.path} has capacity {trace.capacity} and stride {trace.stride}")
    counts = section.tensor("counts", np.int64, (None, 3))
    sizes = section.tensor("sizes", np.float64, (len(counts), 2))
    rising = (counts >= 0).all() and (counts[1:] >= counts[:-1]).all() and (counts[:, 0] % trace.stride == 0).all()
    section.require(rising, f"{section.full_name('counts')} do not rise by multiples of the stride")
    trace.points = [(*numbers, *lengths) for numbers, lengths in zip(counts.tolist(), sizes.tolist(), strict=True)]
    return trace

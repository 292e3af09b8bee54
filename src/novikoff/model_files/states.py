"""The state of a learner in a model file: weights, counters, trace."""

from __future__ import annotations

import numpy as np

from novikoff._compiled.loops.additive import EXAMPLES, SEEN_MARGIN, SQUARED_RADIUS, STEP_SUM
from novikoff.hypotheses import Hypothesis
from novikoff.model_files.histories import put_history, take_history
from novikoff.model_files.section import LARGEST, Section
from novikoff.model_files.weights import put_weights, take_weights
from novikoff.perceptron.ledger import Trace
from novikoff.perceptron.state import State
from novikoff.perceptron.weights import Weights

__all__ = ["put_state", "put_trace", "take_state", "take_trace"]


def put_state(section: Section, state: State) -> None:
    """Keep a state; the hypothesis says which memories it has."""
    for name in ("raw", "sums", "pocket"):
        if getattr(state, name):
            put_weights(section.open(name), getattr(state, name))
    section.put("counts", state.counts)
    section.put("measures", state.measures)
    section.facts |= {"passes": int(state.passes), "is_bounded": bool(state.is_bounded)}
    put_trace(section.open("trace"), state.trace)
    if state.history is not None:
        put_history(section.open("history"), state.history)


def take_state(section: Section, hypothesis: Hypothesis, n_vectors: int) -> State:
    """The state that `put_state` kept, for this hypothesis and number of weight vectors."""
    raw = take_weights(section.part("raw"), n_vectors, None)
    n_features = raw.coef.shape[1]

    def memory(name: str, wanted: bool) -> Weights:
        return take_weights(section.part(name), n_vectors, n_features) if wanted else Weights.none()

    counts = section.tensor("counts", np.int64, (5,))
    examples = int(counts[EXAMPLES])
    sound = (counts >= 0).all() and (counts <= min(examples, LARGEST)).all()
    section.require(
        sound,
        f"{section.place('counts')} are {counts.tolist()}: something happened more often than 0 to all of the examples",
    )
    n_classes = max(2, n_vectors)
    return State(
        raw=raw,
        sums=memory("sums", hypothesis.averages),
        pocket=memory("pocket", hypothesis.pockets),
        history=take_history(section.part("history"), n_classes, n_features, examples)
        if hypothesis.remembers
        else None,
        counts=counts,
        measures=_measures(section),
        trace=take_trace(section.part("trace")),
        passes=section.fact("passes", int),
        is_bounded=section.fact("is_bounded", bool),
    )


def _measures(section: Section) -> np.ndarray:
    """Lengths are not negative; what has overflowed while learning is still its honest account."""
    measures = section.tensor("measures", np.float64, (5,))
    sound = measures[SQUARED_RADIUS] >= 0.0 and measures[STEP_SUM] >= 0.0 and not np.isnan(measures[SEEN_MARGIN])
    section.require(sound, f"{section.place('measures')} are {measures.tolist()}")
    return measures


def put_trace(section: Section, trace: Trace) -> None:
    """Keep the record of a run."""
    section.facts |= {"capacity": trace.capacity, "stride": trace.stride}
    section.put("counts", np.array([point[:3] for point in trace.points], np.int64).reshape(-1, 3))
    section.put("sizes", np.array([point[3:] for point in trace.points], np.float64).reshape(-1, 2))


def take_trace(section: Section) -> Trace:
    """The record that `put_trace` kept."""
    trace = Trace(section.fact("capacity", int))
    trace.stride = section.fact("stride", int)
    # A capacity or a stride of 0 would be doubled for ever.
    sound = trace.capacity > 0 and trace.stride > 0 and trace.stride & (trace.stride - 1) == 0
    section.require(sound, f"{section.path} has capacity {trace.capacity} and stride {trace.stride}")
    counts = section.tensor("counts", np.int64, (None, 3))
    sizes = section.tensor("sizes", np.float64, (len(counts), 2))
    rising = (counts >= 0).all() and (counts[1:] >= counts[:-1]).all() and (counts[:, 0] % trace.stride == 0).all()
    section.require(rising, f"{section.place('counts')} do not rise by multiples of the stride")
    trace.points = [(*numbers, *lengths) for numbers, lengths in zip(counts.tolist(), sizes.tolist(), strict=True)]
    return trace

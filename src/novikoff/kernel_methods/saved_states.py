"""What kernel learners have learned, in a model file: the rows they erred on and the updates in order.

state            .origins, .counts, .measures, .trace; passes, n_rows; and .born, .slots, .vectors, .signs, .examples,
                 or on a budget .alpha, .winners, .rivals, .lengths
state.support    the kept rows: .rows, or .data, .indices, .indptr, or text (.bytes, .offsets); of a precomputed
                 kernel none, as .origins says which they were
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff import model_files
from novikoff._compiled.loops.additive import EXAMPLES
from novikoff.errors import ModelFileError, NovikoffError
from novikoff.inputs.rows import Rows
from novikoff.kernel_methods.budget import BudgetLearner, BudgetState
from novikoff.kernel_methods.dual import DualLearner, DualState
from novikoff.kernel_methods.points import Growing, Points, Support
from novikoff.kernel_methods.regression import ResidualLearner
from novikoff.model_files import Section

__all__ = ["put_state", "take_state"]

_ARRAYS = {
    DualState: ("born", "counts", "measures"),
    BudgetState: ("alpha", "winners", "rivals", "lengths", "counts", "measures"),
}
_GROWING = {DualState: ("origins", "slots", "vectors", "signs", "examples"), BudgetState: ("origins",)}
_KINDS = ("none", "dense", "sparse", "kernel rows", "objects")


def put_state(section: Section, state: DualState | BudgetState) -> None:
    """Keep what was learned, wherever it is in its stream."""
    for name in _GROWING[type(state)]:
        section.put(name, getattr(state, name).values)
    for name in _ARRAYS[type(state)]:
        section.put(name, getattr(state, name))
    section.facts |= {"passes": int(state.passes), "n_rows": int(state.n_rows)}
    model_files.put_trace(section.open("trace"), state.trace)
    _put_support(section.open("support"), state.support)


def take_state(section: Section, n_classes: int, learner: DualLearner) -> DualState | BudgetState:
    """The state that `put_state` kept, of a learner like this one."""
    counts = section.tensor("counts", np.int64, (5,))
    section.require((counts >= 0).all(), f"{section.place('counts')} are {counts.tolist()}")
    n_rows = section.fact("n_rows", int)
    origins = section.indices("origins", (None,), n_rows)
    shared: dict[str, Any] = {
        "support": _take_support(section.part("support"), origins),
        "origins": Growing(origins),
        "counts": counts,
        "measures": section.finite("measures", np.float64, (5,)),
        "trace": model_files.take_trace(section.part("trace")),
        "passes": section.fact("passes", int),
        "n_rows": n_rows,
    }
    if isinstance(learner, BudgetLearner):
        return BudgetState(n_classes, **_budgeted(section, n_classes, learner, len(origins)), **shared)
    return DualState(**_updates(section, n_classes, learner, len(origins), int(counts[EXAMPLES])), **shared)


def _updates(section: Section, n_classes: int, learner: DualLearner, size: int, examples: int) -> dict[str, Any]:
    """Which row, which vector, with which sign and when."""
    n_vectors = n_classes if n_classes > 2 else 1
    slots = section.indices("slots", (None,), size)
    vectors = section.indices("vectors", (len(slots),), n_vectors)
    signs = section.finite("signs", np.float64, (len(slots),))
    at = section.indices("examples", (len(slots),), examples + 1)
    born = section.indices("born", (n_vectors,), examples + 1)
    sound = isinstance(learner, ResidualLearner) or (np.abs(signs) == 1.0).all()
    section.require(sound, f"{section.place('signs')} are not all +1 or -1")
    section.require((at >= 1).all() and (at[1:] >= at[:-1]).all(), f"{section.place('examples')} do not rise from 1")
    if n_vectors > 1 and learner.multi_class == "direct":
        paired = len(slots) % 2 == 0 and (signs[::2] > 0.0).all() and (signs[1::2] < 0.0).all()
        section.require(paired, f"{section.path} holds updates that do not come in twos")
    return {
        "born": born,
        "slots": Growing(slots),
        "vectors": Growing(vectors),
        "signs": Growing(signs),
        "examples": Growing(at),
    }


def _budgeted(section: Section, n_classes: int, learner: BudgetLearner, size: int) -> dict[str, Any]:
    """Weights from 0 to 1 of rows with a length, no more than the budget has room for."""
    section.require(size <= learner.budget, f"{section.path} holds {size} rows on a budget of {learner.budget}")
    section.require(n_classes == 2 or learner.multi_class == "direct", f"{n_classes} classes share a budget")
    alpha, lengths = (section.finite(name, np.float64, (size,)) for name in ("alpha", "lengths"))
    winners, rivals = (section.indices(name, (size,), n_classes) for name in ("winners", "rivals"))
    sound = (alpha >= 0.0).all() and (alpha <= 1.0).all() and (lengths > 0.0).all() and (winners != rivals).all()
    section.require(sound, f"{section.path} holds weights that no run on a budget has")
    return {"alpha": alpha, "winners": winners, "rivals": rivals, "lengths": lengths}


def _put_support(section: Section, support: Support) -> None:
    kind = support.kind or "none"
    section.facts["kind"] = kind
    if kind == "dense":
        section.put("rows", support.points.data)
    elif kind == "sparse":
        csr = support.points.data
        section.facts["columns"] = int(csr.shape[1])
        for name in ("data", "indices", "indptr"):
            section.put(name, getattr(csr, name))
    elif kind == "objects":
        model_files.put_values(section, support.points.data.tolist())


def _take_support(section: Section, origins: np.ndarray) -> Support:
    kind, size = section.fact("kind", str), len(origins)
    section.require(kind in _KINDS and (kind == "none") == (size == 0), f"{section.path} is of kind {kind!r}")
    if kind == "none":
        return Support()
    if kind == "kernel rows":
        return Support(Points(origins[:, None].copy(), 0, True))
    if kind == "objects":
        objects = model_files.take_values(section)
        section.require(len(objects) == size, f"{section.path} holds {len(objects)} objects, expected {size}")
        return Support(Points.of_objects(objects))
    try:
        rows = Rows.of(_take_dense(section, size) if kind == "dense" else _take_sparse(section, size))
        rows.require_numbers()
    except (NovikoffError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        section.fail(str(error), error)
    return Support(Points.of(rows))


def _take_dense(section: Section, size: int) -> np.ndarray:
    return section.finite("rows", (np.float32, np.float64), (size, None))


def _take_sparse(section: Section, size: int) -> sp.csr_array:
    """Compiled code does not check its indices: Rows does, for a matrix that scipy makes."""
    data = section.finite("data", np.float64, (None,))
    columns = section.fact("columns", int)
    indices = section.indices("indices", (len(data),), columns, (np.int32, np.int64))
    indptr = section.tensor("indptr", (np.int32, np.int64), (size + 1,))
    section.require(
        indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all(),
        f"{section.place('indptr')} do not rise from 0 to the number of entries",
    )
    return sp.csr_array((data, indices, indptr), shape=(size, columns))

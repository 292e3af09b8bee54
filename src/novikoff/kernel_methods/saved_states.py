"""States of kernel learners in model files: the kept rows and the updates in order.

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
from novikoff.kernel_methods.dual import DualLearner
from novikoff.kernel_methods.dual_state import DualState
from novikoff.kernel_methods.points import GrowingArray, Points, Support
from novikoff.kernel_methods.regression import ResidualLearner
from novikoff.model_files import Section

__all__ = ["read_state", "write_state"]

_ARRAYS = {
    DualState: ("born", "counts", "measures"),
    BudgetState: ("alpha", "winners", "rivals", "lengths", "counts", "measures"),
}
_GROWING = {DualState: ("origins", "slots", "vectors", "signs", "examples"), BudgetState: ("origins",)}
_KINDS = ("none", "dense", "sparse", "kernel rows", "objects")


def write_state(section: Section, state: DualState | BudgetState) -> None:
    """Write a state to a section."""
    for name in _GROWING[type(state)]:
        section.add_tensor(name, getattr(state, name).values)
    for name in _ARRAYS[type(state)]:
        section.add_tensor(name, getattr(state, name))
    section.facts |= {"passes": int(state.passes), "n_rows": int(state.n_rows)}
    model_files.write_trace(section.add_part("trace"), state.trace)
    _write_support(section.add_part("support"), state.support)


def read_state(section: Section, n_classes: int, learner: DualLearner) -> DualState | BudgetState:
    """Return the state in a section, of a learner like this one."""
    counts = section.tensor("counts", np.int64, (5,))
    section.require((counts >= 0).all(), f"{section.full_name('counts')} are {counts.tolist()}")
    n_rows = section.fact("n_rows", int)
    origins = section.indices("origins", (None,), n_rows)
    shared: dict[str, Any] = {
        "support": _read_support(section.part("support"), origins),
        "origins": GrowingArray(origins),
        "counts": counts,
        "measures": section.finite("measures", np.float64, (5,)),
        "trace": model_files.read_trace(section.part("trace")),
        "passes": section.fact("passes", int),
        "n_rows": n_rows,
    }
    if isinstance(learner, BudgetLearner):
        return BudgetState(n_classes, **_read_budget(section, n_classes, learner, len(origins)), **shared)
    return DualState(**_read_updates(section, n_classes, learner, len(origins), int(counts[EXAMPLES])), **shared)


def _read_updates(section: Section, n_classes: int, learner: DualLearner, size: int, examples: int) -> dict[str, Any]:
    """Return the arrays of updates: row, vector, sign and example of each."""
    n_vectors = n_classes if n_classes > 2 else 1
    slots = section.indices("slots", (None,), size)
    vectors = section.indices("vectors", (len(slots),), n_vectors)
    signs = section.finite("signs", np.float64, (len(slots),))
    at = section.indices("examples", (len(slots),), examples + 1)
    born = section.indices("born", (n_vectors,), examples + 1)
    sound = isinstance(learner, ResidualLearner) or (np.abs(signs) == 1.0).all()
    section.require(sound, f"{section.full_name('signs')} are not all +1 or -1")
    section.require(
        (at >= 1).all() and (at[1:] >= at[:-1]).all(), f"{section.full_name('examples')} do not rise from 1"
    )
    if n_vectors > 1 and learner.multi_class == "direct":
        paired = len(slots) % 2 == 0 and (signs[::2] > 0.0).all() and (signs[1::2] < 0.0).all()
        section.require(paired, f"{section.path} holds updates that do not come in twos")
    return {
        "born": born,
        "slots": GrowingArray(slots),
        "vectors": GrowingArray(vectors),
        "signs": GrowingArray(signs),
        "examples": GrowingArray(at),
    }


def _read_budget(section: Section, n_classes: int, learner: BudgetLearner, size: int) -> dict[str, Any]:
    """Return the arrays of a state on a budget: weights from 0 to 1 of at most so many rows with a norm."""
    section.require(size <= learner.budget, f"{section.path} holds {size} rows on a budget of {learner.budget}")
    section.require(n_classes == 2 or learner.multi_class == "direct", f"{n_classes} classes share a budget")
    alpha, lengths = (section.finite(name, np.float64, (size,)) for name in ("alpha", "lengths"))
    winners, rivals = (section.indices(name, (size,), n_classes) for name in ("winners", "rivals"))
    sound = (alpha >= 0.0).all() and (alpha <= 1.0).all() and (lengths > 0.0).all() and (winners != rivals).all()
    section.require(sound, f"{section.path} holds weights that no run on a budget has")
    return {"alpha": alpha, "winners": winners, "rivals": rivals, "lengths": lengths}


def _write_support(section: Section, support: Support) -> None:
    kind = support.kind or "none"
    section.facts["kind"] = kind
    if kind == "dense":
        section.add_tensor("rows", support.points.data)
    elif kind == "sparse":
        csr = support.points.data
        section.facts["columns"] = int(csr.shape[1])
        for name in ("data", "indices", "indptr"):
            section.add_tensor(name, getattr(csr, name))
    elif kind == "objects":
        model_files.write_values(section, support.points.data.tolist())


def _read_support(section: Section, origins: np.ndarray) -> Support:
    kind, size = section.fact("kind", str), len(origins)
    section.require(kind in _KINDS and (kind == "none") == (size == 0), f"{section.path} is of kind {kind!r}")
    if kind == "none":
        return Support()
    if kind == "kernel rows":
        return Support(Points(origins[:, None].copy(), 0, True))
    if kind == "objects":
        objects = model_files.read_values(section)
        section.require(len(objects) == size, f"{section.path} holds {len(objects)} objects, expected {size}")
        return Support(Points.of_objects(objects))
    try:
        rows = Rows.of(_read_dense(section, size) if kind == "dense" else _read_sparse(section, size))
        rows.require_numbers()
    except (NovikoffError, ValueError) as error:
        if isinstance(error, ModelFileError):
            raise
        section.fail(str(error), error)
    return Support(Points.of(rows))


def _read_dense(section: Section, size: int) -> np.ndarray:
    return section.finite("rows", (np.float32, np.float64), (size, None))


def _read_sparse(section: Section, size: int) -> sp.csr_array:
    """Return sparse rows; their column indices are checked here, since compiled code does not."""
    data = section.finite("data", np.float64, (None,))
    columns = section.fact("columns", int)
    indices = section.indices("indices", (len(data),), columns, (np.int32, np.int64))
    indptr = section.tensor("indptr", (np.int32, np.int64), (size + 1,))
    section.require(
        indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all(),
        f"{section.full_name('indptr')} do not rise from 0 to the number of entries",
    )
    return sp.csr_array((data, indices, indptr), shape=(size, columns))

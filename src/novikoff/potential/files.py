"""Kernel models in model files: the rows that were erred on and the updates in order, from which all else follows.

learner     kernel, its parameters, multi_class, ties; of a function only the name
labels, names, parameters, fitted      as in every model file: see `novikoff.store`
state       .born, .origins, .slots, .vectors, .signs, .examples, .counts, .measures, .trace; passes, n_rows
state.support    the kept rows: .rows, or .data, .indices, .indptr, or text (.bytes, .offsets); of a precomputed
            kernel none, as .origins says which they were
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from novikoff import store
from novikoff.errors import ModelFileError, NovikoffError
from novikoff.kernels.additive import EXAMPLES
from novikoff.learner import TIES
from novikoff.potential.dual import MULTI_CLASS, DualLearner, DualState
from novikoff.potential.functions import NAMES, Potential, UsersPotential
from novikoff.potential.model import KernelModel
from novikoff.potential.points import Growing, Points, Support
from novikoff.rows import Rows
from novikoff.store import Section
from novikoff.store.models import _put_labels, _take_labels
from novikoff.store.states import _put_trace, _take_trace

__all__ = ["KIND", "SavedKernel", "save", "taken"]

KIND = "kernel-perceptron"

_GROWING = {"origins": np.int64, "slots": np.int64, "vectors": np.int64, "signs": np.float64, "examples": np.int64}
_KINDS = ("none", "dense", "sparse", "kernel rows", "objects")


class SavedKernel(NamedTuple):
    """A kernel model as data: the model, what its constructor was given, and what `fit` said of itself."""

    model: KernelModel
    parameters: dict[str, Any]
    fitted: dict[str, Any]


def save(
    path: str | os.PathLike[str], model: KernelModel, parameters: Mapping[str, Any], fitted: Mapping[str, Any]
) -> None:
    """Write a model to a file. One that could not be read back is refused before the old file is touched."""
    root = Section("The model cannot be saved")
    _put_learner(root.open("learner"), model.learner)
    _put_labels(root.open("labels"), model.labels)
    root.facts |= {"n_features": model.n_features, "has_names": model.vocabulary is not None}
    if model.vocabulary is not None:
        store.put_values(root.open("names"), model.vocabulary)
    _put_state(root.open("state"), model.state)
    store.put_named(root.open("parameters"), {name: value for name, value in parameters.items() if name != "kernel"})
    store.put_named(root.open("fitted"), fitted)
    function = model.learner.potential
    _taken(root, function.function if isinstance(function, UsersPotential) else None)
    store.write(path, KIND, root)


def taken(path: str | os.PathLike[str], root: Section, kernel: Callable[[Any, Any], Any] | None = None) -> SavedKernel:
    """The model that a file's content makes; `kernel` is its kernel if that is a function."""
    name = root.part("learner").facts.get("function")
    if name is None and kernel is not None:
        raise ModelFileError(f"{os.fspath(path)} knows its kernel; kernel= is only for models trained with a function.")
    if name is not None and not callable(kernel):
        raise ModelFileError(f"{os.fspath(path)} was trained with a function of its user as kernel, {name!r}, and a "
                             f"file holds no code: pass that function, nk.load({os.fspath(path)!r}, "
                             f"kernel={name}).")  # fmt: skip
    return _taken(root, kernel)


def _taken(root: Section, kernel: Callable[[Any, Any], Any] | None) -> SavedKernel:
    learner = _take_learner(root.part("learner"), kernel)
    labels = _take_labels(root.part("labels"))
    state = _take_state(root.part("state"), len(labels) if len(labels) > 2 else 1, learner)
    columns = None if root.facts.get("n_features") is None else root.fact("n_features", int)
    names = store.take_values(root.part("names")) if root.fact("has_names", bool) else None
    if names is not None:
        root.require(len(set(names)) == len(names) == columns, "its names are not one for each feature")
    if len(state.support) and state.support.kind in ("dense", "sparse"):
        width = state.support.points.data.shape[1]
        root.require(columns is not None and width <= columns, f"rows of {width} columns for {columns} features")
    parameters = store.take_named(root.part("parameters"))
    parameters["kernel"] = kernel if kernel is not None else root.part("learner").fact("kernel", str)
    fitted = store.take_named(root.part("fitted"))
    return SavedKernel(KernelModel(learner, labels, state, columns, names), parameters, fitted)


# -- the learner


def _put_learner(section: Section, learner: DualLearner) -> None:
    function = learner.potential
    section.facts |= {"multi_class": learner.multi_class, "ties": learner.ties, "constant": function.constant}
    if isinstance(function, UsersPotential):
        section.facts["function"] = getattr(function.function, "__qualname__", type(function.function).__name__)
        return
    section.facts |= {"kernel": function.name, "degree": float(function.degree), "gamma": function.gamma,
                      "coef0": function.coef0}  # fmt: skip


def _take_learner(section: Section, kernel: Callable[[Any, Any], Any] | None) -> DualLearner:
    multi_class, ties = section.fact("multi_class", str), section.fact("ties", str)
    constant = section.fact("constant", float)
    section.require(multi_class in MULTI_CLASS and ties in TIES and constant in (0.0, 1.0), "its learner is unknown")
    if kernel is not None:
        return DualLearner(UsersPotential(kernel, constant), multi_class, ties)
    name = section.fact("kernel", str)
    section.require(name in NAMES, f"its kernel is {name!r}")
    degree, gamma, coef0 = (section.fact(each, float) for each in ("degree", "gamma", "coef0"))
    section.require(degree > 0.0 and gamma > 0.0, f"its kernel has degree {degree} and gamma {gamma}")
    return DualLearner(Potential(name, degree, gamma, coef0, constant), multi_class, ties)


# -- the state


def _put_state(section: Section, state: DualState) -> None:
    for name in _GROWING:
        section.put(name, getattr(state, name).values)
    for name in ("born", "counts", "measures"):
        section.put(name, getattr(state, name))
    section.facts |= {"passes": int(state.passes), "n_rows": int(state.n_rows)}
    _put_trace(section.open("trace"), state.trace)
    _put_support(section.open("support"), state.support)


def _take_state(section: Section, n_vectors: int, learner: DualLearner) -> DualState:
    counts = section.tensor("counts", np.int64, (5,))
    examples = int(counts[EXAMPLES])
    section.require((counts >= 0).all(), f"{section.place('counts')} are {counts.tolist()}")
    n_rows = section.fact("n_rows", int)
    origins = section.indices("origins", (None,), n_rows)
    slots = section.indices("slots", (None,), len(origins))
    vectors = section.indices("vectors", (len(slots),), n_vectors)
    signs = section.tensor("signs", np.float64, (len(slots),))
    at = section.indices("examples", (len(slots),), examples + 1)
    born = section.indices("born", (n_vectors,), examples + 1)
    section.require((np.abs(signs) == 1.0).all(), f"{section.place('signs')} are not all +1 or -1")
    section.require((at >= 1).all() and (at[1:] >= at[:-1]).all(), f"{section.place('examples')} do not rise from 1")
    if n_vectors > 1 and learner.multi_class == "direct":
        paired = len(slots) % 2 == 0 and (signs[::2] > 0.0).all() and (signs[1::2] < 0.0).all()
        section.require(paired, f"{section.path} holds updates that do not come in twos")
    return DualState(
        born=born,
        support=_take_support(section.part("support"), origins),
        origins=Growing(origins),
        slots=Growing(slots),
        vectors=Growing(vectors),
        signs=Growing(signs),
        examples=Growing(at),
        counts=counts,
        measures=section.finite("measures", np.float64, (5,)),
        trace=_take_trace(section.part("trace")),
        passes=section.fact("passes", int),
        n_rows=n_rows,
    )


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
        store.put_values(section, support.points.data.tolist())


def _take_support(section: Section, origins: np.ndarray) -> Support:
    kind, size = section.fact("kind", str), len(origins)
    section.require(kind in _KINDS and (kind == "none") == (size == 0), f"{section.path} is of kind {kind!r}")
    if kind == "none":
        return Support()
    if kind == "kernel rows":
        return Support(Points(origins[:, None].copy(), 0, True))
    if kind == "objects":
        objects = store.take_values(section)
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
    section.require(indptr[0] == 0 and indptr[-1] == len(data) and (np.diff(indptr) >= 0).all(),
                    f"{section.place('indptr')} do not rise from 0 to the number of entries")  # fmt: skip
    return sp.csr_array((data, indices, indptr), shape=(size, columns))

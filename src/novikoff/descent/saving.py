"""Linear models in model files.

loss, is_named       the name of the loss, null for a custom one; whether the constructor was given the name
vectors              the weights of each target, the bias last
run0, run1, ...      the state of sgd for each target: w, bias, sums, sums_bias, counts, measures
trace0, trace1, ...  for each target: passes, objective, norm of the gradient, seconds, duality gap
parameters, fitted   as in every model file: see `novikoff.model_files`; classes_ is among the latter
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from novikoff import losses, model_files
from novikoff._compiled.loops import descent
from novikoff.descent.model import LinearModel
from novikoff.descent.stochastic import SgdState
from novikoff.descent.trace import DescentTrace
from novikoff.errors import ModelFileError
from novikoff.model_files import Section

__all__ = ["KINDS", "SavedLinear", "read_saved", "save"]

KINDS = ("linear-classifier", "linear-regressor")

_ARRAYS = {"w": np.float64, "bias": np.float64, "sums": np.float64, "sums_bias": np.float64}
_NAMES = {losses.resolve(name): name for name in losses.NAMES}


class SavedLinear(NamedTuple):
    """A linear estimator as data.

    Attributes
    ----------
    kind : str
        One of KINDS.
    model : LinearModel
    parameters : dict
        What the constructor was given.
    fitted : dict
        The attributes that learning has set: n_features_in_, feature_names_in_, classes_.
    """

    kind: str
    model: LinearModel
    parameters: dict[str, Any]
    fitted: dict[str, Any]


def save(path: str | os.PathLike[str], saved: SavedLinear, build: Callable[[SavedLinear], object]) -> None:
    """Write a model to a file.

    If the content cannot be read again and made an estimator by `build`, an error is raised and the old file stays.
    """
    root = Section("The model cannot be saved")
    loss = losses.resolve(saved.parameters["loss"])
    root.facts["loss"] = _NAMES.get(loss)
    root.facts["is_named"] = isinstance(saved.parameters["loss"], str)
    _write_model(root, saved.model)
    model_files.write_named(root.add_part("parameters"), {k: v for k, v in saved.parameters.items() if k != "loss"})
    model_files.write_named(root.add_part("fitted"), saved.fitted)
    model_files.write(path, saved.kind, root, lambda read_back: build(_read_saved(saved.kind, read_back, loss)))


def read_saved(path: str | os.PathLike[str], kind: str, root: Section, loss: losses.Loss | None = None) -> SavedLinear:
    """Return the model that a file contains; `loss` is its loss if that is a custom one."""
    name = root.facts.get("loss")
    if name is not None and loss is not None:
        raise ModelFileError(f"{os.fspath(path)} knows its loss; loss= is only for models trained with one's own.")
    if name is None and not isinstance(loss, losses.Custom):
        raise ModelFileError(
            f"{os.fspath(path)} was trained with a loss of its user, and a file holds no code: pass "
            f"it, nk.load({os.fspath(path)!r}, loss=losses.Custom(...))."
        )
    return _read_saved(kind, root, loss)


def _read_saved(kind: str, root: Section, loss: losses.Loss | None) -> SavedLinear:
    model = _read_model(root)
    parameters: Mapping[str, Any] = model_files.read_named(root.part("parameters"))
    fitted = model_files.read_named(root.part("fitted"))
    name = root.facts.get("loss")
    if name is not None:
        root.require(name in losses.NAMES, f"its loss is {name!r}")
        loss = name if root.fact("is_named", bool) else losses.resolve(name)
    columns = fitted.get("n_features_in_", model.n_features)
    root.require(columns == model.n_features, f"{columns!r} columns for {model.n_features} weights")
    names = fitted.get("feature_names_in_")
    fits = names is None or (isinstance(names, np.ndarray) and names.shape == (model.n_features,))
    root.require(fits, "its names are not one for each feature")
    classes = fitted.get("classes_")
    if kind == KINDS[0]:
        n_classes = len(classes) if isinstance(classes, np.ndarray) and classes.ndim == 1 else 0
        fits = n_classes >= 2 and len(model.vectors) == (1 if n_classes == 2 else n_classes)
        root.require(fits, "its classes do not go with its weights")
    else:
        root.require(len(model.vectors) == 1 and classes is None, "it is of several targets")
    return SavedLinear(kind, model, {"loss": loss, **parameters}, fitted)


def _write_model(root: Section, model: LinearModel) -> None:
    model = copy(model)  # other threads may learn meanwhile
    root.add_tensor("vectors", model.vectors)
    root.facts |= {
        "passes": int(model.passes),
        "converged": bool(model.converged),
        "lacks_minimum": bool(model.lacks_minimum),
        "n_runs": len(model.runs),
        "n_traces": len(model.traces),
    }
    for number, run in enumerate(model.runs):
        part = root.add_part(f"run{number}")
        for name in (*_ARRAYS, "counts", "measures"):
            part.add_tensor(name, getattr(run, name))
    for number, trace in enumerate(model.traces):
        root.add_tensor(f"trace{number}", np.array(trace.points, float).reshape(-1, 5))


def _read_model(root: Section) -> LinearModel:
    vectors = root.finite("vectors", np.float64, (None, None))
    n_targets, size = vectors.shape
    n_runs, n_traces = root.fact("n_runs", int), root.fact("n_traces", int)
    root.require(size >= 1 and n_runs in (0, n_targets) and n_traces in (0, n_targets), f"{n_runs} runs")
    runs = [_read_run(root.part(f"run{number}"), size - 1) for number in range(n_runs)]
    traces = []
    for number in range(n_traces):
        trace = DescentTrace()
        points = root.tensor(f"trace{number}", np.float64, (None, None))
        root.require(points.shape[1] in (4, 5), f"{root.full_name(f'trace{number}')} has {points.shape[1]} columns")
        if points.shape[1] == 4:  # of a version without duality gaps
            points = np.column_stack([points, np.full(len(points), np.nan)])
        trace.points = [tuple(point) for point in points.tolist()]
        traces.append(trace)
    model = LinearModel(vectors, runs, traces, root.fact("passes", int), root.fact("converged", bool))
    model.lacks_minimum = "lacks_minimum" in root.facts and root.fact("lacks_minimum", bool)
    return model


def _read_run(part: Section, n_features: int) -> SgdState:
    averages = part.tensor("sums_bias", np.float64, (None,)).size
    part.require(averages in (0, 1), f"{part.full_name('sums_bias')} has {averages} entries")
    lengths = {"w": n_features, "bias": 1, "sums": n_features * averages, "sums_bias": averages}
    arrays = {name: part.finite(name, dtype, (lengths[name],)) for name, dtype in _ARRAYS.items()}
    counts, measures = part.tensor("counts", np.int64, (3,)), part.finite("measures", np.float64, (None,))
    part.require(len(measures) in (5, 6, 7), f"{part.full_name('measures')} has {len(measures)} entries")
    if len(measures) == 5:  # of a version without importances
        measures = np.append(measures, 0.0)
    if len(measures) == 6:  # of a version whose steps were fitted to the longest row: they stay as they were
        longest = max(measures[descent.SQUARED_RADIUS], measures[descent.WEIGHTED_RADIUS])
        measures = np.append(measures, np.sqrt(longest) * counts[descent.EXAMPLES])
    part.require((counts >= 0).all() and (measures >= 0.0).all() and measures[0] > 0.0, f"{part.path} is no run")
    return SgdState(**arrays, counts=counts, measures=measures)

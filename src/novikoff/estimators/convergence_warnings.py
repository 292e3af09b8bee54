"""Warnings of a fit that did not converge, with advice that has not been followed already."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from novikoff import hypotheses, losses
from novikoff.descent.model import LinearModel
from novikoff.descent.options import Solver
from novikoff.inputs.rows import Rows
from novikoff.kernel_methods.model import KernelCycleResult
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.passes import CycleResult

__all__ = ["warn_of_descent", "warn_of_kernel_perceptron", "warn_of_missing_minimum", "warn_of_perceptron"]

_UNEQUAL = 3.0  # columns whose sizes differ by more than this factor are not scaled


def warn_of_perceptron(run: CycleResult, rows: Rows, learner: Learner) -> None:
    """Warn that fit did not converge; call it from `fit` itself."""
    found = f"{run.last_pass_mistakes} mistakes" if run.last_pass_mistakes else f"{run.last_pass_updates} updates"
    if run.stalled:
        message = (
            "The perceptron did not converge, and no further pass would change the weights that learning goes on from: "
            f"pass {run.passes} still made {found} on {len(rows)} rows, but no update changes them any more. "
            + _explain_stall(rows, learner)
        )
    else:
        message = (
            f"The perceptron did not converge: pass {run.passes}, the last that max_iter allows, still made {found} on "
            f"{len(rows)} rows. If no half-space separates the classes no number of passes will do: "
            + _advise_for_inseparable(learner)
        )
    warnings.warn(message, ConvergenceWarning, stacklevel=4)


def _explain_stall(rows: Rows, learner: Learner) -> str:
    lengths = rows.squared_norms + learner.constant
    if not lengths.any():
        return "All rows are 0: use fit_intercept=True, or other features."
    advice = "Leave out rows of zeros. " if not lengths.all() else ""
    if lengths[lengths > 0.0].min() < lengths.max():  # else they have one length, and to scale them changes nothing
        advice += "Scale the rows (sklearn.preprocessing.StandardScaler, or Normalizer)."
    return (
        "Rows that it errs on are 0, or so small beside the weights that w + x is rounded to w in double precision. "
        + advice
    ).rstrip()


def _advise_for_inseparable(learner: Learner) -> str:
    if learner.engine is not None:
        return (
            "use a small max_iter. Even if one does, this rule need not find it, since its steps grow shorter: "
            "rule='perceptron' would."
        )
    if isinstance(learner.hypothesis, hypotheses.Last):
        return "use hypothesis='averaged', 'voted' or 'pocket' with a small max_iter. Otherwise increase max_iter."
    name = type(learner.hypothesis).__name__.lower()
    return f"hypothesis={name!r} is meant for that, and a smaller max_iter is enough. Otherwise increase max_iter."


def warn_of_kernel_perceptron(run: KernelCycleResult, n_rows: int, hypothesis: str, kernel: Any) -> None:
    """Warn that fit did not converge; call it from `fit` itself."""
    need_not = (
        "With hypothesis='voted' or 'averaged' that need not matter; otherwise"
        if hypothesis == "last"
        else f"With hypothesis={hypothesis!r} that need not matter; if it does,"
    )
    wider = {"poly": " (a larger degree)", "rbf": " (a larger gamma)", "laplacian": " (a larger gamma)"}
    hint = wider.get(kernel, "") if isinstance(kernel, str) else ""
    warnings.warn(
        f"The kernel perceptron did not converge: pass {run.passes}, the last that max_iter allows, still made "
        f"{run.mistakes_left} mistakes on {n_rows} rows. {need_not} increase max_iter, or choose a kernel that "
        f"separates the classes{hint}.",
        ConvergenceWarning,
        stacklevel=4,
    )


def warn_of_descent(model: LinearModel, tol: float, solver: Solver, loss: losses.Loss, rows: Rows) -> None:
    """Warn that fit did not converge; call it from a method that `fit` calls."""
    if model.is_stuck:
        ended = (
            f"after {model.passes} passes no step lowers the objective any further in double precision, and "
            f"tol={tol:g} is not reached"
        )
        advice = ["Increase tol"]
    else:
        ended = f"after {model.passes} passes, all that max_iter allows, tol={tol:g} is not reached"
        advice = ["Increase max_iter or tol"]
    gap = max((trace.gap[-1] for trace in model.traces), default=np.nan)
    proved = "" if np.isnan(gap) else f" F is proved to be at most {gap:.3g} above its minimum."
    if _are_columns_unscaled(rows):
        advice.append("scale the columns (sklearn.preprocessing.StandardScaler, for sparse rows MaxAbsScaler)")
    if solver != "newton" and losses.is_smooth(loss):
        advice.append("use solver='newton', which takes few steps for this loss")
    elif solver != "dual" and isinstance(loss, losses.Hinge):
        advice.append("use solver='dual', which needs no step size, with a penalty alpha > 0")
    warnings.warn(
        f"The descent did not converge: {ended}.{proved} {'; or '.join(advice)}.",
        ConvergenceWarning,
        stacklevel=5,
    )


def warn_of_missing_minimum(reason: str) -> None:
    """Warn that there is nothing to converge to; call it from a method that `fit` calls."""
    warnings.warn(
        f"The objective has no minimum: {reason}, so that without a penalty the logistic loss falls for ever as the "
        "weights grow. What was fitted depends on tol and max_iter alone. Use alpha > 0, such as alpha=1e-4.",
        ConvergenceWarning,
        stacklevel=5,
    )


def _are_columns_unscaled(rows: Rows) -> bool:
    """Return whether some columns are much longer than others, or far from 0, which makes every descent slow.

    Of sparse rows the largest values are compared, since columns differ in how often they are 0.
    """
    if rows.is_sparse:
        sizes = np.zeros(rows.n_features)
        np.maximum.at(sizes, np.asarray(rows.indices), np.abs(rows.data))
    else:
        sizes = rows.data.std(axis=0, dtype=np.float64)
        if (np.abs(rows.data.mean(axis=0, dtype=np.float64)) > _UNEQUAL * sizes)[sizes > 0.0].any():
            return True
    sizes = sizes[sizes > 0.0]
    return bool(sizes.size and sizes.max() > _UNEQUAL * sizes.min())

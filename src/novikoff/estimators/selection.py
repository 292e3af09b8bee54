"""nk.select: choose the parameters of any scikit-learn estimator by validation error."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import ParameterGrid, check_cv, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_consistent_length

from novikoff._compiled import working_time
from novikoff.errors import DataError
from novikoff.inputs.sparse import to_checked_csr
from novikoff.selection.choosing import Parameters, Selection, Trial, choose, format_parameters, size_of, spread_of

__all__ = ["select"]


def select(
    estimator: Any,
    grid: Any,
    X: Any,
    y: Any,
    *,
    validation: float | None = None,
    cv: Any = None,
    test: Any = None,
    error: Callable[[Any, Any], float] | None = None,
    random_state: int | None = 0,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Selection:
    """Pick the candidate with the lowest validation error, fit it again on all rows, and test it once.

    Of candidates with equal error the one with the smaller model is chosen, then the first in the grid. The test rows
    are not used before the choice is made.

    Parameters
    ----------
    estimator : estimator
        Any estimator with scikit-learn's interface, also a pipeline. It is cloned, not changed.
    grid : dict or list of dicts
        Names of parameters, and the values to try in all combinations; or a list of such dicts.
    X : array-like or sparse matrix of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    validation : float, default=None
        The share of rows to hold out; 0.2 if neither this nor `cv` is given. Rows are drawn by `random_state`,
        stratified by class.
    cv : int, splitter or iterable of (train, validation) rows, default=None
        Cross-validate instead.
    test : (X, y), default=None
        Rows to report the error on.
    error : callable, default=None
        ``error(y_true, y_predicted)``, to be minimized. By default the share of wrong labels, or for regressors the
        mean squared error.
    random_state : int or None, default=0
        Seed of the split, and of estimators whose own `random_state` is None, so that the choice is reproducible.
    n_jobs : int, default=None
        Number of candidates to fit at once, in threads.
    verbose : int, default=0
        Print a line for each candidate.

    Returns
    -------
    Selection
        best_estimator_, best_params_, best_error_, test_error_, and results_, the whole table.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import novikoff as nk
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"loss": ["logistic", "squared-hinge"], "alpha": [1e-4, 1e-1]}
    >>> newton = nk.LinearClassifier(solver="newton")
    >>> found = nk.select(newton, grid, X[::2], y[::2], cv=3, test=(X[1::2], y[1::2]))
    >>> found.best_params_["alpha"], len(found.trials)
    (0.0001, 4)
    """
    check_consistent_length(X, y)
    if sp.issparse(X):
        X = to_checked_csr(X).matrix  # before rows are chosen from it
    y = np.asarray(y)
    if test is not None:
        _require_test(test, X, y if is_classifier(estimator) else None)
    measure = error or (_share_wrong if is_classifier(estimator) else _mean_squared)
    splits = _make_splits(estimator, y, validation, cv, random_state)

    def candidate(parameters: Parameters) -> Any:
        return _set_seeds(clone(estimator).set_params(**parameters), random_state)

    def run_trial(parameters: Parameters) -> Trial:
        return _run_trial(candidate(parameters), parameters, X, y, splits, measure)

    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", ConvergenceWarning
        )  # the table has it for each trial, and the last fit warns again
        found = choose(
            list(ParameterGrid(grid)), run_trial, n_jobs=n_jobs, after_each=_print_trial if verbose else None
        )
    found.best_estimator_ = candidate(found.best_params_).fit(X, y)
    if test is not None:
        found.test_error_ = float(measure(np.asarray(test[1]), found.best_estimator_.predict(test[0])))
    return found


def _set_seeds(estimator: Any, seed: int | None) -> Any:
    """Set every random_state that is None, of the estimator and its parts, to a seed, and return the estimator."""
    drawn = [
        name
        for name, value in estimator.get_params().items()
        if value is None and name.split("__")[-1] == "random_state"
    ]
    return estimator.set_params(**dict.fromkeys(drawn, seed))


def _make_splits(
    estimator: Any, y: np.ndarray, validation: float | None, cv: Any, random_state: int | None
) -> list[Any]:
    """Return pairs of rows to fit on and rows to validate on."""
    if validation is not None and cv is not None:
        raise DataError("validation= holds rows out once, cv= several times: give one of them.")
    rows = np.arange(len(y))
    if cv is not None:
        return list(check_cv(cv, y, classifier=is_classifier(estimator)).split(rows, y))
    share = 0.2 if validation is None else validation
    if not 0.0 < share < 1.0:
        raise DataError(f"validation must be a share of the rows, above 0 and below 1; found {share!r}.")
    classes = np.unique(y, return_counts=True)[1] if is_classifier(estimator) else np.zeros(1)
    # A class with a single row cannot be on both sides; then the split is not stratified.
    can_stratify = classes.min() >= 2 and min(share, 1.0 - share) * len(y) >= len(classes)
    return [train_test_split(rows, test_size=share, random_state=random_state, stratify=y if can_stratify else None)]


def _run_trial(
    candidate: Any,
    parameters: Parameters,
    X: Any,
    y: np.ndarray,
    splits: list[Any],
    measure: Callable[[Any, Any], float],
) -> Trial:
    errors, train_errors, seconds, sizes, ends = [], [], 0.0, [], []
    for train, held_out in splits:
        own_X, own_y = _safe_indexing(X, train), y[train]
        model = clone(candidate)
        began = working_time()
        model.fit(own_X, own_y)
        seconds += working_time() - began
        errors.append(measure(y[held_out], model.predict(_safe_indexing(X, held_out))))
        train_errors.append(measure(own_y, model.predict(own_X)))
        sizes.append(size_of(model))
        ends.append(_has_converged(model))
    found = float(np.mean(errors))
    has_spread = len(splits) > 1 or measure is _share_wrong  # one split says nothing about the spread of other errors
    spread = spread_of(errors, len(splits[0][1])) if has_spread else math.nan
    return Trial(parameters, found, spread, float(np.mean(train_errors)), seconds, int(np.mean(sizes)), all(ends))


def _print_trial(done: int, of: int, trial: Trial) -> None:
    how = trial.trouble or f"error {trial.error:.4g}, {trial.seconds:.2f} s"
    print(f"[{done}/{of}] {format_parameters(trial.parameters)}: {how}")


def _has_converged(model: Any) -> bool:
    """Return whether a fit has converged, by `converged_` or else by comparing scikit-learn's n_iter_ with max_iter.

    Of a pipeline the last step decides.
    """
    model = model[-1] if isinstance(model, Pipeline) else model
    most, made = getattr(model, "max_iter", None), getattr(model, "n_iter_", None)
    counts_trees = hasattr(model, "do_early_stopping_")
    is_told = hasattr(model, "converged_") or getattr(model, "tol", 0.0) is None or counts_trees
    if is_told or made is None or not isinstance(most, int) or most < 1:
        return bool(getattr(model, "converged_", True))
    return bool(np.max(made) < most)


def _require_test(test: Any, X: Any, labels: np.ndarray | None) -> None:
    """Raise a DataError now, rather than after all candidates, if test rows have other columns or no known label."""
    if not (isinstance(test, tuple) and len(test) == 2):
        raise DataError("test must be a pair, (X, y).")
    check_consistent_length(*test)
    if not len(np.asarray(test[1])):
        raise DataError("There are no rows to test on.")
    widths = [np.shape(rows)[1] for rows in (X, test[0]) if len(getattr(rows, "shape", ())) == 2]
    by_name = hasattr(X, "columns") and hasattr(test[0], "columns")  # a pipeline may choose some of them
    if len(set(widths)) > 1 and not by_name:
        raise DataError(f"test has rows of {widths[1]} columns, and X of {widths[0]}.")
    own = np.asarray(test[1])
    if labels is None or labels.ndim != 1 or own.ndim != 1:
        return
    if not set(labels.tolist()) & set(own.tolist()):
        raise DataError(
            f"No label of test is one of y: {own.tolist()[0]!r}, for example, is not among "
            f"{np.unique(labels).tolist()[:5]!r}. Are they of the same type?"
        )


def _share_wrong(true: Any, predicted: Any) -> float:
    return float(np.mean(np.asarray(true) != np.asarray(predicted)))


def _mean_squared(true: Any, predicted: Any) -> float:
    return float(np.mean((np.asarray(true) - np.asarray(predicted)) ** 2))

"""Choosing among candidates by their errors on held-out rows.

    train-original  =  train-subset  +  validation
    1  fit every candidate on the train-subset, count its errors on the validation rows (or cross-validate)
    2  take the lowest error; of equals the smaller model, then the one that comes first in the grid
    3  fit it again on the whole of train-original
    4  report its error on the test rows, which have not been used before

The caller defines what a candidate is and how it is tried: see `novikoff.select` and `streaming.candidates`.
"""

from __future__ import annotations

import io
import math
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from novikoff.errors import DataError, NovikoffError
from novikoff.formatting.summary import SummaryMixin
from novikoff.system.threads import limit_threads

__all__ = ["Selection", "Trial", "choose", "size_of"]

Parameters = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """The result of one candidate.

    Attributes
    ----------
    parameters : dict
    error : float
        On validation rows; NaN if it could not be tried, and `trouble` says why.
    spread : float
        The standard error of `error`.
    train_error : float
        On the rows that it learned from; not a criterion of choice.
    seconds : float
        Time of fitting.
    size : int
        Bytes of all arrays of the fitted model.
    converged : bool
        False if it ran out of passes.
    trouble : str
    """

    parameters: Parameters
    error: float = math.nan
    spread: float = math.nan
    train_error: float = math.nan
    seconds: float = math.nan
    size: int = 0
    converged: bool = True
    trouble: str = ""


@dataclass(eq=False, repr=False)
class Selection(SummaryMixin):
    """The candidate that was chosen, and the results of all.

    Attributes
    ----------
    best_params_ : dict
    best_estimator_ : estimator
        Fitted again, on all training rows.
    best_error_ : float
        Of the winner on validation rows. It is the lowest of many, so its expectation is below the true error.
    test_error_ : float or None
        Of the best estimator on the test rows: the figure to report.
    trials : list of Trial
        All candidates, in the order of the grid.
    """

    trials: list[Trial]
    best_index_: int
    best_estimator_: Any = None
    test_error_: float | None = None

    @property
    def best_params_(self) -> Parameters:
        return self.trials[self.best_index_].parameters

    @property
    def best_error_(self) -> float:
        return self.trials[self.best_index_].error

    @property
    def results_(self) -> Any:
        """The whole table, the best first: a pandas DataFrame if pandas is installed, else a dict of lists."""
        order = ranking(self.trials)
        names = list(dict.fromkeys(name for trial in self.trials for name in trial.parameters))
        table = {name: [self.trials[k].parameters.get(name) for k in order] for name in names}
        for name in ("error", "spread", "train_error", "seconds", "size", "converged", "trouble"):
            table[name] = [getattr(self.trials[k], name) for k in order]
        try:
            import pandas as pd
        except ImportError:
            return table
        return pd.DataFrame(table, index=pd.RangeIndex(1, len(order) + 1, name="rank"))

    def _lines(self) -> list[tuple[str, str]]:
        best = self.trials[self.best_index_]
        spread = "" if math.isnan(best.spread) else f" ± {best.spread:.2g}"
        lines = [
            ("candidates", f"{len(self.trials)}"),
            ("best", format_parameters(best.parameters)),
            ("validation", f"{best.error:.4g}{spread}"),
        ]
        failed = [trial for trial in self.trials if trial.trouble]
        if failed:
            lines.append(
                (
                    "left out",
                    f"{len(failed)}, the first ({format_parameters(failed[0].parameters)}): {failed[0].trouble}",
                )
            )
        if self.test_error_ is not None:
            lines.append(("test", f"{self.test_error_:.4g}"))
        return lines


def choose(
    candidates: Sequence[Parameters],
    attempt: Callable[[Parameters], Trial],
    *,
    n_jobs: int | None = None,
    after_each: Callable[[int, int, Trial], None] | None = None,
) -> Selection:
    """Try all candidates, in threads, and take the best.

    A candidate that novikoff or scikit-learn rejects cannot be chosen; its trial has the reason. If all are rejected, a
    DataError with the first reason is raised.

    Parameters
    ----------
    candidates : sequence of dicts
    attempt : callable
        ``attempt(parameters) -> Trial``. Called once for each; the result must not depend on the order.
    n_jobs : int, optional
        How many at once, as in joblib.
    after_each : callable, optional
        Called for each, in order, with how many are done, how many there are, and its trial.
    """
    if not candidates:
        raise DataError("There is nothing to choose from: the grid is empty.")
    if n_jobs == 0:
        raise DataError("n_jobs must be 1 or more candidates at once, or -1 for one on each core; found 0.")
    trials: list[Trial] = []
    # Threads, since compiled loops release Python's lock, and no data has to be copied. If there are several, BLAS uses
    # one thread in each.
    limit = 1 if n_jobs not in (None, 1) else None
    with threadpool_limits(limit, user_api="blas"), limit_threads(limit):
        done = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
            delayed(_try)(attempt, parameters) for parameters in candidates
        )
        for trial in done:
            trials.append(trial)
            if after_each is not None:
                after_each(len(trials), len(candidates), trial)
    best = ranking(trials)[0]
    if trials[best].trouble:
        raise DataError(
            f"No candidate could be tried. The first, {format_parameters(trials[0].parameters)}: {trials[0].trouble}"
        )
    return Selection(trials, best)


def _try(attempt: Callable[[Parameters], Trial], parameters: Parameters) -> Trial:
    try:
        return attempt(parameters)
    except (NovikoffError, ValueError, ArithmeticError) as error:
        return Trial(parameters, converged=False, trouble=str(error))


def ranking(trials: Sequence[Trial]) -> list[int]:
    """Return the indices of the trials from best to worst: by error, then size, then index; those that failed come
    last."""
    return sorted(range(len(trials)), key=lambda k: (bool(trials[k].trouble), trials[k].error, trials[k].size, k))


def size_of(model: Any) -> int:
    """Return the bytes of all arrays that a model refers to."""
    buffers: list[pickle.PickleBuffer] = []
    _ArraysOnly(io.BytesIO(), protocol=5, buffer_callback=buffers.append).dump(model)
    return sum(buffer.raw().nbytes for buffer in buffers)


class _ArraysOnly(pickle.Pickler):
    """A pickler that skips functions of the user, some of which cannot be pickled."""

    def persistent_id(self, obj: Any) -> str | None:
        return "function" if isinstance(obj, FunctionType) else None


def spread_of(shares: Sequence[float], n_rows: int) -> float:
    """Return the standard error of the mean of several shares of errors; of a single share, that of a binomial
    proportion."""
    if len(shares) > 1:
        return float(np.std(shares, ddof=1) / math.sqrt(len(shares)))
    return math.sqrt(shares[0] * (1.0 - shares[0]) / n_rows)


def format_parameters(parameters: Parameters) -> str:
    """Return the parameters as name=value, ..."""
    return ", ".join(f"{name}={value}" for name, value in parameters.items()) or "as given"

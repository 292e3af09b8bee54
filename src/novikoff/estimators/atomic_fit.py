"""Fitted: what an estimator has learned, in one attribute that is replaced atomically."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

__all__ = ["AtomicFitMixin", "Fitted"]


@dataclass(frozen=True, eq=False)
class Fitted:
    """What an estimator has learned.

    Attributes
    ----------
    model : Model, KernelModel or LinearModel
        Made anew by `fit`; `partial_fit` and `learn_one` change it in place, under its own lock.
    attributes : dict
        What belongs to the model, by scikit-learn's names: n_features_in_, feature_names_in_, classes_, n_iter_,
        converged_; a name that does not apply is left out. Model files keep it as it is.
    fixed_parameters : tuple, optional
        Constructor parameters that must not change while learning goes on; None if they are not known.
    """

    model: Any
    attributes: Mapping[str, Any] = field(default_factory=dict)
    fixed_parameters: tuple[Any, ...] | None = None


class AtomicFitMixin:
    """For estimators that threads share, and that signal handlers may read in the middle of a call.

    Everything learned is in the attribute `_fitted`. A method that learns computes first and assigns it last, so that a
    call that fails or is interrupted has changed nothing. A method that needs more than one attribute works on a
    `_snapshot`, so that a fit in another thread cannot come between them.
    """

    _fitted: Fitted

    def _snapshot(self) -> Self:
        """Return an estimator with the attributes that this one has now; the model in it is the same object."""
        found = object.__new__(type(self))
        found.__dict__.update(vars(self))
        return found

    def _publish_first(self, fitted: Fitted) -> bool:
        """Take over the result of a first `partial_fit` or `learn_one`; return False if another thread was faster."""
        return self.__dict__.setdefault("_fitted", fitted) is fitted

    def __copy__(self) -> Self:
        """Return an estimator with a model, and a random state, of its own: neither changes when the other learns."""
        found = self._snapshot()
        if "_fitted" in vars(found):
            found._fitted = replace(found._fitted, model=copy.deepcopy(found._fitted.model))
        if "random_state" in vars(found):
            found.__dict__["random_state"] = copy.deepcopy(found.__dict__["random_state"])
        return found

    def __sklearn_is_fitted__(self) -> bool:
        return "_fitted" in self.__dict__

    # -- attributes with scikit-learn's names

    @property
    def _model(self) -> Any:
        return self._fitted.model

    @property
    def n_features_in_(self) -> int:
        return self._fitted_attribute("n_features_in_")

    @property
    def feature_names_in_(self) -> Any:
        return self._fitted_attribute("feature_names_in_")

    def _fitted_attribute(self, name: str) -> Any:
        fitted = self.__dict__.get("_fitted")
        if fitted is None or name not in fitted.attributes:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return fitted.attributes[name]

    def _require_model(self, name: str) -> Any:
        """Return the model, to compute the attribute `name` from; raise an AttributeError before there is one."""
        fitted = self.__dict__.get("_fitted")
        if fitted is None:
            raise AttributeError(f"This {type(self).__name__} has no {name} before it has learned.")
        return fitted.model

"""scikit-learn's callbacks around a fit, where the installed scikit-learn has them: experimental, and since 1.9."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sklearn

from novikoff.estimators.atomic_fit import Fitted

try:
    from sklearn.callback import CallbackSupportMixin as CallbackSupport
except ImportError:

    class CallbackSupport:  # type: ignore[no-redef]
        """In place of scikit-learn's mixin: an estimator that works, and says why it takes no callbacks."""

        @property
        def set_callbacks(self) -> Any:
            """Not there: scikit-learn is too old."""
            raise AttributeError(
                f"Callbacks need scikit-learn 1.9 or newer, and {sklearn.__version__} is installed: "
                "pip install --upgrade scikit-learn"
            )


__all__ = ["CallbackSupport", "FitCallbacks"]


class FitCallbacks:
    """scikit-learn's callbacks around one `fit`; without any, nothing."""

    def __init__(self, estimator: Any, X: Any, y: Any, max_subtasks: int) -> None:
        self._data: dict[str, Any] = {"estimator": estimator, "X": X, "y": y}
        self._context: Any = None
        if hasattr(estimator, "_skl_callbacks"):
            self._context = estimator._init_callback_context(max_subtasks=max_subtasks)
            self._context.call_on_fit_task_begin(**self._data)

    def after_pass(self, fitted: Callable[..., Fitted]) -> Callable[..., bool] | None:
        """Return a function to call after each pass, which answers whether a callback ends the fit; None if there are
        no callbacks, since a context for every pass would be most of the time of a small fit.

        `fitted` is called with the arguments that follow the number of the pass.
        """
        context = self._context
        if context is None:
            return None

        def report(number: int, *state: Any) -> bool:
            task = context.subcontext(task_name=f"pass {number}").call_on_fit_task_begin(**self._data)
            so_far = {"_fitted": fitted(*state)}
            return task.call_on_fit_task_end(**self._data, reconstruction_attributes=so_far)

        return report

    def end(self, fitted: Fitted) -> None:
        """Report the result, which the estimator itself does not have yet."""
        if self._context is not None:
            self._context.call_on_fit_task_end(**self._data, reconstruction_attributes={"_fitted": fitted})

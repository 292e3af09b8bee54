"""What Perceptron and KernelPerceptron share: known classes and attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from novikoff.errors import DataError
from novikoff.estimators.callbacks import CallbackSupport
from novikoff.estimators.inputs import RowInputMixin
from novikoff.inputs.labels import encode_labels, protect_null_bytes
from novikoff.perceptron.ledger import Ledger

__all__ = ["OnlineClassifierMixin", "make_generator"]


def make_generator(random_state: Any) -> np.random.Generator:
    """Return a generator seeded by what scikit-learn takes as a `random_state`."""
    return np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))


class OnlineClassifierMixin(CallbackSupport, RowInputMixin):
    """For classifiers that learn one example at a time and may meet labels along the way."""

    classes: Any

    def _known_classes(self, classes: Any = None) -> np.ndarray | None:
        """Return the labels known in advance, sorted; those given to a method go before those of the constructor."""
        classes = self.classes if classes is None else classes
        return None if classes is None else np.unique(np.asarray(protect_null_bytes(classes)))

    def _encode_all(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes of a training set, two or more, and the class code of each row."""
        classes, codes = encode_labels(y, self._known_classes())
        if len(classes) < 2:
            raise DataError(
                f"The number of classes has to be greater than one; the data contains only one class: {classes[0]!r}."
            )
        return classes, codes

    @property
    def classes_(self) -> np.ndarray:
        return self._require_model("classes_").labels.as_array()

    @property
    def ledger_(self) -> Ledger:
        return self._require_model("ledger_").ledger

    @property
    def n_iter_(self) -> int:
        return self._fitted_attribute("n_iter_")

    @property
    def converged_(self) -> bool:
        return self._fitted_attribute("converged_")

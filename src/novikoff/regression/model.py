"""RegressionModel: scale-invariant online regression, by coin betting on each feature."""

from __future__ import annotations

import math

import numpy as np

from novikoff._compiled.loops import regression
from novikoff._compiled.loops.regression import EXAMPLES, FEATURES, GIVEN, LARGEST, SQUARES, UNIT, WON
from novikoff._compiled.loops.rows import RowArrays
from novikoff.errors import DataError, ReentryError
from novikoff.inputs.rows import Rows
from novikoff.model_files import Section
from novikoff.regression.ledger import RegressionLedger
from novikoff.system.copying import deep_copy
from novikoff.system.exclusive import ExclusiveAccess, exclusive_read, exclusive_write, make_lock

__all__ = ["LARGEST_TARGET", "RegressionModel"]

LARGEST_TARGET = 1e100  # the squares of its errors can still be summed
_MEASURES = 6


class RegressionModel(ExclusiveAccess):
    """Predicts numbers, and learns from each example once: ScInOL2 (Kempka, Kotlowski & Warmuth 2019), squared loss.

    The prediction is the mean of the targets so far plus <w, x>, within the range of the targets so far. No parameter
    is to be set: multiplying a feature by a constant changes no prediction, and multiplying the targets, or adding a
    constant to them, changes the predictions alike.

    Guarantee. The squared error exceeds that of the mean so far by a constant at most (see `RegressionLedger`). It
    exceeds that of any other weights u by O(sum_i |u_i| S_i log n), where S_i^2 is the sum of the squared gradients of
    feature i: up to the logarithm what gradient descent achieves with the step for each feature that is best in
    hindsight (Kempka, Kotlowski & Warmuth 2019, on ScInOL2, for losses with bounded slopes).

    Threads may share it: one call runs at a time. A block is learned in one compiled call, whole or not at all.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff import Rows
    >>> from novikoff.regression.model import RegressionModel
    >>> x = np.arange(200) % 7 - 3.0
    >>> model = RegressionModel()
    >>> model.learn_rows(Rows.of(x[:, None]), 10.0 + 2.0 * x)
    >>> model.predict(Rows.of([[1.0], [-2.0]])).round().tolist()
    [12.0, 6.0]
    """

    __copy__ = deep_copy

    def __init__(self) -> None:
        # Everything that the compiled loop changes is in these arrays, so that no interrupt can come in between.
        self._set_arrays(np.zeros((1, 5)), np.zeros(2, np.int64), np.zeros(_MEASURES))

    def _set_arrays(self, coordinates: np.ndarray, counts: np.ndarray, measures: np.ndarray) -> None:
        self._lock = make_lock(self)
        self._is_learning = self._is_torn = False
        self._coordinates, self._counts, self._measures = coordinates, counts, measures

    # -- one call at a time

    def _recover(self) -> None:
        self._is_learning = False
        if self._is_torn:
            raise ReentryError(
                "This process was forked while another thread was learning from a block, and its copy of the model is "
                "of no use: fork between calls, or load the model from a file."
            )

    def _on_fork(self) -> None:
        self._is_torn = self._is_learning

    @exclusive_read
    def __getstate__(self) -> tuple[np.ndarray, ...]:
        """Return a copy of everything learned, for pickle and deepcopy."""
        return self._used_coordinates().copy(), self._counts.copy(), self._measures.copy()

    def __setstate__(self, arrays: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
        self._set_arrays(*arrays)

    def _used_coordinates(self) -> np.ndarray:
        return self._coordinates[: 1 + self._counts[FEATURES]]

    # -- learning

    @property
    def n_examples(self) -> int:
        return int(self._counts[EXAMPLES])

    @property
    def n_features(self) -> int:
        return int(self._counts[FEATURES])

    def learn_rows(self, rows: Rows, targets: np.ndarray) -> None:
        """Learn from a block, in order: whole, or not at all if it is rejected or interrupted."""
        targets = np.asarray(targets, np.float64)
        self.learn_encoded(rows, targets, np.arange(len(targets)))

    @exclusive_write
    def learn_encoded(self, rows: Rows, values: np.ndarray, value_indices: np.ndarray) -> None:
        """Learn from a block where row i has the target values[value_indices[i]]. It may have new features."""
        rows.require_numbers()
        targets = np.ascontiguousarray(np.asarray(values, np.float64)[value_indices])
        if len(targets) != len(rows):
            raise DataError(f"There are {len(targets)} targets for {len(rows)} rows.")
        require_targets(targets)
        if rows.n_features < self.n_features:
            raise DataError(f"X has {rows.n_features} features, but the model has {self.n_features}.")
        self._reserve(1 + rows.n_features)
        arrays = RowArrays.of(rows)
        self._is_learning = True
        regression.regression_pass(
            arrays, targets, self._coordinates[: 1 + rows.n_features], self._counts, self._measures
        )
        self._is_learning = False

    def _reserve(self, n_coordinates: int) -> None:
        """Allocate more coordinates than needed at once, since features come block by block."""
        if n_coordinates > len(self._coordinates):
            larger = np.zeros((max(n_coordinates, 3 * len(self._coordinates) // 2), 5))
            larger[: len(self._coordinates)] = self._coordinates
            self._coordinates = larger

    # -- answering

    @exclusive_read
    def predict(self, rows: Rows) -> np.ndarray:
        """Return the prediction for each row: what it would be if the row were learned from next."""
        if rows.n_features != self.n_features:
            raise DataError(f"X has {rows.n_features} features, but the model has {self.n_features}.")
        rows.require_numbers()
        out = np.empty(len(rows))
        regression.regression_predictions(RowArrays.of(rows), self._used_coordinates(), self._measures, out)
        return out

    @exclusive_read
    def weights(self) -> np.ndarray:
        """Return the weights of the constant and of each feature, for values no larger than those seen so far."""
        out = np.empty(1 + self.n_features)
        regression.regression_weights(self._used_coordinates(), self._measures[UNIT], out)
        return out

    @property
    def ledger(self) -> RegressionLedger:
        return self._ledger()

    @exclusive_read
    def _ledger(self) -> RegressionLedger:
        mean, lowest, highest, unit, squared_error, squared_error_of_mean = self._measures.tolist()
        if not self.n_examples:
            mean = lowest = highest = math.nan
        wealth = float(self._used_coordinates()[:, GIVEN].sum())
        return RegressionLedger(
            self.n_examples, squared_error, squared_error_of_mean, mean, lowest, highest, unit, wealth
        )

    # -- model files

    @exclusive_read
    def write_to(self, section: Section) -> None:
        """Write everything to a section of a model file."""
        section.add_tensor("coordinates", self._used_coordinates().copy())
        section.add_tensor("counts", self._counts.copy())
        section.add_tensor("measures", self._measures.copy())

    @classmethod
    def read_from(cls, section: Section) -> RegressionModel:
        """Read a model."""
        coordinates = section.finite("coordinates", np.float64, (None, 5))
        counts = section.indices("counts", (2,), 2**62)
        measures = section.finite("measures", np.float64, (_MEASURES,))
        section.require(
            len(coordinates) == 1 + counts[FEATURES], f"{section.path} has not one coordinate for each feature"
        )
        wealth = coordinates[:, GIVEN] + coordinates[:, WON]
        is_valid = (coordinates[:, [SQUARES, LARGEST, GIVEN]] >= 0.0).all() and (wealth >= 0.0).all()
        section.require(is_valid, f"{section.full_name('coordinates')} hold a negative length or wealth")
        lowest, highest = measures[regression.LOWEST], measures[regression.HIGHEST]
        is_valid = lowest <= highest and (measures[UNIT:] >= 0.0).all() and np.abs(measures[:3]).max() <= LARGEST_TARGET
        section.require(is_valid, f"{section.full_name('measures')} are {measures.tolist()}")
        model = cls.__new__(cls)
        model._set_arrays(coordinates, counts, measures)
        return model


def require_targets(targets: np.ndarray) -> None:
    """Raise a DataError at the first target that is no number, or too large for its square."""
    bad = np.flatnonzero(~(np.abs(targets) <= LARGEST_TARGET))
    if bad.size:
        raise DataError(
            f"The target of row {bad[0]} is {targets[bad[0]]!r}; regression needs numbers up to {LARGEST_TARGET:g}."
        )

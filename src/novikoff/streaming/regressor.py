"""StreamRegressor: online regression that learns from files and pipes, and encodes their rows."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.data.encoding import Features
from novikoff.data.formats.block import Block
from novikoff.errors import DataError
from novikoff.inputs.rows import is_number
from novikoff.model_files import Section
from novikoff.perceptron.learner import Learner
from novikoff.regression.ledger import RegressionLedger
from novikoff.regression.model import LARGEST_TARGET, RegressionModel
from novikoff.selection.number_errors import NumberErrors
from novikoff.streaming.in_memory import open_data_for_model
from novikoff.streaming.model import StreamModel
from novikoff.system.exclusive import exclusive_read

__all__ = ["StreamRegressor", "numbers_of"]

_LONGEST = 40  # characters of a label in a message


class StreamRegressor(StreamModel):
    """A `RegressionModel`, and the encoding that makes rows of numbers of the blocks of a stream.

    It learns, pauses, saves and resumes as a `StreamModel` does, but its labels are numbers that it predicts.

    Parameters
    ----------
    features : Features, optional
        How columns become features.

    Attributes
    ----------
    ledger : RegressionLedger

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.data.formats import TableBlock
    >>> from novikoff.streaming.regressor import StreamRegressor
    >>> rooms = np.arange(300) % 5 + 1.0
    >>> block = TableBlock("houses.csv", np.arange(2, 302), 100.0 + 50.0 * rooms, {"rooms": rooms})
    >>> model = StreamRegressor()
    >>> model.learn(block)
    >>> model.predict(block[:5]).round(-1).tolist()
    [150.0, 200.0, 250.0, 300.0, 350.0]
    """

    kind = "stream-regressor"
    predicts_numbers = True
    model: RegressionModel  # type: ignore[assignment]  # what StreamModel needs of a Model, it has

    def __init__(self, features: Features | None = None) -> None:
        # A target may well be proportional to a count.
        super().__init__(Learner(), replace(features or Features(), log_counts=False))
        self.model = RegressionModel()

    def __repr__(self) -> str:
        return f"StreamRegressor({self.n_features:,} features, {self.ledger.examples:,} examples)"

    @property
    def ledger(self) -> RegressionLedger:  # type: ignore[override]
        return self.model.ledger

    @property
    def labels(self) -> list[Any]:
        """None: it predicts numbers."""
        return []

    def _encode_labels(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return the targets of a block, and for each row the index of its own, which is that of the row."""
        return numbers_of(block), np.arange(len(block))

    def decision_function(self, data: Any) -> np.ndarray:
        """Raise an error: numbers have no scores."""
        raise DataError("The model predicts numbers, which have no scores: use predict.")

    def predict_proba(self, data: Any) -> np.ndarray:
        """Raise an error: numbers have no probabilities."""
        raise DataError("The model predicts numbers, which have no probabilities.")

    def score(self, data: Any, y: Any = None) -> float:
        """Return R^2 of the predictions: 1 is perfect, and 0 no better than the mean of the true numbers.

        Parameters
        ----------
        data : as for `predict`
        y : list, array or Series of numbers, optional
            By default those in the column `target` of the data.
        """
        return self.measure_errors(open_data_for_model(self, data, y).blocks).r2

    @exclusive_read
    def heaviest(self, n: int = 10) -> list[tuple[Any, list[tuple[str, float]]]]:
        """Return the features with the largest weights, and these weights, as the only item of a list."""
        weights, names, curves = self.model.weights()[1:], self.names, self.curves()
        weights = weights if curves is None else curves.join(weights)
        order = np.argsort(-np.abs(weights), kind="stable")[:n].tolist()
        return [(self.target or "the target", [(names[j], float(weights[j])) for j in order if weights[j] != 0.0])]

    def measure_errors(self, blocks: Any) -> NumberErrors:
        """Return the errors of the predictions for labelled blocks."""
        errors = NumberErrors()
        for block in blocks:
            if len(block):
                errors.add(self.predict(block), numbers_of(block))
        return errors

    def _write_model(self, root: Section) -> None:
        self.model.write_to(root.add_part("regression"))

    @staticmethod
    def _read_model(root: Section) -> RegressionModel:  # type: ignore[override]
        return RegressionModel.read_from(root.part("regression"))


def numbers_of(block: Block) -> np.ndarray:
    """Return the labels of a block as numbers; raise a DataError, which says where it is, at the first that is none."""
    labels = np.asarray(block.labels)
    if labels.dtype.kind in "fiub":
        numbers = labels.astype(np.float64)
    else:
        numbers = np.array([_as_number(label) for label in labels.tolist()], np.float64)
    bad = np.flatnonzero(~(np.abs(numbers) <= LARGEST_TARGET))
    if bad.size:
        label = labels.tolist()[bad[0]]
        text = str(label) if len(str(label)) <= _LONGEST else f"{str(label)[:_LONGEST]}..."
        limit = f" up to {LARGEST_TARGET:g}" if np.isfinite(numbers[bad[0]]) else ""
        raise DataError(
            f"{block.source}:{block.lines[bad[0]]}: the target is {text!r}; the squared loss needs a number{limit}. "
            "Name another column as the target, or learn labels, without this loss."
        )
    return numbers


def _as_number(label: Any) -> float:
    """Return a label as a number, NaN if it is none."""
    if isinstance(label, str):
        try:
            return float(label)
        except ValueError:
            return np.nan
    return float(label) if is_number(label) else np.nan


def load_stream_regressor(path: str | os.PathLike[str], kind: str, root: Section, code: None = None) -> StreamModel:
    """Build the StreamRegressor of a model file; see `novikoff.model_files.loading`."""
    return StreamRegressor.read_from(root, path)

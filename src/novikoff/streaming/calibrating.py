"""nk.calibrate: fit the probabilities of a model on rows that it has not learned from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from novikoff.errors import DataError
from novikoff.selection.calibration import Calibration, fit_calibration

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.streaming.model import StreamModel

__all__ = ["calibrate"]


def calibrate(model: StreamModel, blocks: Iterable[Block]) -> Calibration:
    """Fit the probabilities of a model on labelled blocks that it has not learned from.

    Rows with labels that the model does not know are left out. If there are very many rows, every second, fourth, ...
    is used, so that memory does not grow with them. The model keeps the calibration, also in its file, until it learns
    again: its scores then change.

    Parameters
    ----------
    model : StreamModel
    blocks : iterable of blocks

    Returns
    -------
    Calibration
        Also in `model.calibration`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import novikoff as nk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     days, held_out = pathlib.Path(folder, "days.csv"), pathlib.Path(folder, "held_out.csv")
    ...     _ = days.write_text("wind,sail\\n" + "3,yes\\n9,no\\n" * 9)
    ...     _ = held_out.write_text("wind,sail\\n" + "3,yes\\n9,no\\n" * 300 + "3,no\\n9,yes\\n" * 100)
    ...     model = nk.learn(days, target="sail")
    ...     calibration = nk.calibrate(model, nk.open_stream(held_out, target="sail"))
    ...     block = next(iter(nk.open_stream(held_out, target="sail")))
    >>> calibration.kind, calibration.rows, model.labels
    ('sigmoid', 800, ['no', 'yes'])
    >>> model.predict_proba(block)[:2].round(2).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    if model.predicts_numbers:
        raise DataError("The model predicts numbers, which have no probabilities to calibrate.")
    if len(model.labels) < 2:
        raise DataError("A model that knows fewer than two labels has no probabilities to calibrate.")
    codes_of, sample = model.model.labels.codes, _Sample()
    for block in blocks:
        if block.labels is None:
            raise DataError(f"{block.source}: rows without labels cannot calibrate a model.")
        if len(block):
            codes = np.array([codes_of.get(label, -1) for label in block.labels.tolist()])
            is_known = codes >= 0
            sample.add(model.model.scores(model.rows_of(block))[is_known], codes[is_known])
    if not sample.n_rows:
        raise DataError("No held-out row has a label that the model knows: it cannot be calibrated on them.")
    model.calibration = fit_calibration(*sample.arrays())
    return model.calibration


class _Sample:
    """Every stride-th row of a stream, where the stride is the smallest power of two with which they fit in memory."""

    def __init__(self, most_scores: int = 1 << 24) -> None:
        self._most_scores = most_scores  # by default 128 MB; one or two parameters gain nothing from more
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        self._stride, self._n_kept, self.n_rows = 1, 0, 0

    def add(self, scores: np.ndarray, codes: np.ndarray) -> None:
        """Keep some of these rows."""
        kept = slice(-self.n_rows % self._stride, None, self._stride)
        self.n_rows += len(codes)
        self._parts.append((scores[kept].copy(), codes[kept].copy()))
        self._n_kept += scores[kept].size
        while self._n_kept > self._most_scores:
            scores, codes = self.arrays()
            self._parts = [(scores[::2].copy(), codes[::2].copy())]
            self._stride, self._n_kept = 2 * self._stride, scores[::2].size

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the scores and codes of the rows that are kept."""
        scores, codes = zip(*self._parts, strict=True)
        return np.concatenate(scores), np.concatenate(codes)

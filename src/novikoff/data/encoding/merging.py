"""Merging encodings that have learned from consecutive parts of a stream.

problem   know the features and moments of all rows before learning from the first, though they are read in parts
given     an encoding for each part, in the order of the parts
result    names numbered as one pass over all parts would number them, as long as the vocabulary is not full; the
          moments of all rows; hats of the sparse features that are dense in all rows together
source    Chan, Golub and LeVeque 1979, for moments of two parts together
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from novikoff.data.encoding.contract import Encoding
from novikoff.data.encoding.indices import IndexEncoding
from novikoff.data.encoding.named import NameEncoding
from novikoff.data.encoding.tables import TableEncoding
from novikoff.errors import DataError

__all__ = ["add_moments", "merge_encodings"]


def merge_encodings(parts: Sequence[Encoding[Any]], names: Sequence[str]) -> Encoding[Any]:
    """Return one encoding for all parts, whose names are for messages. The parts stay as they are.

    >>> import numpy as np
    >>> from novikoff.data.encoding import TableEncoding
    >>> from novikoff.data.encoding.merging import merge_encodings
    >>> from novikoff.data.formats import CategoricalColumn, TableBlock
    >>> def part(*sky):
    ...     encoding = TableEncoding()
    ...     column = CategoricalColumn.from_cells(sky)
    ...     for rows in encoding.learn(TableBlock("days", np.arange(len(sky)), None, {"sky": column})):
    ...         pass
    ...     return encoding
    >>> merge_encodings([part("sun", "rain"), part("snow", "sun")], ["a", "b"]).names
    ['sky=sun', 'sky=rain', 'sky=snow']
    """
    whole = deepcopy(parts[0])
    for part, name in zip(parts[1:], names[1:], strict=True):
        if part.kind != whole.kind:
            raise DataError(f"{name} and {names[0]} are of different formats, and cannot be learned from together.")
        if isinstance(whole, TableEncoding) and isinstance(part, TableEncoding):
            _add_table(whole, part, name, names[0])
        elif isinstance(whole, IndexEncoding) and isinstance(part, IndexEncoding):
            whole.width = max(whole.width, part.width)
            if whole.scaler is not None and part.scaler is not None:
                whole.scaler.add_moments(part.scaler, np.arange(part.width))
        elif isinstance(whole, NameEncoding) and isinstance(part, NameEncoding):
            indices = whole.vocabulary.absorb(part.vocabulary)
            if whole.scaler is not None and part.scaler is not None:
                whole.scaler.add_moments(part.scaler, indices)
    if isinstance(whole, (IndexEncoding, NameEncoding)) and whole.scaler is not None:
        whole.scaler.assign_hats(whole.width if isinstance(whole, IndexEncoding) else len(whole.vocabulary))
    return whole


def add_moments(moments: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Return the moments of two sets of numbers together: rows of counts, means and sums of squared deviations.

    >>> import numpy as np
    >>> from novikoff.data.encoding.merging import add_moments
    >>> add_moments(np.array([[2.0], [1.0], [2.0]]), np.array([[1.0], [4.0], [0.0]])).ravel().tolist()
    [3.0, 2.0, 8.0]
    """
    (n, mean, squares), (n_other, mean_other, squares_other) = moments, others
    total = n + n_other
    share = np.divide(n_other, total, out=np.zeros_like(total), where=total > 0.0)
    distance = mean_other - mean
    return np.array([total, mean + distance * share, squares + squares_other + distance**2 * (n * share)])


def _add_table(whole: TableEncoding, part: TableEncoding, name: str, first: str) -> None:
    """Add what one encoding of a table knows to another."""
    for column, kind in part.kinds.items():
        if whole.kinds.get(column, kind) != kind:
            raise DataError(
                f"{name}: column {column!r} holds {kind}s; in {first} and the files after it, it holds "
                f"{whole.kinds[column]}s."
            )
    indices, n_before = whole.vocabulary.absorb(part.vocabulary), len(whole.moments.T)
    known = {column: k for k, column in enumerate(whole.columns("number"))}
    numbers = part.columns("number")
    new = np.array([k for k, column in enumerate(numbers) if column not in known], np.int64)
    whole.kinds |= {column: kind for column, kind in part.kinds.items() if column not in whole.kinds}
    whole.moments = np.hstack([whole.moments, np.zeros((3, len(new)))])
    whole.number_indices = np.concatenate([whole.number_indices, indices[part.number_indices[new]]])
    known |= {numbers[k]: n_before + order for order, k in enumerate(new.tolist())}
    at = np.array([known[column] for column in numbers], np.int64)
    whole.moments[:, at] = add_moments(whole.moments[:, at], part.moments)
    whole.is_dense &= part.is_dense and len(whole.vocabulary) == len(whole.number_indices)
    if whole.hats is not None and part.hats is not None and len(new):
        hats = indices[part.hats.indices[new]]
        whole.hats.add(hats.ravel(), np.setdiff1d(hats, whole.hats.indices))

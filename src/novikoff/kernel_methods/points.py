"""Points: rows as kernels take them; Support: the rows that a learner keeps.

Dense rows of integers (pixels, counts, one-hot) are stored in float32 where every product of two of them is exact
there: single precision multiplies matrices two to three times as fast, and loses nothing. By Cauchy and Schwarz no
partial sum of <x, z> exceeds |x| |z|, and float32 represents all integers up to 2^24. Rows of norm above 2^12 are cut
into pieces of columns with norms below it, and the products of the pieces are added in double precision. All other rows
are float64: a polynomial of raw pixels reaches 1e28, and the sign of a sum of thousands of such terms depends on how
they cancel.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops import kernel_matrix
from novikoff._compiled.loops.simd import LANES
from novikoff.errors import DataError
from novikoff.inputs.rows import Rows

__all__ = ["GrowingArray", "Points", "Support", "require_width"]

_EXACT = 2.0**24  # float32 represents every integer up to this


@dataclass(frozen=True, eq=False)
class Points:
    """Rows of numbers (a 2-D array or CSR array), rows of a kernel matrix, or any objects (a 1-D array).

    Attributes
    ----------
    data : array
    exact_columns : int
        If not 0, `data` is float32, and inner products over this many adjacent columns are exact in float32.
    is_kernel : bool
        Whether column s of a row is its kernel value with row s of the training set.
    """

    data: Any
    exact_columns: int = 0
    is_kernel: bool = False

    @classmethod
    def of(cls, rows: Rows) -> Points:
        """Return rows that `Rows.require_numbers` has accepted as points."""
        if rows.indices is not None:
            csr = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(len(rows), rows.n_features))
            return cls(csr.astype(np.float64, copy=False))
        quarter = max(1, -(-rows.n_features // 4))
        largest = np.zeros(3)
        if kernel_matrix.find_largest_pieces(rows.data, quarter, largest) and largest[2] <= _EXACT:
            # Halves are made of quarters, so that points cut into two and into four pieces can be multiplied.
            parts = np.array([1, 2, 4])[largest <= _EXACT][0]
            return cls(rows.data.astype(np.float32, copy=False), 4 * quarter // int(parts))
        return cls(rows.data.astype(np.float64, copy=False))

    @classmethod
    def of_objects(cls, objects: Sequence[Any]) -> Points:
        """Return any objects that a user's own kernel accepts as points."""
        return cls(np.fromiter(objects, object, len(objects)))

    def __len__(self) -> int:
        return int(self.data.shape[0])

    @property
    def kind(self) -> str:
        """ "dense", "sparse", "kernel rows" or "objects"."""
        if self.is_kernel:
            return "kernel rows"
        return "sparse" if sp.issparse(self.data) else "objects" if self.data.ndim == 1 else "dense"

    @property
    def n_columns(self) -> int | None:
        """The number of columns; None for objects, which have none."""
        return None if self.kind == "objects" else int(self.data.shape[1])

    @cached_property
    def transposed(self) -> np.ndarray:
        """Dense rows in column-major order; computed once for all products with these points."""
        return np.ascontiguousarray(self.data.T)

    @cached_property
    def tiles(self) -> np.ndarray:
        """Dense rows of integers in the order in which products read them; computed once.

        Integers with exact products are at most 2^12, so that they fit into two bytes, or one.
        """
        n, d = self.data.shape
        is_byte = self.data.size and self.data.min() >= 0 and self.data.max() <= 255
        tiles = np.zeros((-(-n // LANES), -(-d // 2), LANES, 2), np.uint8 if is_byte else np.int16)
        kernel_matrix.fill_tiles(self.data, tiles)
        return tiles

    @cached_property
    def as_dense(self) -> Points:
        """Sparse rows as dense ones; computed once."""
        return Points(self.data.toarray())

    def take(self, at: np.ndarray) -> Points:
        """Return the rows with these indices; without a copy if they are consecutive."""
        is_slice = len(at) > 0 and at[-1] - at[0] + 1 == len(at) and bool((np.diff(at) == 1).all())
        return Points(self.data[at[0] : at[-1] + 1] if is_slice else self.data[at], self.exact_columns, self.is_kernel)

    def copy_rows(self, at: np.ndarray) -> Points:
        """Return a copy of some rows, to be stored; of kernel rows the indices are enough."""
        return Points(at[:, None].copy(), 0, True) if self.is_kernel else Points(self.data[at], self.exact_columns)

    def as_float64(self) -> Points:
        """Return the points in double precision."""
        return Points(self.data.astype(np.float64)) if self.exact_columns else self

    def as_kind(self, kind: str) -> Points:
        """Return the points as "dense" or "sparse" rows; other kinds cannot be converted."""
        if self.kind == kind:
            return self
        if {self.kind, kind} != {"dense", "sparse"}:
            raise DataError(f"This model has learned from {kind}, found {self.kind}: pass the same kind of rows.")
        return Points(sp.csr_array(self.as_float64().data)) if kind == "sparse" else self.as_dense


def require_width(width: int | None, expected: int | None) -> None:
    """Raise a DataError if rows have another number of columns than a model; None stands for any."""
    if None not in (width, expected) and width != expected:
        raise DataError(f"X has {width} features, but this model is expecting {expected} features as input.")


class GrowingArray:
    """An array that grows at its end, in a buffer that is replaced by a larger one when it is full."""

    def __init__(self, first: np.ndarray) -> None:
        self._buffer, self.size = first, len(first)

    @property
    def values(self) -> np.ndarray:
        return self._buffer[: self.size]

    def derive(self) -> GrowingArray:
        """Return an array that starts with the values of this one and shares its buffer.

        Extending the derived array does not change this one. Of several derived arrays only one may be extended.
        """
        other = GrowingArray(self._buffer)
        other.size = self.size
        return other

    def extend(self, more: np.ndarray) -> None:
        """Append values."""
        end = self.size + len(more)
        if end > len(self._buffer):
            buffer = np.empty((max(16, 2 * end), *self._buffer.shape[1:]), self._buffer.dtype)
            buffer[: self.size] = self.values
            self._buffer = buffer
        self._buffer[self.size : end] = more
        self.size = end


class Support:
    """The rows that a learner keeps, in the order in which they came."""

    def __init__(self, points: Points | None = None) -> None:
        self._dense: GrowingArray | None = None
        self._sparse: list[Any] = []
        self.kind: str | None = None
        self._exact_columns = 0
        if points is not None:
            self.extend(points)

    def __len__(self) -> int:
        if self._dense is not None:
            return self._dense.size
        return sum(block.shape[0] for block in self._sparse)

    @property
    def points(self) -> Points:
        """All kept rows as one block."""
        if self._dense is not None:
            return Points(self._dense.values, self._exact_columns, self.kind == "kernel rows")
        if len(self._sparse) > 1:
            self._sparse = [sp.vstack([_widen(block, self._columns) for block in self._sparse], format="csr")]
        return Points(_widen(self._sparse[0], self._columns))

    @property
    def _columns(self) -> int:
        return max(block.shape[1] for block in self._sparse)

    def extend(self, points: Points) -> None:
        """Keep more rows, of the kind that the first ones had."""
        if self.kind is None:
            self.kind, self._exact_columns = points.kind, points.exact_columns
        points = points.as_kind(self.kind)
        if self.kind == "sparse":
            self._sparse.append(points.data)
        elif self._dense is None:
            self._dense = GrowingArray(points.data)
        else:
            if self._exact_columns and not points.exact_columns:
                self._dense = GrowingArray(self._dense.values.astype(np.float64))  # no longer all integers
            self._exact_columns = min(self._exact_columns, points.exact_columns)
            self._dense.extend(points.data)

    def derive(self) -> Support:
        """Return rows that start with these and may be extended; see `GrowingArray.derive`."""
        return self._with(self._dense.derive() if self._dense is not None else None)

    def copy(self) -> Support:
        """Return a copy; neither changes when the other is extended."""
        return self._with(GrowingArray(self._dense.values) if self._dense is not None else None)

    def _with(self, dense: GrowingArray | None) -> Support:
        other = Support()
        other._dense, other._sparse, other.kind, other._exact_columns = (
            dense,
            list(self._sparse),
            self.kind,
            self._exact_columns,
        )
        return other


def _widen(block: Any, columns: int) -> Any:
    """Return a sparse block with more columns, which are zero."""
    if block.shape[1] == columns:
        return block
    return sp.csr_array((block.data, block.indices, block.indptr), shape=(block.shape[0], columns))

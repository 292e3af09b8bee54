"""Points: rows as potential functions take them, and Support: the ones that were kept.

Dense rows of whole numbers (pixels, counts, one-hot) lie in float32 where every product of two of them is exact there:
single precision multiplies matrices two to three times as fast, and loses nothing. By Cauchy and Schwarz no partial sum
of <x, z> exceeds |x| |z|, and float32 holds all whole numbers to 2^24; rows longer than 2^12 are cut into pieces of
columns that are not, and the products of the pieces added in double precision. All other rows are float64: a
polynomial of raw pixels reaches 1e28, and thousands of such terms of both signs decide by what is left of them.
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

__all__ = ["Growing", "Points", "Support"]

_EXACT = 2.0**24  # float32 holds every whole number up to this


@dataclass(frozen=True, eq=False)
class Points:
    """Rows of numbers (a 2-D array or CSR array), rows of a kernel matrix, or any objects (a 1-D array).

    Attributes
    ----------
    data : array
    width : int
        0, or: products of neighbouring columns, so many at a time, are exact in float32, and `data` is float32.
    is_kernel : bool
        Whether column s of a row holds its kernel with row s of the training set.
    """

    data: Any
    width: int = 0
    is_kernel: bool = False

    @classmethod
    def of(cls, rows: Rows) -> Points:
        """Points of rows that hold numbers."""
        if rows.indices is not None:
            csr = sp.csr_array((rows.data, rows.indices, rows.indptr), shape=(len(rows), rows.n_features))
            return cls(csr.astype(np.float64, copy=False))
        quarter = max(1, -(-rows.n_features // 4))
        largest = np.zeros(3)
        if kernel_matrix.largest_pieces(rows.data, quarter, largest) and largest[2] <= _EXACT:
            parts = np.array([1, 2, 4])[largest <= _EXACT][0]  # a cut into two is also one into four: they can be mixed
            return cls(rows.data.astype(np.float32, copy=False), 4 * quarter // int(parts))
        return cls(rows.data.astype(np.float64, copy=False))

    @classmethod
    def of_objects(cls, objects: Sequence[Any]) -> Points:
        """Points that are anything a user's own kernel understands."""
        return cls(np.fromiter(objects, object, len(objects)))

    def __len__(self) -> int:
        return int(self.data.shape[0])

    @property
    def kind(self) -> str:
        if self.is_kernel:
            return "kernel rows"
        return "sparse" if sp.issparse(self.data) else "objects" if self.data.ndim == 1 else "dense"

    @cached_property
    def transposed(self) -> np.ndarray:
        """The columns of dense rows one after the other; kept for all products with this block."""
        return np.ascontiguousarray(self.data.T)

    @cached_property
    def tiles(self) -> np.ndarray:
        """Dense rows of whole numbers in the order in which products take them; kept for the same reason. Those with
        exact products are at most 2^12: small integers, and fewer bytes to read."""
        n, d = self.data.shape
        is_byte = self.data.size and self.data.min() >= 0 and self.data.max() <= 255
        found = np.zeros((-(-n // LANES), -(-d // 2), LANES, 2), np.uint8 if is_byte else np.int16)
        kernel_matrix.lay_tiles(self.data, found)
        return found

    @cached_property
    def filled(self) -> Points:
        """Sparse rows as dense ones; kept for the same reason."""
        return Points(self.data.toarray())

    def take(self, at: np.ndarray) -> Points:
        """Some rows; without a copy if they are neighbours."""
        neighbours = len(at) > 0 and at[-1] - at[0] + 1 == len(at) and bool((np.diff(at) == 1).all())
        return Points(self.data[at[0] : at[-1] + 1] if neighbours else self.data[at], self.width, self.is_kernel)

    def kept(self, at: np.ndarray) -> Points:
        """A copy of some rows, to be stored; of kernel rows their numbers are enough."""
        return Points(at[:, None].copy(), 0, True) if self.is_kernel else Points(self.data[at], self.width)

    def doubled(self) -> Points:
        """The same in double precision."""
        return Points(self.data.astype(np.float64)) if self.width else self

    def like(self, kind: str) -> Points:
        """The same rows as dense or sparse ones."""
        if self.kind == kind:
            return self
        if {self.kind, kind} != {"dense", "sparse"}:
            raise DataError(f"This model has learned from {kind}, found {self.kind}: pass the same kind of rows.")
        return Points(sp.csr_array(self.doubled().data)) if kind == "sparse" else self.filled


class Growing:
    """An array that grows at its end, in place while there is room."""

    def __init__(self, first: np.ndarray) -> None:
        self._room, self.size = first, len(first)

    @property
    def values(self) -> np.ndarray:
        return self._room[: self.size]

    def branch(self) -> Growing:
        """An array that goes on from this one, in the same memory: this one does not change. Of several branches only
        one may be used."""
        other = Growing(self._room)
        other.size = self.size
        return other

    def extend(self, more: np.ndarray) -> None:
        end = self.size + len(more)
        if end > len(self._room):
            room = np.empty((max(16, 2 * end), *self._room.shape[1:]), self._room.dtype)
            room[: self.size] = self.values
            self._room = room
        self._room[self.size : end] = more
        self.size = end


class Support:
    """The rows that were kept, in the order in which they came."""

    def __init__(self, points: Points | None = None) -> None:
        self._dense: Growing | None = None
        self._sparse: list[Any] = []
        self.kind: str | None = None
        self._width = 0
        if points is not None:
            self.extend(points)

    def __len__(self) -> int:
        if self._dense is not None:
            return self._dense.size
        return sum(block.shape[0] for block in self._sparse)

    @property
    def points(self) -> Points:
        """All of them."""
        if self._dense is not None:
            return Points(self._dense.values, self._width, self.kind == "kernel rows")
        if len(self._sparse) > 1:
            self._sparse = [sp.vstack([_widened(block, self._columns) for block in self._sparse], format="csr")]
        return Points(_widened(self._sparse[0], self._columns))

    @property
    def _columns(self) -> int:
        return max(block.shape[1] for block in self._sparse)

    def extend(self, points: Points) -> None:
        """Keep more rows, of the kind that the first ones had."""
        if self.kind is None:
            self.kind, self._width = points.kind, points.width
        points = points.like(self.kind)
        if self.kind == "sparse":
            self._sparse.append(points.data)
        elif self._dense is None:
            self._dense = Growing(points.data)
        else:
            if self._width and not points.width:
                self._dense = Growing(self._dense.values.astype(np.float64))  # no longer all whole numbers
            self._width = min(self._width, points.width)
            self._dense.extend(points.data)

    def branch(self) -> Support:
        """Rows that go on from these, which do not change; see `Growing.branch`."""
        return self._with(self._dense.branch() if self._dense is not None else None)

    def copy(self) -> Support:
        """The same rows; neither changes when more are added to the other."""
        return self._with(Growing(self._dense.values) if self._dense is not None else None)

    def _with(self, dense: Growing | None) -> Support:
        other = Support()
        other._dense, other._sparse, other.kind, other._width = dense, list(self._sparse), self.kind, self._width
        return other


def _widened(block: Any, columns: int) -> Any:
    """The same rows with more columns, which are zero."""
    if block.shape[1] == columns:
        return block
    return sp.csr_array((block.data, block.indices, block.indptr), shape=(block.shape[0], columns))

"""Rows: what a user passes, validated once, in the form the kernels read.

Dense rows are a C-ordered 2-D array, sparse rows the three arrays of a CSR matrix without a column twice in a row (see
inputs/duplicates.py for what a repeated column means); both in float32 or float64. Data already in such a form is not
copied: while Rows are in use, nobody may write to the arrays they were made of. Every index of a sparse matrix is
checked first (inputs/sparse.py). Whether the values are numbers is found out while the squared norms are measured,
which learning needs anyway: in one go by `require_numbers`, or by the kernels as they meet each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops import rows as of_rows
from novikoff.errors import DataError
from novikoff.inputs.arrays import as_floats, writable
from novikoff.inputs.sparse import checked_csr
from novikoff.system.memory import keep_memory

__all__ = ["Rows", "joined_names", "names_of", "rows_of_dicts", "writable"]


@dataclass(frozen=True, eq=False)
class Rows:
    """n rows of numbers. Build with `Rows.of`."""

    data: np.ndarray
    indices: np.ndarray | None
    indptr: np.ndarray | None
    n_features: int
    squared_norms: np.ndarray
    names: Iterable[str] | None = None
    are_numbers: bool = False

    @classmethod
    def of(
        cls,
        X: Any,
        names: Iterable[str] | None = None,
        *,
        squared_norms: np.ndarray | None = None,
        are_numbers: bool = False,
    ) -> Rows:
        """Rows of a 2-D array or a scipy sparse matrix or array; no copy where none is needed.

        `names` of the columns, if they have any, are for messages. `squared_norms` are for who has measured them with
        our kernels; `are_numbers` for who knows that `require_numbers` would find nothing.

        >>> from novikoff import Rows
        >>> rows = Rows.of([[3.0, 4.0], [0.0, 2.0]])
        >>> rows.require_numbers()
        >>> rows.squared_norms
        array([25.,  4.])
        """
        if isinstance(X, Rows):
            return X
        if sp.issparse(X):
            return cls._of_sparse(X, names, squared_norms)
        X = np.asarray(X)
        if X.ndim != 2:
            raise DataError(
                f"Expected a 2-D array of rows, found {X.ndim} dimension(s). "
                "Reshape one row with X.reshape(1, -1), one column with X.reshape(-1, 1)."
            )
        X = writable(np.ascontiguousarray(as_floats(X)))
        return cls(X, None, None, X.shape[1], _or_unmeasured(squared_norms, X.shape[0]), names, are_numbers)

    @classmethod
    def _of_sparse(cls, X: Any, names: Iterable[str] | None, squared_norms: np.ndarray | None) -> Rows:
        csr = checked_csr(X).summed()
        norms = _or_unmeasured(squared_norms, csr.shape[0])
        return cls(csr.data, csr.indices, csr.indptr, csr.shape[1], norms, names)

    @classmethod
    def distinct(
        cls,
        data: np.ndarray,
        indices: np.ndarray,
        indptr: np.ndarray,
        n_features: int,
        squared_norms: np.ndarray | None = None,
    ) -> Rows:
        """Sparse rows from code that knows them to be sound: no column twice in a row and none outside. They keep the
        order that their entries have."""
        return cls(data, indices, indptr, n_features, _or_unmeasured(squared_norms, len(indptr) - 1))

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """The rows of all parts, which are all dense or all sparse."""
        first = parts[0]
        if len(parts) == 1:
            return first
        if not first.is_sparse:
            return cls.of(np.concatenate([part.data for part in parts]))
        csr = sp.vstack([part._as_csr() for part in parts], format="csr")
        return cls.distinct(csr.data, csr.indices, csr.indptr, first.n_features)

    def __len__(self) -> int:
        return len(self.squared_norms)

    @property
    def is_sparse(self) -> bool:
        return self.indices is not None

    @property
    def matrix(self) -> np.ndarray | sp.csr_array:
        """All rows, as a 2-D array or a CSR array that share their memory."""
        return self.data if self.indices is None else self._as_csr()

    def take(self, at: np.ndarray) -> np.ndarray | sp.csr_array:
        """A copy of some rows, as a 2-D array or a CSR array."""
        if self.indices is None:
            return self.data[at]
        return self._as_csr()[at]

    def __getitem__(self, part: slice) -> Rows:
        """Consecutive rows, sharing memory."""
        if self.indices is None or self.indptr is None:
            return Rows.of(self.data[part])
        start, stop, step = part.indices(len(self))
        if step != 1:
            raise ValueError("Rows are cut out in one piece.")
        lo, hi = self.indptr[start], self.indptr[max(start, stop)]
        return Rows.distinct(
            self.data[lo:hi], self.indices[lo:hi], self.indptr[start : max(start, stop) + 1] - lo, self.n_features
        )

    def require_numbers(self) -> None:
        """Measure every row; raise a DataError at the first that holds NaN, inf or something too large."""
        if self.are_numbers:
            return  # the kernels measure each row when they meet it
        n = len(self)
        bad = of_rows.measure(self.data, self.indices, self.indptr, self.n_features, self.squared_norms, 0, n)
        if bad < n:
            raise self.trouble_in(bad)

    def trouble_in(self, row: int) -> DataError:
        """Say what is wrong with a row that has no squared norm, in scikit-learn's words, and where."""
        if self.indices is None or self.indptr is None:
            values, columns = self.data[row], np.arange(self.n_features)
        else:
            lo, hi = self.indptr[row], self.indptr[row + 1]
            values, columns = self.data[lo:hi], self.indices[lo:hi]
        for test, found in ((np.isnan, "NaN"), (np.isinf, "infinity")):
            at = np.flatnonzero(test(values))
            if at.size:
                return DataError(
                    f"Input X contains {found} in {self._place(row, int(columns[at[0]]))}. "
                    "Drop the row, or impute it (sklearn.impute.SimpleImputer)."
                )
        column = int(columns[np.argmax(np.abs(values))])
        return DataError(
            f"Input X contains a value too large for dtype('float64') once squared, in {self._place(row, column)}: "
            f"{values[np.argmax(np.abs(values))]!r}. Scale the column (sklearn.preprocessing.MaxAbsScaler)."
        )

    def _place(self, row: int, column: int) -> str:
        return f"row {row}, column {column}" + (f" ({list(self.names)[column]!r})" if self.names is not None else "")

    def _as_csr(self) -> sp.csr_array:
        return sp.csr_array((self.data, self.indices, self.indptr), shape=(len(self), self.n_features))


def names_of(dicts: Sequence[Mapping[str, float]], known: Mapping[str, int]) -> dict[str, int]:
    """The vocabulary `known`, extended in order of appearance by the names that `dicts` bring."""
    names = dict(known)
    for row, x in enumerate(dicts):
        _require_mapping(x, row)
        for name in x:
            names.setdefault(name, len(names))
    return names


def joined_names(names: list[str], known: Mapping[str, int], csr: Any) -> tuple[dict[str, int], sp.csr_array | None]:
    """The vocabulary with these names of columns, and the rows if their columns change places for it, else None.

    The names begin with those that were known when the rows were made. If others have been met since, they stay.
    """
    if names[: len(known)] == list(known):
        return {name: at for at, name in enumerate(names)}, None
    vocabulary = dict(known)
    places = np.array([vocabulary.setdefault(name, len(vocabulary)) for name in names], np.int32)
    moved = sp.csr_array((csr.data, places[csr.indices], csr.indptr), shape=(csr.shape[0], len(vocabulary)))
    moved.sort_indices()
    return vocabulary, moved


def rows_of_dicts(dicts: Sequence[Mapping[str, float]], vocabulary: Mapping[str, int]) -> Rows:
    """Sparse rows of dicts of named features. Names outside the vocabulary are left out: their weight is zero."""
    values: list[float] = []
    columns: list[int] = []
    indptr = [0]
    for row, x in enumerate(dicts):
        _require_mapping(x, row)
        for name, value in x.items():
            if not is_number(value):
                raise not_a_number(name, value, f"row {row}, ")
            at = vocabulary.get(name)
            if at is not None:
                try:
                    values.append(float(value))
                except OverflowError:
                    raise not_a_number(name, value, f"row {row}, ") from None
                columns.append(at)
        indptr.append(len(values))
    shape = (len(dicts), len(vocabulary))
    csr = sp.csr_array((np.array(values, float), np.array(columns, np.int32), np.array(indptr, np.int32)), shape=shape)
    csr.sort_indices()
    return Rows.of(csr, vocabulary)


def _require_mapping(x: Any, row: int) -> None:
    if not isinstance(x, Mapping):
        raise DataError(f"Expected a dict of named features in row {row}, found {type(x).__name__}.")


def is_number(value: Any) -> bool:
    """A real number, of Python or numpy; booleans count as 0 and 1."""
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


def not_a_number(name: str, value: Any, where: str = "") -> DataError:
    """What to say of a named feature that is not a finite number of sensible size."""
    if not is_number(value):
        return DataError(
            f"Input X: {where}feature {name!r} is {value!r}, not a number. "
            f"For a category use one feature per value, such as {{'{name}={value}': 1}}."
        )
    if value != value:
        return DataError(f"Input X contains NaN: {where}feature {name!r}. Leave the feature out if it is missing.")
    return DataError(
        f"Input X contains infinity or a value too large for dtype('float64') once squared: "
        f"{where}feature {name!r} is {value!r}."
    )


def _or_unmeasured(squared_norms: np.ndarray | None, n: int) -> np.ndarray:
    keep_memory()  # these and what else a fit makes for each row
    return np.full(n, of_rows.UNMEASURED) if squared_norms is None else squared_norms

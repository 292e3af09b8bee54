"""Rows: what a user passes as X, validated once, in the form that loops read.

Dense rows are a C-ordered 2-D array; sparse rows are the three arrays of a CSR matrix in which no column occurs twice
in a row (see inputs/duplicates.py for what a repeated column means). Both are float32 or float64. Data in such a form
is not copied, so the arrays must not be written to while the Rows are in use. Every index of a sparse matrix is checked
first (inputs/sparse.py). Whether all values are finite is found out while the squared norms are computed, which
learning needs anyway: at once by `require_numbers`, or by the loops row by row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops import rows as of_rows
from novikoff.errors import DataError
from novikoff.inputs.arrays import as_floats, as_writable
from novikoff.inputs.sparse import to_checked_csr
from novikoff.system.memory import keep_freed_memory

__all__ = ["Rows", "as_writable", "extend_vocabulary", "is_number", "merge_names", "not_a_number", "rows_from_dicts"]


@dataclass(frozen=True, eq=False)
class Rows:
    """n rows of numbers. Build with `Rows.of`.

    Attributes
    ----------
    data, indices, indptr : arrays
        A 2-D array and None, None; or the arrays of a CSR matrix.
    squared_norms : array
        |x|^2 of each row; negative where it has not been computed.
    names : iterable of str or None
        Of the columns, for messages.
    are_numbers : bool
        Whether all values are known to be finite.
    is_hat : array or None
        For each feature 1 if it is a hat, an interpolation weight of a number, else 0 (uint8); None if there are no
        hats. Features beyond its end are no hats.
    """

    data: np.ndarray
    indices: np.ndarray | None
    indptr: np.ndarray | None
    n_features: int
    squared_norms: np.ndarray
    names: Iterable[str] | None = None
    are_numbers: bool = False
    is_hat: np.ndarray | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        names: Iterable[str] | None = None,
        *,
        squared_norms: np.ndarray | None = None,
        are_numbers: bool = False,
    ) -> Rows:
        """Build rows of a 2-D array or a scipy sparse matrix or array; without a copy if none is needed.

        `names` of the columns, if they have any, are for messages. Pass `squared_norms` that a loop has computed
        already, and `are_numbers=True` if `require_numbers` would find nothing.

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
        X = as_writable(np.ascontiguousarray(as_floats(X)))
        return cls(X, None, None, X.shape[1], _norms_or_unmeasured(squared_norms, X.shape[0]), names, are_numbers)

    @classmethod
    def _of_sparse(cls, X: Any, names: Iterable[str] | None, squared_norms: np.ndarray | None) -> Rows:
        csr = to_checked_csr(X).sum_duplicates()
        norms = _norms_or_unmeasured(squared_norms, csr.shape[0])
        return cls(csr.data, csr.indices, csr.indptr, csr.shape[1], norms, names)

    @classmethod
    def from_csr(
        cls,
        data: np.ndarray,
        indices: np.ndarray,
        indptr: np.ndarray,
        n_features: int,
        squared_norms: np.ndarray | None = None,
        is_hat: np.ndarray | None = None,
    ) -> Rows:
        """Build sparse rows without checks: no column may occur twice in a row or be out of bounds.

        The entries keep their order.
        """
        norms = _norms_or_unmeasured(squared_norms, len(indptr) - 1)
        return cls(data, indices, indptr, n_features, norms, is_hat=is_hat)

    @classmethod
    def concatenate(cls, parts: Sequence[Rows]) -> Rows:
        """Concatenate rows that are all dense or all sparse."""
        first = parts[0]
        if len(parts) == 1:
            return first
        if not first.is_sparse:
            return cls.of(np.concatenate([part.data for part in parts]))
        csr = sp.vstack([part._as_csr() for part in parts], format="csr")
        return cls.from_csr(csr.data, csr.indices, csr.indptr, first.n_features, is_hat=first.is_hat)

    def narrow(self, n_features: int) -> Rows:
        """Return rows without the columns from `n_features` on, for weights that have not met those yet.

        >>> Rows.of([[3.0, 4.0]]).narrow(1).data
        array([[3.]])
        """
        if n_features >= self.n_features:
            return self
        if self.indices is None or self.indptr is None:
            return Rows.of(self.data[:, :n_features])
        is_kept = self.indices < n_features
        data, indices = np.where(is_kept, self.data, 0.0), np.where(is_kept, self.indices, 0)
        is_hat = None if self.is_hat is None else self.is_hat[:n_features]
        return Rows.from_csr(data, indices, self.indptr, n_features, is_hat=is_hat)

    def __len__(self) -> int:
        return len(self.squared_norms)

    @property
    def is_sparse(self) -> bool:
        return self.indices is not None

    @property
    def matrix(self) -> np.ndarray | sp.csr_array:
        """All rows as a 2-D array or a CSR array, which share their memory."""
        return self.data if self.indices is None else self._as_csr()

    def take(self, row_indices: np.ndarray) -> np.ndarray | sp.csr_array:
        """Return a copy of some rows, as a 2-D array or a CSR array."""
        if self.indices is None:
            return self.data[row_indices]
        return self._as_csr()[row_indices]

    def __getitem__(self, part: slice) -> Rows:
        """Return consecutive rows, which share memory with these."""
        if self.indices is None or self.indptr is None:
            return Rows.of(self.data[part])
        start, stop, step = part.indices(len(self))
        if step != 1:
            raise ValueError("A slice of Rows must have step 1.")
        lo, hi = self.indptr[start], self.indptr[max(start, stop)]
        indptr = self.indptr[start : max(start, stop) + 1] - lo
        return Rows.from_csr(self.data[lo:hi], self.indices[lo:hi], indptr, self.n_features, is_hat=self.is_hat)

    def require_numbers(self) -> None:
        """Compute all squared norms; raise a DataError at the first row with NaN, infinity or a value too large."""
        if self.are_numbers:
            return  # loops compute the squared norm of each row when they reach it
        n = len(self)
        bad = of_rows.measure_rows(self.data, self.indices, self.indptr, self.n_features, self.squared_norms, 0, n)
        if bad < n:
            raise self.explain_bad_row(bad)

    def explain_bad_row(self, row: int) -> DataError:
        """Return the error for a row without a finite squared norm, in scikit-learn's words, with its location."""
        if self.indices is None or self.indptr is None:
            values, columns = self.data[row], np.arange(self.n_features)
        else:
            lo, hi = self.indptr[row], self.indptr[row + 1]
            values, columns = self.data[lo:hi], self.indices[lo:hi]
        for test, name in ((np.isnan, "NaN"), (np.isinf, "infinity")):
            at = np.flatnonzero(test(values))
            if at.size:
                return DataError(
                    f"Input X contains {name} in {self._location(row, int(columns[at[0]]))}. "
                    "Drop the row, or impute it (sklearn.impute.SimpleImputer)."
                )
        column = int(columns[np.argmax(np.abs(values))])
        return DataError(
            f"Input X contains a value too large for dtype('float64') once squared, in {self._location(row, column)}: "
            f"{values[np.argmax(np.abs(values))]!r}. Scale the column (sklearn.preprocessing.MaxAbsScaler)."
        )

    def _location(self, row: int, column: int) -> str:
        return f"row {row}, column {column}" + (f" ({list(self.names)[column]!r})" if self.names is not None else "")

    def _as_csr(self) -> sp.csr_array:
        return sp.csr_array((self.data, self.indices, self.indptr), shape=(len(self), self.n_features))


def extend_vocabulary(dicts: Sequence[Mapping[str, float]], known: Mapping[str, int]) -> dict[str, int]:
    """Return the vocabulary `known` with the new names of `dicts` added in order of appearance."""
    names = dict(known)
    for row, x in enumerate(dicts):
        _require_mapping(x, row)
        for name in x:
            names.setdefault(name, len(names))
    return names


def merge_names(names: list[str], known: Mapping[str, int], csr: Any) -> tuple[dict[str, int], sp.csr_array | None]:
    """Add the names of the columns of `csr` to the vocabulary `known`.

    Return the vocabulary, and the rows with their columns reordered to match it; None if they match already. The names
    begin with those that were known when the rows were made; others may have been added to `known` since.
    """
    if names[: len(known)] == list(known):
        return {name: index for index, name in enumerate(names)}, None
    vocabulary = dict(known)
    new_indices = np.array([vocabulary.setdefault(name, len(vocabulary)) for name in names], np.int32)
    reordered = sp.csr_array((csr.data, new_indices[csr.indices], csr.indptr), shape=(csr.shape[0], len(vocabulary)))
    reordered.sort_indices()
    return vocabulary, reordered


def rows_from_dicts(dicts: Sequence[Mapping[str, float]], vocabulary: Mapping[str, int]) -> Rows:
    """Build sparse rows of dicts of named features. Names outside the vocabulary are left out: their weight is 0."""
    values: list[float] = []
    columns: list[int] = []
    indptr = [0]
    for row, x in enumerate(dicts):
        _require_mapping(x, row)
        for name, value in x.items():
            if not is_number(value):
                raise not_a_number(name, value, f"row {row}, ")
            index = vocabulary.get(name)
            if index is not None:
                try:
                    values.append(float(value))
                except OverflowError:
                    raise not_a_number(name, value, f"row {row}, ") from None
                columns.append(index)
        indptr.append(len(values))
    shape = (len(dicts), len(vocabulary))
    csr = sp.csr_array((np.array(values, float), np.array(columns, np.int32), np.array(indptr, np.int32)), shape=shape)
    csr.sort_indices()
    return Rows.of(csr, vocabulary)


def _require_mapping(x: Any, row: int) -> None:
    if not isinstance(x, Mapping):
        raise DataError(f"Expected a dict of named features in row {row}, found {type(x).__name__}.")


def is_number(value: Any) -> bool:
    """Return whether a value is a real number of Python or NumPy; booleans count as 0 and 1."""
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


def not_a_number(name: str, value: Any, where: str = "") -> DataError:
    """Return the error for a named feature that is not a finite number of sensible size."""
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


def _norms_or_unmeasured(squared_norms: np.ndarray | None, n: int) -> np.ndarray:
    keep_freed_memory()  # for this array, and others with a number per row
    return np.full(n, of_rows.UNMEASURED) if squared_norms is None else squared_norms

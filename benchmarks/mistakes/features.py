"""Rows of numbers for the peers: the file as it is, novikoff's encoding of it, and that with interpolation weights.

raw        numbers as they are, a feature for each categorical value and each word of a text
encoded    as `novikoff learn --plain-numbers` sees the rows
hats       the encoding, and beside each standardised number its interpolation weights between neighbouring knots
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from novikoff.data.encoding import Features, TableEncoding
from novikoff.data.formats.block import Block, CategoricalColumn, SparseBlock, TableBlock
from novikoff.streaming.encodings import encoding_for

__all__ = ["KINDS", "Examples", "examples_of", "has_hats"]

KINDS = ("raw", "encoded", "hats")
KNOTS = np.array([-3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0])

has_hats = "hats" in {field.name for field in fields(Features)}


@dataclass(frozen=True, eq=False)
class Examples:
    """Rows for a peer.

    Attributes
    ----------
    X : csr_array
    y : ndarray of int
        The index of the class of each row; of two, 1 is the positive one.
    numbers : ndarray of int
        The columns that a user would standardise: those of numbers other than 0 and 1 that nobody has standardised.
    n_classes : int
    """

    X: sp.csr_array
    y: np.ndarray
    numbers: np.ndarray
    n_classes: int

    @cached_property
    def fingerprint(self) -> str:
        """Tells these rows, in this order, from all others."""
        digest = hashlib.blake2b(digest_size=12)
        for array in (self.X.data, self.X.indices.astype(np.int64), self.X.indptr.astype(np.int64), self.y):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()


def examples_of(block: Block, kind: str) -> Examples:
    """Return the rows of a block as features of one of `KINDS`."""
    classes, y = block.encode_labels()
    if kind == "raw":
        X, numbers = _raw(block)
    else:
        X = _encoded(block, hats=kind == "hats")
        numbers = np.zeros(0, np.int64)
    X.sum_duplicates()
    X.eliminate_zeros()
    return Examples(X, np.asarray(y, np.int64), numbers, len(classes))


def _raw(block: Block) -> tuple[sp.csr_array, np.ndarray]:
    if isinstance(block, SparseBlock):
        X = sp.csr_array(block.rows)
        return X, np.unique(X.indices[(X.data != 0.0) & (X.data != 1.0)])
    assert isinstance(block, TableBlock)
    parts, numbers, width = [], [], 0
    for column in block.columns.values():
        if isinstance(column, np.ndarray):
            is_missing = np.isnan(column)
            numbers.append(width)
            # A missing number is 0 and a feature of its own.
            part = np.column_stack([np.where(is_missing, 0.0, column), is_missing])
            parts.append(sp.csr_array(part))
        elif isinstance(column, CategoricalColumn):
            parts.append(_one_hot(column.codes))
        else:
            parts.append(_words(column.tolist()))
        width += parts[-1].shape[1]
    return sp.csr_array(sp.hstack(parts)), np.array(numbers)


def _one_hot(codes: np.ndarray) -> sp.csr_array:
    """A feature for each value, the first for a missing one."""
    n = len(codes)
    return sp.csr_array((np.ones(n), codes + 1, np.arange(n + 1)), shape=(n, int(codes.max()) + 2))


def _words(texts: list[str | None]) -> sp.csr_array:
    """How often each word occurs in each text, in lower case."""
    index_of: dict[str, int] = {}
    indptr, indices, counts = [0], [], []
    for text in texts:
        for word, count in Counter(re.findall(r"\w+", (text or "").lower())).items():
            indices.append(index_of.setdefault(word, len(index_of)))
            counts.append(float(count))
        indptr.append(len(indices))
    return sp.csr_array((counts, indices, indptr), shape=(len(texts), len(index_of)))


def _encoded(block: Block, *, hats: bool) -> sp.csr_array:
    features = Features(hats=hats) if has_hats else Features()
    encoding = encoding_for(block, features)
    parts = []
    for rows in encoding.learn(block):
        arrays = rows.data if rows.indices is None else (rows.data, rows.indices, rows.indptr)
        shape = (len(rows), rows.n_features)
        parts.append(sp.csr_array(arrays) if rows.indices is None else sp.csr_array(arrays, shape=shape))
    width = max(part.shape[1] for part in parts)
    X = sp.csr_array(sp.vstack([_widen(part, width) for part in parts]))
    if not hats or has_hats:
        return X
    if isinstance(encoding, TableEncoding):
        columns = encoding.number_indices
        values = [block.columns[name] for name in encoding.columns("number")]
        is_missing = np.column_stack([np.isnan(v) for v in values]) if values else np.zeros((len(block), 0), bool)
    else:
        columns = encoding.scaler.dense if encoding.scaler is not None else np.zeros(0, np.int64)
        is_missing = np.zeros((len(block), len(columns)), bool)
    return sp.csr_array(sp.hstack([X, _hats(X, columns, is_missing)]))


def _widen(X: sp.csr_array, width: int) -> sp.csr_array:
    return sp.csr_array((X.data, X.indices, X.indptr), shape=(X.shape[0], width))


def _hats(X: sp.csr_array, columns: np.ndarray, is_missing: np.ndarray) -> sp.csr_array:
    """The interpolation weights of standardised numbers, eleven columns for each."""
    by_column = sp.csc_array(X)
    n, parts = X.shape[0], []
    for k, column in enumerate(columns.tolist()):
        z = np.clip(by_column[:, [column]].toarray()[:, 0], KNOTS[0], KNOTS[-1])
        left = np.clip(np.searchsorted(KNOTS, z, side="right") - 1, 0, len(KNOTS) - 2)
        right = (z - KNOTS[left]) / (KNOTS[left + 1] - KNOTS[left])
        weights = np.where(is_missing[:, [k]], 0.0, np.column_stack([1.0 - right, right]))
        indices = np.column_stack([left, left + 1])
        parts.append(sp.csr_array((weights.ravel(), indices.ravel(), np.arange(0, 2 * n + 1, 2)), (n, len(KNOTS))))
    return sp.csr_array(sp.hstack(parts)) if parts else sp.csr_array((n, 0))

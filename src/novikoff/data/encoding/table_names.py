"""Names of the features that a block of a table brings, in the order of the rows that bring them."""

from __future__ import annotations

import numpy as np

from novikoff.data.encoding.names import NameBatch
from novikoff.data.encoding.ngrams import NgramBag
from novikoff.data.encoding.one_hot import OneHotFeatures
from novikoff.data.encoding.vocabulary import Vocabulary

__all__ = ["first_rows", "learn_names", "names_of"]


def names_of(one_hot: list[OneHotFeatures], bag: NgramBag | None) -> NameBatch:
    """Return the names of the features of a block."""
    batch = NameBatch.with_prefixes([(each.prefix, each.used_values) for each in one_hot])
    return NameBatch.concatenate([batch, *([bag.names] if bag else [])])


def first_rows(one_hot: list[OneHotFeatures], bag: NgramBag | None) -> np.ndarray:
    """Return for each of the names the row that brings it first."""
    rows = [each.first_rows for each in one_hot] + ([bag.rows] if bag else [])
    return np.concatenate([np.empty(0, np.int64), *rows])


def learn_names(vocabulary: Vocabulary, names: NameBatch, rows: np.ndarray) -> np.ndarray:
    """Return the indices of names; new ones are numbered in the order of the rows that bring them."""
    if (rows[1:] >= rows[:-1]).all():
        return vocabulary.find_indices(names, learn=True)
    indices, order = np.empty(len(names), np.int32), np.argsort(rows, kind="stable")
    indices[order] = vocabulary.find_indices(names[order], learn=True)
    return indices

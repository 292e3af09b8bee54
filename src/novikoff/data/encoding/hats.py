"""TableHats: the features of a table that are hats, and which numbers they belong to.

A number z of a column, standardised, has two hats: the weights 1 - a and a with which it is interpolated between the
knots to its left and to its right, z clipped to the outermost ones. With a weight per hat a linear learner draws a
broken line over z, beside the straight one that the weight of z draws.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled.loops.hats import KNOTS, N_KNOTS
from novikoff.data.encoding.name_table import grow
from novikoff.data.encoding.one_hot import OneHotFeatures
from novikoff.data.feature_names import hat_name_parts
from novikoff.model_files import Section

__all__ = ["TableHats", "find_own"]


class TableHats:
    """The hats of the numeric columns of a table; all hats of a column are there from its first row on.

    Attributes
    ----------
    indices : ndarray
        For each numeric column the indices of its hats, one for each knot.
    """

    def __init__(self) -> None:
        self.indices = np.zeros((0, N_KNOTS), np.int32)
        # The indices that hats were the first to get. With hash bits, a hat may share the index of an earlier feature.
        self._own = np.zeros(0, np.int32)
        self._is_hat = np.zeros(0, np.uint8)

    @staticmethod
    def features_of(column: str, row: int) -> OneHotFeatures:
        """Return the names of the hats of a column that begins in this row."""
        return OneHotFeatures.first_seen(row, *hat_name_parts(column, KNOTS))

    def add(self, indices: np.ndarray, own: np.ndarray) -> None:
        """Add the hats of columns; `own` are those of their indices that had no name before."""
        self._own, self._is_hat = np.concatenate([self._own, own]), np.zeros(0, np.uint8)
        self.indices = np.concatenate([self.indices, indices.reshape(-1, N_KNOTS)])

    def is_hat(self, n_features: int) -> np.ndarray:
        """Return for each feature 1 if it is a hat, else 0; a shared index is what the first that got it is."""
        if len(self._is_hat) < n_features:
            is_hat = grow(np.zeros(len(self._is_hat), np.uint8), n_features)
            is_hat[self._own] = 1
            self._is_hat = is_hat
        return self._is_hat[:n_features]

    def snapshot(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what `restore` needs to forget the columns that come from now on."""
        return self.indices, self._own

    def restore(self, snapshot: tuple[np.ndarray, np.ndarray]) -> None:
        """Forget the columns that came after a snapshot."""
        self.indices, self._own = snapshot
        self._is_hat = np.zeros(0, np.uint8)

    def write_to(self, section: Section) -> None:
        """Write everything to a section of a model file."""
        section.add_tensor("indices", self.indices)
        section.add_tensor("own", self._own)

    @classmethod
    def read_from(cls, section: Section, n_columns: int, n_features: int) -> TableHats:
        """Read what `write_to` wrote."""
        hats = cls()
        hats.indices = section.indices("indices", (n_columns, N_KNOTS), n_features, np.int32)
        hats._own = section.indices("own", (None,), n_features, np.int32)
        section.require(np.isin(hats._own, hats.indices).all(), "it has hats of no column")
        return hats


def find_own(indices: np.ndarray, rows: np.ndarray, n_before: int) -> np.ndarray:
    """Return which names have an index of their own: one that was not given out before, to n_before names or to an
    earlier one of these. `rows` has the row in which each name comes first."""
    order = np.argsort(rows, kind="stable")
    _, firsts = np.unique(indices[order], return_index=True)
    is_own = np.zeros(len(indices), bool)
    is_own[order[firsts]] = True
    return is_own & (indices >= n_before)

"""SparseHats: hats of the dense numbers of svmlight files and Vowpal Wabbit's text, and the indices of all features.

Features have numbers there: the columns of svmlight, or the order in which a vocabulary has met names. Without hats
these numbers are the indices of their weights. Hats need indices too, and it is not known in advance which features
will have hats, nor how many features there will be. So features and hats get the next free index when they first
occur, in the order of the rows.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled.loops import sparse_hats as loops
from novikoff._compiled.loops.hats import KNOTS, N_KNOTS
from novikoff._compiled.loops.sparse_moments import CsrArrays
from novikoff.data.feature_names import hat_name
from novikoff.inputs.rows import Rows
from novikoff.model_files import Section

__all__ = ["SparseHats"]


class SparseHats:
    """Adds hats to sparse rows whose dense numbers are standardised.

    Attributes
    ----------
    n_known : int
        The number of features.
    n_features : int
        The number of features and hats.
    """

    def __init__(self) -> None:
        self.n_known = self.n_features = 0
        self._indices = loops.HatIndices(np.zeros(0, np.int32), np.zeros(0, np.int32))
        self._is_hat = np.zeros(0, np.uint8)

    @classmethod
    def for_features(cls, n_features: int, having: np.ndarray) -> SparseHats:
        """Return hats for some of n_features features, which keep their numbers: the hats come behind all of them."""
        hats = cls()
        hats._grow(n_features)
        hats.n_known, hats.n_features = n_features, n_features + N_KNOTS * len(having)
        hats.indices[:] = np.arange(n_features)
        hats.first_hats[:] = -1
        hats.first_hats[having] = n_features + N_KNOTS * np.arange(len(having))
        return hats

    @property
    def indices(self) -> np.ndarray:
        """The index of each feature."""
        return self._indices.features[: self.n_known]

    @property
    def first_hats(self) -> np.ndarray:
        """For each feature the index of the first of its hats, -1 if it has none."""
        return self._indices.first_hats[: self.n_known]

    def learn(self, csr: CsrArrays, n_rows: int) -> Rows:
        """Return the first rows with hats, after giving an index to what is new."""
        self._grow(int(csr.indices[: csr.indptr[n_rows]].max(initial=-1)) + 1)
        return self._add(csr, n_rows, learn=True)

    def encode(self, csr: CsrArrays, n_rows: int) -> Rows:
        """Return the first rows with hats, without what is new."""
        return self._add(csr, n_rows, learn=False)

    def learn_plain(self, rows: Rows) -> Rows:
        """Return rows of a stream that has had no numbers yet, and so no hats."""
        assert rows.indices is not None
        n = max(self.n_known, int(rows.indices.max(initial=-1)) + 1)
        self._grow(n)
        self._indices.features[self.n_known : n] = np.arange(self.n_known, n)
        self._indices.first_hats[self.n_known : n] = -1
        self.n_known = self.n_features = n
        return self.encode_plain(rows)

    def encode_plain(self, rows: Rows) -> Rows:
        """Return rows of a stream that has had no numbers yet, without the features that are new."""
        return rows.narrow(self.n_features)

    def _add(self, csr: CsrArrays, n_rows: int, *, learn: bool) -> Rows:
        indptr, n_entries = csr.indptr[: n_rows + 1], int(csr.indptr[n_rows])
        size = n_entries + 2 * int(np.count_nonzero(csr.is_standardised[:n_entries]))
        out = CsrArrays(
            np.empty_like(indptr), np.empty(size, csr.indices.dtype), np.empty(size), np.empty(n_rows), np.empty(0)
        )
        n_known, n_features, used = loops.add_hats(
            csr._replace(indptr=indptr), self._indices, self.n_known, self.n_features, learn, out
        )
        self.n_known, self.n_features = n_known, n_features
        return Rows.from_csr(
            out.data[:used], out.indices[:used], out.indptr, n_features, out.squared_norms, self._is_hat_of_rows()
        )

    def _is_hat_of_rows(self) -> np.ndarray | None:
        return None if self.n_features == self.n_known else self.is_hat()

    def hats_of(self, columns: np.ndarray) -> np.ndarray:
        """Return the indices of the hats of some features, which have hats: a row for each."""
        hats: np.ndarray = self.first_hats[columns][:, None] + np.arange(N_KNOTS)
        return hats

    def is_hat(self) -> np.ndarray:
        """Return for each feature and hat 1 if it is a hat, else 0."""
        if len(self._is_hat) != self.n_features:
            self._is_hat = np.ones(self.n_features, np.uint8)
            self._is_hat[self.indices] = 0
        return self._is_hat

    def _grow(self, n: int) -> None:
        known = len(self._indices.features)
        if n > known:
            size = max(n, known + known // 4)
            larger = loops.HatIndices(np.zeros(size, np.int32), np.zeros(size, np.int32))
            for new, old in zip(larger, self._indices, strict=True):
                new[:known] = old
            self._indices = larger

    def names(self, names: list[str]) -> list[str]:
        """Return the names of all features and hats, given those of the features by their numbers."""
        all_names = [""] * self.n_features
        for name, index, first in zip(names, self.indices.tolist(), self.first_hats.tolist(), strict=False):
            all_names[index] = name
            if first >= 0:
                all_names[first : first + N_KNOTS] = [hat_name(name, knot) for knot in KNOTS]
        return all_names

    # -- undoing

    def snapshot(self) -> tuple[int, int]:
        """Return what `restore` needs to forget what comes from now on."""
        return self.n_known, self.n_features

    def restore(self, snapshot: tuple[int, int]) -> None:
        """Go back to a snapshot, even if `learn` was interrupted since."""
        self.n_known, self.n_features = snapshot
        first_hats = self._indices.first_hats
        first_hats[first_hats >= self.n_features] = -1
        self._is_hat = np.zeros(0, np.uint8)

    # -- model files

    def write_to(self, section: Section) -> None:
        """Write the features that have hats, in the order in which they got them, and the first hat of each."""
        first_hats = self.first_hats
        with_hats = np.flatnonzero(first_hats >= 0)
        with_hats = with_hats[np.argsort(first_hats[with_hats])]
        section.facts["features"] = self.n_known
        section.add_tensor("having", with_hats)
        section.add_tensor("first", first_hats[with_hats])

    @classmethod
    def read_from(cls, section: Section, n_features: int) -> SparseHats:
        """Read what `write_to` wrote, for at most n_features features."""
        hats = cls()
        n = section.fact("features", int)
        section.require(0 <= n <= n_features, "it has hats of more features than there are")
        with_hats = section.indices("having", (None,), n)
        n_all = n + N_KNOTS * len(with_hats)
        first = section.indices("first", (len(with_hats),), max(n_all - N_KNOTS + 1, 0), np.int32)
        section.require(len(np.unique(with_hats)) == len(with_hats), "a feature has hats twice")
        section.require((np.diff(first) >= N_KNOTS).all(), "its hats overlap")
        is_hat = np.zeros(n_all, bool)
        is_hat[first[:, None] + np.arange(N_KNOTS)] = True
        hats._grow(n)
        hats.n_known, hats.n_features = n, n_all
        hats.indices[:] = np.flatnonzero(~is_hat)
        hats.first_hats[:] = -1
        hats.first_hats[with_hats] = first
        return hats

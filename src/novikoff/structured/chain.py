"""The weights of a chain of tags, and everything that is counted while they are learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from novikoff.kernels import chains as kernels
from novikoff.kernels.chains import EXAMPLES, LOGGED, MISTAKES, N_COUNTS, ROWS, SQUARED_NORM, SQUARED_RADIUS
from novikoff.ledger import Trace
from novikoff.structured.account import SentenceLedger
from novikoff.structured.features import Features, Program, Table
from novikoff.structured.sentences import Tokens

__all__ = ["Chain", "Lesson"]

_CHUNK = 4096  # sentences in a compiled call: leaves room for Ctrl-C
_LANES = 8  # rows of weights are filled up to a multiple: so many are added at once
_NARROW = 2**30  # sums below it, and twice as much, fit into 32 bits


@dataclass(frozen=True, eq=False)
class Lesson:
    """Sentences to learn from: tokens, their features and tags, and the row of weights that each feature has."""

    tokens: Tokens
    features: Features
    tags: np.ndarray
    row_of: np.ndarray


class Chain:
    """What a tagger has learned.

    Attributes
    ----------
    weights, moments : ndarray
        W and U of `kernels.chains`: a row of tags for each feature that was ever part of an update, and some zeros.
    pairs, pair_moments : ndarray
        The same for pairs of neighbouring tags.
    counts : ndarray of int64
        Sentences, mistakes, rows in use, |w|^2, R^2.
    keys, origins : ndarray
        Of each row the hash of its feature, and what it was made of.
    """

    def __init__(self, *, with_pairs: bool, most_atoms: int) -> None:
        self.with_pairs = with_pairs
        self.weights: np.ndarray = np.zeros((0, 0), np.int32)
        self.moments: np.ndarray = np.zeros((0, 0), np.int64)
        self.pairs: np.ndarray = np.zeros((0, 0), np.int32)
        self.pair_moments: np.ndarray = np.zeros((0, 0), np.int64)
        self.counts = np.zeros(N_COUNTS, np.int64)
        self.keys: np.ndarray = np.zeros(0, np.uint64)
        self.origins: np.ndarray = np.zeros((0, 1 + most_atoms), np.int32)
        self.table, self.trace, self.passes = Table(), Trace(), 0
        self._local_of: np.ndarray = np.zeros(0, np.int32)  # of each row its number in the lesson that made it

    @property
    def n_tags(self) -> int:
        return self.pairs.shape[0]

    @property
    def n_rows(self) -> int:
        return int(self.counts[ROWS])

    @property
    def examples(self) -> int:
        return int(self.counts[EXAMPLES])

    def widen(self, n_tags: int) -> None:
        """Make room for tags that were never met before; their weights are 0."""
        if n_tags > self.n_tags:
            wider = (0, -(-n_tags // _LANES) * _LANES - self.weights.shape[1])
            self.weights = np.pad(self.weights[: self.n_rows], ((0, 0), wider))
            self.moments = np.pad(self.moments[: self.n_rows], ((0, 0), wider))
            longer = (0, n_tags - self.n_tags)
            self.pairs, self.pair_moments = (
                np.pad(self.pairs, (longer, wider)),
                np.pad(self.pair_moments, (longer, wider)),
            )

    def lesson(self, tokens: Tokens, features: Features, tags: np.ndarray) -> Lesson:
        """Get ready to learn from these."""
        row_of = self.table.places(features.keys)
        self._reserve(self.n_rows + int(np.count_nonzero(row_of < 0)))
        return Lesson(tokens, features, tags, row_of)

    def _reserve(self, rows: int) -> None:
        """Have memory for this many rows. The system gives it when it is first written to, and most never is."""
        for name in ("weights", "moments", "keys", "origins", "_local_of"):
            array: np.ndarray = getattr(self, name)
            if len(array) < rows:
                larger = np.zeros((max(rows, 3 * self.n_rows // 2), *array.shape[1:]), array.dtype)
                kept = array[: self.n_rows]
                larger[: len(kept)] = kept  # _local_of may be shorter: what a file was read into has had no lesson
                setattr(self, name, larger)

    def learn(self, lesson: Lesson, order: np.ndarray, program: Program, *, with_names: bool) -> int:
        """Once through the sentences, in this order; return the mistakes made."""
        before, first_row = int(self.counts[MISTAKES]), self.n_rows
        log = np.empty((min(_CHUNK, len(order)), 3), np.int64)
        for part in _pieces(order):
            self._widen_numbers(lesson)
            kernels.learn_sentences(
                part, lesson.tokens.starts, lesson.features.ids, lesson.tags, lesson.row_of, self._local_of,
                self.weights, self.moments, self.pairs, self.pair_moments, self.with_pairs, lesson.tokens.longest,
                self.counts, log,
            )  # fmt: skip
            self._record(log[: self.counts[LOGGED]])
        self._settle(lesson, program, first_row, with_names)
        self.passes += 1
        return int(self.counts[MISTAKES]) - before

    def _widen_numbers(self, lesson: Lesson) -> None:
        """Go over to 64 bits if sums could leave 32 within the next call, which takes very long sentences.

        A sentence of n tokens with k templates has |phi| <= n sqrt(k + 1). A mistake adds at most (2 |phi|)^2 to |w|^2,
        since <w, delta> <= 0; and every sum on the way to the best chain is at most |w| |phi|.
        """
        squared = lesson.tokens.longest**2 * (lesson.features.ids.shape[1] + 1)
        most = (int(self.counts[SQUARED_NORM]) + _CHUNK * 4 * squared) * squared
        if most >= _NARROW**2 and self.weights.dtype == np.int32:
            self.weights, self.pairs = self.weights.astype(np.int64), self.pairs.astype(np.int64)

    def _record(self, log: np.ndarray) -> None:
        if len(log):
            self.trace.add(int(log[0, 1]), log[:, 0], log[:, 1], log[:, 2], None)

    def _settle(self, lesson: Lesson, program: Program, first_row: int, with_names: bool) -> None:
        """Remember which features the new rows belong to."""
        new, local = slice(first_row, self.n_rows), self._local_of[first_row : self.n_rows]
        self.keys[new] = lesson.features.keys[local]
        self.table.enter(self.keys[: self.n_rows])
        if with_names:
            self.origins[new] = program.origins(lesson.tokens, lesson.features.firsts[local])

    def read(self, hypothesis: str) -> tuple[np.ndarray, np.ndarray]:
        """The weights that answer: the last, or the mean of all times the number of examples, both whole numbers."""
        last = self.weights[: self.n_rows]
        if hypothesis == "last":
            return last, self.pairs
        return (
            _averaged(last, self.moments[: self.n_rows], self.examples),
            _averaged(self.pairs, self.pair_moments, self.examples),
        )

    def ledger(self) -> SentenceLedger:
        """The account of how these weights came to be."""
        mistakes = int(self.counts[MISTAKES])
        return SentenceLedger(
            examples=self.examples,
            mistakes=mistakes,
            updates=mistakes,
            passes=self.passes,
            radius=float(np.sqrt(self.counts[SQUARED_RADIUS])),
            norm=float(np.sqrt(self.counts[SQUARED_NORM])),
            step_sum=float(mistakes),
            trace=self.trace.copy(),
            n_weights=(self.n_rows + self.n_tags) * self.n_tags,
        )


def _pieces(order: np.ndarray) -> Iterator[np.ndarray]:
    return (order[at : at + _CHUNK] for at in range(0, len(order), _CHUNK))


def _averaged(weights: np.ndarray, moments: np.ndarray, examples: int) -> np.ndarray:
    total = weights.astype(np.int64)
    total *= examples
    total -= moments
    return total

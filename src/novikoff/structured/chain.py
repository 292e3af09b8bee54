"""The weights of a chain of tags, and everything that is counted while they are learned."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.kernels import chains as kernels
from novikoff.kernels.chains import EXAMPLES, LOGGED, MISTAKES, N_COUNTS, ROWS, SQUARED_NORM, SQUARED_RADIUS
from novikoff.ledger import Trace
from novikoff.structured.account import SentenceLedger
from novikoff.structured.constraints import no_bars
from novikoff.structured.features import Features, Program
from novikoff.structured.sentences import Tokens
from novikoff.structured.table import Table

__all__ = ["NARROW", "Chain", "Lesson", "Search", "floor_of"]

_CHUNK = 4096  # sentences in a compiled call: leaves room for Ctrl-C
_LANES = 8  # rows of weights are filled up to a multiple: so many are added at once
NARROW = 2**25  # sums of weights at one token below it: sums of chains, less the best, then fit into 32 bits


@dataclass(frozen=True)
class Search:
    """How chains are searched: of order one or two, exactly or with a beam."""

    markov_order: int = 1
    beam: int | None = None

    def room(self, n_tags: int, width: int, longest: int, *, with_links: bool, number: Any) -> kernels.Room:
        """Memory for the work on a sentence."""
        n, is_second, wide = max(1, longest), self.markov_order == 2, self.beam or 0
        n_kept = n if wide else 0
        return kernels.Room(
            E=np.empty((n, width), number),
            Q=np.empty((n if with_links else 1, n_tags, width), number),
            best=np.empty((n, width), number),
            best_pairs=np.empty((n, n_tags, width) if is_second and not wide else (0, 0, 0), number),
            guess=np.empty(n, np.int32),
            scores=np.empty((n_tags**2 if is_second else n_tags) if wide else 0, np.int64),
            froms=np.empty((n_tags**2 if is_second else n_tags) if wide else 0, np.int32),
            kept=np.empty((n_kept, wide), np.int32),
            kept_scores=np.empty((n_kept, wide), np.int64),
            kept_froms=np.empty((n_kept, wide), np.int32),
        )


def floor_of(number: Any) -> int:
    """Lower than any sum that may be; three of them fit into the numbers."""
    return -(2**29) if number == np.int32 else -(2**61)


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
    triples, triple_moments : ndarray
        The same for three tags in a row; empty for chains of order one.
    counts : ndarray of int64
        Sentences, mistakes, rows in use, |w|^2, R^2.
    keys, origins : ndarray
        Of each row the hash of its feature, and what it was made of.
    bars : Bars
        What may not be.
    """

    def __init__(self, program: Program, search: Search) -> None:
        self.with_pairs, self.search = program.with_pairs, search
        self.weights: np.ndarray = np.zeros((0, 0), np.int32)
        self.moments: np.ndarray = np.zeros((0, 0), np.int64)
        self.pairs: np.ndarray = np.zeros((0, 0), np.int32)
        self.pair_moments: np.ndarray = np.zeros((0, 0), np.int64)
        self.triples: np.ndarray = np.zeros((0, 0, 0), np.int32)
        self.triple_moments: np.ndarray = np.zeros((0, 0, 0), np.int64)
        self.counts = np.zeros(N_COUNTS, np.int64)
        self.keys: np.ndarray = np.zeros(0, np.uint64)
        self.origins: np.ndarray = np.zeros((0, 2 + program.most_atoms), np.int32)
        self.table, self.trace, self.passes, self.bars = Table(), Trace(), 0, no_bars()
        self._feature_of: np.ndarray = np.zeros(0, np.int32)  # of each row its number in the lesson that made it

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
            longer = (0, n_tags - self.n_tags)
            self.weights, self.moments = (
                np.pad(each[: self.n_rows], ((0, 0), wider)) for each in (self.weights, self.moments)
            )
            self.pairs, self.pair_moments = (np.pad(each, (longer, wider)) for each in (self.pairs, self.pair_moments))
            if self.search.markov_order == 2:
                self.triples, self.triple_moments = (
                    np.pad(each, (longer, longer, (0, self.pairs.shape[1] - each.shape[2])))
                    for each in (self.triples, self.triple_moments)
                )

    def lesson(self, tokens: Tokens, features: Features, tags: np.ndarray) -> Lesson:
        """Get ready to learn from these."""
        row_of = self.table.places(features.keys)
        self._reserve(self.n_rows + int(np.count_nonzero(row_of < 0)))
        return Lesson(tokens, features, tags, row_of)

    def _reserve(self, rows: int) -> None:
        """Have memory for this many rows. The system gives it when it is first written to, and most never is."""
        for name in ("weights", "moments", "keys", "origins", "_feature_of"):
            array: np.ndarray = getattr(self, name)
            if len(array) < rows:
                larger = np.zeros((max(rows, 3 * self.n_rows // 2), *array.shape[1:]), array.dtype)
                kept = array[: self.n_rows]
                larger[: len(kept)] = kept  # _feature_of may be shorter: what a file was read into has had no lesson
                setattr(self, name, larger)

    def learn(self, lesson: Lesson, order: np.ndarray, program: Program, *, with_names: bool) -> int:
        """Once through the sentences, in this order; return the mistakes made."""
        before, first_row = int(self.counts[MISTAKES]), self.n_rows
        log = np.empty((min(_CHUNK, len(order)), 3), np.int64)
        features = lesson.features
        lessons = kernels.Lessons(lesson.tokens.starts, features.ids, features.links, features.after, lesson.tags,
                                  lesson.row_of, self._feature_of)  # fmt: skip
        learned = kernels.Learned(self.weights, self.moments, self.pairs, self.pair_moments, self.triples,
                                  self.triple_moments)  # fmt: skip
        try:
            for part in _pieces(order):
                number = self._number(lesson)
                floor, width = floor_of(number), self.pairs.shape[1]
                room = self.search.room(self.n_tags, width, lesson.tokens.longest, number=number,
                                        with_links=bool(program.n_links))  # fmt: skip
                kernels.learn_sentences(part, lessons, learned, self.with_pairs, bool(self.search.beam),
                                        *self.bars.weights(width, floor), floor, room, self.counts, log)  # fmt: skip
                self._record(log[: self.counts[LOGGED]])
        finally:  # also after Ctrl-C between two pieces
            self._settle(lesson, program, first_row, with_names)
        self.passes += 1
        return int(self.counts[MISTAKES]) - before

    def _number(self, lesson: Lesson) -> Any:
        """Whole numbers of 32 bits, if all sums within the next call fit into them, or else of 64.

        A sentence of n tokens with k templates has |phi| <= n sqrt(k + 2). A mistake adds at most (2 |phi|)^2 to |w|^2,
        since <w, delta> <= 0; and what one token and its tag say together is at most |w| sqrt(k + 2).
        """
        k = lesson.features.ids.shape[1] + lesson.features.links.shape[1] + 2
        squared_norm = int(self.counts[SQUARED_NORM]) + _CHUNK * 4 * lesson.tokens.longest**2 * k
        return np.int32 if squared_norm * k < NARROW**2 and not self.bars else np.int64

    def _record(self, log: np.ndarray) -> None:
        if len(log):
            self.trace.add(int(log[0, 1]), log[:, 0], log[:, 1], log[:, 2], None)

    def _settle(self, lesson: Lesson, program: Program, first_row: int, with_names: bool) -> None:
        """Remember which features the new rows belong to."""
        new, ids = slice(first_row, self.n_rows), self._feature_of[first_row : self.n_rows]
        features = lesson.features
        self.keys[new] = features.keys[ids]
        self.table.enter(self.keys[: self.n_rows])
        if with_names:
            self.origins[new] = program.origins(lesson.tokens, features.firsts[ids], features.before_first[ids])

    def read(self, hypothesis: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The weights that answer, of features, pairs and triples: the last, or the mean of all times the number of
        examples, both whole numbers."""
        last = self.weights[: self.n_rows], self.pairs, self.triples
        moments = self.moments[: self.n_rows], self.pair_moments, self.triple_moments
        if hypothesis == "last":
            return last
        averaged = (w * np.int64(self.examples) - u for w, u in zip(last, moments, strict=True))
        return next(averaged), next(averaged), next(averaged)

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
            n_weights=(self.n_rows + self.n_tags + len(self.triples) ** 2) * self.n_tags,
        )


def _pieces(order: np.ndarray) -> Iterator[np.ndarray]:
    return (order[at : at + _CHUNK] for at in range(0, len(order), _CHUNK))

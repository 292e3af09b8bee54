"""The weights of a chain of tags, and everything that is counted while they are learned."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff._compiled.loops import chains as kernels
from novikoff._compiled.loops.beam_search import Beam
from novikoff._compiled.loops.chains import EXAMPLES, LOGGED, MISTAKES, N_COUNTS, ROWS, SQUARED_NORM, SQUARED_RADIUS
from novikoff._compiled.loops.simd import EIGHT
from novikoff.perceptron.ledger import Trace
from novikoff.structured.constraints import Bars, no_bars
from novikoff.structured.features import Features, Program
from novikoff.structured.hash_table import Table
from novikoff.structured.ledger import SentenceLedger
from novikoff.structured.sentences import Tokens

__all__ = ["Chain", "Lesson", "Search", "floor_of", "number_for"]

_CHUNK = 4096  # sentences in a compiled call: leaves room for Ctrl-C
_ROWS = ("weights", "moments", "keys", "origins", "_feature_of")  # arrays with an entry for each row of weights
_NARROW = 2**25  # what is said at one token: if it is less, sums of chains, less the best, fit into 32 bits


@dataclass(frozen=True)
class Search:
    """How chains are searched: of order one or two, exactly or with a beam."""

    markov_order: int = 1
    beam: int | None = None

    def room(
        self, n_tags: int, width: int, longest: int, *, with_links: bool, number: Any, n_features: int = 0
    ) -> kernels.Room:
        """Memory for the work on a sentence, with so many features of a token to be looked up."""
        n = max(1, longest)
        with_triples = self.markov_order == 2 and self.beam is None
        return kernels.Room(
            E=np.empty((n, width), number),
            Q=np.empty((n if with_links else 1, n_tags, width), number),
            best=np.empty((n, width), number),
            top=np.empty(1, number),
            best_pairs=np.empty((n, n_tags, width) if with_triples else (0, 0, 0), number),
            guess=np.empty(n, np.int32),
            rows=np.empty((n, n_features), np.int64),
            sizes=np.empty(n, np.int64),
        )

    def room_for_beam(self, n_tags: int, longest: int) -> Beam | None:
        """The same for a beam, if there is one."""
        if self.beam is None:
            return None
        n_keys, shape = n_tags**self.markov_order, (max(1, longest), self.beam)
        return Beam(
            scores=np.empty(n_keys, np.int64),
            froms=np.empty(n_keys, np.int32),
            kept=np.empty(shape, np.int32),
            kept_scores=np.empty(shape, np.int64),
            kept_froms=np.empty(shape, np.int32),
        )


def number_for(most: int, bars: Bars) -> Any:
    """Whole numbers of 32 bits if they do, or else of 64, where features, pairs and triples each say at most so much.

    Any two sums at one token differ by what is said on the way from the last state they had in common: one step ago,
    two for chains of order two, and four where others are barred.
    """
    return np.int32 if most < (_NARROW // 4 if bars else _NARROW) else np.int64


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


@dataclass(frozen=True, eq=False)
class Undo:
    """What a chain needs to be as it was before its successor has learned: some rows of weights and moments."""

    chain: Chain
    successor: Chain
    rows: np.ndarray | slice
    weights: np.ndarray
    moments: np.ndarray

    def apply(self) -> None:
        """Undo what the successor has learned, all of it or a part. May be called again if it was interrupted."""
        chain, new = self.chain, slice(self.chain.n_rows, self.successor.n_rows)
        chain.weights[self.rows], chain.moments[self.rows] = self.weights, self.moments
        chain.weights[new] = chain.moments[new] = 0
        chain.table = Table.of(chain.keys[: chain.n_rows])


class Chain:
    """What a tagger has learned.

    `learn` changes the weights in place, which may be many. To learn from one of its successors leaves all else as it
    is, and `Undo` the weights.

    Attributes
    ----------
    weights, moments : ndarray
        W and U of `kernels.chains`: a row of tags for each feature that was ever part of an update, and some zeros.
    pairs, pair_moments : ndarray
        The same for pairs of neighbouring tags.
    triples, triple_moments : ndarray or None
        The same for three tags in a row; None for chains of order one.
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
        is_second = search.markov_order == 2
        self.triples: np.ndarray | None = np.zeros((0, 0, 0), np.int32) if is_second else None
        self.triple_moments: np.ndarray | None = np.zeros((0, 0, 0), np.int64) if is_second else None
        self.counts = np.zeros(N_COUNTS, np.int64)
        self.keys: np.ndarray = np.zeros(0, np.uint64)
        self.origins: np.ndarray = np.zeros((0, 2 + program.most_atoms), np.int32)
        self.table, self.trace, self.passes, self.bars = Table(), Trace(), 0, no_bars()
        self._feature_of: np.ndarray = np.zeros(0, np.int32)  # of each row its number in the lesson that made it

    def successor(self) -> Chain:
        """A chain that goes on from this one, with the same rows of weights: those of this one change when it learns,
        unless it has been given more room."""
        found = copy.copy(self)
        found.pairs, found.pair_moments, found.counts = self.pairs.copy(), self.pair_moments.copy(), self.counts.copy()
        if self.triples is not None and self.triple_moments is not None:
            found.triples, found.triple_moments = self.triples.copy(), self.triple_moments.copy()
        found.trace = self.trace.copy()
        return found

    def copy(self) -> Chain:
        """A chain that shares nothing with this one."""
        found = self.successor()
        for name in _ROWS:
            setattr(found, name, getattr(self, name)[: self.n_rows].copy())
        found.table = self.table.copy()
        return found

    def undo(self, successor: Chain, lesson: Lesson) -> Undo:
        """What it takes to be as now after the successor has learned from the lesson."""
        is_shared = successor.weights is self.weights
        rows = lesson.row_of[lesson.row_of >= 0] if is_shared else np.zeros(0, np.int32)
        if 2 * len(rows) > self.n_rows:  # to copy all is faster than to pick most of them
            every = slice(0, self.n_rows)
            return Undo(self, successor, every, self.weights[every].copy(), self.moments[every].copy())
        return Undo(self, successor, rows, self.weights[rows], self.moments[rows])

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
            wider = (0, -(-n_tags // EIGHT) * EIGHT - self.weights.shape[1])
            longer = (0, n_tags - self.n_tags)
            self.weights, self.moments = (
                np.pad(each[: self.n_rows], ((0, 0), wider)) for each in (self.weights, self.moments)
            )
            self.pairs, self.pair_moments = (np.pad(each, (longer, wider)) for each in (self.pairs, self.pair_moments))
            if self.triples is not None and self.triple_moments is not None:
                self.triples, self.triple_moments = (
                    np.pad(each, (longer, longer, wider)) for each in (self.triples, self.triple_moments)
                )

    def lesson(self, tokens: Tokens, features: Features, tags: np.ndarray) -> Lesson:
        """Get ready to learn from these."""
        row_of = self.table.places(features.keys)
        self._reserve(self.n_rows + int(np.count_nonzero(row_of < 0)))
        return Lesson(tokens, features, tags, row_of)

    def _reserve(self, rows: int) -> None:
        """Have memory for this many rows. The system gives it when it is first written to, and most never is."""
        for name in _ROWS:
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
        lessons = kernels.Lessons(
            lesson.tokens.starts,
            features.ids,
            features.links,
            features.after,
            lesson.tags,
            lesson.row_of,
            self._feature_of,
        )
        learned = kernels.Learned(self.weights, self.moments, self.pairs, self.pair_moments)
        for part in _pieces(order):
            number = self._number(lesson)
            floor, width = floor_of(number), self.pairs.shape[1]
            room = self.search.room(
                self.n_tags,
                width,
                lesson.tokens.longest,
                number=number,
                with_links=bool(program.n_links),
                n_features=features.ids.shape[1],
            )
            kernels.learn_sentences(
                part,
                lessons,
                learned,
                self.triples,
                self.triple_moments,
                self.with_pairs,
                *self.bars.weights(width, floor),
                floor,
                room,
                self.search.room_for_beam(self.n_tags, lesson.tokens.longest),
                self.counts,
                log,
            )
            self._record(log[: self.counts[LOGGED]])
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
        return number_for(math.isqrt(squared_norm * k) + 1, self.bars)

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

    def read(self, hypothesis: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """The weights that answer, of features, pairs and triples: the last, or the mean of all times the number of
        examples, both whole numbers."""
        if hypothesis == "last":
            return self.weights[: self.n_rows], self.pairs, self.triples
        n, triples = np.int64(self.examples), None
        if self.triples is not None and self.triple_moments is not None:
            triples = self.triples * n - self.triple_moments
        weights = self.weights[: self.n_rows] * n - self.moments[: self.n_rows]
        return weights, self.pairs * n - self.pair_moments, triples

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
            n_weights=self.n_rows * self.n_tags + sum(self.n_tags**k for k in range(2, self.search.markov_order + 2)),
        )


def _pieces(order: np.ndarray) -> Iterator[np.ndarray]:
    return (order[at : at + _CHUNK] for at in range(0, len(order), _CHUNK))

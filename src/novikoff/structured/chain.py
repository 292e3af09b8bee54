"""ChainState: the weights of chains of tags, and the counters of learning."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff._compiled.loops import chains as loops
from novikoff._compiled.loops.beam_search import BeamBuffers
from novikoff._compiled.loops.chains import EXAMPLES, LOGGED, MISTAKES, N_COUNTS, ROWS, SQUARED_NORM, SQUARED_RADIUS
from novikoff._compiled.loops.simd import EIGHT
from novikoff.perceptron.ledger import LedgerTrace
from novikoff.structured.constraints import TagConstraints
from novikoff.structured.features import FeatureExtractor, TokenFeatures
from novikoff.structured.hash_table import HashTable
from novikoff.structured.ledger import SentenceLedger
from novikoff.structured.sentences import Tokens

__all__ = ["ChainState", "SearchSettings", "TrainingSet", "choose_score_dtype", "neg_inf_of"]

_CHUNK = 4096  # sentences per compiled call: signals such as Ctrl-C are handled between calls
_ROW_ARRAYS = ("weights", "moments", "keys", "origins", "_feature_of")  # arrays with an element for each row of weights
_MAX_INT32_SCORE = 2**25  # with smaller scores per token, differences of sums fit into 32 bits


@dataclass(frozen=True)
class SearchSettings:
    """How chains are searched: of order one or two, exactly or with a beam of this width."""

    markov_order: int = 1
    beam: int | None = None

    def allocate_buffers(
        self, n_tags: int, width: int, longest: int, *, with_transitions: bool, dtype: Any, n_features: int = 0
    ) -> loops.SentenceBuffers:
        """Allocate the memory that the loops need for a sentence, whose tokens have at most `n_features` features."""
        n = max(1, longest)
        with_triples = self.markov_order == 2 and self.beam is None
        return loops.SentenceBuffers(
            E=np.empty((n, width), dtype),
            Q=np.empty((n if with_transitions else 1, n_tags, width), dtype),
            best=np.empty((n, width), dtype),
            top=np.empty(1, dtype),
            best_pairs=np.empty((n, n_tags, width) if with_triples else (0, 0, 0), dtype),
            guess=np.empty(n, np.int32),
            rows=np.empty((n, n_features), np.int64),
            sizes=np.empty(n, np.int64),
        )

    def allocate_beam(self, n_tags: int, longest: int) -> BeamBuffers | None:
        """Allocate the memory that beam search needs for a sentence; None for exact search."""
        if self.beam is None:
            return None
        n_states, shape = n_tags**self.markov_order, (max(1, longest), self.beam)
        return BeamBuffers(
            scores=np.empty(n_states, np.int64),
            parents=np.empty(n_states, np.int32),
            kept=np.empty(shape, np.int32),
            kept_scores=np.empty(shape, np.int64),
            kept_parents=np.empty(shape, np.int32),
        )


def choose_score_dtype(largest: int, constraints: TagConstraints) -> Any:
    """Return int32 if all scores fit, otherwise int64; `largest` bounds the scores of tokens, pairs and triples.

    Any two scores at one token differ by what was added since the last state they had in common: one step ago, two for
    chains of order two, and four where other states are forbidden.
    """
    return np.int32 if largest < (_MAX_INT32_SCORE // 4 if constraints else _MAX_INT32_SCORE) else np.int64


def neg_inf_of(dtype: Any) -> int:
    """Return the score that stands for minus infinity: lower than any possible sum; three of them do not overflow."""
    return -(2**29) if dtype == np.int32 else -(2**61)


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Sentences to learn from: tokens, their features and tags, and the row of weights that each feature has."""

    tokens: Tokens
    features: TokenFeatures
    tags: np.ndarray
    row_of: np.ndarray


@dataclass(frozen=True, eq=False)
class WeightBackup:
    """The rows of weights and moments that restore a state after its successor has begun to learn."""

    state: ChainState
    successor: ChainState
    rows: np.ndarray | slice
    weights: np.ndarray
    moments: np.ndarray

    def restore(self) -> None:
        """Undo whatever the successor has learned. If it is interrupted, it may be called again."""
        state, new = self.state, slice(self.state.n_rows, self.successor.n_rows)
        state.weights[self.rows], state.moments[self.rows] = self.weights, self.moments
        state.weights[new] = state.moments[new] = 0
        state.table = HashTable.from_keys(state.keys[: state.n_rows])

    def copy_restored(self) -> ChainState:
        """Return a copy of the state as it was before the successor began to learn; nothing else changes, so the
        successor may continue."""
        state = self.state.copy()
        state.weights[self.rows], state.moments[self.rows] = self.weights, self.moments
        state.table = HashTable.from_keys(state.keys)  # the successor may be adding keys to the one they share
        return state


class ChainState:
    """The weights of a tagger, and the counters of learning.

    `learn` changes the rows of weights in place, because there may be many. Everything else of a state stays as it is
    while its successor learns, and a `WeightBackup` restores the rows.

    Attributes
    ----------
    weights, moments : ndarray
        W and U of `loops.chains`: a row of tags for each feature that was ever part of an update, and free rows of 0.
    pairs, pair_moments : ndarray
        P and its moments: the weights of pairs of neighbouring tags.
    triples, triple_moments : ndarray or None
        T and its moments: the weights of three tags in a row; None for chains of order one.
    counts : ndarray of int64
        Sentences, mistakes, rows in use, |w|^2, R^2.
    keys, origins : ndarray
        The hash of the feature of each row, and what it was extracted from.
    table : HashTable
        The row of each key.
    constraints : TagConstraints
    """

    def __init__(self, extractor: FeatureExtractor, search: SearchSettings) -> None:
        self.with_pairs, self.search = extractor.with_pairs, search
        self.weights: np.ndarray = np.zeros((0, 0), np.int32)
        self.moments: np.ndarray = np.zeros((0, 0), np.int64)
        self.pairs: np.ndarray = np.zeros((0, 0), np.int32)
        self.pair_moments: np.ndarray = np.zeros((0, 0), np.int64)
        is_second = search.markov_order == 2
        self.triples: np.ndarray | None = np.zeros((0, 0, 0), np.int32) if is_second else None
        self.triple_moments: np.ndarray | None = np.zeros((0, 0, 0), np.int64) if is_second else None
        self.counts = np.zeros(N_COUNTS, np.int64)
        self.keys: np.ndarray = np.zeros(0, np.uint64)
        self.origins: np.ndarray = np.zeros((0, 2 + extractor.most_atoms), np.int32)
        self.table, self.trace, self.passes = HashTable(), LedgerTrace(), 0
        self.constraints = TagConstraints.none()
        self._feature_of: np.ndarray = np.zeros(0, np.int32)  # of each row, in the training set that created it

    @property
    def n_tags(self) -> int:
        return self.pairs.shape[0]

    @property
    def n_rows(self) -> int:
        return int(self.counts[ROWS])

    @property
    def examples(self) -> int:
        return int(self.counts[EXAMPLES])

    # -- copies

    def make_successor(self) -> ChainState:
        """Return a state that continues from this one. It shares the rows of weights until it needs more of them, so
        those of this state change when it learns."""
        successor = copy.copy(self)
        successor.pairs, successor.pair_moments = self.pairs.copy(), self.pair_moments.copy()
        if self.triples is not None and self.triple_moments is not None:
            successor.triples, successor.triple_moments = self.triples.copy(), self.triple_moments.copy()
        successor.counts, successor.trace = self.counts.copy(), self.trace.copy()
        return successor

    def copy(self) -> ChainState:
        """Return a state that shares no memory with this one."""
        state = self.make_successor()
        for name in _ROW_ARRAYS:
            setattr(state, name, getattr(self, name)[: self.n_rows].copy())
        state.table = self.table.copy()
        return state

    def back_up(self, successor: ChainState, training: TrainingSet) -> WeightBackup:
        """Return what restores this state after the successor has learned from the training set, or a part of it."""
        is_shared = successor.weights is self.weights
        rows = training.row_of[training.row_of >= 0] if is_shared else np.zeros(0, np.int32)
        if 2 * len(rows) > self.n_rows:  # copying all rows is faster than selecting most of them
            every = slice(0, self.n_rows)
            return WeightBackup(self, successor, every, self.weights[every].copy(), self.moments[every].copy())
        return WeightBackup(self, successor, rows, self.weights[rows], self.moments[rows])

    # -- learning

    def widen(self, n_tags: int) -> None:
        """Add columns of zeros for tags that were not seen before."""
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

    def prepare(self, tokens: Tokens, features: TokenFeatures, tags: np.ndarray) -> TrainingSet:
        """Find the rows that the features have, and reserve rows for those that have none."""
        row_of = self.table.find(features.keys)
        self._reserve(self.n_rows + int(np.count_nonzero(row_of < 0)))
        return TrainingSet(tokens, features, tags, row_of)

    def _reserve(self, n_rows: int) -> None:
        """Allocate memory for this many rows. The system provides it on the first write, and most is never written."""
        for name in _ROW_ARRAYS:
            array: np.ndarray = getattr(self, name)
            if len(array) < n_rows:
                larger = np.zeros((max(n_rows, 3 * self.n_rows // 2), *array.shape[1:]), array.dtype)
                used = array[: self.n_rows]
                larger[: len(used)] = used  # _feature_of is shorter in a state that was loaded from a file
                setattr(self, name, larger)

    def learn(self, training: TrainingSet, order: np.ndarray, extractor: FeatureExtractor, *, with_names: bool) -> int:
        """Learn once from the sentences, in this order. Return the number of mistakes."""
        before, first_row = int(self.counts[MISTAKES]), self.n_rows
        log = np.empty((min(_CHUNK, len(order)), 3), np.int64)
        tokens, features = training.tokens, training.features
        arrays = loops.TrainingArrays(
            starts=tokens.starts,
            features=features.ids,
            transitions=features.transitions,
            after=features.after,
            tags=training.tags,
            row_of=training.row_of,
            feature_of=self._feature_of,
        )
        weights = loops.ChainWeights(self.weights, self.moments, self.pairs, self.pair_moments)
        width = self.pairs.shape[1]
        for chunk in _split_chunks(order):
            dtype = self._choose_dtype(training)
            buffers = self.search.allocate_buffers(
                self.n_tags,
                width,
                tokens.longest,
                dtype=dtype,
                with_transitions=bool(extractor.n_transitions),
                n_features=features.ids.shape[1],
            )
            loops.learn_sentences(
                chunk,
                arrays,
                weights,
                self.triples,
                self.triple_moments,
                self.with_pairs,
                self.constraints.penalties(width, neg_inf_of(dtype)),
                buffers,
                self.search.allocate_beam(self.n_tags, tokens.longest),
                self.counts,
                log,
            )
            self._record(log[: self.counts[LOGGED]])
        self._index_new_rows(training, extractor, first_row, with_names)
        self.passes += 1
        return int(self.counts[MISTAKES]) - before

    def _choose_dtype(self, training: TrainingSet) -> Any:
        """Return int32 if all scores within the next compiled call fit, otherwise int64.

        A sentence of n tokens with k templates has |phi| <= n sqrt(k + 2). A mistake adds at most (2 |phi|)^2 to |w|^2,
        since <w, delta> <= 0; and the scores of one token and its tag together are at most |w| sqrt(k + 2).
        """
        k = training.features.ids.shape[1] + training.features.transitions.shape[1] + 2
        squared_norm = int(self.counts[SQUARED_NORM]) + _CHUNK * 4 * training.tokens.longest**2 * k
        return choose_score_dtype(math.isqrt(squared_norm * k) + 1, self.constraints)

    def _record(self, log: np.ndarray) -> None:
        if len(log):
            self.trace.extend(int(log[0, 1]), log[:, 0], log[:, 1], log[:, 2], None)

    def _index_new_rows(
        self, training: TrainingSet, extractor: FeatureExtractor, first_row: int, with_names: bool
    ) -> None:
        """Store the key of the feature that each new row belongs to, and what it was extracted from."""
        new, ids = slice(first_row, self.n_rows), self._feature_of[first_row : self.n_rows]
        features = training.features
        self.keys[new] = features.keys[ids]
        self.table.extend_to(self.keys[: self.n_rows])
        if with_names:
            self.origins[new] = extractor.find_origins(
                training.tokens, features.firsts[ids], features.tag_before_first[ids]
            )

    # -- results

    def read_weights(self, hypothesis: str) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
        """Return the weights of features, pairs and triples that predict: the last ones, or the mean times the number
        of examples; both are integers."""
        if hypothesis == "last":
            return self.weights[: self.n_rows], self.pairs, self.triples
        n, triples = np.int64(self.examples), None
        if self.triples is not None and self.triple_moments is not None:
            triples = self.triples * n - self.triple_moments
        weights = self.weights[: self.n_rows] * n - self.moments[: self.n_rows]
        return weights, self.pairs * n - self.pair_moments, triples

    def ledger(self) -> SentenceLedger:
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


def _split_chunks(order: np.ndarray) -> Iterator[np.ndarray]:
    return (order[at : at + _CHUNK] for at in range(0, len(order), _CHUNK))

"""Decoder: from tokens to chains of tags, with weights that do not change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff._compiled.loops import chains as loops
from novikoff._compiled.loops.k_best import list_sentences
from novikoff._compiled.loops.tokens import WordSums, score_tokens
from novikoff._compiled.loops.viterbi import Penalties, TransitionWeights
from novikoff.errors import DataError
from novikoff.structured.chain import choose_score_dtype, neg_inf_of
from novikoff.structured.sentences import Tokens
from novikoff.structured.snapshot import TaggerSnapshot

__all__ = ["Decoder"]


class Decoder:
    """The weights that predict, and the search for the best chains.

    Several threads may use a decoder at once, also while the tagger learns: its weights are a copy.

    For each word, the sum of the weights of all features that depend on that word alone is cached.

    Attributes
    ----------
    snapshot : TaggerSnapshot
        That of the tagger when the decoder was made.
    weights, pairs, triples : ndarray
        Integers, `scale` times the weights.
    """

    def __init__(self, snapshot: TaggerSnapshot, hypothesis: str) -> None:
        if not snapshot.tags:
            raise DataError("This tagger has seen no tag yet: the sentences it has learned from were all empty.")
        extractor, state = snapshot.extractor, snapshot.state
        self.snapshot, self.hypothesis, self._extractor, self._state = snapshot, hypothesis, extractor, state
        self.scale = state.examples if hypothesis == "averaged" else 1
        weights, self.pairs, self.triples = state.read_weights(hypothesis)
        self._largest = _largest(weights)
        is_narrow = self._largest * len(extractor.templates) < 2**31  # for any features of a token
        self.weights = np.array(weights, np.int32 if is_narrow else np.int64, order="C")
        self._table = state.table.copy()
        self._penalties_by_dtype: dict[Any, Penalties] = {}
        self._margin = 2 * extractor.largest_offset + 1
        self._sums = _SumCache.empty(0, len(extractor.groups), self.weights)
        self._every_row = np.arange(len(self.weights) + 1, dtype=np.int32)
        self._every_row[-1] = -1  # the row of feature -1, which is no feature

    def decode(self, tokens: Tokens) -> np.ndarray:
        """Return the code of the tag of each token in the best chain."""
        state, codes = self._state, np.empty(len(tokens), np.int32)
        E = self._score_emissions(tokens)
        dtype = self._choose_dtype(E)
        E = E.astype(dtype, copy=False)
        buffers = state.search.allocate_buffers(
            state.n_tags,
            E.shape[1],
            tokens.longest,
            dtype=dtype,
            with_transitions=bool(self._extractor.n_transitions),
        )
        loops.tag_sentences(
            tokens.starts,
            E,
            self._transition_weights(tokens, dtype),
            self._triples(dtype),
            self._penalties(dtype),
            buffers,
            state.search.allocate_beam(state.n_tags, tokens.longest),
            codes,
        )
        return codes

    def decode_k_best(self, tokens: Tokens, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the k best chains of every sentence: the codes of each token's tags in each of them, -1 where there
        are fewer chains; and the scores of the chains, times `scale`."""
        codes = np.empty((len(tokens), k), np.int32)
        scores = np.zeros((tokens.n_sentences, k), np.int64)
        list_sentences(
            tokens.starts,
            self._score_emissions(tokens).astype(np.int64),
            self._transition_weights(tokens, np.int64),
            self._triples(np.int64),
            self._penalties(np.int64),
            max(1, tokens.longest),
            k,
            codes,
            scores,
        )
        return codes, scores

    def score_chains(self, tokens: Tokens, codes: Sequence[int]) -> np.ndarray:
        """Return the score of every sentence with these tags; NaN where one of them, -1, was never seen."""
        scores = np.empty(tokens.n_sentences)
        loops.score_sentences(
            tokens.starts,
            self._score_emissions(tokens),
            self._transition_weights(tokens, np.int64),
            self._triples(np.int64),
            max(1, tokens.longest),
            np.array(codes, np.int32),
            scores,
        )
        return scores / self.scale

    def _score_emissions(self, tokens: Tokens) -> np.ndarray:
        """Return the score of each tag at each token, without its neighbours."""
        extractor, cache = self._extractor, self._sums_for(tokens)
        width = self.weights.shape[1]
        E = np.empty((len(tokens), width), self.weights.dtype)
        score_tokens(
            tokens.arrays,
            extractor.groups,
            extractor.single,
            extractor.joint,
            self._table.slots,
            self.weights,
            WordSums(cache.sums.reshape(-1, width), cache.has_sum.reshape(-1), self._margin),
            max(1, tokens.longest),
            E,
        )
        return E

    def _sums_for(self, tokens: Tokens) -> _SumCache:
        """Return the cache for the word ids of these tokens. It is kept, unless other threads use a later epoch."""
        n, cache = self._margin + len(tokens.hashes), self._sums
        if tokens.epoch < cache.epoch:
            return _SumCache.empty(n, len(self._extractor.groups), self.weights, tokens.epoch)
        if tokens.epoch > cache.epoch or n > len(cache.sums):
            n_same = self._margin + self.snapshot.n_kept if tokens.epoch > cache.epoch else len(cache.sums)
            cache = self._sums = cache.enlarge(n, n_same, tokens.epoch)
        return cache

    def _choose_dtype(self, E: np.ndarray) -> Any:
        """Return int32 if all scores fit, otherwise int64."""
        transitions = self._largest * self._extractor.n_transitions
        triples = 0 if self.triples is None else _largest(self.triples)
        largest = max(_largest(E), _largest(self.pairs) + transitions, triples)
        return choose_score_dtype(largest, self._state.constraints)

    def _triples(self, dtype: Any) -> np.ndarray | None:
        return None if self.triples is None else self.triples.astype(dtype)

    def _penalties(self, dtype: Any) -> Penalties:
        if dtype not in self._penalties_by_dtype:
            penalties = self._state.constraints.penalties(self.weights.shape[1], neg_inf_of(dtype))
            self._penalties_by_dtype[dtype] = penalties
        return self._penalties_by_dtype[dtype]

    def _transition_weights(self, tokens: Tokens, dtype: Any) -> TransitionWeights:
        """Return the weights of tag pairs, and the transition features of each token with their rows."""
        extractor, n_tags, pairs = self._extractor, self._state.n_tags, self.pairs.astype(dtype)
        if not extractor.n_transitions:
            features, after = np.empty((len(tokens), 0), np.int32), np.empty((0, n_tags), np.int32)
        else:
            keys = extractor.hash_transitions(tokens)
            after = self._table.find(extractor.combine_with_tags(keys, n_tags).ravel()).reshape(len(keys), n_tags)
            features = np.where(keys == 0, -1, np.arange(len(keys), dtype=np.int32))
            features = features.reshape(len(tokens), extractor.n_transitions)
        return TransitionWeights(pairs, features, after, self._every_row, self.weights)


@dataclass(frozen=True, eq=False)
class _SumCache:
    """The sum of weights of each word and group of templates, where has_sum is true."""

    sums: np.ndarray
    has_sum: np.ndarray
    epoch: int

    @classmethod
    def empty(cls, n: int, groups: int, like: np.ndarray, epoch: int = 0) -> _SumCache:
        """Allocate sums of n words, in rows like these. The system provides the memory on the first write."""
        return cls(np.empty((n, groups, like.shape[-1]), like.dtype), np.zeros((n, groups), bool), epoch)

    def enlarge(self, n: int, n_same: int, epoch: int) -> _SumCache:
        """Return a cache for n words or more, with the sums of the first `n_same` words of this one."""
        size = max(n, 3 * len(self.sums) // 2) if n > len(self.sums) else len(self.sums)
        cache = _SumCache.empty(size, self.has_sum.shape[1], self.sums, epoch)
        known = self.has_sum[:n_same].copy()  # other threads may add sums meanwhile
        cache.sums[: len(known)][known] = self.sums[: len(known)][known]
        cache.has_sum[: len(known)] = known
        return cache


def _largest(array: np.ndarray) -> int:
    return max(int(array.max(initial=0)), -int(array.min(initial=0)))

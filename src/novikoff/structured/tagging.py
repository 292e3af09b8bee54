"""FittedTaggerMixin: tags, margins and weights of a tagger that has learned."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from novikoff.errors import DataError
from novikoff.structured.chain import WeightBackup
from novikoff.structured.inference import Decoder
from novikoff.structured.ledger import SentenceLedger
from novikoff.structured.parameters import check_integer
from novikoff.structured.sentence_files import FileColumns
from novikoff.structured.sentences import Sentence, Tokens, check_sentences, encode_sentences, flatten_tags
from novikoff.structured.snapshot import TaggerSnapshot
from novikoff.system.threads import Lock

__all__ = ["MAX_UNKNOWN_WORDS", "FittedTaggerMixin", "ScoredChain"]

T = TypeVar("T")

_CHUNK = 2048  # sentences tagged at a time: bounds the memory for their scores
MAX_UNKNOWN_WORDS = 1 << 16  # words seen while tagging that are remembered


class ScoredChain(NamedTuple):
    """One of the best chains of tags of a sentence, and its score <w, phi(x, y)>."""

    tags: list[Any]
    score: float


class FittedTaggerMixin:
    """The part of `SequenceTagger` that uses what `fit` has learned, and does not change it."""

    hypothesis: str
    hash_bits: int | None
    files: FileColumns | None  # the columns of the files it has learned from; None if not from files
    _snapshot: TaggerSnapshot | None
    _decoder: Decoder | None  # of the current snapshot, or of an earlier one
    _backup: WeightBackup | None  # while a call changes the rows of weights
    _weights_lock: Lock  # for calls that read or change the rows of weights

    def predict(self, sentences: Iterable[Sentence]) -> list[list[Any]]:
        """Return the tags of every sentence: argmax_y <w, phi(x, y)>."""
        sentences, decoder = check_sentences(sentences), self._make_decoder()
        tags, predicted = np.fromiter(decoder.snapshot.tags, object), []
        for tokens in self._encode_chunks(sentences, decoder.snapshot):
            flat = tags[decoder.decode(tokens)].tolist()
            predicted += [flat[begin:end] for begin, end in pairwise(tokens.starts.tolist())]
        return predicted

    def k_best(self, sentences: Iterable[Sentence], k: int) -> list[list[ScoredChain]]:
        """Return the k best chains of tags of every sentence, best first, with their scores.

        The search is exact, even for a tagger with a beam. A sentence that has fewer than k chains gets all of them.

        >>> import novikoff as nk
        >>> tagger = nk.SequenceTagger(["word[0]"], hypothesis="last").fit([["a", "b"]], [["X", "Y"]])
        >>> [(chain.tags, chain.score) for chain in tagger.k_best([["a", "b"]], 2)[0]]
        [(['X', 'Y'], 2.0), (['Y', 'Y'], 1.0)]
        """
        return self._find_k_best(self._make_decoder(), check_sentences(sentences), check_integer("k", k, 1, 10_000))

    def margins(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]] | None = None) -> np.ndarray:
        """Return the margin of each sentence: the score of its best chain of tags minus that of the second best.

        With tags, the score of the true chain minus that of the best other one: negative if the tagger is wrong, and
        NaN if the tagger has never seen one of the true tags. Infinite if there is no other chain.
        """
        sentences, decoder = check_sentences(sentences), self._make_decoder()
        best = self._find_k_best(decoder, sentences, 2)
        leads = np.array([_lead(chains) for chains in best])
        if tags is None:
            return leads
        flat, at = flatten_tags(sentences, tags := list(tags)), 0
        true_scores = []
        for tokens in self._encode_chunks(sentences, decoder.snapshot):
            own = flat[at : (at := at + len(tokens))]
            true_scores.append(decoder.score_chains(tokens, [decoder.snapshot.codes.get(tag, -1) for tag in own]))
        best_scores = np.array([chains[0].score for chains in best])
        behind = np.concatenate([np.empty(0), *true_scores]) - best_scores
        is_right = [chains[0].tags == list(true) for chains, true in zip(best, tags, strict=True)]
        return np.where(is_right, leads, behind)

    def score(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]]) -> float:
        """Return the share of tokens that get the right tag."""
        sentences = check_sentences(sentences)
        flat = flatten_tags(sentences, tags)
        if not flat:
            raise DataError("There is nothing to score: no sentence has a token.")
        predictions = [tag for own in self.predict(sentences) for tag in own]
        return sum(map(_are_equal, predictions, flat)) / len(flat)

    # -- the decoder

    def _make_decoder(self) -> Decoder:
        """Return the decoder of the current weights, which is made on the first use after learning.

        While another thread learns, the decoder from before is returned if there is one; otherwise this waits until the
        other thread has finished.
        """
        return self._cached_decoder() or self._read_weights(self._decoder_of)

    def _decoder_of(self, snapshot: TaggerSnapshot) -> Decoder:
        decoder = self._cached_decoder()  # another thread may have made it meanwhile
        if decoder is None:
            decoder = Decoder(snapshot, self.hypothesis)
            if snapshot is self._snapshot:
                self._decoder = decoder
        return decoder

    def _cached_decoder(self) -> Decoder | None:
        decoder = self._decoder
        if decoder is None or decoder.snapshot is not self._snapshot or decoder.hypothesis != self.hypothesis:
            return None
        return decoder

    def _read_weights(self, read: Callable[[TaggerSnapshot], T]) -> T:
        """Return what a function returns for the current snapshot, whose weights do not change meanwhile.

        A signal handler, a finalizer or an attribute of the user may call this in the middle of a call of the same
        thread, which cannot continue before this returns. If that call is changing the weights, the function gets a
        copy of the snapshot from before.
        """
        if self._weights_lock.is_held_here:
            snapshot, backup = self._require_snapshot(), self._backup
            return read(snapshot if backup is None else replace(snapshot, state=backup.copy_restored()))
        with self._weights_lock:
            self._restore_backup()
            return read(self._require_snapshot())

    def _restore_backup(self) -> None:
        """Undo a change of weights that was interrupted. Call it with the lock on the weights, before reading them; but
        not in a thread that had the lock already, whose change is not interrupted but continues afterwards."""
        if self._backup is not None:
            self._backup.restore()
            self._backup = None

    def _require_snapshot(self) -> TaggerSnapshot:
        """Return the current snapshot; raise a DataError if nothing was learned yet."""
        if self._snapshot is None:
            raise DataError("This tagger has not learned yet: call fit or partial_fit first.")
        return self._snapshot

    # -- sentences

    def _encode_chunks(self, sentences: list[Sentence], snapshot: TaggerSnapshot) -> Iterator[Tokens]:
        """Yield the tokens of the sentences, a chunk of sentences at a time.

        Within another call of the same thread that holds one of the locks, the tokens are of a copy of the table of
        words: the call may be in the middle of a change of the table, or another thread that uses the table may wait
        for the weights.
        """
        for at in range(0, len(sentences), _CHUNK):
            words = snapshot.extractor.words
            if words.lock.is_held_here or self._weights_lock.is_held_here:
                words = words.copy_first(snapshot.n_kept)
                words.epoch = -1  # new words get other ids than in the table, so the decoder must not cache their sums
            elif len(words) > words.n_kept + MAX_UNKNOWN_WORDS:
                words.forget()
            yield encode_sentences(sentences[at : at + _CHUNK], words, len(snapshot.columns))

    def _find_k_best(self, decoder: Decoder, sentences: list[Sentence], k: int) -> list[list[ScoredChain]]:
        best: list[list[ScoredChain]] = []
        for tokens in self._encode_chunks(sentences, decoder.snapshot):
            codes, scores = decoder.decode_k_best(tokens, k)
            for (begin, end), own in zip(pairwise(tokens.starts.tolist()), scores.tolist(), strict=True):
                best.append(_to_chains(decoder, codes[begin:end].T, own))
        return best

    # -- what was learned

    @property
    def tags_(self) -> list[Any]:
        return [] if self._snapshot is None else list(self._snapshot.tags)

    @property
    def ledger_(self) -> SentenceLedger:
        return self._require_snapshot().state.ledger()

    @property
    def n_features_(self) -> int:
        return self._require_snapshot().state.n_rows

    @property
    def columns_(self) -> tuple[str, ...]:
        """The names of the cells of a token."""
        return self._require_snapshot().columns

    @property
    def is_fitted(self) -> bool:
        """Whether it has learned from anything."""
        return self._snapshot is not None

    def known_words(self) -> set[str] | None:
        """Return the words of the sentences it has learned from; None with hash_bits, which stores none."""
        if self.hash_bits is not None:
            return None
        snapshot = self._require_snapshot()
        texts = snapshot.extractor.words.texts
        return {texts[word] for word in np.flatnonzero(snapshot.is_known).tolist()}

    def heaviest(self, top: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """Return for each tag the features with the largest weights, positive or negative, as (name, weight)."""
        decoder, weights = self._make_decoder(), {}
        for tag, column in zip(decoder.snapshot.tags, decoder.weights.T, strict=False):
            largest = np.argsort(-np.abs(column), kind="stable")[:top].tolist()
            weights[tag] = [
                (self._feature_name(decoder.snapshot, row), float(column[row] / decoder.scale))
                for row in largest
                if column[row]
            ]
        return weights

    def _feature_name(self, snapshot: TaggerSnapshot, row: int) -> str:
        if self.hash_bits is not None:
            return f"hash {int(snapshot.state.keys[row]) - 1}"
        extractor, origin = snapshot.extractor, snapshot.state.origins[row].tolist()
        return extractor.format_name(origin, extractor.words.texts, snapshot.tags)

    def transitions(self) -> dict[tuple[Any, Any], float]:
        """Return the weight of each pair of neighbouring tags; empty if the templates have no pairs."""
        decoder = self._make_decoder()
        return _weights_by_tags(decoder, decoder.pairs if decoder.snapshot.state.with_pairs else None)

    def triples(self) -> dict[tuple[Any, Any, Any], float]:
        """Return the weight of each three tags in a row; empty for chains of order one."""
        decoder = self._make_decoder()
        return _weights_by_tags(decoder, decoder.triples)


def _to_chains(decoder: Decoder, chains: np.ndarray, scores: list[int]) -> list[ScoredChain]:
    if not chains.shape[1]:
        return [ScoredChain([], 0.0)]
    tags, exists = decoder.snapshot.tags, chains[:, 0] >= 0
    return [
        ScoredChain([tags[code] for code in chain], score / decoder.scale)
        for chain, score in zip(chains[exists].tolist(), scores, strict=False)
    ]


def _weights_by_tags(decoder: Decoder, weights: np.ndarray | None) -> dict[Any, float]:
    if weights is None:
        return {}
    tags, n = decoder.snapshot.tags, len(weights)
    return {tuple(tags[k] for k in at): float(weights[at] / decoder.scale) for at in np.ndindex((n,) * weights.ndim)}


def _lead(chains: list[ScoredChain]) -> float:
    """Return the score of the best chain minus that of the second best."""
    return chains[0].score - chains[1].score if len(chains) > 1 else float("inf")


def _are_equal(one: Any, other: Any) -> bool:
    return bool(one == other)

"""What a tagger answers: from tokens to chains of tags, with weights that stay as they are for a while."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff._compiled.loops import chains as kernels
from novikoff._compiled.loops.k_best import list_sentences
from novikoff._compiled.loops.tokens import score_tokens
from novikoff.errors import DataError
from novikoff.structured.chain import floor_of, number_for
from novikoff.structured.sentences import Tokens
from novikoff.structured.snapshot import Knowledge

__all__ = ["Answer"]


class Answer:
    """The weights that answer, and for each word what the features that look at it alone add up to; words that are kept
    are never forgotten. Several threads may ask at once, also while the tagger learns: nothing here is changed by that.

    Attributes
    ----------
    known : Knowledge
        Of the tagger when this was made.
    weights, pairs, triples : ndarray
        Of whole numbers, `scale` times what they stand for.
    """

    def __init__(self, known: Knowledge, hypothesis: str) -> None:
        if not known.tags:
            raise DataError("This tagger has met no tag yet: the sentences it has learned from were all empty.")
        program, chain = known.program, known.chain
        self.known, self.hypothesis, self._program, self._chain = known, hypothesis, program, chain
        self.scale = chain.examples if hypothesis == "averaged" else 1
        weights, self.pairs, self.triples = chain.read(hypothesis)
        self._largest = _largest(weights)
        is_narrow = self._largest * len(program.templates) < 2**31  # whatever a token's features are
        self.weights = np.array(weights, np.int32 if is_narrow else np.int64, order="C")
        self._table = chain.table.copy()
        self._barred: dict[Any, tuple[np.ndarray, np.ndarray]] = {}  # by the numbers they are of
        self._margin = 2 * program.reach + 1
        self._sums = _Sums.empty(0, len(program.groups), self.weights)
        self._every_row = np.arange(len(self.weights) + 1, dtype=np.int32)
        self._every_row[-1] = -1  # so that a feature without a row, -1, has none

    def tags(self, tokens: Tokens) -> np.ndarray:
        """The number of the tag of each token, in the best chain of tags."""
        chain, codes = self._chain, np.empty(len(tokens.types), np.int32)
        E = self._scores(tokens)
        number = self._number(E)
        E = E.astype(number, copy=False)
        room = chain.search.room(
            chain.n_tags, E.shape[1], tokens.longest, number=number, with_links=bool(self._program.n_links)
        )
        kernels.tag_sentences(
            tokens.starts,
            E,
            self.pairs.astype(number),
            self._triples(number),
            *self._bars(number),
            *self._links(tokens),
            self.weights,
            floor_of(number),
            room,
            chain.search.room_for_beam(chain.n_tags, tokens.longest),
            codes,
        )
        return codes

    def lists(self, tokens: Tokens, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best chains of every sentence: the tags of each token in each of them, -1 where there are not so many,
        and the chains' scores, times `scale`."""
        codes = np.empty((len(tokens.types), k), np.int32)
        scores = np.zeros((len(tokens.starts) - 1, k), np.int64)
        list_sentences(
            tokens.starts,
            self._scores(tokens).astype(np.int64),
            self.pairs.astype(np.int64),
            self._triples(np.int64),
            *self._bars(np.int64),
            *self._links(tokens),
            self.weights,
            floor_of(np.int64),
            max(1, tokens.longest),
            k,
            codes,
            scores,
        )
        return codes, scores

    def scores_of(self, tokens: Tokens, codes: Sequence[int]) -> np.ndarray:
        """The score of every sentence with these tags; NaN where one of them, -1, was never met."""
        found = np.empty(len(tokens.starts) - 1)
        kernels.score_sentences(
            tokens.starts,
            self._scores(tokens),
            self.pairs.astype(np.int64),
            self._triples(np.int64),
            *self._links(tokens),
            self.weights,
            max(1, tokens.longest),
            np.array(codes, np.int32),
            found,
        )
        return found / self.scale

    def _scores(self, tokens: Tokens) -> np.ndarray:
        """What each token says of each tag."""
        program = self._program
        sums = self._sums_of(tokens)
        E = np.empty((len(tokens.types), self.weights.shape[1]), self.weights.dtype)
        score_tokens(
            tokens.types,
            tokens.starts,
            tokens.values,
            program.groups,
            *program.alone,
            *program.together,
            program.shift,
            self._table.slots,
            self.weights,
            self._margin,
            sums.sums.reshape(-1, self.weights.shape[1]),
            sums.has_sum.reshape(-1),
            max(1, tokens.longest),
            E,
        )
        return E

    def _sums_of(self, tokens: Tokens) -> _Sums:
        """Those of the words of this epoch; kept, unless others are in a later one already."""
        n, found = self._margin + len(tokens.values), self._sums
        if tokens.epoch < found.epoch:
            return _Sums.empty(n, len(self._program.groups), self.weights, tokens.epoch)
        if tokens.epoch > found.epoch or n > len(found.sums):
            same = self._margin + self.known.n_kept if tokens.epoch > found.epoch else len(found.sums)
            found = self._sums = found.with_room(n, same, tokens.epoch)
        return found

    def _number(self, E: np.ndarray) -> Any:
        """Whole numbers of 32 bits if all sums fit into them, or else of 64."""
        links = self._largest * self._program.n_links
        triples = 0 if self.triples is None else _largest(self.triples)
        most = max(_largest(E), _largest(self.pairs) + links, triples)
        return number_for(most, self._chain.bars)

    def _triples(self, number: Any) -> np.ndarray | None:
        return None if self.triples is None else self.triples.astype(number)

    def _bars(self, number: Any) -> tuple[np.ndarray, np.ndarray]:
        if number not in self._barred:
            self._barred[number] = self._chain.bars.weights(self.weights.shape[1], floor_of(number))
        return self._barred[number]

    def _links(self, tokens: Tokens) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Features that go with the tag before: of each token, and the row that each has after each tag."""
        program, n_tags = self._program, self._chain.n_tags
        if not program.n_links:
            return np.empty((len(tokens.types), 0), np.int32), np.empty((0, n_tags), np.int32), self._every_row
        keys = program.link_keys(tokens)
        after = self._table.places(program.keys_after(keys, n_tags).ravel()).reshape(len(keys), n_tags)
        links = np.where(keys == 0, -1, np.arange(len(keys), dtype=np.int32))
        return links.reshape(len(tokens.types), program.n_links), after, self._every_row


@dataclass(frozen=True, eq=False)
class _Sums:
    """Of each word and group of features the sum of their weights, if there is one yet."""

    sums: np.ndarray
    has_sum: np.ndarray
    epoch: int

    @classmethod
    def empty(cls, n: int, groups: int, like: np.ndarray, epoch: int = 0) -> _Sums:
        """For so many words, in rows like these; the system gives the memory when it is first written to."""
        return cls(np.empty((n, groups, like.shape[-1]), like.dtype), np.zeros((n, groups), bool), epoch)

    def with_room(self, n: int, same: int, epoch: int) -> _Sums:
        """Others for n words or more, which begin with those of the first words, if they are the same."""
        size = max(n, 3 * len(self.sums) // 2) if n > len(self.sums) else len(self.sums)
        found = _Sums.empty(size, self.has_sum.shape[1], self.sums, epoch)
        known = self.has_sum[:same].copy()  # other threads go on meanwhile
        found.sums[: len(known)][known] = self.sums[: len(known)][known]
        found.has_sum[: len(known)] = known
        return found


def _largest(array: np.ndarray) -> int:
    return max(int(array.max(initial=0)), -int(array.min(initial=0)))

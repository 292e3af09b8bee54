"""What a tagger answers: from tokens to chains of tags, with weights that stay as they are for a while."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from novikoff.kernels import chains as kernels
from novikoff.kernels.lists import list_sentences
from novikoff.kernels.tokens import score_tokens
from novikoff.structured.chain import Chain, floor_of, number_for
from novikoff.structured.features import Program
from novikoff.structured.sentences import Tokens

__all__ = ["Answer"]


class Answer:
    """The weights that answer, and for each word what the features that look at it alone add up to.

    Attributes
    ----------
    weights, pairs, triples : ndarray
        Of whole numbers, `scale` times what they stand for.
    """

    def __init__(self, program: Program, chain: Chain, hypothesis: str) -> None:
        self._program, self._chain = program, chain
        self.scale = chain.examples if hypothesis == "averaged" else 1
        weights, self.pairs, self.triples = chain.read(hypothesis)
        self._largest = _largest(weights)
        is_narrow = self._largest * len(program.templates) < 2**31  # whatever a token's features are
        self.weights = np.ascontiguousarray(weights, np.int32 if is_narrow else np.int64)
        self._barred: dict[Any, tuple[np.ndarray, np.ndarray]] = {}  # by the numbers they are of
        self._margin = 2 * program.reach + 1
        groups = len(program.groups)
        self._sums = (  # and whether there is one: both or neither are replaced while other threads look on
            np.empty((0, groups, self.weights.shape[1]), self.weights.dtype), np.zeros((0, groups), bool)
        )  # fmt: skip
        self._every_row = np.arange(len(self.weights) + 1, dtype=np.int32)
        self._every_row[-1] = -1  # so that a feature without a row, -1, has none

    def forget(self, n: int) -> None:
        """What was kept of all but the first n words."""
        self._sums[1][n + self._margin :] = False

    def tags(self, tokens: Tokens) -> np.ndarray:
        """The number of the tag of each token, in the best chain of tags."""
        chain, codes = self._chain, np.empty(len(tokens.types), np.int32)
        E = self._scores(tokens)
        number = self._number(E)
        E = E.astype(number, copy=False)
        room = chain.search.room(chain.n_tags, E.shape[1], tokens.longest, number=number,
                                 with_links=bool(self._program.n_links))  # fmt: skip
        kernels.tag_sentences(
            tokens.starts, E, self.pairs.astype(number), self._triples(number), *self._bars(number),
            *self._links(tokens), self.weights, floor_of(number), room,
            chain.search.room_for_beam(chain.n_tags, tokens.longest), codes,
        )  # fmt: skip
        return codes

    def lists(self, tokens: Tokens, k: int) -> tuple[np.ndarray, np.ndarray]:
        """The k best chains of every sentence: the tags of each token in each of them, -1 where there are not so many,
        and the chains' scores, times `scale`."""
        codes = np.empty((len(tokens.types), k), np.int32)
        scores = np.zeros((len(tokens.starts) - 1, k), np.int64)
        list_sentences(
            tokens.starts, self._scores(tokens).astype(np.int64), self.pairs.astype(np.int64),
            self._triples(np.int64), *self._bars(np.int64), *self._links(tokens), self.weights,
            floor_of(np.int64), max(1, tokens.longest), k, codes, scores,
        )  # fmt: skip
        return codes, scores

    def scores_of(self, tokens: Tokens, codes: Sequence[int]) -> np.ndarray:
        """The score of every sentence with these tags; NaN where one of them, -1, was never met."""
        found = np.empty(len(tokens.starts) - 1)
        kernels.score_sentences(
            tokens.starts, self._scores(tokens), self.pairs.astype(np.int64), self._triples(np.int64),
            *self._links(tokens), self.weights, max(1, tokens.longest), np.array(codes, np.int32), found,
        )  # fmt: skip
        return found / self.scale

    def _scores(self, tokens: Tokens) -> np.ndarray:
        """What each token says of each tag."""
        program = self._program
        sums, has_sum = self._sums_of(self._margin + len(program.words))
        E = np.empty((len(tokens.types), self.weights.shape[1]), self.weights.dtype)
        score_tokens(
            tokens.types, tokens.starts, program.words.values(), program.groups, *program.alone, *program.together,
            program.shift, self._chain.table.slots, self.weights, self._margin,
            sums.reshape(-1, self.weights.shape[1]), has_sum.reshape(-1), max(1, tokens.longest), E,
        )  # fmt: skip
        return E

    def _sums_of(self, n: int) -> tuple[np.ndarray, np.ndarray]:
        """The sums, with memory for so many words; the system gives it when it is first written to."""
        sums, has_sum = self._sums
        before = len(sums)
        if n > before:
            more = max(n, 3 * before // 2)
            known, larger = has_sum.copy(), np.empty((more, *sums.shape[1:]), sums.dtype)
            larger[:before][known] = sums[known]
            has_sum = np.zeros(larger.shape[:2], bool)
            has_sum[:before] = known
            self._sums = sums, has_sum = larger, has_sum
        return sums, has_sum

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
        after = self._chain.table.places(program.keys_after(keys, n_tags).ravel()).reshape(len(keys), n_tags)
        links = np.where(keys == 0, -1, np.arange(len(keys), dtype=np.int32))
        return links.reshape(len(tokens.types), program.n_links), after, self._every_row


def _largest(array: np.ndarray) -> int:
    return max(int(array.max(initial=0)), -int(array.min(initial=0)))

"""What a tagger can do once it has learned: tag, say how sure it is, and show what it knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from novikoff.errors import DataError
from novikoff.structured.account import SentenceLedger
from novikoff.structured.answering import Answer
from novikoff.structured.chain import Chain
from novikoff.structured.columns import FileColumns
from novikoff.structured.features import Program
from novikoff.structured.parameters import whole
from novikoff.structured.sentences import Sentence, Tokens, as_list, flat_tags, tokens_of

__all__ = ["STRANGERS", "Guess", "Tagging"]

_AT_ONCE = 2048  # sentences tagged in one go: bounds the memory for their scores
STRANGERS = 1 << 16  # words met while tagging that are remembered for the next time


class Guess(NamedTuple):
    """One of the best chains of tags of a sentence, and its score <w, phi(x, y)>."""

    tags: list[Any]
    score: float


class Tagging:
    """The half of `SequenceTagger` that only reads what the other half has learned."""

    hypothesis: str
    hash_bits: int | None
    tags_: list[Any]
    _codes: dict[Any, int]
    _program: Program | None
    _chain: Chain | None
    _names: tuple[str, ...]  # of the columns
    _n_kept: int  # words of training sentences, which features are named by
    _is_known: np.ndarray  # of those, whether they were in the first column
    _answer: tuple[tuple[int, str], Answer] | None
    files: FileColumns | None  # what it has learned from; None if not from files

    def predict(self, sentences: Iterable[Sentence]) -> list[list[Any]]:
        """The tags of every sentence."""
        found: list[list[Any]] = []
        for tokens in self._in_parts(as_list(sentences)):
            flat = np.fromiter(self.tags_, object)[self._answers().tags(tokens)].tolist()
            found += [flat[begin:end] for begin, end in pairwise(tokens.starts.tolist())]
        return found

    def k_best(self, sentences: Iterable[Sentence], k: int) -> list[list[Guess]]:
        """The k best chains of tags of every sentence, best first, and their scores; always exact, beam or no beam. A
        sentence that has fewer chains gets them all.

        >>> import novikoff as nk
        >>> tagger = nk.SequenceTagger(["word[0]"], hypothesis="last").fit([["a", "b"]], [["X", "Y"]])
        >>> [(guess.tags, guess.score) for guess in tagger.k_best([["a", "b"]], 2)[0]]
        [(['X', 'Y'], 2.0), (['Y', 'Y'], 1.0)]
        """
        k = whole("k", k, 1, 10_000)
        found: list[list[Guess]] = []
        for tokens in self._in_parts(as_list(sentences)):
            answer = self._answers()
            codes, scores = answer.lists(tokens, k)
            for (begin, end), own in zip(pairwise(tokens.starts.tolist()), scores.tolist(), strict=True):
                found.append(self._guesses(codes[begin:end].T, own, answer.scale))
        return found

    def _guesses(self, chains: np.ndarray, scores: list[int], scale: int) -> list[Guess]:
        if not chains.shape[1]:
            return [Guess([], 0.0)]
        there = chains[:, 0] >= 0
        return [Guess([self.tags_[code] for code in chain], score / scale)
                for chain, score in zip(chains[there].tolist(), scores, strict=False)]  # fmt: skip

    def margins(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]] | None = None) -> np.ndarray:
        """By how much each sentence is decided: the score of the best chain of tags, less that of the second.

        With tags, of the right chain less that of the best other one: negative if the tagger is wrong, and NaN if it
        cannot give the right one, for lack of a tag. Infinite if there is no other chain.
        """
        sentences = as_list(sentences)
        guesses = self.k_best(sentences, 2)
        leads = np.array([_lead(own) for own in guesses])
        if tags is None:
            return leads
        flat, at = flat_tags(sentences, tags := list(tags)), 0
        right = []
        for tokens in self._in_parts(sentences):
            own = flat[at : (at := at + len(tokens.types))]
            right.append(self._answers().scores_of(tokens, [self._codes.get(tag, -1) for tag in own]))
        best = np.array([own[0].score for own in guesses])
        behind = np.concatenate([np.empty(0), *right]) - best
        is_right = [own[0].tags == list(given) for own, given in zip(guesses, tags, strict=True)]
        return np.where(is_right, leads, behind)

    def _in_parts(self, sentences: list[Sentence]) -> Iterator[Tokens]:
        """Sentences as numbers, some at a time."""
        program = self._known_program()
        for at in range(0, len(sentences), _AT_ONCE):
            if len(program.words) > self._n_kept + STRANGERS:
                program.words.forget(self._n_kept)
            yield tokens_of(sentences[at : at + _AT_ONCE], program.words, len(self._names))

    def _answers(self) -> Answer:
        """The weights that answer, made when first asked for after learning."""
        chain = self._known_chain()
        if not self.tags_:
            raise DataError("This tagger has met no tag yet: the sentences it has learned from were all empty.")
        key = chain.examples, self.hypothesis
        if self._answer is None or self._answer[0] != key:
            self._answer = key, Answer(self._known_program(), chain, self.hypothesis, self._n_kept)
        return self._answer[1]

    def score(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]]) -> float:
        """The share of tokens that get the right tag."""
        sentences = as_list(sentences)
        flat = flat_tags(sentences, tags)
        if not flat:
            raise DataError("There is nothing to score: no sentence has a token.")
        guesses = [tag for own in self.predict(sentences) for tag in own]
        return sum(map(_same, guesses, flat)) / len(flat)

    # -- what was learned

    @property
    def ledger_(self) -> SentenceLedger:
        return self._known_chain().ledger()

    @property
    def n_features_(self) -> int:
        return self._known_chain().n_rows

    @property
    def columns_(self) -> tuple[str, ...]:
        """What the cells of a token are called."""
        self._known_chain()
        return self._names

    @property
    def is_fitted(self) -> bool:
        """Whether it has learned from anything."""
        return self._chain is not None

    def known_words(self) -> set[str] | None:
        """The words of the sentences it has learned from; None with hash_bits, which keeps none."""
        if self.hash_bits is not None:
            return None
        texts = self._known_program().words.texts
        return {texts[number] for number in np.flatnonzero(self._is_known).tolist()}

    def heaviest(self, top: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """Of each tag the features that speak most for it or against it, by name, with their weights."""
        answer, found = self._answers(), {}
        for tag, column in zip(self.tags_, answer.weights.T, strict=False):
            largest = np.argsort(-np.abs(column), kind="stable")[:top].tolist()
            found[tag] = [(self._name(row), float(column[row] / answer.scale)) for row in largest if column[row]]
        return found

    def transitions(self) -> dict[tuple[Any, Any], float]:
        """The weight of each pair of neighbouring tags; none if the templates know no pairs."""
        return self._weights_of_tags(self._answers().pairs if self._known_chain().with_pairs else None)

    def triples(self) -> dict[tuple[Any, Any, Any], float]:
        """The weight of each three tags in a row; none for chains of order one."""
        return self._weights_of_tags(self._answers().triples)

    def _weights_of_tags(self, weights: np.ndarray | None) -> dict[Any, float]:
        if weights is None:
            return {}
        scale, n = self._answers().scale, len(weights)
        return {tuple(self.tags_[k] for k in at): float(weights[at] / scale) for at in np.ndindex((n,) * weights.ndim)}

    def _name(self, row: int) -> str:
        program, chain = self._known_program(), self._known_chain()
        if self.hash_bits is not None:
            return f"hash {int(chain.keys[row]) - 1}"
        return program.name(chain.origins[row].tolist(), program.words.texts, self.tags_)

    def _known_program(self) -> Program:
        if self._program is None:
            raise DataError("This tagger has not learned yet: call fit or partial_fit first.")
        return self._program

    def _known_chain(self) -> Chain:
        self._known_program()
        assert self._chain is not None
        return self._chain


def _lead(guesses: list[Guess]) -> float:
    """By how much the best is ahead of the second."""
    return guesses[0].score - guesses[1].score if len(guesses) > 1 else float("inf")


def _same(one: Any, other: Any) -> bool:
    return bool(one == other)

"""What a tagger can do once it has learned: tag, say how sure it is, and show what it knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from novikoff.errors import DataError
from novikoff.structured.chain import Undo
from novikoff.structured.inference import Answer
from novikoff.structured.ledger import SentenceLedger
from novikoff.structured.parameters import whole
from novikoff.structured.sentence_files import FileColumns
from novikoff.structured.sentences import Sentence, Tokens, as_list, flat_tags, tokens_of
from novikoff.structured.snapshot import Knowledge
from novikoff.system.threads import Lock

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
    files: FileColumns | None  # what it has learned from; None if not from files
    _knowledge: Knowledge | None
    _answer: Answer | None  # of that knowledge, or one before
    _undo: Undo | None  # of a lesson that has begun, and not ended
    _weights: Lock  # for threads that change rows of weights, or read them

    def predict(self, sentences: Iterable[Sentence]) -> list[list[Any]]:
        """The tags of every sentence."""
        sentences, answer = as_list(sentences), self._answers()
        tags, found = np.fromiter(answer.known.tags, object), []
        for tokens in _in_parts(sentences, answer.known):
            flat = tags[answer.tags(tokens)].tolist()
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
        return _k_best(self._answers(), as_list(sentences), whole("k", k, 1, 10_000))

    def margins(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]] | None = None) -> np.ndarray:
        """By how much each sentence is decided: the score of the best chain of tags, less that of the second.

        With tags, of the right chain less that of the best other one: negative if the tagger is wrong, and NaN if it
        cannot give the right one, for lack of a tag. Infinite if there is no other chain.
        """
        sentences, answer = as_list(sentences), self._answers()
        guesses = _k_best(answer, sentences, 2)
        leads = np.array([_lead(own) for own in guesses])
        if tags is None:
            return leads
        flat, at = flat_tags(sentences, tags := list(tags)), 0
        right = []
        for tokens in _in_parts(sentences, answer.known):
            own = flat[at : (at := at + len(tokens.types))]
            right.append(answer.scores_of(tokens, [answer.known.codes.get(tag, -1) for tag in own]))
        best = np.array([own[0].score for own in guesses])
        behind = np.concatenate([np.empty(0), *right]) - best
        is_right = [own[0].tags == list(given) for own, given in zip(guesses, tags, strict=True)]
        return np.where(is_right, leads, behind)

    def _answers(self) -> Answer:
        """The weights that answer, made when first asked for after learning. While another thread learns, those from
        before answer, if they have been asked for already; or else this waits until there are new ones."""
        found = self._answer_at_hand()
        if found is None:
            with self._weights:
                self._repair()
                found = self._answer_at_hand()  # of another thread, perhaps
                if found is None:
                    found = self._answer = Answer(self._known(), self.hypothesis)
        return found

    def _answer_at_hand(self) -> Answer | None:
        found = self._answer
        is_right = found is not None and found.known is self._knowledge and found.hypothesis == self.hypothesis
        return found if is_right else None

    def _repair(self) -> None:
        """Undo what was interrupted. For who has the lock on the weights, before they look at them."""
        if self._undo is not None:
            self._undo.apply()
            self._undo = None

    def _known(self) -> Knowledge:
        if self._knowledge is None:
            raise DataError("This tagger has not learned yet: call fit or partial_fit first.")
        return self._knowledge

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
    def tags_(self) -> list[Any]:
        return [] if self._knowledge is None else list(self._knowledge.tags)

    @property
    def ledger_(self) -> SentenceLedger:
        return self._known().chain.ledger()

    @property
    def n_features_(self) -> int:
        return self._known().chain.n_rows

    @property
    def columns_(self) -> tuple[str, ...]:
        """What the cells of a token are called."""
        return self._known().columns

    @property
    def is_fitted(self) -> bool:
        """Whether it has learned from anything."""
        return self._knowledge is not None

    def known_words(self) -> set[str] | None:
        """The words of the sentences it has learned from; None with hash_bits, which keeps none."""
        if self.hash_bits is not None:
            return None
        known = self._known()
        texts = known.program.words.texts
        return {texts[number] for number in np.flatnonzero(known.is_known).tolist()}

    def heaviest(self, top: int = 10) -> dict[Any, list[tuple[str, float]]]:
        """Of each tag the features that speak most for it or against it, by name, with their weights."""
        answer, found = self._answers(), {}
        for tag, column in zip(answer.known.tags, answer.weights.T, strict=False):
            largest = np.argsort(-np.abs(column), kind="stable")[:top].tolist()
            found[tag] = [
                (self._name(answer.known, row), float(column[row] / answer.scale)) for row in largest if column[row]
            ]
        return found

    def _name(self, known: Knowledge, row: int) -> str:
        if self.hash_bits is not None:
            return f"hash {int(known.chain.keys[row]) - 1}"
        return known.program.name(known.chain.origins[row].tolist(), known.program.words.texts, known.tags)

    def transitions(self) -> dict[tuple[Any, Any], float]:
        """The weight of each pair of neighbouring tags; none if the templates know no pairs."""
        answer = self._answers()
        return _weights_of_tags(answer, answer.pairs if answer.known.chain.with_pairs else None)

    def triples(self) -> dict[tuple[Any, Any, Any], float]:
        """The weight of each three tags in a row; none for chains of order one."""
        answer = self._answers()
        return _weights_of_tags(answer, answer.triples)


def _in_parts(sentences: list[Sentence], known: Knowledge) -> Iterator[Tokens]:
    """Sentences as numbers, some at a time."""
    words = known.program.words
    for at in range(0, len(sentences), _AT_ONCE):
        if len(words) > words.kept + STRANGERS:
            words.forget()
        yield tokens_of(sentences[at : at + _AT_ONCE], words, len(known.columns))


def _k_best(answer: Answer, sentences: list[Sentence], k: int) -> list[list[Guess]]:
    found: list[list[Guess]] = []
    for tokens in _in_parts(sentences, answer.known):
        codes, scores = answer.lists(tokens, k)
        for (begin, end), own in zip(pairwise(tokens.starts.tolist()), scores.tolist(), strict=True):
            found.append(_guesses(answer, codes[begin:end].T, own))
    return found


def _guesses(answer: Answer, chains: np.ndarray, scores: list[int]) -> list[Guess]:
    if not chains.shape[1]:
        return [Guess([], 0.0)]
    tags, there = answer.known.tags, chains[:, 0] >= 0
    return [
        Guess([tags[code] for code in chain], score / answer.scale)
        for chain, score in zip(chains[there].tolist(), scores, strict=False)
    ]


def _weights_of_tags(answer: Answer, weights: np.ndarray | None) -> dict[Any, float]:
    if weights is None:
        return {}
    tags, n = answer.known.tags, len(weights)
    return {tuple(tags[k] for k in at): float(weights[at] / answer.scale) for at in np.ndindex((n,) * weights.ndim)}


def _lead(guesses: list[Guess]) -> float:
    """By how much the best is ahead of the second."""
    return guesses[0].score - guesses[1].score if len(guesses) > 1 else float("inf")


def _same(one: Any, other: Any) -> bool:
    return bool(one == other)

"""SequenceTagger: Collins' averaged perceptron for chains of tags."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from novikoff.errors import DataError
from novikoff.structured.attributes import Attribute
from novikoff.structured.chain import Lesson, Search
from novikoff.structured.constraints import SCHEMES, require_allowed
from novikoff.structured.features import Program
from novikoff.structured.parameters import one_of, whole
from novikoff.structured.reentry import require_free
from novikoff.structured.sentences import Sentence, Tokens, as_list, default_columns, flat_tags, tokens_of, width_of
from novikoff.structured.snapshot import Knowledge
from novikoff.structured.tagging import STRANGERS, Tagging
from novikoff.structured.templates import TemplateSource, parse, source_of
from novikoff.system.threads import Lock

__all__ = ["SequenceTagger"]


class SequenceTagger(Tagging):
    """Tags every token of a sentence, all at once: the chain of tags that fits best wins.

    On every sentence x with tags y, with phi counting its features by tag and its pairs of neighbouring tags:

        y^ = argmax over all chains z of <w, phi(x, z)>        exactly, by Viterbi's algorithm
        if y^ != y:   w <- w + phi(x, y) - phi(x, y^)

    If some unit vector prefers every right chain by a margin gamma, there are at most (R / gamma)^2 mistakes over any
    number of passes, however many chains there are. Weights are whole numbers, and nothing is rounded. With a beam the
    same holds of beginnings of chains (Huang, Fayong and Guo 2012).

    Threads may share a tagger: those that learn wait for one another, and those that ask meanwhile are answered by what
    was known before. Learning that fails or is interrupted leaves the tagger as it was.

    Parameters
    ----------
    templates : str, path or list of str
        Which features a token has: "pos", "chunk" or "ner", templates such as "word[-1]+word[0]", or a file of them,
        also one of CRF++; see `novikoff.structured.templates`. "chunk" needs a column "pos".
    max_iter : int
        Most passes over the sentences. `fit` ends early if a pass makes no mistake.
    hypothesis : {"averaged", "last"}
        Which weights answer: the mean of those after every sentence, or the last ones.
    order : {"shuffled", "given"}
        Of the sentences in each pass of `fit`; `partial_fit` takes them as given.
    random_state : int
        Seed of the shuffling.
    markov_order : {1, 2}
        How many tags before have a say in the next one: pairs of tags have weights, or three in a row as well. Order
        two takes as many times longer as there are tags.
    beam : int, optional
        Keep only so many beginnings of a chain, instead of all that may turn out best. While learning, a sentence ends
        where the right beginning is not among them (early update). For order two with many tags.
    constraints : {"bio", "iob1", "ioe1", "ioe2", "bilou"}, optional
        Give only chains of tags that are spans of this scheme, if there is one; learn only from such.
    hash_bits : int, optional
        Tell features apart by so many bits of their hash only, so that there are at most 2^hash_bits. Memory then has a
        bound, for streams without end, but nothing has a name. Without, all 64 bits count.
    columns : sequence of str, optional
        What the cells of a token are called. By default word, pos, column2, column3, ...
    attributes : dict of functions, optional
        Attributes of your own for templates: functions from the text of a cell to text, True, or None for nothing.

    Attributes
    ----------
    tags_ : list
        The tags met, in the order in which they came.
    ledger_ : SentenceLedger
        The account of mistakes.
    n_features_ : int
        Features that have weights; those that were never part of an update have none.

    References
    ----------
    M. Collins, "Discriminative training methods for hidden Markov models", EMNLP 2002.
    M. Collins and B. Roark, "Incremental parsing with the perceptron algorithm", ACL 2004.
    L. Huang, S. Fayong and Y. Guo, "Structured perceptron with inexact search", NAACL 2012.

    Examples
    --------
    >>> import novikoff as nk
    >>> sentences = [["the", "dog", "barks"], ["a", "dog", "sleeps"], ["dogs", "bark"]]
    >>> tags = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["NOUN", "VERB"]]
    >>> tagger = nk.SequenceTagger(templates="pos", max_iter=10).fit(sentences, tags)
    >>> tagger.predict([["a", "dog", "barks"]])
    [['DET', 'NOUN', 'VERB']]
    >>> tagger.score(sentences, tags)
    1.0
    """

    def __init__(
        self,
        templates: str | os.PathLike[str] | Iterable[str] | TemplateSource = "pos",
        *,
        max_iter: int = 10,
        hypothesis: str = "averaged",
        order: str = "shuffled",
        random_state: int = 0,
        markov_order: int = 1,
        beam: int | None = None,
        constraints: str | None = None,
        hash_bits: int | None = None,
        columns: Sequence[str] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        self.templates = source_of(templates)
        self.max_iter = whole("max_iter", max_iter, 1, 2**31)
        self.hypothesis = one_of("hypothesis", hypothesis, ("averaged", "last"))
        self.order = one_of("order", order, ("shuffled", "given"))
        self.random_state = whole("random_state", random_state, 0, 2**32 - 1)
        self.markov_order = whole("markov_order", markov_order, 1, 2)
        self.beam = None if beam is None else whole("beam", beam, 1, 10_000)
        self.constraints = None if constraints is None else one_of("constraints", constraints, SCHEMES)
        self.hash_bits = None if hash_bits is None else whole("hash_bits", hash_bits, 1, 30)
        self.columns = None if columns is None else tuple(columns)
        self.attributes = dict(attributes or {})
        self.files = self._knowledge = self._answer = self._undo = None
        self._learning, self._weights = Lock(), Lock()

    # -- learning

    def fit(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]]) -> Self:
        """Learn from nothing: `max_iter` passes, or until one makes no mistake.

        Parameters
        ----------
        sentences : list of sentences, each a list of words, or of rows of cells such as ("dogs", "NNS")
        tags : list of as many lists of tags
        """
        sentences, flat = _to_learn_from(sentences, tags)
        require_free(self._learning, self)
        with self._learning:
            known, lesson = self._prepared(None, sentences, flat)
            del sentences, tags, flat  # all of it is numbers now
            for _ in range(self.max_iter):
                if not self._learn(known, lesson, self._order(known, lesson)):
                    break
            self._publish(known, files=None)
        return self

    def passes(
        self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]], *, go_on: bool = False
    ) -> Iterator[int]:
        """The same, pass by pass: yields the mistakes of each. In between the tagger can be tried out and saved.

        With `go_on`, nothing that is known is forgotten. Five passes, saved, loaded and five more on the same sentences
        are ten passes, to the last bit: in which order a pass takes them depends on its number. A pass that is
        interrupted leaves the tagger as it was before that pass.
        """
        sentences, flat = _to_learn_from(sentences, tags)
        require_free(self._learning, self)
        with self._learning:
            known, lesson = self._prepared(self._knowledge if go_on else None, sentences, flat)
            del sentences, tags, flat
            mistakes = self._learn_and_publish(known, lesson, is_new=not go_on)
        yield mistakes
        for _ in range(self.max_iter - 1):
            if not mistakes:
                return
            require_free(self._learning, self)
            with self._learning:
                known, lesson = self._resumed(known, lesson)
                mistakes = self._learn_and_publish(known, lesson)
            yield mistakes

    def partial_fit(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]]) -> Self:
        """Go on: once through these sentences, in this order. New words, features and tags are welcome.

        Several threads may learn: each call waits for the one before it. If it fails or is interrupted, nothing has
        been learned.
        """
        sentences = as_list(sentences)
        flat = flat_tags(sentences, tags)
        require_free(self._learning, self)
        if sentences:
            with self._learning:
                known, lesson = self._prepared(self._knowledge, sentences, flat)
                self._learn_and_publish(known, lesson, np.arange(len(sentences)))
        return self

    def _prepared(
        self, known: Knowledge | None, sentences: list[Sentence], flat: list[Any]
    ) -> tuple[Knowledge, Lesson]:
        """What to learn on from and what from. Nothing that is known changes yet, and what is refused is refused."""
        if known is None:
            columns = self._columns_for(width_of(sentences) or len(self.columns or ("word",)))
            known = self._nothing(columns)
        with self._weights:
            self._repair()
        words = known.program.words
        try:
            tokens = self._looked_up(sentences, known)
            require_allowed(self.constraints, known.tags, tokens.starts, flat)
            return known.prepared(tokens, flat, self.constraints)
        except BaseException:  # an attribute of the user's may raise anything
            words.kept = known.n_kept
            words.forget()
            raise

    def _looked_up(self, sentences: list[Sentence], known: Knowledge) -> Tokens:
        """Tokens with all that templates ask of them, so that a bad one is found before anything is learned. Their
        words are kept from now on, for features to be named by."""
        words = known.program.words
        with words.lock:
            words.kept = known.n_kept  # and not those of a lesson that was interrupted
            if self.hash_bits is None or len(words) > STRANGERS:
                words.forget()
            tokens = tokens_of(sentences, words, len(known.columns))
            if self.hash_bits is None:
                words.kept = len(words)
        return tokens

    def _columns_for(self, width: int) -> tuple[str, ...]:
        columns = self.columns or default_columns(width)
        if len(columns) != width:
            raise DataError(
                f"Tokens have {width} {'column' if width == 1 else 'columns'}, but columns= names "
                f"{len(columns)}: {', '.join(columns)}."
            )
        return columns

    def _nothing(self, columns: tuple[str, ...]) -> Knowledge:
        """What is known of sentences with these columns before the first."""
        program = Program(parse(self.templates, columns, self.attributes), self.attributes, self.hash_bits)
        return Knowledge.nothing(columns, program, Search(self.markov_order, self.beam))

    def _resumed(self, known: Knowledge, lesson: Lesson) -> tuple[Knowledge, Lesson]:
        """What to learn on from, and the lesson, where the last pass has left `known`."""
        now = self._known()
        if now.program is not known.program:
            raise DataError("This tagger has begun to learn anew since the last pass; call passes again.")
        with self._weights:
            self._repair()
        if now is not known:  # it has learned from other sentences
            return now.resumed(lesson)
        return replace(known, chain=known.chain.successor()), lesson

    def _order(self, known: Knowledge, lesson: Lesson) -> np.ndarray:
        """In which order the next pass takes the sentences."""
        order = np.arange(len(lesson.tokens.starts) - 1)
        if self.order == "given":
            return order
        return np.random.default_rng([self.random_state, known.chain.passes]).permutation(order)

    def _learn_and_publish(
        self, known: Knowledge, lesson: Lesson, order: np.ndarray | None = None, *, is_new: bool = False
    ) -> int:
        """Learn on from what is known; all of the lesson, or nothing of it."""
        order = self._order(known, lesson) if order is None else order
        with self._weights:
            now = self._knowledge
            if now is not None and not is_new:
                self._undo = now.chain.undo(known.chain, lesson)
            mistakes = self._learn(known, lesson, order)
            self._publish(known, **({"files": None} if is_new else {}))
        return mistakes

    def _learn(self, known: Knowledge, lesson: Lesson, order: np.ndarray) -> int:
        return known.chain.learn(lesson, order, known.program, with_names=self.hash_bits is None)

    def _publish(self, known: Knowledge, **others: Any) -> None:
        """Know this from now on. In one call of C, within which there is no interrupt."""
        with self._weights:
            self.__dict__.update(_knowledge=known, _answer=None, _undo=None, **others)

    def __repr__(self) -> str:
        learned = f"{len(self.tags_)} tags, {self.n_features_:,} features" if self.is_fitted else "not fitted"
        return f"SequenceTagger({self.templates.name}, {self.hypothesis}; {learned})"

    # -- copies and files

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickle: what is known now, in memory of its own. A copy, deep or not, learns by itself."""
        with self._weights:
            self._repair()
            known = None if self._knowledge is None else self._knowledge.copy()
            return {**self.__dict__, "_knowledge": known, "_answer": None, "_learning": Lock(), "_weights": Lock()}

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, which `nk.load` reads. Attributes of your own are code, and no file holds code: give them
        again when loading."""
        from novikoff.structured.saving import save

        save(self, path)


def _to_learn_from(sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]]) -> tuple[list[Sentence], list[Any]]:
    """Sentences, and the tags of all tokens; a DataError if there are none."""
    sentences = as_list(sentences)
    flat = flat_tags(sentences, tags)
    if not flat:
        raise DataError("There is nothing to learn from: no sentence has a token.")
    return sentences, flat

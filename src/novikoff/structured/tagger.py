"""SequenceTagger: Collins' averaged perceptron for chains of tags."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np

from novikoff.errors import DataError
from novikoff.structured.attributes import Attribute
from novikoff.structured.chain import Chain, Lesson, Search
from novikoff.structured.constraints import SCHEMES, bars_for, require_allowed
from novikoff.structured.features import Program
from novikoff.structured.parameters import one_of, whole
from novikoff.structured.sentences import Sentence, Tokens, as_list, default_columns, flat_tags, tokens_of, width_of
from novikoff.structured.tagging import STRANGERS, Tagging
from novikoff.structured.templates import TemplateSource, parse, source_of

__all__ = ["SequenceTagger"]


class SequenceTagger(Tagging):
    """Tags every token of a sentence, all at once: the chain of tags that fits best wins.

    On every sentence x with tags y, with phi counting its features by tag and its pairs of neighbouring tags:

        y^ = argmax over all chains z of <w, phi(x, z)>        exactly, by Viterbi's algorithm
        if y^ != y:   w <- w + phi(x, y) - phi(x, y^)

    If some unit vector prefers every right chain by a margin gamma, there are at most (R / gamma)^2 mistakes over any
    number of passes, however many chains there are. Weights are whole numbers, and nothing is rounded. With a beam the
    same holds of beginnings of chains (Huang, Fayong and Guo 2012).

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
        self, templates: str | os.PathLike[str] | Iterable[str] | TemplateSource = "pos", *, max_iter: int = 10,
        hypothesis: str = "averaged", order: str = "shuffled", random_state: int = 0, markov_order: int = 1,
        beam: int | None = None, constraints: str | None = None, hash_bits: int | None = None,
        columns: Sequence[str] | None = None, attributes: Mapping[str, Attribute] | None = None,
    ) -> None:  # fmt: skip
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
        self._forget()

    def _forget(self) -> None:
        self.tags_, self._codes = [], {}
        self._program = self._chain = self._answer = None
        self._names = self.columns or ()
        self._n_kept, self._is_known = 0, np.zeros(0, bool)
        self.files = None

    # -- learning

    def fit(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]]) -> Self:
        """Learn from nothing: `max_iter` passes, or until one makes no mistake.

        Parameters
        ----------
        sentences : list of sentences, each a list of words, or of rows of cells such as ("dogs", "NNS")
        tags : list of as many lists of tags
        """
        for _ in self.passes(sentences, tags):
            pass
        return self

    def passes(
        self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]], *, go_on: bool = False
    ) -> Iterator[int]:
        """The same, pass by pass: yields the mistakes of each. In between the tagger can be tried out and saved.

        With `go_on`, nothing that is known is forgotten. Five passes, saved, loaded and five more on the same sentences
        are ten passes, to the last bit: in which order a pass takes them depends on its number.
        """
        sentences = as_list(sentences)
        flat = flat_tags(sentences, tags)
        if not flat:
            raise DataError("There is nothing to learn from: no sentence has a token.")
        lesson = self._prepared(sentences, flat, anew=not go_on)
        n = len(sentences)
        del sentences, tags, flat  # all of it is numbers now
        for _ in range(self.max_iter):
            order = np.arange(n)
            if self.order == "shuffled":
                order = np.random.default_rng([self.random_state, self._known_chain().passes]).permutation(order)
            mistakes = self._learn(lesson, order)
            yield mistakes
            if not mistakes:
                break

    def partial_fit(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]]) -> Self:
        """Go on: once through these sentences, in this order. New words, features and tags are welcome."""
        sentences = as_list(sentences)
        flat = flat_tags(sentences, tags)
        if sentences:
            self._learn(self._prepared(sentences, flat, anew=False), np.arange(len(sentences)))
        return self

    def _prepared(self, sentences: list[Sentence], flat: list[Any], *, anew: bool) -> Lesson:
        """Sentences as numbers. What is refused is refused before anything is forgotten or learned."""
        program, columns, known = self._program, self._names, self.tags_
        if program is None or anew:
            columns = self._columns_for(width_of(sentences) or len(self.columns or ("word",)))
            program, known = self._made(columns), []
        elif self.hash_bits is None or len(program.words) > STRANGERS:
            program.words.forget(self._n_kept)
        tokens = _looked_up(sentences, program, len(columns))
        require_allowed(self.constraints, known, tokens.starts, flat)
        if program is not self._program:
            self._forget()
            self._begin(columns, program)
        return self._lesson(tokens, flat)

    def _columns_for(self, width: int) -> tuple[str, ...]:
        columns = self.columns or default_columns(width)
        if len(columns) != width:
            raise DataError(f"Tokens have {width} {'column' if width == 1 else 'columns'}, but columns= names "
                            f"{len(columns)}: {', '.join(columns)}.")  # fmt: skip
        return columns

    def _made(self, columns: Sequence[str]) -> Program:
        return Program(parse(self.templates, columns, self.attributes), self.attributes, self.hash_bits)

    def _begin(self, columns: tuple[str, ...], program: Program) -> None:
        self._names, self._program = columns, program
        self._chain = Chain(program, Search(self.markov_order, self.beam))

    def _lesson(self, tokens: Tokens, flat: list[Any]) -> Lesson:
        program, chain = self._known_program(), self._known_chain()
        for tag in dict.fromkeys(flat):
            if tag not in self._codes:
                self._codes[tag] = len(self.tags_)
                self.tags_.append(tag)
        chain.widen(len(self.tags_))
        chain.bars = bars_for(self.constraints, self.tags_)
        codes = np.fromiter(map(self._codes.__getitem__, flat), np.int32, len(flat))
        if self.hash_bits is None:
            self._n_kept = len(program.words)
            self._is_known = np.pad(self._is_known, (0, self._n_kept - len(self._is_known)))
            self._is_known[tokens.types[:, 0]] = True
        return chain.lesson(tokens, program.learn(tokens, len(self.tags_)), codes)

    def _learn(self, lesson: Lesson, order: np.ndarray) -> int:
        self._answer = None
        return self._known_chain().learn(lesson, order, self._known_program(), with_names=self.hash_bits is None)

    def __repr__(self) -> str:
        learned = "not fitted" if self._chain is None else f"{len(self.tags_)} tags, {self.n_features_:,} features"
        return f"SequenceTagger({self.templates.name}, {self.hypothesis}; {learned})"

    # -- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, which `nk.load` reads. Attributes of your own are code, and no file holds code: give them
        again when loading."""
        from novikoff.structured.saved import save

        save(self, path)


def _looked_up(sentences: list[Sentence], program: Program, n_columns: int) -> Tokens:
    """Tokens with all that templates ask of them, so that a bad one is found before anything is learned."""
    before = len(program.words)
    try:
        return tokens_of(sentences, program.words, n_columns)
    except BaseException:  # an attribute of the user's may raise anything
        program.words.forget(before)
        raise

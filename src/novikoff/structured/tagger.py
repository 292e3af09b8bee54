"""SequenceTagger: Collins' averaged perceptron for chains of tags."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from novikoff.errors import DataError
from novikoff.structured.attributes import Attribute
from novikoff.structured.chain import SearchSettings, TrainingSet
from novikoff.structured.constraints import SCHEMES, Scheme, require_allowed
from novikoff.structured.features import FeatureExtractor
from novikoff.structured.parameters import check_choice, check_integer
from novikoff.structured.sentences import (
    Sentence,
    Tokens,
    check_sentences,
    count_columns,
    default_columns,
    encode_sentences,
    flatten_tags,
)
from novikoff.structured.snapshot import TaggerSnapshot
from novikoff.structured.tagging import MAX_UNKNOWN_WORDS, FittedTaggerMixin
from novikoff.structured.templates import TemplateSource, parse_templates, read_source
from novikoff.system.exclusive import refuse_reentry
from novikoff.system.threads import Lock

__all__ = ["SequenceTagger"]


class SequenceTagger(FittedTaggerMixin):
    """Tags all tokens of a sentence together: predicts the chain of tags with the highest score.

    For every sentence x with tags y, where phi counts the features of tokens by tag, and the pairs of neighbouring
    tags:

        y^ = argmax over all chains z of <w, phi(x, z)>        exactly, by Viterbi's algorithm
        if y^ != y:   w <- w + phi(x, y) - phi(x, y^)

    If some unit vector prefers every right chain by a margin gamma, there are at most (R / gamma)^2 mistakes over any
    number of passes, however many chains there are. Weights are integers, and nothing is rounded. With a beam this
    holds with prefixes of chains in place of chains (Huang, Fayong and Guo 2012).

    Threads may share a tagger: calls that learn wait for one another, and calls that predict meanwhile use the weights
    from before. Learning that fails or is interrupted leaves the tagger as it was. A signal handler, a finalizer or an
    attribute may predict with the tagger and save it at any moment; while this thread is inside another call of the
    tagger, they use the weights from before, and learning may raise a ReentryError.

    Parameters
    ----------
    templates : str, path or list of str
        Which features a token has: "pos", "chunk" or "ner", templates such as "word[-1]+word[0]", or a file of them,
        also one of CRF++; see `novikoff.structured.templates`. "chunk" needs a column "pos".
    max_iter : int
        The maximal number of passes over the sentences. `fit` ends early if a pass makes no mistake.
    hypothesis : {"averaged", "last"}
        Which weights predict: the mean of those after every sentence, or the last ones.
    order : {"shuffled", "given"}
        Of the sentences in each pass of `fit`; `partial_fit` takes them as given.
    random_state : int
        Seed of the shuffling.
    markov_order : {1, 2}
        On how many previous tags the score of a tag depends: pairs of tags have weights, or three in a row as well.
        With n tags, order two takes n times longer.
    beam : int, optional
        Beam search with this many prefixes of a chain instead of exact search. While learning, a sentence ends where
        the right prefix falls out of the beam (early update). For order two with many tags.
    constraints : {"bio", "iob1", "ioe1", "ioe2", "bilou"}, optional
        Predict only chains of tags that are valid in this scheme for spans, if one exists; learn only from such.
    hash_bits : int, optional
        Distinguish features by this many bits of their hash only, so that there are at most 2^hash_bits. This bounds
        the memory, for endless streams, but features have no names. By default all 64 bits are used.
    columns : sequence of str, optional
        The names of the cells of a token. By default word, pos, column2, column3, ...
    attributes : dict of functions, optional
        Attributes of your own for templates: functions from the text of a cell to text, True, or None for nothing.

    Attributes
    ----------
    tags_ : list
        The tags seen, in order of first occurrence.
    ledger_ : SentenceLedger
        Mistakes, R, |w| and the bounds that follow.
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
        hypothesis: Literal["averaged", "last"] = "averaged",
        order: Literal["shuffled", "given"] = "shuffled",
        random_state: int = 0,
        markov_order: Literal[1, 2] = 1,
        beam: int | None = None,
        constraints: Scheme | None = None,
        hash_bits: int | None = None,
        columns: Sequence[str] | None = None,
        attributes: Mapping[str, Attribute] | None = None,
    ) -> None:
        self.templates = read_source(templates)
        self.max_iter = check_integer("max_iter", max_iter, 1, 2**31)
        self.hypothesis = check_choice("hypothesis", hypothesis, ("averaged", "last"))
        self.order = check_choice("order", order, ("shuffled", "given"))
        self.random_state = check_integer("random_state", random_state, 0, 2**32 - 1)
        self.markov_order = check_integer("markov_order", markov_order, 1, 2)
        self.beam = None if beam is None else check_integer("beam", beam, 1, 10_000)
        self.constraints = None if constraints is None else check_choice("constraints", constraints, SCHEMES)
        self.hash_bits = None if hash_bits is None else check_integer("hash_bits", hash_bits, 1, 30)
        self.columns = None if columns is None else tuple(columns)
        self.attributes = dict(attributes or {})
        self.files = self._snapshot = self._decoder = self._backup = None
        self._learning_lock, self._weights_lock = Lock(), Lock()

    # -- learning

    def _refuse_reentry(self) -> None:
        """Raise a ReentryError if this thread is inside a call that learns, reads the weights, or changes the words."""
        refuse_reentry(self._learning_lock, self)
        refuse_reentry(self._weights_lock, self)
        if self._snapshot is not None:
            refuse_reentry(self._snapshot.extractor.words.lock, self)

    def fit(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]]) -> Self:
        """Learn from zero weights: `max_iter` passes, or until one makes no mistake.

        Parameters
        ----------
        sentences : list of sentences, each a list of words, or of rows of cells such as ("dogs", "NNS")
        tags : list of as many lists of tags
        """
        sentences, flat = _check_training_data(sentences, tags)
        self._refuse_reentry()
        with self._learning_lock:
            snapshot, training = self._prepare(None, sentences, flat)
            del sentences, tags, flat  # no longer needed: the training set has them as integers
            for _ in range(self.max_iter):
                if not self._learn_pass(snapshot, training, self._make_order(snapshot, training)):
                    break
            self._publish(snapshot, files=None)
        return self

    def passes(
        self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]], *, go_on: bool = False
    ) -> Iterator[int]:
        """Learn pass by pass; yield the mistakes of each. Between passes the tagger can be used and saved.

        With `go_on`, learning continues from the current weights, otherwise from zero. Five passes, saved, loaded and
        five more on the same sentences are exactly ten passes: the order of the sentences in a pass depends on its
        number only. A pass that is interrupted leaves the tagger as it was before that pass.
        """
        sentences, flat = _check_training_data(sentences, tags)
        self._refuse_reentry()
        with self._learning_lock:
            snapshot, training = self._prepare(self._snapshot if go_on else None, sentences, flat)
            del sentences, tags, flat
            mistakes = self._learn_and_publish(snapshot, training, is_new=not go_on)
        yield mistakes
        for _ in range(self.max_iter - 1):
            if not mistakes:
                return
            self._refuse_reentry()
            with self._learning_lock:
                snapshot, training = self._resume(snapshot, training)
                mistakes = self._learn_and_publish(snapshot, training)
            yield mistakes

    def partial_fit(self, sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]]) -> Self:
        """Continue learning: once through these sentences, in this order. They may have new words, features and tags.

        Several threads may call this: each call waits for the one before it. A call that fails or is interrupted
        changes nothing.
        """
        sentences = check_sentences(sentences)
        flat = flatten_tags(sentences, tags)
        self._refuse_reentry()
        if sentences:
            with self._learning_lock:
                snapshot, training = self._prepare(self._snapshot, sentences, flat)
                self._learn_and_publish(snapshot, training, np.arange(len(sentences)))
        return self

    def _prepare(
        self, snapshot: TaggerSnapshot | None, sentences: list[Sentence], flat: list[Any]
    ) -> tuple[TaggerSnapshot, TrainingSet]:
        """Return the snapshot that is to learn next, and what it is to learn from. Sentences that cannot be learned
        from raise a DataError here, before anything has changed."""
        if snapshot is None:
            columns = self._check_columns(count_columns(sentences) or len(self.columns or ("word",)))
            snapshot = self._empty_snapshot(columns)
        with self._weights_lock:
            self._restore_backup()
        words = snapshot.extractor.words
        try:
            tokens = self._encode(sentences, snapshot)
            require_allowed(self.constraints, snapshot.tags, tokens.starts, flat)
            return snapshot.prepare(tokens, flat, self.constraints)
        except BaseException:  # an attribute of the user may raise anything
            words.n_kept = snapshot.n_kept
            words.forget()
            raise

    def _encode(self, sentences: list[Sentence], snapshot: TaggerSnapshot) -> Tokens:
        """Return the tokens of training sentences, with the attributes of all words, so that a bad word is found before
        anything is learned. The words are kept from now on, because feature names are made of them."""
        words = snapshot.extractor.words
        with words.lock:
            words.n_kept = snapshot.n_kept  # without the words of a call that was interrupted
            if self.hash_bits is None or len(words) > MAX_UNKNOWN_WORDS:
                words.forget()
            tokens = encode_sentences(sentences, words, len(snapshot.columns))
            if self.hash_bits is None:
                words.n_kept = len(words)
        return tokens

    def _check_columns(self, width: int) -> tuple[str, ...]:
        columns = self.columns or default_columns(width)
        if len(columns) != width:
            raise DataError(
                f"Tokens have {width} {'column' if width == 1 else 'columns'}, but columns= names "
                f"{len(columns)}: {', '.join(columns)}."
            )
        return columns

    def _empty_snapshot(self, columns: tuple[str, ...]) -> TaggerSnapshot:
        """Return the snapshot of a tagger that has not learned yet, for sentences with these columns."""
        templates = parse_templates(self.templates, columns, self.attributes)
        extractor = FeatureExtractor(templates, self.attributes, self.hash_bits)
        return TaggerSnapshot.empty(columns, extractor, SearchSettings(self.markov_order, self.beam))

    def _resume(self, snapshot: TaggerSnapshot, training: TrainingSet) -> tuple[TaggerSnapshot, TrainingSet]:
        """Return the snapshot that is to learn next, and the training set, after a pass that ended with `snapshot`."""
        current = self._require_snapshot()
        if current.extractor is not snapshot.extractor:
            raise DataError("This tagger has begun to learn anew since the last pass; call passes again.")
        with self._weights_lock:
            self._restore_backup()
        if current is not snapshot:  # it has learned from other sentences meanwhile
            return current.resume(training)
        return replace(snapshot, state=snapshot.state.make_successor()), training

    def _make_order(self, snapshot: TaggerSnapshot, training: TrainingSet) -> np.ndarray:
        """Return the order of the sentences in the next pass."""
        order = np.arange(training.tokens.n_sentences)
        if self.order == "given":
            return order
        return np.random.default_rng([self.random_state, snapshot.state.passes]).permutation(order)

    def _learn_and_publish(
        self,
        snapshot: TaggerSnapshot,
        training: TrainingSet,
        order: np.ndarray | None = None,
        *,
        is_new: bool = False,
    ) -> int:
        """Learn one pass, and make the result the current snapshot. If it is interrupted, nothing has been learned."""
        order = self._make_order(snapshot, training) if order is None else order
        with self._weights_lock:
            current = self._snapshot
            if current is not None and not is_new:
                self._backup = current.state.back_up(snapshot.state, training)
            mistakes = self._learn_pass(snapshot, training, order)
            self._publish(snapshot, **({"files": None} if is_new else {}))
        return mistakes

    def _learn_pass(self, snapshot: TaggerSnapshot, training: TrainingSet, order: np.ndarray) -> int:
        with_names = self.hash_bits is None
        return snapshot.state.learn(training, order, snapshot.extractor, with_names=with_names)

    def _publish(self, snapshot: TaggerSnapshot, **others: Any) -> None:
        """Make this the current snapshot: in a single call of C code, so that no interrupt can come in between."""
        with self._weights_lock:
            self.__dict__.update(_snapshot=snapshot, _decoder=None, _backup=None, **others)

    def __repr__(self) -> str:
        learned = f"{len(self.tags_)} tags, {self.n_features_:,} features" if self.is_fitted else "not fitted"
        return f"SequenceTagger({self.templates.name}, {self.hypothesis}; {learned})"

    # -- copies and files

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickle. Copies, deep or not, share no memory with this tagger and learn independently."""
        fresh = {"_decoder": None, "_backup": None, "_learning_lock": Lock(), "_weights_lock": Lock()}
        if self._snapshot is None:
            return {**self.__dict__, "_snapshot": None, **fresh}
        state = self._read_weights(lambda snapshot: {**self.__dict__, "_snapshot": snapshot.copy_weights(), **fresh})
        # Without the lock on the weights: a thread that has the lock on the words may wait for that on the weights.
        state["_snapshot"] = state["_snapshot"].copy_words()
        return state

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, which `nk.load` reads. Attributes of your own are code, which a model file cannot hold:
        pass them again when loading."""
        from novikoff.structured.saving import save

        save(self, path)


def _check_training_data(
    sentences: Iterable[Sentence], tags: Iterable[Sequence[Any]]
) -> tuple[list[Sentence], list[Any]]:
    """Return sentences, and the tags of all tokens; raise a DataError if there are no tokens."""
    sentences = check_sentences(sentences)
    flat = flatten_tags(sentences, tags)
    if not flat:
        raise DataError("There is nothing to learn from: no sentence has a token.")
    return sentences, flat

"""TaggerSnapshot: everything that a tagger has learned at one moment."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from novikoff.structured.chain import ChainState, SearchSettings, TrainingSet
from novikoff.structured.constraints import build_constraints
from novikoff.structured.features import FeatureExtractor
from novikoff.structured.sentences import Tokens

__all__ = ["TaggerSnapshot"]


@dataclass(frozen=True, eq=False)
class TaggerSnapshot:
    """Everything that a tagger has learned at one moment.

    Learning makes a new snapshot that replaces this one. Only the rows of weights are changed in place, because there
    may be many (see `ChainState`).

    Attributes
    ----------
    columns : tuple of str
        The names of the cells of a token.
    extractor : FeatureExtractor
        Templates, and the words seen.
    state : ChainState
        Weights and counters.
    tags : list
        The tags seen, in order of first occurrence.
    codes : dict
        The index of each tag.
    n_kept : int
        The number of words of training sentences, of which feature names are made; 0 with hash_bits.
    is_known : ndarray of bool
        Which of these words occurred in the first column.
    """

    columns: tuple[str, ...]
    extractor: FeatureExtractor
    state: ChainState
    tags: list[Any] = field(default_factory=list)
    codes: dict[Any, int] = field(default_factory=dict)
    n_kept: int = 0
    is_known: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    @classmethod
    def empty(cls, columns: tuple[str, ...], extractor: FeatureExtractor, search: SearchSettings) -> TaggerSnapshot:
        """Return the snapshot of a tagger that has not learned yet."""
        return cls(columns, extractor, ChainState(extractor, search))

    def copy_weights(self) -> TaggerSnapshot:
        """Return this snapshot with weights of its own. Call it with the lock on the weights."""
        return replace(self, state=self.state.copy())

    def copy_words(self) -> TaggerSnapshot:
        """Return this snapshot with a table of its own of the words it has learned from. No lock is needed."""
        extractor = copy.copy(self.extractor)
        extractor.words = self.extractor.words.copy_first(self.n_kept)
        return replace(self, extractor=extractor)

    def prepare(
        self, tokens: Tokens, tags: Sequence[Any], constraints: str | None
    ) -> tuple[TaggerSnapshot, TrainingSet]:
        """Return the snapshot that is to learn next, and what it is to learn from: tokens with these tags. This
        snapshot does not change yet."""
        tagset = list(dict.fromkeys([*self.tags, *tags]))
        codes = {tag: code for code, tag in enumerate(tagset)}
        state = self.state.make_successor()
        state.widen(len(tagset))
        state.constraints = build_constraints(constraints, tagset)
        n_kept = self.extractor.words.n_kept
        is_known = np.pad(self.is_known, (0, n_kept - len(self.is_known)))
        if n_kept:
            is_known[tokens.words[:, 0]] = True
        tag_codes = np.fromiter(map(codes.__getitem__, tags), np.int32, len(tags))
        training = state.prepare(tokens, self.extractor.extract(tokens, len(tagset)), tag_codes)
        return replace(self, state=state, tags=tagset, codes=codes, n_kept=n_kept, is_known=is_known), training

    def resume(self, training: TrainingSet) -> tuple[TaggerSnapshot, TrainingSet]:
        """Return the snapshot that is to learn next, and the training set for it, from one that an earlier snapshot has
        learned from; the tagger may have learned from other sentences since."""
        state, features = self.state.make_successor(), training.features
        if features.after.shape[1] != state.n_tags:
            features = self.extractor.extract(training.tokens, state.n_tags)
        return replace(self, state=state), state.prepare(training.tokens, features, training.tags)

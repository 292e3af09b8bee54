"""Knowledge: all that a tagger knows at one moment."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from novikoff.structured.chain import Chain, Lesson, Search
from novikoff.structured.constraints import bars_for
from novikoff.structured.features import Program
from novikoff.structured.sentences import Tokens

__all__ = ["Knowledge"]


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What a tagger knows. Learning makes another one and puts it in the place of this; only the rows of weights, which
    may be many, are changed in place (see `Chain`).

    Attributes
    ----------
    columns : tuple of str
        What the cells of a token are called.
    program : Program
        Templates, and the words met.
    chain : Chain
    tags : list
        The tags met, in the order in which they came.
    codes : dict
        The place of each of them.
    n_kept : int
        How many words of training sentences features are named by; 0 with hash_bits.
    is_known : ndarray of bool
        Of those, whether they were in the first column.
    """

    columns: tuple[str, ...]
    program: Program
    chain: Chain
    tags: list[Any] = field(default_factory=list)
    codes: dict[Any, int] = field(default_factory=dict)
    n_kept: int = 0
    is_known: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))

    @classmethod
    def nothing(cls, columns: tuple[str, ...], program: Program, search: Search) -> Knowledge:
        """What a tagger knows before it has learned."""
        return cls(columns, program, Chain(program, search))

    def copy(self) -> Knowledge:
        """The same, sharing nothing that learning or tagging changes."""
        program = copy.copy(self.program)
        program.words = copy.copy(self.program.words)
        return replace(self, program=program, chain=self.chain.copy())

    def prepared(self, tokens: Tokens, tags: Sequence[Any], constraints: str | None) -> tuple[Knowledge, Lesson]:
        """What to learn on from and what from, for tokens with these tags. Nothing of this one changes yet."""
        known = list(dict.fromkeys([*self.tags, *tags]))
        codes = {tag: code for code, tag in enumerate(known)}
        chain = self.chain.successor()
        chain.widen(len(known))
        chain.bars = bars_for(constraints, known)
        n_kept = self.program.words.kept
        is_known = np.pad(self.is_known, (0, n_kept - len(self.is_known)))
        if n_kept:
            is_known[tokens.types[:, 0]] = True
        own = np.fromiter(map(codes.__getitem__, tags), np.int32, len(tags))
        lesson = chain.lesson(tokens, self.program.learn(tokens, len(known)), own)
        return replace(self, chain=chain, tags=known, codes=codes, n_kept=n_kept, is_known=is_known), lesson

    def resumed(self, lesson: Lesson) -> tuple[Knowledge, Lesson]:
        """What to learn on from, and the lesson again, for sentences that this tagger has learned from before, and
        maybe from others since."""
        chain, features = self.chain.successor(), lesson.features
        if features.after.shape[1] != chain.n_tags:
            features = self.program.learn(lesson.tokens, chain.n_tags)
        return replace(self, chain=chain), chain.lesson(lesson.tokens, features, lesson.tags)

"""Constraints: which chains of tags a scheme for spans allows.

A scheme is two small tables: which letters must precede a tag, and which must follow it, each with the same type.

    bio     I follows B or I                                           also called IOB2
    iob1    B follows B or I: it marks a span that touches the one before
    ioe2    I is followed by I or E
    ioe1    E is followed by I or E: it marks a span that touches the next one
    bilou   I and L follow B or I; B and I are followed by I or L      also called IOBES, with E and S for L and U
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np

from novikoff._compiled.loops.viterbi import Penalties
from novikoff.errors import DataError

__all__ = [
    "SCHEMES",
    "ForbiddenTagError",
    "Scheme",
    "TagConstraints",
    "are_allowed",
    "build_constraints",
    "require_allowed",
]

_LETTERS = {"bio": "BI", "iob1": "BI", "ioe1": "IE", "ioe2": "IE", "bilou": "BILUES"}
_FOLLOWS = {"bio": {"I": "BI"}, "iob1": {"B": "BI"}, "bilou": dict.fromkeys("ILE", "BI")}
_FOLLOWED_BY = {"ioe1": {"E": "IE"}, "ioe2": {"I": "IE"}, "bilou": dict.fromkeys("BI", "ILE")}

Scheme: TypeAlias = Literal["bio", "iob1", "ioe1", "ioe2", "bilou"]
SCHEMES = tuple(_LETTERS)


class ForbiddenTagError(DataError):
    """A tag that a scheme does not allow where it is.

    The message advises to learn without constraints; a command that has another name for that builds its own message
    from `problem`.
    """

    def __init__(self, problem: str) -> None:
        super().__init__(f"{problem} Correct it, or learn without constraints.")
        self.problem = problem

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problem,)


@dataclass(frozen=True, eq=False)
class TagConstraints:
    """What is forbidden: pairs[a, b] of neighbouring tags, ends[0] as the first tag of a chain, ends[1] as the last.

    Both arrays are empty, and the constraints false, if everything is allowed.
    """

    pairs: np.ndarray
    ends: np.ndarray

    @classmethod
    def none(cls) -> TagConstraints:
        """Return constraints that allow everything."""
        return cls(np.zeros((0, 0), bool), np.zeros((2, 0), bool))

    def __bool__(self) -> bool:
        return bool(self.pairs.size)

    def first_violation(self, starts: np.ndarray, codes: np.ndarray) -> int | None:
        """Return the number of the first token whose tag is forbidden in its position."""
        is_bad = self.violations(starts, codes)
        return int(np.argmax(is_bad)) if is_bad.any() else None

    def violations(self, starts: np.ndarray, codes: np.ndarray) -> np.ndarray:
        """Return for each token whether its tag is forbidden in its position."""
        if not self:
            return np.zeros(len(codes), bool)
        begins, lasts = starts[:-1][np.diff(starts) > 0], starts[1:][np.diff(starts) > 0] - 1
        is_bad = np.zeros(len(codes), bool)
        is_bad[1:] = self.pairs[codes[:-1], codes[1:]]
        is_bad[begins] = self.ends[0, codes[begins]]
        is_bad[lasts] |= self.ends[1, codes[lasts]]
        return is_bad

    def penalties(self, width: int, neg_inf: int) -> Penalties:
        """Return scores for the loops: `neg_inf` where something is forbidden, 0 elsewhere; rows padded to `width`."""
        padding = width - self.pairs.shape[1] if self else 0
        pairs, ends = (np.pad(each, ((0, 0), (0, padding))) for each in (self.pairs, self.ends))
        return Penalties(pairs * np.int64(neg_inf), ends * np.int64(neg_inf), neg_inf)


def build_constraints(scheme: str | None, tags: Sequence[Any]) -> TagConstraints:
    """Return what a scheme forbids of these tags.

    >>> build_constraints("bio", ["O", "B-X", "I-X"]).pairs.astype(int).tolist()
    [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    """
    if scheme is None:
        return TagConstraints.none()
    split = [_split_tag(scheme, tag) for tag in tags]
    after, before = _FOLLOWS.get(scheme, {}), _FOLLOWED_BY.get(scheme, {})
    pairs = [[not (_fits(after.get(b[0]), b, a) and _fits(before.get(a[0]), a, b)) for b in split] for a in split]
    ends = [[letter in after for letter, _ in split], [letter in before for letter, _ in split]]
    return TagConstraints(
        np.array(pairs, bool).reshape(len(tags), len(tags)), np.array(ends, bool).reshape(2, len(tags))
    )


def _fits(letters: str | None, tag: tuple[str, str], neighbour: tuple[str, str]) -> bool:
    """Return whether a neighbour has one of the letters that a tag requires, if it requires any, and the type of the
    tag."""
    return letters is None or (neighbour[0] in letters and neighbour[0] != "" and neighbour[1] == tag[1])


def _split_tag(scheme: str, tag: Any) -> tuple[str, str]:
    """Return letter and type of a tag; O has neither."""
    if tag == "O":
        return "", ""
    if not isinstance(tag, str) or tag[:1] not in _LETTERS[scheme] or tag[1:2] != "-" or len(tag) < 3:
        letters = ", ".join(f"{letter}-..." for letter in _LETTERS[scheme])
        raise DataError(f"The tag {tag!r} is not of the scheme {scheme!r}, whose tags are O, {letters}.")
    return tag[0], tag[2:]


def require_allowed(
    scheme: str | None,
    known: Sequence[Any],
    starts: np.ndarray,
    tags: Sequence[Any],
    locate: Callable[[int, int], str] | None = None,
) -> None:
    """Raise a DataError if a scheme forbids the tags of some sentences.

    `known` are the tags seen before. `locate` returns the location of a token of a sentence for the message; without
    it, the message counts sentences and tokens from 0.
    """
    if scheme is None:
        return
    if locate is not None:
        _require_scheme(scheme, starts, tags, locate)
    codes = {tag: code for code, tag in enumerate(dict.fromkeys([*known, *tags]))}
    constraints = build_constraints(scheme, list(codes))
    violation = constraints.first_violation(starts, np.array([codes[tag] for tag in tags], np.int64))
    if violation is not None:
        sentence, token = _find_token(starts, violation)
        where = f"Token {token} of sentence {sentence} has" if locate is None else f"{locate(sentence, token)}:"
        raise ForbiddenTagError(
            f"{where} the tag {tags[violation]!r}, which the scheme {scheme!r} does not allow there."
        )


def are_allowed(scheme: str, tags: Sequence[Sequence[Any]]) -> list[bool]:
    """Return for each sentence whether a scheme allows its tags.

    >>> are_allowed("bio", [["B-X", "I-X"], ["O", "I-X"], ["NOUN"], []])
    [True, False, False, True]
    """
    starts = np.cumsum([0, *map(len, tags)])
    flat = list(chain.from_iterable(tags))
    distinct = dict.fromkeys(flat)
    known = ["O", *(tag for tag in distinct if tag != "O" and _is_of_scheme(scheme, tag))]
    codes = {tag: code for code, tag in enumerate(known)}
    # A tag that is not of the scheme makes its sentence bad, so what stands for it here does not matter.
    is_bad = build_constraints(scheme, known).violations(
        starts, np.array([codes.get(tag, 0) for tag in flat], np.int64)
    )
    is_bad |= np.fromiter((tag not in codes for tag in flat), bool, len(flat))
    n_bad = np.concatenate([[0], np.cumsum(is_bad)])
    return (n_bad[starts[1:]] == n_bad[starts[:-1]]).tolist()


def _is_of_scheme(scheme: str, tag: Any) -> bool:
    try:
        _split_tag(scheme, tag)
    except DataError:
        return False
    return True


def _require_scheme(scheme: str, starts: np.ndarray, tags: Sequence[Any], locate: Callable[[int, int], str]) -> None:
    """Raise a DataError with the location of the first tag that is not of the scheme at all."""
    for tag in dict.fromkeys(tags):
        try:
            _split_tag(scheme, tag)
        except DataError as error:
            raise DataError(f"{locate(*_find_token(starts, tags.index(tag)))}: {error}") from error


def _find_token(starts: np.ndarray, number: int) -> tuple[int, int]:
    """Return the sentence of a token, and its position in the sentence."""
    sentence = int(np.searchsorted(starts, number, "right")) - 1
    return sentence, number - int(starts[sentence])

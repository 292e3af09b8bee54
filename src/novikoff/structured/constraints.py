"""Which chains of tags a scheme for spans allows.

All schemes are two small tables: what a tag must follow, and what must follow it, each of the same type.

    bio     I follows B or I                                           also called IOB2
    iob1    B follows B or I: it is for spans that touch
    ioe2    I is followed by I or E
    ioe1    E is followed by I or E: it is for spans that touch
    bilou   I and L follow B or I; B and I are followed by I or L      also called IOBES, with E and S for L and U
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.errors import DataError

__all__ = ["SCHEMES", "Bars", "bars_for", "no_bars", "require_allowed"]

_LETTERS = {"bio": "BI", "iob1": "BI", "ioe1": "IE", "ioe2": "IE", "bilou": "BILUES"}
_FOLLOWS = {"bio": {"I": "BI"}, "iob1": {"B": "BI"}, "bilou": dict.fromkeys("ILE", "BI")}
_FOLLOWED_BY = {"ioe1": {"E": "IE"}, "ioe2": {"I": "IE"}, "bilou": dict.fromkeys("BI", "ILE")}

SCHEMES = tuple(_LETTERS)


@dataclass(frozen=True, eq=False)
class Bars:
    """What may not be: pairs[a, b] of neighbouring tags, ends[0] as the first of a chain and ends[1] as the last. All
    are empty if everything may be."""

    pairs: np.ndarray
    ends: np.ndarray

    def __bool__(self) -> bool:
        return bool(self.pairs.size)

    def first_fault(self, starts: np.ndarray, codes: np.ndarray) -> int | None:
        """The first token whose tag may not be where it is."""
        if not self:
            return None
        begins, lasts = starts[:-1][np.diff(starts) > 0], starts[1:][np.diff(starts) > 0] - 1
        is_bad = np.zeros(len(codes), bool)
        is_bad[1:] = self.pairs[codes[:-1], codes[1:]]
        is_bad[begins] = self.ends[0, codes[begins]]
        is_bad[lasts] |= self.ends[1, codes[lasts]]
        return int(np.argmax(is_bad)) if is_bad.any() else None

    def weights(self, width: int, floor: int) -> tuple[np.ndarray, np.ndarray]:
        """The same as weights for the kernels: 0, or `floor`; rows filled up to this width."""
        filled = width - self.pairs.shape[1] if self else 0
        pairs, ends = (np.pad(each, ((0, 0), (0, filled))) for each in (self.pairs, self.ends))
        return pairs * np.int64(floor), ends * np.int64(floor)


def no_bars() -> Bars:
    """Everything may be."""
    return Bars(np.zeros((0, 0), bool), np.zeros((2, 0), bool))


def bars_for(scheme: str | None, tags: Sequence[Any]) -> Bars:
    """What a scheme bars of these tags.

    >>> bars_for("bio", ["O", "B-X", "I-X"]).pairs.astype(int).tolist()
    [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    """
    if scheme is None:
        return no_bars()
    parted = [_parted(scheme, tag) for tag in tags]
    after, before = _FOLLOWS.get(scheme, {}), _FOLLOWED_BY.get(scheme, {})
    pairs = [[not (_fits(after.get(b[0]), b, a) and _fits(before.get(a[0]), a, b)) for b in parted] for a in parted]
    ends = [[letter in after for letter, _ in parted], [letter in before for letter, _ in parted]]
    return Bars(np.array(pairs, bool).reshape(len(tags), len(tags)), np.array(ends, bool).reshape(2, len(tags)))


def _fits(letters: str | None, tag: tuple[str, str], neighbour: tuple[str, str]) -> bool:
    """Whether a neighbour is one of those that a tag must have, if it must have any."""
    return letters is None or (neighbour[0] in letters and neighbour[0] != "" and neighbour[1] == tag[1])


def _parted(scheme: str, tag: Any) -> tuple[str, str]:
    """Letter and type of a tag; O has neither."""
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
    place: Callable[[int, int], str] | None = None,
) -> None:
    """Refuse sentences whose tags a scheme bars; `known` are tags met before. `place` says where a token of a sentence
    is to be found, for who does not count them from 0."""
    if scheme is None:
        return
    if place is not None:
        _require_of(scheme, starts, tags, place)
    codes = {tag: code for code, tag in enumerate(dict.fromkeys([*known, *tags]))}
    fault = bars_for(scheme, list(codes)).first_fault(starts, np.array([codes[tag] for tag in tags], np.int64))
    if fault is not None:
        sentence, token = _at(starts, fault)
        where = f"Token {token} of sentence {sentence} has" if place is None else f"{place(sentence, token)}:"
        raise DataError(
            f"{where} the tag {tags[fault]!r}, which the scheme {scheme!r} does not allow there. Correct "
            "it, or learn without constraints."
        )


def _require_of(scheme: str, starts: np.ndarray, tags: Sequence[Any], place: Callable[[int, int], str]) -> None:
    """Refuse tags that are not of the scheme wherever they are, and say where the first is."""
    for tag in dict.fromkeys(tags):
        try:
            _parted(scheme, tag)
        except DataError as error:
            raise DataError(f"{place(*_at(starts, tags.index(tag)))}: {error}") from error


def _at(starts: np.ndarray, number: int) -> tuple[int, int]:
    """The sentence of a token, and its number in it."""
    sentence = int(np.searchsorted(starts, number, "right")) - 1
    return sentence, number - int(starts[sentence])

"""Sentences as a user passes them -> tokens as numbers, validated once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.structured.word_table import Words

__all__ = ["Sentence", "Tokens", "as_list", "default_columns", "flat_tags", "tokens_of", "width_of"]

Sentence = Sequence[Any]  # of words, or of rows of cells


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of all sentences, one after another: types[i, c] is the number of the word in column c; sentence s
    begins at starts[s] and ends before starts[s + 1]. `values` has what is asked of the words, in this epoch of theirs
    (see Words)."""

    types: np.ndarray
    starts: np.ndarray
    values: np.ndarray
    epoch: int

    @cached_property
    def longest(self) -> int:
        return int(np.diff(self.starts).max(initial=0))


def as_list(sentences: Iterable[Sentence]) -> list[Sentence]:
    """The sentences as a list; text where sentences should be is refused."""
    if isinstance(sentences, str):
        raise DataError("sentences is one string. Pass a list of sentences, each a list of words.")
    found = sentences if isinstance(sentences, list) else list(sentences)
    if set(map(type, found)) <= {list, tuple}:  # as nearly always
        return found
    for number, sentence in enumerate(found):
        if isinstance(sentence, str) or not hasattr(sentence, "__len__"):
            raise DataError(
                f"Sentence {number} is {_short(sentence)}, not a list of words. Split it first: "
                "text.split() will do for a start."
            )
    return found


def width_of(sentences: list[Sentence]) -> int | None:
    """How many columns there are, 1 if tokens are words; None if there are no tokens."""
    first = next(chain.from_iterable(sentences), None)
    if first is None:
        return None
    return 1 if isinstance(first, str) else len(first) if isinstance(first, (tuple, list)) else _refuse(first)


def _refuse(token: Any) -> int:
    raise DataError(
        f"A token is {_short(token)}, of type {type(token).__name__}. Tokens are words, or rows of cells "
        "such as ('dogs', 'NNS')."
    )


def default_columns(width: int) -> tuple[str, ...]:
    """What columns are called if nobody says."""
    return ("word", "pos", *(f"column{k}" for k in range(2, width)))[:width]


def tokens_of(sentences: list[Sentence], words: Words, n_columns: int) -> Tokens:
    """Look up every cell."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rows = _rows_of(sentences, starts, n_columns) if starts[-1] else []
    with words.lock:
        types = words.numbers(rows, int(starts[-1]) * n_columns).reshape(-1, n_columns)
        return Tokens(types, starts, words.values(), words.epoch)


def _rows_of(sentences: list[Sentence], starts: np.ndarray, n_columns: int) -> list[Any]:
    """Sentences that have words, or all tokens if these are rows of cells."""
    width = width_of(sentences)
    if width != n_columns:
        raise DataError(f"Tokens have {width} {'column' if width == 1 else 'columns'} where {n_columns} were expected.")
    full = [sentence for sentence in sentences if len(sentence)] if not np.diff(starts).all() else sentences
    if n_columns == 1 and isinstance(next(chain.from_iterable(sentences)), str):
        return full
    tokens = list(chain.from_iterable(full))
    try:
        sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
    except TypeError as error:
        raise DataError("Some tokens are rows of cells, and some are not.") from error
    if (sizes != n_columns).any():
        raise _ragged(starts, sizes, n_columns)
    return tokens


def _ragged(starts: np.ndarray, sizes: np.ndarray, n_columns: int) -> DataError:
    at = int(np.flatnonzero(sizes != n_columns)[0])
    sentence = int(np.searchsorted(starts, at, "right")) - 1
    return DataError(
        f"Token {at - int(starts[sentence])} of sentence {sentence} has {int(sizes[at])} columns where "
        f"{n_columns} were expected."
    )


def flat_tags(sentences: list[Sentence], tags: Iterable[Sequence[Any]]) -> list[Any]:
    """The tags of all tokens, one after another; a DataError where there are more or fewer than tokens."""
    tags = tags if isinstance(tags, list) else list(tags)
    if len(tags) != len(sentences):
        raise DataError(f"There are {len(sentences):,} sentences, but tags for {len(tags):,}.")
    for number, (sentence, own) in enumerate(zip(sentences, tags, strict=True)):
        if isinstance(own, str) or not hasattr(own, "__len__"):
            raise DataError(f"The tags of sentence {number} are {_short(own)}, not a list.")
        if len(sentence) != len(own):
            raise DataError(f"Sentence {number} has {len(sentence)} tokens, but {len(own)} tags.")
    flat = list(chain.from_iterable(tags))
    try:
        set(flat)
    except TypeError as error:
        raise DataError(f"Tags must be text, or something else that can be a key of a dict: {error}.") from error
    return flat


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

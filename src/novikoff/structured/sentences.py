"""From sentences as users pass them to tokens as integers, validated once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np

from novikoff._compiled.loops.tokens import TokenArrays
from novikoff.errors import DataError
from novikoff.structured.word_table import WordTable

__all__ = [
    "Sentence",
    "Tokens",
    "check_sentences",
    "count_columns",
    "default_columns",
    "encode_sentences",
    "flatten_tags",
]

Sentence = Sequence[Any]  # of words, or of rows of cells


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of all sentences, one after another.

    Attributes
    ----------
    words : ndarray
        words[i, c] is the id of the word in column c of token i.
    starts : ndarray
        Sentence s begins at token starts[s] and ends before starts[s + 1].
    hashes : ndarray
        hashes[word] has the hashes of the attributes of a word.
    epoch : int
        That of the word table: ids of another epoch may be of other words.
    """

    words: np.ndarray
    starts: np.ndarray
    hashes: np.ndarray
    epoch: int

    def __len__(self) -> int:
        return len(self.words)

    @property
    def n_sentences(self) -> int:
        return len(self.starts) - 1

    @cached_property
    def longest(self) -> int:
        """The number of tokens of the longest sentence."""
        return int(np.diff(self.starts).max(initial=0))

    @property
    def arrays(self) -> TokenArrays:
        """The arrays as the loops take them."""
        return TokenArrays(self.words, self.starts, self.hashes)


def check_sentences(sentences: Iterable[Sentence]) -> list[Sentence]:
    """Return the sentences as a list; raise a DataError if one is a string, or not a sequence."""
    if isinstance(sentences, str):
        raise DataError("sentences is one string. Pass a list of sentences, each a list of words.")
    checked = sentences if isinstance(sentences, list) else list(sentences)
    if set(map(type, checked)) <= {list, tuple}:  # the common case
        return checked
    for number, sentence in enumerate(checked):
        if isinstance(sentence, str) or not hasattr(sentence, "__len__"):
            raise DataError(
                f"Sentence {number} is {_short_repr(sentence)}, not a list of words. Split it first: "
                "text.split() will do for a start."
            )
    return checked


def count_columns(sentences: list[Sentence]) -> int | None:
    """Return the number of columns of the first token, 1 if it is a word; None if there are no tokens."""
    first = next(chain.from_iterable(sentences), None)
    if first is None:
        return None
    if isinstance(first, str):
        return 1
    if isinstance(first, (tuple, list)):
        return len(first)
    raise DataError(
        f"A token is {_short_repr(first)}, of type {type(first).__name__}. Tokens are words, or rows of cells "
        "such as ('dogs', 'NNS')."
    )


def default_columns(width: int) -> tuple[str, ...]:
    """Return the names of columns that the user has not named."""
    return ("word", "pos", *(f"column{k}" for k in range(2, width)))[:width]


def encode_sentences(sentences: list[Sentence], words: WordTable, n_columns: int) -> Tokens:
    """Replace every cell by its word id; new words are added to the table."""
    lengths = np.fromiter(map(len, sentences), np.int64, len(sentences))
    starts = np.concatenate([[0], np.cumsum(lengths)])
    rows = _list_rows(sentences, starts, n_columns) if starts[-1] else []
    with words.lock:
        ids = words.encode(rows, int(starts[-1]) * n_columns).reshape(-1, n_columns)
        return Tokens(ids, starts, words.attribute_hashes(), words.epoch)


def _list_rows(sentences: list[Sentence], starts: np.ndarray, n_columns: int) -> list[Any]:
    """Return sequences of cells, none of them empty: sentences if tokens are words, otherwise all tokens."""
    width = count_columns(sentences)
    if width != n_columns:
        raise DataError(f"Tokens have {width} {'column' if width == 1 else 'columns'} where {n_columns} were expected.")
    nonempty = [sentence for sentence in sentences if len(sentence)] if not np.diff(starts).all() else sentences
    if n_columns == 1 and isinstance(next(chain.from_iterable(sentences)), str):
        return nonempty
    tokens = list(chain.from_iterable(nonempty))
    try:
        sizes = np.fromiter(map(len, tokens), np.int64, len(tokens))
    except TypeError as error:
        raise DataError("Some tokens are rows of cells, and some are not.") from error
    if (sizes != n_columns).any():
        raise _ragged_error(starts, sizes, n_columns)
    return tokens


def _ragged_error(starts: np.ndarray, sizes: np.ndarray, n_columns: int) -> DataError:
    at = int(np.flatnonzero(sizes != n_columns)[0])
    sentence = int(np.searchsorted(starts, at, "right")) - 1
    return DataError(
        f"Token {at - int(starts[sentence])} of sentence {sentence} has {int(sizes[at])} columns where "
        f"{n_columns} were expected."
    )


def flatten_tags(sentences: list[Sentence], tags: Iterable[Sequence[Any]]) -> list[Any]:
    """Return the tags of all tokens, one after another; raise a DataError where there are more or fewer than tokens."""
    tags = tags if isinstance(tags, list) else list(tags)
    if len(tags) != len(sentences):
        raise DataError(f"There are {len(sentences):,} sentences, but tags for {len(tags):,}.")
    for number, (sentence, own) in enumerate(zip(sentences, tags, strict=True)):
        if isinstance(own, str) or not hasattr(own, "__len__"):
            raise DataError(f"The tags of sentence {number} are {_short_repr(own)}, not a list.")
        if len(sentence) != len(own):
            raise DataError(f"Sentence {number} has {len(sentence)} tokens, but {len(own)} tags.")
    flat = list(chain.from_iterable(tags))
    try:
        set(flat)
    except TypeError as error:
        raise DataError(f"Tags must be text, or something else that can be a key of a dict: {error}.") from error
    return flat


def _short_repr(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."

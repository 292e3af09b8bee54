"""Texts as bags of words and of letters.

    problem   the word n-grams and character n-grams of many texts, as hashes and places in memory
    given     UTF-8 whose capitals outside ASCII are small already
    result    for every n-gram its hash, its span, and whether it is of words or of characters
    source    Weinberger et al. 2009 for hashing them; Damashek, "Gauging similarity with n-grams", Science 267 (1995)

A word is a run of letters, digits and underscores; whatever is not ASCII counts as a letter. Character n-grams stay
within what blanks part, the blank on either side included, so that beginnings and ends of words differ from middles.
"""

from __future__ import annotations

import numpy as np

from novikoff._jit import kernel, part
from novikoff.kernels.names import mixed, name_hash
from novikoff.kernels.text import eight_bytes

_u = np.uint64
_ONES, _TOPS = _u(0x0101010101010101), _u(0x8080808080808080)
WORDS, CHARACTERS = range(2)


@kernel
def lower(text, out):
    """Copy a text with ASCII capitals made small, and eight blanks after it."""
    for at in range(text.size):
        byte = text[at]
        out[at] = byte + np.uint8(32) if np.uint8(65) <= byte <= np.uint8(90) else byte
    out[text.size :] = 32


@kernel
def tidy(text, spans, out, out_spans):
    """Copy texts with a blank before, after, and instead of every run of blanks, ASCII capitals made small, and eight
    blanks after all; return how much was written. A text that is missing (-1) becomes an empty one."""
    used = 0
    for i in range(spans.shape[0]):
        out_spans[i, 0] = used
        if spans[i, 0] < 0:
            out_spans[i, 1] = used
            continue
        out[used] = 32
        used += 1
        for at in range(spans[i, 0], spans[i, 1]):
            byte = text[at]
            if byte > 32:
                out[used] = byte + 32 if 65 <= byte <= 90 else byte
                used += 1
            elif out[used - 1] != 32:
                out[used] = 32
                used += 1
        if out[used - 1] != 32:
            out[used] = 32
            used += 1
        out_spans[i, 1] = used
    out[used : used + 8] = 32
    return used


@part
def is_word_byte(byte):
    return 97 <= byte <= 122 or 48 <= byte <= 57 or byte >= 128 or byte == 95


@part
def between(low_bits, first, last):
    """The top bits of the bytes of a word, given without theirs, that lie in a range of ASCII."""
    return (low_bits + _ONES * _u(0x80 - first)) & ~(low_bits + _ONES * _u(0x7F - last)) & _TOPS


@part
def word_at(text, at, end, h):
    """Read a word: (its hash after h, its end). Eight bytes at a time; there are eight more after the end."""
    while True:
        eight = eight_bytes(text, at)
        low = eight & ~_TOPS
        stops = _TOPS & ~(eight | between(low, 97, 122) | between(low, 48, 57) | between(low, 95, 95))
        if at + 8 > end:
            stops |= _u(0x80) << _u(8 * (end - at))
        if stops != _u(0):
            lowest = stops & (~stops + _u(1))  # bit 8n + 7, if n bytes come before
            n = ((((lowest - _u(1)) & _ONES) * _ONES) >> _u(56)) - _u(1)
            return (mixed(h, eight & ((lowest >> _u(7)) - _u(1))) if n > _u(0) else h), at + np.int64(n)
        h = mixed(h, eight)
        at += 8


@part
def begins_character(byte):
    """Whether it is not a continuation byte of UTF-8."""
    return byte & 0xC0 != 0x80


@part
def put(hashes, spans, kinds, used, h, begin, end, kind):
    hashes[used] = h
    spans[used, 0] = begin
    spans[used, 1] = end
    kinds[used] = kind
    return used + 1


@part
def word_ngrams(text, begin, end, head, fewest, most, starts, growing, hashes, spans, kinds, used):
    """All runs of `fewest` to `most` words. `starts` and `growing` are the beginnings and the hashes so far of the runs
    that begin with the last `most` words, by turns: this word's are at `own`."""
    n, own, at = 0, 0, begin
    while at < end:
        if not is_word_byte(text[_u(at)]):
            at += 1
            continue
        start = at
        h, at = word_at(text, start, end, head)
        for back in range(min(n, most - 1), 0, -1):
            k = own - back if own >= back else own - back + most  # no division, which takes as long as to read a word
            # Mixing in a blank, for "ab c" is not "a bc".
            growing[k] = name_hash(mixed(growing[k], _u(32)), text, start, at)
            if back + 1 >= fewest:
                used = put(hashes, spans, kinds, used, growing[k], starts[k], at, WORDS)
        starts[own], growing[own] = start, h
        n, own = n + 1, own + 1 if own + 1 < most else 0
        if fewest == 1:
            used = put(hashes, spans, kinds, used, h, start, at, WORDS)
    return used


@part
def character_ngrams(text, begin, end, head, fewest, most, hashes, spans, kinds, used):
    """All runs of `fewest` to `most` characters with no blank but at their ends."""
    for start in range(begin, end):
        if not begins_character(text[start]):
            continue
        at, size = start, 0
        while at < end and size < most and (size < 2 or text[at - 1] != 32):
            at += 1
            while at < end and not begins_character(text[at]):
                at += 1
            size += 1
            if size >= fewest:
                used = put(hashes, spans, kinds, used, name_hash(head, text, start, at), start, at, CHARACTERS)
    return used


@kernel
def ngrams(text, cells, heads, words, characters, hashes, spans, kinds, indptr):
    """The n-grams of every text, cells[i, 0] to cells[i, 1] of `text`; those of text i are indptr[i] to indptr[i + 1].

    `heads` are the hashes that n-grams of words and of characters go on from; `words` and `characters` are the fewest
    and the most of them in an n-gram, 0 and 0 for none.
    """
    starts, growing = np.empty(max(words[1], 1), np.int64), np.empty(max(words[1], 1), np.uint64)
    used = 0
    indptr[0] = 0
    for i in range(cells.shape[0]):
        begin, end = cells[i, 0], cells[i, 1]
        if words[1] > 0:
            used = word_ngrams(text, begin, end, heads[0], *words, starts, growing, hashes, spans, kinds, used)
        if characters[1] > 0:
            used = character_ngrams(text, begin, end, heads[1], *characters, hashes, spans, kinds, used)
        indptr[i + 1] = used
    return used

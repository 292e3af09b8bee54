"""Texts as bags of words and of letters.

    problem   the word n-grams and character n-grams of many texts, as hashes and places in memory
    given     UTF-8 whose capitals outside ASCII are small already
    result    for every n-gram of a text its hash, where it is first, whether it is of words or of characters, and how
              often it is there
    source    Weinberger et al. 2009 for hashing them; Damashek, "Gauging similarity with n-grams", Science 267 (1995);
              open addressing: Knuth, TAOCP 6.4, algorithm L

A word is a run of letters, digits and underscores; whatever is not ASCII counts as a letter. Character n-grams stay
within what blanks part, the blank on either side included, so that beginnings and ends of words differ from middles.
"""

from __future__ import annotations

import numpy as np

from novikoff._jit import kernel, part
from novikoff.kernels.lanes import WINDOW, bytes_within
from novikoff.kernels.names import mixed, name_hash
from novikoff.kernels.text import LAST_BYTES, eight_bytes, trailing_zeros

_u = np.uint64
_ONES, _TOPS = _u(0x0101010101010101), _u(0x8080808080808080)
WORDS, CHARACTERS = range(2)


@kernel
def lower(text, out):
    """Copy a text with ASCII capitals made small, and blanks after it."""
    for at in range(text.size):
        byte = text[at]
        out[at] = byte + np.uint8(32) if np.uint8(65) <= byte <= np.uint8(90) else byte
    out[text.size :] = 32


@kernel
def tidy(text, spans, out, out_spans):
    """Copy texts with a blank before, after, and instead of every run of blanks, ASCII capitals made small, and a
    window of blanks after all; return how much was written. A text that is missing (-1) becomes an empty one."""
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
    out[used : used + WINDOW] = 32
    return used


@part
def word_bits(text, at, end):
    """Which of the bytes of a window at text[at:], before `end`, belong to words."""
    bits = bytes_within(text, at, 97, 122) | bytes_within(text, at, 48, 57) | bytes_within(text, at, 128, 255)
    bits |= bytes_within(text, at, 95, 95)
    return bits if at + WINDOW <= end else bits & ((_u(1) << _u(end - at)) - _u(1))


@part
def between(low_bits, first, last):
    """The top bits of the bytes of a word, given without theirs, that lie in a range of ASCII."""
    return (low_bits + _ONES * _u(0x80 - first)) & ~(low_bits + _ONES * _u(0x7F - last)) & _TOPS


@part
def word_at(text, at, end, h):
    """Read a word that is long or leaves its window: (its hash after h, its end). Eight bytes at a time."""
    while True:
        eight = eight_bytes(text, at)
        low = eight & ~_TOPS
        stops = _TOPS & ~(eight | between(low, 97, 122) | between(low, 48, 57) | between(low, 95, 95))
        if at + 8 > end:
            stops |= _u(0x80) << _u(8 * (end - at))
        if stops != _u(0):
            n = trailing_zeros(stops) >> _u(3)  # bytes before the first of them
            return (mixed(h, eight & ~LAST_BYTES[_u(8) - n]) if n > _u(0) else h), at + np.int64(n)
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
    n, own, at, window, bits = 0, 0, begin, begin, _u(0)
    while True:
        while bits == _u(0) and window < end:
            at, window = window, window + WINDOW
            bits = word_bits(text, at, end)
        if bits == _u(0):
            break
        first = trailing_zeros(bits)
        start, size = at + np.int64(first), trailing_zeros(~(bits >> first))
        if size <= _u(8) and start + np.int64(size) < window:
            h, stop = mixed(head, eight_bytes(text, start) & ~LAST_BYTES[_u(8) - size]), start + np.int64(size)
            bits &= bits + (_u(1) << first)  # without the lowest run of ones
        else:
            h, stop = word_at(text, start, end, head)
            window, bits = stop, _u(0)
        for back in range(min(n, most - 1), 0, -1):
            k = own - back if own >= back else own - back + most  # no division, which takes as long as to read a word
            # Mixing in a blank, for "ab c" is not "a bc".
            growing[k] = name_hash(mixed(growing[k], _u(32)), text, start, stop)
            if back + 1 >= fewest:
                used = put(hashes, spans, kinds, used, growing[k], starts[k], stop, WORDS)
        starts[own], growing[own] = start, h
        n, own = n + 1, own + 1 if own + 1 < most else 0
        if fewest == 1:
            used = put(hashes, spans, kinds, used, h, start, stop, WORDS)
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


@part
def room_to_count(n):
    """A power of two that is four times as large or more."""
    size = 64
    while size < 4 * n:
        size *= 2
    return size


@part
def count_each(hashes, spans, kinds, counts, begin, end, table, size):
    """Keep the first of n-grams that are the same, in their order, and count them; return where they end. `table` finds
    a place by its hash, plus one: 0 is none."""
    table[:size] = 0
    mask = _u(size - 1)
    used = begin
    for p in range(begin, end):
        h = hashes[_u(p)]
        k = h & mask
        while table[k] != 0 and hashes[_u(begin + table[k] - 1)] != h:
            k = (k + _u(1)) & mask
        if table[k] != 0:
            counts[_u(begin + table[k] - 1)] += 1.0
            continue
        counts[_u(used)] = 1.0
        used = put(hashes, spans, kinds, used, h, spans[p, 0], spans[p, 1], kinds[p])
        table[k] = used - begin
    return used


@kernel
def ngrams(text, cells, heads, words, characters, hashes, spans, kinds, counts, indptr):
    """The n-grams of every text, cells[i, 0] to cells[i, 1] of `text`; those of text i are indptr[i] to indptr[i + 1].

    `heads` are the hashes that n-grams of words and of characters go on from; `words` and `characters` are the fewest
    and the most of them in an n-gram, 0 and 0 for none.
    """
    starts, growing = np.empty(max(words[1], 1), np.int64), np.empty(max(words[1], 1), np.uint64)
    table = np.empty(room_to_count(0), np.int32)
    used = 0
    indptr[0] = 0
    for i in range(cells.shape[0]):
        begin, end = cells[i, 0], cells[i, 1]
        if words[1] > 0:
            used = word_ngrams(text, begin, end, heads[0], *words, starts, growing, hashes, spans, kinds, used)
        if characters[1] > 0:
            used = character_ngrams(text, begin, end, heads[1], *characters, hashes, spans, kinds, used)
        size = room_to_count(used - indptr[i])
        if size > table.size:
            table = np.empty(size, np.int32)
        used = count_each(hashes, spans, kinds, counts, indptr[i], used, table, size)
        indptr[i + 1] = used
    return used

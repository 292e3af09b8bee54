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

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.decimals import eight_bytes, trailing_zeros
from novikoff._compiled.loops.names import name_hash, same_bytes
from novikoff._compiled.loops.simd import WINDOW, bytes_within

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
def end_of_word(text, at, end):
    """Where a word ends that is long or leaves its window. Eight bytes at a time."""
    while True:
        eight = eight_bytes(text, at)
        low = eight & ~_TOPS
        stops = _TOPS & ~(eight | between(low, 97, 122) | between(low, 48, 57) | between(low, 95, 95))
        if at + 8 > end:
            stops |= _u(0x80) << _u(8 * (end - at))
        if stops != _u(0):
            return at + np.int64(trailing_zeros(stops) >> _u(3))  # bytes before the first of them
        at += 8


@part
def put_word(text, start, stop, used):
    """Copy a word to text[used:], and a blank after it; return where the word ends. What follows is written over."""
    size = stop - start
    for k in range(0, size, 8):
        eight = eight_bytes(text, start + k)
        for byte in range(8):
            text[_u(used + k + byte)] = np.uint8(eight >> _u(8 * byte) & _u(255))
    text[_u(used + size)] = 32
    return used + size


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
def word_ngrams(text, begin, end, spare, head, factor, fewest, most, starts, hashes, spans, kinds, used):
    """All runs of `fewest` to `most` words. The words are copied to text[spare:], with a blank between each two, so
    that a run is the same bytes whatever stands between its words; return (used, spare). `starts` are the beginnings of
    the last `most` words, by turns: this word's is at `own`."""
    n, own, at, window, bits = 0, 0, begin, begin, _u(0)
    while True:
        while bits == _u(0) and window < end:
            at, window = window, window + WINDOW
            bits = word_bits(text, at, end)
        if bits == _u(0):
            break
        first = trailing_zeros(bits)
        start, size = at + np.int64(first), trailing_zeros(~(bits >> first))
        stop = start + np.int64(size)
        if stop < window:
            bits &= bits + (_u(1) << first)  # without the lowest run of ones
        else:
            stop = end_of_word(text, start, end)
            window, bits = stop, _u(0)
        starts[own] = spare
        spare = put_word(text, start, stop, spare)
        for back in range(min(n, most - 1), fewest - 2, -1):
            k = own - back if own >= back else own - back + most  # no division, which takes as long as to read a word
            h = name_hash(head, text, starts[k], spare, factor)
            used = put(hashes, spans, kinds, used, h, starts[k], spare, WORDS)
        spare += 1
        n, own = n + 1, own + 1 if own + 1 < most else 0
    return used, spare


@part
def character_ngrams(text, begin, end, head, factor, fewest, most, hashes, spans, kinds, used):
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
                h = name_hash(head, text, np.int64(start), np.int64(at), factor)
                used = put(hashes, spans, kinds, used, h, start, at, CHARACTERS)
    return used


@part
def room_to_count(n):
    """A power of two that is four times as large or more."""
    size = 64
    while size < 4 * n:
        size *= 2
    return size


@part
def is_same(text, hashes, spans, kinds, p, q):
    """Whether n-grams p and q are the same."""
    if hashes[p] != hashes[q] or kinds[p] != kinds[q]:
        return False
    a, b = np.int64(spans[p, 0]), np.int64(spans[q, 0])
    size = np.int64(spans[p, 1]) - a
    return size == np.int64(spans[q, 1]) - b and same_bytes(text, a, b, size)


@part
def count_each(text, hashes, spans, kinds, counts, begin, end, table, size):
    """Keep the first of n-grams that are the same, in their order, and count them; return where they end. `table` finds
    a place by its hash, plus one: 0 is none."""
    table[:size] = 0
    mask = _u(size - 1)
    used = begin
    for p in range(begin, end):
        h = hashes[_u(p)]
        k = h & mask
        while table[k] != 0 and not is_same(text, hashes, spans, kinds, _u(p), _u(begin + table[k] - 1)):
            k = (k + _u(1)) & mask
        if table[k] != 0:
            counts[_u(begin + table[k] - 1)] += 1.0
            continue
        counts[_u(used)] = 1.0
        used = put(hashes, spans, kinds, used, h, spans[p, 0], spans[p, 1], kinds[p])
        table[k] = used - begin
    return used


@kernel
def ngrams(text, cells, spare, heads, factor, words, characters, hashes, spans, kinds, counts, indptr):
    """The n-grams of every text, cells[i, 0] to cells[i, 1] of `text`; those of text i are indptr[i] to indptr[i + 1].

    text[spare:] is written to: the words of all texts, a byte after each, and eight more. `heads` are the hashes that
    n-grams of words and of characters go on from, and `factor` that of their key; `words` and `characters` are the
    fewest and the most of them in an n-gram, 0 and 0 for none.
    """
    starts = np.empty(max(words[1], 1), np.int64)
    table = np.empty(room_to_count(0), np.int32)
    used = 0
    indptr[0] = 0
    for i in range(cells.shape[0]):
        begin, end = cells[i, 0], cells[i, 1]
        if words[1] > 0:
            used, spare = word_ngrams(
                text, begin, end, spare, heads[0], factor, *words, starts, hashes, spans, kinds, used
            )
        if characters[1] > 0:
            used = character_ngrams(text, begin, end, heads[1], factor, *characters, hashes, spans, kinds, used)
        size = room_to_count(used - indptr[i])
        if size > table.size:
            table = np.empty(size, np.int32)
        used = count_each(text, hashes, spans, kinds, counts, indptr[i], used, table, size)
        indptr[i + 1] = used
    return used

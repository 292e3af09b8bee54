"""Texts as bags of n-grams, of words and of characters.

    problem   find and count the word n-grams and character n-grams of many texts
    given     UTF-8 whose capitals outside ASCII are lower case already
    result    for every different n-gram of a text its hash, where it first occurs, whether it is of words or of
              characters, and how often it occurs
    source    Weinberger et al. 2009 for hashing them; Damashek, "Gauging similarity with n-grams", Science 267 (1995);
              the hash table: `hash_table.py`

A word is a run of letters, digits and underscores; everything outside ASCII counts as a letter. Character n-grams do
not extend beyond blanks, but include the blank on either side, so that beginnings and ends of words differ from
middles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.decimals import load_eight_bytes, trailing_zeros
from novikoff._compiled.loops.hash_table import home_slot, next_slot
from novikoff._compiled.loops.names import name_hash, same_bytes
from novikoff._compiled.loops.simd import WINDOW, mark_bytes_within

_u = np.uint64
_LOW_BITS, _TOP_BITS = _u(0x0101010101010101), _u(0x8080808080808080)  # of eight bytes
WORDS, CHARACTERS = range(2)


class NgramArrays(NamedTuple):
    """N-grams: n-gram p is text[spans[p, 0]:spans[p, 1]], kinds[p] is WORDS or CHARACTERS."""

    hashes: np.ndarray
    spans: np.ndarray
    kinds: np.ndarray


@loop
def lower(text, out):
    """Copy a text with ASCII capitals in lower case, and fill the rest of `out` with blanks."""
    for at in range(text.size):
        byte = text[at]
        out[at] = byte + np.uint8(32) if np.uint8(65) <= byte <= np.uint8(90) else byte
    out[text.size :] = 32


@loop
def normalise_blanks(text, spans, out, out_spans):
    """Copy texts with one blank before, after, and instead of every run of blanks, ASCII capitals in lower case, and a
    window of blanks at the end; return the number of bytes before that window. A missing text (-1) becomes empty."""
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


# -- words


@inlined
def mark_word_bytes(text, at, end):
    """Return a bit for each byte of the window at text[at:] that is before `end` and part of a word."""
    bits = (
        mark_bytes_within(text, at, 97, 122)
        | mark_bytes_within(text, at, 48, 57)
        | mark_bytes_within(text, at, 128, 255)
    )
    bits |= mark_bytes_within(text, at, 95, 95)
    return bits if at + WINDOW <= end else bits & ((_u(1) << _u(end - at)) - _u(1))


@inlined
def mark_between(low_bits, first, last):
    """Return the top bit of each of eight bytes, given without their top bits, that is from `first` to `last`."""
    return (low_bits + _LOW_BITS * _u(0x80 - first)) & ~(low_bits + _LOW_BITS * _u(0x7F - last)) & _TOP_BITS


@inlined
def find_word_end(text, at, end):
    """Return where a word ends that is long or extends beyond its window, eight bytes at a time."""
    while True:
        eight = load_eight_bytes(text, at)
        low = eight & ~_TOP_BITS
        stops = _TOP_BITS & ~(
            eight | mark_between(low, 97, 122) | mark_between(low, 48, 57) | mark_between(low, 95, 95)
        )
        if at + 8 > end:
            stops |= _u(0x80) << _u(8 * (end - at))
        if stops != _u(0):
            return at + np.int64(trailing_zeros(stops) >> _u(3))  # bytes before the first of them
        at += 8


@inlined
def copy_word(text, start, stop, used):
    """Copy a word to text[used:], with a blank after it, eight bytes at a time: up to seven bytes after the blank are
    overwritten too. Return where the copy ends."""
    size = stop - start
    for k in range(0, size, 8):
        eight = load_eight_bytes(text, start + k)
        for byte in range(8):
            text[_u(used + k + byte)] = np.uint8(eight >> _u(8 * byte) & _u(255))
    text[_u(used + size)] = 32
    return used + size


# -- n-grams


@inlined
def add_ngram(ngrams, used, h, begin, end, kind):
    """Write an n-gram to ngrams[used]; return used + 1."""
    ngrams.hashes[used] = h
    ngrams.spans[used, 0] = begin
    ngrams.spans[used, 1] = end
    ngrams.kinds[used] = kind
    return used + 1


@inlined
def add_word_ngrams(text, begin, end, spare, prefix_hash, factor, sizes, starts, ngrams, used):
    """Add all runs of sizes[0] to sizes[1] words of text[begin:end]; return (used, spare).

    The words are copied to text[spare:], with a blank between each two, so that a run is the same bytes whatever
    separates its words. `starts` is a ring buffer of where the last words begin; that of the current word is at `own`.
    """
    fewest, most = sizes
    n, own, at, window, bits = 0, 0, begin, begin, _u(0)
    while True:
        while bits == _u(0) and window < end:
            at, window = window, window + WINDOW
            bits = mark_word_bytes(text, at, end)
        if bits == _u(0):
            break
        first = trailing_zeros(bits)
        start, size = at + np.int64(first), trailing_zeros(~(bits >> first))
        stop = start + np.int64(size)
        if stop < window:
            bits &= bits + (_u(1) << first)  # without the lowest run of ones
        else:
            stop = find_word_end(text, start, end)
            window, bits = stop, _u(0)
        starts[own] = spare
        spare = copy_word(text, start, stop, spare)
        for back in range(min(n, most - 1), fewest - 2, -1):
            k = own - back if own >= back else own - back + most  # a modulo would take as long as reading a word
            h = name_hash(prefix_hash, text, starts[k], spare, factor)
            used = add_ngram(ngrams, used, h, starts[k], spare, WORDS)
        spare += 1
        n, own = n + 1, own + 1 if own + 1 < most else 0
    return used, spare


@inlined
def begins_character(byte):
    """Return whether a byte is not a continuation byte of UTF-8."""
    return byte & 0xC0 != 0x80


@inlined
def add_character_ngrams(text, begin, end, prefix_hash, factor, sizes, ngrams, used):
    """Add all runs of sizes[0] to sizes[1] characters of text[begin:end] with no blank but at their ends; return the
    new `used`."""
    fewest, most = sizes
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
                h = name_hash(prefix_hash, text, np.int64(start), np.int64(at), factor)
                used = add_ngram(ngrams, used, h, start, at, CHARACTERS)
    return used


# -- counts


@inlined
def choose_table_size(n):
    """Return the number of slots to count n n-grams with: a power of two, at least 4 n."""
    size = 64
    while size < 4 * n:
        size *= 2
    return size


@inlined
def is_same(text, ngrams, p, q):
    """Return whether n-grams p and q are equal."""
    hashes, spans, kinds = ngrams
    if hashes[p] != hashes[q] or kinds[p] != kinds[q]:
        return False
    a, b = np.int64(spans[p, 0]), np.int64(spans[q, 0])
    size = np.int64(spans[p, 1]) - a
    return size == np.int64(spans[q, 1]) - b and same_bytes(text, a, b, size)


@inlined
def count_each(text, ngrams, counts, begin, end, table):
    """Keep the first of equal n-grams among begin..end-1, in order, and count them; return where they end. A slot of
    the table holds the number of an n-gram after `begin`, plus one; 0 if it is free."""
    hashes, spans, kinds = ngrams
    table[:] = 0
    used = begin
    for p in range(begin, end):
        h = hashes[_u(p)]
        slot = home_slot(table, h)
        while table[slot] != 0 and not is_same(text, ngrams, _u(p), _u(begin + table[slot] - 1)):
            slot = next_slot(table, slot)
        if table[slot] != 0:
            counts[_u(begin + table[slot] - 1)] += 1.0
            continue
        counts[_u(used)] = 1.0
        used = add_ngram(ngrams, used, h, spans[p, 0], spans[p, 1], kinds[p])
        table[slot] = used - begin
    return used


@loop
def fill_ngrams(text, cells, spare, prefix_hashes, factor, words, characters, ngrams, counts, indptr):
    """Write the n-grams of every text, cells[i, 0] to cells[i, 1] of `text`, and their counts; those of text i are
    indptr[i] to indptr[i + 1]. Return their number.

    text[spare:] is written to: the words of all texts, a byte after each, and eight more. `prefix_hashes` are the
    hashes that n-grams of words and of characters continue, and `factor` is that of their key; `words` and `characters`
    are the fewest and the most of them in an n-gram, 0 and 0 for none.
    """
    starts = np.empty(max(words[1], 1), np.int64)
    table = np.empty(choose_table_size(0), np.int32)
    used = 0
    indptr[0] = 0
    for i in range(cells.shape[0]):
        begin, end = cells[i, 0], cells[i, 1]
        if words[1] > 0:
            used, spare = add_word_ngrams(
                text, begin, end, spare, prefix_hashes[0], factor, words, starts, ngrams, used
            )
        if characters[1] > 0:
            used = add_character_ngrams(text, begin, end, prefix_hashes[1], factor, characters, ngrams, used)
        n_slots = choose_table_size(used - indptr[i])
        if n_slots > table.size:
            table = np.empty(n_slots, np.int32)
        used = count_each(text, ngrams, counts, indptr[i], used, table[:n_slots])
        indptr[i + 1] = used
    return used

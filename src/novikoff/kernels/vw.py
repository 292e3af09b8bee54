"""Vowpal Wabbit's text: rows `label 'tag |space name:value ...`.

    problem   read such lines into the names, hashes and values of a NamedBlock
    given     bytes, and the table of powers that numbers are read with
    result    the arrays; where it ended, and why, as `svmlight_rows` says it
    source    Vowpal Wabbit's input format; eight bytes at once: Lemire 2021, section 4 (see text.py)

Lines with importance weights other than 1, and lines that are wrong, are for Python to look at.
"""

from __future__ import annotations

import numpy as np

from novikoff._jit import kernel, part
from novikoff.kernels.names import SEED, last_bytes, mixed
from novikoff.kernels.text import (
    ASK,
    DONE,
    LARGEST,
    NUMBER,
    ROOM,
    eight_bytes,
    read_number,
    skip_blanks,
    trailing_zeros,
)

_u = np.uint64
_ONES, _TOPS = _u(0x0101010101010101), _u(0x8080808080808080)
_BAR, _COLON = 124, 58


@part
def marks_of(word, byte):
    """The top bit of the first byte of a word that is this one; above it others may be marked too."""
    different = word ^ (_ONES * _u(byte))
    return (different - _ONES) & ~different & _TOPS


@part
def blanks_of(word):
    """The same for a blank or anything below it: tabs, ends of lines, zeros."""
    return (word - _ONES * _u(33)) & ~word & _TOPS


@part
def name_at(text, at, end, h):
    """Read a name, up to a blank, a bar or a colon: (its hash after h, its end, whether it is all ASCII)."""
    is_ascii = True
    while at + 8 <= end:
        word = eight_bytes(text, at)
        stops = blanks_of(word) | marks_of(word, _BAR) | marks_of(word, _COLON)
        if stops != _u(0):
            n = trailing_zeros(stops) >> _u(3)  # bytes before the first of them
            word &= (_u(1) << (_u(8) * n)) - _u(1)
            is_ascii &= word & _TOPS == _u(0)
            return (mixed(h, word) if n > _u(0) else h), at + np.int64(n), is_ascii
        is_ascii &= word & _TOPS == _u(0)
        h = mixed(h, word)
        at += 8
    start = at
    while at < end and text[_u(at)] > 32 and text[_u(at)] != _BAR and text[_u(at)] != _COLON:
        is_ascii &= text[_u(at)] < 128
        at += 1
    return (mixed(h, last_bytes(text, start, at - start)) if at > start else h), at, is_ascii


@part
def at_name_end(text, at, end):
    """Whether a blank, a bar or the end of the line is here."""
    if at >= end:
        return True
    byte = text[_u(at)]
    return byte == 32 or byte == 10 or byte == _BAR or byte == 9 or byte == 13


@part
def at_line_end(text, at, end):
    return at >= end or text[_u(at)] == 10


@part
def read_value(text, at, end, powers, bits, values):
    """The number after a colon, 1 if there is no colon, and where it ends; -1 if it is no number or too large."""
    if at >= end or text[_u(at)] != _COLON:
        return 1.0, at
    value, at, how = read_number(text, at + 1, end, powers, bits, values)
    if how != NUMBER or not at_name_end(text, at, end) or not abs(value) < LARGEST:
        return 0.0, -1
    return value, at


@part
def skip_tag(text, at, end):
    """Past a tag, which begins with an apostrophe or touches the bar; -1 if this is no tag. Only ASCII, or Python is to
    see whether it is text."""
    quoted = at < end and text[at] == 39
    begin = at
    while not at_name_end(text, at, end):
        if not 32 < text[at] < 128:
            return -1
        at += 1
    if quoted:
        return skip_blanks(text, at, end)
    return at if at > begin and at < end and text[at] == _BAR else -1


@part
def read_label(text, at, end, powers, bits, values):
    """The label, NaN if there is none, and where the first bar is; -1 if this is for Python."""
    label = np.nan
    if at < end and text[at] != _BAR and text[at] != 39:
        label, after, how = read_number(text, at, end, powers, bits, values)
        if how != NUMBER or not abs(label) < LARGEST or after >= end or not (text[after] == 32 or text[after] == 9):
            return label, -1
        at = skip_blanks(text, after, end)
        weight, after, how = read_number(text, at, end, powers, bits, values)
        if how == NUMBER and weight == 1.0 and after < end and text[after] == 32:
            at = skip_blanks(text, after, end)
    if at < end and text[at] != _BAR:
        at = skip_tag(text, at, end)
    if at < 0 or at >= end or text[at] != _BAR:
        return label, -1
    return label, at


@kernel
def vw_rows(
    text, at, line, row, is_text, powers, lines, labels, indptr, names, hashes, values, space_of, spaces, n_spaces
):
    """Read lines from text[at:], the first of which is number `line`, from row `row` on; blank ones are passed over.
    Entry p of `names` and of `spaces` is (begin, end) in the text. `is_text` says that all is UTF-8.

    Return (row, at, line, n_spaces, why).
    """
    bits = np.zeros(1, np.uint64)
    doubles = bits.view(np.float64)
    stop = text.size
    while at < stop:
        begin = at
        at = skip_blanks(text, at, stop)
        if at_line_end(text, at, stop):
            at += 1
            line += 1
            continue
        if row == labels.size:
            return row, begin, line, n_spaces, ROOM
        labels[row], at = read_label(text, at, stop, powers, bits, doubles)
        filled, first_space = indptr[row], n_spaces
        head, weight = SEED, 1.0
        while at >= 0 and not at_line_end(text, at, stop):
            if text[_u(at)] == _BAR:
                spaces[n_spaces, 0] = at + 1
                head, at, is_ascii = name_at(text, at + 1, stop, SEED)
                spaces[n_spaces, 1] = at
                n_spaces += 1
                weight, at = read_value(text, at, stop, powers, bits, doubles)
            else:
                p, start = _u(filled), at
                hashes[p], at, is_ascii = name_at(text, start, stop, head)
                names[p, _u(0)], names[p, _u(1)], space_of[p] = start, at, n_spaces - 1
                value, after = read_value(text, at, stop, powers, bits, doubles)
                values[p] = weight * value
                at = after if start < at and abs(values[p]) < LARGEST else -1
                filled += 1
            if at < 0 or not (is_ascii or is_text) or not at_name_end(text, at, stop):
                at = -1
                break
            at = skip_blanks(text, at, stop)
        if at < 0:
            return row, begin, line, first_space, ASK
        lines[row] = line
        row += 1
        indptr[row] = filled
        at += 1
        line += 1
    return row, min(at, stop), line, n_spaces, DONE

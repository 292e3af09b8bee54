"""Vowpal Wabbit's text: rows `label 'tag |space name:value ...`.

    problem   read such lines into the names, hashes and values of a NamedBlock
    given     bytes, and the table of powers that numbers are read with
    result    the arrays; where it ended, and why, as `svmlight_rows` says it
    source    Vowpal Wabbit's input format; eight bytes at once: Lemire 2021, section 4 (see decimals.py)

Lines with importance weights other than 1, and lines that are wrong, are for Python to look at.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.decimals import (
    AFTER_ONE_TO_EIGHT,
    ASK,
    DONE,
    LARGEST,
    LAST_BYTES,
    NUMBER,
    ROOM,
    eight_bytes,
    lowest,
    read_number,
    short_number,
    skip_blanks,
    trailing_zeros,
    up_to_lowest,
)
from novikoff._compiled.loops.names import name_hash, short_hash
from novikoff._compiled.loops.rows import measured
from novikoff._compiled.loops.simd import WINDOW, bytes_within

_u = np.uint64
_ONES, _TOPS = _u(0x0101010101010101), _u(0x8080808080808080)
_FEW = 1 << 12  # names in a row that is searched for names that are there twice
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
def end_of_name(text, at, end):
    """Where a name ends, with a blank, a bar or a colon, and whether it is all ASCII."""
    is_ascii = True
    while at + 8 <= end:
        word = eight_bytes(text, at)
        stops = blanks_of(word) | marks_of(word, _BAR) | marks_of(word, _COLON)
        if stops != _u(0):
            n = trailing_zeros(stops) >> _u(3)  # bytes before the first of them
            word &= (_u(1) << (_u(8) * n)) - _u(1)
            return at + np.int64(n), is_ascii and word & _TOPS == _u(0)
        is_ascii &= word & _TOPS == _u(0)
        at += 8
    while at < end and text[_u(at)] > 32 and text[_u(at)] != _BAR and text[_u(at)] != _COLON:
        is_ascii &= text[_u(at)] < 128
        at += 1
    return at, is_ascii


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
def short_features(text, at, head, factor, space, filled, names, hashes, values, space_of):
    """Read name:value with a blank between them, as long as the names are ASCII and have one to eight bytes, and the
    values one to eight digits; return (at, filled)."""
    while 8 <= at <= text.size - WINDOW:
        blanks, colons = bytes_within(text, at, 0, 32), bytes_within(text, at, _COLON, _COLON)
        word = up_to_lowest(blanks) >> _u(1)
        strange = bytes_within(text, at, _BAR, _BAR) | bytes_within(text, at, 128, 255)
        colons &= word
        colon = lowest(colons)
        if strange & word != _u(0) or colon & AFTER_ONE_TO_EIGHT == _u(0):
            break
        stop = at + np.int64(trailing_zeros(blanks))
        value, is_short = short_number(text, at, stop, word & ~up_to_lowest(colon), bytes_within(text, at, 48, 57))
        if not is_short:
            break
        size = trailing_zeros(colon)
        p = _u(filled)
        hashes[p] = short_hash(head, eight_bytes(text, at) & ~LAST_BYTES[_u(8) - size], size, factor)
        names[p, _u(0)], names[p, _u(1)], space_of[p] = at, at + np.int64(size), space
        values[p] = value
        filled += 1
        at = stop
        if text[_u(at)] != 32:
            break
        at += 1
    return at, filled


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


@part
def are_distinct(hashes, begin, end, marks):
    """Whether no hash is there twice; too many count as if one were. `marks` has a bit for every 16 bits of a hash, all
    0 before and after: where it is set already, the hashes before are looked through."""
    if end - begin > _FEW:
        return False
    p, twins = _u(begin), 0
    while p < _u(end) and twins == 0:
        place, bit = hashes[p] >> _u(54), _u(1) << ((hashes[p] >> _u(48)) & _u(63))
        if marks[place] & bit != _u(0):
            for q in range(_u(begin), p):
                twins += hashes[q] == hashes[p]
        marks[place] |= bit
        p += _u(1)
    for q in range(_u(begin), p):
        marks[hashes[q] >> _u(54)] = _u(0)
    return twins == 0


@kernel
def vw_rows(
    text,
    at,
    line,
    row,
    is_text,
    seed,
    factor,
    powers,
    lines,
    labels,
    indptr,
    distinct,
    squared_norms,
    names,
    hashes,
    values,
    space_of,
    spaces,
    n_spaces,
):
    """Read lines from text[at:], the first of which is number `line`, from row `row` on; blank ones are passed over.
    Entry p of `names` and of `spaces` is (begin, end) in the text. `is_text` says that all is UTF-8. Names are hashed
    under the key (seed, factor). Rows are measured and searched for names that are there twice here, where they are in
    the nearest cache.

    Return (row, at, line, n_spaces, why).
    """
    bits = np.zeros(1, np.uint64)
    doubles = bits.view(np.float64)
    marks = np.zeros(1 << 10, np.uint64)
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
        head, weight = seed, 1.0
        while at >= 0:
            if weight == 1.0:
                at, filled = short_features(
                    text, at, head, factor, n_spaces - 1, filled, names, hashes, values, space_of
                )
            at = skip_blanks(text, at, stop)
            if at_line_end(text, at, stop):
                break
            if text[_u(at)] == _BAR:
                start = at + 1
                at, is_ascii = end_of_name(text, start, stop)
                spaces[n_spaces, 0], spaces[n_spaces, 1] = start, at
                head = name_hash(seed, text, start, at, factor)
                n_spaces += 1
                weight, at = read_value(text, at, stop, powers, bits, doubles)
            else:
                p, start = _u(filled), at
                at, is_ascii = end_of_name(text, start, stop)
                hashes[p] = name_hash(head, text, start, at, factor)
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
        distinct[row] = are_distinct(hashes, indptr[row], filled, marks)
        squared_norms[row] = measured(values, indptr[row], filled)
        row += 1
        indptr[row] = filled
        at += 1
        line += 1
    return row, min(at, stop), line, n_spaces, DONE

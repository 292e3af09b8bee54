"""Lines of svmlight files as rows of a CSR matrix.

    problem   read lines `label [qid:n] index:value ... [# comment]`
    given     bytes, and the table of powers that numbers are read with
    result    the arrays of a CSR matrix; where the loop ended, and why
    source    Joachims, SVMlight: the format of its example files

Lines that are wrong, or have numbers that are hard to round, are left to Python.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.decimals import (
    AFTER_ONE_TO_EIGHT,
    DONE,
    FULL,
    NEEDS_PYTHON,
    NUMBER,
    VALUE_LIMIT,
    ZEROS,
    join_eight_digits,
    load_eight_bytes,
    lowest_bit,
    mask_up_to_lowest,
    read_digits,
    read_number,
    read_short_number,
    skip_blanks,
    trailing_zeros,
)
from novikoff._compiled.loops.rows import squared_norm_or_unmeasured
from novikoff._compiled.loops.simd import WINDOW, mark_bytes_within

LARGEST_INDEX = 2**31 - 2

_u = np.uint64


@inlined
def skip_comment(text, at, end):
    """Return the offset after the line, and whether the rest of it is all ASCII and without zero bytes."""
    is_plain = True
    while at < end and text[_u(at)] != 10:
        is_plain &= 0 < text[_u(at)] < 128
        at += 1
    return min(at + 1, end), is_plain


@inlined
def at_end_of_row(text, at, end):
    """Return whether nothing but a comment can follow on this line."""
    return at >= end or text[_u(at)] == 10 or text[_u(at)] == 35


@inlined
def at_break(text, at, end):
    """Return whether a blank, the end of the line or a comment is here."""
    if at >= end:
        return True
    byte = text[_u(at)]
    return byte == 32 or byte == 10 or byte == 9 or byte == 13 or byte == 35


@inlined
def skip_query(text, at, end):
    """Return the offset after qid:anything, if it is here; -1 if that is not ASCII, or has zero bytes."""
    if at + 4 > end or text[at] != 113 or text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
        return at
    while not at_break(text, at, end):
        if not 0 < text[_u(at)] < 128:
            return -1
        at += 1
    return skip_blanks(text, at, end)


@inlined
def read_index(text, at, end):
    """Read an integer before a colon, and the offset of the colon; -1 if there is none, or one that is too large."""
    index, after = read_digits(text, at, end, _u(0))
    if after == at or after >= end or text[_u(after)] != 58:
        return -1, at
    while after - at > 10 and text[_u(at)] == 48:  # more digits than any index has, unless they are zeros
        at += 1
    if after - at > 10 or index > _u(LARGEST_INDEX):
        return -1, at
    return np.int64(index), after


@inlined
def read_short_pairs(text, at, filled, indices, data):
    """Read index:value separated by blanks, as long as both have one to eight digits; return (at, filled)."""
    while 8 <= at <= text.size - WINDOW and filled < data.size:
        digits, colons = mark_bytes_within(text, at, 48, 57), mark_bytes_within(text, at, 58, 58)
        blanks = mark_bytes_within(text, at, 0, 32)
        pair = mask_up_to_lowest(blanks) >> _u(1)
        others = pair & ~digits
        stop = at + np.int64(trailing_zeros(blanks))
        value, is_short = read_short_number(text, at, stop, pair & ~mask_up_to_lowest(others), digits)
        if lowest_bit(others) & colons & AFTER_ONE_TO_EIGHT == _u(0) or not is_short:
            break
        index = (load_eight_bytes(text, at) ^ ZEROS) << (_u(64) - _u(8) * trailing_zeros(others))
        indices[_u(filled)] = join_eight_digits(index)
        data[_u(filled)] = value
        filled += 1
        at = stop
        if text[_u(at)] != 32:
            break
        at += 1
    return at, filled


@inlined
def read_pairs(text, at, end, powers, bits, values, filled, indices, data):
    """Read index:value ... into entries from `filled` on; return (at, filled), or (-1, 0) if it is left to Python."""
    first = filled
    while True:
        at, filled = read_short_pairs(text, at, filled, indices, data)
        at = skip_blanks(text, at, end)
        if at_end_of_row(text, at, end):
            break
        index, at = read_index(text, at, end)
        if index < 0 or filled == data.size:
            return -1, 0
        value, at, outcome = read_number(text, at + 1, end, powers, bits, values)
        if outcome != NUMBER or not at_break(text, at, end) or not abs(value) < VALUE_LIMIT:
            return -1, 0
        indices[_u(filled)] = index
        data[_u(filled)] = value
        filled += 1
        at = skip_blanks(text, at, end)
    if not are_sorted(indices, first, filled) and not sort_pairs(indices, data, first, filled):
        return -1, 0
    return at, filled


@inlined
def are_sorted(indices, begin, end):
    """Return whether indices[begin:end] ascend, without a branch for each."""
    falls = 0
    for p in range(begin + 1, end):
        falls += indices[_u(p)] <= indices[_u(p) - _u(1)]
    return falls == 0


@inlined
def sort_pairs(indices, data, begin, end):
    """Sort indices[begin:end], and data with them (Shell 1959, with Knuth's gaps); False if an index is there twice."""
    gap = 1
    while gap < (end - begin) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, end):
            index, value, at = indices[i], data[i], i
            while at >= begin + gap and indices[at - gap] > index:
                indices[at], data[at] = indices[at - gap], data[at - gap]
                at -= gap
            indices[at], data[at] = index, value
        gap //= 3
    twins = 0
    for i in range(begin + 1, end):
        twins += indices[i] == indices[i - 1]
    return twins == 0


@loop
def svmlight_rows(text, at, line, row, powers, lines, labels, indptr, indices, data, squared_norms):
    """Read lines from text[at:], the first of which is number `line`, into the arrays of a CSR matrix from row `row`
    on; lines without a row are skipped.

    Return (row, at, line, status): at the end of the text (DONE), at a line for which the arrays have no row left
    (FULL), or at one that is left to Python, because it is wrong or hard to read (NEEDS_PYTHON). `lines[i]` is the line
    of row i; its squared norm is computed here, where it is in the nearest cache.
    """
    bits = np.zeros(1, np.uint64)
    values = bits.view(np.float64)
    stop = text.size
    while at < stop:
        begin = at
        at = skip_blanks(text, at, stop)
        has_row = not at_end_of_row(text, at, stop)
        if has_row:
            if row == labels.size:
                return row, begin, line, FULL
            labels[row], at, outcome = read_number(text, at, stop, powers, bits, values)
            if outcome != NUMBER or not at_break(text, at, stop) or not abs(labels[row]) < VALUE_LIMIT:
                return row, begin, line, NEEDS_PYTHON
            at = skip_query(text, skip_blanks(text, at, stop), stop)
            if at < 0:
                return row, begin, line, NEEDS_PYTHON
            at, filled = read_pairs(text, at, stop, powers, bits, values, indptr[row], indices, data)
            if at < 0:
                return row, begin, line, NEEDS_PYTHON
            lines[row] = line
            squared_norms[row] = squared_norm_or_unmeasured(data, indptr[row], filled)
            indptr[row + 1] = filled
        at, is_plain = skip_comment(text, at, stop)
        if not is_plain:  # a comment that is not ASCII, or perhaps not UTF-8
            return row, begin, line, NEEDS_PYTHON
        row += has_row
        line += 1
    return row, at, line, DONE

"""Lines of Vowpal Wabbit's text as rows of named features.

    problem   read lines `label 'tag |namespace name:value ...` into the names, hashes and values of a NamedBlock
    given     bytes, and the table of powers that numbers are read with
    result    the arrays; where the loop ended, and why, as in `svmlight_rows`
    source    Vowpal Wabbit's input format; eight bytes at once: Lemire 2021, section 4 (see decimals.py)

Lines with importance weights other than 1, and lines that are wrong, are left to Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.decimals import (
    AFTER_ONE_TO_EIGHT,
    DONE,
    FULL,
    LAST_BYTES,
    NEEDS_PYTHON,
    NUMBER,
    VALUE_LIMIT,
    load_eight_bytes,
    lowest_bit,
    mask_up_to_lowest,
    read_number,
    read_short_number,
    skip_blanks,
    trailing_zeros,
)
from novikoff._compiled.loops.names import name_hash, short_hash
from novikoff._compiled.loops.rows import squared_norm_or_unmeasured
from novikoff._compiled.loops.simd import WINDOW, mark_bytes_within

_u = np.uint64
_ONES, _TOPS = _u(0x0101010101010101), _u(0x8080808080808080)
_FEW = 1 << 12  # names in a row, at most, for it to be searched for names that are there twice
_BAR, _COLON, _APOSTROPHE = 124, 58, 39


class NamedArrays(NamedTuple):
    """The arrays of a NamedBlock: see novikoff.data.formats.block. A name or namespace is (begin, end) in the text."""

    lines: np.ndarray
    labels: np.ndarray
    indptr: np.ndarray
    distinct: np.ndarray
    squared_norms: np.ndarray
    names: np.ndarray
    hashes: np.ndarray
    values: np.ndarray
    namespace_of: np.ndarray
    namespaces: np.ndarray


@inlined
def mark_byte(eight, byte):
    """Return the top bit of the first of eight bytes that is this one; above it others may be marked too."""
    different = eight ^ (_ONES * _u(byte))
    return (different - _ONES) & ~different & _TOPS


@inlined
def mark_blank(eight):
    """Return the top bit of the first of eight bytes that is a blank or less: a tab, the end of a line, zero; above it
    others may be marked too."""
    return (eight - _ONES * _u(33)) & ~eight & _TOPS


@inlined
def find_name_end(text, at, end):
    """Return the offset of the blank, bar or colon that ends a name, and whether the name is all ASCII."""
    is_ascii = True
    while at + 8 <= end:
        eight = load_eight_bytes(text, at)
        stops = mark_blank(eight) | mark_byte(eight, _BAR) | mark_byte(eight, _COLON)
        if stops != _u(0):
            n = trailing_zeros(stops) >> _u(3)  # bytes before the first of them
            eight &= (_u(1) << (_u(8) * n)) - _u(1)
            return at + np.int64(n), is_ascii and eight & _TOPS == _u(0)
        is_ascii &= eight & _TOPS == _u(0)
        at += 8
    while at < end and text[_u(at)] > 32 and text[_u(at)] != _BAR and text[_u(at)] != _COLON:
        is_ascii &= text[_u(at)] < 128
        at += 1
    return at, is_ascii


@inlined
def at_name_end(text, at, end):
    """Return whether a blank, a bar or the end of the line is here."""
    if at >= end:
        return True
    byte = text[_u(at)]
    return byte == 32 or byte == 10 or byte == _BAR or byte == 9 or byte == 13


@inlined
def at_line_end(text, at, end):
    return at >= end or text[_u(at)] == 10


@inlined
def read_value(text, at, end, powers, bits, values):
    """Read the number after a colon, 1 if there is no colon, and where it ends; -1 if it is no number or too large."""
    if at >= end or text[_u(at)] != _COLON:
        return 1.0, at
    value, at, outcome = read_number(text, at + 1, end, powers, bits, values)
    if outcome != NUMBER or not at_name_end(text, at, end) or not abs(value) < VALUE_LIMIT:
        return 0.0, -1
    return value, at


@inlined
def read_short_features(text, at, head, factor, namespace, filled, arrays):
    """Read name:value separated by blanks, as long as the names are ASCII and have one to eight bytes, and the values
    one to eight digits; return (at, filled). `head` is the hash of the namespace, `namespace` its index."""
    names, hashes, values, namespace_of = arrays.names, arrays.hashes, arrays.values, arrays.namespace_of
    while 8 <= at <= text.size - WINDOW:
        blanks, colons = mark_bytes_within(text, at, 0, 32), mark_bytes_within(text, at, _COLON, _COLON)
        pair = mask_up_to_lowest(blanks) >> _u(1)
        not_a_name = mark_bytes_within(text, at, _BAR, _BAR) | mark_bytes_within(text, at, 128, 255)
        colons &= pair
        colon = lowest_bit(colons)
        if not_a_name & pair != _u(0) or colon & AFTER_ONE_TO_EIGHT == _u(0):
            break
        stop = at + np.int64(trailing_zeros(blanks))
        value, is_short = read_short_number(
            text, at, stop, pair & ~mask_up_to_lowest(colon), mark_bytes_within(text, at, 48, 57)
        )
        if not is_short:
            break
        size = trailing_zeros(colon)
        p = _u(filled)
        hashes[p] = short_hash(head, load_eight_bytes(text, at) & ~LAST_BYTES[_u(8) - size], size, factor)
        names[p, _u(0)], names[p, _u(1)], namespace_of[p] = at, at + np.int64(size), namespace
        values[p] = value
        filled += 1
        at = stop
        if text[_u(at)] != 32:
            break
        at += 1
    return at, filled


@inlined
def skip_tag(text, at, end):
    """Return the offset after a tag, which begins with an apostrophe or touches the bar; -1 if this is no tag, or not
    ASCII: Python checks whether it is UTF-8."""
    quoted = at < end and text[at] == _APOSTROPHE
    begin = at
    while not at_name_end(text, at, end):
        if not 32 < text[at] < 128:
            return -1
        at += 1
    if quoted:
        return skip_blanks(text, at, end)
    return at if at > begin and at < end and text[at] == _BAR else -1


@inlined
def read_label(text, at, end, powers, bits, values):
    """Read the label, NaN if there is none, and the offset of the first bar; -1 if the line is left to Python."""
    label = np.nan
    if at < end and text[at] != _BAR and text[at] != _APOSTROPHE:
        label, after, outcome = read_number(text, at, end, powers, bits, values)
        if (
            outcome != NUMBER
            or not abs(label) < VALUE_LIMIT
            or after >= end
            or not (text[after] == 32 or text[after] == 9)
        ):
            return label, -1
        at = skip_blanks(text, after, end)
        weight, after, outcome = read_number(text, at, end, powers, bits, values)
        if outcome == NUMBER and weight == 1.0 and after < end and text[after] == 32:
            at = skip_blanks(text, after, end)
    if at < end and text[at] != _BAR:
        at = skip_tag(text, at, end)
    if at < 0 or at >= end or text[at] != _BAR:
        return label, -1
    return label, at


@inlined
def are_distinct(hashes, begin, end, marks):
    """Return whether no hash is there twice; of too many, False. `marks` has a bit for each value of the 16 top bits,
    all 0 before and after: where it is set already, the hash is compared with all before it."""
    if end - begin > _FEW:
        return False
    p, twins = _u(begin), 0
    while p < _u(end) and twins == 0:
        index, bit = hashes[p] >> _u(54), _u(1) << ((hashes[p] >> _u(48)) & _u(63))
        if marks[index] & bit != _u(0):
            for q in range(_u(begin), p):
                twins += hashes[q] == hashes[p]
        marks[index] |= bit
        p += _u(1)
    for q in range(_u(begin), p):
        marks[hashes[q] >> _u(54)] = _u(0)
    return twins == 0


@loop
def vw_rows(text, at, line, row, is_utf8, key, powers, arrays, n_namespaces):
    """Read lines from text[at:], the first of which is number `line`, from row `row` on; blank ones are skipped.

    `is_utf8` says that all of the text is UTF-8. Names are hashed under the key (seed, factor); so far there are
    `n_namespaces` namespaces. The squared norms, and whether a name is there twice in a row, are computed here, where
    the row is in the nearest cache.

    Return (row, at, line, n_namespaces, status).
    """
    lines, labels, indptr, distinct, squared_norms, names, hashes, values, namespace_of, namespaces = arrays
    seed, factor = key
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
            return row, begin, line, n_namespaces, FULL
        labels[row], at = read_label(text, at, stop, powers, bits, doubles)
        filled, first_namespace = indptr[row], n_namespaces
        head, weight = seed, 1.0
        while at >= 0:
            if weight == 1.0:
                at, filled = read_short_features(text, at, head, factor, n_namespaces - 1, filled, arrays)
            at = skip_blanks(text, at, stop)
            if at_line_end(text, at, stop):
                break
            if text[_u(at)] == _BAR:
                start = at + 1
                at, is_ascii = find_name_end(text, start, stop)
                namespaces[n_namespaces, 0], namespaces[n_namespaces, 1] = start, at
                head = name_hash(seed, text, start, at, factor)
                n_namespaces += 1
                weight, at = read_value(text, at, stop, powers, bits, doubles)
            else:
                p, start = _u(filled), at
                at, is_ascii = find_name_end(text, start, stop)
                hashes[p] = name_hash(head, text, start, at, factor)
                names[p, _u(0)], names[p, _u(1)], namespace_of[p] = start, at, n_namespaces - 1
                value, after = read_value(text, at, stop, powers, bits, doubles)
                values[p] = weight * value
                at = after if start < at and abs(values[p]) < VALUE_LIMIT else -1
                filled += 1
            if at < 0 or not (is_ascii or is_utf8) or not at_name_end(text, at, stop):
                at = -1
                break
            at = skip_blanks(text, at, stop)
        if at < 0:
            return row, begin, line, first_namespace, NEEDS_PYTHON
        lines[row] = line
        distinct[row] = are_distinct(hashes, indptr[row], filled, marks)
        squared_norms[row] = squared_norm_or_unmeasured(values, indptr[row], filled)
        row += 1
        indptr[row] = filled
        at += 1
        line += 1
    return row, min(at, stop), line, n_namespaces, DONE

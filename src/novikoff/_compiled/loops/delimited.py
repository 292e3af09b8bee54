"""CSV and TSV parsing; lines it cannot parse go to data/formats/csv_cells.py.

    problem   split lines into cells, unquoted or simply quoted, and parse numbers
    given     bytes, and the kind of each column
    result    the arrays of a table; where the loop stopped, and why
    source    RFC 4180, with any one-byte delimiter and spaces around cells

Malformed lines, and lines that need Python's csv module (escaped quotes or line breaks within quotes), are left to
Python.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.decimals import DONE, FULL, NEEDS_PYTHON, NUMBER, VALUE_LIMIT, read_number
from novikoff._compiled.loops.hash_table import home_slot, next_slot
from novikoff._compiled.loops.names import name_hash, same_bytes

# Kinds of columns.
NUMBER_CELLS, NUMERIC_LABELS, STRING_CELLS, IGNORED_CELLS = range(4)

_u = np.uint64
_TAB, _LINE_FEED, _RETURN, _SPACE = 9, 10, 13, 32


class CellSyntax(NamedTuple):
    """How lines are split into cells."""

    delimiter: int
    quote: int  # -1 if there are no quotes
    is_utf8: bool  # whether the whole text is known to be valid UTF-8


class ColumnTargets(NamedTuple):
    """Where the cells of each column of the file are stored."""

    kinds: np.ndarray  # int8: NUMBER_CELLS, ...
    indices: np.ndarray  # int64: the column in `numbers` or in `spans`, each counted from 0
    required: int  # the label column, in which no cell may be missing; -1 if there is none


class TableArrays(NamedTuple):
    """The arrays of a table, with one entry for each row of the file."""

    lines: np.ndarray  # line numbers
    numbers: np.ndarray  # row-major, NaN where a cell is missing
    labels: np.ndarray  # used if the labels are numbers
    spans: np.ndarray  # begin and end offsets of strings, -1 and -1 where a cell is missing


@inlined
def is_space_or_tab(byte):
    return (byte == _SPACE) | (byte == _TAB)


@inlined
def skip_spaces(text, at, end, delimiter):
    """Return the offset after spaces; if the delimiter is a space, tabs are skipped too."""
    while at < end and (text[_u(at)] == _SPACE or (text[_u(at)] == _TAB and delimiter == _SPACE)):
        at += 1
    return at


@inlined
def skip_line(text, at, end):
    """Return the offset of the next line."""
    while not at_row_end(text, at, end):
        at += 1
    if at + 1 < end and text[_u(at)] == _RETURN and text[_u(at + 1)] == _LINE_FEED:
        at += 1
    return min(at + 1, end)


@inlined
def at_row_end(text, at, end):
    """Return whether the line ends here: with a line feed, a carriage return, or both, or at the end of the text."""
    return at >= end or text[_u(at)] == _LINE_FEED or text[_u(at)] == _RETURN


@inlined
def at_cell_end(text, at, end, delimiter):
    """Return whether the cell ends here: at a delimiter or at the end of the line."""
    if at >= end or text[_u(at)] == delimiter:
        return True
    return (text[_u(at)] == _TAB and delimiter == _SPACE) or at_row_end(text, at, end)


@inlined
def find_cell_span(text, at, end, delimiter, quote, is_utf8):
    """Return (begin, end, cell end): the span of a cell's content, without surrounding spaces, and the offset at which
    the cell ends.

    The cell end is -1 if Python must parse the cell: escaped or unterminated quotes, text after a closing quote, a line
    break, NUL, or possibly invalid UTF-8.
    """
    is_quoted = at < end and text[_u(at)] == quote
    at += is_quoted
    begin = at
    while not (at < end and text[_u(at)] == quote) if is_quoted else not at_cell_end(text, at, end, delimiter):
        if at >= end:
            return begin, begin, -1
        byte = text[_u(at)]
        if byte == 0 or at_row_end(text, at, end) or (byte >= 128 and not is_utf8):
            return begin, begin, -1
        at += 1
    after = at + is_quoted
    if not at_cell_end(text, after, end, delimiter):
        return begin, begin, -1
    while begin < at and is_space_or_tab(text[_u(begin)]):
        begin += 1
    while begin < at and is_space_or_tab(text[_u(at - 1)]):
        at -= 1
    return begin, at, after


@inlined
def is_missing(text, begin, end):
    """Return whether text[begin:end] is empty, ?, NA, N/A, NaN or null; `| 32` makes a letter lower case."""
    if end - begin == 0:
        return True
    if end - begin == 1:
        return text[begin] == 63
    a, b = text[begin] | 32, text[begin + 1] | 32
    if end - begin == 2:
        return a == 110 and b == 97
    c = text[begin + 2] | 32
    if end - begin == 3:
        return a == 110 and ((b == 97 and c == 110) or (text[begin + 1] == 47 and c == 97))
    return end - begin == 4 and a == 110 and b == 117 and c == 108 and text[begin + 3] | 32 == 108


@inlined
def read_cell_number(text, at, end, delimiter, quote, powers, bits, values):
    """Return (number, cell end) of a cell, quoted or not; the cell end is -1 if it is not a number or too large."""
    is_quoted = at < end and text[_u(at)] == quote
    value, at, outcome = read_number(text, at + is_quoted, end, powers, bits, values)
    if outcome != NUMBER or not abs(value) < VALUE_LIMIT:
        return 0.0, -1
    if is_quoted:
        if at >= end or text[_u(at)] != quote:
            return 0.0, -1
        at += 1
    elif at < end and text[_u(at)] == delimiter:  # in most cells
        return value, at
    elif delimiter != _SPACE:
        at = skip_spaces(text, at, end, delimiter)
    if not at_cell_end(text, at, end, delimiter):
        return 0.0, -1
    return value, at


@inlined
def read_cell(text, at, k, row, syntax, targets, powers, bits, values, arrays):
    """Read the cell of column k at text[at:] into its array; return where it ends, or -1 if it is left to Python."""
    stop, after = text.size, np.int64(-1)
    kind, column, i = targets.kinds[_u(k)], _u(targets.indices[_u(k)]), _u(row)
    is_number = (kind == NUMBER_CELLS) | (kind == NUMERIC_LABELS)
    value, begin, end = np.nan, np.int64(-1), np.int64(-1)
    if is_number:
        value, after = read_cell_number(text, at, stop, syntax.delimiter, syntax.quote, powers, bits, values)
    if after < 0:
        begin, end, after = find_cell_span(text, at, stop, syntax.delimiter, syntax.quote, syntax.is_utf8)
        if after < 0:
            return after
        if is_missing(text, begin, end):
            if k == targets.required:
                return np.int64(-1)
            value, begin, end = np.nan, np.int64(-1), np.int64(-1)
        elif is_number:
            return np.int64(-1)
    if kind == NUMBER_CELLS:
        arrays.numbers[i, column] = value
    elif kind == NUMERIC_LABELS:
        arrays.labels[i] = value
    elif kind == STRING_CELLS:
        arrays.spans[i, column, 0], arrays.spans[i, column, 1] = begin, end
    return after


@loop
def table_rows(text, at, line, row, syntax, targets, powers, arrays):
    """Read lines from text[at:] into the arrays, from row `row` on; the first line has the number `line`. Blank lines
    are skipped.

    Return (row, at, line, status). The status says why reading stopped there: at the end of the text (DONE), at a line
    for which the arrays have no row left (FULL), or at a line that is left to Python because it is malformed or needs
    Python's csv module (NEEDS_PYTHON).
    """
    bits = np.zeros(1, np.uint64)
    values = bits.view(np.float64)
    delimiter = syntax.delimiter
    stop, width = text.size, targets.kinds.size
    while at < stop:
        begin = at
        if at_row_end(text, skip_spaces(text, at, stop, _TAB if delimiter == _TAB else _SPACE), stop):
            at = skip_line(text, at, stop)
            line += 1
            continue
        if row == arrays.lines.size:
            return row, begin, line, FULL
        for k in range(width):
            at = skip_spaces(text, at, stop, delimiter)
            if delimiter == _SPACE and at_row_end(text, at, stop):
                return row, begin, line, NEEDS_PYTHON
            at = read_cell(text, at, k, row, syntax, targets, powers, bits, values, arrays)
            if at < 0:
                return row, begin, line, NEEDS_PYTHON
            if k < width - 1:
                if at >= stop or (text[_u(at)] != delimiter and at_row_end(text, at, stop)):
                    return row, begin, line, NEEDS_PYTHON
                at += 1
        if delimiter == _SPACE:
            at = skip_spaces(text, at, stop, delimiter)
        if not at_row_end(text, at, stop):
            return row, begin, line, NEEDS_PYTHON
        at = skip_line(text, at, stop)
        arrays.lines[row] = line
        row += 1
        line += 1
    return row, at, line, DONE


@loop
def distinct_strings(text, spans, seed, factor, codes, firsts, table):
    """Number the distinct strings text[spans[i, 0]:spans[i, 1]] in order of appearance; return how many there are.

    codes[i] becomes the number of string i, or -1 if it is missing; firsts[c] becomes the first i with code c.

    `table` is a hash table whose slots are all -1; their number is a power of two, and at least twice the number of
    strings. Strings are hashed under the key (seed, factor), so that nobody can choose strings that are slow to look
    up.
    """
    count = 0
    for i in range(codes.size):
        begin, size = np.int64(spans[i, 0]), np.int64(spans[i, 1]) - np.int64(spans[i, 0])
        codes[i] = -1
        if begin < 0:
            continue
        slot = home_slot(table, name_hash(seed, text, begin, begin + size, factor))
        while table[slot] >= 0:
            other = firsts[table[slot]]
            start = np.int64(spans[other, 0])
            if np.int64(spans[other, 1]) - start == size and same_bytes(text, begin, start, size):
                break
            slot = next_slot(table, slot)
        if table[slot] < 0:
            table[slot] = count
            firsts[count] = i
            count += 1
        codes[i] = table[slot]
    return count

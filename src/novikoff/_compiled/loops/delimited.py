"""Cells: the rows of tables in text, and the different words of a column.

    problem   cut lines into cells, plain or simply quoted, and read those of numbers
    given     bytes, and what each column holds
    result    the arrays of a table; where it ended, and why
    source    RFC 4180, with delimiters of any kind and blanks around cells

Lines that are wrong or that only Python's csv module can cut, with quotes or line feeds within quotes, are handed back.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.decimals import ASK, DONE, LARGEST, NUMBER, ROOM, read_number
from novikoff._compiled.loops.names import name_hash, same_bytes

# What to do with the cells of a column.
NUMBERS, WORDS, LEFT_OUT = range(3)

_u = np.uint64


@part
def is_blank(byte):
    return byte == 32 or byte == 9


@part
def skip_spaces(text, at, end, delimiter):
    """Past blanks; where blanks part the cells, past tabs too."""
    while at < end and (text[_u(at)] == 32 or (text[_u(at)] == 9 and delimiter == 32)):
        at += 1
    return at


@part
def after_line(text, at, end):
    """Past the end of the line."""
    while not at_row_end(text, at, end):
        at += 1
    if at + 1 < end and text[_u(at)] == 13 and text[_u(at + 1)] == 10:
        at += 1
    return min(at + 1, end)


@part
def at_row_end(text, at, end):
    """Whether the line ends here: with a line feed, a carriage return, or both."""
    return at >= end or text[_u(at)] == 10 or text[_u(at)] == 13


@part
def at_cell_end(text, at, end, delimiter):
    """Whether a delimiter or the end of the line is here."""
    if at >= end or text[_u(at)] == delimiter:
        return True
    return (text[_u(at)] == 9 and delimiter == 32) or at_row_end(text, at, end)


@part
def cell_span(text, at, end, delimiter, quote, is_text):
    """Where a cell's content begins and ends, without blanks around it, and where the cell ends: -1 if it has quotes
    within quotes, or a line feed, or bytes that may not be text."""
    is_quoted = at < end and text[_u(at)] == quote
    at += is_quoted
    begin = at
    while not (at < end and text[_u(at)] == quote) if is_quoted else not at_cell_end(text, at, end, delimiter):
        if at >= end:
            return begin, begin, -1
        byte = text[_u(at)]
        if byte == 0 or byte == 10 or byte == 13 or (byte >= 128 and not is_text):
            return begin, begin, -1
        at += 1
    after = at + is_quoted
    if not at_cell_end(text, after, end, delimiter):
        return begin, begin, -1
    while begin < at and is_blank(text[_u(begin)]):
        begin += 1
    while begin < at and is_blank(text[_u(at - 1)]):
        at -= 1
    return begin, at, after


@part
def is_missing(text, begin, end):
    """Whether text[begin:end] is empty, ?, NA, N/A, NaN or null."""
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


@part
def read_cell_number(text, at, end, delimiter, quote, powers, bits, values):
    """A number, in quotes or not, and where its cell ends; -1 if it is no number or too large."""
    is_quoted = at < end and text[_u(at)] == quote
    value, at, how = read_number(text, at + is_quoted, end, powers, bits, values)
    if how != NUMBER or not abs(value) < LARGEST:
        return 0.0, -1
    if is_quoted:
        if at >= end or text[_u(at)] != quote:
            return 0.0, -1
        at += 1
    elif at < end and text[_u(at)] == delimiter:  # as a rule
        return value, at
    elif delimiter != 32:
        at = skip_spaces(text, at, end, delimiter)
    if not at_cell_end(text, at, end, delimiter):
        return 0.0, -1
    return value, at


@kernel
def table_rows(text, at, line, row, delimiter, quote, is_text, kinds, places, required, powers, lines, numbers, spans):
    """Read lines of cells from text[at:], the first of which is number `line`, from row `row` on; blank lines are
    passed over. `is_text` says that text is UTF-8. Column k goes to numbers[:, places[k]], NaN where a cell is missing,
    or as begin and end to spans[:, places[k]], -1 and -1 where a cell is missing. In column `required` none may be.
    `quote` is -1 if there are none.

    Return (row, at, line, why): at the end (DONE), at a line that finds no room (ROOM), or at one that is for Python to
    look at, because something is wrong or hard (ASK). `lines[i]` is the line of row i.
    """
    bits = np.zeros(1, np.uint64)
    values = bits.view(np.float64)
    stop, width = text.size, kinds.size
    while at < stop:
        begin = at
        if at_row_end(text, skip_spaces(text, at, stop, 9 if delimiter == 9 else 32), stop):
            at = after_line(text, at, stop)
            line += 1
            continue
        if row == lines.size:
            return row, begin, line, ROOM
        for k in range(width):
            at = skip_spaces(text, at, stop, delimiter)
            if delimiter == 32 and at_row_end(text, at, stop):
                return row, begin, line, ASK
            after = -1
            kind, place = kinds[_u(k)], _u(places[_u(k)])
            if kind == NUMBERS:
                value, after = read_cell_number(text, at, stop, delimiter, quote, powers, bits, values)
                if after >= 0:
                    numbers[_u(row), place] = value
            if after < 0:
                first, last, after = cell_span(text, at, stop, delimiter, quote, is_text)
                if after < 0:
                    return row, begin, line, ASK
                missing = is_missing(text, first, last)
                if missing and k == required:
                    return row, begin, line, ASK
                if kind == NUMBERS:
                    if not missing:
                        return row, begin, line, ASK
                    numbers[_u(row), place] = np.nan
                elif kind == WORDS:
                    spans[_u(row), place, 0] = -1 if missing else first
                    spans[_u(row), place, 1] = -1 if missing else last
            if k < width - 1:
                if after >= stop or (text[_u(after)] != delimiter and at_row_end(text, after, stop)):
                    return row, begin, line, ASK
                after += 1
            at = after
        if delimiter == 32:
            at = skip_spaces(text, at, stop, delimiter)
        if not at_row_end(text, at, stop):
            return row, begin, line, ASK
        at = after_line(text, at, stop)
        lines[row] = line
        row += 1
        line += 1
    return row, at, line, DONE


@kernel
def distinct_words(text, spans, seed, factor, codes, firsts, table):
    """Number the different words text[spans[i, 0]:spans[i, 1]] in order of appearance, -1 where there is none; return
    how many. firsts[c] is the first i with code c. `table` has a power of two of places, two per word, all -1. Words
    are hashed under the key (seed, factor), so that nobody can choose words that are slow to look up."""
    count, mask = 0, _u(table.size - 1)
    for i in range(codes.size):
        begin, size = np.int64(spans[i, 0]), np.int64(spans[i, 1]) - np.int64(spans[i, 0])
        codes[i] = -1
        if begin < 0:
            continue
        place = name_hash(seed, text, begin, begin + size, factor) & mask
        while table[place] >= 0:
            other = firsts[table[place]]
            start = np.int64(spans[other, 0])
            if np.int64(spans[other, 1]) - start == size and same_bytes(text, begin, start, size):
                break
            place = (place + _u(1)) & mask
        if table[place] < 0:
            table[place] = count
            firsts[count] = i
            count += 1
        codes[i] = table[place]
    return count

"""Text as bytes: decimal numbers, the lines of svmlight files that are made of them, and the cells of tables.

    problem   read [+-]digits[.digits][e[+-]digits] from bytes, correctly rounded; and rows of such numbers, or of words
    given     bytes, and a table of 128-bit powers of five (`powers_of_five`)
    result    the nearest doubles, in the arrays of a CSR matrix or a table; where it ended, and why
    source    Clinger 1990 (short decimals are one exact operation); Lemire, "Number parsing at a gigabyte per
              second", Software: Practice and Experience 51 (2021), algorithm 1, and section 4 for eight digits at once

A decimal is w * 10^q with a whole w of at most 19 digits, so it fits 64 bits. Longer ones lie between two such; if one
double is nearest to both, it is that. Subnormal and overflowing ones, and the rare decimals that 128 bits cannot round
for certain, are handed back: Python reads those. So are lines that are wrong: Python finds the words for them.
"""

from __future__ import annotations

import numpy as np

from novikoff._jit import kernel, part

# How the reading of a number went, and of lines.
NUMBER, NOT_A_NUMBER, HARD = range(3)
DONE, ROOM, ASK = range(3)

# What to do with the cells of a column.
NUMBERS, WORDS, LEFT_OUT = range(3)

LARGEST_INDEX = 2**31 - 2
LARGEST = 1e150  # squares must be doubles too

SMALLEST_POWER, LARGEST_POWER = -342, 308

_u = np.uint64
_MAX_DIGITS = 19
_LOW_32 = _u(0xFFFFFFFF)
_ZEROS, _PAIRS = _u(0x3030303030303030), _u(0x000000FF000000FF)
_WHOLE_TENS = _u(10) ** np.arange(9, dtype=np.uint64)
_EXACT_TENS = 10.0 ** np.arange(23)  # powers of ten that are doubles


def powers_of_five() -> np.ndarray:
    """The 128 leading bits of 5^q for every q, (high, low): rounded down, and up where q < 0 makes it a reciprocal."""
    table = np.empty((LARGEST_POWER - SMALLEST_POWER + 1, 2), np.uint64)
    for q in range(SMALLEST_POWER, LARGEST_POWER + 1):
        if q >= 0:
            power = 5**q
            size = power.bit_length()
            bits = power << (128 - size) if size <= 128 else power >> (size - 128)
        else:
            power = 5**-q
            bits = (1 << (power.bit_length() + 127)) // power + 1
            bits >>= bits.bit_length() - 128
        table[q - SMALLEST_POWER] = bits >> 64, bits & ((1 << 64) - 1)
    return table


@part
def high_product(a, b):
    """The upper and lower 64 bits of a * b."""
    a0, a1 = a & _LOW_32, a >> _u(32)
    b0, b1 = b & _LOW_32, b >> _u(32)
    p00, p01, p10 = a0 * b0, a0 * b1, a1 * b0
    middle = (p00 >> _u(32)) + (p01 & _LOW_32) + (p10 & _LOW_32)
    high = a1 * b1 + (p01 >> _u(32)) + (p10 >> _u(32)) + (middle >> _u(32))
    return high, a * b


@part
def leading_zeros(w):
    n = 0
    for step in (32, 16, 8, 4, 2, 1):
        if w >> _u(64 - step) == _u(0):
            w <<= _u(step)
            n += step
    return n


@part
def nearest_bits(w, q, powers):
    """The bits of the double nearest to w * 10^q, w > 0; 0 if 128 bits of 5^q leave it open."""
    shift = leading_zeros(w)
    w <<= _u(shift)
    high, low = high_product(w, powers[q - SMALLEST_POWER, 0])
    if high & _u(0x1FF) == _u(0x1FF):  # the bits that decide the rounding may still change
        more, _ = high_product(w, powers[q - SMALLEST_POWER, 1])
        low += more
        if low < more:
            high += _u(1)
        if low == _u(0xFFFFFFFFFFFFFFFF) and (q < -27 or q > 55):
            return _u(0)
    top = high >> _u(63)
    mantissa = high >> (top + _u(9))
    exponent = ((217706 * q) >> 16) + 63 + np.int64(top) - shift + 1023
    if exponent <= 0 or exponent >= 2046:
        return _u(0)
    # exactly half way, which only small powers of five can be: to the even neighbour
    if low <= _u(1) and -4 <= q <= 23 and mantissa & _u(3) == _u(1) and mantissa << (top + _u(9)) == high:
        mantissa -= _u(1)
    mantissa = (mantissa + (mantissa & _u(1))) >> _u(1)
    if mantissa >> _u(53):
        mantissa >>= _u(1)
        exponent += 1
    return (mantissa & _u(0xFFFFFFFFFFFFF)) | (_u(exponent) << _u(52))


@part
def read_number(text, at, end, powers, bits, values):
    """Read a number at text[at:end]; return (value, where it ends, how it went).

    `bits` and `values` are the same eight bytes, as a whole number and as a double.
    """
    begin = at
    negative = at < end and text[at] == 45
    if at < end and (text[at] == 45 or text[at] == 43):
        at += 1
    start = at
    w, at = read_digits(text, at, end, _u(0))
    digits, q = at - start, 0
    if at < end and text[at] == 46:
        at += 1
        whole = at
        w, at = read_digits(text, at, end, w)
        q = whole - at
        digits -= q
    if digits == 0:
        return 0.0, begin, NOT_A_NUMBER
    after = at
    if at < end and (text[at] == 101 or text[at] == 69):
        power, after = read_exponent(text, at + 1, end)
        if after == at + 1:
            return 0.0, begin, NOT_A_NUMBER
        q += power
    is_cut = 0
    if digits > _MAX_DIGITS:  # w ran over, unless they are leading zeros
        w, dropped = leading_digits(text, start, at)
        is_cut = 1 if dropped > 0 else 0
        q += dropped
    if w == _u(0):
        value = 0.0
    elif w >> _u(53) == _u(0) and -22 <= q <= 22 and not is_cut:
        value = np.float64(w)
        value = value * _EXACT_TENS[q] if q >= 0 else value / _EXACT_TENS[-q]
    elif q < SMALLEST_POWER or q > LARGEST_POWER:
        return 0.0, after, HARD
    else:
        # If digits were dropped, the number is between w and w + 1 times 10^q: is one double nearest to all of these?
        for upper in range(is_cut, -1, -1):
            below = nearest_bits(w + _u(upper), q, powers)
            if below == _u(0) or (is_cut and not upper and below != bits[0]):
                return 0.0, after, HARD
            bits[0] = below
        value = values[0]
    return (-value if negative else value), after, NUMBER


@part
def eight_bytes(text, at):
    """text[at : at + 8] as a whole number, the first byte lowest; LLVM makes it one load. Places are unsigned, or each
    byte would be asked whether its place counts from the end."""
    at = _u(at)
    word = _u(0)
    for k in range(8):
        word |= _u(text[at + _u(k)]) << _u(8 * k)
    return word


@part
def read_digits(text, at, end, w):
    """Append the digits at text[at:end] to w, modulo 2^64, and pass over them.

    Eight at a time, without a branch per digit, whose outcome nobody could predict (Lemire 2021, section 4).
    """
    while at + 8 <= end:
        digits = eight_bytes(text, at) ^ _ZEROS
        above = ((digits + _u(0x7676767676767676)) | digits) & _u(0x8080808080808080)  # bytes that are no digits
        if above == _u(0):
            n = _u(8)
        else:
            below = ((above & (~above + _u(1))) - _u(1)) & _u(0x0101010101010101)  # a one for each byte up to the first
            n = ((below * _u(0x0101010101010101)) >> _u(56)) - _u(1)
            digits = digits << (_u(56) - _u(8) * n) << _u(8)
        digits = digits * _u(10) + (digits >> _u(8))
        hundreds = (digits & _PAIRS) * _u(0x000F424000000064)
        ones = ((digits >> _u(16)) & _PAIRS) * _u(0x0000271000000001)
        w = w * _WHOLE_TENS[n] + ((hundreds + ones) >> _u(32))
        at += np.int64(n)
        if above != _u(0):
            return w, at
    return read_few_digits(text, at, end, w)


@part
def read_few_digits(text, at, end, w):
    """The same, one at a time, near the end of the text."""
    while at < end:
        digit = _u(text[_u(at)]) - _u(48)
        if digit > _u(9):
            break
        w = w * _u(10) + digit
        at += 1
    return w, at


@part
def leading_digits(text, at, end):
    """The first 19 digits that count of digits with or without a point, and how many follow."""
    w, digits = _u(0), 0
    while at < end:
        if text[at] != 46:
            if digits < _MAX_DIGITS:
                w = w * _u(10) + _u(text[at] - 48)
            digits += w != _u(0)
        at += 1
    return w, max(digits - _MAX_DIGITS, 0)


@part
def read_exponent(text, at, end):
    """A signed whole number; (0, at) if there is none."""
    begin = at
    negative = at < end and text[at] == 45
    if at < end and (text[at] == 45 or text[at] == 43):
        at += 1
    start, power = at, np.int64(0)
    while at < end and 48 <= text[at] <= 57:
        power = min(power * np.int64(10) + np.int64(text[at]) - np.int64(48), np.int64(100_000))
        at += 1
    if at == start:
        return 0, begin
    return (-power if negative else power), at


@kernel
def read_numbers(text, starts, ends, powers, out, how):
    """Read one number from each piece of text; it must be all of the piece."""
    bits = np.zeros(1, np.uint64)
    values = bits.view(np.float64)
    for i in range(starts.size):
        out[i], at, how[i] = read_number(text, starts[i], ends[i], powers, bits, values)
        if at != ends[i]:
            how[i] = NOT_A_NUMBER


@part
def skip_blanks(text, at, end):
    """Past blanks, tabs and the carriage return of a Windows line."""
    while at < end and (text[at] == 32 or text[at] == 9 or text[at] == 13):
        at += 1
    return at


@part
def skip_line(text, at, end):
    """Past the end of the line; and whether it is all ASCII and without zero bytes."""
    is_plain = True
    while at < end and text[at] != 10:
        is_plain &= 0 < text[at] < 128
        at += 1
    return min(at + 1, end), is_plain


@part
def at_end_of_row(text, at, end):
    """Whether nothing but a comment can follow on this line."""
    return at >= end or text[at] == 10 or text[at] == 35


@part
def at_break(text, at, end):
    """Whether a blank, the end of the line or a comment is here."""
    return at >= end or text[at] == 32 or text[at] == 9 or text[at] == 10 or text[at] == 13 or text[at] == 35


@part
def skip_query(text, at, end):
    """Past qid:anything, if it is here; but not past what is not ASCII, which nobody then takes for a pair."""
    if at + 4 > end or text[at] != 113 or text[at + 1] != 105 or text[at + 2] != 100 or text[at + 3] != 58:
        return at
    while not at_break(text, at, end) and 0 < text[at] < 128:
        at += 1
    return skip_blanks(text, at, end)


@part
def read_index(text, at, end):
    """A whole number before a colon, and where the colon is; -1 if there is none, or one that is too large."""
    index, start = np.int64(0), at
    while at < end and 48 <= text[at] <= 57:
        index = index * 10 + np.int64(text[at]) - 48
        if index > LARGEST_INDEX:
            return -1, start
        at += 1
    if at == start or at >= end or text[at] != 58:
        return -1, start
    return index, at


@part
def read_pairs(text, at, end, powers, bits, values, filled, indices, data):
    """Read index:value ... from `filled` on; return (where it ended, filled), or (-1, 0) if it is not for us."""
    first, last, is_sorted = filled, -1, True
    while not at_end_of_row(text, at, end):
        index, at = read_index(text, at, end)
        if index < 0 or filled == data.size:
            return -1, 0
        value, at, how = read_number(text, at + 1, end, powers, bits, values)
        if how != NUMBER or not at_break(text, at, end) or not abs(value) < LARGEST:
            return -1, 0
        is_sorted &= index > last
        last = index
        indices[filled] = index
        data[filled] = value
        filled += 1
        at = skip_blanks(text, at, end)
    if not is_sorted and not sort_pairs(indices[first:filled], data[first:filled]):
        return -1, 0
    return at, filled


@part
def sort_pairs(indices, data):
    """Sort both by the first (Shell 1959; gaps as Knuth's); False if an index is there twice."""
    gap = 1
    while gap < indices.size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, indices.size):
            index, value, at = indices[i], data[i], i
            while at >= gap and indices[at - gap] > index:
                indices[at], data[at] = indices[at - gap], data[at - gap]
                at -= gap
            indices[at], data[at] = index, value
        gap //= 3
    return not (indices[1:] == indices[:-1]).any()


@kernel
def svmlight_rows(text, at, line, row, powers, lines, labels, indptr, indices, data):
    """Read lines `label [qid:n] index:value ... [# comment]` from text[at:], the first of which is number `line`, into
    the arrays of a CSR matrix from row `row` on; lines without a row are passed over.

    Return (row, at, line, why): at the end (DONE), at a line that finds no room (ROOM), or at one that is for Python to
    look at, because something is wrong or hard (ASK). `lines[i]` is the line of row i.
    """
    bits = np.zeros(1, np.uint64)
    values = bits.view(np.float64)
    stop = text.size
    while at < stop:
        begin = at
        at = skip_blanks(text, at, stop)
        if not at_end_of_row(text, at, stop):
            if row == labels.size:
                return row, begin, line, ROOM
            labels[row], at, how = read_number(text, at, stop, powers, bits, values)
            if how != NUMBER or not at_break(text, at, stop) or not abs(labels[row]) < LARGEST:
                return row, begin, line, ASK
            at = skip_blanks(text, at, stop)
            if (
                at + 4 <= stop
                and text[at] == 113
                and text[at + 1] == 105
                and text[at + 2] == 100
                and text[at + 3] == 58
            ):
                while not at_break(text, at, stop):
                    if not 0 < text[at] < 128:
                        return row, begin, line, ASK
                    at += 1
                at = skip_blanks(text, at, stop)
            at, filled = read_pairs(text, at, stop, powers, bits, values, indptr[row], indices, data)
            if at < 0:
                return row, begin, line, ASK
            lines[row] = line
            row += 1
            indptr[row] = filled
        at, is_plain = skip_line(text, at, stop)
        if not is_plain:  # a comment in some other alphabet, or none that is text
            row -= row > 0 and lines[row - 1] == line
            return row, begin, line, ASK
        line += 1
    return row, at, line, DONE


@part
def skip_spaces(text, at, end, delimiter):
    """Past blanks; where blanks part the cells, past tabs too."""
    while at < end and (text[at] == 32 or (text[at] == 9 and delimiter == 32)):
        at += 1
    return at


@part
def at_row_end(text, at, end):
    """Whether the line ends here, the Windows way or the other."""
    return at >= end or text[at] == 10 or (text[at] == 13 and (at + 1 == end or text[at + 1] == 10))


@part
def at_cell_end(text, at, end, delimiter):
    """Whether a delimiter or the end of the line is here."""
    return at_row_end(text, at, end) or text[at] == delimiter or (text[at] == 9 and delimiter == 32)


@part
def cell_span(text, at, end, delimiter, quote, is_text):
    """Where a cell's content begins and ends, without blanks around it, and where the cell ends: -1 if it has quotes
    within quotes, or a line feed, or bytes that may not be text."""
    is_quoted = at < end and text[at] == quote
    at += is_quoted
    begin = at
    while not (at < end and text[at] == quote) if is_quoted else not at_cell_end(text, at, end, delimiter):
        if at >= end or text[at] == 0 or text[at] == 10 or text[at] == 13 or (text[at] >= 128 and not is_text):
            return begin, begin, -1
        at += 1
    after = at + is_quoted
    if not at_cell_end(text, after, end, delimiter):
        return begin, begin, -1
    while begin < at and (text[begin] == 32 or text[begin] == 9):
        begin += 1
    while begin < at and (text[at - 1] == 32 or text[at - 1] == 9):
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
    is_quoted = at < end and text[at] == quote
    value, at, how = read_number(text, at + is_quoted, end, powers, bits, values)
    if how != NUMBER or not abs(value) < LARGEST:
        return 0.0, -1
    if is_quoted:
        if at >= end or text[at] != quote:
            return 0.0, -1
        at += 1
    elif delimiter != 32:
        at = skip_spaces(text, at, end, delimiter)
    if not at_cell_end(text, at, end, delimiter):
        return 0.0, -1
    return value, at


@kernel
def distinct_words(text, spans, codes, firsts, table):
    """Number the different words text[spans[i, 0]:spans[i, 1]] in order of appearance, -1 where there is none; return
    how many. firsts[c] is the first i with code c. `table` has a power of two of places, two per word, all -1."""
    count, mask = 0, table.size - 1
    for i in range(codes.size):
        begin, size = spans[i, 0], spans[i, 1] - spans[i, 0]
        codes[i] = -1
        if begin < 0:
            continue
        key = _u(14695981039346656037)  # FNV-1a
        for at in range(begin, begin + size):
            key = (key ^ _u(text[at])) * _u(1099511628211)
        place = np.int64(key ^ (key >> _u(32))) & mask
        while table[place] >= 0:
            other = firsts[table[place]]
            if spans[other, 1] - spans[other, 0] == size:
                shared = 0
                while shared < size and text[begin + shared] == text[spans[other, 0] + shared]:
                    shared += 1
                if shared == size:
                    break
            place = (place + 1) & mask
        if table[place] < 0:
            table[place] = count
            firsts[count] = i
            count += 1
        codes[i] = table[place]
    return count


@kernel
def table_rows(text, at, line, row, delimiter, quote, is_text, kinds, places, required, powers, lines, numbers, spans):
    """Read lines of cells from text[at:], the first of which is number `line`, from row `row` on; blank lines are
    passed over. `is_text` says that text is UTF-8. Column k goes to numbers[:, places[k]], NaN where a cell is missing,
    or as begin and end to spans[:, places[k]], -1 and -1 where a cell is missing. In column `required` none may be.

    Return (row, at, line, why) as `svmlight_rows` does.
    """
    bits = np.zeros(1, np.uint64)
    values = bits.view(np.float64)
    stop, width = text.size, kinds.size
    while at < stop:
        begin = at
        if at_row_end(text, skip_blanks(text, at, stop) if delimiter != 9 else skip_spaces(text, at, stop, 9), stop):
            at, _ = skip_line(text, at, stop)
            line += 1
            continue
        if row == lines.size:
            return row, begin, line, ROOM
        for k in range(width):
            at = skip_spaces(text, at, stop, delimiter)
            if delimiter == 32 and at_row_end(text, at, stop):
                return row, begin, line, ASK
            after = -1
            if kinds[k] == NUMBERS:
                value, after = read_cell_number(text, at, stop, delimiter, quote, powers, bits, values)
                if after >= 0:
                    numbers[row, places[k]] = value
            if after < 0:
                first, last, after = cell_span(text, at, stop, delimiter, quote, is_text)
                if after < 0:
                    return row, begin, line, ASK
                missing = is_missing(text, first, last)
                if missing and k == required:
                    return row, begin, line, ASK
                if kinds[k] == NUMBERS:
                    if not missing:
                        return row, begin, line, ASK
                    numbers[row, places[k]] = np.nan
                elif kinds[k] == WORDS:
                    spans[row, places[k], 0] = -1 if missing else first
                    spans[row, places[k], 1] = -1 if missing else last
            if k < width - 1:
                if at_row_end(text, after, stop):
                    return row, begin, line, ASK
                after += 1
            at = after
        if delimiter == 32:
            at = skip_spaces(text, at, stop, delimiter)
        if not at_row_end(text, at, stop):
            return row, begin, line, ASK
        at, _ = skip_line(text, at, stop)
        lines[row] = line
        row += 1
        line += 1
    return row, at, line, DONE

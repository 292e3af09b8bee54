"""Text as bytes: decimal numbers, and what the formats that are made of them share.

    problem   read [+-]digits[.digits][e[+-]digits] from bytes, correctly rounded
    given     bytes, and a table of 128-bit powers of five (`powers_of_five`)
    result    the nearest double; where the number ended, and how it went
    source    Clinger 1990 (short decimals are one exact operation); Lemire, "Number parsing at a gigabyte per
              second", Software: Practice and Experience 51 (2021), algorithm 1, and section 4 for eight digits at once

A decimal is w * 10^q with a whole w of at most 19 digits, so it fits 64 bits. Longer ones lie between two such; if one
double is nearest to both, it is that. Subnormal and overflowing ones, and the rare decimals that 128 bits cannot round
for certain, are handed back: Python reads those.

Places in a text are made unsigned where they are looked up: a signed one would be asked whether it counts from the end.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.simd import WINDOW, bytes_within

# How the reading of a number went, and of lines.
NUMBER, NOT_A_NUMBER, HARD = range(3)
DONE, ROOM, ASK = range(3)

LARGEST = 1e150  # squares must be doubles too

SMALLEST_POWER, LARGEST_POWER = -342, 308

_u = np.uint64
_MINUS, _POINT = 45, 46
_MAX_DIGITS = 19
_LOW_32 = _u(0xFFFFFFFF)
ZEROS, _PAIRS = _u(0x3030303030303030), _u(0x000000FF000000FF)
_WHOLE_TENS = _u(10) ** np.arange(9, dtype=np.uint64)
_EXACT_TENS = 10.0 ** np.arange(23)  # powers of ten that are doubles
AFTER_ONE_TO_EIGHT = _u(0x1FE)  # places in a window
LAST_BYTES = np.array([(1 << 64) - (1 << 8 * (8 - n)) for n in range(9)], np.uint64)  # the n last of eight
_SIGNS = np.array([1.0, -1.0])


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
    """How many of the 64 bits come before the first one; LLVM knows this loop as an instruction of the processor."""
    n = _u(64)
    while w != _u(0):
        w >>= _u(1)
        n -= _u(1)
    return n


@part
def trailing_zeros(w):
    """How many of the 64 bits come after the last one, in the same way."""
    n = _u(64)
    while w != _u(0):
        w <<= _u(1)
        n -= _u(1)
    return n


@part
def ones(w):
    """How many of the 64 bits are one, in the same way."""
    n = _u(0)
    while w != _u(0):
        w &= w - _u(1)
        n += _u(1)
    return n


@part
def lowest(w):
    """The lowest one of the bits, alone."""
    return w & (~w + _u(1))


@part
def up_to_lowest(w):
    """The bits up to and with the lowest one; all if there is none."""
    return w ^ (w - _u(1))


@part
def nearest_bits(w, q, powers):
    """The bits of the double nearest to w * 10^q, w > 0; 0 if 128 bits of 5^q leave it open."""
    shift = leading_zeros(w)
    w <<= shift
    power = _u(q - SMALLEST_POWER)
    high, low = high_product(w, powers[power, _u(0)])
    if high & _u(0x1FF) == _u(0x1FF):  # the bits that decide the rounding may still change
        more, _ = high_product(w, powers[power, _u(1)])
        low += more
        if low < more:
            high += _u(1)
        if low == _u(0xFFFFFFFFFFFFFFFF) and (q < -27 or q > 55):
            return _u(0)
    top = high >> _u(63)
    mantissa = high >> (top + _u(9))
    exponent = ((217706 * q) >> 16) + 63 + np.int64(top) - np.int64(shift) + 1023
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
    sign = text[_u(at)] if at < end else 0
    is_negative = sign == 45
    at += np.int64(is_negative | (sign == 43))
    start = at
    w, at = read_digits(text, at, end, _u(0))
    digits, q = at - start, 0
    if at < end and text[_u(at)] == 46:
        whole = at + 1
        w, at = read_digits(text, whole, end, w)
        q = whole - at
        digits -= q
    if digits == 0:
        return 0.0, begin, NOT_A_NUMBER
    after = at
    if at < end and (text[_u(at)] == 101 or text[_u(at)] == 69):
        power, after = read_exponent(text, at + 1, end)
        if after == at + 1:
            return 0.0, begin, NOT_A_NUMBER
        q += power
    is_cut = False
    if digits > _MAX_DIGITS:  # w ran over, unless they are leading zeros
        w, dropped = leading_digits(text, start, at)
        is_cut = dropped > 0
        q += dropped
    if w >> _u(53) == _u(0) and -22 <= q <= 22 and not is_cut:
        value = np.float64(np.int64(w))
        value = value / _EXACT_TENS[_u(-q)] if q <= 0 else value * _EXACT_TENS[_u(q)]
    elif w == _u(0):
        value = np.float64(0.0)
    elif q < SMALLEST_POWER or q > LARGEST_POWER:
        return 0.0, after, HARD
    else:
        nearest = nearest_bits(w, q, powers)
        # If digits were dropped, the number is between w and w + 1 times 10^q: is one double nearest to all of these?
        if nearest == _u(0) or (is_cut and nearest_bits(w + _u(1), q, powers) != nearest):
            return 0.0, after, HARD
        bits[_u(0)] = nearest
        value = values[_u(0)]
    return value * _SIGNS[_u(is_negative)], after, NUMBER  # half of the branches on a sign would be taken wrong


@part
def short_number(text, at, end, bits, digits):
    """Read a number [-]digits[.digits] of one to eight digits, up to text[end]; return (value, whether it is one).

    `bits` tells which bytes of the window at text[at:] it takes, `digits` which are digits; the text has at least nine
    bytes before its end. No branch depends on how many digits there are, and what is read next waits for none of this.
    """
    others = bits & ~digits
    sign = others & lowest(bits) & bytes_within(text, at, _MINUS, _MINUS)
    point = others ^ sign
    n = ones(bits & digits)
    if point & ~(lowest(point) & bytes_within(text, at, _POINT, _POINT)) != _u(0) or n - _u(1) >= _u(8):
        return 0.0, False
    decimals = ones(bits & ~up_to_lowest(point))
    after, has_point = LAST_BYTES[decimals], np.int64(point != _u(0))
    found = (eight_bytes(text, end - 8) & after) | (eight_bytes(text, end - 8 - has_point) & ~after)
    w = value_of_eight((found ^ ZEROS) & LAST_BYTES[n])
    return np.float64(np.int64(w)) / _EXACT_TENS[decimals] * _SIGNS[_u(sign != _u(0))], True


@part
def eight_bytes(text, at):
    """text[at : at + 8] as a whole number, the first byte lowest; LLVM makes it one load."""
    at = _u(at)
    word = _u(0)
    for k in range(8):
        word |= _u(text[at + _u(k)]) << _u(8 * k)
    return word


@part
def eight_digits(text, at):
    """The values of the digits at text[at:], a byte each, and how many there are, at most eight; bytes after them are
    whatever they are."""
    digits = eight_bytes(text, at) ^ ZEROS
    others = ((digits + _u(0x7676767676767676)) | digits) & _u(0x8080808080808080)  # bytes that are no digits
    return digits, trailing_zeros(others) >> _u(3)


@part
def value_of(digits, n):
    """The number that the first n of eight digits make."""
    unused = _u(4) * (_u(8) - n)
    return value_of_eight(digits << unused << unused)  # in two steps: 64 bits cannot be shifted out at once


@part
def value_of_eight(digits):
    """The number that eight digits make, a byte each, the leading one lowest (Lemire 2021, section 4)."""
    digits = digits * _u(10) + (digits >> _u(8))
    hundreds = (digits & _PAIRS) * _u(0x000F424000000064)
    ones = ((digits >> _u(16)) & _PAIRS) * _u(0x0000271000000001)
    return (hundreds + ones) >> _u(32)


@part
def read_digits(text, at, end, w):
    """Append the digits at text[at:end] to w, modulo 2^64, and pass over them: eight at a time, without a branch per
    digit, whose outcome nobody could predict."""
    while at + 8 <= end:
        digits, n = eight_digits(text, at)
        w = w * _WHOLE_TENS[n] + value_of(digits, n)
        at += np.int64(n)
        if n < _u(8):
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
        if text[_u(at)] != 46:
            if digits < _MAX_DIGITS:
                w = w * _u(10) + _u(text[_u(at)] - 48)
            digits += w != _u(0)
        at += 1
    return w, max(digits - _MAX_DIGITS, 0)


@part
def read_exponent(text, at, end):
    """A signed whole number; (0, at) if there is none."""
    begin = at
    sign = text[_u(at)] if at < end else 0
    at += sign == 45 or sign == 43
    start, power = at, np.int64(0)
    while at < end and 48 <= text[_u(at)] <= 57:
        power = min(power * np.int64(10) + np.int64(text[_u(at)]) - np.int64(48), np.int64(100_000))
        at += 1
    if at == start:
        return 0, begin
    return (-power if sign == 45 else power), at


@kernel
def read_numbers(text, starts, ends, powers, out, how):
    """Read one number from each piece of text; it must be all of the piece."""
    bits = np.zeros(1, np.uint64)
    values = bits.view(np.float64)
    for i in range(starts.size):
        out[i], at, how[i] = read_number(text, starts[i], ends[i], powers, bits, values)
        if at != ends[i]:
            how[i] = NOT_A_NUMBER


@kernel
def count_bytes(text, byte):
    """How many bytes of a text are this one."""
    n, at = _u(0), 0
    while at + WINDOW <= text.size:
        n += ones(bytes_within(text, at, byte, byte))
        at += WINDOW
    for rest in range(at, text.size):
        n += _u(text[rest] == byte)
    return n


@kernel
def find_lines(text, begins, ends, tabs, numbers):
    """Where each line begins, ends and has its first tab, -1 if it has none, and which it is, counted from 0; without
    blank lines, and without the carriage returns of Windows lines. Return how many there are."""
    found = line = begin = at = np.int64(0)
    tab = np.int64(-1)
    while at < text.size:
        marks = tabs_and_ends(text, at)
        while marks != _u(0):
            here = at + np.int64(trailing_zeros(marks))
            if here < text.size and text[_u(here)] == 9:
                tab = here if tab < 0 else tab
            else:
                end = here - np.int64(here > begin and text[_u(here - 1)] == 13)
                begins[found], ends[found], tabs[found], numbers[found] = begin, end, tab if tab < end else -1, line
                found += not is_blank(text, begin, end)
                begin, tab = here + 1, np.int64(-1)
                line += 1
            marks &= marks - _u(1)
        at += WINDOW
    return found


@part
def tabs_and_ends(text, at):
    """Which of the bytes at text[at:], as many as a window has, are tabs or end a line, as the end of the text does if
    it is none."""
    if at + WINDOW <= text.size:
        marks = bytes_within(text, at, 9, 10)
    else:
        marks = _u(0)
        for k in range(at, text.size):
            marks |= _u(text[_u(k)] == 9 or text[_u(k)] == 10) << _u(k - at)
    if text.size - at <= WINDOW and text[_u(text.size - 1)] != 10:
        marks |= _u(1) << _u(text.size - at)
    return marks


@part
def is_blank(text, at, end):
    """Whether there is nothing in text[at:end] but blanks and tabs."""
    while at < end and (text[_u(at)] == 32 or text[_u(at)] == 9):
        at += 1
    return at >= end


@part
def skip_blanks(text, at, end):
    """Past blanks, tabs and the carriage return of a Windows line."""
    while at < end and (text[_u(at)] == 32 or text[_u(at)] == 9 or text[_u(at)] == 13):
        at += 1
    return at

"""Decimal numbers in text, and what the loops over text formats share.

    problem   read [+-]digits[.digits][e[+-]digits] from bytes, correctly rounded
    given     bytes, and a table of 128-bit powers of five (`powers_of_five`)
    result    the nearest double, the offset after the number, and the outcome
    source    Clinger 1990 (short decimals are one exact operation); Lemire, "Number parsing at a gigabyte per
              second", Software: Practice and Experience 51 (2021), algorithm 1, and section 4 for eight digits at once

A decimal is w * 10^q with an integer w of at most 19 digits, which fits 64 bits. A longer decimal lies between two
such; if the same double is nearest to both, that is the result. Subnormal and overflowing ones, and the rare decimals
that 128 bits cannot round for certain, are left to Python.

Offsets in a text are made unsigned where they index it: for a signed one, numba would check whether it counts from the
end.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.simd import WINDOW, mark_bytes_within

# The outcome of reading a number; HARD ones are left to Python.
NUMBER, NOT_A_NUMBER, HARD = range(3)
# Why a loop over lines has ended: at the end of the text, because its arrays are full, or at a line left to Python.
DONE, FULL, NEEDS_PYTHON = range(3)

VALUE_LIMIT = 1e150  # absolute values must be below it: their squares must be doubles too

SMALLEST_POWER, LARGEST_POWER = -342, 308

_u = np.uint64
_MINUS, _POINT = 45, 46
_MAX_DIGITS = 19
_LOW_32 = _u(0xFFFFFFFF)
ZEROS, _PAIRS = _u(0x3030303030303030), _u(0x000000FF000000FF)
_INTEGER_TENS = _u(10) ** np.arange(9, dtype=np.uint64)
_EXACT_TENS = 10.0 ** np.arange(23)  # powers of ten that are doubles
AFTER_ONE_TO_EIGHT = _u(0x1FE)  # the bits of a window that have one to eight bytes before them
LAST_BYTES = np.array([(1 << 64) - (1 << 8 * (8 - n)) for n in range(9)], np.uint64)  # masks of the n last of eight
_SIGNS = np.array([1.0, -1.0])


def powers_of_five() -> np.ndarray:
    """Return the 128 leading bits of 5^q for every q, (high, low): rounded down, and up where q < 0 makes it a
    reciprocal."""
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


@inlined
def multiply_wide(a, b):
    """Return the upper and lower 64 bits of a * b."""
    a0, a1 = a & _LOW_32, a >> _u(32)
    b0, b1 = b & _LOW_32, b >> _u(32)
    p00, p01, p10 = a0 * b0, a0 * b1, a1 * b0
    middle = (p00 >> _u(32)) + (p01 & _LOW_32) + (p10 & _LOW_32)
    high = a1 * b1 + (p01 >> _u(32)) + (p10 >> _u(32)) + (middle >> _u(32))
    return high, a * b


@inlined
def leading_zeros(w):
    """Return the number of bits above the highest one, of 64. LLVM turns this loop into a single instruction."""
    n = _u(64)
    while w != _u(0):
        w >>= _u(1)
        n -= _u(1)
    return n


@inlined
def trailing_zeros(w):
    """Return the number of bits below the lowest one, of 64. LLVM turns this loop into a single instruction."""
    n = _u(64)
    while w != _u(0):
        w <<= _u(1)
        n -= _u(1)
    return n


@inlined
def count_ones(w):
    """Return the number of bits that are one, of 64. LLVM turns this loop into a single instruction."""
    n = _u(0)
    while w != _u(0):
        w &= w - _u(1)
        n += _u(1)
    return n


@inlined
def lowest_bit(w):
    """Return the lowest bit that is one, alone."""
    return w & (~w + _u(1))


@inlined
def mask_up_to_lowest(w):
    """Return a mask of the bits up to and including the lowest one; all bits if there is none."""
    return w ^ (w - _u(1))


@inlined
def nearest_bits(w, q, powers):
    """Return the bits of the double nearest to w * 10^q, w > 0; 0 if 128 bits of 5^q do not decide it."""
    shift = leading_zeros(w)
    w <<= shift
    power = _u(q - SMALLEST_POWER)
    high, low = multiply_wide(w, powers[power, _u(0)])
    if high & _u(0x1FF) == _u(0x1FF):  # the bits that decide the rounding may still change
        more, _ = multiply_wide(w, powers[power, _u(1)])
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
    # Exactly half way, which happens with small powers of five only: round to the even neighbour.
    if low <= _u(1) and -4 <= q <= 23 and mantissa & _u(3) == _u(1) and mantissa << (top + _u(9)) == high:
        mantissa -= _u(1)
    mantissa = (mantissa + (mantissa & _u(1))) >> _u(1)
    if mantissa >> _u(53):
        mantissa >>= _u(1)
        exponent += 1
    return (mantissa & _u(0xFFFFFFFFFFFFF)) | (_u(exponent) << _u(52))


@inlined
def read_number(text, at, end, powers, bits, values):
    """Read a number at text[at:end]; return (value, the offset after it, outcome).

    `bits` and `values` are the same eight bytes, as an integer and as a double.
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
    if digits > _MAX_DIGITS:  # w has overflowed, unless they are leading zeros
        w, dropped = read_leading_digits(text, start, at)
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
    return value * _SIGNS[_u(is_negative)], after, NUMBER  # a branch on the sign would be mispredicted half of the time


@inlined
def read_short_number(text, at, end, bits, digits):
    """Read a number [-]digits[.digits] of one to eight digits, up to text[end]; return (value, whether it is one).

    `bits` masks the bytes of the window at text[at:] that it takes, `digits` those that are digits; the text has at
    least nine bytes before its end. No branch depends on the number of digits, so the processor reads on meanwhile.
    """
    others = bits & ~digits
    sign = others & lowest_bit(bits) & mark_bytes_within(text, at, _MINUS, _MINUS)
    point = others ^ sign
    n = count_ones(bits & digits)
    if point & ~(lowest_bit(point) & mark_bytes_within(text, at, _POINT, _POINT)) != _u(0) or n - _u(1) >= _u(8):
        return 0.0, False
    decimals = count_ones(bits & ~mask_up_to_lowest(point))
    after, has_point = LAST_BYTES[decimals], np.int64(point != _u(0))
    eight = (load_eight_bytes(text, end - 8) & after) | (load_eight_bytes(text, end - 8 - has_point) & ~after)
    w = join_eight_digits((eight ^ ZEROS) & LAST_BYTES[n])
    return np.float64(np.int64(w)) / _EXACT_TENS[decimals] * _SIGNS[_u(sign != _u(0))], True


@inlined
def load_eight_bytes(text, at):
    """text[at : at + 8] as an integer, the first byte lowest. LLVM turns this loop into one load."""
    at = _u(at)
    eight = _u(0)
    for k in range(8):
        eight |= _u(text[at + _u(k)]) << _u(8 * k)
    return eight


@inlined
def load_first_bytes(text, at, n):
    """Return the first n <= 8 bytes at text[at:] as a word, padded with zeros."""
    if at + 8 <= text.size:
        return load_eight_bytes(text, at) & ~LAST_BYTES[_u(8 - n)]
    word = _u(0)
    for k in range(n):
        word |= _u(text[_u(at + k)]) << _u(8 * k)
    return word


@inlined
def read_eight_digits(text, at):
    """Return the values of the digits at text[at:], a byte each, and how many there are, at most eight; the bytes after
    the last digit have no meaning."""
    digits = load_eight_bytes(text, at) ^ ZEROS
    others = ((digits + _u(0x7676767676767676)) | digits) & _u(0x8080808080808080)  # bytes that are no digits
    return digits, trailing_zeros(others) >> _u(3)


@inlined
def join_digits(digits, n):
    """Return the integer that the first n of eight digits make."""
    unused = _u(4) * (_u(8) - n)
    return join_eight_digits(digits << unused << unused)  # in two steps: a shift by 64 bits is undefined


@inlined
def join_eight_digits(digits):
    """Return the integer that eight digits make, a byte each, the leading one lowest (Lemire 2021, section 4)."""
    digits = digits * _u(10) + (digits >> _u(8))
    hundreds = (digits & _PAIRS) * _u(0x000F424000000064)
    ones = ((digits >> _u(16)) & _PAIRS) * _u(0x0000271000000001)
    return (hundreds + ones) >> _u(32)


@inlined
def read_digits(text, at, end, w):
    """Append the digits at text[at:end] to w, modulo 2^64, and skip them: eight at a time, because a branch for each
    digit would often be mispredicted."""
    while at + 8 <= end:
        digits, n = read_eight_digits(text, at)
        w = w * _INTEGER_TENS[n] + join_digits(digits, n)
        at += np.int64(n)
        if n < _u(8):
            return w, at
    return read_few_digits(text, at, end, w)


@inlined
def read_few_digits(text, at, end, w):
    """Append digits to w one at a time, near the end of the text, where eight bytes cannot be read at once."""
    while at < end:
        digit = _u(text[_u(at)]) - _u(48)
        if digit > _u(9):
            break
        w = w * _u(10) + digit
        at += 1
    return w, at


@inlined
def read_leading_digits(text, at, end):
    """Return the first 19 significant digits of digits with or without a decimal point, and how many follow."""
    w, digits = _u(0), 0
    while at < end:
        if text[_u(at)] != 46:
            if digits < _MAX_DIGITS:
                w = w * _u(10) + _u(text[_u(at)] - 48)
            digits += w != _u(0)
        at += 1
    return w, max(digits - _MAX_DIGITS, 0)


@inlined
def read_exponent(text, at, end):
    """Read a signed integer, and return it with the offset after it; (0, at) if there is none."""
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


@loop
def read_numbers(text, starts, ends, powers, out, outcomes):
    """Read one number from each text[starts[i]:ends[i]], all of which it must be; for tests."""
    bits = np.zeros(1, np.uint64)
    values = bits.view(np.float64)
    for i in range(starts.size):
        out[i], at, outcomes[i] = read_number(text, starts[i], ends[i], powers, bits, values)
        if at != ends[i]:
            outcomes[i] = NOT_A_NUMBER


@loop
def count_bytes(text, byte):
    """Return the number of bytes of a text that are this one."""
    n, at = _u(0), 0
    while at + WINDOW <= text.size:
        n += count_ones(mark_bytes_within(text, at, byte, byte))
        at += WINDOW
    for rest in range(at, text.size):
        n += _u(text[rest] == byte)
    return n


@loop
def find_lines(text, begins, ends, tabs, numbers):
    """Find the lines that are not blank: where each begins and ends, without the carriage return of a Windows line,
    where its first tab is, -1 if it has none, and its number, counted from 0. Return how many there are."""
    n_lines = line = begin = at = np.int64(0)
    tab = np.int64(-1)
    while at < text.size:
        marks = mark_tabs_and_ends(text, at)
        while marks != _u(0):
            here = at + np.int64(trailing_zeros(marks))
            if here < text.size and text[_u(here)] == 9:
                tab = here if tab < 0 else tab
            else:
                end = here - np.int64(here > begin and text[_u(here - 1)] == 13)
                begins[n_lines], ends[n_lines], tabs[n_lines], numbers[n_lines] = (
                    begin,
                    end,
                    tab if tab < end else -1,
                    line,
                )
                n_lines += not is_blank(text, begin, end)
                begin, tab = here + 1, np.int64(-1)
                line += 1
            marks &= marks - _u(1)
        at += WINDOW
    return n_lines


@inlined
def mark_tabs_and_ends(text, at):
    """Return a mask of the bytes in the window at text[at:] that are tabs or end a line; the end of the text also ends
    one."""
    if at + WINDOW <= text.size:
        marks = mark_bytes_within(text, at, 9, 10)
    else:
        marks = _u(0)
        for k in range(at, text.size):
            marks |= _u(text[_u(k)] == 9 or text[_u(k)] == 10) << _u(k - at)
    if text.size - at <= WINDOW and text[_u(text.size - 1)] != 10:
        marks |= _u(1) << _u(text.size - at)
    return marks


@inlined
def is_blank(text, at, end):
    """Return whether there is nothing in text[at:end] but blanks and tabs."""
    while at < end and (text[_u(at)] == 32 or text[_u(at)] == 9):
        at += 1
    return at >= end


@inlined
def skip_blanks(text, at, end):
    """Return the offset after blanks, tabs and the carriage return of a Windows line."""
    while at < end and (text[_u(at)] == 32 or text[_u(at)] == 9 or text[_u(at)] == 13):
        at += 1
    return at

"""Decimals read by the compiled loops are the doubles that Python reads, to the last bit."""

import random
import struct

import numpy as np
import pytest

from novikoff._compiled.loops import decimals

POWERS = decimals.powers_of_five()


def read(words):
    """Values and outcomes of words given as bytes."""
    joined = bytearray(b"\n".join(words))
    lengths = np.array([len(word) for word in words])
    starts = np.concatenate([[0], np.cumsum(lengths + 1)[:-1]])
    out, outcomes = np.empty(len(words)), np.empty(len(words), np.int64)
    decimals.read_numbers(np.frombuffer(joined, np.uint8), starts, starts + lengths, POWERS, out, outcomes)
    return out, outcomes


def require_python_value(words, most_hard=1.0):
    """Every word is read as a number, with the value that Python reads; those left to Python are few."""
    out, outcomes = read(words)
    assert not (outcomes == decimals.NOT_A_NUMBER).any()
    is_number = outcomes == decimals.NUMBER
    expected = np.array(list(map(float, words)))
    assert (out[is_number].view(np.int64) == expected[is_number].view(np.int64)).all()
    assert 1.0 - is_number.mean() <= most_hard


def doubles(rng, n):
    """Doubles of every size, drawn by their bits; subnormal ones and infinities left out."""
    bits = rng.integers(1 << 52, 0x7FEF_FFFF_FFFF_FFFF, n) | (rng.integers(0, 2, n) << 63)
    return bits.view(np.float64)


@pytest.mark.parametrize("form", ["%r", "%.16e", "%.18e", "%.6g", "%.15g", "%.17g"])
def test_doubles_of_every_size(form):
    values = doubles(np.random.default_rng(1), 80_000)
    require_python_value([(form % value).encode() for value in values.tolist()], most_hard=0.02)


@pytest.mark.parametrize("form", ["%.6f", "%.3g", "%d", "%.10f", "%.20f", "%.25f"])
def test_everyday_numbers(form):
    values = np.random.default_rng(2).normal(scale=1000.0, size=60_000)
    require_python_value([(form % value).encode() for value in values.tolist()], most_hard=0.001)


def test_digits_and_exponents():
    rng = random.Random(3)
    words = []
    for _ in range(200_000):
        digits = str(rng.getrandbits(rng.choice([8, 30, 53, 54, 60, 63, 64, 70])))
        point = rng.randint(0, len(digits))
        words.append(f"{rng.choice(['', '-', '+'])}{digits[:point]}.{digits[point:]}e{rng.randint(-360, 330)}".encode())
    require_python_value(words, most_hard=0.2)


def test_half_way_between_doubles():
    """Exactly half way, and a digit above or below it."""
    rng = random.Random(4)
    words = []
    for _ in range(60_000):
        half = 2 * rng.getrandbits(53) + 1
        shift = rng.randint(-60, 10)
        whole = half << max(shift, 0)
        digits = str(whole * 5 ** max(-shift, 0))
        words += [f"{digits[:-1]}{end}e{min(shift, 0)}".encode() for end in (digits[-1], digits[-1] + "1")]
        words.append(f"{int(digits) - 1}e{min(shift, 0)}".encode())
    require_python_value(words)


def test_powers_of_two_and_their_neighbours():
    words = []
    for exponent in range(1, 2046):
        for mantissa in (0, 1, 2, (1 << 52) - 1, (1 << 52) - 2):
            (value,) = struct.unpack("d", struct.pack("Q", exponent << 52 | mantissa))
            words += [repr(value).encode(), b"%.18e" % value, b"%.19e" % value]
    require_python_value(words)


@pytest.mark.parametrize(
    "word",
    [
        b"0",
        b"-0",
        b"+0.0",
        b".0",
        b"0e999999999999999999999",
        b"0" * 25 + b"1.5",
        b"0." + b"0" * 400 + b"1",
        b"1" * 400,
        b"9" * 19,
        b"9" * 20,
        b"18446744073709551615",
        b"18446744073709551616",
        b"1e-5000",
        b"1e5000",
        b"9007199254740993",
        b"1.",
        b".5",
        b"1E5",
        b"1e+5",
        b"1e-05",
        b"0.1e1",
        b"2.2250738585072011e-308",
        b"5e-324",
        b"1.7976931348623157e308",
        b"1.7976931348623159e308",
    ],
)
def test_unusual_numbers(word):
    require_python_value([word])
    require_python_value([word, b"-" + word.lstrip(b"+-")])


NO_NUMBERS = [
    b"",
    b"-",
    b"+",
    b".",
    b"e5",
    b"1e",
    b"1e+",
    b"1.e",
    b"--1",
    b"1..2",
    b"1.2.3",
    b"1_000",
    b"0x10",
    b"nan",
    b"inf",
    b"1e5.5",
    b" 1",
    b"1 ",
    b"1,5",
    "١".encode(),
    b"1\x00",
    b"1f",
    b"1d0",
    b"+-1",
    b"/",
    b":",
]


@pytest.mark.parametrize("word", NO_NUMBERS)
def test_words_that_are_no_numbers(word):
    assert read([word])[1].tolist() == [decimals.NOT_A_NUMBER]


def test_random_words():
    """Of words of these characters, those that are read as numbers are exactly those that Python reads."""
    rng = random.Random(5)
    words = ["".join(rng.choices("0123456789.eE+-", k=rng.randint(1, 7))).encode() for _ in range(300_000)]
    out, outcomes = read(words)
    for word, value, outcome in zip(words, out.tolist(), outcomes.tolist(), strict=True):
        try:
            expected = float(word)
        except ValueError:
            assert outcome == decimals.NOT_A_NUMBER, word
        else:
            assert outcome == decimals.HARD or (outcome == decimals.NUMBER and value == expected), word

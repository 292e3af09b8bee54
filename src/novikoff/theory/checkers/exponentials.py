"""exp(-t) with a proved error: as integers to 36 digits, and in doubles.

The checkers of kernels that are functions of distances compute with these. Each function states how far it may be off,
and why. Uses no code of the search.
"""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

import numpy as np

__all__ = ["BITS", "ERROR_UNITS", "exponential_in_doubles", "exponential_integers"]

BITS = 120
ERROR_UNITS = 2  # of 2^-120: one is cut off, and all that is rounded before is less than another
_DIGITS = decimal.Context(prec=50)
_FURTHEST = 100  # exp(-100) is below 2^-120


def exponential_integers(distances: np.ndarray, factor: Fraction) -> np.ndarray:
    """exp(-factor * distance) * 2**120 as integers, each off by two units at most.

    Python's decimal module rounds exp correctly. 50 digits of t <= 100 leave exp(-t) more than 46, and 2^120 has 37.
    """
    scale, denominator = decimal.Decimal(2**BITS), decimal.Decimal(factor.denominator)
    known: dict[int, int] = {}
    for distance in set(distances.reshape(-1).tolist()):
        if distance * factor.numerator > _FURTHEST * factor.denominator:
            known[distance] = 0
        else:
            t = _DIGITS.divide(decimal.Decimal(distance * factor.numerator), denominator)
            known[distance] = int(_DIGITS.multiply(_DIGITS.exp(-t), scale))
    values = np.array([known[distance] for distance in distances.reshape(-1).tolist()], object)
    return values.reshape(distances.shape)


# ln 2 in two parts, the first with so few bits that k times it is exact (Cody and Waite 1980)
_LN2 = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_INVERSE_FACTORIALS = [1.0 / math.factorial(k) for k in range(14)]


def exponential_in_doubles(t: np.ndarray) -> np.ndarray:
    """exp(-t) for t >= 0 in doubles, off by no more than 8 units of 2^-53 as a fraction of it, or by 2^-1000.

    t = k ln 2 + r with |r| < 0.35. The series of exp(-r) up to r^13 leaves out 2^-57; adding it up from its smallest
    term loses three units, and r, off by a unit of its own size and by k * 2^-90, one more.
    """
    t = np.minimum(t, 700.0)
    k = np.rint(t * (1.0 / _LN2[0]))
    r = k * _LN2[0] - t + k * _LN2[1]  # -r
    total = np.full_like(r, _INVERSE_FACTORIALS[-1])
    for factor in reversed(_INVERSE_FACTORIALS[:-1]):
        total *= r
        total += factor
    return np.ldexp(total, -k.astype(np.int64))

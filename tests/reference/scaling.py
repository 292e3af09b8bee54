"""Running standardisation of sparse rows once more, from all rows so far, slowly. Imports nothing of novikoff."""

import math
from fractions import Fraction

COUNTS_LEAD = 8  # by how many twice the rows with a count must exceed all rows, for it to be dense


def is_count(v, log_counts):
    return 0.0 <= v <= 2.0**53 and v == math.floor(v) if log_counts else v in (0.0, 1.0)


def compress(v):
    """1 + ln v above 1, and the odd function that goes on from there."""
    return math.copysign(1.0 + math.log(abs(v)), v) if abs(v) > 1.0 else float(v)


def is_dense(values, log_counts):
    """Whether a feature with these values so far has a number other than 0 and 1, and at least half of the rows have
    it: counts somewhat more."""
    present = [v for v in values if v != 0.0]
    lead = COUNTS_LEAD if all(is_count(v, log_counts) for v in values) else 0
    return any(v != 1 for v in present) and 2 * len(present) >= len(values) + lead


def scale_value(values, own, log_counts=False):
    """Scale `own` by all values of its feature so far, 0 where a row does not have it; None where the deviation is so
    small that doubles hardly know it."""
    present = [Fraction(v) for v in values if v != 0.0]
    if not is_dense(values, log_counts):
        if all(is_count(v, log_counts) for v in values):
            return compress(own) if log_counts else float(own)
        return own / math.sqrt(sum(v * v for v in present) / (2 * len(present)))
    mean = sum(present) / len(values)
    deviation = math.sqrt(sum((Fraction(v) - mean) ** 2 for v in values) / len(values))
    if deviation == 0.0:
        return 0.0
    return None if deviation < 1e-6 * max(map(abs, present)) else float(Fraction(own) - mean) / deviation


def scale_rows(X, log_counts=False):
    """Scale every row of a list of lists by itself and the rows before it."""
    return [
        [scale_value([row[j] for row in X[: i + 1]], X[i][j], log_counts) for j in range(len(X[i]))]
        for i in range(len(X))
    ]


def scale_by(X, Z, log_counts=False):
    """Scale the rows Z by all rows of X."""
    return [[scale_value([row[j] for row in X], z[j], log_counts) for j in range(len(z))] for z in Z]

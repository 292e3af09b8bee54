"""Running standardisation of sparse rows once more, from all rows so far, slowly. Imports nothing of novikoff."""

import math
from fractions import Fraction


def scale_value(values, own):
    """Scale `own` by all values of its feature so far, 0 where a row does not have it; None where the deviation is so
    small that doubles hardly know it."""
    present = [Fraction(v) for v in values if v != 0.0]
    if all(v == 1 for v in present):
        return float(own)
    if 2 * len(present) < len(values):
        return own / math.sqrt(sum(v * v for v in present) / (2 * len(present)))
    mean = sum(present) / len(values)
    deviation = math.sqrt(sum((Fraction(v) - mean) ** 2 for v in values) / len(values))
    if deviation == 0.0:
        return 0.0
    return None if deviation < 1e-6 * max(map(abs, present)) else float(Fraction(own) - mean) / deviation


def scale_rows(X):
    """Scale every row of a list of lists by itself and the rows before it."""
    return [[scale_value([row[j] for row in X[: i + 1]], X[i][j]) for j in range(len(X[i]))] for i in range(len(X))]


def scale_by(X, Z):
    """Scale the rows Z by all rows of X."""
    return [[scale_value([row[j] for row in X], z[j]) for j in range(len(z))] for z in Z]

"""Numbers as hats once more: the weights of linear interpolation, one knot at a time. Imports nothing of novikoff."""

import math
from fractions import Fraction

from tests.reference.scaling import is_dense, scale_value

KNOTS = [Fraction(k, 2) for k in (-6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 6)]


def hat(z, k):
    """The weight of knot k where z is interpolated: 1 at the knot, 0 at its neighbours and beyond, linear between."""
    z = min(max(Fraction(z), KNOTS[0]), KNOTS[-1])
    if k > 0 and KNOTS[k - 1] <= z <= KNOTS[k]:
        return (z - KNOTS[k - 1]) / (KNOTS[k] - KNOTS[k - 1])
    if k < len(KNOTS) - 1 and KNOTS[k] <= z <= KNOTS[k + 1]:
        return (KNOTS[k + 1] - z) / (KNOTS[k + 1] - KNOTS[k])
    return Fraction(z == KNOTS[k])


def hats(z):
    """The weights of all knots."""
    return [float(hat(z, k)) for k in range(len(KNOTS))]


def standardise(values, own):
    """(own - mean) / deviation by the values of a column so far, missing ones (None) left out; 0 if it is constant."""
    present = [Fraction(v) for v in values if v is not None]
    mean = sum(present) / len(present)
    variance = sum((v - mean) ** 2 for v in present) / len(present)
    return float(Fraction(own) - mean) / math.sqrt(variance) if variance else 0.0


def table_features(rows, i, columns):
    """The features of row i of a table of numbers, None where one is missing, by their names."""
    found = {}
    for j, column in enumerate(columns):
        own = rows[i][j]
        if own is None:
            found[f"{column} is missing"] = 1.0
            continue
        z = standardise([row[j] for row in rows[: i + 1]], own)
        found[column] = z
        found |= {f"{column} near {float(knot):g}": weight for knot, weight in zip(KNOTS, hats(z), strict=True)}
    return {name: value for name, value in found.items() if value}


def sparse_features(rows, i):
    """The features of row i of an svmlight file, by column, and by column and knot, None where doubles hardly know the
    value: dense columns have hats.
    """
    found = {}
    for j, own in enumerate(rows[i]):
        values = [row[j] for row in rows[: i + 1]]
        z = scale_value(values, own, log_counts=True)
        if is_dense(values, log_counts=True):
            found |= {(j, k): None if z is None else weight for k, weight in enumerate(hats(z or 0.0))}
        found[j, None] = z
    return found

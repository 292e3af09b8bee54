"""Separability and its certificates over the rationals, slow and obvious.

No code of novikoff is used.

Doubles are rationals and Fractions compute with those, so nothing here is rounded. The points are
z = y * (x, constant), as lists of Fractions.
"""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
from scipy.optimize import linprog


def exact(values):
    return [Fraction(value) for value in np.asarray(values).tolist()]


def points(X, signs, intercept):
    """z of every row; a row with sign 0 becomes a row of zeros, which callers must leave out."""
    return [
        [int(sign) * v for v in exact(x)] + ([Fraction(int(sign))] if intercept else [])
        for x, sign in zip(np.asarray(X, float), signs, strict=True)
    ]


def dot(a, b):
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def combined(weights, vectors):
    return [dot(weights, column) for column in zip(*vectors, strict=True)]


# -- verdicts


def separable(Z):
    """Is there a w with <w, z> >= 1 for every z? By Gordan's theorem iff no lambda >= 0 has sum lambda z = 0 and
    sum lambda = 1; phase one of the simplex method looks for that, by Bland's rule, which cannot cycle."""
    n, d = len(Z), len(Z[0])
    Z = [[v * math.lcm(*(u.denominator for u in z)) for v in z] for z in Z]  # integers: the lengths do not matter
    rows = [[z[j] for z in Z] + [Fraction(0)] for j in range(d)] + [[Fraction(1)] * (n + 1)]
    basis = list(range(n, n + d + 1))  # one artificial variable for each equation; they leave for good
    while True:
        artificial = [row for row, variable in zip(rows, basis, strict=True) if variable >= n]
        totals = [sum(column) for column in zip(*artificial, strict=True)] or [Fraction(0)] * (n + 1)
        entering = next((j for j in range(n) if totals[j] > 0), None)
        if entering is None:
            return totals[n] > 0
        leaving = min(
            (i for i in range(d + 1) if rows[i][entering] > 0), key=lambda i: (rows[i][n] / rows[i][entering], basis[i])
        )
        pivot = [v / rows[leaving][entering] for v in rows[leaving]]
        rows = [[v - row[entering] * p for v, p in zip(row, pivot, strict=True)] for row in rows]
        rows[leaving], basis[leaving] = pivot, entering


def closed_separable(Z, signs):
    """Is there a w with <w, z> >= 0 for positive rows and <w, z> > 0 for negative ones? By Motzkin's theorem iff no
    lambda >= 0 has sum lambda z = 0 and a sum of 1 over the negative rows: with those as one more coordinate of the
    points, phase one of the simplex method, by Bland's rule, looks for that."""
    n, d = len(Z), len(Z[0])
    rows = [[z[j] for z in Z] + [Fraction(0)] for j in range(d)]
    rows.append([Fraction(int(sign < 0)) for sign in signs] + [Fraction(1)])
    basis = list(range(n, n + d + 1))
    while True:
        artificial = [row for row, variable in zip(rows, basis, strict=True) if variable >= n]
        totals = [sum(column) for column in zip(*artificial, strict=True)] or [Fraction(0)] * (n + 1)
        entering = next((j for j in range(n) if totals[j] > 0), None)
        if entering is None:
            return totals[n] > 0
        leaving = min(
            (i for i in range(d + 1) if rows[i][entering] > 0), key=lambda i: (rows[i][n] / rows[i][entering], basis[i])
        )
        pivot = [v / rows[leaving][entering] for v in rows[leaving]]
        rows = [[v - row[entering] * p for v, p in zip(row, pivot, strict=True)] for row in rows]
        rows[leaving], basis[leaving] = pivot, entering


def separable_by_scipy(Z):
    """Decide by HiGHS, whose answers can be trusted where the coordinates are small integers."""
    Z = np.array(Z, float)
    found = linprog(np.zeros(Z.shape[1]), A_ub=-Z, b_ub=-np.ones(len(Z)), bounds=(None, None), method="highs")
    assert found.status in (0, 2), found.message
    return found.status == 0


# -- margins


def solve(A, b):
    """The solution of A x = b by elimination; None if A is singular."""
    rows = [[*row, value] for row, value in zip(A, b, strict=True)]
    for k in range(len(rows)):
        at = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if at is None:
            return None
        rows[k], rows[at] = rows[at], rows[k]
        rows[k] = [v / rows[k][k] for v in rows[k]]
        rows = [
            row if i == k else [v - row[k] * p for v, p in zip(row, rows[k], strict=True)] for i, row in enumerate(rows)
        ]
    return [row[-1] for row in rows]


def squared_margin(Z):
    """gamma^2, or 0: the least |x|^2 over the nearest points of all simplices whose corners are among the z."""
    return min(dot(x, x) for x in _candidates(Z))


def _candidates(Z):
    for size in range(1, min(len(Z), len(Z[0]) + 1) + 1):
        for chosen in combinations(Z, size):
            gram = [[Fraction(0)] + [Fraction(1)] * size] + [
                [Fraction(1)] + [dot(a, b) for b in chosen] for a in chosen
            ]
            found = solve(gram, [Fraction(1)] + [Fraction(0)] * size)
            if found is not None and all(weight >= 0 for weight in found[1:]):
                yield combined(found[1:], chosen)


# -- the claims of certificates, as their docstrings state them


def signs_of(question, y):
    if question.one_against_rest:
        return [1 if label == question.positive else -1 for label in y]
    return [1 if label == question.positive else -1 if label == question.negative else 0 for label in y]


def holds(certificate, X, y):
    """Whether every claim of a certificate is true of the data."""
    X, y = np.asarray(X, float), list(y)
    if X.shape != (certificate.n_rows, certificate.n_features) or len(y) != len(X):
        return False
    signs = signs_of(certificate.question, y)
    Z = points(X, signs, certificate.question.fit_intercept)
    if not certificate:
        return witness_holds(Z, signs, certificate.rows, certificate.multipliers)
    w = exact(certificate.separator) + ([Fraction(certificate.intercept)] if certificate.question.fit_intercept else [])
    with_sign = [z for z, sign in zip(Z, signs, strict=True) if sign]
    return (
        (certificate.question.fit_intercept or not certificate.intercept)
        and separator_holds(with_sign, w, certificate.margin_lower)
        and support_holds(Z, signs, certificate.support, certificate.multipliers, certificate.margin_upper)
        and sums_to_one(certificate.multipliers)
        and radius_holds(with_sign, certificate.radius)
        and length_holds(w, certificate)
    )


ROUNDING = Fraction(1, 2**40)  # more than rounding may cause for a few columns, less than any forgery here


def sums_to_one(multipliers):
    total = sum(exact(multipliers))
    return total == 1 or (np.asarray(multipliers).dtype.kind == "f" and abs(total - 1) < ROUNDING)


def length_holds(w, certificate):
    """Whether |w| is 1, or, if it is made of Fractions, between the two margins."""
    squared = dot(w, w)
    if certificate.separator.dtype.kind == "f" and isinstance(certificate.intercept, float):
        return abs(squared - 1) < ROUNDING
    return Fraction(certificate.margin_lower) ** 2 <= squared <= Fraction(certificate.margin_upper) ** 2


def witness_holds(Z, signs, rows, multipliers):
    return (
        _are_rows(rows, signs)
        and all(Fraction(m).denominator == 1 for m in multipliers)
        and math.gcd(*(int(m) for m in multipliers)) == 1
        and 0 < len(rows) == len(multipliers) <= len(Z[0]) + 1
        and all(m > 0 for m in multipliers)
        and not any(combined([Fraction(m) for m in multipliers], [Z[row] for row in rows]))
    )


def separator_holds(Z, w, margin):
    scores = [dot(w, z) for z in Z]
    needed = Fraction(margin) ** 2 * dot(w, w)
    return len(w) == len(Z[0]) and margin > 0 and all(s > 0 and s * s >= needed for s in scores)


def support_holds(Z, signs, rows, multipliers, margin):
    weights = exact(multipliers)
    if not _are_rows(rows, signs) or len(rows) != len(weights) or min(weights) < 0 or not any(weights):
        return False
    x = combined(weights, [Z[row] for row in rows])
    return margin >= 0 and dot(x, x) <= (Fraction(margin) * sum(weights)) ** 2


def radius_holds(Z, radius):
    longest, squared = max(dot(z, z) for z in Z), Fraction(radius) ** 2
    is_least = longest >= Fraction(math.nextafter(radius, 0.0)) ** 2
    return radius >= 0 and longest <= squared and (longest >= squared * (1 - ROUNDING) or is_least)


def _are_rows(rows, signs):
    rows = [int(row) for row in rows]
    return len(set(rows)) == len(rows) > 0 and all(0 <= row < len(signs) and signs[row] for row in rows)

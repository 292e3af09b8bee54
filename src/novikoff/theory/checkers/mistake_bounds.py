"""Checks that a mistake bound is what its theorem says, and how far it is from the best.

With v = u / margin, p = R |v| and h_i = max(0, 1 - y_i <v, x_i>), a bound must be no less than what its theorem says,

    novikoff          p^2, where h = 0
    freund-schapire   (p + |h|_2)^2
    hinge             ((p + sqrt(p^2 + 4 |h|_1)) / 2)^2
    row-lengths       the root M <= n of M - |h|_1 = p sqrt(T(M)), T(M) the sum of the M largest |x / R|^2, linear
                      between integers

and where v = 0, there is one mistake for each row at most. That no v can improve on `lower` is proved by weights
alpha >= 0 of the rows, with A = sum alpha and B = |sum alpha_i y_i x_i|; see bounds.py for why:

    novikoff          (A R / B)^2
    freund-schapire   (A / max(B / R, |alpha|_2))^2
    hinge             min(A, (A R / B)^2), for alpha <= 1
    row-lengths       the largest M <= A with (M B / (A R))^2 <= T(M), for alpha <= 1

Sums over all rows are formed in doubles first, with a bound on their rounding stated where they are formed, and in
integers where doubles cannot prove the claim. Uses no code of the search.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import CertificateError
from novikoff.theory.checkers.exact_numbers import (
    fraction_above_root,
    to_fractions,
    to_integers,
    to_proportional_integers,
)
from novikoff.theory.checkers.rows import drop_zero_columns, iterate_blocks
from novikoff.theory.checkers.separator import check_separator

__all__ = ["check_lower", "check_value"]

_UNIT = 2.0**-53
_TIGHT = Fraction(1, 2**44)  # by how much more than it must, as a fraction, a value may be rounded up


def check_value(
    X: Any,
    signs: np.ndarray,
    theorem: str,
    value: float,
    radius: float,
    u: np.ndarray,
    bias: Any,
    margin: float | None,
    loss: float,
    constant: float,
) -> None:
    """The value is what the theorem says of this direction and margin, rounded up; so is the loss."""
    claimed, R, claimed_loss = to_fractions([value, radius, loss])
    has_direction = bool(np.append(u, bias).any())
    if (margin is not None) != has_direction or (theorem == "novikoff" and not has_direction):
        raise CertificateError("A bound has a direction and a margin, or neither; Novikoff's has both.")
    if margin is None:
        _check_without_direction(signs, theorem, claimed, claimed_loss, X.shape[1])
        return
    (gamma,) = to_fractions([margin])
    if gamma <= 0:
        raise CertificateError(f"A bound needs a margin > 0, not {margin!r}.")
    if theorem == "novikoff":
        check_separator(X, signs, u, bias, margin, constant)
        squared, least, most = (R / gamma) ** 2, Fraction(0), Fraction(0)
    else:
        numbers, scale = to_integers(np.append(u, bias).astype(np.float64))
        squared = int((numbers * numbers).sum()) * Fraction(4) ** scale * (R / gamma) ** 2
        least, most = _enclose_loss(X, signs, theorem, u, bias, margin, radius, claimed_loss, constant)
    if not least <= claimed_loss <= most:
        raise CertificateError(f"The loss {loss!r} is not that of the direction and margin of the bound.")
    if theorem == "row-lengths":
        is_value = _is_root(X, signs, claimed, squared, least, claimed_loss, R, constant)
    else:
        most_claimed = _formula(theorem, squared, claimed_loss) * (1 + _TIGHT)
        is_value = _formula(theorem, squared, least) <= claimed <= most_claimed
    if not is_value:
        raise CertificateError(f"The theorem ({theorem}) does not prove at most {value!r} mistakes from what is given.")


def _check_without_direction(signs: np.ndarray, theorem: str, value: Fraction, loss: Fraction, d: int) -> None:
    """Where v = 0, every h is 1, and the bound is the number of rows."""
    n_rows = int(np.count_nonzero(signs))
    if value != n_rows:
        raise CertificateError(f"Without a direction a bound is the number of rows, {n_rows}, not {float(value)!r}.")
    total = loss * loss if theorem == "freund-schapire" else loss
    if loss < 0 or not n_rows <= total <= n_rows * (1 + Fraction(8 * (n_rows + d + 32), 2**52)):
        raise CertificateError(f"The loss {float(loss)!r} is not that of {n_rows} rows without a direction.")


def check_lower(
    X: Any, signs: np.ndarray, theorem: str, lower: float, radius: float, weights: np.ndarray, constant: float
) -> None:
    """No v makes the theorem prove less than `lower`."""
    claimed, R = to_fractions([lower, radius])
    weights = np.asarray(weights)
    if weights.shape != signs.shape or not (weights >= 0).all() or not weights.any():
        raise CertificateError("The best that a theorem can prove needs one weight >= 0 for each row, not all 0.")
    used = np.where(weights > 0, signs, 0)
    if theorem == "row-lengths":
        is_proved = _is_below_root(X, signs, used, claimed, R, weights, constant)
    else:
        is_proved = (
            weights.dtype.kind == "f" and lower <= _lower_in_doubles(X, used, theorem, weights, radius, constant)
        ) or claimed <= _lower_exactly(X, used, theorem, weights, radius, constant)
    if not is_proved:
        raise CertificateError(f"The weights do not prove that the theorem ({theorem}) proves no less than {lower!r}.")


def _is_below_root(
    X: Any, signs: np.ndarray, used: np.ndarray, lower: Fraction, R: Fraction, weights: np.ndarray, constant: float
) -> bool:
    """Return whether lower <= A and (lower B / (A R))^2 <= T(lower) for the weights, divided by the largest of them."""
    integers = to_proportional_integers(weights)
    if lower < 0 or lower * max(integers) > sum(integers):
        return False
    below, _ = _enclose_lengths(X, signs, R, constant)
    squared = _interpolate(below, lower)
    radius = float(R)
    if weights.dtype.kind == "f":
        ratio = _lower_in_doubles(X, used, "novikoff", weights, radius, constant)  # (A R / B)^2, rounded down
        if lower * lower <= Fraction(ratio) * squared:
            return True
    exact = _lower_exactly(X, used, "novikoff", weights, radius, constant)
    return exact == math.inf or lower * lower <= exact * squared


def _enclose_loss(
    X: Any,
    signs: np.ndarray,
    theorem: str,
    u: np.ndarray,
    bias: Any,
    margin: float,
    radius: float,
    claimed: Fraction,
    constant: float,
) -> tuple[Fraction, Fraction]:
    """Return the range in which |h|_1 or |h|_2, rounded up, must lie: its upper bound, and the largest that rounding
    explains.

    A score is off by d + 2 roundings of |x| |u| at most, and the rest of h by four more of |x| |u| / margin.
    """
    n, d = int(np.count_nonzero(signs)), X.shape[1]
    rounding_of_score = (d + 8) * _UNIT * radius * 1.01 + d * 2.0**-1070
    computed = bounded = 0.0  # the loss as computed, and with every h increased by its rounding
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for rows, block in iterate_blocks(X, signs):
            shortfall = margin - signs[rows] * (block @ u + float(bias) * constant)
            computed += _sum_losses(theorem, np.maximum(0.0, shortfall) / margin)
            bounded += _sum_losses(theorem, np.maximum(0.0, shortfall + rounding_of_score) / margin)
    if not math.isfinite(bounded):
        raise CertificateError("The losses of a bound are too large for doubles.")
    relative = Fraction(8 * (n + d + 32), 2**52)
    if theorem == "freund-schapire":
        above, about = fraction_above_root(Fraction(bounded)), fraction_above_root(Fraction(computed))
        spread = math.isqrt(n) + 1
    else:
        above, about, spread = Fraction(bounded), Fraction(computed), n
    above *= 1 + Fraction(n + 8, 2**52)
    if above > claimed:
        above = _exact_loss(X, signs, theorem, u, bias, margin, constant)
    most = about * (1 + relative) + spread * 16 * Fraction(rounding_of_score) / Fraction(margin)
    return above, max(above, most)


def _sum_losses(theorem: str, h: np.ndarray) -> float:
    """|h|_2^2 for Freund and Schapire, else |h|_1."""
    return float(np.einsum("i,i->", h, h)) if theorem == "freund-schapire" else float(h.sum())


def _exact_loss(
    X: Any, signs: np.ndarray, theorem: str, u: np.ndarray, bias: Any, margin: float, constant: float
) -> Fraction:
    """|h|_1 exactly, or an upper bound on |h|_2."""
    total, (gamma,) = Fraction(0), to_fractions([margin])
    weights = to_proportional_integers(np.append(u, bias))
    unit = next(Fraction(a) / b for a, b in zip(to_fractions(np.append(u, bias)), weights, strict=True) if b)
    for rows, block in iterate_blocks(X, signs):
        coordinates, columns = drop_zero_columns(block)
        numbers, scale = to_integers(np.hstack([coordinates, np.full((len(rows), 1), constant)]))
        chosen = np.array([weights[column] for column in [*columns.tolist(), len(weights) - 1]], object)
        scores = (numbers @ chosen) * signs[rows].astype(int).astype(object)
        factor = unit * Fraction(2) ** scale / gamma
        positive = [1 - int(score) * factor for score in scores if int(score) * factor < 1]
        total += sum([h * h for h in positive] if theorem == "freund-schapire" else positive, Fraction(0))
    return fraction_above_root(total) if theorem == "freund-schapire" else total


def _formula(theorem: str, squared: Fraction, loss: Fraction) -> Fraction:
    """Return the bound of the theorem for p^2 and |h|, rounded up by 2^-60 of it at most."""
    if theorem == "novikoff":
        return squared
    p = fraction_above_root(squared)
    if theorem == "freund-schapire":
        return (p + loss) ** 2
    return ((p + fraction_above_root(squared + 4 * loss)) / 2) ** 2


def _is_root(
    X: Any,
    signs: np.ndarray,
    value: Fraction,
    squared: Fraction,
    least: Fraction,
    loss: Fraction,
    R: Fraction,
    constant: float,
) -> bool:
    """Return whether value is the root M of M - |h|_1 = p sqrt(T(M)), or n, rounded up; `squared` is p^2.

    T is enclosed by doubles, since it is a sum of n terms; value may be too large by as much as that explains.
    """
    below, above = _enclose_lengths(X, signs, R, constant)
    n, tight = len(above) - 1, 1 + _TIGHT + Fraction(16 * (_n_terms(X, signs)), 2**52)
    if not 0 <= value <= n:
        return False
    is_enough = value == n or (value >= least and (value - least) ** 2 >= squared * _interpolate(above, value))
    smaller = value / tight
    return is_enough and (smaller <= loss or (smaller - loss) ** 2 <= squared * _interpolate(below, smaller))


def _n_terms(X: Any, signs: np.ndarray) -> int:
    """Return how many roundings a sum over all rows of their squared lengths may have in a row."""
    return int(np.count_nonzero(signs)) + X.shape[1] + 32


def _enclose_lengths(X: Any, signs: np.ndarray, R: Fraction, constant: float) -> tuple[np.ndarray, np.ndarray]:
    """Return lower and upper bounds of T(0), T(1), ..., T(n).

    Coordinates are divided by R first, so that no square overflows, and one that underflows is far below the rounding
    of the longest row.
    """
    radius, squares = float(R) or 1.0, np.zeros(len(signs))
    with np.errstate(under="ignore"):
        for rows, block in iterate_blocks(X, signs):
            scaled = block / radius
            products = (
                scaled.multiply(scaled).sum(axis=1) if hasattr(scaled, "multiply") else (scaled * scaled).sum(axis=1)
            )
            squares[rows] = np.asarray(products).ravel() + (constant / radius) ** 2
    sums = np.append(0.0, np.cumsum(np.sort(squares[signs != 0])[::-1]))
    error = _n_terms(X, signs) * 4.0 * _UNIT
    return sums * (1.0 - error), sums * (1.0 + error) + np.where(sums > 0.0, 2.0**-900, 0.0)


def _interpolate(sums: np.ndarray, at: Fraction) -> Fraction:
    """Return T, linear between integers."""
    k = math.floor(at)
    if k >= len(sums) - 1:
        return Fraction(float(sums[-1]))
    first, second = Fraction(float(sums[k])), Fraction(float(sums[k + 1]))
    return first + (at - k) * (second - first)


def _lower_in_doubles(
    X: Any, signs: np.ndarray, theorem: str, weights: np.ndarray, radius: float, constant: float
) -> float:
    """Return what the weights prove at least, as far as doubles can tell; 0 if they can tell nothing."""
    n = int(np.count_nonzero(signs))
    sums, last = np.zeros(X.shape[1]), 0.0
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for rows, block in iterate_blocks(X, signs):
            signed = weights[rows] * signs[rows]
            sums += signed @ block
            last += constant * float(signed.sum())
        rounding = (n + 8) * _UNIT * 1.01
        total = float(weights.sum())
        # Every coordinate is off by n roundings of sum alpha |x_j|, all of them together by as many of R sum alpha.
        error = rounding * radius * total + n * math.sqrt(len(sums) + 1.0) * 2.0**-1070
        length = math.hypot(float(np.linalg.norm(sums)), last) * (1.0 + (len(sums) + 8) * 2.0 * _UNIT) + error
        proved = _dual_formula(theorem, total, length, radius, float(np.linalg.norm(weights)), float(weights.max()))
    proved *= 1.0 - 4.0 * rounding - 64.0 * _UNIT
    return proved if math.isfinite(proved) and 1e-140 < length < 1e140 else 0.0


def _dual_formula(theorem: str, total: float, length: float, radius: float, norm: float, largest: float) -> float:
    """Return what weights prove, in doubles: total is A, length is B, norm is |alpha|_2, largest is max alpha."""
    if theorem == "freund-schapire":
        ratio = total / max(length / radius if radius else 0.0, norm)
        return ratio * ratio
    ratio = total * radius / length if length else math.inf
    return ratio * ratio if theorem == "novikoff" else min(total / largest, ratio * ratio)


def _lower_exactly(
    X: Any, signs: np.ndarray, theorem: str, weights: np.ndarray, radius: float, constant: float
) -> Fraction | float:
    """Return what the weights prove, exactly."""
    integers, (R,) = to_proportional_integers(weights), to_fractions([radius])
    sums: dict[int, Fraction] = {}
    for rows, block in iterate_blocks(X, signs):
        coordinates, columns = drop_zero_columns(block)
        numbers, scale = to_integers(np.hstack([coordinates, np.full((len(rows), 1), constant)]))
        signed = np.array([integers[row] * int(signs[row]) for row in rows.tolist()], object)
        unit = Fraction(2) ** scale
        for column, value in zip([*columns.tolist(), -1], (signed @ numbers).tolist(), strict=True):
            sums[column] = sums.get(column, Fraction(0)) + value * unit
    total, squared = Fraction(sum(integers)), sum((value * value for value in sums.values()), Fraction(0))
    if theorem == "freund-schapire":
        squared_norm = Fraction(sum(value * value for value in integers))
        return total**2 / max(squared / R**2 if R else Fraction(0), squared_norm)
    ratio = (total * R) ** 2 / squared if squared else math.inf
    return ratio if theorem == "novikoff" else min(total / max(integers), ratio)

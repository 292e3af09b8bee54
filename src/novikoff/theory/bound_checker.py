"""Mistake bounds checked in exact arithmetic, by code that shares nothing with the search.

With v = u / margin, p = R |v| and h_i = max(0, 1 - y_i <v, x_i>), a bound must be no less than what its theorem says,

    novikoff          p^2, where h = 0
    freund-schapire   (p + |h|_2)^2
    hinge             ((p + sqrt(p^2 + 4 |h|_1)) / 2)^2

and where v = 0, there is one mistake for each row at most. What no v can improve on is proved by weights alpha >= 0 of
the rows, with A = sum alpha and B = |sum alpha_i y_i x_i|; see bounds.py for why:

    novikoff          (A R / B)^2
    freund-schapire   (A / max(B / R, |alpha|_2))^2
    hinge             min(A, (A R / B)^2), for alpha <= 1

Sums over all rows are formed in doubles first, with a bound on what rounding makes of them, and in integers where that
is not enough to see that a claim is true.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import CertificateError
from novikoff.theory.checker import as_exact, as_integers, blocks, check_separator, dense_part, proportional

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
    claimed, R, given_loss = as_exact([value, radius, loss])
    has_direction = bool(np.append(u, bias).any())
    if (margin is not None) != has_direction or (theorem == "novikoff" and not has_direction):
        raise CertificateError("A bound has a direction and a margin, or neither; Novikoff's has both.")
    if margin is None:
        _check_without_direction(signs, theorem, claimed, given_loss, X.shape[1])
        return
    (gamma,) = as_exact([margin])
    if gamma <= 0:
        raise CertificateError(f"A bound needs a margin > 0, not {margin!r}.")
    if theorem == "novikoff":
        check_separator(X, signs, u, bias, margin, constant)
        squared, least, most = (R / gamma) ** 2, Fraction(0), Fraction(0)
    else:
        numbers, scale = as_integers(np.append(u, bias).astype(np.float64))
        squared = int((numbers * numbers).sum()) * Fraction(4) ** scale * (R / gamma) ** 2
        least, most = _losses(X, signs, theorem, u, bias, margin, radius, given_loss, constant)
    if not least <= given_loss <= most:
        raise CertificateError(f"The loss {loss!r} is not that of the direction and margin of the bound.")
    if not _formula(theorem, squared, least) <= claimed <= _formula(theorem, squared, given_loss) * (1 + _TIGHT):
        raise CertificateError(f"The theorem ({theorem}) does not prove at most {value!r} mistakes from what is given.")


def _check_without_direction(signs: np.ndarray, theorem: str, value: Fraction, loss: Fraction, d: int) -> None:
    """Where v = 0, every h is 1, and the bound is the number of rows."""
    rows = int(np.count_nonzero(signs))
    if value != rows:
        raise CertificateError(f"Without a direction a bound is the number of rows, {rows}, not {float(value)!r}.")
    total = loss if theorem == "hinge" else loss * loss
    if loss < 0 or not rows <= total <= rows * (1 + Fraction(8 * (rows + d + 32), 2**52)):
        raise CertificateError(f"The loss {float(loss)!r} is not that of {rows} rows without a direction.")


def check_lower(
    X: Any, signs: np.ndarray, theorem: str, lower: float, radius: float, weights: np.ndarray, constant: float
) -> None:
    """No v makes the theorem prove less than `lower`."""
    (least,) = as_exact([lower])
    weights = np.asarray(weights)
    if weights.shape != signs.shape or not (weights >= 0).all() or not weights.any():
        raise CertificateError("The best that a theorem can prove needs one weight >= 0 for each row, not all 0.")
    used = np.where(weights > 0, signs, 0)
    if not (
        (weights.dtype.kind == "f" and lower <= _lower_in_doubles(X, used, theorem, weights, radius, constant))
        or least <= _lower_exactly(X, used, theorem, weights, radius, constant)
    ):
        raise CertificateError(f"The weights do not prove that the theorem ({theorem}) proves no less than {lower!r}.")


def _losses(
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
    """What |h|_1 or |h|_2 does not exceed, and the largest number that is still that sum, rounded up.

    A score is off by d + 2 roundings of |x| |u| at most, and the rest of h by four more of |x| |u| / margin.
    """
    n, d = int(np.count_nonzero(signs)), X.shape[1]
    off = (d + 8) * _UNIT * radius * 1.01 + d * 2.0**-1070
    sharp = blunt = 0.0
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for rows, block in blocks(X, signs):
            short = margin - signs[rows] * (block @ u + float(bias) * constant)
            for given, h in enumerate((np.maximum(0.0, short) / margin, np.maximum(0.0, short + off) / margin)):
                total = float(h.sum()) if theorem == "hinge" else float(np.einsum("i,i->", h, h))
                sharp, blunt = (sharp + total, blunt) if given == 0 else (sharp, blunt + total)
    if not math.isfinite(blunt):
        raise CertificateError("The losses of a bound are too large for doubles.")
    rounding = Fraction(8 * (n + d + 32), 2**52)
    if theorem == "hinge":
        above, about, spread = Fraction(blunt), Fraction(sharp), n
    else:
        above, about, spread = _root_above(Fraction(blunt)), _root_above(Fraction(sharp)), math.isqrt(n) + 1
    above *= 1 + Fraction(n + 8, 2**52)
    if above > claimed:
        above = _exact_loss(X, signs, theorem, u, bias, margin, constant)
    most = about * (1 + rounding) + spread * 16 * Fraction(off) / Fraction(margin)
    return above, max(above, most)


def _exact_loss(
    X: Any, signs: np.ndarray, theorem: str, u: np.ndarray, bias: Any, margin: float, constant: float
) -> Fraction:
    """|h|_1, or what |h|_2 does not exceed."""
    total, (gamma,) = Fraction(0), as_exact([margin])
    weights = proportional(np.append(u, bias))
    unit = next(Fraction(a) / b for a, b in zip(as_exact(np.append(u, bias)), weights, strict=True) if b)
    for rows, block in blocks(X, signs):
        part, columns = dense_part(block)
        numbers, scale = as_integers(np.hstack([part, np.full((len(rows), 1), constant)]))
        chosen = np.array([weights[column] for column in [*columns.tolist(), len(weights) - 1]], object)
        scores = (numbers @ chosen) * signs[rows].astype(int).astype(object)
        factor = unit * Fraction(2) ** scale / gamma
        missing = [1 - int(score) * factor for score in scores if int(score) * factor < 1]
        total += sum(missing if theorem == "hinge" else [h * h for h in missing], Fraction(0))
    return total if theorem == "hinge" else _root_above(total)


def _formula(theorem: str, squared: Fraction, loss: Fraction) -> Fraction:
    """What the theorem says, up to 2^-60 of it, for p^2 and |h|; no less than that."""
    if theorem == "novikoff":
        return squared
    p = _root_above(squared)
    if theorem == "freund-schapire":
        return (p + loss) ** 2
    return ((p + _root_above(squared + 4 * loss)) / 2) ** 2


def _lower_in_doubles(
    X: Any, signs: np.ndarray, theorem: str, weights: np.ndarray, radius: float, constant: float
) -> float:
    """What the weights prove at least, as far as doubles tell; 0 if that is nothing."""
    n = int(np.count_nonzero(signs))
    sums, last = np.zeros(X.shape[1]), 0.0
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        for rows, block in blocks(X, signs):
            signed = weights[rows] * signs[rows]
            sums += signed @ block
            last += constant * float(signed.sum())
        rounding = (n + 8) * _UNIT * 1.01
        total = float(weights.sum())
        # every coordinate is off by n roundings of sum alpha |x_j|, all of them together by so many of R sum alpha
        away = rounding * radius * total + n * math.sqrt(len(sums) + 1.0) * 2.0**-1070
        length = math.hypot(float(np.linalg.norm(sums)), last) * (1.0 + (len(sums) + 8) * 2.0 * _UNIT) + away
        found = _dual(theorem, total, length, radius, float(np.linalg.norm(weights)), float(weights.max()))
    found *= 1.0 - 4.0 * rounding - 64.0 * _UNIT
    return found if math.isfinite(found) and 1e-140 < length < 1e140 else 0.0


def _dual(theorem: str, total: float, length: float, radius: float, norm: float, largest: float) -> float:
    """What weights prove in doubles."""
    if theorem == "freund-schapire":
        ratio = total / max(length / radius if radius else 0.0, norm)
        return ratio * ratio
    ratio = total * radius / length if length else math.inf
    return ratio * ratio if theorem == "novikoff" else min(total / largest, ratio * ratio)


def _lower_exactly(
    X: Any, signs: np.ndarray, theorem: str, weights: np.ndarray, radius: float, constant: float
) -> Fraction | float:
    """What the weights prove."""
    whole, (R,) = proportional(weights), as_exact([radius])
    sums: dict[int, Fraction] = {}
    for rows, block in blocks(X, signs):
        part, columns = dense_part(block)
        numbers, scale = as_integers(np.hstack([part, np.full((len(rows), 1), constant)]))
        signed = np.array([whole[row] * int(signs[row]) for row in rows.tolist()], object)
        unit = Fraction(2) ** scale
        for column, value in zip([*columns.tolist(), -1], (signed @ numbers).tolist(), strict=True):
            sums[column] = sums.get(column, Fraction(0)) + value * unit
    total, squared = Fraction(sum(whole)), sum((value * value for value in sums.values()), Fraction(0))
    if theorem == "freund-schapire":
        norm = Fraction(sum(value * value for value in whole))
        return total**2 / max(squared / R**2 if R else Fraction(0), norm)
    ratio = (total * R) ** 2 / squared if squared else math.inf
    return ratio if theorem == "novikoff" else min(total / max(whole), ratio)


def _root_above(squared: Fraction) -> Fraction:
    """A number that is not below the square root, and above it by 2^-60 of it at most."""
    bits = max(0, 64 + (squared.denominator.bit_length() - squared.numerator.bit_length()) // 2)
    scaled = squared.numerator << 2 * bits
    root = math.isqrt(scaled // squared.denominator)
    return Fraction(root if root * root * squared.denominator == scaled else root + 1, 1 << bits)

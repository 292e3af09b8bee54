"""Certificates checked in exact arithmetic, by code that shares nothing with the search.

Doubles are rationals, so every claim here is decided, not estimated. Sums of integers do the deciding: a row of
doubles is a row of integers times a power of two. Where all rows have to be looked at, doubles go first: a score
computed by n products in any order is off by at most

    n u / (1 - n u) * sum |w_j x_j| + n * 2^-1074,      u = 2^-53

(Higham, "Accuracy and Stability of Numerical Algorithms", section 3.1), and only rows nearer to the claimed margin
than that are computed again in integers. Here n is the number of products that are really added, and the sum that of
their sizes: `plain` replaces sparse rows that name a column twice by rows that do not, and all checks read those.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.errors import CertificateError

__all__ = [
    "WORK",
    "as_exact",
    "as_integers",
    "blocks",
    "check_error_count",
    "check_fewest",
    "check_length",
    "check_radius",
    "check_separator",
    "check_shares",
    "check_support",
    "check_whole",
    "check_witness",
    "check_wrong",
    "dense_part",
    "plain",
    "proportional",
    "require_rows",
    "sides",
]

_UNIT = 2.0**-53
_BLOCK = 1 << 15  # numbers at a time: what a fast cache holds
_FEW = 256  # rows as Python integers at a time
WORK = 6_000_000  # witnesses that a proof by cases may look at: a few seconds


def check_witness(
    X: Any, signs: np.ndarray, rows: np.ndarray, multipliers: Sequence[Fraction], constant: float
) -> None:
    """sum multipliers * y * x = 0 with positive multipliers: no half-space has all these rows strictly inside."""
    require_rows(rows, signs)
    whole = proportional(multipliers)
    if len(rows) != len(whole) or not all(multiplier > 0 for multiplier in whole):
        raise CertificateError("A witness needs one multiplier > 0 for each of its rows.")
    sums, _ = _combination(X, signs, rows, whole, constant)
    if any(sums):
        raise CertificateError(f"The rows do not cancel: {sum(map(bool, sums))} coordinates do not add up to 0.")
    dimension = X.shape[1] + bool(constant)
    if len(rows) > dimension + 1:
        raise CertificateError(f"A witness in {dimension} dimensions needs no more than {dimension + 1} rows.")


def check_separator(
    X: Any, signs: np.ndarray, w: np.ndarray, bias: float, margin: float | Fraction, constant: float
) -> None:
    """y <w, x> >= margin * |w| for every row with a sign, and margin > 0."""
    weights = _whole_weights(X, w, bias, constant)
    (least,) = as_exact([margin])
    if not least > 0:
        raise CertificateError(f"A separator needs a margin > 0, not {margin!r}.")
    # y <w, x> >= margin |w|, squared to stay rational
    needed = least**2 * sum(v * v for v in weights.tolist())
    row = _first_short_of(X, signs, weights, needed, constant)
    if row is not None:
        raise CertificateError(f"Row {row} is not on its side of the separator by the margin {margin!r}.")


def check_support(
    X: Any, signs: np.ndarray, rows: np.ndarray, multipliers: np.ndarray, margin: float, constant: float
) -> None:
    """|sum multipliers * y * x| <= margin for weights that sum to 1: no separator has a larger margin."""
    require_rows(rows, signs)
    whole = proportional(multipliers)
    (most,) = as_exact([margin])
    if len(rows) != len(whole) or not all(m >= 0 for m in whole) or not sum(whole):
        raise CertificateError("Support rows need one multiplier >= 0 each, not all of them 0.")
    sums, scale = _combination(X, signs, rows, whole, constant)
    if most < 0 or sum(total * total for total in sums) * Fraction(4) ** scale > (most * sum(whole)) ** 2:
        raise CertificateError(f"The support rows do not prove that the margin is at most {margin!r}.")


def check_radius(X: Any, signs: np.ndarray, radius: float, constant: float) -> None:
    """|x| <= radius for every row with a sign, the constant coordinate included; and for one row it is no less, but for
    rounding: |x|^2 >= (1 - 8 (d + 8) 2^-52) radius^2, or |x| is no less than the next double below."""
    (most,) = as_exact([radius])
    if most < 0:
        raise CertificateError(f"A radius is not negative, as {radius!r} is.")
    below = Fraction(math.nextafter(most, 0.0)) ** 2
    limit = most**2 - Fraction(constant)
    least = min(most**2 * (1 - _few_units(X.shape[1])), below) - Fraction(constant)
    # Squares below 2^-900 may have lost everything, and all rows are computed exactly.
    near = float(radius) * float(radius) * (1.0 - 4.0 * _UNIT) if most**2 > Fraction(1, 2**900) else 0.0
    is_reached, longest, its_row = False, -1.0, None
    for rows, block in blocks(X, signs):
        rounding = 1.0 + 2.0 * _UNIT * (block.shape[1] + 4)
        with np.errstate(over="ignore", invalid="ignore"):
            lengths = _squared_lengths(block)
            squared = (lengths + constant) * rounding + block.shape[1] * 2.0**-1074
        at = np.flatnonzero(~(squared < near))
        for row, exact in zip(rows[at], _exact_squares(block[at]), strict=True):
            if exact > limit:
                raise CertificateError(f"Row {row} is longer than the radius {radius!r}.")
            is_reached = is_reached or exact >= least
        if lengths.max() > longest:
            longest, its_row = lengths.max(), block[[int(lengths.argmax())]]
    if not is_reached and (its_row is None or _exact_squares(its_row)[0] < least):
        raise CertificateError(f"No row is as long as the radius {radius!r}.")


def _exact_squares(block: Any) -> list[Fraction]:
    """|x|^2 of each row."""
    if not block.shape[0]:
        return []
    numbers, scale = as_integers(dense_part(block)[0])
    unit = Fraction(4) ** scale
    return [int(total) * unit for total in (numbers * numbers).sum(axis=1)]


def _few_units(size: int) -> Fraction:
    """What rounding may make of a sum of so many squares, as a fraction of it, in whatever order it was formed."""
    return Fraction(8 * (size + 8), 2**52)


def check_length(w: Any, bias: Any, lower: float | Fraction, upper: float) -> None:
    """|w| = 1 but for rounding, the bias included; or, if it is made of exact Fractions, lower <= |w| <= upper."""
    weights = np.append(w, bias)
    if weights.dtype.kind == "f":
        units = _few_units(len(weights))
        least, most = 1 - units, 1 + units
        (squared,) = _exact_squares(weights[None].astype(np.float64))
    else:
        least, most = (margin**2 for margin in as_exact([lower, upper]))
        squared = sum((value * value for value in as_exact(weights)), Fraction(0))
    if not least <= squared <= most:
        expected = "1" if weights.dtype.kind == "f" else f"from {lower!r} to {upper!r}"
        raise CertificateError(f"The separator has the length {float(squared) ** 0.5!r}, not {expected}.")


def check_shares(multipliers: Any) -> None:
    """They sum to 1: exactly if they are Fractions, or else but for rounding."""
    total = sum(as_exact(multipliers), Fraction(0))
    slack = _few_units(len(multipliers)) if np.asarray(multipliers).dtype.kind == "f" else Fraction(0)
    if abs(total - 1) > slack:
        raise CertificateError(f"The multipliers of the support sum to {float(total)!r}, not to 1.")


def check_whole(multipliers: Sequence[Fraction]) -> None:
    """Whole numbers without a common factor."""
    exact = as_exact(multipliers)
    if any(value.denominator != 1 for value in exact) or math.gcd(*(value.numerator for value in exact)) != 1:
        raise CertificateError("The multipliers of a witness should be whole numbers without a common factor.")


def check_error_count(
    X: Any, signs: np.ndarray, w: np.ndarray, bias: float, wrong: np.ndarray, constant: float
) -> None:
    """y <w, x> > 0 for every row with a sign but those listed as wrong."""
    rest = np.array(signs)
    rest[wrong] = 0
    row = _first_short_of(X, rest, _whole_weights(X, w, bias, constant), Fraction(0), constant) if rest.any() else None
    if row is not None:
        raise CertificateError(f"Row {row} is not listed as wrong, and is not on its side.")


def check_wrong(X: Any, signs: np.ndarray, w: np.ndarray, bias: float, wrong: np.ndarray, constant: float) -> None:
    """y <w, x> <= 0 for every row listed as wrong, and none is listed twice."""
    if not len(wrong):
        return
    require_rows(wrong, signs)
    listed = np.zeros_like(signs)
    listed[wrong] = signs[wrong]
    weights = _whole_weights(X, w, bias, constant)
    for rows, block in blocks(X, listed):
        used, columns = dense_part(block)
        numbers, _ = as_integers(np.hstack([used, np.full((len(rows), 1), constant)]))
        scores = (numbers @ weights[np.append(columns, len(w))]) * signs[rows].astype(int).astype(object)
        if (scores > 0).any():
            raise CertificateError(f"Row {rows[np.argmax(scores > 0)]} is listed as wrong, and is on its side.")


def check_fewest(
    X: Any,
    signs: np.ndarray,
    witnesses: Sequence[np.ndarray],
    shares: Sequence[Fraction],
    least: int,
    constant: float,
    work: int = WORK,
) -> None:
    """Every half-space errs on at least `least` rows, given that it errs on some row of each witness.

    Rows that are the same point z = y (x, constant) are wrong together, so that erring on one costs as many rows as
    there are copies of it. If the shares of the witnesses that a point is in never sum to more than its copies, the
    shares of all witnesses sum to no more than any half-space errs on (linear programming duality). Where that falls
    short of `least`, cases decide: some row of a witness is wrong, the first, or the second, ... They may look at
    `work` witnesses.
    """
    shares = as_exact(shares)
    if len(shares) != len(witnesses) or not all(share >= 0 for share in shares):
        raise CertificateError("Every witness needs one share >= 0.")
    sets = [frozenset(_keys(X[rows].astype(np.float64), signs[rows], constant)) for rows in witnesses]
    shared = list(zip(sets, shares, strict=True))
    loads = _loads(shared)
    by_shares = math.ceil(sum(shares))
    needed = set(loads) if by_shares < least else {key for key, load in loads.items() if load > 1}
    copies = dict.fromkeys(loads, 1) | _count(X, signs, needed, constant)
    if any(load > copies[key] for key, load in loads.items()):
        raise CertificateError("The shares of the witnesses of a row sum to more than there are copies of it.")
    if by_shares < least:
        costs, rest, paid = _without_twins(copies, shared)
        if _Cases(costs, rest, work).can_pay(least - 1 - paid):
            raise CertificateError(f"The witnesses do not prove that every half-space errs on {least} rows.")


_Shared = list[tuple[frozenset[bytes], Fraction]]


def _loads(sets: _Shared) -> dict[bytes, Fraction]:
    """For each point the sum of the shares of its sets."""
    loads: dict[bytes, Fraction] = {}
    for keys, share in sets:
        for key in keys:
            loads[key] = loads.get(key, Fraction(0)) + share
    return loads


def _without_twins(copies: dict[bytes, int], sets: _Shared) -> tuple[dict[bytes, int], _Shared, int]:
    """What cases are left once those without a choice are paid for.

    A set of one or two rows, of which the cheapest is in no other set: pay for that one; the other row then costs so
    much less, for with it the first need not be paid.
    """
    often = Counter(key for keys, _ in sets for key in keys)
    costs, rest, paid = dict(copies), [], 0
    for keys, share in sets:
        cheapest = min(keys, key=lambda key: (costs[key], often[key]))
        if len(keys) > 2 or often[cheapest] > 1:
            rest.append((keys, share))
            continue
        cost = costs[cheapest]
        paid += cost
        for key in keys:
            costs[key] -= cost
    rest = [(keys, share) for keys, share in rest if all(costs[key] for key in keys)]
    if any(load > costs[key] for key, load in _loads(rest).items()):
        rest = [(keys, Fraction(0)) for keys, _ in rest]
    return costs, rest, paid


class _Cases:
    """Branch and bound: can points be chosen, of a total cost within a budget, such that every set has one of them?

    Sets are bits of integers, and shares whole numbers of one unit, for speed.
    """

    def __init__(self, costs: dict[bytes, int], sets: _Shared, work: int) -> None:
        bits = {key: 1 << place for place, key in enumerate(sorted(_loads(sets)))}
        self.unit = math.lcm(*(share.denominator for _, share in sets))
        self.sets = [(sum(bits[key] for key in keys), int(share * self.unit)) for keys, share in sets]
        self.costs = {bit: costs[key] for key, bit in bits.items()}
        self.least = {
            mask: min(costs[key] for key in keys) for (mask, _), (keys, _) in zip(self.sets, sets, strict=True)
        }
        self.work = work

    def can_pay(self, budget: int) -> bool:
        """True also if the work was too much to tell."""
        return self._can_pay(self.sets, budget, 0)

    def _can_pay(self, sets: list[tuple[int, int]], budget: int, spared: int) -> bool:
        """The same for some of the sets, where the points `spared` are not to be chosen."""
        if not sets or budget < 0:
            return budget >= 0
        self.work -= len(sets)
        if self.work < 0:
            return True
        if sum([share for _, share in sets]) > budget * self.unit:
            return False
        left = sorted([((mask & ~spared).bit_count(), mask & ~spared, mask) for mask, _ in sets])
        if not left[0][0] or self._packed(left) > budget:
            return False
        for bit in self._often(left):
            rest = [(mask, share) for mask, share in sets if not mask & bit]
            if self._can_pay(rest, budget - self.costs[bit], spared):
                return True
            spared |= bit
        return False

    def _packed(self, left: list[tuple[int, int, int]]) -> int:
        """A bound from below: sets without a common point, the smallest first."""
        used = total = 0
        for _, allowed, mask in left:
            if not allowed & used:
                used |= allowed
                total += self.least[mask]
        return total

    def _often(self, left: list[tuple[int, int, int]]) -> list[int]:
        """The points of the smallest set, those that are in many sets first."""
        smallest, bits = left[0][1], []
        while smallest:
            bits.append(smallest & -smallest)
            smallest &= smallest - 1
        return sorted(bits, key=lambda bit: -sum([bit & allowed != 0 for _, allowed, _ in left]))


def _count(X: Any, signs: np.ndarray, wanted: set[bytes], constant: float) -> dict[bytes, int]:
    """How many rows there are of each of these points."""
    copies = dict.fromkeys(wanted, 0)
    if wanted:
        for rows, block in blocks(X, signs):
            for key in _keys(block, signs[rows], constant):
                if key in copies:
                    copies[key] += 1
    return copies


def _keys(block: Any, signs: np.ndarray, constant: float) -> list[bytes]:
    """y (x, constant) of each row as bytes that are equal where the numbers are."""
    last = [b"" if not constant else b"+" if sign > 0 else b"-" for sign in signs.tolist()]
    if not sp.issparse(block):
        points = block * signs[:, None] + 0.0  # -0.0 becomes 0.0
        return [point.tobytes() + end for point, end in zip(points, last, strict=True)]
    points = sp.csr_array(sp.diags_array(signs.astype(float)) @ block)
    points.sum_duplicates()
    points.eliminate_zeros()
    cuts = points.indptr.tolist()
    columns, values = points.indices.astype(np.int64), points.data
    return [
        columns[start:stop].tobytes() + values[start:stop].tobytes() + end
        for start, stop, end in zip(cuts, cuts[1:], last, strict=False)
    ]


def _first_short_of(X: Any, signs: np.ndarray, weights: np.ndarray, squared: Fraction, constant: float) -> int | None:
    """The first row with y <w, x> <= 0 or below the root of `squared`, exactly; None if there is none."""
    for rows, near, columns in _near(X, signs, weights, squared, constant):
        numbers, scale = as_integers(near)
        scores = (numbers @ weights[columns]) * signs[rows].astype(int).astype(object)
        for row, score in zip(rows.tolist(), scores, strict=True):
            if score <= 0 or (int(score) * Fraction(2) ** scale) ** 2 < squared:
                return row
    return None


def _near(
    X: Any, signs: np.ndarray, exact_weights: np.ndarray, squared: Fraction, constant: float
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows that doubles cannot put beyond the root of `squared`, in blocks: numbers, coordinates, and their columns."""
    # The largest weight becomes a double below 1, the others lose what is below 2^-1074.
    top = max(abs(v) for v in exact_weights.tolist()).bit_length()
    weights = np.array([v / (1 << top) for v in exact_weights.tolist()])
    needed = _above(squared / 4**top)
    unit, tiny = 2.0 * _UNIT * (len(weights) + 3), len(weights) * 2.0**-1000
    for rows, block in blocks(X, signs):
        with np.errstate(over="ignore", invalid="ignore"):
            scores = signs[rows] * (block @ weights[:-1] + weights[-1]) - needed
            # Cauchy and Schwarz bound the rounding cheaply; the few rows this cannot clear are bounded term by term.
            # Squares below 2^-900 may have lost everything.
            length = np.sqrt(np.maximum(_squared_lengths(block) + constant, 2.0**-900))
            lost = tiny + len(weights) * 2.0**-1074 * length
            at = np.flatnonzero(~(scores - unit * np.linalg.norm(weights) * length > lost))
            terms = abs(block[at]) @ np.abs(weights[:-1]) + abs(weights[-1])
            at = at[~(scores[at] - unit * terms > lost[at] + unit * needed)]
        for start in range(0, at.size, _FEW):
            some = at[start : start + _FEW]
            near, columns = dense_part(block[some])
            yield (
                rows[some],
                np.hstack([near, np.full((some.size, 1), constant)]),
                np.append(columns, len(weights) - 1),
            )


def sides(y: np.ndarray, positive: Any, negative: Any, against_rest: bool) -> np.ndarray:
    """+1 for rows with the positive label, -1 for the negative one or all others, 0 for the rest."""
    if y.ndim != 1:
        raise CertificateError(f"Labels are a 1-D array, not one of shape {y.shape}.")
    # numpy answers a single False where no label can be equal
    is_positive, is_negative = (
        np.broadcast_to(np.asarray(y == label, bool), y.shape) for label in (positive, negative)
    )
    return is_positive.astype(np.int64) - (~is_positive if against_rest else is_negative)


def plain(X: Any) -> np.ndarray | sp.csr_array:
    """Rows of real numbers as an array, or as a CSR array that has no cell twice.

    A cell that a sparse matrix has more than once means the sum of its entries, added in the order in which they are
    stored: as float32 if the matrix is of float32, otherwise as doubles.
    """
    found: Any = X if sp.issparse(X) else np.asarray(X)
    if found.dtype.kind == "c":
        raise CertificateError("Certificates speak of real numbers; X is complex.")
    if not sp.issparse(found):
        return np.asarray(found)
    if found.format == "csr":
        found = _sound(found)
        if _rises(found):
            return found
    return _summed(found.tocoo())


def _sound(X: Any) -> sp.csr_array:
    """A CSR matrix whose arrays fit together; SciPy follows indices out of memory if they do not."""
    try:
        found = sp.csr_array((X.data, X.indices, X.indptr), shape=X.shape)
        found.check_format(full_check=True)
    except ValueError as error:
        raise CertificateError(f"X is a corrupt CSR matrix: {error}.") from error
    return found


def _rises(X: sp.csr_array) -> bool:
    """Whether the columns of every row rise, so that none is there twice. Flags of the matrix may be out of date."""
    starts = np.zeros(len(X.indices) + 1, bool)
    starts[X.indptr] = True
    return bool((starts[1:-1] | (X.indices[1:] > X.indices[:-1])).all())


def _summed(entries: sp.coo_array) -> sp.csr_array:
    """One entry for each cell: the sum of all that it has, in the order in which they come."""
    values = entries.data if entries.data.dtype == np.float32 else entries.data.astype(np.float64)
    order = np.lexsort((entries.col, entries.row))  # stable
    cells = np.stack([entries.row[order], entries.col[order]])
    is_new = np.append(True, (cells[:, 1:] != cells[:, :-1]).any(axis=0))[: len(order)]
    sums = np.zeros(int(is_new.sum()), values.dtype)
    with np.errstate(over="ignore", invalid="ignore"):
        np.add.at(sums, np.cumsum(is_new) - 1, values[order])  # one after the other
    return sp.csr_array((sums, tuple(cells[:, is_new])), shape=entries.shape)


def blocks(X: Any, signs: np.ndarray) -> Iterator[tuple[np.ndarray, Any]]:
    """The rows that have a sign, as doubles, a block at a time."""
    chosen = np.flatnonzero(signs)
    step = len(chosen) if sp.issparse(X) else max(1, _BLOCK // max(1, X.shape[1]))
    for start in range(0, len(chosen), max(1, step)):
        rows = chosen[start : start + step]
        together = rows[-1] - rows[0] + 1 == len(rows)
        yield rows, (X[rows[0] : rows[-1] + 1] if together else X[rows]).astype(np.float64)


def _squared_lengths(block: Any) -> np.ndarray:
    return block.multiply(block).sum(axis=1) if sp.issparse(block) else np.einsum("ij,ij->i", block, block)


def dense_part(block: Any) -> tuple[np.ndarray, np.ndarray]:
    """The columns of a block that are not all zero, as a dense array, and their numbers."""
    if not sp.issparse(block):
        return block, np.arange(block.shape[1])
    columns = np.unique(block.indices)
    return block[:, columns].toarray(), columns


def _combination(
    X: Any, signs: np.ndarray, rows: np.ndarray, factors: list[int], constant: float
) -> tuple[list[int], int]:
    """sum factors * y * x over the rows, exactly, as integers times 2**scale; the constant last, columns that are all
    zero left out."""
    block, _ = dense_part(X[rows].astype(np.float64))
    numbers, scale = as_integers(np.hstack([block, np.full((len(rows), 1), constant)]))
    signed = [factor * int(y) for factor, y in zip(factors, signs[rows], strict=True)]
    return (np.array(signed, object) @ numbers).tolist(), scale


def _whole_weights(X: Any, w: Any, bias: Any, constant: float) -> np.ndarray:
    """Weights, the bias last, as Python integers in the same proportions."""
    numbers = proportional(np.append(w, bias))
    if len(numbers) != X.shape[1] + 1:
        raise CertificateError(f"A separator of {X.shape[1]} features needs as many weights, not {len(numbers) - 1}.")
    if not any(numbers) or (not constant and numbers[-1]):
        raise CertificateError("A separator needs weights that are not all zero, and no intercept without a constant.")
    return np.array(numbers, object)


def proportional(values: Any) -> list[int]:
    """Doubles or Fractions as integers in the same proportions."""
    values = np.asarray(values)
    if values.dtype.kind == "f":
        return as_integers(values.astype(np.float64))[0].tolist()
    exact = as_exact(values)
    common = math.lcm(*(value.denominator for value in exact))
    return [value.numerator * (common // value.denominator) for value in exact]


def as_exact(values: Any) -> list[Fraction]:
    """Finite numbers as Fractions."""
    try:
        return [Fraction(value) for value in np.asarray(values).tolist()]
    except (TypeError, ValueError, OverflowError) as error:
        raise CertificateError(f"A certificate is made of finite numbers: {error}.") from error


def as_integers(values: np.ndarray) -> tuple[np.ndarray, int]:
    """Doubles as Python integers times 2**scale."""
    if not np.isfinite(values).all():
        raise CertificateError("NaN and infinity are on no side of anything.")
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**53).astype(np.int64)
    exponents = np.where(whole == 0, 0, exponents.astype(np.int64) - 53)
    scale = int(exponents[whole != 0].min()) if whole.any() else 0
    shifts = np.where(whole == 0, 0, exponents - scale)
    return whole.astype(object) * (np.array(2, object) ** shifts.astype(object)), scale


def _above(squared: Fraction) -> float:
    """A double that is not below the square root."""
    bits = max(0, 64 + (squared.denominator.bit_length() - squared.numerator.bit_length()) // 2)
    root = Fraction(math.isqrt((squared.numerator << 2 * bits) // squared.denominator) + 1, 1 << bits)
    try:
        return float(np.nextafter(float(root), np.inf))
    except OverflowError:
        return math.inf


def require_rows(rows: np.ndarray, signs: np.ndarray) -> None:
    """Places of rows, all different, that the certificate speaks of."""
    rows = np.asarray(rows)
    n = len(signs)
    if rows.dtype.kind not in "iu" or not rows.size or len(set(rows.tolist())) != len(rows):
        raise CertificateError("The rows of a certificate must be whole numbers, all different.")
    if rows.min() < 0 or rows.max() >= n:
        raise CertificateError(f"The rows of a certificate must lie in 0..{n - 1}.")
    if not np.isin(signs[rows], (-1, 1)).all():
        raise CertificateError("A row of the certificate has a label that the certificate does not speak of.")

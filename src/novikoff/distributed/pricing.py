"""Tasks of the distributed certificate: which rows of a file contradict a separator, and the check of a whole file."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.distributed.caching import cached
from novikoff.distributed.chains import Plan, encode_file
from novikoff.errors import CertificateError
from novikoff.inputs.labels import Labels
from novikoff.inputs.rows import Rows
from novikoff.theory import exact
from novikoff.theory.certificates import Inseparable, Separable
from novikoff.theory.checker_inputs import read_for_checking
from novikoff.theory.checkers.separator import check_length, find_violation, integer_weights
from novikoff.theory.checkers.support import check_radius, check_shares, check_support
from novikoff.theory.checkers.witness import check_multipliers, check_witness
from novikoff.theory.questions import Question
from novikoff.theory.signed_points import SignedPoints, normalize, scale_to_doubles

__all__ = [
    "Claim",
    "FileCheck",
    "FilePart",
    "Priced",
    "Sides",
    "WorkingSet",
    "check_file",
    "check_named_rows",
    "find_first_rows",
    "price_file",
]


@dataclass(frozen=True)
class FilePart:
    """A file: its number among all, its path, and its number of rows."""

    number: int
    path: str
    rows: int


@dataclass(frozen=True)
class Sides:
    """The class codes on the two sides of a question; None for a side without a label, or for all others."""

    positive: int | None
    negative: int | None
    against_rest: bool
    constant: float

    @classmethod
    def of(cls, question: Question, labels: Labels) -> Sides:
        """Return the sides of a question about these labels."""
        positive, negative = (
            None if name is None else labels.codes[name] for name in (question.positive, question.negative)
        )
        return cls(positive, negative, question.one_against_rest, question.constant)

    def signs(self, codes: np.ndarray) -> np.ndarray:
        """Return +1 and -1 for rows on the two sides, 0 for others."""
        is_positive = codes == (-1 if self.positive is None else self.positive)
        is_negative = ~is_positive if self.against_rest else codes == (-1 if self.negative is None else self.negative)
        return is_positive.astype(np.int64) - is_negative


@dataclass(frozen=True, eq=False)
class WorkingSet:
    """Some rows, with the codes of their classes, and where they are: number of the file, number in the file."""

    X: Any  # dense or CSR
    codes: np.ndarray
    files: np.ndarray
    numbers: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, which: np.ndarray) -> WorkingSet:
        """Return some of the rows."""
        return WorkingSet(self.X[which], self.codes[which], self.files[which], self.numbers[which])

    @classmethod
    def join(cls, parts: Iterable[WorkingSet]) -> WorkingSet:
        """Return the rows of all parts, each once, in the order of files and rows."""
        parts = list(parts)
        whole = _stack([part for part in parts if len(part)] or parts[:1])
        firsts = np.unique(np.stack([whole.files, whole.numbers]), axis=1, return_index=True)[1]
        return whole.take(firsts)


@dataclass(frozen=True, eq=False)
class Claim:
    """What is claimed of all rows on two sides, as far as it is known."""

    sides: Sides
    found: Separable | Inseparable
    named: WorkingSet | None = None  # the rows that the certificate names
    margin_lower: float | Fraction = 0.0
    radius: float = 0.0
    longest: WorkingSet | None = None  # one row

    @property
    def w(self) -> np.ndarray:
        """The separator in doubles, of length 1, with its intercept last."""
        assert isinstance(self.found, Separable)
        w = np.append(self.found.separator, self.found.intercept)
        return w if w.dtype.kind == "f" else normalize(scale_to_doubles(w))

    def with_prices(self, priced: Sequence[Priced]) -> Claim:
        """Return the claim of all files, which have no row that contradicts it as far as doubles can tell."""
        assert isinstance(self.found, Separable)
        proved = min(each.margin_lower for each in priced)
        is_proved = self.found.separator.dtype.kind == "f" and proved > 0.0
        margin = min(self.found.margin_lower, proved) if is_proved else self.found.margin_lower
        far = max(priced, key=lambda each: each.radius)
        return replace(self, margin_lower=margin, radius=far.radius, longest=far.longest)


@dataclass(frozen=True, eq=False)
class Priced:
    """The rows of a file nearest to a separator, or on its wrong side; and what is true of all its rows.

    Attributes
    ----------
    rows : WorkingSet
        Those that contradict the claim; the worst ones, if there are many.
    margin_lower : float
        Proved of all rows on the two sides; infinite if there are none.
    radius : float
        No row on the two sides is longer, the constant coordinate included.
    longest : WorkingSet
        The row of this length, if there is any.
    """

    rows: WorkingSet
    margin_lower: float
    radius: float
    longest: WorkingSet


@dataclass(frozen=True, eq=False)
class FileCheck:
    """The check of a file: the rows on the two sides, the lines of named rows, and a row that contradicts the claim."""

    n_asked: int
    lines: dict[int, int] = field(default_factory=dict)
    violation: WorkingSet | None = None


def find_first_rows(plan: Plan, n_of_each: int, part: FilePart) -> WorkingSet:
    """Return the first rows of each class of a file; a task."""
    kept, seen, before = [], np.zeros(max(2, len(plan.model.labels)), np.int64), 0
    for rows, codes in cached(plan.run, part.path, encode_file(plan, part.path, part.rows), plan.memory):
        for code in np.unique(codes).tolist():
            which = np.flatnonzero(codes == code)[: n_of_each - int(seen[code])]
            seen[code] += len(which)
            kept.append(_rows_at(rows, codes, np.sort(which), part.number, before))
        before += len(rows)
    return WorkingSet.join([_no_rows(plan), *kept])


def price_file(plan: Plan, claim: Claim, tol: float, n_wanted: int, part: FilePart) -> Priced:
    """Return the rows of a file that contradict a separator; a task."""
    w, before, bad = claim.w, 0, [_no_rows(plan)]
    assert isinstance(claim.found, Separable)
    cutoff = float(claim.found.margin_lower) * (1.0 - tol)
    worst, lower, radius, longest = np.empty(0), math.inf, 0.0, _no_rows(plan)
    for rows, codes in cached(plan.run, part.path, encode_file(plan, part.path, part.rows), plan.memory):
        signs = claim.sides.signs(codes)
        asked = np.flatnonzero(signs)
        if len(asked):
            points = _points_at(rows, asked, signs[asked], claim.sides.constant)
            margins = points.margins(w)
            lower = min(lower, points.margin_lower_bound(w))
            near = np.flatnonzero(margins < cutoff)
            near = near[np.argsort(margins[near], kind="stable")[:n_wanted]]
            bad.append(_rows_at(rows, codes, asked[near], part.number, before))
            worst = np.concatenate([worst, margins[near]])
            bound = exact.radius_upper_bound(points)
            if bound > radius:
                radius = bound
                row = asked[[int(points.squared_lengths.argmax())]]
                longest = _rows_at(rows, codes, row, part.number, before)
        before += len(rows)
    whole = _stack(bad)
    return Priced(whole.take(np.argsort(worst, kind="stable")[:n_wanted]), lower, radius, longest)


def check_file(plan: Plan, claim: Claim, part: FilePart) -> FileCheck:
    """Check a claim on all rows of a file by the independent checkers, with rows that are read once more; a task.

    Raise a CertificateError if the file does not hold a row that the certificate names, or a row is too long.
    """
    named = _named_in(claim, part.number)
    n_asked, before, lines = 0, 0, dict[int, int]()
    for rows, codes, block_lines in read_file(plan, part):
        X, signs = read_for_checking(rows.matrix), claim.sides.signs(codes)
        for k in np.flatnonzero((named.numbers >= before) & (named.numbers < before + len(rows))).tolist():
            at = int(named.numbers[k]) - before
            if codes[at] != named.codes[k] or _differ(X[[at]], named.X[[k]]):
                raise CertificateError(f"{part.path}:{block_lines[at]}: the row is not the one of the certificate.")
            lines[int(named.numbers[k])] = int(block_lines[at])
        n_asked += int(np.count_nonzero(signs))
        if isinstance(claim.found, Separable) and signs.any():
            row = _check_rows(claim, X, signs)
            if row is not None:
                found = _rows_at(rows, codes, np.array([row]), part.number, before)
                return FileCheck(n_asked, violation=found)
        before += len(rows)
    if len(lines) < len(named):
        raise CertificateError(f"{part.path} does not have all rows that the certificate names.")
    return FileCheck(n_asked, lines)


def _check_rows(claim: Claim, X: Any, signs: np.ndarray) -> int | None:
    """Check that no row is longer than the radius; return the first row within the claimed margin."""
    found, constant = claim.found, claim.sides.constant
    assert isinstance(found, Separable)
    assert claim.longest is not None
    longest, its_signs = claim.longest.X, claim.sides.signs(claim.longest.codes)
    both = sp.vstack([X, longest], format="csr") if sp.issparse(X) else np.concatenate([X, longest])
    check_radius(both, np.concatenate([signs, its_signs]), claim.radius, constant)
    weights = integer_weights(X, found.separator, found.intercept, constant)
    squared = Fraction(claim.margin_lower) ** 2 * sum(value * value for value in weights.tolist())
    return find_violation(X, signs, weights, squared, constant)


def check_named_rows(claim: Claim) -> None:
    """Check what a certificate claims of the rows that it names alone; a CertificateError if it is false."""
    assert claim.named is not None
    X, signs = read_for_checking(claim.named.X), claim.sides.signs(claim.named.codes)
    rows, found, constant = np.arange(len(signs)), claim.found, claim.sides.constant
    if isinstance(found, Inseparable):
        check_multipliers(found.multipliers)
        check_witness(X, signs, rows, found.multipliers, constant)
    elif isinstance(found, Separable):
        if not claim.margin_lower > 0:
            raise CertificateError(f"A separator needs a margin > 0, not {claim.margin_lower!r}.")
        check_support(X, signs, rows, found.multipliers, found.margin_upper, constant)
        check_shares(found.multipliers)
        check_length(found.separator, found.intercept, claim.margin_lower, found.margin_upper)


def read_file(plan: Plan, part: FilePart) -> Iterable[tuple[Rows, np.ndarray, np.ndarray]]:
    """Yield the rows of a file, the codes of their classes, and their lines."""
    lines: list[np.ndarray] = []
    for rows, codes in encode_file(plan, part.path, part.rows, lines):
        yield rows, codes, lines.pop()


def _named_in(claim: Claim, number: int) -> WorkingSet:
    assert claim.named is not None
    return claim.named.take(np.flatnonzero(claim.named.files == number))


def _differ(one: Any, other: Any) -> bool:
    difference = one - other
    return bool(abs(difference).sum() != 0)


def _rows_at(rows: Rows, codes: np.ndarray, at: np.ndarray, file: int, before: int) -> WorkingSet:
    return WorkingSet(rows.take(at), codes[at], np.full(len(at), file), at + before)


def _points_at(rows: Rows, at: np.ndarray, signs: np.ndarray, constant: float) -> SignedPoints:
    chosen = rows if len(at) == len(rows) else Rows.of(rows.take(at), squared_norms=rows.squared_norms[at])
    return SignedPoints(chosen, signs, constant)


def _no_rows(plan: Plan) -> WorkingSet:
    encoding, none = plan.model.encoding, np.empty(0, np.int64)
    assert encoding is not None
    is_dense = getattr(encoding, "is_dense", False)
    shape = 0, encoding.n_features
    return WorkingSet(np.empty(shape) if is_dense else sp.csr_array(shape), none, none, none)


def _stack(parts: Sequence[WorkingSet]) -> WorkingSet:
    """Return the rows of all parts in their order."""
    X = [part.X for part in parts]
    return WorkingSet(
        sp.vstack(X, format="csr") if any(map(sp.issparse, X)) else np.concatenate(X),
        *(np.concatenate([getattr(part, name) for part in parts]) for name in ("codes", "files", "numbers")),
    )

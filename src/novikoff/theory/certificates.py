"""Verdicts with their proofs: Separable, Inseparable, and one of them per class and pair for many classes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff.errors import CertificateError
from novikoff.gram import Potential, UsersPotential, are_objects, kernel_matrix, points_of
from novikoff.readable import Readable
from novikoff.theory import checker, dual_checker

__all__ = ["Certificate", "Inseparable", "KernelSeparable", "Question", "Separable", "Verdicts"]


@dataclass(frozen=True)
class Question:
    """Which rows are to lie on the positive side, which on the negative; rows of other labels are not asked about.

    A side that is None has no label, or is all labels but the positive one in a question of one against the rest. With
    an intercept every row has a constant coordinate 1.
    """

    positive: Any
    negative: Any = None
    fit_intercept: bool = True
    one_against_rest: bool = False
    n_asked: int | None = None  # rows that it speaks of, once it has been asked
    kernel: Potential | UsersPotential | None = None  # whose feature space it speaks of; its intercept is in there

    @property
    def constant(self) -> float:
        return 1.0 if self.fit_intercept and self.kernel is None else 0.0

    def signs(self, y: Any) -> np.ndarray:
        """+1, -1, or 0 where the question does not speak of the row."""
        y = np.asarray(y)
        negative = y != self.positive if self.one_against_rest else y == self.negative
        return (y == self.positive).astype(np.int64) - negative

    def __str__(self) -> str:
        if self.one_against_rest:
            return f"{self.positive} against the rest"
        if self.negative is None or self.positive is None:
            return f"{self.negative if self.positive is None else self.positive}, the only label"
        return f"{self.positive} against {self.negative}"


class Certificate(Readable):
    """What Separable and Inseparable have in common."""

    question: Question
    n_rows: int
    n_features: int

    def verify(self, X: Any, y: Any) -> None:
        """Check every claim against the data in exact arithmetic; CertificateError if one is false.

        Shares no code with the search that found the certificate.
        """
        y, question = np.asarray(y), self.question
        is_table = question.kernel is None or not are_objects(X)
        X = checker.plain(X) if is_table else X
        signs = checker.sides(y, question.positive, question.negative, question.one_against_rest)
        shape = X.shape if is_table else (len(X), self.n_features)
        if shape != (self.n_rows, self.n_features) or len(signs) != self.n_rows:
            raise CertificateError(f"The certificate speaks of {self.n_rows} rows with {self.n_features} features; "
                                   f"X has shape {shape}, y {len(signs)} labels.")  # fmt: skip
        if question.n_asked is not None and np.count_nonzero(signs) != question.n_asked:
            raise CertificateError(f"The certificate speaks of {question.n_asked} rows ({question}); "
                                   f"{np.count_nonzero(signs)} of these have such labels.")  # fmt: skip
        self._check(X if question.kernel is None else _products(X, question.kernel), signs)

    @abstractmethod
    def _check(self, X: Any, signs: np.ndarray) -> None:
        """Raise a CertificateError if a claim is false."""

    def _title(self) -> str:
        space = "" if self.question.kernel is None else f", in the feature space of {self.question.kernel}"
        return f"{type(self).__name__}: {self.question}{space}"


@dataclass(frozen=True, eq=False, repr=False)
class Separable(Certificate):
    """A half-space with every row strictly on its side, and how far the nearest are from its boundary.

    Attributes
    ----------
    separator, intercept : ndarray, float
        w*, of length 1 together with its bias: y <w*, x> >= margin for every row. Where the margin is too thin for
        doubles, exact Fractions of the nearest point itself, whose length is the margin.
    margin_lower, margin_upper : float
        What is proved of the margin gamma of the data: the separator attains `margin_lower` (a Fraction if no double
        is small enough), and the point
        sum multipliers * y * x of the support rows is `margin_upper` away from 0, so that no separator does better.
    support, multipliers : ndarray
        Rows nearest to the boundary, and weights that sum to 1.
    radius : float
        R, the longest row, the constant coordinate included.
    """

    question: Question
    separator: np.ndarray
    intercept: float
    margin_lower: float | Fraction
    margin_upper: float
    support: np.ndarray
    multipliers: np.ndarray
    radius: float
    n_rows: int
    n_features: int

    def __bool__(self) -> bool:
        return True

    @property
    def margin(self) -> float:
        """gamma, as far as it is proved: the margin that the separator attains."""
        return float(self.margin_lower)

    @property
    def mistake_bound(self) -> float:
        """(R / gamma)^2: the most mistakes that a perceptron can make, in any order and any number of passes."""
        if not self.margin:
            return math.inf
        ratio = self.radius / self.margin
        return ratio * ratio  # a power would raise where this is inf

    def _gap(self) -> str:
        """The fraction by which the margin may fall short of the largest possible, as a power of ten not below it."""
        gap = max(1e-12, 1.0 - self.margin / self.margin_upper)
        return f"1e{math.ceil(math.log10(gap) - 1e-9):03d}"

    def _most_mistakes(self) -> str:
        return f"{math.floor(self.mistake_bound):,}" if self.mistake_bound < 1e15 else f"{self.mistake_bound:.3g}"

    def _check(self, X: Any, signs: np.ndarray) -> None:
        constant = self.question.constant
        checker.check_support(X, signs, self.support, self.multipliers, self.margin_upper, constant)
        checker.check_radius(X, signs, self.radius, constant)
        checker.check_separator(X, signs, self.separator, self.intercept, self.margin_lower, constant)

    def _lines(self) -> list[tuple[str, str]]:
        return [
            ("margin", f"{self.margin:.6g}   (the largest possible, to {self._gap()})"),
            ("radius R", f"{self.radius:.6g}"),
            ("mistake bound", f"{self._most_mistakes()}   (R / margin)^2, any order, any number of passes"),
            ("support", _listed(self.support)),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class KernelSeparable(Separable):
    """The same in the feature space of a kernel, where rows have the inner products K(x, z).

    Attributes
    ----------
    separator : ndarray of shape (n_rows,)
        f = sum separator[i] K(x_i, .) has length 1, to rounding, and y f(x) >= margin_lower |f| for every row asked
        about. `intercept` is 0: a constant is part of the kernel.
    margin_lower, margin_upper, support, multipliers, radius
        As in `Separable`, of feature space; R^2 is the largest K(x, x).
    """

    def _lines(self) -> list[tuple[str, str]]:
        (name, _), *others = super()._lines()
        proved = f"{self.margin:.6g}   (the largest possible is at most {self.margin_upper:.6g})"
        return [(name, proved), *others]

    def scores(self, X: Any, queries: Any) -> np.ndarray:
        """f of some rows; X are the rows that the certificate speaks of."""
        used = np.flatnonzero(self.separator)
        function = self.question.kernel
        assert function is not None
        products = function.block(points_of(X, function).kept(used), points_of(queries, function))
        return np.array(self.separator[used].astype(float) @ products)

    def _check(self, X: Any, signs: np.ndarray) -> None:
        dual_checker.check_support(X, signs, self.support, self.multipliers, self.margin_upper)
        dual_checker.check_radius(X, signs, self.radius)
        dual_checker.check_separator(X, signs, self.separator, self.margin_lower)


@dataclass(frozen=True, eq=False, repr=False)
class Inseparable(Certificate):
    """Rows that no half-space can all get right, and the weights that prove it.

    sum multipliers[i] * y[rows[i]] * x[rows[i]] = 0 with positive multipliers, so for every w some chosen row
    has y <w, x> <= 0.

    Attributes
    ----------
    rows : ndarray
        At most d + 1 of them, d the dimension with the constant coordinate.
    multipliers : tuple of Fraction
        Whole numbers without a common factor.
    """

    question: Question
    rows: np.ndarray
    multipliers: tuple[Fraction, ...]
    n_rows: int
    n_features: int

    def __bool__(self) -> bool:
        return False

    @property
    def shares(self) -> np.ndarray:
        """The multipliers as doubles that sum to 1."""
        total = sum(self.multipliers)
        return np.array([float(m / total) for m in self.multipliers])

    def _check(self, X: Any, signs: np.ndarray) -> None:
        if self.question.kernel is not None:
            dual_checker.check_witness(X, signs, self.rows, self.multipliers)
        else:
            checker.check_witness(X, signs, self.rows, self.multipliers, self.question.constant)

    def _lines(self) -> list[tuple[str, str]]:
        return [
            ("rows", _listed(self.rows)),
            ("shares", _listed([f"{share:.4g}" for share in self.shares])),
            ("proof", "the rows, times their labels and these shares, add up to exactly 0"),
        ]


class Verdicts(Readable, Mapping[Any, Certificate]):
    """Certificates for many classes: one per class against the rest, and one per pair of classes.

    A mapping from a class, or a pair of classes, to its certificate. True if every class is separable from the rest.

    >>> import novikoff as nk
    >>> verdicts = nk.certify([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> bool(verdicts["a"]), bool(verdicts["b"]), bool(verdicts["a", "b"])
    (True, False, True)
    """

    def __init__(self, against_rest: dict[Any, Certificate], pairs: dict[Any, Certificate]) -> None:
        self.against_rest, self.pairs = against_rest, pairs

    def __getitem__(self, key: Any) -> Certificate:
        if isinstance(key, tuple) and len(key) == 2 and key not in self.against_rest:
            return self.pairs[key if key in self.pairs else key[::-1]]
        return self.against_rest[key]

    def __iter__(self) -> Iterator[Any]:
        yield from self.against_rest
        yield from self.pairs

    def __len__(self) -> int:
        return len(self.against_rest) + len(self.pairs)

    def __bool__(self) -> bool:
        return all(map(bool, self.against_rest.values()))

    def verify(self, X: Any, y: Any) -> None:
        """Check every certificate against the data in exact arithmetic."""
        for certificate in self.values():
            certificate.verify(X, y)

    def _lines(self) -> list[tuple[str, str]]:
        return [(str(certificate.question), _verdict(certificate)) for certificate in self.values()]


def _products(X: Any, function: Potential | UsersPotential) -> dual_checker.Products:
    """Kernel values for the checker: its own where they are polynomials, else as computed."""
    if function.polynomial is not None:
        return dual_checker.Polynomial(X, *function.polynomial)
    return dual_checker.Matrix(kernel_matrix(X, function))


def _verdict(certificate: Certificate) -> str:
    if isinstance(certificate, Separable):
        return f"separable, margin {certificate.margin:.4g}"
    assert isinstance(certificate, Inseparable)
    return f"not separable: {len(certificate.rows)} rows prove it"


_SHOWN = 12


def _listed(values: Any) -> str:
    """The first few, and how many more there are."""
    values = list(values)
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(map(str, values[:_SHOWN])) + more

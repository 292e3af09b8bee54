"""Verdicts with their proofs: Separable, Inseparable, and Verdicts for many classes."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from novikoff.errors import CertificateError
from novikoff.formatting.summary import SummaryMixin
from novikoff.kernel_methods.matrices import are_objects, make_points
from novikoff.theory.checker_inputs import inner_products_for_checking, read_for_checking
from novikoff.theory.checkers.closed_half_spaces import check_closed_separator, check_negative_row
from novikoff.theory.checkers.feature_space import (
    check_kernel_length,
    check_kernel_radius,
    check_kernel_separator,
    check_kernel_support,
    check_kernel_witness,
)
from novikoff.theory.checkers.fields import (
    require_array,
    require_integers,
    require_numbers,
    require_row_indices,
    require_sequence,
    require_type,
)
from novikoff.theory.checkers.rows import assign_signs, require_rows
from novikoff.theory.checkers.separator import check_length, check_separator
from novikoff.theory.checkers.support import check_radius, check_shares, check_support
from novikoff.theory.checkers.witness import check_multipliers, check_witness
from novikoff.theory.questions import Question

__all__ = ["Certificate", "ClosedSeparable", "Inseparable", "KernelSeparable", "Question", "Separable", "Verdicts"]


class Certificate(SummaryMixin):
    """A proof about the rows of one question, which `verify` checks: Separable, Inseparable, FewestErrors."""

    question: Question
    n_rows: int
    n_features: int
    in_feature_space: ClassVar[bool | None] = False  # whether the question must have a kernel; None if it may

    def verify(self, X: Any, y: Any) -> None:
        """Check every field against the data in exact arithmetic; CertificateError if what it says is false.

        The checker uses no code of the search, with three exceptions: the arrays of sparse matrices are read by the
        code that reads them for learning, integers that no double is equal to are refused by the same function, and the
        values of a kernel that is a user's own function come from calling it as the search does, and are taken as
        given.
        """
        require_type("question", self.question, Question)
        require_integers(n_rows=self.n_rows, n_features=self.n_features)
        self._check_types()
        y, question = np.asarray(y), self.question
        if self.in_feature_space not in (None, question.kernel is not None):
            raise CertificateError(f"{type(self).__name__} does not go with the kernel {question.kernel!r}.")
        is_table = question.kernel is None or not are_objects(X)
        X = read_for_checking(X) if is_table else X
        shape = X.shape if is_table else (len(X), 0)
        signs = question.checked_signs(y)
        if shape != (self.n_rows, self.n_features) or len(signs) != self.n_rows:
            raise CertificateError(
                f"The certificate is about {self.n_rows} rows with {self.n_features} features; "
                f"X has shape {shape}, y {len(signs)} labels."
            )
        self._check(X if question.kernel is None else inner_products_for_checking(X, question.kernel), signs)

    @abstractmethod
    def _check_types(self) -> None:
        """Raise a CertificateError if a field, other than the question and the size, is of a wrong type."""

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
        w*, of length 1 together with its bias, up to rounding: y <w*, x> >= margin_lower |w*| for every row. Where the
        margin is too small for doubles, exact Fractions of the nearest point itself, whose length is from margin_lower
        to margin_upper.
    margin_lower, margin_upper : float
        What is proved of Novikoff's margin gamma of the data, for which the constant coordinate counts in w and in the
        rows (`nk.geometric_margin` has the one of an SVM). The separator attains `margin_lower` (a Fraction if no
        double is small enough) or more, and the point sum multipliers * y * x of the support rows is no farther from 0
        than `margin_upper`, so that no separator does better.
    support, multipliers : ndarray
        The rows of that point, and weights >= 0 that sum to 1, up to rounding. If the two margins meet, these rows are
        nearest to the boundary.
    radius : float
        R, the length of the longest row, the constant coordinate included, rounded up.
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
        """The proved part of gamma: the margin that the separator attains, rounded down to a double."""
        nearest = float(self.margin_lower)
        return nearest if Fraction(nearest) <= self.margin_lower else math.nextafter(nearest, 0.0)

    @property
    def mistake_bound(self) -> float:
        """(R / gamma)^2: the most mistakes that a perceptron can make, in any order and any number of passes."""
        if not self.margin:
            return math.inf
        ratio = self.radius / self.margin
        return ratio * ratio  # a power would raise where this is inf

    @property
    def minimum_norm(self) -> float:
        """The least |w| with y <w, x> >= 1 for every row, 1 / gamma: `mistake_bound` is R^2 times its square."""
        return 1.0 / self.margin if self.margin else math.inf

    def _gap(self) -> str:
        """Return the fraction by which the margin may fall short of the largest possible, as a power of ten not below
        it."""
        gap = max(1e-12, 1.0 - self.margin / self.margin_upper)
        return f"1e{math.ceil(math.log10(gap) - 1e-9):03d}"

    def _most_mistakes(self) -> str:
        return f"{math.floor(self.mistake_bound):,}" if self.mistake_bound < 1e15 else f"{self.mistake_bound:.3g}"

    def _check_types(self) -> None:
        require_array(separator=self.separator, multipliers=self.multipliers)
        require_row_indices(support=self.support)
        require_numbers(
            intercept=self.intercept,
            margin_lower=self.margin_lower,
            margin_upper=self.margin_upper,
            radius=self.radius,
        )

    def _check(self, X: Any, signs: np.ndarray) -> None:
        constant = self.question.constant
        check_support(X, signs, self.support, self.multipliers, self.margin_upper, constant)
        check_shares(self.multipliers)
        check_radius(X, signs, self.radius, constant)
        check_separator(X, signs, self.separator, self.intercept, self.margin_lower, constant)
        check_length(self.separator, self.intercept, self.margin_lower, self.margin_upper)

    def _lines(self) -> list[tuple[str, str]]:
        most = f"the largest possible, to {self._gap()}"
        if self.margin < 0.999 * self.margin_upper:
            most = f"the largest possible is at most {self.margin_upper:.6g}"
        return [
            ("margin", f"{self.margin:.6g}   ({most})"),
            ("radius R", f"{self.radius:.6g}"),
            ("mistake bound", f"{self._most_mistakes()}   (R / margin)^2, any order, any number of passes"),
            ("support", _list_some(self.support)),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class ClosedSeparable(Certificate):
    """A closed half-space with every row on its side, where no open one has: rows on the boundary count as positive.

    Attributes
    ----------
    separator : ndarray
        Weights, Fractions, with <w, x> >= 0 for every positive row and <w, x> < 0 for every negative one. There is no
        margin, since some positive rows lie on the boundary of every such half-space, and no intercept. All weights are
        0 if no row is negative.
    """

    question: Question
    separator: np.ndarray
    n_rows: int
    n_features: int

    def __bool__(self) -> bool:
        return True

    def _check_types(self) -> None:
        require_array(separator=self.separator)

    def _check(self, X: Any, signs: np.ndarray) -> None:
        if self.question.ties != "positive" or self.question.fit_intercept or self.question.kernel is not None:
            raise CertificateError("This is about closed half-spaces without an intercept: ties is not 'positive'.")
        check_closed_separator(X, signs, self.separator)

    def _lines(self) -> list[tuple[str, str]]:
        weights = _list_some([f"{float(weight):.4g}" for weight in self.separator])
        return [
            ("weights", weights),
            ("margin", "none: some positive rows lie on the boundary of every such half-space"),
        ]


@dataclass(frozen=True, eq=False, repr=False)
class KernelSeparable(Separable):
    """A function of a kernel's feature space, where rows have the inner products K(x, z), with every row on its side.

    For "linear", "poly", "rbf", "laplacian" and "hamming" it is true of the kernel itself. A precomputed matrix, or the
    values of a user's own function, are taken as given: then `verify` checks that the matrix is positive semi-definite,
    exactly on the rows of `support` and `separator`, and up to rounding on all rows asked about.

    Attributes
    ----------
    separator : ndarray of shape (n_rows,)
        f = sum separator[i] K(x_i, .) has length 1, up to rounding, and y f(x) >= margin_lower |f| for every row asked
        about. Where the margin is too small for doubles, Fractions, and |f| is from margin_lower to margin_upper.
    intercept : float
        0: a constant is part of the kernel.
    margin_lower, margin_upper, support, multipliers, radius
        As in `Separable`, of feature space; R^2 is the largest K(x, x).
    """

    in_feature_space = True

    def _lines(self) -> list[tuple[str, str]]:
        (name, _), *others = super()._lines()
        proved = f"{self.margin:.6g}   (the largest possible is at most {self.margin_upper:.6g})"
        return [(name, proved), *others]

    def scores(self, X: Any, queries: Any) -> np.ndarray:
        """f(x) for the rows of `queries`; X are the rows that the certificate is about."""
        used = np.flatnonzero(self.separator)
        function = self.question.kernel
        assert function is not None
        products = function.block(make_points(X, function).copy_rows(used), make_points(queries, function))
        return np.array(self.separator[used].astype(float) @ products)

    def _check(self, X: Any, signs: np.ndarray) -> None:
        if self.intercept != 0:
            raise CertificateError(f"In feature space there is no intercept but 0; found {self.intercept!r}.")
        require_rows(self.support, signs)
        X.require_positive(np.flatnonzero(signs), np.concatenate([self.support, np.flatnonzero(self.separator)]))
        check_kernel_support(X, signs, self.support, self.multipliers, self.margin_upper)
        check_shares(self.multipliers)
        check_kernel_radius(X, signs, self.radius)
        check_kernel_separator(X, signs, self.separator, self.margin_lower)
        check_kernel_length(X, signs, self.separator, self.margin_lower, self.margin_upper)


@dataclass(frozen=True, eq=False, repr=False)
class Inseparable(Certificate):
    """Rows that no half-space can all get right, and the weights that prove it.

    sum multipliers[i] * y[rows[i]] * x[rows[i]] = 0 with positive multipliers, so for every w some chosen row
    has y <w, x> <= 0.

    Attributes
    ----------
    rows : ndarray
        At most d + 1 of them, d the dimension with the constant coordinate; in feature space as many as it takes.
    multipliers : tuple of Fraction
        Integers without a common factor.
    """

    question: Question
    rows: np.ndarray
    multipliers: tuple[Fraction, ...]
    n_rows: int
    n_features: int
    in_feature_space = None

    def __bool__(self) -> bool:
        return False

    @property
    def shares(self) -> np.ndarray:
        """The multipliers as doubles that sum to 1."""
        total = sum(self.multipliers)
        return np.array([float(m / total) for m in self.multipliers])

    def _check_types(self) -> None:
        require_row_indices(rows=self.rows)
        require_sequence(multipliers=self.multipliers)

    def _check(self, X: Any, signs: np.ndarray) -> None:
        check_multipliers(self.multipliers)
        if self.question.ties == "positive":
            require_rows(self.rows, signs)
            check_negative_row(signs, self.rows)
        if self.question.kernel is not None:
            require_rows(self.rows, signs)
            X.require_positive(np.flatnonzero(signs), self.rows)
            check_kernel_witness(X, signs, self.rows, self.multipliers)
        else:
            check_witness(X, signs, self.rows, self.multipliers, self.question.constant)

    def _lines(self) -> list[tuple[str, str]]:
        return [
            ("rows", _list_some(self.rows)),
            ("shares", _list_some([f"{share:.4g}" for share in self.shares])),
            ("proof", "the rows, times their labels and these shares, add up to exactly 0"),
        ]


class Verdicts(SummaryMixin, Mapping[Any, Certificate]):
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
        """Check that there is one certificate for each class of y and each pair of them, and every one of these against
        the data in exact arithmetic."""
        self.check_questions(np.asarray(y))
        for certificate in self.values():
            certificate.verify(X, y)

    def check_questions(self, y: np.ndarray) -> None:
        """Raise a CertificateError unless each class of y, and each pair, has the certificate that answers about it."""
        for certificate in self.values():
            require_type("certificate", certificate, Certificate)
            require_type("question", certificate.question, Question)
        counts = [np.count_nonzero(assign_signs(y, name, None, False)) for name in self.against_rest]
        if not all(counts) or sum(counts) != len(y):
            raise CertificateError(
                f"The certificates are about classes {list(self.against_rest)!r}, which y does not have."
            )
        first = next(iter(self.values())).question
        expected = {}
        for name in self.against_rest:
            expected[name] = replace(first, positive=name, negative=None, one_against_rest=True)
        for one, other in combinations(self.against_rest, 2):
            key = (one, other) if (one, other) in self.pairs else (other, one)
            expected[key] = replace(first, positive=key[1], negative=key[0], one_against_rest=False)
        questions = {key: replace(proof.question, n_asked=first.n_asked) for key, proof in self.items()}
        if questions != expected:
            raise CertificateError("A certificate of a class, or of a pair, is missing or answers another question.")

    def _lines(self) -> list[tuple[str, str]]:
        return [(str(certificate.question), _describe_verdict(certificate)) for certificate in self.values()]


def _describe_verdict(certificate: Certificate) -> str:
    if isinstance(certificate, Separable):
        return f"separable, margin {certificate.margin:.4g}"
    if isinstance(certificate, ClosedSeparable):
        return "separable, with rows on the boundary"
    assert isinstance(certificate, Inseparable)
    return f"not separable: {len(certificate.rows)} rows prove it"


_MOST_LISTED = 12


def _list_some(values: Any) -> str:
    """Return the first few values, and how many more there are."""
    values = list(values)
    more = f" and {len(values) - _MOST_LISTED} more" if len(values) > _MOST_LISTED else ""
    return ", ".join(map(str, values[:_MOST_LISTED])) + more

"""MistakeBound: a bound on the mistakes of a perceptron, the theorem behind it, and the numbers that prove it.

The theorems, and how the best bound of each is found, are in bounds.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from novikoff.errors import CertificateError
from novikoff.formatting.summary import SummaryMixin
from novikoff.theory.certificates import Certificate, Separable
from novikoff.theory.checker_inputs import read_for_checking
from novikoff.theory.checkers.fields import require_array, require_integers, require_numbers, require_type
from novikoff.theory.checkers.mistake_bounds import check_lower, check_value
from novikoff.theory.checkers.rows import assign_signs
from novikoff.theory.checkers.separator import check_length
from novikoff.theory.checkers.support import check_radius
from novikoff.theory.questions import Question
from novikoff.theory.row_changes import RowChange

__all__ = ["MistakeBound"]


@dataclass(frozen=True, eq=False, repr=False)
class MistakeBound(SummaryMixin):
    """The most mistakes that a perceptron can make on some data, and the theorem that says so.

    Attributes
    ----------
    theorem : {"novikoff", "freund-schapire", "hinge", "row-lengths"}
    value : float
        The bound, rounded up.
    mistakes : int
        The bound rounded down to an integer.
    passes : 1 or "any"
        The number of passes for which it holds; in one pass each row occurs once. The order does not matter.
    lower : float
        No choice of v makes this theorem prove less than this (rounded down): value - lower is what a longer search
        could still gain.
    radius : float
        R, the longest row, the constant coordinate included (rounded up).
    u, intercept : ndarray, float
        The direction that gives this bound, of length 1 together with its intercept, up to rounding; zeros if no
        direction gives less than one mistake for each row. For "novikoff" exact Fractions where the margin is too
        small for doubles; their length is from the certificate's margin_lower to its margin_upper.
    margin : float or None
        gamma, the margin that u should attain; None if u is zero. v = u / gamma.
    loss : float
        |h|_2 of the rows that fall short of it for "freund-schapire", |h|_1 for "hinge" and "row-lengths", else 0;
        rounded up.
    weights : ndarray of shape (n_rows,)
        The weights alpha >= 0 of the rows that prove `lower`; Fractions where u is made of them.
    n_rows : int
    question : Question
        Which label is on the positive side, and whether rows have a constant coordinate.
    certificate : Separable or Inseparable
        Whether the rows can be separated; with the sides as here, or the other way round.
    change : RowChange
        How rows are changed before the perceptron learns from them; all fields are about the changed rows, and `verify`
        changes the rows that it is given.
    is_given : bool
        Whether u and margin were given. Then they were not searched for, and `lower` is far from the best.
    candidates : mapping
        The best of each theorem, by name; "novikoff" only where the data are separable, by a margin that has a finite
        bound in doubles. Candidates have none themselves.
    """

    theorem: str
    value: float
    lower: float
    passes: int | Literal["any"]
    radius: float
    u: np.ndarray
    intercept: float
    margin: float | None
    loss: float
    weights: np.ndarray
    n_rows: int
    question: Question
    certificate: Certificate
    candidates: Mapping[str, MistakeBound] = field(default_factory=dict)
    change: RowChange = field(default_factory=RowChange)
    is_given: bool = False

    def with_change(self, change: RowChange) -> MistakeBound:
        """Return the bound as one of rows that this change has led to."""
        candidates = {name: each.with_change(change) for name, each in self.candidates.items()}
        return replace(self, candidates=candidates, change=change)

    @property
    def mistakes(self) -> int:
        return math.floor(self.value)

    @property
    def gap(self) -> float:
        """How far the bound may be from the best that its theorem can prove: value - lower."""
        return max(0.0, self.value - self.lower)

    @property
    def deviation(self) -> float | None:
        """The loss in units of distance, margin * loss: Freund and Schapire's D, with the bound (R + D)^2 / gamma^2."""
        return None if self.margin is None else self.margin * self.loss

    def verify(self, X: Any, y: Any) -> None:
        """Check every field against the data in exact arithmetic; CertificateError if what it says is false.

        The checker uses no code of the search, with two exceptions: the arrays of sparse matrices are read by the code
        that reads them for learning, and integers that no double is equal to are refused by the same function.
        """
        self._check_types()
        X, y = self.change.apply(read_for_checking(X)), np.asarray(y)
        signs = self.question.checked_signs(y)
        if X.shape != (self.n_rows, len(self.u)) or len(signs) != self.n_rows:
            given = f"X has shape {X.shape}, y {len(signs)} labels"
            raise CertificateError(f"The bound is about {self.n_rows} rows with {len(self.u)} features; {given}.")
        self._check_certificate(X, y, signs)
        if self.candidates:
            self._check_candidates()
        for bound in self.candidates.values() or [self]:
            bound._check(X, signs)

    def _check_types(self) -> None:
        require_type("theorem", self.theorem, str)
        require_type("question", self.question, Question)
        require_type("certificate", self.certificate, Certificate)
        require_type("candidates", self.candidates, Mapping)
        require_type("change", self.change, RowChange)
        require_type("is_given", self.is_given, bool)
        require_type("passes", self.passes, int, np.integer, str)
        if self.passes != "any":
            require_integers(passes=self.passes)
        require_integers(n_rows=self.n_rows)
        require_array(u=self.u, weights=self.weights)
        require_numbers(
            value=self.value, lower=self.lower, radius=self.radius, intercept=self.intercept, loss=self.loss
        )
        if self.margin is not None:
            require_numbers(margin=self.margin)
        for bound in self.candidates.values():
            require_type("candidates", bound, MistakeBound)
            if bound.candidates:
                raise CertificateError("A candidate of a bound has no candidates itself.")
            bound._check_types()

    def _check_certificate(self, X: Any, y: np.ndarray, signs: np.ndarray) -> None:
        about = self.certificate.question
        self.certificate.verify(X, y)
        agreement = int((assign_signs(y, about.positive, about.negative, about.one_against_rest) * signs).sum())
        same_terms = about.fit_intercept == self.question.fit_intercept and about.kernel is self.question.kernel is None
        if abs(agreement) != self.n_rows or not same_terms:
            raise CertificateError("The certificate of the bound answers another question.")

    def _check_candidates(self) -> None:
        """Candidates are about the same data, one for each theorem that applies, and this bound is the best of them."""
        for name, bound in self.candidates.items():
            if bound.theorem != name or bound.candidates or bound.n_rows != self.n_rows:
                raise CertificateError(f"The candidate {name!r} is about something else.")
            about = bound.question, bound.change, bound.is_given
            if about != (self.question, self.change, self.is_given) or bound.certificate is not self.certificate:
                raise CertificateError(f"The candidate {name!r} answers another question.")
        certificate = self.certificate
        is_finite = isinstance(certificate, Separable) and 2.0 * certificate.mistake_bound < math.inf
        expected = ({"novikoff"} if is_finite and not self.is_given else set()) | (_FORMULAS.keys() - {"novikoff"})
        if not expected <= set(self.candidates) <= set(_FORMULAS):
            raise CertificateError(f"The candidates are {sorted(self.candidates)}, and should be {sorted(expected)}.")
        ordered = [self.candidates[name] for name in _FORMULAS if name in self.candidates]
        best = min(ordered, key=lambda bound: bound.mistakes)  # the first of equals
        if not _are_same(self, best):
            raise CertificateError("The bound is not the best of its candidates.")

    def _check(self, X: Any, signs: np.ndarray) -> None:
        """Check the numbers of one theorem."""
        constant = self.question.constant
        if self.theorem not in _FORMULAS or self.passes != ("any" if self.theorem == "novikoff" else 1):
            raise CertificateError(f"The theorem {self.theorem!r} says nothing about {self.passes!r} passes.")
        if not constant and self.intercept:
            raise CertificateError("A bound has no intercept where rows have no constant coordinate.")
        if not self.lower <= self.value:
            raise CertificateError(f"No bound of {self.value!r} can be proved if the best is {self.lower!r}.")
        self._check_direction()
        check_radius(X, signs, self.radius, constant)
        check_value(
            X, signs, self.theorem, self.value, self.radius, self.u, self.intercept, self.margin, self.loss, constant
        )
        check_lower(X, signs, self.theorem, self.lower, self.radius, self.weights, constant)

    def _check_direction(self) -> None:
        """u has length 1, or is zero; Fractions are for Novikoff's bound only, and as long as those of a separator."""
        direction = np.append(self.u, self.intercept)
        if direction.dtype.kind == "f":
            if direction.any():
                check_length(self.u, self.intercept, 1.0, 1.0)
        elif self.theorem == "novikoff" and isinstance(self.certificate, Separable):
            check_length(self.u, self.intercept, self.certificate.margin_lower, self.certificate.margin_upper)
        else:
            raise CertificateError(f"The direction of the bound ({self.theorem}) is made of floats, and this is not.")

    def _lines(self) -> list[tuple[str, str]]:
        lines = [] if self.change == RowChange() else [("rows", str(self.change))]
        lines.append(("radius R", f"{self.radius:.6g}"))
        if self.margin is None:
            lines.append(("direction", "none: one mistake for each row is the best it can prove"))
        else:
            lines.append(("margin", f"{self.margin:.6g}"))
        if self.loss:
            lines.append((_LOSSES[self.theorem], f"{self.loss:.6g}"))
        if self.is_given and self.theorem == "freund-schapire":
            lines.append(("D", f"{self.deviation:.6g}"))
        known = {name: candidate._summary() for name, candidate in self.candidates.items()}
        lacking = "no finite bound" if self.certificate else "not separable"
        lacking = "not all rows attain the margin" if self.is_given else lacking
        return lines + [(name, known.get(name, lacking)) for name in _FORMULAS if known]

    def _summary(self) -> str:
        passes = "any passes" if self.passes == "any" else "one pass"
        return f"{self.mistakes:>9,}   {passes:<10}   {_FORMULAS[self.theorem]}"

    def _title(self) -> str:
        passes = "any number of passes" if self.passes == "any" else "one pass"
        return f"MistakeBound: at most {self.mistakes:,} in {passes} over {self.n_rows:,} rows in any order"


_FORMULAS = {
    "novikoff": "(R / margin)^2",
    "freund-schapire": "(R / margin + |h|_2)^2",
    "hinge": "((p + sqrt(p^2 + 4 |h|_1)) / 2)^2, p = R / margin",
    "row-lengths": "the largest M with M - |h|_1 <= sqrt(sum of the M largest |x|^2) / margin",
}
_LOSSES = {"freund-schapire": "loss |h|_2", "hinge": "loss |h|_1", "row-lengths": "loss |h|_1"}


def _are_same(one: MistakeBound, other: MistakeBound) -> bool:
    """Return whether two bounds agree in all fields but candidates, certificate and question; Fractions are no
    doubles."""
    about = "candidates", "certificate", "question", "change", "is_given"
    names = [item.name for item in fields(MistakeBound) if item.name not in about]
    pairs = [(np.asarray(getattr(one, name)), np.asarray(getattr(other, name))) for name in names]
    return all(a.dtype.kind == b.dtype.kind and np.array_equal(a, b) for a, b in pairs)

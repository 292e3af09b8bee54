"""mistake_bound: how many mistakes a perceptron can make on given data, by three theorems.

With z = y * (x, constant), R = max |z|, and h_i = max(0, 1 - <v, z_i>) for a vector v = u / gamma of one's choice,

    novikoff          mistakes <= (R |v|)^2                                  if h = 0; over any number of passes
    freund-schapire   mistakes <= (R |v| + |h|_2)^2                          in one pass
    hinge             mistakes <= ((p + sqrt(p^2 + 4 |h|_1)) / 2)^2          in one pass, p = R |v|

Every v gives a true bound; here the best v is searched. All three proofs start from the rows that were mistakes: the M
of them add up to w with |w| <= sqrt(M) R, so that for every v

    sum over mistakes (1 - h_i)  <=  <w, v>  <=  sqrt(M) R |v|

and sum h_i over the mistakes is at most |h|_1, and at most sqrt(M) |h|_2.

The best bound that a theorem can give is known from its dual, over weights alpha >= 0 of the rows. For Freund and
Schapire,

    min_v R |v| + |h|_2   =   max sum alpha   with   |alpha|_2 <= 1,  |sum alpha_i z_i| <= R

because |h|_2 = max <alpha, 1 - Zv> over the alpha >= 0 of length 1 at most, and R |v| >= <v, sum alpha_i z_i>. For the
hinge, the bound s^2 is the smallest s^2 >= min_v s R |v| + |h|_1 = max sum alpha with alpha <= 1 and
|sum alpha_i z_i| <= s R, so any alpha <= 1 proves that no v brings the bound below

    min(A, (A R / B)^2)          A = sum alpha,  B = |sum alpha_i z_i|

(if B > sqrt(A) R, shrink alpha until it is not). The mistakes of any run, alpha = 1 there and 0 elsewhere, are such
weights: this is the theorem again. And as |alpha|_2^2 <= sum alpha where alpha <= 1, weights for the hinge, divided by
sqrt(A), are weights for Freund and Schapire that prove as much: **at its best the hinge bound is never above the
other two**. The other two have a simpler form, and Novikoff's holds for any number of passes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal

import numpy as np

from novikoff.errors import CertificateError, DataError
from novikoff.formatting.summary import SummaryMixin
from novikoff.inputs.labels import encode_labels
from novikoff.theory.certificates import Certificate, Question, Separable, Verdicts, read_for_checking
from novikoff.theory.checkers.fields import require_array, require_integers, require_numbers, require_type
from novikoff.theory.checkers.mistake_bounds import check_lower, check_value
from novikoff.theory.checkers.rows import assign_signs
from novikoff.theory.checkers.separator import check_length, check_separator
from novikoff.theory.checkers.support import check_radius
from novikoff.theory.hinge_bounds import UP, BestBound, FreundSchapireBound, HingeBound, NewtonDescent, ScaledPoints
from novikoff.theory.separability import certify, names_of, read_data
from novikoff.theory.signed_points import SignedPoints

__all__ = ["MistakeBound", "mistake_bound"]


@dataclass(frozen=True, eq=False, repr=False)
class MistakeBound(SummaryMixin):
    """The most mistakes that a perceptron can make on some data, and the theorem that says so.

    Attributes
    ----------
    theorem : {"novikoff", "freund-schapire", "hinge"}
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
        |h|_2 of the rows that fall short of it for "freund-schapire", |h|_1 for "hinge", else 0; rounded up.
    weights : ndarray of shape (n_rows,)
        The weights alpha >= 0 of the rows that prove `lower`; Fractions where u is made of them.
    n_rows : int
    question : Question
        Which label is on the positive side, and whether rows have a constant coordinate.
    certificate : Separable or Inseparable
        Whether the rows can be separated; with the sides as here, or the other way round.
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
        X, y = read_for_checking(X), np.asarray(y)
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
            if bound.question != self.question or bound.certificate is not self.certificate:
                raise CertificateError(f"The candidate {name!r} answers another question.")
        certificate = self.certificate
        is_finite = isinstance(certificate, Separable) and 2.0 * certificate.mistake_bound < math.inf
        expected = ({"novikoff"} if is_finite else set()) | {"freund-schapire", "hinge"}
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
        lines = [("radius R", f"{self.radius:.6g}")]
        if self.margin is None:
            lines.append(("direction", "none: one mistake for each row is the best it can prove"))
        else:
            lines.append(("margin", f"{self.margin:.6g}"))
        if self.loss:
            lines.append((_LOSSES[self.theorem], f"{self.loss:.6g}"))
        known = {name: candidate._summary() for name, candidate in self.candidates.items()}
        lacking = "no finite bound" if self.certificate else "not separable"
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
}
_LOSSES = {"freund-schapire": "loss |h|_2", "hinge": "loss |h|_1"}


def mistake_bound(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    positive: Any = None,
    certificate: Certificate | Verdicts | None = None,
) -> MistakeBound:
    """Bound the mistakes of a perceptron on these rows in any order: the smallest bound of three theorems.

    The perceptron starts at w = 0 and adds y * x whenever y <w, x> <= 0. For every v, with p = R |v| and
    h_i = max(0, 1 - y_i <v, x_i>), its mistakes in one pass are at most (p + |h|_2)^2 (Freund and Schapire) and
    ((p + sqrt(p^2 + 4 |h|_1)) / 2)^2 (hinge); if h = 0 they are at most p^2 = (R / margin)^2 over any number of
    passes (Novikoff). The best v is searched for each, and `lower` says how near to the best it is.

    Of bounds that allow the same number of mistakes, the one that holds for more passes is returned; all three are
    in `candidates`.

    Parameters
    ----------
    X : 2-D array or sparse matrix
        It is not copied; the search reads it about a hundred times.
    y : array of labels
        Two of them, or more and `positive`.
    fit_intercept : bool, default=True
        Whether rows have a constant coordinate 1. It is part of the radius.
    positive : label, optional
        The class on the positive side, against all others.
    certificate : optional
        The result of `certify` on the same X and y, if it is known already.

    Returns
    -------
    MistakeBound

    References
    ----------
    Novikoff 1962; Freund & Schapire, "Large margin classification using the perceptron algorithm", 1999, theorem 2;
    Gentile, "The robustness of the p-norm algorithms", 2003; Shalev-Shwartz & Singer, "A new perspective on an old
    perceptron algorithm", 2005; Mohri & Rostamizadeh, "Perceptron mistake bounds", 2013.

    Examples
    --------
    Nothing can be proved of XOR: each of its four rows may be a mistake. Nine equal rows of one class and one of the
    other are inseparable too, but most of them agree.

    >>> import novikoff as nk
    >>> nk.mistake_bound([[0, 0], [1, 1], [0, 1], [1, 0]], [-1, -1, 1, 1]).mistakes
    4
    >>> bound = nk.mistake_bound([[1, 1]] * 10, [1] * 9 + [-1], fit_intercept=False)
    >>> bound.theorem, bound.mistakes
    ('hinge', 4)
    >>> round(bound.candidates["freund-schapire"].value, 3)
    6.76
    """
    rows, labels = read_data(X, y)
    question = _question(labels, fit_intercept, positive)
    points = SignedPoints(rows, question.signs(labels), question.constant)
    if certificate is None:
        certificate = certify(rows, labels, fit_intercept=fit_intercept, positive=positive)
    answer, side = _match_certificate(certificate, points, labels, positive)
    scaled = ScaledPoints(points)
    candidates = {}
    separator = None
    if isinstance(answer, Separable) and answer.margin:
        novikoff = _novikoff_bound(scaled, answer, side, question)
        if novikoff.value < math.inf:
            candidates["novikoff"], separator = novikoff, answer
    v = np.zeros(scaled.size)
    for theorem in (FreundSchapireBound(), HingeBound()):
        best = BestBound(theorem, scaled, v)
        if separator is not None:
            _use_certificate(best, separator, side)
        if not best.is_tight:
            NewtonDescent(theorem, scaled, v).improve(best)
        candidates[theorem.name], v = _to_mistake_bound(best, question, answer), best.v
    smallest = min(candidates.values(), key=lambda bound: bound.mistakes)  # the first of equals
    return replace(smallest, candidates=candidates)


def _question(y: np.ndarray, fit_intercept: bool, positive: Any) -> Question:
    """Return the positive class, the larger of two if none is named, against the rest."""
    names = names_of(encode_labels(y)[0])
    if positive is not None:
        if positive not in names:
            raise DataError(f"The label {positive!r} is not in y, whose labels are {names!r}.")
        return Question(positive, None, fit_intercept, one_against_rest=True, n_asked=len(y))
    if len(names) > 2:
        raise DataError(
            f"A mistake bound is about two classes, y has {len(names)}. Pass positive=, the class to "
            "set against all others."
        )
    return Question(names[-1], names[0] if len(names) == 2 else None, fit_intercept, n_asked=len(y))


def _match_certificate(
    certificate: Certificate | Verdicts, points: SignedPoints, y: np.ndarray, positive: Any
) -> tuple[Any, int]:
    """Return the certificate about these points, and -1 if its positive side is the negative one here, otherwise +1."""
    if isinstance(certificate, Verdicts):
        certificate = certificate.against_rest.get(positive, next(iter(certificate.values())))
    question = certificate.question
    if (certificate.n_rows, certificate.n_features) == (len(points), points.rows.n_features):
        agreement = int(np.sum(question.signs(y) * points.signs))
        side = 1 if agreement > 0 else -1
        if (
            question.kernel is None
            and question.constant == points.constant
            and abs(agreement) == len(points)
            and _is_separator_of(certificate, points, side)
        ):
            return certificate, side
    raise DataError(
        f"The certificate ({question}, {certificate.n_rows} rows, fit_intercept={question.fit_intercept}) "
        "is not about these data. Leave it out, or pass the same X, y, fit_intercept and positive to "
        "certify."
    )


def _is_separator_of(certificate: Certificate, points: SignedPoints, side: int) -> bool:
    """Return whether a separator separates these points; True for a witness, which `verify` would check."""
    if not isinstance(certificate, Separable):
        return True
    w, bias, margin = side * certificate.separator, side * certificate.intercept, certificate.margin_lower
    try:
        check_separator(points.rows.matrix, points.signs, w, bias, margin, points.constant)
    except CertificateError:
        return False
    return True


def _novikoff_bound(scaled: ScaledPoints, certificate: Separable, side: int, question: Question) -> MistakeBound:
    """Return the bound that a separator and its support prove."""
    # A product overflows to inf, a power would raise.
    ratio, best = scaled.radius / certificate.margin, scaled.radius / certificate.margin_upper
    return MistakeBound(
        "novikoff",
        ratio * ratio * UP,
        best * best * (1.0 - scaled.rounding),
        "any",
        scaled.radius,
        side * certificate.separator,
        side * certificate.intercept,
        certificate.margin,
        0.0,
        _support_weights(certificate),
        len(scaled.points),
        question,
        certificate,
    )


def _support_weights(certificate: Separable) -> np.ndarray:
    """Return the multipliers of the support, doubles or Fractions, as weights of all rows."""
    alpha = np.zeros(certificate.n_rows, certificate.multipliers.dtype)
    alpha[certificate.support] = certificate.multipliers
    return alpha


def _are_same(one: MistakeBound, other: MistakeBound) -> bool:
    """Return whether two bounds agree in all fields but candidates, certificate and question; Fractions are no
    doubles."""
    names = [item.name for item in fields(MistakeBound) if item.name not in ("candidates", "certificate", "question")]
    pairs = [(np.asarray(getattr(one, name)), np.asarray(getattr(other, name))) for name in names]
    return all(a.dtype.kind == b.dtype.kind and np.array_equal(a, b) for a, b in pairs)


def _separator(certificate: Separable, side: int) -> np.ndarray:
    """Return the separator as doubles, bias last; Fractions, where its margin is too small for doubles, are rounded."""
    return side * np.append(certificate.separator, certificate.intercept).astype(float)


def _use_certificate(best: BestBound, certificate: Separable, side: int) -> None:
    """Try the separator, which makes every h zero, and its support, which proves how good that is."""
    with np.errstate(over="ignore"):
        best.keep_better_vector(_separator(certificate, side) / certificate.margin)
    best.keep_better_weights(_support_weights(certificate).astype(float))


def _to_mistake_bound(best: BestBound, question: Question, certificate: Certificate) -> MistakeBound:
    """Return the best bound of a search as a result, with v as a direction and a margin."""
    length = math.hypot(*best.v)
    u, margin = (best.v / length, 1.0 / length) if length else (best.v, None)
    scaled = best.scaled
    return MistakeBound(
        best.theorem.name,
        best.value,
        min(best.lower, best.value),
        1,
        scaled.radius,
        u[:-1],
        float(u[-1]),
        margin,
        best.loss,
        best.weights,
        len(scaled.points),
        question,
        certificate,
    )

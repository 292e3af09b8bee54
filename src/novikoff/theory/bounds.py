"""mistake_bound: how many mistakes a perceptron can make on given data, by four theorems.

With z = y * (x, constant), R = max |z|, and h_i = max(0, 1 - <v, z_i>) for a vector v = u / gamma of one's choice,

    novikoff          mistakes <= (R |v|)^2                                  if h = 0; over any number of passes
    freund-schapire   mistakes <= (R |v| + |h|_2)^2                          in one pass
    hinge             mistakes <= ((p + sqrt(p^2 + 4 |h|_1)) / 2)^2          in one pass, p = R |v|
    row-lengths       mistakes <= the largest M <= n with M - |h|_1 <= |v| sqrt(S(M))      in one pass,
                      S(M) the sum of the M largest |z|^2

Every v gives a true bound; here the best v is searched. All proofs start from the rows that were mistakes. The M of
them add up to w, and each one came where <w, z> <= 0, so that |w + z|^2 <= |w|^2 + |z|^2: in the end |w|^2 is at most
the sum of their |z|^2. In one pass they are M different rows, and that sum is at most S(M); it is at most M R^2 anyway.
So for every v

    sum over mistakes (1 - h_i)  <=  <w, v>  <=  |v| sqrt(S(M))  <=  sqrt(M) R |v|

and sum h_i over the mistakes is at most |h|_1, and at most sqrt(M) |h|_2. The function M - |h|_1 - |v| sqrt(S(M)) is
convex in M, because S is concave, and it is not above 0 at M = 0: it is above 0 from one M on, and no run gets there.
Where one row is much longer than the others, S(M) is far below M R^2.

The best bound that a theorem can give is known from its dual, over weights alpha >= 0 of the rows. For Freund and
Schapire,

    min_v R |v| + |h|_2   =   max sum alpha   with   |alpha|_2 <= 1,  |sum alpha_i z_i| <= R

because |h|_2 = max <alpha, 1 - Zv> over the alpha >= 0 of length 1 at most, and R |v| >= <v, sum alpha_i z_i>. For the
hinge, the bound s^2 is the smallest s^2 >= min_v s R |v| + |h|_1 = max sum alpha with alpha <= 1 and
|sum alpha_i z_i| <= s R, so any alpha <= 1 proves that no v brings the bound below

    min(A, (A R / B)^2)          A = sum alpha,  B = |sum alpha_i z_i|

(if B > sqrt(A) R, shrink alpha until it is not). The mistakes of any run, alpha = 1 there and 0 elsewhere, are such
weights: this is the theorem again. And as |alpha|_2^2 <= sum alpha where alpha <= 1, weights for the hinge, divided by
sqrt(A), are weights for Freund and Schapire that prove as much: **at its best the hinge bound is never above those of
Novikoff and of Freund and Schapire**, which have a simpler form, and Novikoff's holds for any number of passes. The
row-length bound is never above the hinge bound, whatever v. No v brings it below M if there are alpha <= 1 with sum M
and |sum alpha_i z_i| <= sqrt(S(M)), as min_v |v| sqrt(S(M)) + |h|_1 is then at least M; alpha with any sum A >= M prove
it if B M / A <= sqrt(S(M)), since they may be shrunk.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff.errors import CertificateError, DataError
from novikoff.inputs.labels import encode_labels
from novikoff.theory.certificates import Certificate, Separable, Verdicts
from novikoff.theory.checkers.separator import check_separator
from novikoff.theory.hinge_bounds import (
    UP,
    BestBound,
    FreundSchapireBound,
    HingeBound,
    NewtonDescent,
    RowLengthBound,
    ScaledPoints,
)
from novikoff.theory.mistake_bounds import MistakeBound
from novikoff.theory.questions import Question, names_of
from novikoff.theory.row_changes import RowChange
from novikoff.theory.separability import certify, read_data
from novikoff.theory.signed_points import SignedPoints

__all__ = ["MistakeBound", "mistake_bound"]


def mistake_bound(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    positive: Any = None,
    certificate: Certificate | Verdicts | None = None,
    u: Any = None,
    margin: float | None = None,
    center: bool = False,
    constant: float = 1.0,
    unit_length: bool = False,
) -> MistakeBound:
    """Bound the mistakes of a perceptron on these rows in any order: the smallest bound of four theorems.

    The perceptron starts at w = 0 and adds y * x whenever y <w, x> <= 0. For every v, with p = R |v| and
    h_i = max(0, 1 - y_i <v, x_i>), its mistakes in one pass are at most (p + |h|_2)^2 (Freund and Schapire) and
    ((p + sqrt(p^2 + 4 |h|_1)) / 2)^2 (hinge), and at most the largest M with M - |h|_1 <= |v| sqrt(S(M)), where S(M) is
    the sum of the M largest |x|^2 (row-lengths); if h = 0 they are at most p^2 = (R / margin)^2 over any number of
    passes (Novikoff). The best v is searched for each, and `lower` says how near to the best it is.

    Of bounds that allow the same number of mistakes, the one that holds for more passes is returned, and otherwise the
    simpler one; all are in `candidates`.

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
    u : array of shape (n_features,) or (n_features + 1,), optional
        A direction of your own, with a last entry for the constant coordinate where there is one; it is divided by its
        length. With `margin`, the bounds are those of v = u / margin, and nothing is searched. Freund and Schapire's is
        ((R + D) / margin)^2, where D is ``bound.candidates["freund-schapire"].deviation``.
    margin : float, optional
        gamma > 0, the margin that u should attain, for `u`.
    center, unit_length : bool, default=False
        Bound the mistakes on rows minus the mean of each column, or divided by their length (with the constant), so
        that R = 1; `compare_bounds` tells which of them helps.
    constant : float, default=1.0
        The constant coordinate of rows with fit_intercept. If it is not 1, or rows are divided by their length, `u` has
        it as its last entry and `intercept` is 0.

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
    change = RowChange(center, constant if fit_intercept else 0.0, unit_length)
    if change == RowChange(constant=1.0) or change == RowChange():
        change = RowChange()
    else:
        X, fit_intercept = change.apply(X), fit_intercept and not change.constant
    rows, labels = read_data(X, y)
    question = _make_question(labels, fit_intercept, positive)
    points = SignedPoints(rows, question.signs(labels), question.constant)
    if certificate is None:
        certificate = certify(rows, labels, fit_intercept=fit_intercept, positive=positive)
    answer, side = _match_certificate(certificate, points, labels, positive)
    scaled = ScaledPoints(points)
    if u is not None or margin is not None:
        candidates = _bounds_of(_read_direction(u, margin, scaled), scaled, question, answer)
    else:
        candidates = _search(scaled, question, answer, side)
    smallest = min(candidates.values(), key=lambda bound: bound.mistakes)  # the first of equals
    return replace(smallest, candidates=candidates).with_change(change)


def _search(scaled: ScaledPoints, question: Question, answer: Certificate, side: int) -> dict[str, MistakeBound]:
    """Return the best bound of each theorem."""
    candidates = {}
    separator = None
    if isinstance(answer, Separable) and answer.margin:
        novikoff = _novikoff_bound(scaled, answer, side, question)
        if novikoff.value < math.inf:
            candidates["novikoff"], separator = novikoff, answer
    v = np.zeros(scaled.size)
    for theorem in (FreundSchapireBound(), HingeBound(), RowLengthBound(scaled)):
        best = BestBound(theorem, scaled, v)
        if separator is not None:
            _use_certificate(best, separator, side)
        if not best.is_tight:
            NewtonDescent(theorem, scaled, v).improve(best)
        candidates[theorem.name], v = _to_mistake_bound(best, question, answer), best.v
    return candidates


def _read_direction(u: Any, margin: float | None, scaled: ScaledPoints) -> np.ndarray:
    """Return v = u / (|u| margin), the bias last."""
    if u is None or margin is None:
        raise DataError("A bound for a direction of your own needs both u and margin.")
    if not 0.0 < margin < math.inf:
        raise DataError(f"margin must be a number > 0, found {margin!r}.")
    direction, has_constant = np.asarray(u, np.float64).ravel(), bool(scaled.points.constant)
    if len(direction) == scaled.size - 1:
        direction = np.append(direction, 0.0)
    if len(direction) != scaled.size or (direction[-1] and not has_constant):
        last = ", or one more for the constant coordinate" if has_constant else ""
        raise DataError(f"u must have {scaled.size - 1} numbers{last}; it has {len(np.ravel(u))}.")
    length = math.hypot(*direction)
    if not 0.0 < length < math.inf:
        raise DataError("u must be a direction: finite numbers, not all 0.")
    return direction / length / margin


def _bounds_of(v: np.ndarray, scaled: ScaledPoints, question: Question, answer: Certificate) -> dict[str, MistakeBound]:
    """Return what each theorem says of v."""
    found = {}
    for theorem in (FreundSchapireBound(), HingeBound(), RowLengthBound(scaled)):
        best = BestBound(theorem, scaled, np.zeros(scaled.size))
        best.use_vector(v)
        found[theorem.name] = replace(_to_mistake_bound(best, question, answer), is_given=True)
    hinge, points = found["hinge"], scaled.points
    margin = 1.0 / math.hypot(*v)
    try:
        check_separator(points.rows.matrix, points.signs, hinge.u, hinge.intercept, margin, points.constant)
    except CertificateError:
        return found
    ratio = scaled.radius / margin
    novikoff = replace(
        hinge, theorem="novikoff", margin=margin, value=ratio * ratio * UP, lower=0.0, passes="any", loss=0.0
    )
    return {"novikoff": novikoff, **found}


def _make_question(y: np.ndarray, fit_intercept: bool, positive: Any) -> Question:
    """Return the question about the positive class against the rest; by default the larger of two."""
    names = names_of(encode_labels(y)[0])
    if positive is not None:
        return Question.against_rest(positive, names, fit_intercept, len(y))
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

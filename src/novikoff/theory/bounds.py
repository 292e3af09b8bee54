"""How many mistakes a perceptron can make on given data: three theorems, each at its best.

With z = y * (x, constant), R = max |z|, and h_i = max(0, 1 - <v, z_i>) for a vector v = u / gamma of one's choice,

    novikoff          mistakes <= (R |v|)^2                                  if h = 0; over any number of passes
    freund-schapire   mistakes <= (R |v| + |h|_2)^2                          in one pass
    hinge             mistakes <= ((p + sqrt(p^2 + 4 |h|_1)) / 2)^2          in one pass, p = R |v|

Every v gives a true bound; here the best v is searched. All three proofs weigh the rows that were mistakes: M of them
add up to w with |w| <= sqrt(M) R, so that for every v

    sum over mistakes (1 - h_i)  <=  <w, v>  <=  sqrt(M) R |v|

and sum h_i over the mistakes is at most |h|_1, and at most sqrt(M) |h|_2.

How good a theorem can get is told by its dual, over weights alpha >= 0 of the rows. For Freund and Schapire,

    min_v R |v| + |h|_2   =   max sum alpha   with   |alpha|_2 <= 1,  |sum alpha_i z_i| <= R

because |h|_2 = max <alpha, 1 - Zv> over the alpha >= 0 of length 1 at most, and R |v| >= <v, sum alpha_i z_i>. For the
hinge, the bound s^2 is the smallest s^2 >= min_v s R |v| + |h|_1 = max sum alpha with alpha <= 1 and
|sum alpha_i z_i| <= s R, so any alpha <= 1 proves that no v brings the bound below

    min(A, (A R / B)^2)          A = sum alpha,  B = |sum alpha_i z_i|

(if B > sqrt(A) R, shrink alpha until it is not). The mistakes of any run, alpha = 1 there and 0 elsewhere, are such
weights: this is the theorem again. And as |alpha|_2^2 <= sum alpha where alpha <= 1, weights for the hinge, divided by
sqrt(A), are weights for Freund and Schapire that prove as much: **at its best the hinge bound is never above the
other two**. What they have that it has not is a simpler form, and for Novikoff's, passes without number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from novikoff.errors import DataError
from novikoff.labels import encode
from novikoff.readable import Readable
from novikoff.theory.certificates import Certificate, Separable, Verdicts
from novikoff.theory.hinges import UP, Account, Descent, FreundSchapire, Hinge, Problem
from novikoff.theory.points import Points
from novikoff.theory.separability import certify, names_of, read_data

__all__ = ["MistakeBound", "mistake_bound"]


@dataclass(frozen=True, eq=False, repr=False)
class MistakeBound(Readable):
    """The most mistakes that a perceptron can make on some data, and the theorem that says so.

    Attributes
    ----------
    theorem : {"novikoff", "freund-schapire", "hinge"}
    value : float
        The bound, rounded up.
    mistakes : int
        The whole mistakes in it.
    passes : 1 or "any"
        Over how many passes it holds; in one, each row is met once. The order is free.
    lower : float
        No choice of v makes this theorem prove less than this (rounded down): value - lower is what a longer search
        could still gain.
    radius : float
        R, the longest row, the constant coordinate included (rounded up).
    u, intercept : ndarray, float
        The direction that gives this bound, of length 1 together with its intercept; zeros if no direction gives
        less than one mistake for each row.
    margin : float or None
        gamma, what u is asked to attain; None if u is zero. v = u / gamma.
    loss : float
        |h|_2 of the rows that fall short of it for "freund-schapire", |h|_1 for "hinge", else 0; rounded up.
    n_rows : int
    candidates : mapping
        The best of each theorem, by name; "novikoff" only where the data are separable.
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
    n_rows: int
    candidates: Mapping[str, MistakeBound] = field(default_factory=dict)

    @property
    def mistakes(self) -> int:
        return math.floor(self.value)

    @property
    def gap(self) -> float:
        """How far the bound may be from the best that its theorem can prove."""
        return max(0.0, self.value - self.lower)

    @property
    def deviation(self) -> float | None:
        """The same as `loss`, for the unit vector u: Freund and Schapire's D, with (R + D)^2 / gamma^2."""
        return None if self.margin is None else self.margin * self.loss

    def _lines(self) -> list[tuple[str, str]]:
        lines = [("radius R", f"{self.radius:.6g}")]
        if self.margin is None:
            lines.append(("direction", "none: one mistake for each row is the best it can prove"))
        else:
            lines.append(("margin", f"{self.margin:.6g}"))
        if self.loss:
            lines.append((_LOSSES[self.theorem], f"{self.loss:.6g}"))
        known = {name: candidate._summary() for name, candidate in self.candidates.items()}
        return lines + [(name, known.get(name, "not separable")) for name in _FORMULAS if known]

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
    """The tightest of the known bounds on the mistakes of a perceptron on these rows, whatever their order.

    The perceptron starts at w = 0 and adds y * x whenever y <w, x> <= 0. For every v, with p = R |v| and
    h_i = max(0, 1 - y_i <v, x_i>), its mistakes in one pass are at most (p + |h|_2)^2 (Freund and Schapire) and
    ((p + sqrt(p^2 + 4 |h|_1)) / 2)^2 (hinge); if h = 0 they are at most p^2 = (R / margin)^2 over any number of
    passes (Novikoff). The best v is searched for each, and `lower` says how near to the best it is.

    Of bounds that allow the same number of mistakes, the one that holds for more passes is returned; all three are
    in `candidates`.

    Parameters
    ----------
    X : 2-D array or sparse matrix
        It is read in place, about a hundred times.
    y : array of labels
        Two of them, or more and `positive`.
    fit_intercept : bool, default=True
        Whether rows have a constant coordinate 1. It is part of the radius.
    positive : label, optional
        The class on the positive side, against all others.
    certificate : optional
        What `certify` said of the same X and y, if it is known already.

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
    other are as inseparable, but most of them agree.

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
    points = Points(rows, _signs(labels, positive), 1.0 if fit_intercept else 0.0)
    if certificate is None:
        certificate = certify(rows, labels, fit_intercept=fit_intercept, positive=positive)
    certificate, side = _about(certificate, points, labels, positive)
    problem = Problem(points)
    found = {}
    separator = None
    if isinstance(certificate, Separable) and certificate.margin:
        novikoff = _novikoff(problem, certificate, side)
        if novikoff.value < math.inf:
            found["novikoff"], separator = novikoff, certificate
    v = np.zeros(problem.size)
    for theorem in (FreundSchapire(), Hinge()):
        account = Account(theorem, problem, v)
        if separator is not None:
            _offer_certificate(account, separator, side)
        if not account.is_settled:
            Descent(theorem, problem, v).improve(account)
        found[theorem.name], v = _bound(account), account.v
    best = min(found.values(), key=lambda bound: bound.mistakes)  # the first of equals
    return replace(best, candidates=found)


def _signs(y: np.ndarray, positive: Any) -> np.ndarray:
    """+1 for the positive class, the larger of two if none is named, and -1 for the rest."""
    classes, codes = encode(y)
    if positive is not None:
        if positive not in names_of(classes):
            raise DataError(f"The label {positive!r} is not in y, whose labels are {names_of(classes)!r}.")
        return np.where(y == positive, 1, -1)
    if len(classes) > 2:
        raise DataError(f"A mistake bound speaks of two classes, y has {len(classes)}. Pass positive=, the class to "
                        "set against all others.")  # fmt: skip
    return np.where(codes == len(classes) - 1, 1, -1)


def _about(certificate: Certificate | Verdicts, points: Points, y: np.ndarray, positive: Any) -> tuple[Any, int]:
    """The certificate for our question, and -1 if it calls negative what we call positive, else +1."""
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
            and _may_hold(certificate, points, side)
        ):
            return certificate, side
    raise DataError(f"The certificate ({question}, {certificate.n_rows} rows, fit_intercept={question.fit_intercept}) "
                    "is not about these data. Leave it out, or pass the same X, y, fit_intercept and positive to "
                    "certify.")  # fmt: skip


def _may_hold(certificate: Certificate, points: Points, side: int) -> bool:
    """Whether doubles find nothing wrong with a separator: it may come from other data."""
    if not isinstance(certificate, Separable):
        return True
    v = _separator(certificate, side)
    return bool((points.margins(v) + points.rounding(v) >= certificate.margin * np.linalg.norm(v)).all())


def _novikoff(problem: Problem, certificate: Separable, side: int) -> MistakeBound:
    v = _separator(certificate, side)
    u = v / (np.linalg.norm(v) or 1.0)
    # A product overflows to inf, a power would raise.
    ratio, best = problem.radius / certificate.margin, problem.radius / certificate.margin_upper
    return MistakeBound("novikoff", ratio * ratio * UP, best * best * (1.0 - problem.rounding), "any", problem.radius,
                        u[:-1], float(u[-1]), certificate.margin, 0.0, len(problem.points))  # fmt: skip


def _separator(certificate: Separable, side: int) -> np.ndarray:
    """It is made of fractions where its margin is too thin for doubles; then doubles near them have to do."""
    return side * np.append(certificate.separator, certificate.intercept).astype(float)


def _offer_certificate(account: Account, certificate: Separable, side: int) -> None:
    """The separator makes every h zero; its support proves how good this is."""
    with np.errstate(over="ignore"):
        account.offer(_separator(certificate, side) / certificate.margin)
    alpha = np.zeros(certificate.n_rows)
    alpha[certificate.support] = certificate.multipliers
    account.offer_weights(alpha)


def _bound(account: Account) -> MistakeBound:
    length = math.hypot(*account.v)
    u, margin = (account.v / length, 1.0 / length) if length else (account.v, None)
    problem = account.problem
    return MistakeBound(account.theorem.name, account.value, min(account.lower, account.value), 1, problem.radius,
                        u[:-1], float(u[-1]), margin, account.loss, len(problem.points))  # fmt: skip

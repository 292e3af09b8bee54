"""fewest_errors: proved bounds on the number of rows that the best half-space gets wrong.

Finding the number is NP-hard (Johnson & Preparata 1978). From above it is bounded by any half-space; from below by
witnesses, of each of which every half-space errs on a row. The search goes on until both meet or time is up:

    1  group rows that are the same point, or opposite points (distinct_points.py)
    2  guess half-spaces that may err little; for each row that one of them errs on, look whether another half-space
       is right on it as well (half_space_guesses.py)
    3  find witnesses that share no row; their number is a lower bound
    4  find the cheapest set of rows that hits all witnesses found (hitting_sets.py): if the rest is separable without
       it, no half-space errs less; otherwise the rest has new witnesses
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from novikoff._compiled import working_time
from novikoff.errors import CertificateError, DataError
from novikoff.inputs.labels import Labels, encode_labels
from novikoff.theory.certificates import Certificate, Inseparable
from novikoff.theory.checkers.fewest_errors import check_fewest_errors, check_rows_right, check_rows_wrong
from novikoff.theory.checkers.fields import (
    require_array,
    require_integers,
    require_numbers,
    require_row_indices,
    require_sequence,
    require_type,
)
from novikoff.theory.checkers.witness import check_multipliers, check_witness
from novikoff.theory.fewest_errors_search import BoundsListener, FewestErrorsSearch
from novikoff.theory.questions import TIES, Question, names_of
from novikoff.theory.separability import read_data
from novikoff.theory.signed_points import SignedPoints

__all__ = ["FewestErrors", "fewest_errors"]

_LONGEST = 1e9  # seconds: no limit in practice


@dataclass(frozen=True, eq=False, repr=False)
class FewestErrors(Certificate):
    """Bounds on the errors of the best half-space, lower <= errors <= upper, with a proof of each.

    A row is an error of w if y <w, x> <= 0: one on the boundary is wrong, whatever its label.

    Attributes
    ----------
    lower, upper : int
        Every half-space errs on at least `lower` rows; `separator` errs on `upper`.
    separator, intercept : ndarray, float
        A half-space that has every row strictly on its side but `rows_wrong`.
    rows_wrong : ndarray
        The rows it errs on, `upper` of them.
    witnesses : tuple of Inseparable
        Every half-space errs on at least one row of each. Identical rows with the same label are wrong together, so
        one of them stands for all its copies.
    shares : tuple of Fraction
        One for each witness; the shares of the witnesses that a row is in never sum to more than there are copies of
        it. Then no half-space errs on fewer rows than all shares sum to: with distinct rows and witnesses that have no
        row in common, each share is 1 and this counts them. Where the sum falls short of `lower`, a proof by cases,
        over the sets of rows that hit all witnesses, makes up for it.
    """

    question: Question
    lower: int
    upper: int
    separator: np.ndarray
    intercept: float
    rows_wrong: np.ndarray
    witnesses: tuple[Inseparable, ...]
    shares: tuple[Fraction, ...]
    n_rows: int
    n_features: int

    @property
    def is_exact(self) -> bool:
        """Whether the two bounds meet."""
        return self.lower == self.upper

    def __bool__(self) -> bool:
        """Whether there is a half-space without errors."""
        return self.upper == 0

    def _check_types(self) -> None:
        require_integers(lower=self.lower, upper=self.upper)
        require_array(separator=self.separator)
        require_numbers(intercept=self.intercept)
        require_row_indices(rows_wrong=self.rows_wrong)
        require_sequence(shares=self.shares)
        require_type("witnesses", self.witnesses, tuple, list)
        for witness in self.witnesses:
            require_type("witnesses", witness, Inseparable)
            witness._check_types()

    def _check(self, X: Any, signs: np.ndarray) -> None:
        constant = self.question.constant
        if not 0 <= self.lower <= self.upper or len(self.rows_wrong) != self.upper:
            raise CertificateError(
                f"Bounds {self.lower} and {self.upper} do not go with {len(self.rows_wrong)} rows that are wrong."
            )
        if self.n_features or constant:
            half_space = self.separator, self.intercept, self.rows_wrong, constant
            check_rows_wrong(X, signs, *half_space)
            check_rows_right(X, signs, *half_space)
        elif len(np.unique(self.rows_wrong)) != self.n_rows or len(self.separator) or self.intercept:
            raise CertificateError("Without columns and intercept there is no half-space, and every row is wrong.")
        for witness in self.witnesses:
            about = (witness.question, witness.n_rows, witness.n_features)
            if about != (self.question, self.n_rows, self.n_features):
                raise CertificateError("A witness is about another question, or about other rows, than the bounds.")
            check_multipliers(witness.multipliers)
            check_witness(X, signs, witness.rows, witness.multipliers, constant)
        sets = [witness.rows for witness in self.witnesses]
        check_fewest_errors(X, signs, sets, self.shares, self.lower, constant)

    def _title(self) -> str:
        number = f"{self.upper}" if self.is_exact else f"between {self.lower} and {self.upper}"
        return f"{self.question}: the best half-space errs on {number} of {self.n_rows} rows"

    def _lines(self) -> list[tuple[str, str]]:
        total = sum(self.shares)
        sets = "1 set" if len(self.witnesses) == 1 else f"{len(self.witnesses)} sets"
        proof = f"{sets} of rows that no half-space gets all right"
        if self.lower == 0:
            proof = "none needed"
        elif math.ceil(total) < self.lower:
            proof += ", and cases"
        return [
            ("at most", f"{self.upper}, the errors of the separator: rows {_list_rows(self.rows_wrong)}"),
            ("at least", f"{self.lower}: {proof}"),
        ]


def fewest_errors(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool = True,
    positive: Any = None,
    ties: str = "wrong",
    time_limit: float = 60.0,
    verbose: bool = False,
    progress: BoundsListener | None = None,
) -> FewestErrors:
    """Bound how many rows the best half-space gets wrong, from both sides, with proofs.

    A row is an error of w if y <w, x> <= 0. NP-hard in general: hundreds of rows with few columns or few errors are
    solved exactly. On noisy data a gap stays: in general position a witness has d + 1 rows, d the dimension with the
    constant coordinate, and shares then cannot prove more than n / (d + 1) errors.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, d)
    y : array of shape (n,)
        Two labels, the larger one positive; more need `positive`.
    fit_intercept : bool
        Whether every row has a constant coordinate 1.
    positive : label, optional
        Count the errors of this label against the rest.
    ties : {"wrong", "positive"}
        What a row on the boundary counts as. With an intercept the fewest errors are the same for both: a slightly
        larger bias moves positive rows off the boundary. Without one only "wrong" is supported.
    time_limit : float
        Seconds after which the best bounds so far are returned; Ctrl-C returns them at once, and raises nothing. A
        single question to `certify` is not interrupted. Two runs differ only if one has less time than the other.
    verbose : bool
        Whether to write the bounds to standard error whenever one improves.
    progress : function of (lower, upper), optional
        Called whenever one of the bounds improves.

    Returns
    -------
    FewestErrors
        `verify` checks it against the data.

    References
    ----------
    Johnson & Preparata 1978 (hardness); Chandrasekaran, Karp, Moreno-Centeno & Vempala 2011 (implicit hitting sets);
    Gallant 1990 (the pocket).

    Examples
    --------
    >>> import novikoff as nk
    >>> fewest = nk.fewest_errors([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])  # XOR
    >>> fewest.is_exact, fewest.upper
    (True, 1)
    """
    start = working_time()
    if not time_limit >= 0.0:
        raise ValueError(f"time_limit must be a number of seconds >= 0, found {time_limit!r}.")
    if ties not in TIES or (ties != "wrong" and not fit_intercept):
        raise ValueError(
            f"ties must be one of {', '.join(map(repr, TIES))}, and 'wrong' without an intercept; found {ties!r}."
        )
    rows, labels = read_data(X, y)
    question = replace(_make_question(labels, fit_intercept, positive), ties=ties)
    signs = question.signs(labels)
    search = FewestErrorsSearch(
        SignedPoints(rows, signs, question.constant), question, start + min(time_limit, _LONGEST)
    )
    if verbose:
        search.listeners.append(_Printer(start, len(rows)))
    if progress is not None:
        search.listeners.append(progress)
    search.run()
    return _result(search, signs)


def _make_question(labels: np.ndarray, fit_intercept: bool, positive: Any) -> Question:
    names = names_of(encode_labels(labels)[0])
    if positive is not None:
        return Question.against_rest(positive, names, fit_intercept, len(labels))
    if len(names) > 2:
        raise DataError(
            f"Found {len(names)} labels, {names!r}: a half-space separates two. "
            "Pass positive=label to set one of them against the rest."
        )
    negative, positive = Labels(names).of_code
    return Question(positive, negative, fit_intercept, n_asked=len(labels))


class _Printer:
    """Prints the bounds to standard error whenever one improves."""

    def __init__(self, start: float, n_rows: int) -> None:
        self.start, self.n_rows = start, n_rows

    def __call__(self, lower: int, upper: int) -> None:
        seconds = working_time() - self.start
        print(f"{seconds:7.1f} s  between {lower} and {upper} of {self.n_rows} rows", file=sys.stderr)


def _result(search: FewestErrorsSearch, signs: np.ndarray) -> FewestErrors:
    w, signs_of_points = search.final_half_space()
    wrong = search.distinct.rows_wrong(signs_of_points)
    given = search.distinct.unscale_weights(w)
    witnesses, shares = search.witnesses(search.proof)
    return FewestErrors(
        search.question,
        search.distinct.unavoidable + search.least,
        len(wrong),
        given[:-1],
        given[-1],
        wrong,
        tuple(witnesses),
        tuple(shares),
        len(signs),
        search.given.rows.n_features,
    )


_MOST_LISTED = 12


def _list_rows(values: np.ndarray) -> str:
    """Return the first few row numbers, and how many more there are."""
    more = f" and {len(values) - _MOST_LISTED} more" if len(values) > _MOST_LISTED else ""
    return (", ".join(map(str, values[:_MOST_LISTED].tolist())) or "none") + more

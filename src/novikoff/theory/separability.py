"""certify: decide whether data are separable, and prove it.

Rows x with signs y are separable iff 0 is not in the convex hull of the points z = y * (x, constant); the margin is the
distance of that hull from 0, and the best separator points along its nearest point. How that is decided and proved is
in decision.py; with a kernel, rows are known by their kernel values, and feature_space.py says why that is enough.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.inputs.labels import Labels, encode_labels
from novikoff.inputs.rows import Rows
from novikoff.kernel_methods.kernels import Kernel, resolve
from novikoff.kernel_methods.matrices import are_objects
from novikoff.theory.certificates import Certificate, Verdicts
from novikoff.theory.decision import METHODS, certify_signs
from novikoff.theory.exact_inputs import explain_overflow, require_doubles
from novikoff.theory.feature_space import certify_features
from novikoff.theory.kernel_values import KernelValues
from novikoff.theory.questions import TIES, Question, names_of
from novikoff.theory.search_clock import MarginListener, SearchClock

__all__ = ["certify", "certify_classes", "certify_signs", "read_data"]


def certify(
    X: Any,
    y: Any,
    *,
    fit_intercept: bool | None = None,
    positive: Any = None,
    method: str = "hull",
    tol: float = 1e-9,
    kernel: Any = None,
    degree: float = 3,
    gamma: float | None = None,
    coef0: float = 1.0,
    ties: str = "wrong",
    time_limit: float | None = None,
    verbose: bool = False,
    progress: MarginListener | None = None,
) -> Certificate | Verdicts:
    """Decide whether a half-space can have every row on its side, and prove it.

    Separable if and only if some w has y <w, x> > 0 for every row; the answer is exact for the numbers as doubles,
    however large or small, up to rows of length 1e145 (longer ones are refused), and `verify` checks its proof by other
    means. With a kernel, w and x are those of its feature space. The answer is exact for "linear", "poly" and matrices
    of integers. For "rbf", "laplacian" and "hamming" it is true of the kernel; other matrices, and the values of a
    user's own function, are taken as given. Where rounding could change it, a CertificateError says so.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of shape (n, d)
        As doubles; float32, float64 and CSR are not copied. Integers that no double is equal to, which there are above
        2^53, are refused. Entries of a sparse matrix that are in the same cell are added in the order in which they are
        stored. With a user's own kernel also a list of objects.
    y : array of shape (n,)
        Labels. The larger of two is the positive one. More than two give `Verdicts`: every class against the rest,
        and every pair.
    fit_intercept : bool, optional
        Whether every row has a constant coordinate 1. As for the estimators, True by default, and False with a kernel.
    positive : label, optional
        Decide only about this label against the rest.
    method : {"hull", "lp"}
        Wolfe's nearest point of the hull; or a linear program (SciPy's HiGHS) to start from, slow, as a second
        opinion.
    tol : float
        How far apart margin_lower and margin_upper may be, as a fraction, but for their rounding to doubles. Doubles
        usually leave 1e-12; what they leave beyond `tol` is closed in exact arithmetic, in some steps or, if `tol` is
        below the default, in as many as it takes. Not so with more than 200 support rows, or a kernel whose values are
        rounded. Where a gap stays, the two margins state what is proved.
    kernel, degree, gamma, coef0
        As in `KernelPerceptron`: a name, or a function of two blocks of rows, of two rows or of two objects. The matrix
        of all rows is made, n^2 numbers.
    ties : {"wrong", "positive"}
        What a row on the boundary counts as: wrong, or positive, which is the convention sign(0) = +1. Then rows are
        separable if and only if some w has <w, x> >= 0 for the positive rows and <w, x> < 0 for the negative ones. With
        an intercept the verdict is the same; without one, `ClosedSeparable` is a separator that has rows on its
        boundary. Not with a kernel.
    time_limit : float, optional
        Seconds for each question, without those of compiling. The verdict comes first, the largest margin after it:
        when time is up, or on Ctrl-C, a separator that is proved is returned with the two margins proved by then. A
        step of exact arithmetic, or of a linear program, is not interrupted.
    verbose : bool
        Whether to write the bounds on the margin to standard error, as the search improves them.
    progress : function of (lower, upper), optional
        Called with these bounds instead: numbers in doubles, not yet proved. A lower one above 0 means a separator; an
        upper one near 0 is what a witness has.

    Returns
    -------
    Separable, Inseparable or Verdicts
        True where separable.

    Raises
    ------
    TimeLimitError
        When time is up before the verdict; then nothing is known.

    References
    ----------
    Novikoff 1962; Gordan 1873 (either a separator or a witness exists); Carathéodory 1911 (d + 1 rows are enough, d
    the dimension with the constant coordinate: without an intercept one more than columns, with it two); Wolfe 1976.

    Examples
    --------
    >>> import novikoff as nk
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> certificate = nk.certify(X, [0, 1, 1, 1])  # OR
    >>> round(certificate.margin, 6), certificate.support.tolist()
    (0.333333, [0, 1, 2])
    >>> nk.certify(X, [0, 1, 1, 0])  # XOR
    Inseparable: 1 against 0
      rows           0, 1, 2, 3
      shares         0.25, 0.25, 0.25, 0.25
      proof          the rows, times their labels and these shares, add up to exactly 0
    >>> round(nk.certify(X, [0, 1, 1, 0], kernel="poly", degree=2, gamma=1).mistake_bound, 6)  # (1 + <x, z>)^2
    105.0
    """
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(map(repr, METHODS))}, found {method!r}.")
    if not 0.0 <= tol < 1.0:
        raise ValueError(f"tol must be a number in [0, 1), found {tol!r}.")
    if time_limit is not None and not time_limit >= 0.0:
        raise ValueError(f"time_limit must be a number of seconds >= 0, or None, found {time_limit!r}.")
    if ties not in TIES or (ties != "wrong" and kernel is not None):
        raise ValueError(
            f"ties must be one of {', '.join(map(repr, TIES))}, and 'wrong' with a kernel; found {ties!r}."
        )
    if fit_intercept is None:
        fit_intercept = kernel is None
    how = _How(method, tol, time_limit, verbose, progress)
    decide, labels = (
        _prepare_questions(X, y, how)
        if kernel is None
        else _prepare_kernel_questions(
            X, y, how, kernel=kernel, degree=degree, gamma=gamma, coef0=coef0, fit_intercept=fit_intercept
        )
    )
    names = names_of(encode_labels(labels)[0])

    def answer(question: Question) -> Certificate:
        return decide(replace(question, ties=ties))

    if positive is not None:
        return answer(Question.against_rest(positive, names, fit_intercept))
    if len(names) <= 2:
        negative, positive = Labels(names).of_code
        return answer(Question(positive, negative, fit_intercept))
    return certify_classes(answer, names, fit_intercept)


_Decide = Callable[[Question], Certificate]


def certify_classes(decide: _Decide, names: list[Any], fit_intercept: bool) -> Verdicts:
    """Decide about each class against the rest, then about each pair of classes."""
    return Verdicts(
        {name: decide(Question(name, None, fit_intercept, one_against_rest=True)) for name in names},
        {(one, other): decide(Question(other, one, fit_intercept)) for one, other in combinations(names, 2)},
    )


@dataclass(frozen=True)
class _How:
    """How to decide each question, and whom to tell of the progress."""

    method: str
    tol: float
    time_limit: float | None
    verbose: bool
    progress: MarginListener | None

    def start_clock(self) -> SearchClock:
        """Return the clock of one question."""
        clock = SearchClock(self.time_limit)
        listeners = [self.progress] if self.progress is not None else []
        if self.verbose:
            listeners.append(lambda lower, upper: _print_bounds(clock.seconds, lower, upper))
        clock.listeners += listeners
        return clock


def _print_bounds(seconds: float, lower: float, upper: float) -> None:
    kind = "separable" if lower > 0.0 else "undecided"
    print(f"{seconds:7.1f} s  {kind}, margin from {max(lower, 0.0):.6g} to {upper:.6g}", file=sys.stderr)


def _prepare_questions(X: Any, y: Any, how: _How) -> tuple[_Decide, np.ndarray]:
    """Return a function that decides questions about these rows, and their labels."""
    rows, labels = read_data(X, y)

    def decide(question: Question) -> Certificate:
        return certify_signs(rows, question.signs(labels), question, how.method, how.tol, how.start_clock())

    return decide, labels


def _prepare_kernel_questions(X: Any, y: Any, how: _How, **given: Any) -> tuple[_Decide, np.ndarray]:
    """Return a function that decides questions about these rows in feature space, and their labels."""
    as_given = X
    X = X if are_objects(X) or hasattr(X, "shape") else np.asarray(X)
    n_features = 0 if are_objects(X) else X.shape[1] if len(X.shape) == 2 else 0
    labels = _read_labels(y, len(X) if are_objects(X) else X.shape[0])
    function = resolve(**given, n_features=n_features)
    with explain_overflow(as_given):
        values = KernelValues(X, function)
    if isinstance(function, Kernel) or not are_objects(X):
        require_doubles(as_given)

    def decide(question: Question) -> Certificate:
        question = replace(question, kernel=function)
        clock = how.start_clock()
        return certify_features(values, question.signs(labels), question, n_features, how.method, how.tol, clock)

    return decide, labels


def read_data(X: Any, y: Any) -> tuple[Rows, np.ndarray]:
    """Read rows of numbers and one label for each, or raise a DataError."""
    with explain_overflow(X):
        rows = Rows.of(X, getattr(X, "columns", None))
    labels = _read_labels(y, len(rows))
    rows.require_numbers()
    require_doubles(X)
    return rows, labels


def _read_labels(y: Any, n_rows: int) -> np.ndarray:
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise DataError(f"Expected a 1-D array of labels, found {labels.ndim} dimension(s).")
    if len(labels) != n_rows:
        raise DataError(f"Found {n_rows} rows in X and {len(labels)} labels in y: each row needs one.")
    if not n_rows:
        raise DataError("Found no rows: there is nothing to separate.")
    _require_labels(labels)
    return labels


def _require_labels(labels: np.ndarray) -> None:
    """Require labels that are numbers, strings, booleans or dates, none of them missing."""
    if labels.dtype.kind in "cV":
        raise DataError(f"Labels of dtype {labels.dtype} cannot be sorted; use strings or real numbers.")
    if labels.dtype.kind == "O":
        lacking = [label is None or type(label).__name__ == "NAType" or label != label for label in labels.tolist()]
    else:
        lacking = labels != labels
    missing = np.flatnonzero(lacking)
    if missing.size:
        raise DataError(f"Input y contains NaN or None in row {missing[0]}, which is no label. Leave the row out.")
    if labels.dtype.kind == "O" and not all(np.isscalar(label) for label in labels.tolist()):
        raise DataError("Labels must be single values, strings or numbers; found some that hold others.")

"""Margins against the formula, with exact signs, and bad input."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import DataError
from tests.support.strategies import FORMATS
from tests.theory import problems

X = np.array([[5.0, 0.0], [0.0, 5.0], [5.0, 5.0]])


def formula(w, X, y, b=None):
    """y (<w, x> + b) / |(w, b)|, one row at a time."""
    length = math.sqrt(sum(v * v for v in w) + (0.0 if b is None else b * b))
    return [
        sign * (sum(v * u for v, u in zip(w, x, strict=True)) + (b or 0.0)) / length
        for x, sign in zip(X, y, strict=True)
    ]


@given(
    problem=problems.small(),
    seed=st.integers(0, 999),
    intercept=st.none() | st.integers(-3, 3),
    form=st.sampled_from(list(FORMATS)),
)
def test_the_formula(problem, seed, intercept, form):
    X, y = problem
    assume(len(set(y)) == 2)
    w = np.random.default_rng(seed).integers(-4, 5, X.shape[1]).astype(float)
    assume(w.any())
    expected = formula(w, X, y, intercept)
    found = nk.margins(w, FORMATS[form](X), y, intercept=intercept)
    assert found.dtype == np.float64
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert nk.margin(w, FORMATS[form](X), y, intercept=intercept) == found.min()


def test_by_hand():
    assert nk.margins([3.0, 4.0], X, [1, 1, -1]).tolist() == [3.0, 4.0, -7.0]
    assert nk.margin([3.0, 4.0], X, [1, 1, -1]) == -7.0
    assert nk.margin([3.0, 4.0], X, [1, 1, 1]) == 3.0
    assert isinstance(nk.margin([3.0, 4.0], X, [1, 1, 1]), float)
    assert nk.margin([1.0, 0.0], X, [1, -1, 1]) == 0.0  # on the boundary


def test_negative_on_the_wrong_side():
    assert nk.margins([1.0], [[2.0], [-3.0]], [-1, 1]).tolist() == [-2.0, -3.0]


def test_the_intercept_counts_in_the_norm():
    """(2, 2) and 1 have length 3."""
    assert nk.margins([2.0, 2.0], [[1.0, 1.0], [0.0, 0.0]], [1, -1], intercept=1.0) == pytest.approx([5 / 3, -1 / 3])
    with_zero = nk.margins([3.0, 4.0], X, [1, 1, -1], intercept=0.0)
    assert with_zero == pytest.approx([3.0, 4.0, -7.0])
    assert nk.margins([0.0, 0.0], X, [1, 1, -1], intercept=-2.0) == pytest.approx([-1.0, -1.0, 1.0])


def test_weights_of_estimators():
    """coef_ and intercept_ as scikit-learn shapes them."""
    y = [0, 0, 1]
    clf = nk.Perceptron().fit(X, y)
    found = nk.margins(clf.coef_, X, y, intercept=clf.intercept_)
    assert found == pytest.approx(formula(clf.coef_[0], X, [-1, -1, 1], float(clf.intercept_[0])))
    assert found.min() > 0


@given(problem=problems.small(), intercept=st.booleans())
def test_the_separator_attains_its_margin(problem, intercept):
    X, y = problem
    assume(len(set(y)) == 2)
    c = nk.certify(X, y, fit_intercept=intercept)
    assume(c)
    found = nk.margins(c.separator, X, y, intercept=c.intercept if intercept else None)
    assert found.min() == pytest.approx(c.margin, rel=1e-9)
    assert found[c.support] == pytest.approx(np.full(len(c.support), c.margin), rel=1e-6)


def test_length_of_w_does_not_matter():
    for scale in (1e-300, 1e-200, 1e-20, 1e20, 1e200):
        assert nk.margins(np.array([3.0, 4.0]) * scale, X, [1, 1, -1]) == pytest.approx([3.0, 4.0, -7.0])


@pytest.mark.parametrize("labels", [(-1, 1), (0, 1), (False, True), ("ham", "spam"), (3, 7)], ids=str)
def test_the_larger_label_is_positive(labels):
    y = [labels[1], labels[1], labels[0]]
    assert nk.margins([3.0, 4.0], X, y).tolist() == [3.0, 4.0, -7.0]
    assert nk.margins([3.0, 4.0], pd.DataFrame(X, columns=["a", "b"]), pd.Series(y)).tolist() == [3.0, 4.0, -7.0]


@pytest.mark.parametrize(("label", "sign"), [(1, 1), ("a", 1), (0, -1), (-1, -1), (False, -1), (True, 1), (0.5, 1)])
def test_one_label(label, sign):
    """A number <= 0 alone is the negative one, as for learners."""
    assert nk.margin([1.0], [[2.0]], [label]) == 2.0 * sign


@pytest.mark.parametrize("label", [-1, 0, False, 1, "a"])
def test_one_label_certified(label):
    """certify and margins agree on which side a lone label is."""
    X, y = [[1.0], [2.0]], [label, label]
    c = nk.certify(X, y)
    assert nk.margin(c.separator, X, y, intercept=c.intercept) == pytest.approx(c.margin)


NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("w", "intercept", "match"),
    [
        ([0.0, 0.0], None, "not all zero"),
        ([0.0, 0.0], 0.0, "not all zero"),
        ([NAN, 1.0], None, "finite"),
        ([INF, 1.0], None, "finite"),
        ([1.0, 1.0], NAN, "finite"),
        ([1.0], None, "Expected 2 weights"),
        ([1.0, 1.0, 1.0], None, "Expected 2 weights"),
        ([], None, "Expected 2 weights"),
        ([1.0, 1.0], [1.0, 2.0], "Expected 2 weights"),
    ],
)
def test_invalid_weights(w, intercept, match):
    for ask in (nk.margins, nk.margin):
        with pytest.raises(DataError, match=match):
            ask(w, X, [1, 1, -1], intercept=intercept)


@pytest.mark.parametrize("w", [["a", "b"], [1j, 1.0]], ids=str)
def test_weights_that_are_not_real_numbers(w):
    with pytest.raises((ValueError, TypeError)):
        nk.margins(w, X, [1, 1, -1])


@pytest.mark.parametrize(
    ("rows", "y", "match"),
    [
        (X, [0, 1, 2], "two labels, found 3"),
        (X, [0, 1], "3 rows in X and 2 labels"),
        (X, [[0], [1], [1]], "1-D"),
        (X[0], [1, 0], "2-D"),
        (np.empty((0, 2)), [], "no rows"),
        ([[1.0, NAN]], [1], "NaN.*row 0, column 1"),
        ([[1.0, INF]], [1], "infinity"),
        ([[1.0, 1j]], [1], "Complex"),
        (sp.csr_array([[1.0, NAN]]), [1], "NaN"),
    ],
)
def test_bad_data(rows, y, match):
    with pytest.raises(DataError, match=match):
        nk.margin([1.0, 2.0], rows, y)


def exact_sign(w, x, sign, b):
    total = sum(Fraction(v) * Fraction(u) for v, u in zip(w, x, strict=True)) + Fraction(b or 0.0)
    return sign * ((total > 0) - (total < 0))


@pytest.mark.parametrize("form", list(FORMATS))
@pytest.mark.parametrize("exponent", [-1070, -600, -40, 0, 300, 900])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_sign_is_exact_near_the_plane(form, exponent, intercept):
    """Rows on the plane up to the last bit of their last entry; a tenth of them exactly on it."""
    rng = np.random.default_rng(abs(exponent) + intercept)
    w = rng.normal(size=5) * 2.0 ** rng.integers(-30, 30, 5)
    X = rng.normal(size=(400, 5)) * 2.0 ** rng.integers(-30, 30, (400, 5))
    b = float(rng.normal()) if intercept else None
    X[:, -1] = -(X[:, :-1] @ w[:-1] + (b or 0.0)) / w[-1]
    X[::3, -1] = np.nextafter(X[::3, -1], np.inf)
    X[::10] = 0.0 if b is None else X[::10]
    X = X.astype(np.float32).astype(float) if form == "float32" else X
    y = rng.choice([-1, 1], 400)
    y[:2] = -1, 1
    with np.errstate(under="ignore"):
        w = np.ldexp(w, exponent)
    b = None if b is None else math.ldexp(b, exponent)
    found = nk.margins(w, FORMATS[form](X), y, intercept=b)
    expected = [exact_sign(w, x, sign, b) for x, sign in zip(X.tolist(), y.tolist(), strict=True)]
    assert np.sign(found).tolist() == expected


def test_a_distance_that_underflows_keeps_its_sign():
    """1e-200 * 1e-200 is 0 as a double."""
    X = [[1e-200, 1.0], [-1e-200, 1.0], [0.0, 1.0]]
    found = nk.margins([1e-200, 1.0], np.array(X) * [1.0, 0.0], [1, 1, 1])
    assert found.tolist() == [math.ulp(0.0), -math.ulp(0.0), 0.0]
    assert nk.margin([1e-200, 1.0], np.array(X[:1]) * [1.0, 0.0], [1]) > 0.0

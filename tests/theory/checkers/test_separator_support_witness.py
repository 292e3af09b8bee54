"""Checkers of separators, supports and witnesses decide claims to the last bit."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import CertificateError
from novikoff.theory.checkers.separator import check_separator
from novikoff.theory.checkers.support import check_radius, check_support
from novikoff.theory.checkers.witness import check_witness
from tests.reference import separability as oracle
from tests.support.strategies import FORMATS
from tests.theory import problems

every_format = pytest.mark.parametrize("form", FORMATS)


def below(x):
    return math.nextafter(x, 0.0)


def above(x):
    return math.nextafter(x, math.inf)


def largest_double_below_root(squared):
    """The largest double that is no more than the square root."""
    root = above(math.sqrt(squared))
    while Fraction(root) ** 2 > squared:
        root = below(root)
    return root


def signs(*values):
    return np.array(values)


def fractions(*values):
    """An array of Fractions from numbers, or from pairs of numerator and denominator."""
    found = np.empty(len(values), object)
    found[:] = [Fraction(*v) if isinstance(v, tuple) else Fraction(v) for v in values]
    return found


def refuses(match):
    return pytest.raises(CertificateError, match=match)


# -- separators

# rows, signs, w, bias, constant, the largest double that is no more than the margin
SEPARATORS = {
    "3-4-5": ([[3, 4]], [1], [3.0, 4.0], 0.0, 0.0, 5.0),
    "2-2-1 with the constant": ([[2, 2]], [1], [2.0, 2.0], 1.0, 1.0, 3.0),
    "the nearest of three": ([[30, 4], [3, 4], [-6, -8]], [1, 1, -1], [3.0, 4.0], 0.0, 0.0, 5.0),
    # sqrt(2) = 1.41421356237309504..., and the double nearest to it is 1.41421356237309515
    "root of two": ([[1, 1]], [1], [1.0, 1.0], 0.0, 0.0, largest_double_below_root(Fraction(2))),
    "AND": (
        [[0, 0], [0, 1], [1, 0], [1, 1]],
        [-1, -1, -1, 1],
        [2.0, 2.0],
        -3.0,
        1.0,
        largest_double_below_root(Fraction(1, 17)),
    ),
}


@every_format
@pytest.mark.parametrize("case", SEPARATORS)
@pytest.mark.parametrize("scale", [1.0, 3.0, 2.0**-300, 2.0**300])
def test_separator_to_the_last_bit(case, form, scale):
    X, y, w, bias, constant, margin = SEPARATORS[case]
    X, y, w = FORMATS[form](X), signs(*y), np.array(w) * scale
    check_separator(X, y, w, bias * scale, margin, constant)
    check_separator(X, y, w, bias * scale, margin / 2, constant)
    with refuses("not on its side"):
        check_separator(X, y, w, bias * scale, above(margin), constant)
    with refuses("not on its side"):
        check_separator(X, y, -w, -bias * scale, margin, constant)


def test_separator_of_fractions():
    X, y = np.array([[3.0, 4.0]]), signs(1)
    check_separator(X, y, fractions((3, 7), (4, 7)), 0.0, 5.0, 0.0)
    with refuses("not on its side"):
        check_separator(X, y, fractions((3, 7), (4, 7)), 0.0, above(5.0), 0.0)
    tilted = fractions(Fraction(3, 7) + Fraction(1, 10**60), (4, 7))  # any other direction has a smaller margin
    with refuses("not on its side"):
        check_separator(X, y, tilted, 0.0, 5.0, 0.0)
    check_separator(X, y, tilted, 0.0, below(5.0), 0.0)
    check_separator(np.array([[2.0, 2.0]]), y, fractions((2, 3), (2, 3)), Fraction(1, 3), 3.0, 1.0)


def test_separator_thinner_than_rounding():
    """<w, x> = 2^-60, but in doubles the sum of the products is 0 or far from it."""
    X = np.array([[1.0, 1.0 + 2.0**-52]])
    w = fractions(-1 - Fraction(1, 2**52) + Fraction(1, 2**60), 1)
    thin = float(Fraction(1, 2**60)) / 2
    check_separator(X, signs(1), w, 0.0, thin, 0.0)
    with refuses("Row 0"):
        check_separator(X, signs(-1), w, 0.0, thin, 0.0)
    with refuses("Row 0"):
        check_separator(X, signs(1), w, 0.0, 2.0**-60, 0.0)


@pytest.mark.parametrize("sparse", [False, True])
def test_the_only_row_on_the_wrong_side_is_found(sparse):
    """In the first block, in the last, and between rows without a sign."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.standard_normal((20_000, 5))) + 1.0
    y = np.where(rng.random(20_000) < 0.7, 1, 0)
    w = np.ones(5)
    margin = 1.0
    for row in (0, 9_999, 19_999):
        y[row] = 1
    wrap = sp.csr_array if sparse else np.asarray
    check_separator(wrap(X), y, w, 0.0, margin, 0.0)
    for row in (0, 9_999, 19_999):
        worse = X.copy()
        worse[row] = -1e-9
        with refuses(f"Row {row} "):
            check_separator(wrap(worse), y, w, 0.0, margin, 0.0)
        y[row] = 0
        check_separator(wrap(worse), y, w, 0.0, margin, 0.0)
        y[row] = 1


@pytest.mark.parametrize("w", [[0.0, 0.0], [math.nan, 1.0], [math.inf, 1.0]], ids=str)
def test_invalid_weights(w):
    with refuses("not all zero|NaN or infinity"):
        check_separator(np.ones((1, 2)), signs(1), np.array(w), 0.0, 0.1, 0.0)


@pytest.mark.parametrize("margin", [0.0, -0.0, -1.0, math.nan, math.inf])
def test_invalid_margins(margin):
    with refuses("margin > 0|finite numbers"):
        check_separator(np.ones((1, 2)), signs(1), np.ones(2), 0.0, margin, 0.0)


@given(
    problem=problems.small(),
    seed=st.integers(0, 999),
    intercept=st.booleans(),
    form=st.sampled_from(list(FORMATS)),
    as_fractions=st.booleans(),
)
def test_separator_is_decided_exactly(problem, seed, intercept, form, as_fractions):
    """For any w of integers: the largest margin that is true, and the next double, which is not."""
    X, y = problem
    w = np.random.default_rng(seed).integers(-4, 5, X.shape[1] + 1).astype(float)
    w[-1] *= intercept
    Z = oracle.points(X, y, intercept)
    exact = oracle.exact(w if intercept else w[:-1])
    least = min(oracle.dot(exact, z) for z in Z)
    given_w = fractions(*w.tolist()) if as_fractions else w
    arguments = FORMATS[form](X), y, given_w[:-1], given_w[-1]
    constant = float(intercept)
    if least <= 0:
        with pytest.raises(CertificateError):
            check_separator(*arguments, 5e-324, constant)
        return
    margin = float(least) / math.sqrt(oracle.dot(exact, exact))
    for tried in (below(below(margin)), below(margin), margin, above(margin), above(above(margin))):
        if oracle.separator_holds(Z, exact, tried):
            check_separator(*arguments, tried, constant)
        else:
            with refuses("not on its side"):
                check_separator(*arguments, tried, constant)


# -- support


@every_format
def test_support_to_the_last_bit(form):
    """(16 (3, 0) + 9 (0, 4)) / 25 = (48, 36) / 25 has length 12/5, and the double 2.4 is a little less."""
    X, y, rows = FORMATS[form]([[3, 0], [0, -4], [5, 5]]), signs(1, -1, 1), np.array([0, 1])
    assert Fraction(2.4) < Fraction(12, 5) < Fraction(above(2.4))
    for multipliers in (np.array([16.0, 9.0]), fractions(16, 9), fractions((16, 25), (9, 25))):
        check_support(X, y, rows, multipliers, above(2.4), 0.0)
        with refuses("do not prove"):
            check_support(X, y, rows, multipliers, 2.4, 0.0)
        check_support(X, y, rows, multipliers, 100.0, 0.0)
    # with the constant, +1 and -1: 16/25 - 9/25 = 7/25, and 12^2/5^2 + 7^2/25^2 = 3649/625
    length = math.sqrt(3649 / 625)
    check_support(X, y, rows, np.array([16.0, 9.0]), length * (1 + 1e-15), 1.0)
    with refuses("do not prove"):
        check_support(X, y, rows, np.array([16.0, 9.0]), length * (1 - 1e-15), 1.0)


def test_support_of_integers():
    """3-4-5: no rounding at all."""
    X, y = np.array([[3.0, 4.0]]), signs(1)
    check_support(X, y, np.array([0]), np.array([1.0]), 5.0, 0.0)
    with refuses("do not prove"):
        check_support(X, y, np.array([0]), np.array([1.0]), below(5.0), 0.0)


@pytest.mark.parametrize(
    ("rows", "multipliers", "match"),
    [
        ([0, 1], [1.0, -0.5], "multiplier >= 0"),
        ([0, 1], [0.0, 0.0], "not all of them 0"),
        ([0, 1], [1.0], "one multiplier"),
        ([0], [0.5, 0.5], "one multiplier"),
        ([0, 0], [0.5, 0.5], "different"),
        ([0, 4], [0.5, 0.5], "lie in 0..3"),
        ([-1, 0], [0.5, 0.5], "lie in 0..3"),
        ([], [], "different"),
        ([0, 3], [0.5, 0.5], "is not about"),
    ],
)
def test_invalid_support(rows, multipliers, match):
    X, y = np.eye(4), signs(1, 1, -1, 0)
    with refuses(match):
        check_support(X, y, np.array(rows, int), np.array(multipliers), 10.0, 0.0)


# -- radius


@every_format
@pytest.mark.parametrize(
    ("row", "constant", "radius"),
    [
        ([3, 4], 0.0, 5.0),
        ([2, 2], 1.0, 3.0),
        ([-1, 1], 0.0, math.sqrt(2.0)),  # a little above the root
        ([1, 1], 1.0, above(math.sqrt(3.0))),  # sqrt(3.0) is a little below
        ([0, 0], 1.0, 1.0),
    ],
)
def test_radius_to_the_last_bit(form, row, constant, radius):
    X = FORMATS[form]([[0, 0], row, [1, 0], [9, 9]])
    y = signs(1, -1, 1, 0)
    if row == [0, 0]:
        X = FORMATS[form]([[0, 0], row, [0, 0], [9, 9]])
    check_radius(X, y, radius, constant)
    with refuses("No row is as long"):
        check_radius(X, y, radius * (1.0 + 1e-12), constant)
    with refuses("longer than the radius"):
        check_radius(X, y, below(radius), constant)


def test_radius_among_many():
    X = np.random.default_rng(0).random((20_000, 5))
    X[7_777] = 1.0
    y = np.ones(20_000, int)
    check_radius(X, y, math.sqrt(5), 0.0)
    X[19_999] = 1.001
    with refuses("Row 19999 is longer"):
        check_radius(X, y, math.sqrt(5), 0.0)
    y[19_999] = 0
    check_radius(X, y, math.sqrt(5), 0.0)


@given(problem=problems.small(), intercept=st.booleans(), form=st.sampled_from(list(FORMATS)))
def test_radius_is_decided_exactly(problem, intercept, form):
    X, y = problem
    Z = oracle.points(X, y, intercept)
    nearest = math.sqrt(max(oracle.dot(z, z) for z in Z))
    for radius in (below(nearest), nearest, above(nearest)):
        if oracle.radius_holds(Z, radius):
            check_radius(FORMATS[form](X), y, radius, float(intercept))
        else:
            with refuses("longer"):
                check_radius(FORMATS[form](X), y, radius, float(intercept))


# -- witnesses

TRIANGLE = [[2, 1], [-1, 1], [-1, -2]]  # (1, 1, 1) . triangle = 0


@every_format
def test_witness(form):
    X, y, rows = FORMATS[form]([*TRIANGLE, [7, 7]]), signs(1, 1, 1, 0), np.array([0, 1, 2])
    check_witness(X, y, rows, (Fraction(1),) * 3, 0.0)
    check_witness(X, y, rows, (Fraction(2, 3),) * 3, 0.0)
    check_witness(X, y, rows, (5, 5, 5), 0.0)
    check_witness(X, y, rows[::-1], (5, 5, 5), 0.0)
    check_witness(X, -y, rows, (1, 1, 1), 0.0)
    for multipliers in [(1, 1, 2), (Fraction(10**30 + 1, 10**30), 1, 1)]:
        with refuses("do not cancel"):
            check_witness(X, y, rows, tuple(map(Fraction, multipliers)), 0.0)
    with refuses("do not cancel: 1 coord"):  # the constant does not
        check_witness(X, y, rows, (Fraction(1),) * 3, 1.0)
    with refuses("do not cancel"):
        check_witness(X, signs(1, 1, -1, 0), rows, (Fraction(1),) * 3, 0.0)


def test_witness_to_the_last_bit():
    """Rows that cancel but for one unit in the last place of one cell; no tolerance lets them pass."""
    X = np.array([[0.1, 1e10], [-0.1, -1e10]])
    check_witness(X, signs(1, 1), np.array([0, 1]), (1, 1), 0.0)
    for cell in [(0, 0), (0, 1), (1, 0), (1, 1)]:
        off = X.copy()
        off[cell] = np.nextafter(off[cell], np.inf)
        with refuses("1 coordinates"):
            check_witness(off, signs(1, 1), np.array([0, 1]), (1, 1), 0.0)
    tiny = np.array([[1.0, 0.0], [-1.0, 5e-324]])
    with refuses("1 coordinates"):
        check_witness(tiny, signs(1, 1), np.array([0, 1]), (1, 1), 0.0)


@pytest.mark.parametrize(
    ("rows", "multipliers", "match"),
    [
        ([0, 1, 2], (1, 1), "one multiplier > 0"),
        ([0, 1, 2], (1, 1, 1, 1), "one multiplier > 0"),
        ([0, 1, 2], (1, 1, 0), "one multiplier > 0"),
        ([0, 1, 2], (-1, -1, -1), "one multiplier > 0"),
        ([0, 1, 1], (1, 1, 1), "different"),
        ([0, 1, 9], (1, 1, 1), "lie in 0..3"),
        ([0, 1, -2], (1, 1, 1), "lie in 0..3"),
        ([], (), "different"),
        ([0, 1, 3], (1, 1, 1), "is not about"),
    ],
)
def test_invalid_witnesses(rows, multipliers, match):
    X = np.array([*TRIANGLE, [-1, -2]], float)
    with refuses(match):
        check_witness(X, signs(1, 1, 1, 0), np.array(rows, int), tuple(map(Fraction, multipliers)), 0.0)


def test_a_witness_has_no_more_rows_than_needed():
    square = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    check_witness(square, signs(1, 1, 1, 1), np.array([0, 1]), (1, 1), 0.0)
    with refuses("no more than 2 rows"):
        check_witness(square, signs(1, 1, 1, 1), np.arange(4), (1, 1, 1, 1), 0.0)


# -- underflow, overflow, and claims that are NaN, infinite or negative


def test_a_margin_whose_square_underflows():
    """The row is 1e-250 away, not 1e-200."""
    check_separator(np.array([[1e-250]]), signs(1), np.ones(1), 0.0, 1e-250, 0.0)
    with refuses("not on its side"):
        check_separator(np.array([[1e-250]]), signs(1), np.ones(1), 0.0, 1e-200, 0.0)
    with refuses("not on its side"):
        check_separator(np.array([[1e-170]]), signs(1), np.ones(1), 0.0, above(1e-170), 0.0)


def test_a_separator_whose_square_overflows():
    check_separator(np.array([[1e100]]), signs(1), np.array([1e120]), 0.0, 1e100, 0.0)
    with refuses("not on its side"):
        check_separator(np.array([[1e100]]), signs(1), np.array([1e120]), 0.0, above(1e100), 0.0)


def test_weights_below_all_doubles():
    """The second weight is 0 as a double, and its product with 1e145 is what decides."""
    X, w = np.array([[1e-200, 1e145]]), fractions(1, (-2, 10**324))
    assert not oracle.separator_holds(oracle.points(X, [1], False), list(w), 1e-310)
    with refuses("not on its side"):
        check_separator(X, signs(1), w, 0.0, 1e-310, 0.0)


def test_weights_beyond_all_doubles():
    check_separator(np.array([[3.0, 4.0]]), signs(1), fractions(3 * 10**400, 4 * 10**400), 0.0, 5.0, 0.0)


def test_a_radius_whose_square_underflows():
    """A hundred squares that each are 0 as doubles."""
    X = np.full((1, 100), 1.5e-162)
    check_radius(X, signs(1), above(1.5e-161), 0.0)
    with refuses("longer"):
        check_radius(X, signs(1), 1.2e-161, 0.0)
    with refuses("as long"):
        check_radius(X, signs(1), 1.51e-161, 0.0)


@pytest.mark.parametrize("radius", [-5.0, math.nan, -math.inf])
def test_invalid_radii(radius):
    with pytest.raises(CertificateError):
        check_radius(np.array([[3.0, 4.0]]), signs(1), radius, 0.0)


@pytest.mark.parametrize("margin", [-5.0, math.nan, -math.inf])
def test_invalid_upper_margins(margin):
    with pytest.raises(CertificateError):
        check_support(np.array([[3.0, 4.0]]), signs(1), np.array([0]), np.ones(1), margin, 0.0)


@pytest.mark.parametrize("multiplier", [math.nan, math.inf])
def test_invalid_multipliers(multiplier):
    with pytest.raises(CertificateError):
        check_support(np.array([[3.0, 4.0]]), signs(1), np.array([0]), np.array([multiplier]), 5.0, 0.0)
    with pytest.raises(CertificateError):
        check_witness(np.array([[0.0, 0.0]]), signs(1), np.array([0]), (multiplier,), 0.0)


@pytest.mark.parametrize("w", [[1.0], [1.0, 1.0, 1.0]], ids=str)
def test_separators_with_another_number_of_weights(w):
    with pytest.raises(CertificateError):
        check_separator(np.ones((2, 2)), signs(1, 1), np.array(w), 0.0, 0.1, 0.0)


# -- verify, on other data than those certified

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])


@pytest.mark.parametrize("y", [[0, 0, 0, 1], [0, 1, 1, 0]], ids=["AND", "XOR"])
@pytest.mark.parametrize(
    "change",
    [
        lambda X, y: (X[:3], y[:3]),
        lambda X, y: (X[:3], y),
        lambda X, y: (X, y[:3]),
        lambda X, y: (X[:, :1], y),
        lambda X, y: (np.hstack([X, X]), y),
        lambda X, y: (np.vstack([X, X]), y + y),
        lambda X, y: (X[None], y),
        lambda X, y: (X[:, 0], y),
        lambda X, y: (sp.csr_array(X)[:3], y[:3]),
        lambda X, y: (X, [[label] for label in y]),
        lambda X, y: (np.where(X == 1, np.nan, X), y),
        lambda X, y: (np.where(X == 1, np.inf, X), y),
        lambda X, y: (X, ["other"] * 4),
        lambda X, y: (X, None),
    ],
    ids=[
        "fewer rows",
        "fewer rows in X",
        "fewer labels",
        "fewer columns",
        "more columns",
        "more rows",
        "3-D",
        "1-D",
        "sparse",
        "labels in a column",
        "nan",
        "inf",
        "other labels",
        "no labels",
    ],
)
def test_verify_refuses_other_data(y, change):
    c = nk.certify(CORNERS, y)
    c.verify(CORNERS, y)
    with pytest.raises(CertificateError):
        c.verify(*change(CORNERS, y))

"""Changed certificates, or certificates of changed data, verify iff they are still true.

Whether they are true is decided over the rationals (tests/reference/separability.py), independently of the checkers.
"""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import CertificateError
from tests.reference import separability as oracle
from tests.theory import problems


def verdict(certificate, X, y):
    """Whether it verifies; any error but a CertificateError is a bug of the checkers."""
    try:
        certificate.verify(X, y)
    except CertificateError:
        return False
    return True


def assert_verifies_iff_true(certificate, X, y):
    asked = np.isin(y, [certificate.question.positive, certificate.question.negative]).sum()
    truth = oracle.holds(certificate, X, y) and asked == certificate.question.n_asked
    assert verdict(certificate, X, y) == truth
    assert verdict(certificate, sp.csr_array(X), y) == truth
    return truth


def up(x):
    return math.nextafter(x, math.inf)


def down(x):
    return math.nextafter(x, 0.0)


# -- changes of the data: (rng, certificate, X, y) -> (X, y)


def rows_of(c):
    return c.support if c else c.rows


def flip_a_label(rng, c, X, y):
    y = y.copy()
    y[rng.choice(rows_of(c))] *= -1
    return X, y


def flip_any_label(rng, c, X, y):
    y = y.copy()
    y[rng.integers(len(y))] *= -1
    return X, y


def replace_a_label(rng, c, X, y):
    y = y.copy()
    y[rng.integers(len(y))] = 7
    return X, y


def shuffle_labels(rng, c, X, y):
    return X, rng.permutation(y)


def nudge_a_cell(rng, c, X, y):
    X = X.copy()
    cell = rng.choice(rows_of(c)), rng.integers(X.shape[1])
    X[cell] = np.nextafter(X[cell], rng.choice([-np.inf, np.inf]))
    return X, y


def push_a_cell(rng, c, X, y):
    X = X.copy()
    X[rng.integers(len(X)), rng.integers(X.shape[1])] += rng.choice([-4.0, -1.0, 0.5, 1.0])
    return X, y


def swap_columns(rng, c, X, y):
    return X[:, rng.permutation(X.shape[1])], y


def swap_rows(rng, c, X, y):
    return X[rng.permutation(len(X))], y


def replace_a_row(rng, c, X, y):
    X = X.copy()
    X[rng.integers(len(X))] = X[rng.integers(len(X))]
    return X, y


def drop_a_row_of_data(rng, c, X, y):
    at = rng.integers(len(X))
    return np.delete(X, at, axis=0), np.delete(y, at)


def add_a_column(rng, c, X, y):
    return np.hstack([X, np.zeros((len(X), 1))]), y


def scale_data(rng, c, X, y):
    return X * rng.choice([0.5, 2.0]), y


DATA = [
    flip_a_label,
    flip_any_label,
    replace_a_label,
    shuffle_labels,
    nudge_a_cell,
    push_a_cell,
    swap_columns,
    swap_rows,
    replace_a_row,
    drop_a_row_of_data,
    add_a_column,
    scale_data,
]


# -- changes of a witness


def add_to_a_multiplier(rng, c, X, y):
    m = list(c.multipliers)
    m[rng.integers(len(m))] += int(rng.choice([-1, 1]))
    return replace(c, multipliers=tuple(m))


def nudge_a_multiplier(rng, c, X, y):
    m = list(c.multipliers)
    m[rng.integers(len(m))] *= 1 + Fraction(1, 10**30)
    return replace(c, multipliers=tuple(m))


def scale_one_multiplier(rng, c, X, y):
    m = list(c.multipliers)
    m[rng.integers(len(m))] *= Fraction(int(rng.choice([2, 3, -1])), int(rng.choice([1, 2])))
    return replace(c, multipliers=tuple(m))


def scale_all_multipliers(rng, c, X, y):
    by = Fraction(int(rng.choice([1, 2, 7, -1])), int(rng.choice([1, 3])))
    return replace(c, multipliers=tuple(m * by for m in c.multipliers))


def permute_multipliers(rng, c, X, y):
    order = rng.permutation(len(c.multipliers))
    return replace(c, multipliers=tuple(c.multipliers[a] for a in order))


def permute_both(rng, c, X, y):
    order = rng.permutation(len(c.multipliers))
    return replace(c, rows=c.rows[order], multipliers=tuple(c.multipliers[a] for a in order))


def other_row(rng, c, X, y):
    rows = c.rows.copy()
    rows[rng.integers(len(rows))] = rng.integers(-1, len(X) + 1)
    return replace(c, rows=rows)


def drop_a_row(rng, c, X, y):
    at = rng.integers(len(c.rows))
    return replace(c, rows=np.delete(c.rows, at), multipliers=c.multipliers[:at] + c.multipliers[at + 1 :])


def drop_only_the_row(rng, c, X, y):
    return replace(c, rows=c.rows[1:])


def add_a_row(rng, c, X, y):
    rows = np.append(c.rows, rng.integers(len(X)))
    return replace(c, rows=rows, multipliers=(*c.multipliers, Fraction(1)))


def other_intercept(rng, c, X, y):
    return replace(c, question=replace(c.question, fit_intercept=not c.question.fit_intercept))


def other_shape(rng, c, X, y):
    return replace(c, n_rows=c.n_rows + int(rng.integers(2)), n_features=c.n_features + int(rng.integers(2)))


def turn_the_question(rng, c, X, y):
    """All signs turned, which leaves the proof true."""
    return replace(c, question=replace(c.question, positive=c.question.negative, negative=c.question.positive))


WITNESS = [
    add_to_a_multiplier,
    nudge_a_multiplier,
    scale_one_multiplier,
    scale_all_multipliers,
    permute_multipliers,
    permute_both,
    other_row,
    drop_a_row,
    drop_only_the_row,
    add_a_row,
    other_intercept,
    other_shape,
    turn_the_question,
]


# -- changes of a separator and its margins


def raise_the_lower(rng, c, X, y):
    return replace(c, margin_lower=c.margin_lower * rng.choice([1 + 1e-12, 1.1, 2.0]))


def raise_the_lower_by_a_bit(rng, c, X, y):
    return replace(c, margin_lower=up(c.margin_lower))


def lower_the_lower(rng, c, X, y):
    return replace(c, margin_lower=c.margin_lower * rng.choice([1e-9, 0.5, 1 - 1e-12]))


def lower_the_upper(rng, c, X, y):
    return replace(c, margin_upper=c.margin_upper * rng.choice([0.0, 0.5, 1 - 1e-9, 1 - 1e-12]))


def lower_the_upper_by_a_bit(rng, c, X, y):
    return replace(c, margin_upper=down(c.margin_upper))


def raise_the_upper(rng, c, X, y):
    return replace(c, margin_upper=c.margin_upper * rng.choice([1 + 1e-12, 2.0]))


def shrink_the_radius(rng, c, X, y):
    return replace(c, radius=c.radius * rng.choice([0.0, 0.5, 1 - 1e-12]))


def grow_the_radius(rng, c, X, y):
    return replace(c, radius=c.radius * rng.choice([1 + 1e-12, 2.0]))


def turn_the_separator(rng, c, X, y):
    return replace(c, separator=-c.separator, intercept=-c.intercept)


def push_the_separator(rng, c, X, y):
    w = c.separator.copy()
    w[rng.integers(len(w))] += rng.choice([-1.0, -0.1, 0.1, 1.0])
    return replace(c, separator=w)


def nudge_the_separator(rng, c, X, y):
    w = c.separator.copy()
    at = rng.integers(len(w))
    w[at] = math.nextafter(w[at], rng.choice([-math.inf, math.inf]))
    return replace(c, separator=w)


def swap_weights(rng, c, X, y):
    return replace(c, separator=rng.permutation(c.separator))


def zero_the_separator(rng, c, X, y):
    return replace(c, separator=np.zeros_like(c.separator), intercept=0.0)


def push_the_intercept(rng, c, X, y):
    assume(c.question.fit_intercept)
    return replace(c, intercept=c.intercept + rng.choice([-1.0, -1e-9, 1e-9, 1.0]))


def scale_the_separator(rng, c, X, y):
    """Still true: only the direction matters, and powers of two round nothing."""
    by = 2.0 ** int(rng.integers(-20, 20))
    return replace(c, separator=c.separator * by, intercept=c.intercept * by)


def as_exact_fractions(rng, c, X, y):
    w = np.array([Fraction(v) for v in c.separator.tolist()], object)
    m = np.array([Fraction(v) for v in c.multipliers.tolist()], object)
    return replace(c, separator=w, intercept=Fraction(c.intercept), multipliers=m)


def push_a_weight(rng, c, X, y):
    m = c.multipliers.copy()
    m[rng.integers(len(m))] += rng.choice([-2.0, -0.01, 0.01, 1.0])
    return replace(c, multipliers=m)


def permute_weights(rng, c, X, y):
    return replace(c, multipliers=rng.permutation(c.multipliers))


def scale_all_weights(rng, c, X, y):
    return replace(c, multipliers=c.multipliers * 2.0 ** int(rng.integers(-9, 10)))


def other_support_row(rng, c, X, y):
    rows = c.support.copy()
    rows[rng.integers(len(rows))] = rng.integers(-1, len(X) + 1)
    return replace(c, support=rows)


def drop_a_support_row(rng, c, X, y):
    at = rng.integers(len(c.support))
    return replace(c, support=np.delete(c.support, at), multipliers=np.delete(c.multipliers, at))


def drop_only_the_support_row(rng, c, X, y):
    return replace(c, support=c.support[1:])


SEPARATOR = [
    raise_the_lower,
    raise_the_lower_by_a_bit,
    lower_the_lower,
    lower_the_upper,
    lower_the_upper_by_a_bit,
    raise_the_upper,
    shrink_the_radius,
    grow_the_radius,
    turn_the_separator,
    push_the_separator,
    nudge_the_separator,
    swap_weights,
    zero_the_separator,
    push_the_intercept,
    scale_the_separator,
    as_exact_fractions,
    push_a_weight,
    permute_weights,
    scale_all_weights,
    other_support_row,
    drop_a_support_row,
    drop_only_the_support_row,
    other_intercept,
    other_shape,
    turn_the_question,
]


# -- the properties


@st.composite
def cases(draw, verdict, min_rows=2):
    """A problem and its certificate, with this verdict, and something to draw changes with."""
    X, y = draw(problems.small(min_rows=min_rows))
    assume(len(set(y)) == 2)
    c = nk.certify(X, y, fit_intercept=draw(st.booleans()))
    assume(bool(c) == verdict)
    return c, X, y, np.random.default_rng(draw(st.integers(0, 2**20)))


@given(case=cases(verdict=False, min_rows=3), change=st.sampled_from(WITNESS))
def test_tampered_witness(case, change):
    c, X, y, rng = case
    assert_verifies_iff_true(change(rng, c, X, y), X, y)


@given(case=cases(verdict=True), change=st.sampled_from(SEPARATOR))
def test_tampered_separator(case, change):
    c, X, y, rng = case
    assert_verifies_iff_true(change(rng, c, X, y), X, y)


@given(case=cases(verdict=True) | cases(verdict=False, min_rows=3), change=st.sampled_from(DATA))
def test_other_data(case, change):
    c, X, y, rng = case
    assert_verifies_iff_true(c, *change(rng, c, X, y))


NEVER_TRUE_WITNESS = [add_to_a_multiplier, nudge_a_multiplier, drop_only_the_row]
NEVER_TRUE_SEPARATOR = [
    raise_the_lower,
    lower_the_upper,
    shrink_the_radius,
    turn_the_separator,
    zero_the_separator,
    drop_only_the_support_row,
]


@given(case=cases(verdict=False, min_rows=3), change=st.sampled_from(NEVER_TRUE_WITNESS))
def test_changes_that_make_a_witness_false(case, change):
    """Rows of zeros cancel under any multiplier."""
    c, X, y, rng = case
    assume(len(c.rows) > 1)
    assert not assert_verifies_iff_true(change(rng, c, X, y), X, y)


@given(case=cases(verdict=True), change=st.sampled_from(NEVER_TRUE_SEPARATOR))
def test_changes_that_make_a_separator_false(case, change):
    c, X, y, rng = case
    assert not assert_verifies_iff_true(change(rng, c, X, y), X, y)


@given(case=cases(verdict=False, min_rows=3))
def test_no_label_of_a_witness_can_be_changed(case):
    c, X, y, _ = case
    assume(len(c.rows) > 1)
    for row in c.rows:
        other = y.copy()
        other[row] *= -1
        assert not assert_verifies_iff_true(c, X, other)


@given(case=cases(verdict=True))
def test_no_label_of_a_support_row_can_be_changed(case):
    c, X, y, _ = case
    for row in c.support:
        other = y.copy()
        other[row] *= -1
        assert not assert_verifies_iff_true(c, X, other)


@given(case=cases(verdict=True))
def test_the_bounds_are_the_best_of_their_kind(case):
    """A little more or less than the tolerance, and the same separator or support no longer proves it."""
    c, X, y, _ = case
    assert not assert_verifies_iff_true(replace(c, margin_lower=float(c.margin_lower) * (1.0 + 1e-8)), X, y)
    assert not assert_verifies_iff_true(replace(c, margin_upper=c.margin_upper * (1.0 - 1e-8)), X, y)


# -- by hand

X4 = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND, XOR = np.array([0, 0, 0, 1]), np.array([0, 1, 1, 0])


INVALID = {
    "a negative radius": {"radius": -2.0},
    "a negative upper margin": {"margin_upper": -0.25},
    "no radius": {"radius": math.nan},
    "no upper margin": {"margin_upper": math.nan},
    "no lower margin": {"margin_lower": math.nan},
    "no multipliers": {"multipliers": np.full(3, math.nan)},
    "no intercept": {"intercept": math.nan},
    "no separator": {"separator": np.full(2, math.nan)},
    "a longer separator": {"separator": np.ones(3)},
    "a shorter separator": {"separator": np.ones(1)},
    "rows that are not integers": {"support": np.array([3.5, 1.0, 2.0])},
}


@pytest.mark.parametrize("case", INVALID)
def test_invalid_values(case):
    with pytest.raises(CertificateError):
        replace(nk.certify(X4, AND), **INVALID[case]).verify(X4, AND)


def test_an_intercept_without_a_constant():
    X, y = np.array([[1.0], [-1.0]]), [1, -1]
    c = nk.certify(X, y, fit_intercept=False)
    with pytest.raises(CertificateError):
        replace(c, intercept=-5.0).verify(X, y)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
@pytest.mark.filterwarnings("ignore")
def test_a_witness_of_nan_or_infinity_is_refused(bad):
    """A column of infinities cancels in no arithmetic."""
    X = X4.copy()
    X[:, 0] = bad
    with pytest.raises(CertificateError):
        nk.certify(X4, XOR).verify(X, XOR)


def test_certificates_are_immutable():
    c = nk.certify(X4, AND)
    with pytest.raises(AttributeError):
        c.margin_lower = 1.0


def test_swapped_columns_are_refused():
    X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0]])
    y = np.array([1, -1, 1])
    c = nk.certify(X, y, fit_intercept=False)
    with pytest.raises(CertificateError):
        c.verify(X[:, ::-1], y)

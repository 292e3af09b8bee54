"""Integers that doubles would round are refused, because proofs would be about other rows."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import novikoff as nk
from novikoff.errors import DataError

BIG = 2**53 + 1
FORMS = {
    "list": lambda rows: rows,
    "int64": lambda rows: np.array(rows, np.int64),
    "uint64": lambda rows: np.array(rows, np.uint64),
    "object": lambda rows: np.array(rows, object),
    "csr": lambda rows: sp.csr_array(np.array(rows, np.int64)),
    "csc": lambda rows: sp.csc_array(np.array(rows, np.int64)),
    "DataFrame": lambda rows: pd.DataFrame(rows),
    "DataFrame of two types": lambda rows: pd.DataFrame(rows).assign(half=0.5),
    "list of two types": lambda rows: [[*row, 0.5] for row in rows],
    "list of numpy's integers": lambda rows: [[*map(np.int64, row), 0.5] for row in rows],
    "object array of numpy's integers": lambda rows: np.array([[*map(np.int64, row)] for row in rows], object),
}


def inner_products(A, B):
    products = A @ B.T
    return products.toarray() if sp.issparse(products) else products


FUNCTIONS = {
    "certify": nk.certify,
    "certify with a kernel": lambda X, y: nk.certify(X, y, kernel="poly"),
    "certify with a user's kernel": lambda X, y: nk.certify(X, y, kernel=inner_products),
    "margins": lambda X, y: nk.margins(np.ones(np.shape(X)[1]), X, y),
    "fewest_errors": nk.fewest_errors,
    "mistake_bound": nk.mistake_bound,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_integers_between_doubles_are_refused(form, function):
    """Rounded, the first two rows would be equal; they are not, and a rule can get both right."""
    X = FORMS[form]([[3, 2**53], [3, BIG], [4, 1]])
    with pytest.raises(DataError, match=rf"{BIG} in row 1, column 1, .* X\.astype\(float\)"):
        FUNCTIONS[function](X, [0, 1, 1])


@pytest.mark.parametrize("form", FORMS)
def test_integers_that_are_doubles_are_accepted(form):
    certificate = nk.certify(FORMS[form]([[2**53, 0], [2**53 + 2, 2**62], [0, 1]]), [0, 1, 1])
    assert certificate.question.positive == 1


def test_largest_and_smallest_integers():
    for value, dtype in ((2**63 - 1, np.int64), (-(2**63) + 1, np.int64), (2**64 - 1, np.uint64)):
        with pytest.raises(DataError, match=rf"{value} in row 0, column 0"):
            nk.certify(np.array([[value], [1]], dtype), [0, 1])
    nk.certify(np.array([[-(2**63)], [1]], np.int64), [0, 1])


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="long double is double here")
def test_long_doubles():
    third = np.longdouble(1) / 3
    with pytest.raises(DataError, match="row 0, column 0"):
        nk.certify(np.array([[third], [1]]), [0, 1])
    nk.certify(np.array([[np.longdouble(0.5)], [1]]), [0, 1])


def test_rounded_numbers_are_accepted():
    X = np.array([[2**53], [BIG]], np.int64)
    assert not nk.certify(X.astype(float), [0, 1])


def test_precomputed_integers_between_doubles_are_refused():
    """Rounded, the two rows are equal; as they are, they can be separated."""
    K = np.array([[BIG, 2**53], [2**53, 2**53]])
    with pytest.raises(DataError, match=rf"{BIG} in row 0, column 0"):
        nk.certify(K, [0, 1], kernel="precomputed")


def test_objects_are_left_to_the_kernel_of_a_user():
    assert nk.certify(["a", "bb", "ccc"], [0, 1, 1], kernel=lambda one, other: float(one[0] == other[0]))


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("value", [10**400, -(10**400), 10**5000], ids=["large", "negative", "huge"])
def test_integers_beyond_all_doubles(function, value):
    with pytest.raises(DataError, match="bits in row 1, column 0"):
        FUNCTIONS[function]([[1, 0], [value, 0], [2, 1]], [0, 1, 1])
    with pytest.raises(DataError, match="bits in row 0, column 0"):
        nk.certify([[1.0], [2.0]], [0, 1]).verify([[value], [2]], [0, 1])


def stored_twice(values, dtype, form=sp.csr_array):
    """A matrix of two rows, the first of which stores its only cell more than once; the second holds 2^53."""
    row = np.append(np.zeros(len(values), int), 1)
    entries = np.array([*values, 2**53], dtype), (row, np.zeros(len(row), int))
    if form is sp.csr_array:
        return form((entries[0], np.zeros(len(row), int), [0, len(values), len(values) + 1]), shape=(2, 1))
    return form(entries, shape=(2, 1))


@pytest.mark.parametrize("form", [sp.csr_array, sp.coo_array])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_sums_of_integers_between_doubles_are_refused(form, dtype):
    """Each entry is a double, their sum is not; or the sum is, and doubles arrive at another."""
    for values in ([2**53, 1], [2**53, 1, 1], [2**52, 2**52, 1], [2**62, 1]):
        X = stored_twice(values, dtype, form)
        with pytest.raises(DataError, match=f"row 0, column 0 {len(values)} times.* sum to {sum(values)}, "):
            nk.certify(X, [0, 1])
        with pytest.raises(DataError, match="stores row 0, column 0"):
            nk.certify([[1.0], [2.0]], [0, 1]).verify(X, [0, 1])


def test_sums_of_integers_that_are_doubles_are_accepted():
    for values in ([2**53, 2], [2**53 - 1, 1], [3, 4, 5], [2**62, 2**62]):
        X = stored_twice(values, np.uint64)
        certificate = nk.certify(X, [0, 1])
        certificate.verify(X, [0, 1])
        assert bool(certificate) == (sum(values) != 2**53)

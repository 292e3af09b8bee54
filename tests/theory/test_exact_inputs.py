"""Whole numbers that doubles would round are refused: what is proved of rounded rows may be false of the rows."""

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
}
FUNCTIONS = {
    "certify": nk.certify,
    "certify with a kernel": lambda X, y: nk.certify(X, y, kernel="poly"),
    "margins": lambda X, y: nk.margins(np.ones(np.shape(X)[1]), X, y),
    "fewest_errors": nk.fewest_errors,
    "mistake_bound": nk.mistake_bound,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_whole_numbers_between_doubles_are_refused(form, function):
    """Rounded, the first two rows would be equal; they are not, and a rule can get both right."""
    X = FORMS[form]([[3, 2**53], [3, BIG], [4, 1]])
    with pytest.raises(DataError, match=rf"{BIG} in row 1, column 1, .* X\.astype\(float\)"):
        FUNCTIONS[function](X, [0, 1, 1])


@pytest.mark.parametrize("form", FORMS)
def test_whole_numbers_that_are_doubles_are_taken(form):
    certificate = nk.certify(FORMS[form]([[2**53, 0], [2**53 + 2, 2**62], [0, 1]]), [0, 1, 1])
    assert certificate.question.positive == 1


def test_the_ends_of_the_integers():
    for value, dtype in ((2**63 - 1, np.int64), (-(2**63) + 1, np.int64), (2**64 - 1, np.uint64)):
        with pytest.raises(DataError, match=rf"{value} in row 0, column 0"):
            nk.certify(np.array([[value], [1]], dtype), [0, 1])
    nk.certify(np.array([[-(2**63)], [1]], np.int64), [0, 1])


@pytest.mark.skipif(np.finfo(np.longdouble).nmant <= 52, reason="no longer floats here")
def test_longer_floats():
    third = np.longdouble(1) / 3
    with pytest.raises(DataError, match="row 0, column 0"):
        nk.certify(np.array([[third], [1]]), [0, 1])
    nk.certify(np.array([[np.longdouble(0.5)], [1]]), [0, 1])


def test_rounded_numbers_can_be_asked_about():
    X = np.array([[2**53], [BIG]], np.int64)
    assert not nk.certify(X.astype(float), [0, 1])

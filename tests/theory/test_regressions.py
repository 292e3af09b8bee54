"""Faults that readers and users have reported, one test each."""

import math
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import CertificateError, DataError
from novikoff.theory.checkers.separator import check_separator
from novikoff.theory.half_space_guesses import descend_in_stages
from novikoff.theory.separability import read_data
from novikoff.theory.signed_points import SignedPoints

mpl.use("Agg")


def test_shares_are_added_up_exactly():
    k = 6
    X, y = np.repeat(np.arange(k, dtype=float), 2)[:, None], np.array([0, 1] * k)
    found = nk.fewest_errors(X, y)
    little = float(np.nextafter(2.0**-53, 0))
    forged = replace(
        found,
        lower=7,
        upper=7,
        separator=np.array([1.0]),
        intercept=-1.0,
        rows_wrong=np.array([1, 2, 3, 4, 6, 8, 10]),
        witnesses=found.witnesses * 2,
        shares=(little,) * k + (1.0,) * k,
    )
    assert found.lower == found.upper == k
    with pytest.raises(CertificateError, match="shares"):
        forged.verify(X, y)


def test_integer_weights_are_not_rounded():
    p = 2**53 + 3
    with pytest.raises(CertificateError):
        check_separator(np.array([[3.0, -1, -1, -1]]), np.array([1]), np.array([p, p, p - 1, p + 1]), 0, 1e-20, 0.0)


def test_verify_refuses_new_labels():
    X = [[0.0], [1.0], [2.0]]
    certificate = nk.certify(X, [0, 1, 1])
    certificate.verify(X, [0, 1, 1])
    for labels in ([0, 1, 2], [0, 1, math.nan]):
        with pytest.raises(CertificateError, match="is about 3 rows"):
            certificate.verify(X, labels)


@pytest.mark.parametrize("rows", [np.eye(3) * 5e-324, np.array([[5e-324, 0], [0, 5e-324], [1, 1], [1, 1]])])
def test_fewest_errors_with_subnormal_numbers(rows):
    y = [1] * (len(rows) - 1) + [0] if len(rows) == 4 else [1, 1, 1]
    nk.fewest_errors(rows, y, fit_intercept=False).verify(rows, y)


@pytest.mark.parametrize("seed", range(5))
def test_identical_rows_at_mixed_scales(seed):
    """Large columns must not hide that two rows are identical, or make others look so."""
    rng = np.random.default_rng(seed)
    last = rng.permutation(400).astype(float)
    last[0] = last[1]
    X = np.column_stack([np.full(400, 1e8), np.full(400, -3e8), last * 1e-9])
    y = rng.integers(0, 2, 400)
    y[:2] = 0, 1
    assert nk.certify(X, y).rows.tolist() == [0, 1]


def test_no_time_limit():
    rng = np.random.default_rng(0)
    assert nk.fewest_errors(rng.normal(size=(30, 2)), rng.integers(0, 2, 30), time_limit=math.inf).is_exact


def test_dates_are_labels():
    X, y = [[0.0], [1.0], [0.2], [3.0]], np.array(["2020-01-01", "2021-01-01"] * 2, "datetime64[ns]")
    certificate = nk.certify(X, y)
    certificate.verify(X, y)
    assert certificate
    assert nk.fewest_errors(X, y).upper == 0


@pytest.mark.parametrize("labels", [[1j, 2j, 1j], np.array([(1, 2), 3, (4, 5)], object), [None, "a", "b"]])
@pytest.mark.parametrize("ask", [nk.certify, nk.fewest_errors, nk.mistake_bound])
def test_invalid_labels(ask, labels):
    with pytest.raises(DataError):
        ask([[0.0], [1.0], [2.0]], labels)


def test_a_pair_in_either_order():
    verdicts = nk.certify([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    assert verdicts["b", "a"] is verdicts["a", "b"]


def test_a_boundary_out_of_sight_is_not_drawn():
    X, y = np.array([[-1.0, -1.0], [1.0, -1.0], [0.0, 1.1]]), ["a", "a", "a"]
    display = nk.PlaneDisplay.from_certificate(nk.certify(X, y), X, y)
    display.figure_.canvas.draw()
    assert display.boundary_ is None


def test_dollar_signs_are_not_formulas():
    X, y = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 1.0]]), ["$x^$", "b", "b"]
    display = nk.PlaneDisplay.from_certificate(nk.certify(X, y), X, y, feature_names=["US$", "EU_$^"])
    display.figure_.canvas.draw()
    assert display.ax_.get_xlabel() == r"US\$"


@pytest.mark.filterwarnings("error")
def test_guesses_that_overflow_are_silent():
    """Half of the margins are tiny, and weights that are scaled up for these overflow on the longest row."""
    rows, y = read_data([[1e-200], [1e-200], [-2e-200], [1e140]], [1, 1, -1, -1])
    list(descend_in_stages(SignedPoints(rows, y, 0.0), np.ones(4), np.array([1.0, 0.0]), lambda: False))

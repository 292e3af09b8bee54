"""Sparse entries stored twice are summed in the same order by search and checkers."""

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nk
from novikoff.errors import CertificateError, DataError
from novikoff.inputs.rows import Rows
from novikoff.theory.checkers.rows import canonicalize_rows
from novikoff.theory.checkers.separator import check_separator

VALUES = [1.0, -1.0, 0.1, 1 / 3, 1e19, -1e19, 1e-19, 0.0, -0.0, 5e-324, -5e-324, 2.0**-1022]


def matrix(entries, n_features, dtype=np.float64, index=np.int32):
    """CSR of rows of (column, value), stored as they are given."""
    columns = [column for row in entries for column, _ in row]
    values = [value for row in entries for _, value in row]
    ends = np.cumsum([0, *map(len, entries)])
    shape = (len(entries), n_features)
    return sp.csr_array((np.array(values, dtype), np.array(columns, index), ends.astype(index)), shape=shape)


def sum_entries(entries, n_features, dtype=np.float64):
    """A dense array to which one entry after the other is added."""
    found = np.zeros((len(entries), n_features), dtype)
    for row, pairs in enumerate(entries):
        for column, value in pairs:
            found[row, column] += dtype(value)
    return found


def random_entries(rng, n_rows, n_features, most):
    return [
        [(int(rng.integers(n_features)), float(rng.choice(VALUES))) for _ in range(rng.integers(most + 1))]
        for _ in range(n_rows)
    ]


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_search_and_checker_read_the_same_sums(seed, dtype):
    """Rows of up to 60 entries: SciPy sorts those of more than 16 in another order."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 6))
    entries = random_entries(rng, int(rng.integers(1, 6)), d, 60)
    X = matrix(entries, d, dtype, rng.choice([np.int32, np.int64]))
    before = X.copy()
    expected = sum_entries(entries, d, dtype)
    for given in (X, X.tocsc(), X.tocoo()):
        for found in (Rows.of(given).matrix, canonicalize_rows(given)):
            assert found.dtype == dtype
            assert sp.csr_array(found).nnz == len({(i, j) for i, row in enumerate(entries) for j, _ in row})
            assert np.array_equal(found.toarray(), expected)
    for name in ("data", "indices", "indptr"):
        assert np.array_equal(getattr(X, name), getattr(before, name))


def test_outdated_flags_of_scipy_are_ignored():
    X = matrix([[(0, 1.0), (1, 2.0)]], 2)
    assert X.has_canonical_format
    X.indices[1] = 0
    assert canonicalize_rows(X).toarray().tolist() == [[3.0, 0.0]]


@pytest.mark.parametrize("change", [("indices", 5), ("indices", -1), ("indptr", 7), ("indptr", -7)])
def test_corrupt_matrices_are_refused(change):
    X, y = matrix([[(0, 1.0)], [(0, -1.0), (1, 2.0)]], 2), [1, 0]
    certificate = nk.certify(X, y)
    name, value = change
    getattr(X, name)[1] = value
    bound = nk.mistake_bound([[1.0, 0.0], [-1.0, 2.0]], y)
    for proof in (certificate, bound):
        with pytest.raises(DataError, match="corrupt CSR"):
            proof.verify(X, y)
    with pytest.raises(CertificateError, match="corrupt CSR"):
        canonicalize_rows(X)


def test_complex_numbers_are_refused():
    certificate = nk.certify([[1.0], [-1.0]], [1, 0])
    for X in (np.array([[1.0 + 3j], [-1.0]]), sp.csr_array(np.array([[1.0 + 3j], [-1.0]]))):
        with pytest.raises(CertificateError, match="complex"):
            canonicalize_rows(X)
        with pytest.raises((CertificateError, DataError), match=r"[Cc]omplex"):
            certificate.verify(X, [1, 0])


def test_integers_between_doubles_are_refused():
    """2^53 + 1 rounds to 2^53, which is what the certificate is about."""
    certificate = nk.certify([[2.0**53], [-1.0]], [1, 0])
    bound = nk.mistake_bound([[2.0**53], [-1.0]], [1, 0])
    for X in (np.array([[2**53 + 1], [-1]]), sp.csr_array(np.array([[2**53 + 1], [-1]]))):
        for proof in (certificate, bound):
            with pytest.raises(DataError, match="no double is equal to"):
                proof.verify(X, [1, 0])


def test_terms_that_cancel_do_not_hide_a_row_on_the_wrong_side():
    """Column 0 is 1e19 - 1e19 = 0, column 1 is 1100 - 1500 = -400. Added up as they come, 1e19 + 1100 rounds to
    1e19 + 2048, and the row would score 548."""
    X = matrix([[(0, 1e19), (1, 1100.0), (0, -1e19), (1, -1500.0)]], 2)
    weights = np.array([1.0, 1.0])
    assert float((X @ weights)[0]) > 0.0
    with pytest.raises(CertificateError, match="Row 0 is not on its side"):
        check_separator(canonicalize_rows(X), np.array([1]), weights, 0.0, 1.0, 0.0)
    check_separator(canonicalize_rows(X), np.array([-1]), weights, 0.0, 1.0, 0.0)


def test_a_forged_separator_is_refused():
    """The entries of ten rows cancel but for -1/10; the forger claims that they are on the positive side."""
    entries = [[(0, 1e19), (1, float(a)), (0, -1e19), (1, -float(a) - 0.1)] for a in range(1000, 1010)]
    X, y = matrix(entries, 2), [1] * 10
    true = nk.certify(X, y, fit_intercept=False)
    true.verify(X, y)
    forged = nk.Separable(
        true.question,
        np.array([0.6, 0.8]),
        0.0,
        0.01,
        true.margin_upper,
        true.support,
        true.multipliers,
        true.radius,
        *X.shape,
    )
    with pytest.raises(CertificateError, match="is not on its side"):
        forged.verify(X, y)


@pytest.mark.parametrize("seed", range(40))
def test_certificates_are_true_of_the_sums(seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        d = int(rng.integers(1, 4))
        entries = random_entries(rng, int(rng.integers(2, 9)), d, int(rng.choice([4, 30])))
        X, y, intercept = matrix(entries, d), rng.choice([-1, 1], len(entries)), bool(rng.integers(2))
        dense = sum_entries(entries, d)
        certificate = nk.certify(X, y, fit_intercept=intercept)
        bound = nk.mistake_bound(X, y, fit_intercept=intercept)
        for form in (X, X.tocsc(), dense):
            certificate.verify(form, y)
            bound.verify(form, y)
        if certificate:
            w, constant = [Fraction(v) for v in certificate.separator.tolist()], Fraction(certificate.intercept)
            signs = certificate.question.signs(y)
            for sign, row in zip(signs.tolist(), dense.tolist(), strict=True):
                score = sum(a * Fraction(b) for a, b in zip(w, row, strict=True)) + constant * intercept
                assert sign * score > 0


def test_the_fewest_errors_count_rows_by_their_sums():
    """Three rows that are the same point, stored in three ways, and one that is its opposite."""
    entries = [
        [(0, 1.0), (1, 2.0)],
        [(1, 2.0), (0, 1.0)],
        [(0, 3.0), (1, 2.0), (0, -2.0)],
        [(0, 0.5), (0, 0.5), (1, 2.0)],
    ]
    X, y = matrix(entries, 2), [1, 1, 1, 0]
    found = nk.fewest_errors(X, y)
    assert (found.lower, found.upper) == (1, 1)
    found.verify(X, y)

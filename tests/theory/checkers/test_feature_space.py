"""Checkers in feature space compute kernels themselves, and refuse indefinite matrices."""

import decimal
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nk
from novikoff.errors import CertificateError, RuleError
from novikoff.kernel_methods.kernels import CustomKernel, resolve
from novikoff.theory import checker_inputs
from novikoff.theory.certificates import Inseparable, KernelSeparable, Question
from novikoff.theory.checkers.exponentials import exponential_in_doubles
from novikoff.theory.checkers.kernel_values import GivenMatrix, kernel_by_name
from novikoff.theory.checkers.semidefinite import is_definite, require_semidefinite
from tests.reference import separability as oracle

NAMED = ["linear", "poly", "rbf", "laplacian", "hamming"]
EXACT = decimal.Context(prec=120)


def question(kernel, n_asked, n_features=None, **parameters):
    given = {"degree": 2, "gamma": 1.0, "coef0": 1.0, "fit_intercept": False, "n_features": n_features} | parameters
    return Question(1, 0, bool(given["fit_intercept"]), n_asked=n_asked, kernel=resolve(kernel, **given))


def distance(name, x, z):
    """The distance of a kernel, over the rationals."""
    pairs = [(Fraction(a), Fraction(b)) for a, b in zip(x, z, strict=True)]
    if name == "rbf":
        return sum((a - b) ** 2 for a, b in pairs)
    return sum(abs(a - b) for a, b in pairs) if name == "laplacian" else Fraction(sum(a != b for a, b in pairs))


def value(name, gamma, x, z):
    """exp(-gamma distance) to a hundred digits."""
    t = Fraction(gamma) * distance(name, x, z)
    return EXACT.exp(-EXACT.divide(decimal.Decimal(t.numerator), decimal.Decimal(t.denominator)))


# -- indefinite matrices

INDEFINITE = np.array([[1.0, 2.0], [2.0, 1.0]])


@pytest.mark.parametrize(
    ("y", "alpha", "support", "multipliers"),
    [
        ([1, 1], [1.0, 0.0], [0], [1.0]),  # only the first row is used: f(x_1) = 2 > |f| |x_1|
        ([1, 1], [0.0, 1.0], [1], [1.0]),
        ([1, 1], [0.5, 0.5], [0, 1], [0.5, 0.5]),
        ([1, 1], [1 / math.sqrt(6)] * 2, [0], [1.0]),
    ],
)
def test_no_separator_in_the_space_of_an_indefinite_matrix(y, alpha, support, multipliers):
    claim = KernelSeparable(
        question("precomputed", 2), np.array(alpha), 0.0, 0.5, 2.0, np.array(support), np.array(multipliers), 1.0, 2, 2
    )
    with pytest.raises(CertificateError, match="no inner product"):
        claim.verify(INDEFINITE, y)
    own = replace(
        claim, question=question(lambda A, B: INDEFINITE[np.ix_(A[:, 0].astype(int), B[:, 0].astype(int))], 2)
    )
    with pytest.raises(CertificateError, match="no inner product"):
        replace(own, n_features=1).verify([[0.0], [1.0]], y)


def test_no_witness_in_the_space_of_an_indefinite_matrix():
    """(1, 1) K = 0, but K has the eigenvalue -2."""
    K = np.array([[-1.0, 1.0], [1.0, -1.0]])
    claim = Inseparable(question("precomputed", 2), np.arange(2), (Fraction(1),) * 2, 2, 2)
    with pytest.raises(CertificateError, match="no inner product"):
        claim.verify(K, [1, 1])
    claim.verify(np.ones((2, 2)), [1, 0])


def test_a_matrix_that_is_indefinite_by_the_last_bit_is_refused_on_the_rows_used():
    """[[1, 1 + e], [1 + e, 1]] has the eigenvalue -e: rounding, but for rows that are used no rounding is allowed."""
    K = np.eye(3)
    K[0, 1] = K[1, 0] = 1.0 + 2.0**-52
    one = KernelSeparable(
        question("precomputed", 3), np.array([0.0, 0, 1.0]), 0.0, 1e-9, 1.0, np.array([2]), np.ones(1), 1.0, 3, 3
    )
    K[2] = K[:, 2] = 0.5, 0.5, 1.0
    one.verify(K, [1, 1, 1])
    both = replace(one, support=np.array([0, 1]), multipliers=np.full(2, 0.5), margin_upper=2.0)
    with pytest.raises(CertificateError, match="not positive semi-definite"):
        both.verify(K, [1, 1, 1])


def has_no_negative_minor(K):
    """Every principal minor is >= 0: Sylvester, by elimination over the rationals for each subset."""
    from itertools import combinations

    def determinant(rows):
        total, rows = Fraction(1), [row[:] for row in rows]
        for k in range(len(rows)):
            at = next((i for i in range(k, len(rows)) if rows[i][k]), None)
            if at is None:
                return Fraction(0)
            if at != k:
                rows[k], rows[at], total = rows[at], rows[k], -total
            total *= rows[k][k]
            for i in range(k + 1, len(rows)):
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
        return total

    exact = [[Fraction(v) for v in row] for row in K.tolist()]
    indices = range(len(K))
    return all(
        determinant([[exact[i][j] for j in chosen] for i in chosen]) >= 0
        for size in range(1, len(K) + 1)
        for chosen in combinations(indices, size)
    )


@pytest.mark.parametrize("seed", range(80))
def test_semidefinite_is_decided_exactly(seed):
    rng = np.random.default_rng(seed)
    n, rank = int(rng.integers(1, 6)), int(rng.integers(1, 6))
    L = rng.integers(-2, 3, (n, rank)) * 2.0 ** rng.integers(-30, 30, (n, 1))
    K = L @ L.T
    if seed % 3 == 1:
        at = rng.integers(n)
        K[at, at] = math.nextafter(K[at, at], -math.inf)
    elif seed % 3 == 2:
        K += np.diag(rng.integers(-1, 2, n).astype(float))
    matrix = GivenMatrix(K)
    used = np.arange(n)
    truth = has_no_negative_minor(K)
    if is_definite(K):
        assert truth
    try:
        require_semidefinite(matrix(used, used)[0])
        found = True
    except CertificateError:
        found = False
    assert found == truth


def test_certify_claims_only_what_verify_accepts():
    """Rounded to doubles, x z may be no inner product: certify raises an error, or what it claims is verified."""
    rng = np.random.default_rng(0)
    claimed = 0
    for _ in range(60):
        X = rng.standard_normal((6, int(rng.integers(1, 4))))
        y = np.where(X[:, 0] > 0, 1, 0)
        try:
            certificate = nk.certify(X, y, kernel=lambda A, B: A @ B.T)
        except CertificateError:
            continue
        certificate.verify(X, y)
        claimed += 1
    assert claimed > 30


# -- parameters for which a kernel is no inner product


@pytest.mark.parametrize("name", NAMED)
def test_forged_parameters_are_refused(name):
    X, y = np.array([[0.0], [1.0], [2.0]]), [0, 1, 1]
    c = nk.certify(X, y, kernel=name, gamma=0.5, degree=2, fit_intercept=True)
    c.verify(X, y)
    forged = [{"constant": -1.0}, {"constant": 0.5}, {"name": "sigmoid"}, {"name": "cosine"}]
    if name != "linear":
        forged += [{"gamma": -0.5}, {"gamma": math.nan}, {"gamma": 0.6}]
    if name == "poly":
        forged += [{"degree": -2}, {"degree": 2.5}, {"degree": 3}, {"coef0": -1.0}, {"coef0": 0.5}]
    for change in forged:
        kernel = replace(c.question.kernel, **change)
        with pytest.raises(CertificateError):
            replace(c, question=replace(c.question, kernel=kernel)).verify(X, y)


def test_a_negative_power_is_no_inner_product():
    with pytest.raises(RuleError, match="no inner product"):
        nk.certify([[1.0], [2.0]], [0, 1], kernel="poly", degree=-1, gamma=1.0)


# -- values


@pytest.mark.parametrize("name", NAMED)
def test_kernels_with_a_name_are_not_computed_by_the_search(name, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.integers(-2, 3, (30, 3)).astype(float)
    y = np.where(X[:, 0] * X[:, 1] + rng.normal(size=30) * 0.1 > 0, 1, 0)
    y[X[:, 0] * X[:, 1] == 0] = 0
    for form in (X, sp.csr_array(X)):
        c = nk.certify(form, y, kernel=name, gamma=0.7)
        with monkeypatch.context() as patched:
            patched.setattr(checker_inputs, "kernel_matrix", None)
            c.verify(form, y)


def test_a_precomputed_matrix_is_not_computed_by_the_search(monkeypatch):
    K = np.array([[2.0, 1.0], [1.0, 3.0]])
    c = nk.certify(K, [0, 1], kernel="precomputed")
    monkeypatch.setattr(checker_inputs, "kernel_matrix", None)
    c.verify(K, [0, 1])
    for other in (K[:1], np.array([[2.0, 2.0], [1.0, 3.0]]), np.full((2, 2), np.nan), sp.csr_array(K)):
        with pytest.raises(CertificateError):
            c.verify(other, [0, 1])


@pytest.mark.parametrize("name", ["rbf", "laplacian", "hamming"])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 30.0, 1e6, 1e200])
def test_enclosures_contain_the_kernel(name, scale):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((7, 3)) * scale
    X[1], X[2], X[3, 1] = X[0], -X[0], X[4, 1]
    gamma = 0.37
    values = kernel_by_name(X, name, 3, gamma, 0.0, 0.0)
    numbers, power, off = values(np.arange(7), np.arange(7))
    doubles, away = values.in_doubles(np.arange(7), np.arange(7))
    for i in range(7):
        for j in range(7):
            true = Fraction(value(name, gamma, X[i].tolist(), X[j].tolist()))
            assert abs(int(numbers[i, j]) - true * Fraction(2) ** -power) <= off
            assert abs(Fraction(float(doubles[i, j])) - true) <= Fraction(away) if math.isfinite(away) else True


def test_exponentials_in_doubles():
    rng = np.random.default_rng(0)
    t = np.concatenate(
        [[0.0, 5e-324, 1e-300, 0.34657359, 0.3465736, 699.9, 700.0], rng.random(300) * 2.0, rng.random(300) * 700]
    )
    for given, found in zip(t.tolist(), exponential_in_doubles(t).tolist(), strict=True):
        true = Fraction(EXACT.exp(-decimal.Decimal(given)))
        assert abs(Fraction(found) - true) <= 8 * Fraction(2) ** -53 * true


@pytest.mark.parametrize("name", ["rbf", "laplacian", "hamming"])
@pytest.mark.parametrize("offset", [0.0, 3e5])
def test_claims_are_true_of_the_kernel_itself(name, offset):
    """Not only of its values as doubles. Far from the origin |x|^2 - 2 <x, z> + |z|^2 would lose ten digits."""
    rng = np.random.default_rng(5)
    X = rng.standard_normal((14, 2)) + offset
    if name == "hamming":
        X = rng.integers(0, 3, (14, 4)) + offset
        X = np.unique(X, axis=0)
    y = rng.integers(0, 2, len(X))
    gamma = 0.8
    c = nk.certify(X, y, kernel=name, gamma=gamma)
    c.verify(X, y)
    K = [[Fraction(value(name, gamma, x, z)) for z in X.tolist()] for x in X.tolist()]
    alpha, signs = oracle.exact(c.separator), (2 * y - 1).tolist()
    scores = [oracle.dot(alpha, row) for row in K]
    squared = oracle.dot(alpha, scores)
    for sign, score in zip(signs, scores, strict=True):
        assert sign * score > 0
        assert score**2 >= Fraction(c.margin_lower) ** 2 * squared
    weights = [Fraction(0)] * len(X)
    for row, weight in zip(c.support.tolist(), oracle.exact(c.multipliers), strict=True):
        weights[row] = weight * signs[row]
    length = oracle.dot(weights, [oracle.dot(weights, row) for row in K])
    assert length <= (Fraction(c.margin_upper) * sum(map(abs, weights))) ** 2
    assert sum(oracle.exact(c.multipliers)) == pytest.approx(1.0, abs=1e-14)
    assert float(squared) == pytest.approx(1.0, abs=1e-9)
    assert c.margin_lower >= c.margin_upper * (1.0 - 1e-6)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "hamming"])
def test_thin_claims_are_checked_in_exact_arithmetic(name):
    """The largest margin that is true passes, beyond what doubles tell, and a little more does not."""
    X, y = np.array([[0.0, 1.0], [1.0, 1.0], [1.0, 3.0], [2.5, 3.0]]), [0, 1, 0, 1]
    c = nk.certify(X, y, kernel=name, gamma=0.3)
    K = [[Fraction(value(name, 0.3, x, z)) for z in X.tolist()] for x in X.tolist()]
    alpha, signs = oracle.exact(c.separator), [-1, 1, -1, 1]
    scores = [oracle.dot(alpha, row) for row in K]
    squared = oracle.dot(alpha, scores)
    least = min(sign * score for sign, score in zip(signs, scores, strict=True))
    margin = math.sqrt(least * least / squared)
    while Fraction(margin) ** 2 * squared > least * least:
        margin = math.nextafter(margin, 0.0)
    assert margin > c.margin_lower
    replace(c, margin_lower=margin).verify(X, y)
    with pytest.raises(CertificateError, match="not on its side"):
        replace(c, margin_lower=math.nextafter(margin, 1.0)).verify(X, y)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "hamming"])
def test_only_equal_rows_are_a_witness(name):
    X, y = np.array([[0.1, -0.0], [3.0, 1.0], [0.1, 0.0], [3.0, 1.0 + 2.0**-52]]), [0, 1, 1, 0]
    c = nk.certify(X, y, kernel=name, gamma=1.0)
    assert c.rows.tolist() == [0, 2]
    c.verify(X, y)
    c.verify(sp.csr_array(X), y)
    with pytest.raises(CertificateError, match="do not cancel"):
        replace(c, rows=np.array([1, 3])).verify(X, y)


def test_sparse_rows_of_many_columns():
    """As many columns as hashed features have: only those that occur are read."""
    rng = np.random.default_rng(0)
    X = sp.csr_array(sp.random_array((30, 1 << 20), density=2e-5, rng=rng, format="csr"))
    y = rng.integers(0, 2, 30)
    for name in ("rbf", "poly"):
        nk.certify(X, y, kernel=name, gamma=1.0).verify(X, y)


def test_values_of_a_users_function_are_taken_as_given():
    X, y = np.array([[1.0], [2.0], [3.0]]), [0, 1, 1]
    c = nk.certify(X, y, kernel=lambda A, B: (A @ B.T + 1.0) ** 2)
    c.verify(X, y)
    other = CustomKernel(lambda A, B: (A @ B.T) ** 2)
    with pytest.raises(CertificateError):
        replace(c, question=replace(c.question, kernel=other)).verify(X, y)

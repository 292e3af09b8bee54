"""certify with a kernel: verdicts are right, claims are proved, and bad input is refused."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.svm import SVC

import novikoff as nk
from novikoff.errors import CertificateError, DataError, RuleError
from tests.reference import kernel_methods as kernel_reference
from tests.reference import separability as oracle
from tests.support import strategies

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
XOR = np.array([0, 1, 1, 0])
MOONS = make_moons(120, noise=0.15, random_state=0)
CIRCLES = make_circles(120, noise=0.05, factor=0.5, random_state=0)


def polynomial(X, degree, gamma=1, coef0=1):
    """The kernel matrix in Fractions."""
    rows = [oracle.exact(x) for x in np.asarray(X, float)]
    return [[(Fraction(gamma) * oracle.dot(x, z) + Fraction(coef0)) ** degree for z in rows] for x in rows]


def squared_margin(K, signs):
    """gamma^2, or 0: the least |x|^2 over the nearest points of all simplices of the points z, by their inner products
    alone."""
    G = [[int(a) * int(b) * K[i][j] for j, b in enumerate(signs)] for i, a in enumerate(signs)]
    found = []
    for size in range(1, len(G) + 1):
        for chosen in combinations(range(len(G)), size):
            system = [[Fraction(0)] + [Fraction(1)] * size]
            system += [[Fraction(1)] + [G[a][b] for b in chosen] for a in chosen]
            weights = oracle.solve(system, [Fraction(1)] + [Fraction(0)] * size)
            if weights is not None and all(weight >= 0 for weight in weights[1:]):
                found.append(
                    sum(
                        weights[1 + i] * weights[1 + j] * G[a][b]
                        for i, a in enumerate(chosen)
                        for j, b in enumerate(chosen)
                    )
                )
    return min(found)


def assert_right(certificate, K, signs, X, y):
    """What is claimed is true of the exact kernel matrix, and the checker agrees."""
    certificate.verify(X, y)
    gamma = squared_margin(K, signs)
    assert bool(certificate) == (gamma > 0)
    if not certificate:
        rows, factors = certificate.rows, certificate.multipliers
        for i in rows:
            assert sum(f * int(signs[j]) * K[i][j] for j, f in zip(rows, factors, strict=True)) == 0
        return
    assert Fraction(certificate.margin_lower) ** 2 <= gamma <= Fraction(certificate.margin_upper) ** 2
    assert certificate.margin_lower >= certificate.margin_upper * (1 - 1e-9)
    assert Fraction(certificate.radius) ** 2 >= max(K[i][i] for i in range(len(K)))
    assert certificate.radius**2 == pytest.approx(float(max(K[i][i] for i in range(len(K)))))


@settings(max_examples=40, deadline=None)
@given(
    strategies.matrices(5, 2),
    st.lists(st.integers(0, 1), min_size=3, max_size=3),
    st.integers(1, 3),
    st.sampled_from([0, 1]),
    st.sampled_from([0.5, 1.0, 0.1]),
    st.sampled_from(["hull", "lp"]),
)
def test_polynomial_kernels_are_decided_exactly(X, y, degree, coef0, scale, method):
    y = np.array([*y, 0, 1])
    X = X * scale  # 0.1 has many binary digits: the values of the kernel are not doubles
    c = nk.certify(X, y, kernel="poly", degree=degree, gamma=1, coef0=coef0, method=method)
    assert_right(c, polynomial(X, degree, 1, coef0), 2 * y - 1, X, y)


def test_xor():
    """(1 + <x, z>)^2 has the feature x1 x2, which separates XOR."""
    assert not nk.certify(CORNERS, XOR)
    c = nk.certify(CORNERS, XOR, kernel="poly", degree=2, gamma=1)
    assert isinstance(c, nk.Separable)
    assert_right(c, polynomial(CORNERS, 2), 2 * XOR - 1, CORNERS, XOR)
    clf = nk.KernelPerceptron("poly", degree=2, gamma=1, max_iter=1000).fit(CORNERS, XOR)
    assert clf.converged_
    assert clf.ledger_.mistakes <= c.mistake_bound
    np.testing.assert_array_equal(c.scores(CORNERS, CORNERS) > 0, XOR == 1)
    assert c.margin_upper <= clf.ledger_.margin_at_most * (1 + 1e-9)


@pytest.mark.parametrize("data", [MOONS, CIRCLES], ids=["moons", "circles"])
@pytest.mark.parametrize(
    "given",
    [
        {"kernel": "rbf", "gamma": 5.0},
        {"kernel": "laplacian", "gamma": 2.0},
        {"kernel": "poly", "degree": 6, "gamma": 1.0},
    ],
)
def test_kernels_separate_what_no_line_does(data, given):
    X, y = data
    assert not nk.certify(X, y)
    c = nk.certify(X, y, **given)
    assert c
    c.verify(X, y)
    clf = nk.KernelPerceptron(**given, max_iter=20000).fit(X, y)
    assert clf.converged_
    assert clf.ledger_.mistakes <= c.mistake_bound
    K = clf._model.learner.kernel.block(*[_points(X)] * 2)
    machine = SVC(kernel="precomputed", C=1e10, tol=1e-9).fit(K, y)  # a hard margin, by quadratic programming
    a, at = machine.dual_coef_[0], machine.support_
    scores = (2 * y - 1) * (K[:, at] @ a)  # without the intercept of the SVM, which is not penalised
    assert scores.min() / math.sqrt(a @ K[np.ix_(at, at)] @ a) <= c.margin_upper * (1 + 1e-6)
    np.testing.assert_array_equal(c.scores(X, X) > 0, y == 1)


def _points(X):
    from novikoff.inputs.rows import Rows
    from novikoff.kernel_methods.points import Points

    return Points.of(Rows.of(X))


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_linear_kernel_agrees_with_no_kernel(intercept, form):
    for seed in range(20):
        X, y = strategies.integers(seed, 9, 3, 2)
        plain = nk.certify(X, y, fit_intercept=intercept)
        c = nk.certify(form(X), y, kernel="linear", fit_intercept=intercept)
        c.verify(form(X), y)
        assert bool(c) == bool(plain)
        if c:
            assert c.margin == pytest.approx(plain.margin)
            assert c.radius == pytest.approx(plain.radius)
            w = c.separator @ X
            np.testing.assert_allclose(w, plain.separator, atol=1e-6)


def test_many_classes():
    X, y = load_iris(return_X_y=True)
    X = np.rint(X[::3] * 10)
    y = y[::3]
    verdicts = nk.certify(X, y, kernel="poly", degree=3, gamma=0.01)
    verdicts.verify(X, y)
    assert len(verdicts) == 6
    assert verdicts[0]
    only = nk.certify(X, y, kernel="poly", degree=3, gamma=0.01, positive=0)
    assert only.margin == verdicts[0].margin


def test_objects_and_matrices():
    def shared(x, z):
        return len(set(x) & set(z))

    words, y = ["ab", "bc", "cd", "de", "ae"], [0, 1, 0, 1, 1]
    K = np.array([[shared(x, z) for z in words] for x in words], float)
    c, other = nk.certify(words, y, kernel=shared), nk.certify(K, y, kernel="precomputed")
    c.verify(words, y)
    other.verify(K, y)
    assert bool(c) == bool(other) == (squared_margin([oracle.exact(row) for row in K], 2 * np.array(y) - 1) > 0)
    twice = [*words, "ba"]
    found = nk.certify(twice, [*y, 1], kernel=shared)
    assert not found
    assert found.rows.tolist() == [0, 5]  # the same letters with another label
    found.verify(twice, [*y, 1])


def test_witnesses_of_one_or_two_rows():
    equal = nk.certify([[0.1, 0.2], [3.0, 1.0], [0.1, 0.2]], [0, 1, 1], kernel="rbf", gamma=1.0)
    assert equal.rows.tolist() == [0, 2]
    opposite = nk.certify([[1.0], [-1.0]], [0, 1], kernel="poly", degree=2, gamma=1, coef0=0)
    assert opposite.rows.tolist() == [0, 1]  # x^2 cannot tell them apart
    zero = nk.certify([[0.0], [1.0]], [0, 1], kernel="linear")
    assert zero.rows.tolist() == [0]


def test_thin_margins_are_decided_exactly():
    X = np.array([[1.0], [1.0 + 2.0**-30]])
    c = nk.certify(X, [0, 1], kernel="poly", degree=3, gamma=1)
    assert_right(c, polynomial(X, 3), [-1, 1], X, [0, 1])
    with pytest.raises(CertificateError, match=r"Undecided: the kernel's values are rounded.*larger gamma"):
        nk.certify(X, [0, 1], kernel="rbf", gamma=1.0)


def test_false_claims_are_refused():
    X, y = CIRCLES
    c = nk.certify(X, y, kernel="poly", degree=2, gamma=1)
    flipped = y.copy()
    flipped[c.support[0]] ^= 1
    forgeries = [
        replace(c, margin_lower=c.margin_lower * 1.01),
        replace(c, margin_upper=c.margin_upper * 0.99),
        replace(c, radius=c.radius * 0.999),
        replace(c, separator=-c.separator),
        replace(c, separator=np.zeros_like(c.separator)),
        replace(c, multipliers=-c.multipliers),
        replace(c, margin_lower=0.0),
    ]
    for forged in forgeries:
        with pytest.raises(CertificateError):
            forged.verify(X, y)
    with pytest.raises(CertificateError):
        c.verify(X, flipped)
    with pytest.raises(CertificateError, match="is about 120 rows with 2 features"):
        c.verify(X[:, :1], y)
    inseparable = nk.certify(MOONS[0], MOONS[1], kernel="poly", degree=2, gamma=1)
    assert not inseparable
    wrong = replace(inseparable, multipliers=(*inseparable.multipliers[:-1], inseparable.multipliers[-1] + 1))
    for forged in (wrong, replace(inseparable, rows=inseparable.rows[::-1])):
        with pytest.raises(CertificateError, match="do not cancel"):
            forged.verify(*MOONS)


def test_bad_input():
    with pytest.raises(RuleError, match="'sigmoid' with these parameters is no inner product"):
        nk.certify(CORNERS, XOR, kernel="sigmoid")
    with pytest.raises(RuleError, match="Unknown kernel 'cosine'"):
        nk.certify(CORNERS, XOR, kernel="cosine")
    with pytest.raises(DataError, match="not symmetric"):
        nk.certify(np.triu(np.ones((4, 4))), XOR, kernel="precomputed")
    with pytest.raises(DataError, match=r"square matrix.*found shape \(4, 2\)"):
        nk.certify(CORNERS, XOR, kernel="precomputed")
    with pytest.raises(DataError, match="no inner product: its matrix has negative eigenvalues"):
        nk.certify(np.array([[1.0, 2.0], [2.0, 1.0]]), [0, 1], kernel="precomputed")
    with pytest.raises(DataError, match="NaN or infinite at row 0"):
        nk.certify(CORNERS, XOR, kernel=lambda A, B: np.full((len(A), len(B)), np.nan))
    with pytest.raises(DataError, match="4 rows in X and 3 labels"):
        nk.certify(CORNERS, XOR[:3], kernel="rbf")
    with pytest.raises(DataError, match="would take 20 GB"):
        nk.certify(np.zeros((50_000, 1)), np.zeros(50_000), kernel="rbf")


def test_a_bound_in_feature_space_is_no_bound_for_lines():
    c = nk.certify(CORNERS, XOR, kernel="poly", degree=2, gamma=1)
    for intercept in (True, False):
        with pytest.raises(DataError, match="is not about these data"):
            nk.mistake_bound(CORNERS, XOR, certificate=c, fit_intercept=intercept)


def test_the_reference_kernel_agrees():
    """The kernel of the certificate is that of the reference implementation."""
    c = nk.certify(CORNERS, XOR, kernel="rbf", gamma=0.5)
    K = kernel_reference.rbf(0.5)
    f = [sum(a * K(x, z) for a, z in zip(c.separator, CORNERS.tolist(), strict=True)) for x in CORNERS.tolist()]
    assert min((2 * XOR - 1) * f) == pytest.approx(c.margin)
    assert "in the feature space of exp(-0.5 |x - z|^2)" in repr(c)


@pytest.mark.parametrize(("near", "far"), [(1e-161, 3e-161), (2e-161, 3e-161), (2.3e-161, 3.7e-161), (5e-324, 3e-320)])
def test_subnormal_kernel_values(near, far):
    """Values below 2^-1022 have few digits: the margin is that of the rows themselves, not of what is left of K."""
    X, y = [[near], [-far]], [1, 0]
    certificate = nk.certify(X, y, kernel="linear", fit_intercept=False)
    assert certificate.margin_lower == certificate.margin_upper == near
    certificate.verify(X, y)


@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("degree", [1, 2, 3])
def test_kernel_values_near_the_smallest_double(degree, fit_intercept):
    """Rows with |x|^(2 degree) near 2^-1074, the smallest double."""
    rng = np.random.default_rng(degree)
    for _ in range(15):
        n, d = int(rng.integers(2, 7)), int(rng.integers(1, 4))
        X = rng.standard_normal((n, d)) * 2.0 ** (rng.integers(-560, -500) // degree)
        if rng.random() < 0.3:
            X[0] *= 2.0**300
        y = rng.choice([-1, 1], n)
        y[:2] = 1, -1
        found = nk.certify(X, y, kernel="poly", degree=degree, gamma=1.0, coef0=0.0, fit_intercept=fit_intercept)
        K = [[value + fit_intercept for value in row] for row in polynomial(X, degree, coef0=0)]
        assert_right(found, K, y, X, y)


def test_a_polynomial_whose_gamma_lifts_what_has_underflowed():
    X, y = np.array([[1e-162], [-3e-162], [2e-162]]), np.array([1, -1, 1])
    for gamma in (1e200, 1e300, 1.7e308):
        found = nk.certify(X, y, kernel="poly", degree=1, gamma=gamma, coef0=0.0, fit_intercept=False)
        assert_right(found, polynomial(X, 1, gamma, 0), y, X, y)


ILL_CONDITIONED = {
    "far from 0": ([[1e9], [1e9 + 1000], [-1e9]], "rbf", 1e6),
    "near 300": ([[300.0], [301.0], [299.0]], "rbf", 1 + 1e-9),
    "rows that nearly coincide": ([[0.0], [1e-9], [1.0]], "laplacian", 1 + 1e-4),
    "rows that nearly coincide, twice": ([[0.0], [1e-9], [1.0], [1 + 1e-9], [2.0]], "laplacian", 1 + 1e-5),
}


@pytest.mark.parametrize("case", ILL_CONDITIONED)
def test_length_of_a_kernel_separator(case):
    """Neither rows far from 0 nor weights that nearly cancel hide a separator that is not of length 1."""
    X, kernel, factor = ILL_CONDITIONED[case]
    y = [0, 1, 0, 1, 0][: len(X)]
    certificate = nk.certify(X, y, kernel=kernel, gamma=1.0)
    certificate.verify(X, y)
    for forged in (factor, 1 / factor):
        with pytest.raises(CertificateError, match="length"):
            replace(certificate, separator=certificate.separator * forged).verify(X, y)

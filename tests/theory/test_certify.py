"""certify: its verdicts are right, its numbers are proved, and its repr shows both."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.datasets import load_iris

import novikoff as nk
from novikoff.errors import CertificateError, DataError
from tests.reference import perceptron as reference
from tests.reference import separability as oracle
from tests.support.strategies import FORMATS, ORDERS, TIES
from tests.theory import problems

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
AND, OR, XOR = [0, 0, 0, 1], [0, 1, 1, 1], [0, 1, 1, 0]
SIX = np.array([[-1.0, 2.0], [1.0, 0.0], [1.0, 1.0], [-1.0, 0.0], [-1.0, -2.0], [1.0, -1.0]])  # spec.md, section 2
SIX_LABELS = np.array([-1, 1, 1, -1, -1, 1])
METHODS = ["hull", "lp"]
SLACK = 1 + 1e-9

methods = st.sampled_from(METHODS)


def points(X, y, intercept):
    """z for the larger of the labels against the other."""
    y = np.asarray(y)
    return oracle.points(X, np.where(y == y.max(), 1, -1), intercept)


def assert_right(certificate, X, y):
    """The verdict is that of exact linear programming, everything claimed is true, and the checker agrees."""
    Z = points(X, y, certificate.question.fit_intercept)
    assert bool(certificate) == oracle.separable(Z)
    assert oracle.holds(certificate, X, y)
    certificate.verify(X, y)
    if certificate:
        assert isinstance(certificate, nk.Separable)
        assert 0.0 < certificate.margin == certificate.margin_lower <= certificate.margin_upper
        assert certificate.margin_lower >= certificate.margin_upper * (1 - 1e-9)
    else:
        assert isinstance(certificate, nk.Inseparable)
        assert 1 <= len(certificate.rows) <= len(Z[0]) + 1


# -- known truths


def test_xor():
    c = nk.certify(CORNERS, XOR)
    assert not c
    assert isinstance(c, nk.Inseparable)
    assert c.rows.tolist() == [0, 1, 2, 3]
    assert c.multipliers == (1, 1, 1, 1)
    assert c.shares.tolist() == [0.25] * 4
    c.verify(CORNERS, XOR)


# By symmetry w = (a, a) and b. The rows nearest to the boundary have equal margins m * |(a, a, b)| = 1, say.
#   AND: 2a + b = 1 and -(a + b) = 1 give (2, 2, -3); the length is sqrt(17).
#        No w does better: (7 z_3 + 5 z_1 + 5 z_2) / 17 = (2, 2, -3) / 17 is a point of the hull that long.
#   OR:  -b = 1 and a + b = 1 give (2, 2, -1); the length is 3.
#        (5 z_0 + 2 z_1 + 2 z_2) / 9 = (2, 2, -1) / 9 is a point of the hull that long.
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("y", "w", "squared", "support"),
    [(AND, (2, 2, -3), 17, {3: 7, 1: 5, 2: 5}), (OR, (2, 2, -1), 9, {0: 5, 1: 2, 2: 2})],
    ids=["AND", "OR"],
)
def test_and_or(method, y, w, squared, support):
    c = nk.certify(CORNERS, y, method=method)
    assert c
    assert c.margin == pytest.approx(1 / math.sqrt(squared), rel=1e-12)
    assert c.margin_lower**2 <= Fraction(1, squared) <= Fraction(c.margin_upper) ** 2
    assert np.append(c.separator, c.intercept) == pytest.approx(np.array(w) / math.sqrt(squared), rel=1e-9)
    assert dict(zip(c.support.tolist(), c.multipliers.tolist(), strict=True)) == pytest.approx(
        {row: m / sum(support.values()) for row, m in support.items()}
    )
    assert c.radius == pytest.approx(math.sqrt(3), rel=1e-12)
    assert c.mistake_bound == pytest.approx(3 * squared, rel=1e-9)
    c.verify(CORNERS, y)


def test_boolean_functions_of_two():
    """Of the sixteen, all but XOR and its negation."""
    for number in range(16):
        y = [number >> bit & 1 for bit in range(4)]
        assert bool(nk.certify(CORNERS, y)) == (y not in ([0, 1, 1, 0], [1, 0, 0, 1]))


def test_six_points():
    """z is (1, -2), (1, 0), (1, 1), (1, 0), (1, 2), (1, -1): the hull is a segment of the line x = 1, and (1, 0) is
    nearest. With a constant the z's are (1, v, -1) or (1, v, 1), and (1, 0, 0) is nearest."""
    c = nk.certify(SIX, SIX_LABELS, fit_intercept=False)
    assert c.margin == pytest.approx(1.0, rel=1e-12)
    assert c.separator == pytest.approx([1.0, 0.0], abs=1e-12)
    assert c.intercept == 0.0
    assert c.radius == pytest.approx(math.sqrt(5))
    assert c.mistake_bound == pytest.approx(5.0)
    with_constant = nk.certify(SIX, SIX_LABELS)
    assert with_constant.margin == pytest.approx(1.0, rel=1e-12)
    assert with_constant.mistake_bound == pytest.approx(6.0)
    for certificate in (c, with_constant):
        certificate.verify(SIX, SIX_LABELS)


@pytest.mark.parametrize("method", METHODS)
def test_iris(method):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    verdicts = nk.certify(X, names, method=method)
    assert {key: bool(c) for key, c in verdicts.items()} == {
        "setosa": True,
        "versicolor": False,
        "virginica": False,
        ("setosa", "versicolor"): True,
        ("setosa", "virginica"): True,
        ("versicolor", "virginica"): False,
    }
    assert not verdicts
    verdicts.verify(X, names)
    V = reference.differences(reference.folded(X, True), np.where(y == 0, 1, -1))
    assert verdicts["setosa"].margin == pytest.approx(reference.largest_margin(V), rel=1e-9)
    assert all(len(c.rows) <= 6 for c in verdicts.values() if not c)


def test_two_points():
    """Without an intercept and with opposite labels, the distance of a segment from 0; with one, half of theirs
    lifted by the constant: z = (a, 1) and (-b, -1), and gamma is the distance of a line from 0 if its foot is
    between them."""
    for a, b in [(3.0, 1.0), (0.5, -0.25), (1e-3, 1e-4)]:
        u, v = np.array([a, 1.0]), np.array([-b, -1.0])
        foot = u + np.clip(u @ (u - v) / ((u - v) @ (u - v)), 0, 1) * (v - u)
        assert nk.certify([[a], [b]], [1, -1]).margin == pytest.approx(np.linalg.norm(foot), rel=1e-9)


# -- agreement with linear programs, small problems of every kind


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", problems.KINDS, ids=lambda kind: kind.__name__)
def test_agrees_with_exact_linear_programming(kind, intercept):
    for seed in range(25):
        X, y = kind(np.random.default_rng(seed))
        for method in METHODS:
            assert_right(nk.certify(X, y, fit_intercept=intercept, method=method), X, y)


@pytest.mark.parametrize("intercept", [True, False])
def test_agrees_with_scipy(intercept):
    """Integers up to 3: no optimum is near the tolerance of HiGHS."""
    for seed in range(150):
        X, y = problems.integers(np.random.default_rng(seed))
        truth = oracle.separable_by_scipy(points(X, y, intercept))
        assert bool(nk.certify(X, y, fit_intercept=intercept)) == truth


@given(problem=problems.small(), intercept=st.booleans(), method=methods)
def test_right_on_integers(problem, intercept, method):
    X, y = problem
    c = nk.certify(X, y, fit_intercept=intercept, method=method)
    assert_right(c, X, y)
    if c:
        V = reference.differences(reference.folded(X, intercept), np.where(y == y.max(), 1, -1))
        assert c.margin == pytest.approx(reference.largest_margin(V), rel=1e-9)
        w = np.append(c.separator, c.intercept).astype(float)
        assert np.linalg.norm(w) == pytest.approx(1.0, rel=1e-12)
        assert c.multipliers.sum() == pytest.approx(1.0, rel=1e-12)
        assert c.radius == pytest.approx(np.linalg.norm(V, axis=1).max(), rel=1e-12)


@given(problem=problems.small(max_rows=5, max_columns=2), intercept=st.booleans(), tol=st.sampled_from([0.0, 1e-9]))
def test_margin_is_bracketed(problem, intercept, tol):
    """margin_lower <= gamma <= margin_upper, with gamma^2 as a fraction from all simplices; 0 iff inseparable."""
    X, y = problem
    c = nk.certify(X, y, fit_intercept=intercept, tol=tol)
    squared = oracle.squared_margin(points(X, y, intercept))
    assert bool(c) == (squared > 0)
    if c:
        assert Fraction(c.margin_lower) ** 2 <= squared <= Fraction(c.margin_upper) ** 2


def test_a_coarse_tolerance_is_still_proved():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 5))
    y = np.where(X @ np.arange(5) > 0.1, 1, -1)
    fine, coarse = nk.certify(X, y), nk.certify(X, y, tol=0.5)
    assert coarse.margin_lower <= fine.margin_upper
    assert fine.margin_lower <= coarse.margin_upper
    assert coarse.margin_lower >= 0.5 * coarse.margin_upper
    coarse.verify(X, y)


@pytest.mark.parametrize("noise", [0.0, 0.02])
def test_several_rounds_of_the_working_set(noise):
    """Many rows near the boundary, which decide, join the working set in several rounds."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((6000, 6))
    score = X @ np.arange(1, 7) + 0.5
    X, score = X[abs(score) > 0.05], score[abs(score) > 0.05]
    y = np.where(score > 0, "yes", "no")
    flipped = rng.random(len(y)) < noise
    y[flipped] = np.where(score[flipped] > 0, "no", "yes")
    c = nk.certify(X, y)
    assert bool(c) == (not flipped.any())
    c.verify(X, y)
    assert c or len(c.rows) <= 8


def test_more_columns_than_rows_at_size():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 500))
    c = nk.certify(X, rng.integers(0, 2, 60), fit_intercept=False)
    assert c  # any labels of independent rows
    assert len(c.support) == 60 or c.margin_lower >= c.margin_upper * (1 - 1e-9)


# -- the witness


def witness_sum(c, X, y):
    Z = points(X, y, c.question.fit_intercept)
    return oracle.combined(c.multipliers, [Z[row] for row in c.rows])


@given(problem=problems.small(min_rows=3), intercept=st.booleans(), method=methods)
def test_the_witness(problem, intercept, method):
    """At most d + 1 different rows, positive integer multipliers without a common factor, and they cancel exactly."""
    X, y = problem
    c = nk.certify(X, y, fit_intercept=intercept, method=method)
    assume(not c)
    assert c.rows.tolist() == sorted(set(c.rows.tolist()))
    assert len(c.rows) == len(c.multipliers) <= X.shape[1] + intercept + 1
    assert all(isinstance(m, Fraction) and m > 0 and m.denominator == 1 for m in c.multipliers)
    assert math.gcd(*map(int, c.multipliers)) == 1
    assert not any(witness_sum(c, X, y))
    assert c.shares.sum() == pytest.approx(1.0)


@given(problem=problems.small(min_rows=3), intercept=st.booleans(), seed=st.integers(0, 999))
def test_every_half_space_errs_on_a_row_of_the_witness(problem, intercept, seed):
    X, y = problem
    c = nk.certify(X, y, fit_intercept=intercept)
    assume(not c)
    Z = np.array(points(X, y, intercept), float)[c.rows]
    W = np.random.default_rng(seed).integers(-9, 10, (Z.shape[1], 200))
    assert ((Z @ W).min(axis=0) <= 0).all()


@given(problem=problems.small(min_rows=3), intercept=st.booleans())
def test_every_row_of_the_witness_is_needed(problem, intercept):
    X, y = problem
    c = nk.certify(X, y, fit_intercept=intercept)
    assume(not c and len(c.rows) > 1)
    Z = points(X, y, intercept)
    for left_out in c.rows:
        assert oracle.separable([Z[row] for row in c.rows if row != left_out])


def test_witnesses_of_one_or_two_rows():
    assert nk.certify([[1.0], [0.0]], [1, -1], fit_intercept=False).rows.tolist() == [1]
    identical = nk.certify([[1.0, 2.0], [5.0, 5.0], [1.0, 2.0]], [1, 1, -1])
    assert identical.rows.tolist() == [0, 2]
    assert identical.multipliers == (1, 1)


# -- theorems


@given(problem=problems.small(), intercept=st.booleans(), ties=st.sampled_from(TIES), order=st.sampled_from(ORDERS))
def test_novikoff(problem, intercept, ties, order):
    """No run makes more mistakes than the bound, and |w| / mistakes never falls below the margin."""
    X, y = problem
    assume(len(set(y)) == 2)
    c = nk.certify(X, y, fit_intercept=intercept)
    assume(c)
    clf = nk.Perceptron(fit_intercept=intercept, ties=ties, order=order, max_iter=200_000, random_state=0).fit(X, y)
    assert clf.ledger_.mistakes <= c.mistake_bound
    assert clf.ledger_.radius <= c.radius * SLACK
    if clf.ledger_.mistakes:
        assert clf.ledger_.margin_at_most * SLACK >= c.margin_lower


@given(problem=problems.small(), intercept=st.booleans())
def test_novikoff_for_the_perceptron_as_printed(problem, intercept):
    X, y = problem
    c = nk.certify(X, y, fit_intercept=intercept)
    assume(c and len(set(y)) == 2 and c.mistake_bound < 2000)
    folded = reference.folded(X, intercept)
    run = reference.start(folded.shape[1])
    reference.cycle(run, folded, y, reference.perceptron, "mistake", 3000)
    assert run.converged
    assert sum(run.mistakes) <= c.mistake_bound


@given(problem=problems.small(), intercept=st.booleans(), seed=st.integers(0, 99))
def test_no_hyperplane_has_a_larger_margin(problem, intercept, seed):
    X, y = problem
    c = nk.certify(X, y, fit_intercept=intercept)
    assume(c)
    Z = np.array(points(X, y, intercept), float)
    W = np.random.default_rng(seed).standard_normal((Z.shape[1], 100))
    assert ((Z @ W).min(axis=0) / np.linalg.norm(W, axis=0)).max() <= c.margin_upper * SLACK


@given(problem=problems.small())
def test_an_intercept_never_hurts(problem):
    X, y = problem
    assert nk.certify(X, y) or not nk.certify(X, y, fit_intercept=False)


# -- the same rows in other formats and orders


@given(problem=problems.small(), intercept=st.booleans(), form=st.sampled_from([*FORMATS, "DataFrame", "list", "int8"]))
def test_formats(problem, intercept, form):
    X, y = problem
    other = {
        **FORMATS,
        "DataFrame": lambda X: pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]),
        "list": lambda X: X.tolist(),
        "int8": lambda X: X.astype(np.int8),
    }[form](X)
    c, of_other = nk.certify(X, y, fit_intercept=intercept), nk.certify(other, y, fit_intercept=intercept)
    assert_same(c, of_other)
    of_other.verify(other, y)
    c.verify(other, y)
    of_other.verify(X, y)


def assert_same(c, other, scale=1.0):
    assert bool(c) == bool(other)
    if c:
        assert other.margin == pytest.approx(c.margin * scale, rel=1e-9)
        assert other.radius == pytest.approx(c.radius * scale, rel=1e-9)


@pytest.mark.parametrize("make", [sp.csc_array, sp.coo_matrix, sp.csr_matrix, sp.lil_array])
def test_other_sparse_formats(make):
    c = nk.certify(make(CORNERS), AND)
    assert c.margin == pytest.approx(1 / math.sqrt(17))
    c.verify(make(CORNERS), AND)


@pytest.mark.parametrize("intercept", [True, False])
def test_long_sparse_rows(intercept):
    """Beyond a thousand columns the rows stay sparse all the way."""
    rng = np.random.default_rng(5)
    X = sp.random_array((80, 5000), density=0.002, rng=rng, format="csr")
    y = rng.integers(0, 2, 80)
    dense = X.toarray()
    c = nk.certify(X, y, fit_intercept=intercept)
    assert_same(nk.certify(dense, y, fit_intercept=intercept), c)
    c.verify(X, y)
    c.verify(dense, y)
    zeros = (dense == 0).all(axis=1)
    assert bool(c) == (not zeros.any() if not intercept else len(set(y[zeros])) < 2)


def test_float32_is_not_rounded_again():
    X = np.array([[0.1, 0.2], [0.3, 0.1]], np.float32)
    c = nk.certify(X, [0, 1])
    c.verify(X, [0, 1])
    c.verify(X.astype(float), [0, 1])
    assert c.margin == nk.certify(X.astype(float), [0, 1]).margin


@given(problem=problems.small(), intercept=st.booleans(), seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(problem, intercept, seed):
    X, y = problem
    order = np.random.default_rng(seed).permutation(len(X))
    assert_same(nk.certify(X, y, fit_intercept=intercept), nk.certify(X[order], y[order], fit_intercept=intercept))


@given(problem=problems.small(), power=st.sampled_from([-300, -100, -40, -1, 3, 60, 200, 400]))
def test_scaling_by_powers_of_two(problem, power):
    """Without an intercept the margin scales with the rows."""
    X, y = problem
    c, scaled = nk.certify(X, y, fit_intercept=False), nk.certify(X * 2.0**power, y, fit_intercept=False)
    assert_same(c, scaled, 2.0**power)
    scaled.verify(X * 2.0**power, y)


@given(problem=problems.small(), seed=st.integers(0, 99))
def test_scaling_each_row_leaves_the_verdict(problem, seed):
    X, y = problem
    scaled = X * 2.0 ** np.random.default_rng(seed).integers(-60, 61, (len(X), 1))
    assert bool(nk.certify(X, y, fit_intercept=False)) == bool(nk.certify(scaled, y, fit_intercept=False))


@given(problem=problems.small(), intercept=st.booleans())
def test_repeated_rows_do_not_matter(problem, intercept):
    X, y = problem
    twice = np.vstack([X, X]), np.concatenate([y, y])
    assert_same(nk.certify(X, y, fit_intercept=intercept), nk.certify(*twice, fit_intercept=intercept))


@pytest.mark.parametrize(
    "labels", [(-1, 1), (0, 1), (False, True), ("ham", "spam"), (2.5, 7.5), (np.int8(3), np.int8(9))], ids=str
)
def test_labels(labels):
    """The larger one is positive, whatever they are."""
    y = [labels[answer] for answer in AND]
    c = nk.certify(CORNERS, y)
    assert c.question.positive == labels[1]
    assert c.question.negative == labels[0]
    assert (c.separator > 0).all()
    c.verify(CORNERS, y)
    c.verify(CORNERS, np.array(y))
    c.verify(CORNERS, pd.Series(y))
    with pytest.raises(CertificateError):
        c.verify(CORNERS, y[::-1])


def test_inputs_are_not_changed():
    X, y = CORNERS.copy(), np.array(AND)
    X.setflags(write=False)
    nk.certify(X, y).verify(X, y)
    assert (X == CORNERS).all()


# -- scales and rounding


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("powers", [(-8, 8), (-30, 30), (-140, 140), (-200, 140), (-190, -150), (130, 140)], ids=str)
def test_bad_scales(powers, intercept):
    """Powers of ten between the rows, or between all cells."""
    for seed in range(25):
        X, y = problems.badly_scaled(np.random.default_rng(seed), *powers)
        for method in METHODS:
            assert_right(nk.certify(X, y, fit_intercept=intercept, method=method), X, y)


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-162, 1e-150, 1e-20, 1e20, 1e130, 1e140])
def test_one_bad_scale(scale):
    for seed in range(30):
        X, y = problems.integers(np.random.default_rng(seed))
        for intercept in (True, False):
            assert_right(nk.certify(X * scale, y, fit_intercept=intercept), X * scale, y)


@pytest.mark.parametrize("intercept", [True, False])
def test_margins_smaller_than_rounding(intercept):
    """Rows pushed to within 1e-18 of a hyperplane: doubles cannot tell, and the verdict is right."""
    verdicts = []
    for seed in range(80):
        X, y = problems.pushed_to_the_boundary(np.random.default_rng(seed))
        c = nk.certify(X, y, fit_intercept=intercept)
        assert_right(c, X, y)
        verdicts.append(bool(c))
    assert 10 < sum(verdicts) < 75  # there are some of both


@pytest.mark.parametrize("off", [-1, 0, 1])
def test_one_unit_in_the_last_place_decides(off):
    """(1, 1) and (3, 3) against (2, 2 + off units): on a line, or just beside it on either side, all can be told."""
    X = np.array([[1.0, 1.0], [3.0, 3.0], [2.0, 2.0 + off * np.spacing(2.0)]])
    c = nk.certify(X, [0, 0, 1])
    assert bool(c) == (off != 0)
    assert_right(c, X, np.array([0, 0, 1]))


def test_a_huge_mistake_bound():
    c = nk.certify([[1e-200], [-1e-200]], [1, -1])
    assert c.margin == 1e-200
    c.verify([[1e-200], [-1e-200]], [1, -1])
    assert c.mistake_bound > 1e300
    assert "margin" in repr(c)
    assert "margin" in c._repr_html_()


def test_a_margin_below_the_smallest_double():
    """The margin is 2/3 of the smallest double: separable. A clear error is acceptable too."""
    X = [[5e-324, 1.0], [0.0, 2.0]]
    try:
        c = nk.certify(X, [1, -1], fit_intercept=False)
    except DataError:
        return
    assert c
    c.verify(X, [1, -1])
    assert repr(c)


# -- bool and repr


def test_bool_and_repr_of_separable():
    c = nk.certify(CORNERS, OR)
    assert c
    text = repr(c)
    assert text.startswith("Separable: 1 against 0")
    for word in ("margin", "0.333333", "radius R", "1.73205", "mistake bound", "27", "support", "0, 1, 2"):
        assert word in text
    page = c._repr_html_()
    assert page.startswith("<table>")
    assert page.endswith("</table>")
    assert "0.333333" in page
    assert isinstance(c.separator, np.ndarray)
    assert c.separator.shape == (2,)
    assert float(c.intercept) == pytest.approx(-1 / 3)
    assert sorted(c.support.tolist()) == [0, 1, 2]
    assert (c.n_rows, c.n_features) == (4, 2)


def test_bool_and_repr_of_inseparable():
    c = nk.certify(CORNERS, np.array(["<b>", "&", "&", "<b>"]))
    assert not c
    assert repr(c).startswith("Inseparable: <b> against &")
    assert "0, 1, 2, 3" in repr(c)
    page = c._repr_html_()
    assert "&lt;b&gt; against &amp;" in page
    assert "<b>" not in page


def test_long_lists_are_cut_short():
    X = np.eye(40)
    text = repr(nk.certify(X, np.ones(40), fit_intercept=False))
    assert "and 28 more" in text
    assert len(text.splitlines()) == 5


@given(problem=problems.small(), intercept=st.booleans())
def test_every_certificate_has_a_repr(problem, intercept):
    c = nk.certify(*problem, fit_intercept=intercept)
    assert len(repr(c).splitlines()) in (4, 5)
    assert c._repr_html_().count("<tr>") == len(repr(c).splitlines()) - 1


# -- one class


def test_one_class():
    """With an intercept always; without one iff some half-space through 0 has all rows inside."""
    X = np.array([[1.0, 2.0], [-1.0, 3.0], [0.5, -4.0]])
    assert nk.certify(X, [1, 1, 1]).margin >= 1.0 / SLACK
    c = nk.certify(X, [1, 1, 1], fit_intercept=False)
    assert bool(c) == oracle.separable(oracle.points(X, [1, 1, 1], False))
    c.verify(X, [1, 1, 1])
    around = np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
    assert not nk.certify(around, ["a"] * 3, fit_intercept=False)


@pytest.mark.parametrize("label", [-1, 0, 1, "a", False])
def test_one_class_of_any_label(label):
    c = nk.certify([[1.0], [2.0]], [label, label])
    assert c
    assert label in (c.question.positive, c.question.negative)
    c.verify([[1.0], [2.0]], [label, label])
    assert str(label) in repr(c)
    assert "None" not in repr(c)


def test_one_row():
    c = nk.certify([[3.0, 4.0]], [1], fit_intercept=False)
    assert (c.margin, c.radius) == pytest.approx((5.0, 5.0))
    assert c.mistake_bound == pytest.approx(1.0)
    assert not nk.certify([[0.0, 0.0]], [1], fit_intercept=False)


def test_no_columns():
    """Only the constant is left, which cannot tell two labels apart."""
    empty = np.empty((3, 0))
    for y, intercept, verdict in [([0, 1, 0], True, False), ([1, 1, 1], True, True), ([1, 1, 1], False, False)]:
        c = nk.certify(empty, y, fit_intercept=intercept)
        assert bool(c) == verdict
        c.verify(empty, y)


# -- many classes

LINE = np.array([[0.0], [1.0], [2.0], [3.0], [0.5]])
LINE_LABELS = np.array(["a", "b", "c", "c", "a"])


def test_verdicts_are_a_mapping():
    verdicts = nk.certify(LINE, LINE_LABELS)
    assert isinstance(verdicts, nk.Verdicts)
    assert list(verdicts) == ["a", "b", "c", ("a", "b"), ("a", "c"), ("b", "c")]
    assert len(verdicts) == 6
    assert ("b", "d") not in verdicts
    assert "a" in verdicts
    with pytest.raises(KeyError):
        verdicts["d"]
    assert {key: bool(c) for key, c in verdicts.items()} == {
        "a": True,
        "b": False,
        "c": True,
        ("a", "b"): True,
        ("a", "c"): True,
        ("b", "c"): True,
    }
    assert not verdicts
    verdicts.verify(LINE, LINE_LABELS)


def test_verdicts_number_rows_of_the_whole_data():
    """Row numbers are those of X, and rows of other classes do not matter to a pair."""
    verdicts = nk.certify(LINE, LINE_LABELS)
    pair = verdicts["b", "c"]
    assert sorted(pair.support.tolist()) == [1, 2]
    assert pair.margin == pytest.approx(nk.certify([[1.0], [2.0], [3.0]], [0, 1, 1]).margin)
    assert pair.radius == pytest.approx(math.sqrt(10))
    assert verdicts["a", "b"].radius == pytest.approx(math.sqrt(2))
    moved = LINE.copy()
    moved[0] = 100.0
    pair.verify(moved, LINE_LABELS)
    for key in ("a", ("a", "b"), ("a", "c")):
        with pytest.raises(CertificateError):
            verdicts[key].verify(moved, LINE_LABELS)
    with pytest.raises(CertificateError):
        verdicts.verify(moved, LINE_LABELS)


def test_every_pair_may_be_separable_while_no_class_is():
    X = np.array([[0.0], [1.0], [2.0], [3.0]])
    y = [0, 1, 2, 3]
    verdicts = nk.certify(X, y)
    assert [bool(c) for c in verdicts.against_rest.values()] == [True, False, False, True]
    assert all(verdicts.pairs.values())
    assert verdicts[1].rows.tolist() in ([0, 1, 2], [0, 1, 3])
    corners = nk.certify(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]]), y[:3])
    assert corners


def test_repr_of_verdicts():
    verdicts = nk.certify(LINE, LINE_LABELS)
    lines = repr(verdicts).splitlines()
    assert lines[0] == "Verdicts"
    assert len(lines) == 7
    assert "a against the rest" in lines[1]
    assert "separable, margin" in lines[1]
    assert "not separable: 3 rows prove it" in lines[2]
    assert verdicts._repr_html_().count("<tr>") == 6


def test_positive_asks_one_question():
    c = nk.certify(LINE, LINE_LABELS, positive="b")
    verdicts = nk.certify(LINE, LINE_LABELS)
    assert c.rows.tolist() == verdicts["b"].rows.tolist()
    assert str(c.question) == "b against the rest"
    other_way = nk.certify(CORNERS, AND, positive=0)
    assert (other_way.separator < 0).all()
    other_way.verify(CORNERS, AND)


@given(seed=st.integers(0, 999), sparse=st.booleans())
def test_verdicts_agree_with_single_questions(seed, sparse):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (9, 2)).astype(float), rng.integers(0, 3, 9)
    assume(len(set(y)) == 3)
    verdicts = nk.certify(sp.csr_array(X) if sparse else X, y)
    verdicts.verify(X, y)
    for label, c in verdicts.against_rest.items():
        assert bool(c) == oracle.separable(oracle.points(X, np.where(y == label, 1, -1), True))
    for (one, other), c in verdicts.pairs.items():
        chosen = np.isin(y, [one, other])
        assert bool(c) == oracle.separable(oracle.points(X[chosen], np.where(y[chosen] == other, 1, -1), True))
        rows = c.support if c else c.rows
        assert chosen[rows].all()
        assert oracle.holds(c, X, y)


# -- bad input

NAN, INF = float("nan"), float("inf")
X2 = [[1.0, 2.0], [3.0, 4.0]]
BAD = {
    "nan": ([[1.0, 2.0], [3.0, NAN]], [0, 1], "NaN.*row 1, column 1"),
    "nan in a DataFrame": (pd.DataFrame({"a": [1.0, NAN], "b": [1.0, 2.0]}), [0, 1], "NaN.*row 1, column 0 .'a'"),
    "nan in sparse": (sp.csr_array([[1.0, 2.0], [0.0, NAN]]), [0, 1], "NaN.*row 1, column 1"),
    "infinite": ([[1.0, 2.0], [-INF, 4.0]], [0, 1], "infinity.*row 1, column 0"),
    "too large": ([[1.0, 2.0], [3.0, 1e200]], [0, 1], "too large.*row 1, column 1"),
    "no rows": (np.empty((0, 2)), [], "no rows"),
    "one dimension": ([1.0, 2.0], [0, 1], "2-D"),
    "three dimensions": ([X2], [0], "2-D"),
    "fewer labels": (X2, [0], "2 rows in X and 1 labels"),
    "more labels": (X2, [0, 1, 0], "2 rows in X and 3 labels"),
    "labels in a column": (X2, [[0], [1]], "1-D"),
    "one label for all": (X2, 1, "1-D"),
    "complex": (np.array(X2) * 1j, [0, 1], "Complex"),
    "strings": ([["a", "b"], ["c", "d"]], [0, 1], "Expected numbers"),
    "labels that do not sort": (X2, np.array(["a", 1], object), "sorted"),
    "a label that is nan": (X2, [NAN, 1.0], "NaN"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_data(case):
    X, y, match = BAD[case]
    with pytest.raises(DataError, match=f"(?s){match}"):
        nk.certify(X, y)


def test_unknown_positive():
    with pytest.raises(DataError, match=r"'c' is not in y.*\['a', 'b'\]"):
        nk.certify(X2, ["a", "b"], positive="c")


@pytest.mark.parametrize("method", ["simplex", "", None, "Hull"])
def test_unknown_method(method):
    with pytest.raises(ValueError, match="method must be one of 'hull', 'lp'"):
        nk.certify(X2, [0, 1], method=method)


@pytest.mark.parametrize("tol", [-1e-9, 1.0, 2, NAN, INF])
def test_tolerances_out_of_range(tol):
    with pytest.raises(ValueError, match="tol must be"):
        nk.certify(X2, [0, 1], tol=tol)

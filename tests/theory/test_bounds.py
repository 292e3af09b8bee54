"""Mistake bounds: no run exceeds them, and no v makes them smaller than their `lower`."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from novikoff.errors import DataError
from novikoff.inputs.rows import Rows
from novikoff.theory.bound_comparison import compare_bounds
from novikoff.theory.bounds import mistake_bound
from novikoff.theory.separability import certify
from tests.reference import perceptron as reference
from tests.support.strategies import FORMATS, separable, streams

THEOREMS = "freund-schapire", "hinge", "row-lengths"
TOLERANCES = {"freund-schapire": 1e-7, "hinge": 2e-6, "row-lengths": 2e-6}


def vectors(X, y, intercept=True):
    """z = y * (x, constant)."""
    return reference.differences(reference.folded(X, intercept), y)


def formula(theorem, Z, v):
    """The theorems as their papers print them."""
    p, h = math.sqrt((Z**2).sum(axis=1).max()) * np.linalg.norm(v), np.maximum(0, 1 - Z @ v)
    if theorem == "freund-schapire":
        return (p + math.sqrt((h**2).sum())) ** 2
    if theorem == "row-lengths":
        return most_by_lengths(Z, np.linalg.norm(v), h.sum())
    return ((p + math.sqrt(p * p + 4 * h.sum())) / 2) ** 2


def most_by_lengths(Z, length, loss):
    """The largest M with M - loss <= |v| sqrt(sum of the M largest |z|^2), by halving; sums are linear in between."""
    sums = np.append(0.0, np.cumsum(sorted((z @ z for z in Z), reverse=True)))
    low, high = 0.0, float(len(Z))
    for _ in range(200):
        middle = 0.5 * (low + high)
        fits = middle - loss <= length * math.sqrt(np.interp(middle, range(len(sums)), sums))
        low, high = (middle, high) if fits else (low, middle)
    return high


def best(theorem, Z):
    """The result of a general minimiser from a few starts: never below the optimum, and slightly above it."""

    def bound(v):
        return formula(theorem, Z, v)

    found = float(len(Z))
    for x in (Z.sum(axis=0), *np.random.default_rng(0).normal(size=(2, Z.shape[1]))):
        for _ in range(2):
            x = minimize(bound, x, method="BFGS", options={"gtol": 1e-10}).x
            x = minimize(bound, x, method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12}).x
        found = min(found, bound(x))
    return found


def longest_run(X, y, intercept, rng, n_orders, n_passes=1):
    """The most mistakes of the reference perceptron over some random orders."""
    X, most = reference.folded(X, intercept), 0
    for _ in range(n_orders):
        run = reference.start(X.shape[1])
        for _ in range(n_passes):
            order = rng.permutation(len(X))
            reference.learn(run, X[order], y[order], reference.perceptron, "mistake")
        most = max(most, sum(run.mistakes))
    return most


def adversarial_run(X, y, intercept):
    """Mistakes of one pass in an adversarial order: the row with the smallest margin comes next."""
    Z, mistakes = list(vectors(X, y, intercept)), 0
    w = np.zeros(len(Z[0]))
    while Z:
        margins = [w @ z for z in Z]
        z = Z.pop(int(np.argmin(margins)))
        if min(margins) <= 0:
            w, mistakes = w + z, mistakes + 1
    return mistakes


# -- the bounds hold


@given(stream=streams(labels=(-1, 1)), intercept=st.booleans(), seed=st.integers(0, 99))
def test_no_run_makes_more_mistakes(stream, intercept, seed):
    X, y = stream
    bound = mistake_bound(X, y, fit_intercept=intercept, positive=1 if 1 in y else None)
    y = y if 1 in y else -y
    most = max(longest_run(X, y, intercept, np.random.default_rng(seed), 20), adversarial_run(X, y, intercept))
    assert most <= bound.mistakes <= len(X)
    for candidate in bound.candidates.values():
        assert most <= candidate.mistakes
        assert math.isfinite(candidate.value)


@given(problem=separable(), seed=st.integers(0, 99))
def test_no_run_makes_more_mistakes_over_many_passes(problem, seed):
    bound = mistake_bound(problem.X, problem.y, fit_intercept=problem.intercept)
    novikoff = bound.candidates["novikoff"]
    assert novikoff.passes == "any"
    assert novikoff.value <= problem.bound * (1 + 1e-9)
    rng = np.random.default_rng(seed)
    assert longest_run(problem.X, problem.y, problem.intercept, rng, 3, n_passes=20) <= novikoff.mistakes
    assert longest_run(problem.X, problem.y, problem.intercept, rng, 10) <= bound.mistakes


@pytest.mark.parametrize("seed", range(30))
def test_no_run_makes_more_mistakes_on_larger_data(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (60, 3)).astype(float)
    X[40:] = X[rng.integers(0, 40, 20)]  # duplicates, some with the other label
    y = np.where(X @ rng.normal(size=3) + rng.normal(size=60) * (seed % 4) > 0, 1, -1)
    bound = mistake_bound(X, y, positive=1) if 1 in y else mistake_bound(X, y)
    assert max(longest_run(X, y, True, rng, 40), adversarial_run(X, y, True)) <= bound.mistakes


def test_a_run_that_reaches_the_bound():
    """Orthogonal unit vectors: every one of them is a mistake, and all theorems say so."""
    bound = mistake_bound(np.eye(9), [1, -1, -1] * 3, fit_intercept=False)
    assert bound.theorem == "novikoff"
    assert bound.passes == "any"
    assert [candidate.mistakes for candidate in bound.candidates.values()] == [9] * 4
    assert bound.lower == pytest.approx(9)


def test_one_long_row_does_not_spoil_the_bound():
    """The other theorems multiply all mistakes by its length, and prove nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X /= np.linalg.norm(X, axis=1)[:, None]
    X[7] *= 30.0
    y = np.where(X @ [1.0, 0.3] + 0.2 * rng.normal(size=200) > 0, 1, -1)
    bound = mistake_bound(X, y, fit_intercept=False)
    assert bound.theorem == "row-lengths"
    assert bound.candidates["hinge"].mistakes == bound.candidates["freund-schapire"].mistakes == 200
    assert bound.mistakes < 120
    assert max(longest_run(X, y, False, rng, 40), adversarial_run(X, y, False)) <= bound.mistakes
    bound.verify(X, y)


@given(stream=streams(labels=(-1, 1)), seed=st.integers(0, 999), intercept=st.booleans())
def test_no_run_makes_more_mistakes_than_any_direction_allows(stream, seed, intercept):
    """Rows of very different lengths, and directions and margins of one's own, in random and adversarial orders."""
    X, y = stream
    rng = np.random.default_rng(seed)
    X = X * 2.0 ** rng.integers(-4, 5, len(X))[:, None]
    positive = 1 if 1 in y else None
    u, margin = rng.normal(size=X.shape[1] + intercept), rng.exponential()
    bound = mistake_bound(X, y, fit_intercept=intercept, positive=positive, u=u, margin=margin)
    signs = y if 1 in y else -y
    most = max(longest_run(X, signs, intercept, rng, 10), adversarial_run(X, signs, intercept))
    Z = vectors(X, signs, intercept)
    for name in THEOREMS:
        found = bound.candidates[name]
        assert most <= found.mistakes
        assert found.value == pytest.approx(formula(name, Z, u / np.linalg.norm(u) / margin), rel=1e-9)
    shortfall = np.maximum(0.0, margin - Z @ u / np.linalg.norm(u))
    assert bound.candidates["freund-schapire"].deviation == pytest.approx(
        np.linalg.norm(shortfall), rel=1e-9, abs=1e-12
    )
    bound.verify(X, y)


def test_a_direction_that_separates_has_novikoffs_bound():
    X, y = np.array([[1.0, 2.0], [2.0, 0.5], [-1.0, -1.0]]), np.array([1, 1, -1])
    bound = mistake_bound(X, y, fit_intercept=False, u=[2.0, 2.0], margin=1.0)
    assert bound.candidates["novikoff"].value == pytest.approx(5.0)
    assert bound.candidates["novikoff"].passes == "any"
    bound.verify(X, y)
    assert "novikoff" not in mistake_bound(X, y, fit_intercept=False, u=[1.0, 1.0], margin=2.0).candidates
    best_norm = certify(X, y, fit_intercept=False).minimum_norm
    assert bound.radius**2 * best_norm**2 == pytest.approx(certify(X, y, fit_intercept=False).mistake_bound)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({"u": [1.0, 0.0]}, "needs both u and margin"),
        ({"margin": 1.0}, "needs both u and margin"),
        ({"u": [1.0, 0.0], "margin": 0.0}, "margin must be a number > 0, found 0.0"),
        ({"u": [1.0], "margin": 1.0}, "u must have 2 numbers, or one more for the constant coordinate; it has 1"),
        ({"u": [0.0, 0.0], "margin": 1.0}, "finite numbers, not all 0"),
        ({"constant": -1.0}, "must be a number >= 0, found -1.0"),
    ],
)
def test_directions_that_are_none(given, match):
    with pytest.raises(DataError, match=match):
        mistake_bound([[0.0, 1.0], [1.0, 0.0]], [0, 1], **given)


# -- changed rows


@given(stream=streams(labels=(-1, 1)), seed=st.integers(0, 99), unit=st.booleans(), center=st.booleans())
def test_no_run_on_changed_rows_makes_more_mistakes(stream, seed, unit, center):
    X, y = stream
    bound = mistake_bound(X, y, positive=1 if 1 in y else None, unit_length=unit, center=center, constant=0.5)
    changed, signs = bound.change.apply(X), y if 1 in y else -y
    rng = np.random.default_rng(seed)
    most = max(longest_run(changed, signs, False, rng, 10), adversarial_run(changed, signs, False))
    assert most <= bound.mistakes
    if unit:
        assert bound.radius <= 1.0 + 1e-12
    bound.verify(X, y)


@pytest.mark.parametrize("form", FORMATS)
def test_comparison(form):
    X, y = inseparable(3)
    X = X + 5.0
    found = compare_bounds(FORMATS[form](X), y)
    assert [bound.mistakes for bound in found.bounds] == sorted(bound.mistakes for bound in found.bounds)
    assert found.unchanged.mistakes == mistake_bound(X, y).mistakes
    assert found.best.mistakes <= found.unchanged.mistakes
    assert str(found.best.change) in repr(found)
    for bound in found.bounds:
        bound.verify(FORMATS[form](X), y)
    assert len(compare_bounds(X, y, fit_intercept=False).bounds) == 4
    assert len(compare_bounds(X, y, constants=[0.1, 2.0]).bounds) == 6
    if sp.issparse(FORMATS[form](X)):
        with pytest.raises(DataError, match=r"pass X\.toarray"):
            mistake_bound(FORMATS[form](X), y, center=True)


# -- as tight as the theorem allows


def inseparable(seed, n=40, d=3, noise=0.7):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0, 1, -1)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("theorem", THEOREMS)
@pytest.mark.parametrize("noise", [0.0, 0.3, 2.0])
def test_a_general_minimiser_finds_nothing_better(theorem, noise, intercept):
    for seed in range(3):
        X, y = inseparable(seed, d=2, noise=noise)
        found = mistake_bound(X, y, fit_intercept=intercept).candidates[theorem]
        optimum = best(theorem, vectors(X, y, intercept))
        assert found.lower <= optimum * (1 + 1e-12)
        assert found.value <= optimum * (1 + 1e-6)


@given(stream=streams(labels=(-1, 1)), intercept=st.booleans())
def test_the_gap_is_within_the_tolerance(stream, intercept):
    X, y = stream
    for name, found in mistake_bound(X, y, fit_intercept=intercept).candidates.items():
        assert 0 < found.lower <= found.value
        assert found.gap <= TOLERANCES.get(name, 1e-8) * found.value


@given(stream=streams(labels=(-1, 1)), intercept=st.booleans())
def test_hinge_is_never_above_the_others(stream, intercept):
    found = mistake_bound(*stream, fit_intercept=intercept).candidates
    values = [found[name].value for name in ("row-lengths", "hinge", "freund-schapire", "novikoff") if name in found]
    assert values == sorted(values) or np.diff(values).min() >= -1e-5 * values[0]


@given(stream=streams(labels=(-1, 1)), seed=st.integers(0, 99), theorem=st.sampled_from(THEOREMS))
def test_weak_duality(stream, seed, theorem):
    """The lower bound of any dual weights is below the bound of any v: formulas of `lower` against those of `value`."""
    from novikoff.theory.hinge_bounds import FreundSchapireBound, HingeBound, RowLengthBound, ScaledPoints
    from novikoff.theory.signed_points import SignedPoints

    Z, rng = vectors(*stream), np.random.default_rng(seed)
    R = math.sqrt((Z**2).sum(axis=1).max())
    rows = Rows.of(stream[0])
    rows.require_numbers()
    shape = {
        "freund-schapire": FreundSchapireBound(),
        "hinge": HingeBound(),
        "row-lengths": RowLengthBound(ScaledPoints(SignedPoints(rows, stream[1].astype(float), 1.0))),
    }[theorem]
    for _ in range(20):
        alpha = rng.random(len(Z)) * rng.integers(0, 2, len(Z))
        v = rng.normal(size=Z.shape[1]) * 10.0 ** rng.integers(-3, 2)
        lower = shape.lower(alpha, alpha.sum(), np.linalg.norm(alpha @ Z) / R)
        assert lower <= formula(theorem, Z, v) * (1 + 1e-12)
        assert lower <= len(Z) * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_value_is_what_the_formula_says_of_u(seed):
    X, y = inseparable(seed)
    bound = mistake_bound(X, y)
    for name in THEOREMS:
        found = bound.candidates[name]
        v = np.append(found.u, found.intercept) / found.margin
        assert np.linalg.norm(np.append(found.u, found.intercept)) == pytest.approx(1, abs=1e-12)
        assert found.value == pytest.approx(formula(name, vectors(X, y), v), rel=1e-12)
        assert found.value >= formula(name, vectors(X, y), v) * (1 - 1e-15)
    found = bound.candidates["freund-schapire"]
    assert found.value == pytest.approx(((found.radius + found.deviation) / found.margin) ** 2)


def test_novikoff_is_the_best_of_all_where_rows_are_many():
    """Each point a hundred times: any loss costs too much, and h = 0 is the optimum of all three."""
    X, y = np.repeat([[1.0, 2.0], [2.0, 0.5], [-1.0, -1.0]], 100, axis=0), np.repeat([1, 1, -1], 100)
    bound = mistake_bound(X, y)
    assert bound.theorem == "novikoff"
    values = [found.value for found in bound.candidates.values()]
    assert values[:3] == pytest.approx([values[0]] * 3, rel=1e-9)
    assert values[3] <= values[0] * (1 + 1e-9)
    assert bound.candidates["hinge"].gap < 1e-6


# -- the same data in other formats, scales and orders


@pytest.mark.parametrize("form", FORMATS)
def test_formats(form):
    X, y = inseparable(3)
    X = np.round(X * 8) / 8  # exact in float32
    expected, found = mistake_bound(X, y), mistake_bound(FORMATS[form](X), y)
    for name in THEOREMS:
        assert found.candidates[name].value == pytest.approx(expected.candidates[name].value, rel=TOLERANCES[name])


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1e-3, 1e5, 1e140])
@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_scale_of_the_points_does_not_matter(scale, noise):
    X, y = inseparable(1, noise=noise)
    expected = mistake_bound(X, y, fit_intercept=False).candidates
    found = mistake_bound(X * scale, y, fit_intercept=False).candidates
    assert found.keys() == expected.keys()
    for name, bound in found.items():
        assert bound.value == pytest.approx(expected[name].value, rel=2e-6)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("noise", [0.0, 0.7])
def test_columns_of_different_scales(seed, noise):
    X, y = inseparable(seed, d=6, noise=noise)
    X = X * 10.0 ** np.array([-8, -4, 0, 2, 5, 8])
    bound = mistake_bound(X, y)
    assert longest_run(X, y, True, np.random.default_rng(seed), 20) <= bound.mistakes <= len(X)
    for name in THEOREMS:
        found = bound.candidates[name]
        assert np.isfinite([found.value, found.lower, found.loss, *found.u]).all()
        assert found.gap <= 1e-5 * found.value


@pytest.mark.parametrize("outlier", [1e3, 1e6, 1e100])
def test_one_long_row(outlier):
    X, y = inseparable(2)
    X[0] *= outlier
    bound = mistake_bound(X, y)
    assert bound.mistakes <= len(X)
    assert all(found.gap <= 1e-5 * found.value for found in bound.candidates.values())


def test_order_and_labels_do_not_matter():
    X, y = inseparable(5)
    expected = mistake_bound(X, y).value
    order = np.random.default_rng(0).permutation(len(X))
    assert mistake_bound(X[order], y[order]).value == pytest.approx(expected, rel=2e-6)
    named = mistake_bound(X, np.where(y > 0, "spam", "ham"))
    assert named.value == pytest.approx(expected, rel=2e-6)
    swapped = mistake_bound(X, y, positive=-1)
    assert swapped.value == pytest.approx(expected, rel=2e-6)
    assert swapped.candidates["freund-schapire"].u == pytest.approx(-named.candidates["freund-schapire"].u, abs=1e-4)


def test_many_rows_and_columns():
    rng = np.random.default_rng(0)
    X = sp.random_array((1000, 20_000), density=5e-4, rng=rng, format="csr") + sp.csr_array(
        np.eye(1000, 20_000, 19_000)
    )
    y = np.where(np.arange(1000) % 10, 1, 0)
    X = sp.hstack([X, sp.csr_array(3.0 * y[:, None] - 1.0)], format="csr")
    y[:100] = 1 - y[:100]
    X = sp.vstack([X, X[0]], format="csr")
    bound = mistake_bound(X, np.append(y, 1 - y[0]))
    assert bound.theorem == "row-lengths"
    assert bound.mistakes <= bound.candidates["hinge"].mistakes < 600
    assert all(found.gap <= 2e-6 * found.value for found in bound.candidates.values())


# -- special cases


def test_xor():
    bound = mistake_bound([[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1])
    assert bound.mistakes == 4
    assert bound.value == 4.0
    assert bound.margin is None
    assert not bound.u.any()
    assert "novikoff" not in bound.candidates


@pytest.mark.parametrize("intercept", [True, False])
def test_one_row(intercept):
    bound = mistake_bound([[3.0, 4.0]], ["a"], fit_intercept=intercept)
    assert (bound.theorem, bound.mistakes) == ("novikoff", 1)
    assert bound.radius == pytest.approx(math.sqrt(25 + intercept))


def test_rows_of_zeros():
    assert mistake_bound(np.zeros((5, 2)), [0, 1, 0, 1, 1], fit_intercept=False).mistakes == 5
    assert mistake_bound(np.zeros((5, 2)), [0, 0, 0, 0, 0]).mistakes == 1  # the constant coordinate alone
    X = np.array([[0.0, 0.0]] * 3 + [[1.0, 1.0]] * 50)
    bound = mistake_bound(X, np.ones(53), fit_intercept=False)
    assert 4 <= bound.mistakes < 10  # three zeros are mistakes for ever, one more is learned from


def test_no_columns():
    assert mistake_bound(np.zeros((10, 0)), [1] * 9 + [0]).mistakes == 4


def test_all_rows_are_of_one_class():
    X, _ = inseparable(0)
    assert mistake_bound(X, ["x"] * len(X)).candidates["novikoff"].mistakes >= 1


def test_a_given_certificate_is_used():
    X, y = inseparable(7, noise=0.0)
    for certificate in (certify(X, y), certify(X, y, positive=1), certify(X, y, positive=-1)):
        found = mistake_bound(X, y, certificate=certificate).candidates["novikoff"]
        assert found.value == pytest.approx(certify(X, y).mistake_bound)
        assert (vectors(X, y) @ np.append(found.u, found.intercept)).min() == pytest.approx(found.margin)
    y = np.where(X[:, 0] > 1, 2, y)
    verdicts = certify(X, y)
    assert mistake_bound(X, y, positive=2, certificate=verdicts).value == mistake_bound(X, y, positive=2).value


def test_certificates_of_other_data_are_refused():
    X, y = inseparable(7, noise=0.0)
    for other in (
        certify(X[1:], y[1:]),
        certify(X, np.sign(X[:, 0]).astype(int)),
        certify(X, y, fit_intercept=False),
    ):
        with pytest.raises(DataError, match="is not about these data"):
            mistake_bound(X, y, certificate=other)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0], [2.0], [3.0]], [0, 1, 2], "positive="),
        ([[1.0], [2.0]], [0], "1 labels"),
        (np.zeros((0, 2)), [], "no rows"),
        ([[1.0], [np.nan]], [0, 1], "NaN in row 1"),
        ([[1.0], [np.inf]], [0, 1], "infinity in row 1"),
        ([[1.0], [1e200]], [0, 1], "too large"),
        ([1.0, 2.0], [0, 1], "2-D"),
        ([[1.0], [2.0]], [0.0, np.nan], "NaN or None in row 1"),
        ([[1.0], [2.0]], [[0], [1]], "1-D"),
    ],
)
def test_bad_input(X, y, message):
    with pytest.raises(DataError, match=message):
        mistake_bound(X, y)


def test_unknown_positive():
    with pytest.raises(DataError, match="'spam' is not in y"):
        mistake_bound([[1.0], [2.0]], ["a", "b"], positive="spam")


def test_three_classes_one_against_the_rest():
    X, y = np.array([[0.0], [1.0], [2.0]]), ["a", "b", "c"]
    assert mistake_bound(X, y, positive="a").candidates["novikoff"].mistakes >= 1
    assert "novikoff" not in mistake_bound(X, y, positive="b").candidates


def test_data_are_not_changed():
    X, y = inseparable(0)
    before = X.copy()
    X.flags.writeable = False
    mistake_bound(X, y)
    assert (before == X).all()


def test_repr():
    X, y = inseparable(0)
    bound = mistake_bound(X, y)
    assert f"at most {bound.mistakes} in one pass over 40 rows" in repr(bound)
    assert "not separable" in repr(bound)
    assert "<table>" in bound._repr_html_()
    assert "loss |h|_2" in repr(bound.candidates["freund-schapire"])
    assert "any number of passes" in repr(mistake_bound([[1.0]], [1]))
    assert "none" in repr(mistake_bound([[0.0]] * 2, [0, 1], fit_intercept=False))

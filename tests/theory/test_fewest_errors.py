"""fewest_errors: agrees with brute force, and refuses forged results."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from sklearn.datasets import load_iris

import novikoff as nk
from novikoff.errors import CertificateError, DataError
from novikoff.theory import fewest_errors_search
from novikoff.theory.certificates import Inseparable
from novikoff.theory.distinct_points import DistinctPoints
from novikoff.theory.hitting_sets import WitnessPool
from novikoff.theory.signed_points import SignedPoints

XOR = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


def is_separable(z):
    """By a linear program: some w has <w, z> >= 1. On small integers HiGHS does not err."""
    if not len(z):
        return True
    answer = linprog(np.zeros(z.shape[1]), A_ub=-z, b_ub=-np.ones(len(z)), bounds=(None, None), method="highs")
    return answer.status == 0


def brute_force(X, y, fit_intercept):
    """The smallest set of rows without which the rest is separable."""
    X = np.asarray(X, float)
    z = (np.column_stack([X, np.ones(len(X))]) if fit_intercept else X) * np.where(np.asarray(y) > 0, 1, -1)[:, None]
    for count in range(len(z) + 1):
        for wrong in itertools.combinations(range(len(z)), count):
            if is_separable(np.delete(z, wrong, axis=0)):
                return count
    raise AssertionError


@st.composite
def problems(draw):
    """Few rows on a small grid: ties, duplicates, opposite rows and rows of zeros all occur."""
    n, d = draw(st.integers(1, 9)), draw(st.integers(1, 3))
    reach = draw(st.sampled_from([1, 3, 9]))
    X = draw(st.lists(st.lists(st.integers(-reach, reach), min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n))
    y[0] = 1  # a single class is the positive one
    return np.array(X, float), np.array(y), draw(st.booleans())


@given(problems())
def test_brute_force_agrees(problem):
    X, y, fit_intercept = problem
    found = nk.fewest_errors(X, y, fit_intercept=fit_intercept)
    assert found.lower == found.upper == brute_force(X, y, fit_intercept)
    assert found.is_exact
    found.verify(X, y)
    nk.fewest_errors(sp.csr_array(X), y, fit_intercept=fit_intercept).verify(sp.csr_array(X), y)


@given(problems(), st.sampled_from([0.0, 0.001, 0.005]))
def test_bounds_hold_at_any_time_limit(problem, time_limit):
    X, y, fit_intercept = problem
    found = nk.fewest_errors(X, y, fit_intercept=fit_intercept, time_limit=time_limit)
    assert found.lower <= brute_force(X, y, fit_intercept) <= found.upper
    found.verify(X, y)


def on_the_grid(seed, n=9):
    rng = np.random.default_rng(seed)
    return rng.integers(-2, 3, (n, 2)).astype(float), np.append(1, rng.integers(0, 2, n - 1))


@given(problems())
@settings(max_examples=30)
def test_rows_wrong_are_exact(problem):
    X, y, fit_intercept = problem
    found = nk.fewest_errors(X, y, fit_intercept=fit_intercept)
    signs = np.where(y > 0, 1, -1)
    w = [Fraction(v) for v in found.separator]
    bias = Fraction(found.intercept) if fit_intercept else 0
    margins = [
        s * (sum(a * Fraction(b) for a, b in zip(w, x, strict=True)) + bias) for s, x in zip(signs, X, strict=True)
    ]
    assert found.rows_wrong.tolist() == [row for row, margin in enumerate(margins) if margin <= 0]


def forgeries_of(found):
    """Results that claim more than is true, or prove less than they claim."""
    yield "lower + 1", replace(found, lower=found.lower + 1)
    yield "upper - 1", replace(found, upper=found.upper - 1)
    for drop in range(found.upper):
        kept = np.delete(found.rows_wrong, drop)
        yield "fewer wrong", replace(found, rows_wrong=kept, upper=found.upper - 1, lower=0)
        yield "one wrong twice", replace(found, rows_wrong=np.append(kept, kept[:1]))
    right = np.setdiff1d(np.arange(found.n_rows), found.rows_wrong)
    if right.size and found.upper:
        yield "other rows", replace(found, rows_wrong=np.append(found.rows_wrong[1:], right[0]))
        yield "other side", replace(found, separator=-found.separator, intercept=-found.intercept)
    for drop in range(len(found.witnesses)):
        witnesses = found.witnesses[:drop] + found.witnesses[drop + 1 :]
        shares = found.shares[:drop] + found.shares[drop + 1 :]
        if found.shares[drop] >= 1:
            yield "dropped witness", replace(found, witnesses=witnesses, shares=shares)
        yield "dropped share", replace(found, shares=shares)
        yield (
            "counted twice",
            replace(
                found,
                witnesses=(*found.witnesses, found.witnesses[drop]),
                shares=(*found.shares, Fraction(1)),
                lower=found.lower + 1,
            ),
        )
        more = (*found.shares[:drop], found.shares[drop] + found.n_rows, *found.shares[drop + 1 :])
        yield "larger share", replace(found, shares=more)
        one = found.witnesses[drop]
        if len(one.rows) > 1:
            fewer = replace(one, rows=one.rows[1:], multipliers=one.multipliers[1:])
            yield (
                "shorter witness",
                replace(found, witnesses=(*found.witnesses[:drop], fewer, *found.witnesses[drop + 1 :])),
            )


def verifies(found, X, y):
    try:
        found.verify(X, y)
    except CertificateError:
        return False
    return True


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_forgeries_are_refused(seed, fit_intercept):
    X, y = on_the_grid(seed)
    found = nk.fewest_errors(X, y, fit_intercept=fit_intercept)
    found.verify(X, y)
    for how, forged in forgeries_of(found):
        assert not verifies(forged, X, y), how


def test_copies_are_not_counted_twice():
    """Two witnesses through two copies of a row are not disjoint: both rows are wrong together."""
    X, y = np.array([[-1.0], [0.0], [0.0], [1.0]]), np.array([1, 0, 0, 1])
    one, two = (
        Inseparable(nk.certify(X, y).question, np.array(rows), (Fraction(1), Fraction(2), Fraction(1)), 4, 1)
        for rows in ([0, 1, 3], [0, 2, 3])
    )
    found = nk.fewest_errors(X, y)
    assert found.upper == 1
    for proof in ((one,), (two,)):
        replace(found, witnesses=proof, shares=(Fraction(1),)).verify(X, y)
    with pytest.raises(CertificateError):
        replace(
            found,
            lower=2,
            upper=2,
            rows_wrong=np.array([1, 2]),
            witnesses=(one, two),
            shares=(Fraction(1), Fraction(1)),
        ).verify(X, y)


@pytest.mark.parametrize("seed", range(20))
def test_hitting_sets_of_a_pool(seed):
    """Shares <= the cheapest hitting set = brute force <= a greedy one."""
    rng = np.random.default_rng(seed)
    pool = WitnessPool(rng.integers(1, 4, 7))
    for _ in range(6):
        pool.add(np.sort(rng.choice(7, rng.integers(1, 5), replace=False)), ())
    cheapest, is_cheapest = pool.find_cheapest(10.0)
    truth = min(
        sum(pool.costs[list(chosen)])
        for size in range(8)
        for chosen in itertools.combinations(range(7), size)
        if all(set(one.tolist()) & set(chosen) for one in pool.sets)
    )
    greedy = pool.find_greedily(rng)
    assert all(np.isin(one, greedy).any() for one in pool.sets)
    assert is_cheapest
    assert sum(pool.find_shares(10.0)) <= pool.costs[cheapest].sum() == truth <= pool.costs[greedy].sum()


def test_xor():
    found = nk.fewest_errors(*XOR)
    assert (found.lower, found.upper, len(found.witnesses)) == (1, 1, 1)
    assert "the best half-space errs on 1 of 4 rows" in repr(found)
    assert "<table>" in found._repr_html_()


def test_one_class():
    found = nk.fewest_errors([[0.0], [1.0]], ["a", "a"])
    assert (found.lower, found.upper, found.witnesses) == (0, 0, ())


def test_rows_of_zeros_are_always_wrong():
    found = nk.fewest_errors(np.zeros((5, 2)), [0, 1, 0, 1, 1], fit_intercept=False)
    assert (found.lower, found.upper) == (5, 5)
    found.verify(np.zeros((5, 2)), [0, 1, 0, 1, 1])


def test_opposite_rows_do_not_stay_on_the_boundary():
    """Of the two opposite rows on the axis one is right, even if the first half-space runs exactly through them."""
    X = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 5.0], [0.0, 5.0], [0.0, -7.0], [0.0, -7.0]])
    y = np.array([1, 0, 1, 0, 1, 0])
    found = nk.fewest_errors(X, y, fit_intercept=False)
    assert (found.lower, found.upper) == (2, 2)
    found.verify(X, y)


def test_iris():
    X, y = load_iris(return_X_y=True)
    X, y = X[y > 0], y[y > 0]
    found = nk.fewest_errors(X, y)
    assert (found.lower, found.upper) == (1, 1)
    found.verify(X, y)
    with pytest.raises(CertificateError):
        found.verify(X, 3 - y)


def test_many_labels_need_positive():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="positive=label"):
        nk.fewest_errors(X, y)
    with pytest.raises(DataError, match="not in y"):
        nk.fewest_errors(X, y, positive=7)
    found = nk.fewest_errors(X, y, positive=0)
    assert found.upper == 0
    found.verify(X, y)


@pytest.mark.parametrize("time_limit", [-1.0, float("nan")])
def test_bad_time_limit(time_limit):
    with pytest.raises(ValueError, match="time_limit"):
        nk.fewest_errors(*XOR, time_limit=time_limit)


def noisy(n=300, d=3, flipped=0.1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-50, 51, (n, d)).astype(float)
    y = np.where(X @ rng.standard_normal(d) > 0, 1, -1)
    return X, np.where(rng.random(n) < flipped, -y, y)


@pytest.mark.parametrize(
    ("name", "calls"), [*(("certify_signs", calls) for calls in (0, 1, 5, 40)), ("guess_half_spaces", 0)]
)
def test_interrupted(monkeypatch, name, calls):
    """Ctrl-C at any moment of the search leaves the bounds of that moment."""
    X, y = noisy()
    original, left = getattr(fewest_errors_search, name), [calls]

    def interrupt_once(*args, **kwargs):
        left[0] -= 1
        if left[0] == -1:
            raise KeyboardInterrupt
        return original(*args, **kwargs)

    monkeypatch.setattr(fewest_errors_search, name, interrupt_once)
    found = nk.fewest_errors(X, y)
    assert left[0] < 0
    assert 0 <= found.lower <= found.upper < len(X)
    found.verify(X, y)


def test_interrupted_by_the_listener():
    X, y = noisy()

    def enough(lower, upper):
        if lower >= 5:
            raise KeyboardInterrupt

    found = nk.fewest_errors(X, y, progress=enough)
    assert 5 <= found.lower <= found.upper
    found.verify(X, y)


def test_progress_only_improves(capsys):
    X, y = noisy()
    seen = []
    found = nk.fewest_errors(X, y, time_limit=2.0, verbose=True, progress=lambda *bounds: seen.append(bounds))
    lowers, uppers = zip(*seen, strict=True)
    assert list(lowers) == sorted(lowers)
    assert list(uppers) == sorted(uppers, reverse=True)
    assert len(set(seen)) == len(seen)
    assert found.lower == lowers[-1]
    assert found.upper <= uppers[-1]
    assert capsys.readouterr().err.count("of 300 rows") == len(seen)


def test_scales_of_columns_do_not_matter():
    """Powers of two in the columns, up to where doubles end, change nothing."""
    X, y = on_the_grid(5)
    expected = nk.fewest_errors(X, y)
    scaled = X * [2.0**-400, 2.0**300]
    found = nk.fewest_errors(scaled, y)
    assert (found.lower, found.upper) == (expected.lower, expected.upper)
    found.verify(scaled, y)


def test_thousands_of_opposite_rows():
    """Many copies on both sides are counted, not listed: one witness for each pair of opposite points."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (20_000, 5)).astype(float), rng.integers(0, 2, 20_000)
    found = nk.fewest_errors(X, y, time_limit=20.0)
    codes = (X @ [1, 2, 4, 8, 16]).astype(int)
    n_pairs = np.minimum(np.bincount(codes[y == 0], minlength=32), np.bincount(codes[y == 1], minlength=32)).sum()
    assert n_pairs <= found.lower <= found.upper < 10_000
    assert len(found.witnesses) < 500
    found.verify(X, y)


def test_distinct_points_account_for_every_row():
    X, y = on_the_grid(3, 60)
    signs = np.where(y > 0, 1, -1)
    rows = nk.Rows.of(X)
    rows.require_numbers()
    distinct = DistinctPoints.from_points(SignedPoints(rows, signs, 0.0))
    z = signs[:, None] * X
    seen = {tuple(max(row.tolist(), (-row + 0.0).tolist())) for row in z if row.any()}
    assert len(distinct.points) == len(seen)
    assert 2 * distinct.pairs.sum() + distinct.costs.sum() + len(distinct.zeros) == len(X)
    for row in range(len(X)):
        at = distinct.point_of_row[row]
        expected = np.zeros(2) if at < 0 else z[distinct.first[at]] * (1 if distinct.agrees[row] else -1)
        assert (expected == z[row]).all()


def test_formats_of_data():
    """Single precision, a frame and sparse rows are the same data; no columns leave only the intercept."""
    pd = pytest.importorskip("pandas")
    X, y = on_the_grid(1)
    expected = nk.fewest_errors(X, y)
    for form in (X.astype(np.float32), X.astype(int), pd.DataFrame(X), sp.csc_matrix(X), X.tolist()):
        found = nk.fewest_errors(form, y)
        assert (found.lower, found.upper) == (expected.lower, expected.upper)
        found.verify(form, y)
    nothing = np.empty((5, 0))
    for fit_intercept, errors in ((True, 2), (False, 5)):
        found = nk.fewest_errors(nothing, [0, 1, 1, 0, 1], fit_intercept=fit_intercept)
        assert (found.lower, found.upper) == (errors, errors)
        found.verify(nothing, [0, 1, 1, 0, 1])
        fewer = replace(found, lower=0, upper=errors - 1, rows_wrong=found.rows_wrong[1:])
        assert not verifies(fewer, nothing, [0, 1, 1, 0, 1])


def test_exact_where_shares_fall_short():
    """The proof then has cases, and few witnesses."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(-50, 51, (30, 3)).astype(float), rng.integers(0, 2, 30)
    found = nk.fewest_errors(X, y)
    assert found.is_exact
    assert sum(found.shares) <= found.lower - 1
    assert "and cases" in repr(found)
    found.verify(X, y)


def test_two_runs_agree():
    X, y = noisy(80, 2)
    one, two = nk.fewest_errors(X, y), nk.fewest_errors(X, y)
    assert one.is_exact
    assert one.rows_wrong.tolist() == two.rows_wrong.tolist()
    assert one.separator.tolist() == two.separator.tolist()
    assert [w.rows.tolist() for w in one.witnesses] == [w.rows.tolist() for w in two.witnesses]
    assert one.shares == two.shares


# -- units


def _small_problem(seed, n=10, d=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float)
    return X, np.append([0, 1], rng.integers(0, 2, n - 2))


@pytest.mark.parametrize("exponent", [*range(-1000, 471, 105), 470, 600, 900])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_bounds_do_not_depend_on_the_unit(exponent, form, fit_intercept):
    """In any unit, the same half-space up to that unit; or a clear error if squares do not fit into doubles."""
    for seed in range(3):
        X, y = _small_problem(seed)
        scaled = form(np.ldexp(X, exponent))
        if exponent > 470:
            with pytest.raises(nk.errors.DataError, match="too large"):
                nk.fewest_errors(scaled, y, fit_intercept=fit_intercept)
            continue
        plain = nk.fewest_errors(X, y, fit_intercept=fit_intercept)
        found = nk.fewest_errors(scaled, y, fit_intercept=fit_intercept)
        found.verify(scaled, y)
        assert plain.is_exact
        assert (found.lower, found.upper) == (plain.lower, plain.upper)
        np.testing.assert_array_equal(found.rows_wrong, plain.rows_wrong)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("what", ["columns", "rows", "both", "all"])
def test_units_of_rows_and_columns(what, fit_intercept):
    """1e-272 and 1e78 once made a norm underflow or overflow. Without a constant, multiples of a row share its side."""
    rng = np.random.default_rng(3)
    for seed in range(12):
        X, y = _small_problem(seed)
        n, d = X.shape
        factors = {
            "columns": np.ldexp(1.0, rng.integers(-900, 450, d)),
            "rows": np.ldexp(1.0, rng.integers(-900, 450, (n, 1))),
            "both": np.ldexp(1.0, rng.integers(-450, 220, d)) * np.ldexp(1.0, rng.integers(-450, 220, (n, 1))),
            "all": 10.0 ** rng.integers(-290, 140),
        }[what]
        found = nk.fewest_errors(X * factors, y, fit_intercept=fit_intercept)
        found.verify(X * factors, y)
        assert found.is_exact
        if what == "columns" or not fit_intercept:
            plain = nk.fewest_errors(X, y, fit_intercept=fit_intercept)
            assert what == "all" or (found.lower, found.upper) == (plain.lower, plain.upper)

"""Votes are exact: each weight vector votes by the sign of its exact score, and by `ties` where that is 0."""

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nk
from tests.reference import kernel_methods as kernel_reference
from tests.reference import perceptron as reference
from tests.reference import votes as exact_votes
from tests.support import strategies

many_ties = pytest.mark.parametrize("ties", strategies.TIES)
DIVISORS = {"tenths": 10.0, "thirds": 3.0, "halves": 2.0, "integers": 1.0}


def problem(rng, n, d, n_classes):
    """Return rows of small integers, many of them equal or opposite, and class codes."""
    X = rng.integers(-2, 3, (n, d)).astype(float)
    return X, rng.integers(0, n_classes, n)


def draw_queries(rng, d, divisor):
    return rng.integers(-3, 4, (12, d)) / divisor


@many_ties
def test_zero_vector_votes_as_ties_says(ties):
    """w is 0 before the first example and after the last: 2 - 3 + 1 = 0."""
    model = nk.Perceptron(hypothesis="voted", fit_intercept=False, ties=ties)
    model.partial_fit([[-2.0], [-3.0], [-1.0]], [-1, 1, -1])
    run = reference.learn(
        reference.start(1), np.array([[-2.0], [-3.0], [-1.0]]), [-1, 1, -1], reference.perceptron, ties
    )
    for x in (0.1, -0.1, 0.3, 1e-200, 1e100):
        assert model.decision_function([[x]]).tolist() == [exact_votes.linear_votes(run, [x], ties)]


@many_ties
@pytest.mark.parametrize("divisor", DIVISORS.values(), ids=DIVISORS)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("form", ["dense", "csr", "float32"])
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_votes_are_exact(ties, divisor, n_classes, form, fit_intercept):
    rng = np.random.default_rng(n_classes)
    make = {"dense": np.asarray, "csr": sp.csr_array, "float32": lambda X: X.astype(np.float32)}[form]
    for _ in range(5):
        d = int(rng.integers(1, 4))
        X, codes = problem(rng, 30, d, n_classes)
        model = nk.Perceptron(hypothesis="voted", fit_intercept=fit_intercept, ties=ties)
        model.partial_fit(make(X), codes, classes=list(range(n_classes)))
        y = 2 * codes - 1 if n_classes == 2 else codes
        run = reference.start(d + fit_intercept, n_classes)
        reference.learn(run, reference.folded(X, fit_intercept), y, reference.perceptron, ties)
        queries = make(draw_queries(rng, d, divisor))
        exact = reference.folded(np.asarray(queries.toarray() if form == "csr" else queries, float), fit_intercept)
        expected = [exact_votes.linear_votes(run, x, ties) for x in exact]
        np.testing.assert_array_equal(model.decision_function(queries), expected)


@many_ties
@pytest.mark.parametrize("n_classes", [2, 3])
def test_votes_of_dicts_are_exact(ties, n_classes):
    rng = np.random.default_rng(5)
    X, codes = problem(rng, 40, 3, n_classes)
    model = nk.Perceptron(hypothesis="voted", fit_intercept=False, ties=ties, classes=list(range(n_classes)))
    for x, code in zip(X, codes.tolist(), strict=True):
        model.learn_one(dict(zip("abc", x.tolist(), strict=True)), code)
    run = reference.start(3, n_classes)
    reference.learn(run, X, 2 * codes - 1 if n_classes == 2 else codes, reference.perceptron, ties)
    queries = draw_queries(rng, 3, 10.0)
    found = model.decision_function([dict(zip("abc", x.tolist(), strict=True)) for x in queries])
    np.testing.assert_array_equal(found, [exact_votes.linear_votes(run, x, ties) for x in queries])


@many_ties
@pytest.mark.parametrize(("n_classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])
@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
@pytest.mark.parametrize("divisor", [10.0, 3.0, 1.0])
def test_votes_of_polynomial_kernels_are_exact(ties, n_classes, multi_class, form, kernel, divisor):
    given = {"linear": {}, "poly": {"degree": 2, "gamma": 1.0, "coef0": 0.0}}[kernel]
    K = {"linear": exact_votes.polynomial(1, 1, 0), "poly": exact_votes.polynomial(2, 1, 0)}[kernel]
    rng = np.random.default_rng(n_classes)
    for _ in range(3):
        X, codes = problem(rng, 25, 2, n_classes)
        make = np.asarray if form == "dense" else sp.csr_array
        model = nk.KernelPerceptron(kernel, **given, hypothesis="voted", multi_class=multi_class, ties=ties)
        model.partial_fit(make(X), codes, classes=list(range(n_classes)))
        run = kernel_reference.start(K, ties, n_classes, multi_class)
        kernel_reference.cycle(run, X.tolist(), 2 * codes - 1 if n_classes == 2 else codes, list(range(25)), 25)
        queries = draw_queries(rng, 2, divisor)
        expected = np.array([run.score(x.tolist(), "voted") for x in queries], float)
        np.testing.assert_allclose(model.decision_function(make(queries)), expected, rtol=0, atol=1e-12)


@many_ties
@pytest.mark.parametrize("form", ["dense", "csr"])
def test_kernel_sum_that_cancels_votes_as_ties_says(ties, form):
    """Rows that come again with the other label make the function 0 everywhere from time to time."""
    rng = np.random.default_rng(1)
    make = np.asarray if form == "dense" else sp.csr_array
    points = [[0.1, 0.7], [0.2, 0.3], [0.9, 0.4]]
    X, y = [points[k] for k in rng.integers(0, 3, 80)], rng.integers(0, 2, 80)
    model = nk.KernelPerceptron("rbf", gamma=0.3, hypothesis="voted", ties=ties).partial_fit(make(np.array(X)), y)
    run = kernel_reference.start(kernel_reference.rbf(0.3), ties, 2, "ovr")
    kernel_reference.cycle(run, X, 2 * y - 1, list(range(80)), 80)
    balanced = [f for f in run.functions if all(sum(s for s, _, z in f.terms if z == x) == 0 for x in points)]
    assert max(len(f.terms) for f in balanced) > 4
    for f in balanced:
        f.terms.clear()  # the reference sums doubles, which leaves rounding errors
    queries = rng.random((20, 2))
    expected = [run.score(x, "voted") for x in queries.tolist()]
    np.testing.assert_allclose(model.decision_function(make(queries)), expected, rtol=0, atol=1e-12)

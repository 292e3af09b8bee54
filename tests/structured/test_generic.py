"""StructuredPerceptron: any structure by one machine."""

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import DataError


class Classes:
    """Multiclass as a structure: phi(x, y) is x in the block of class y. Ties go to the last class."""

    def __init__(self, n_classes, form):
        self.n_classes, self.form = n_classes, form

    def features(self, x, y):
        if self.form == "named":
            return {(y, k): value for k, value in enumerate(x)}
        phi = np.zeros((self.n_classes, len(x)))
        phi[y] = x
        return phi

    def best(self, weights, x):
        if self.form == "named":
            scores = [sum(weights[y, k] * value for k, value in enumerate(x)) for y in range(self.n_classes)]
        else:
            scores = list(weights @ np.asarray(x))
        return max(range(self.n_classes), key=lambda y: (scores[y], y))


def whole_numbers(n_classes):
    rows = st.lists(
        st.tuples(st.tuples(*[st.integers(-3, 3)] * 3), st.integers(0, n_classes - 1)), min_size=4, max_size=20
    )
    return rows.filter(lambda found: len({y for _, y in found}) == n_classes)


@given(whole_numbers(3), st.integers(1, 4), st.sampled_from(["named", "dense"]), st.sampled_from(["last", "averaged"]))
def test_multiclass_is_a_structure(rows, passes, form, hypothesis):
    """Exactly what nk.Perceptron learns: the same weights, mistakes and radius bound."""
    X, y = [x for x, _ in rows], [y for _, y in rows]
    mine = nk.StructuredPerceptron(Classes(3, form), hypothesis=hypothesis)
    theirs = nk.Perceptron(ties="positive", fit_intercept=False, hypothesis=hypothesis)
    for _ in range(passes):
        mine.partial_fit(X, y)
        theirs.partial_fit(X, y, classes=[0, 1, 2])
    weights = mine.weights_
    if form == "named":
        weights = np.array([[weights[k, j] for j in range(3)] for k in range(3)])
    np.testing.assert_allclose(weights, theirs.coef_, rtol=0, atol=1e-12)
    assert mine.ledger_.mistakes == theirs.ledger_.mistakes
    assert mine.ledger_.examples == theirs.ledger_.examples
    assert mine.ledger_.radius <= theirs.ledger_.radius + 1e-12  # theirs is of all rows, not of mistakes alone
    assert mine.ledger_.norm == pytest.approx(theirs.ledger_.norm, abs=1e-9)
    assert mine.predict(X) == theirs.predict(X).tolist()


class Places(Classes):
    """The same problem, its features the places of those that are there."""

    size = 9

    def features(self, x, y):
        return np.array([3 * y + k for k, count in enumerate(x) for _ in range(count)], np.int64)

    def best(self, weights, x):
        return super().best(weights.reshape(3, 3), x)


@given(whole_numbers(3), st.sampled_from(["last", "averaged"]))
def test_places_are_the_same_as_an_array(rows, hypothesis):
    X, y = [tuple(map(abs, x)) for x, _ in rows], [y for _, y in rows]
    dense = nk.StructuredPerceptron(Classes(3, "dense"), hypothesis=hypothesis, max_iter=3).fit(X, y)
    places = nk.StructuredPerceptron(Places(3, "places"), hypothesis=hypothesis, max_iter=3).fit(X, y)
    np.testing.assert_array_equal(places.weights_.reshape(3, 3), dense.weights_)
    assert places.ledger_.norm == pytest.approx(dense.ledger_.norm)
    assert places.ledger_.radius == dense.ledger_.radius


class Matching:
    """Put n things into n places: n! structures. phi adds up the rows of things at their places."""

    def features(self, x, y):
        return np.stack([x[thing] for thing in y])

    def best(self, weights, x):
        return max(permutations(range(len(x))), key=lambda y: (np.vdot(weights, self.features(x, y)), y))


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(2, 4))
def test_no_separable_stream_exceeds_the_bound(seed, passes, n):
    """mistakes <= (R / gamma)^2, and gamma <= |w| / mistakes at every moment, whatever the number of structures."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(n, 2))
    u /= np.linalg.norm(u)
    problem, X, Y, gamma = Matching(), [], [], np.inf
    for _ in range(12):
        x = rng.integers(-3, 4, size=(n, 2)).astype(float)
        y = problem.best(u, x)
        others = [z for z in permutations(range(n)) if z != y]
        margin = min(np.vdot(u, problem.features(x, y) - problem.features(x, z)) for z in others)
        if margin > 1e-6:
            X, Y, gamma = [*X, x], [*Y, y], min(gamma, margin)
    if not X:
        return
    model = nk.StructuredPerceptron(problem)
    for _ in range(passes):
        model.partial_fit(X, Y)
        ledger = model.ledger_
        assert ledger.mistakes <= (ledger.radius / gamma) ** 2 * (1 + 1e-9)
        assert ledger.mistakes == 0 or gamma <= ledger.margin_at_most * (1 + 1e-9)
        assert ledger.mistakes <= ledger.with_margin(gamma).mistake_bound * (1 + 1e-9)


def test_the_average_is_that_of_all_weights():
    X, y = list(product([-1, 0, 1], repeat=3)), [i % 3 for i in range(27)]
    model, seen = nk.StructuredPerceptron(Classes(3, "dense")), []
    for x, label in zip(X, y, strict=True):
        model.partial_fit([x], [label])
        seen.append(model._run.vector.now.copy())
    np.testing.assert_allclose(model.weights_, np.mean(seen, axis=0), atol=1e-12)


def test_one_pass_at_a_time_is_the_same():
    X, y = list(product([-1, 0, 1], repeat=3)), [i % 3 for i in range(27)]
    whole = nk.StructuredPerceptron(Classes(3, "dense"), max_iter=4, order="shuffled").fit(X, y)
    again = nk.StructuredPerceptron(Classes(3, "dense"), max_iter=4, order="shuffled")
    mistakes = list(again.passes(X, y))
    assert sum(mistakes) == whole.ledger_.mistakes
    np.testing.assert_array_equal(again.weights_, whole.weights_)


class NaNs(Classes):
    def features(self, x, y):
        return {y: float("nan")}

    def best(self, weights, x):
        return 1


class Words(Classes):
    def features(self, x, y):
        return "words"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: nk.StructuredPerceptron(object()), "object has no features"),
        (lambda: nk.StructuredPerceptron(Classes(3, "dense"), hypothesis="best"), "'averaged', 'last'; found 'best'"),
        (lambda: nk.StructuredPerceptron(Classes(3, "dense"), order="x"), "'given', 'shuffled'; found 'x'"),
        (lambda: nk.StructuredPerceptron(Classes(3, "dense"), max_iter=0), "from 1 to .*; found 0"),
        (lambda: nk.StructuredPerceptron(Classes(3, "dense")).fit([[1]], [0, 1]), "1 examples, but 2 structures"),
        (lambda: nk.StructuredPerceptron(Classes(3, "dense")).fit([], []), "no examples"),
        (lambda: nk.StructuredPerceptron(Classes(3, "dense")).predict([[1]]), "has not learned yet"),
        (lambda: nk.StructuredPerceptron(NaNs(3, "named")).fit([[1]], [0]), "NaN or infinity"),
        (lambda: nk.StructuredPerceptron(Words(3, "named")).fit([[1]], [0]), "must be a dict of numbers or an array"),
    ],
)
def test_what_is_wrong_is_said(make, message):
    with pytest.raises(DataError, match=message):
        make()

"""StructuredPerceptron: equality with nk.Perceptron, the mistake bound, and errors."""

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


def integer_rows(n_classes):
    rows = st.lists(
        st.tuples(st.tuples(*[st.integers(-3, 3)] * 3), st.integers(0, n_classes - 1)), min_size=4, max_size=20
    )
    return rows.filter(lambda found: len({y for _, y in found}) == n_classes)


@given(integer_rows(3), st.integers(1, 4), st.sampled_from(["named", "dense"]), st.sampled_from(["last", "averaged"]))
def test_multiclass_equals_perceptron(rows, passes, form, hypothesis):
    """The weights, mistakes and norm are exactly those of nk.Perceptron."""
    X, y = [x for x, _ in rows], [y for _, y in rows]
    structured = nk.StructuredPerceptron(Classes(3, form), hypothesis=hypothesis)
    perceptron = nk.Perceptron(ties="positive", fit_intercept=False, hypothesis=hypothesis)
    for _ in range(passes):
        structured.partial_fit(X, y)
        perceptron.partial_fit(X, y, classes=[0, 1, 2])
    weights = structured.weights_
    if form == "named":
        weights = np.array([[weights[k, j] for j in range(3)] for k in range(3)])
    np.testing.assert_allclose(weights, perceptron.coef_, rtol=0, atol=1e-12)
    assert structured.ledger_.mistakes == perceptron.ledger_.mistakes
    assert structured.ledger_.examples == perceptron.ledger_.examples
    assert (
        structured.ledger_.radius <= perceptron.ledger_.radius + 1e-12
    )  # that of nk.Perceptron is of all rows, not only of mistakes
    assert structured.ledger_.norm == pytest.approx(perceptron.ledger_.norm, abs=1e-9)
    assert structured.predict(X) == perceptron.predict(X).tolist()


class Indices(Classes):
    """Multiclass with features given as indices that count one each."""

    size = 9

    def features(self, x, y):
        return np.array([3 * y + k for k, count in enumerate(x) for _ in range(count)], np.int64)

    def best(self, weights, x):
        return super().best(weights.reshape(3, 3), x)


@given(integer_rows(3), st.sampled_from(["last", "averaged"]))
def test_indices_equal_dense_features(rows, hypothesis):
    X, y = [tuple(map(abs, x)) for x, _ in rows], [y for _, y in rows]
    dense = nk.StructuredPerceptron(Classes(3, "dense"), hypothesis=hypothesis, max_iter=3).fit(X, y)
    indexed = nk.StructuredPerceptron(Indices(3, "indices"), hypothesis=hypothesis, max_iter=3).fit(X, y)
    np.testing.assert_array_equal(indexed.weights_.reshape(3, 3), dense.weights_)
    assert indexed.ledger_.norm == pytest.approx(dense.ledger_.norm)
    assert indexed.ledger_.radius == dense.ledger_.radius


class Matching:
    """Assign n items to n positions: n! structures. phi stacks the rows of the items in this order."""

    def features(self, x, y):
        return np.stack([x[item] for item in y])

    def best(self, weights, x):
        return max(permutations(range(len(x))), key=lambda y: (np.vdot(weights, self.features(x, y)), y))


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(2, 4))
def test_mistake_bound(seed, passes, n):
    """mistakes <= (R / gamma)^2 and gamma <= |w| / mistakes after every pass, for any number of structures."""
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


def test_average_equals_the_mean_of_all_weights():
    X, y = list(product([-1, 0, 1], repeat=3)), [i % 3 for i in range(27)]
    model, seen = nk.StructuredPerceptron(Classes(3, "dense")), []
    for x, label in zip(X, y, strict=True):
        model.partial_fit([x], [label])
        seen.append(model._state.vector.current.copy())
    np.testing.assert_allclose(model.weights_, np.mean(seen, axis=0), atol=1e-12)


def test_passes_equal_fit():
    X, y = list(product([-1, 0, 1], repeat=3)), [i % 3 for i in range(27)]
    fitted = nk.StructuredPerceptron(Classes(3, "dense"), max_iter=4, order="shuffled").fit(X, y)
    stepwise = nk.StructuredPerceptron(Classes(3, "dense"), max_iter=4, order="shuffled")
    mistakes = list(stepwise.passes(X, y))
    assert sum(mistakes) == fitted.ledger_.mistakes
    np.testing.assert_array_equal(stepwise.weights_, fitted.weights_)


class NanFeatures(Classes):
    def features(self, x, y):
        return {y: float("nan")}

    def best(self, weights, x):
        return 1


class TextFeatures(Classes):
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
        (lambda: nk.StructuredPerceptron(NanFeatures(3, "named")).fit([[1]], [0]), "NaN or infinity"),
        (
            lambda: nk.StructuredPerceptron(TextFeatures(3, "named")).fit([[1]], [0]),
            "must be a dict of numbers or an array",
        ),
    ],
)
def test_error_messages(make, message):
    with pytest.raises(DataError, match=message):
        make()

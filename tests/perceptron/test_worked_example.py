"""The worked example of the course notes (spec.md, section 2), by hand for all three conventions.

    -1  2 -     1  0 +     1  1 +     -1  0 -     -1 -2 -     1 -1 +        no bias, w = 0

With ties a mistake or positive: wrong at the 1st (a tie), the 3rd and the 5th, where (2, -1) meets (-1, -2) at 0.
With ties negative the 1st is right; at the 2nd w = 0 still says -, and (1, 0) gets all the others.
"""

import numpy as np
import pytest

import novikoff as nk
from novikoff import Learner, Rows
from tests.support.strategies import FORMATS

X = np.array([[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], float)
y = [-1, 1, 1, -1, -1, 1]
NAMED = [{"right": a, "up": b} for a, b in X.tolist()]

THREE = {1: (1, -2), 3: (2, -1), 5: (3, 1)}
MISTAKES = {"mistake": THREE, "positive": THREE, "negative": {2: (1, 0)}}  # at which example, and w after it

conventions = pytest.mark.parametrize("ties", MISTAKES)


def perceptron(ties, **others):
    return nk.Perceptron(fit_intercept=False, ties=ties, **others)


@conventions
@pytest.mark.parametrize("examples", [X, X.tolist(), NAMED], ids=["arrays", "lists", "dicts"])
def test_one_at_a_time(ties, examples):
    model = perceptron(ties, classes=[-1, 1])
    found = {}
    for number, (x, label) in enumerate(zip(examples, y, strict=True), start=1):
        guess = model.predict_one(x)
        before = model.ledger_.mistakes if number > 1 else 0
        model.learn_one(x, label)
        if model.ledger_.mistakes > before:
            found[number] = tuple(model.coef_[0])
        if ties != "mistake":
            assert (guess != label) == (number in found)
    assert found == MISTAKES[ties]


@conventions
def test_the_answer_to_a_tie_follows_the_convention(ties):
    label = -1 if ties == "negative" else 1
    model = perceptron(ties, classes=[-1, 1])
    assert model.predict_one(X[0]) == label  # w = 0
    for x, answer in zip(X[:4], y[:4], strict=True):
        model.learn_one(x, answer)
    if ties != "negative":
        assert model.coef_.tolist() == [[2, -1]]
        assert model.predict_one(X[4]) == label
        assert model.predict(X[4:5]).tolist() == [label]


@conventions
@pytest.mark.parametrize("form", [*FORMATS, "dicts"])
@pytest.mark.parametrize("verb", ["partial_fit", "fit"])
def test_in_blocks(ties, form, verb):
    """The second pass of fit makes no mistake: it ends there, with the weights of the first."""
    rows = NAMED if form == "dicts" else FORMATS[form](X)
    model = getattr(perceptron(ties), verb)(rows, y)
    *_, weights = MISTAKES[ties].values()
    assert model.coef_.tolist() == [list(weights)]
    assert model.intercept_.tolist() == [0]
    assert model.ledger_.mistakes == len(MISTAKES[ties])
    assert model.ledger_.trace.examples.tolist() == list(MISTAKES[ties])
    norms = [np.hypot(*w) for w in MISTAKES[ties].values()]
    np.testing.assert_allclose(model.ledger_.trace.norm, norms)
    assert model.predict(rows).tolist() == y
    if verb == "fit":
        assert (model.n_iter_, model.converged_, model.ledger_.examples) == (2, True, 12)


@conventions
def test_one_block_after_another(ties):
    model = perceptron(ties)
    for i in range(6):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[-1, 1])
        if i + 1 in MISTAKES[ties]:
            assert tuple(model.coef_[0]) == MISTAKES[ties][i + 1]
    assert model.ledger_.mistakes == len(MISTAKES[ties])


@conventions
def test_by_the_four_operations_of_a_learner(ties):
    learner = Learner(ties=ties, fit_intercept=False)
    state = learner.update(learner.init(2), Rows.of(X), np.array([0, 1, 1, 0, 0, 1]))
    *_, weights = MISTAKES[ties].values()
    assert state.raw.coef.tolist() == [list(weights)]
    assert learner.score(state, Rows.of(X)).tolist() == (X @ weights).tolist()

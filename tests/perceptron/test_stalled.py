"""A fit whose updates are lost in rounding ends with a warning; a fit that cycles goes on."""

import copy
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

import novikoff as nk
from novikoff import rules

FORMS = {"dense": np.asarray, "sparse": sp.csr_array}
HUGE = 2.0**60
STALL = "no further pass would change the weights that learning goes on from"


def fitted(X, y, **options):
    """Return the fitted perceptron and its warnings."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = nk.Perceptron(**{"fit_intercept": False, "random_state": 0, **options}).fit(X, y)
    assert all(warning.category is ConvergenceWarning for warning in said)
    return model, " ".join(str(warning.message) for warning in said)


def changes_on(model, X, y):
    """Count the rows that change the weights when they are learned alone."""
    count = 0
    for k, label in enumerate(y):
        after = copy.deepcopy(model).partial_fit(X[[k]], [label])
        count += not (np.array_equal(after.coef_, model.coef_) and np.array_equal(after.intercept_, model.intercept_))
    return count


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted", "pocket"])
@pytest.mark.parametrize("order", ["given", "shuffled", "random", "worst"])
def test_a_stall_ends_the_fit(form, hypothesis, order):
    """The rows are separable, for example by (1, -3); but in doubles (2^60, -2^60) + (1, 1) is (2^60, -2^60)."""
    X, y = np.array([[HUGE, -HUGE], [-1.0, -1.0]]), [1, 0]
    assert nk.certify(X, y, fit_intercept=False)
    model, said = fitted(FORMS[form](X), y, hypothesis=hypothesis, order=order, max_iter=1000)
    assert STALL in said
    assert not model.converged_
    assert model.n_iter_ <= 8
    assert model.ledger_.passes == model.n_iter_
    assert model.ledger_.examples == 2 * model.n_iter_


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", ["perceptron", rules.Margin(beta=1.0), "passive-aggressive", rules.Perceptron(0.5)])
@pytest.mark.parametrize("seed", range(6))
def test_no_row_changes_a_stalled_model(form, rule, seed):
    """Rows of many lengths, two to four classes: where a stall is reported, there is one."""
    rng = np.random.default_rng(seed)
    n_classes = 2 + seed % 3
    X = rng.normal(size=(12, 3)) * 2.0 ** rng.choice([-30, 0, 60], (12, 1))
    y = np.arange(12) % n_classes
    rows = FORMS[form](X)
    model, said = fitted(rows, y, rule=rule, max_iter=64)
    if STALL in said:
        assert changes_on(model, rows, y) == 0
    elif not model.converged_:
        assert changes_on(model, rows, y) > 0


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_stall_of_many_classes(n_classes):
    X = np.array([[HUGE, -HUGE], [-1.0, -1.0], [-1.0, -1.5]])[:n_classes]
    model, said = fitted(X, np.arange(n_classes), max_iter=500)
    assert STALL in said
    assert model.n_iter_ < 500
    assert changes_on(model, X, np.arange(n_classes)) == 0


def test_a_row_of_zeros():
    model, said = fitted([[1.0, 2.0], [0.0, 0.0]], [1, 0], max_iter=300)
    assert STALL in said
    assert model.n_iter_ <= 4


@pytest.mark.parametrize("order", ["given", "shuffled"])
def test_a_cycle_is_not_a_stall(order):
    """A pass over two contradictory rows ends with the weights it began with, but its updates change them."""
    model, said = fitted([[1.0], [1.0]], [0, 1], order=order, max_iter=33)
    assert model.n_iter_ == 33
    assert STALL not in said
    assert "did not converge" in said


def test_a_stall_in_the_last_pass_is_reported():
    X, y = np.array([[HUGE, -HUGE], [-1.0, -1.0]]), [1, 0]
    for max_iter in (2, 3):
        assert STALL in fitted(X, y, max_iter=max_iter)[1]

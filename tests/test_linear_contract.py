"""scikit-learn's own contract, for every loss and solver that go together."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import novikoff as nk

# The suite fits random labels in few passes; that such a fit says it did not converge is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ESTIMATORS = [
    *(nk.LinearClassifier(loss, "sgd", max_iter=30, random_state=0) for loss in nk.losses.NAMES),
    nk.LinearClassifier("hinge", "gd", max_iter=50),
    *(nk.LinearClassifier(loss, "newton") for loss in ("squared-hinge", "logistic", "squared")),
    nk.LinearClassifier("logistic", "gd", alpha=1e-2, max_iter=50),
    nk.LinearClassifier("logistic", "stochastic-newton", max_iter=20, random_state=0),
    *(nk.LinearRegressor(solver=solver, max_iter=50, random_state=0) for solver in ("newton", "gd", "sgd")),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)

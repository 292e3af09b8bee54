"""scikit-learn's checks for linear estimators, for every valid pair of loss and solver."""

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

import novikoff as nk
from novikoff.descent.options import SOLVERS

# The suite fits random labels in few passes; that such a fit says it did not converge is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ESTIMATORS = [
    *(nk.LinearClassifier(loss, "sgd", max_iter=30, random_state=0) for loss in nk.losses.NAMES),
    nk.LinearClassifier("hinge", "gd", max_iter=50),
    *(nk.LinearClassifier(loss, "newton") for loss in ("squared-hinge", "logistic", "squared")),
    *(nk.LinearClassifier(loss, "gd", alpha=1e-2, max_iter=50) for loss in ("squared-hinge", "logistic", "squared")),
    *(
        nk.LinearClassifier(loss, "stochastic-newton", max_iter=20, random_state=0)
        for loss in ("squared-hinge", "logistic", "squared")
    ),
    *(nk.LinearRegressor(solver=solver, max_iter=50, random_state=0) for solver in SOLVERS),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", [check_dataframe_column_names_consistency, check_param_validation])
@pytest.mark.parametrize("estimator", [nk.LinearClassifier, nk.LinearRegressor])
def test_checks_outside_the_common_suite(estimator, check):
    check(estimator.__name__, estimator())

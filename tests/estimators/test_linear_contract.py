"""scikit-learn's checks for linear estimators, for every valid pair of loss and solver."""

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

import novikoff as nk
from novikoff.descent.options import SOLVERS

EQUIVALENCE = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")

# The suite fits random labels in few passes; that such a fit says it did not converge is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ESTIMATORS = [
    *(nk.LinearClassifier(loss, "sgd", max_iter=30, random_state=0) for loss in nk.losses.NAMES),
    nk.LinearClassifier("hinge", "gd", max_iter=50),
    *(
        nk.LinearClassifier(loss, "dual", max_iter=100, random_state=0)
        for loss in ("hinge", "squared-hinge", "logistic")
    ),
    *(nk.LinearClassifier(loss, "newton") for loss in ("squared-hinge", "logistic", "squared")),
    *(nk.LinearClassifier(loss, "gd", alpha=1e-2, max_iter=50) for loss in ("squared-hinge", "logistic", "squared")),
    *(
        nk.LinearClassifier(loss, "stochastic-newton", max_iter=20, random_state=0)
        for loss in ("squared-hinge", "logistic", "squared")
    ),
    *(nk.LinearRegressor(solver=solver, max_iter=50, random_state=0) for solver in SOLVERS if solver != "dual"),
]


def expected_failures(estimator):
    """Checks that a descent cannot pass which visits one row after the other; gd and newton pass all of them.

    That integer weights are repeated rows for "dual", up to its tolerance, is tested in tests/descent/test_dual.py."""
    found = {}
    if estimator.solver in ("sgd", "stochastic-newton"):
        reason = "a weight of 2 is one step twice as long, two copies of a row are two steps, elsewhere in the order"
        found |= dict.fromkeys(EQUIVALENCE, reason)
    if estimator.solver == "dual":
        reason = "a weight of 2 is one dual variable, two copies are two: both end within tol of the minimum, not at it"
        found |= dict.fromkeys(EQUIVALENCE, reason)
    if (estimator.loss, estimator.solver) == ("hinge", "gd"):
        found["check_class_weight_classifiers"] = "its columns are not scaled, and a thousand passes are too few"
    if estimator.loss == "hinge-at-zero":
        found["check_class_weight_classifiers"] = "as the perceptron, it stops as soon as the rows that weigh are right"
    return found


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", [check_dataframe_column_names_consistency, check_param_validation])
@pytest.mark.parametrize("estimator", [nk.LinearClassifier, nk.LinearRegressor])
def test_checks_outside_the_common_suite(estimator, check):
    check(estimator.__name__, estimator())

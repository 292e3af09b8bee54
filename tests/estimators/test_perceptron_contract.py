"""scikit-learn's checks for Perceptron, for every rule and hypothesis."""

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

import novikoff as nk
from novikoff import hypotheses, rules

# The suite fits random labels; that such a fit says it did not converge is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ESTIMATORS = [
    *(nk.Perceptron(hypothesis=name) for name in hypotheses.NAMES),
    *(nk.Perceptron(rule=name, hypothesis="averaged") for name in rules.NAMES[1:]),
    *(nk.Perceptron(hypothesis="pocket", order=order, random_state=0) for order in ("shuffled", "random", "worst")),
    nk.Perceptron(fit_intercept=False),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", [check_dataframe_column_names_consistency, check_param_validation])
def test_checks_outside_the_common_suite(check):
    check("Perceptron", nk.Perceptron())

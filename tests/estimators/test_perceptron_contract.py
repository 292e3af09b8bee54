"""scikit-learn's checks for Perceptron, for every rule and hypothesis."""

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

import novikoff as nk
from novikoff import hypotheses, rules

EQUIVALENCE = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")

# The suite fits random labels; that such a fit says it did not converge is tested elsewhere.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

ESTIMATORS = [
    *(nk.Perceptron(hypothesis=name) for name in hypotheses.NAMES),
    *(nk.Perceptron(rule=name, hypothesis="averaged") for name in rules.NAMES[1:] if name != "auto"),
    nk.Perceptron(rule="auto"),
    *(nk.Perceptron(hypothesis="pocket", order=order, random_state=0) for order in ("shuffled", "random", "worst")),
    nk.Perceptron(fit_intercept=False),
]


def expected_failures(estimator):
    """Checks that a mistake-driven rule cannot pass."""
    repeated = (
        "a weight of 2 moves the weights once, by twice as much; of two copies of a row the second may be no mistake "
        "any more, and moves them not at all"
    )
    found = dict.fromkeys(EQUIVALENCE, repeated)
    if estimator.rule in ("passive-aggressive", "passive-aggressive-II"):
        found["check_sample_weights_list"] = (
            "it weighs every row by 3: a step three times as long as the one that reaches margin 1 overshoots by twice "
            "the loss, so that losses grow without end, which is a RuleError"
        )
    if estimator.order == "given":
        found["check_class_weight_classifiers"] = (
            "it wants 87 % of noisy rows in a class that weighs 10^7 times as much as the others; the perceptron stops "
            "as soon as the rows of that class are right, and where the others are then depends on the order of rows"
        )
    return found


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_failures)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", [check_dataframe_column_names_consistency, check_param_validation])
def test_checks_outside_the_common_suite(check):
    check("Perceptron", nk.Perceptron())

"""scikit-learn's checks for StreamClassifier."""

import pytest
from sklearn.utils.estimator_checks import (
    check_dataframe_column_names_consistency,
    check_param_validation,
    parametrize_with_checks,
)

import novikoff as nk
from novikoff import hypotheses

ESTIMATORS = [
    *(nk.StreamClassifier(hypothesis=name) for name in hypotheses.NAMES),
    nk.StreamClassifier(rule="passive-aggressive-I", passes=3),
    nk.StreamClassifier(order="given", scale=False, fit_intercept=False),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", [check_dataframe_column_names_consistency, check_param_validation])
def test_checks_outside_the_common_suite(check):
    check("StreamClassifier", nk.StreamClassifier())

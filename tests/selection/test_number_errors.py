"""NumberErrors: against scikit-learn, however the rows are cut."""

import math

import numpy as np
import pytest
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from novikoff.selection.number_errors import NumberErrors


@pytest.mark.parametrize("size", [1, 7, 100])
def test_figures_are_those_of_scikit_learn(size):
    rng = np.random.default_rng(0)
    true = 1e6 + rng.normal(size=100)
    predicted = true + 0.3 * rng.normal(size=100)
    errors = NumberErrors()
    for start in range(0, 100, size):
        errors.add(predicted[start : start + size], true[start : start + size])
    errors.add(np.empty(0), np.empty(0))
    assert errors.rows == 100
    assert errors.rmse == pytest.approx(root_mean_squared_error(true, predicted))
    assert errors.mae == pytest.approx(mean_absolute_error(true, predicted))
    assert errors.r2 == pytest.approx(r2_score(true, predicted))
    assert errors.rmse_of_mean == pytest.approx(true.std())
    assert errors.facts()["mae"] == errors.mae


def test_what_is_not_defined():
    errors = NumberErrors()
    assert errors.facts() == {"rows": 0, "rmse": None, "mae": None, "r2": None, "rmse_of_mean": None}
    errors.add(np.array([1.0, 2.0]), np.array([3.0, 3.0]))
    assert math.isnan(errors.r2)
    assert errors.rmse_of_mean == 0.0

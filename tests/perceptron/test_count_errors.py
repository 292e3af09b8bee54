"""Model.count_errors: wrong predictions on rows that may have columns and labels that are new."""

import numpy as np
import pytest
import scipy.sparse as sp

from novikoff.inputs.rows import Rows
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.model import Model


@pytest.mark.parametrize("hypothesis", ["last", "averaged", "pocket", "voted"])
@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("is_sparse", [True, False])
def test_it_counts_wrong_predictions(hypothesis, n_classes, is_sparse):
    rng = np.random.default_rng(n_classes)
    X, y = rng.integers(-3, 4, size=(60, 5)).astype(float), rng.integers(n_classes, size=60)
    wrap = sp.csr_array if is_sparse else np.asarray
    model = Model(Learner(hypothesis=hypothesis))
    model.learn_rows(Rows.of(wrap(X[:40])), y[:40])
    expected = int((model.predict(Rows.of(wrap(X))) != y).sum())
    wider = np.hstack([X, rng.normal(size=(60, 3))])  # columns that the weights do not have yet
    classes, class_indices = np.unique(y, return_inverse=True)
    assert model.count_errors(Rows.of(wrap(X)), classes, class_indices) == expected
    assert model.count_errors(Rows.of(wrap(wider)), classes, class_indices) == expected


def test_unknown_labels_and_models_that_have_learned_nothing():
    rows = Rows.of(np.ones((4, 2)))
    model = Model(Learner())
    assert model.count_errors(rows, np.array(["a"]), np.zeros(4, int)) == 4
    model.learn_rows(rows, np.array(["a", "a", "b", "a"]))
    assert model.count_errors(rows, np.array(["c"]), np.zeros(4, int)) == 4

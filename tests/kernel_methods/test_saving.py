"""Model files of kernel estimators: attributes that contradict the model are refused."""

import numpy as np
import pandas as pd
import pytest

import novikoff as nk
from novikoff.errors import ModelFileError
from novikoff.kernel_methods.saving import SavedKernel, save

X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [1.0, 3.0]])
Y = [0, 1, 1, 0]
FRAME = pd.DataFrame(X, columns=["a", "b"])

ESTIMATORS = {
    "arrays": lambda: nk.KernelPerceptron("linear").fit(X, Y),
    "frame": lambda: nk.KernelPerceptron("linear").fit(FRAME, Y),
    "dicts": lambda: nk.KernelPerceptron("linear").fit(FRAME.to_dict(orient="records"), Y),
    "regression": lambda: nk.KernelRegressor("linear", step=0.01).fit(FRAME, Y),
    "precomputed": lambda: nk.KernelPerceptron("precomputed").fit(X @ X.T, Y),
}
CONTRADICTIONS = {
    "columns": {"n_features_in_": 99},
    "type": {"n_features_in_": "2"},
    "names": {"n_features_in_": 2, "feature_names_in_": np.array(["b", "a", "c"], object)},
    "passes": {"n_iter_": -1},
    "unknown": {"predict": 1},
}


@pytest.mark.parametrize("fitted", CONTRADICTIONS.values(), ids=list(CONTRADICTIONS))
@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=list(ESTIMATORS))
def test_attributes_that_contradict_the_model_are_refused(make, fitted, tmp_path):
    estimator = make()
    saved = SavedKernel(estimator._model, estimator.get_params(), fitted)
    with pytest.raises(ModelFileError, match="do not go with its columns"):
        save(tmp_path / "model.nk", saved, lambda found, kind: None)
    assert not (tmp_path / "model.nk").exists()


@pytest.mark.parametrize("make", ESTIMATORS.values(), ids=list(ESTIMATORS))
def test_attributes_are_read_again(make, tmp_path):
    estimator = make()
    estimator.save(tmp_path / "model.nk")
    found = nk.load(tmp_path / "model.nk")
    for name in ("n_iter_", "converged_", "n_features_in_"):
        assert getattr(found, name, None) == getattr(estimator, name, None)
    assert list(getattr(found, "feature_names_in_", ())) == list(getattr(estimator, "feature_names_in_", ()))

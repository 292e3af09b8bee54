"""scikit-learn's face: the only folder that imports it."""

from novikoff.estimators.kernel import KernelPerceptron
from novikoff.estimators.kernel_regressor import KernelRegressor
from novikoff.estimators.perceptron import Perceptron
from novikoff.estimators.saved import estimator_of, kernel_estimator_of

__all__ = ["KernelPerceptron", "KernelRegressor", "Perceptron", "estimator_of", "kernel_estimator_of"]

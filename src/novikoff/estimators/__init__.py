"""scikit-learn's face: the only folder that imports it."""

from novikoff.estimators.kernel import KernelPerceptron
from novikoff.estimators.kernel_regressor import KernelRegressor
from novikoff.estimators.linear import LinearClassifier
from novikoff.estimators.perceptron import Perceptron
from novikoff.estimators.regressor import LinearRegressor
from novikoff.estimators.saved import estimator_of, kernel_estimator_of, linear_estimator_of
from novikoff.estimators.selection import select

__all__ = [
    "KernelPerceptron",
    "KernelRegressor",
    "LinearClassifier",
    "LinearRegressor",
    "Perceptron",
    "estimator_of",
    "kernel_estimator_of",
    "linear_estimator_of",
    "select",
]

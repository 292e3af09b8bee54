"""scikit-learn's face: the only folder that imports it."""

from novikoff.estimators.kernel_perceptron import KernelPerceptron
from novikoff.estimators.kernel_regressor import KernelRegressor
from novikoff.estimators.linear_classifier import LinearClassifier
from novikoff.estimators.linear_regressor import LinearRegressor
from novikoff.estimators.perceptron import Perceptron
from novikoff.estimators.selection import select

__all__ = [
    "KernelPerceptron",
    "KernelRegressor",
    "LinearClassifier",
    "LinearRegressor",
    "Perceptron",
    "select",
]

"""Estimators with scikit-learn's interface.

This is the only package that imports scikit-learn. Estimators validate what users pass and call the models of
`novikoff.perceptron`, `novikoff.kernel_methods`, `novikoff.descent` and `novikoff.streaming`, in which the learning is.
"""

from novikoff.estimators.kernel_perceptron import KernelPerceptron
from novikoff.estimators.kernel_regressor import KernelRegressor
from novikoff.estimators.linear_classifier import LinearClassifier
from novikoff.estimators.linear_regressor import LinearRegressor
from novikoff.estimators.perceptron import Perceptron
from novikoff.estimators.selection import select
from novikoff.estimators.stream_classifier import StreamClassifier

__all__ = [
    "KernelPerceptron",
    "KernelRegressor",
    "LinearClassifier",
    "LinearRegressor",
    "Perceptron",
    "StreamClassifier",
    "select",
]

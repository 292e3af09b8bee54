"""scikit-learn's face: the only folder that imports it."""

from novikoff.estimators.perceptron import Perceptron

__all__ = ["Perceptron"]

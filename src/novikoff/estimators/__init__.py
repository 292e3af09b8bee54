"""scikit-learn's face: the only folder that imports it."""

from novikoff.estimators.perceptron import Perceptron
from novikoff.estimators.saved import estimator_of

__all__ = ["Perceptron", "estimator_of"]

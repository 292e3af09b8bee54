"""scikit-learn's face: the only folder that imports it."""

from novikoff.estimators.perceptron import Perceptron
from novikoff.estimators.saved import load

__all__ = ["Perceptron", "load"]

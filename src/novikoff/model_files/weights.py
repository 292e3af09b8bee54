"""Weights in model files."""

from __future__ import annotations

import numpy as np

from novikoff.model_files.section import Section
from novikoff.perceptron.weights import Weights

__all__ = ["read_weights", "write_weights"]


def write_weights(section: Section, weights: Weights) -> None:
    """Write weights. Their memory layout is not kept: it follows the rows that were learned or scored last."""
    section.add_tensor("coef", weights.coef)
    section.add_tensor("bias", weights.bias)


def read_weights(section: Section, n_vectors: int, n_features: int | None) -> Weights:
    """Read weights: this many vectors, of this length unless it is None."""
    coef = section.finite("coef", np.float64, (n_vectors, n_features))
    return Weights(coef, section.finite("bias", np.float64, (n_vectors,)))

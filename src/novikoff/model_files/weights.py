"""Weights in a model file."""

from __future__ import annotations

import numpy as np

from novikoff.model_files.section import Section
from novikoff.perceptron.weights import Weights

__all__ = ["put_weights", "take_weights"]


def put_weights(section: Section, weights: Weights) -> None:
    """Keep weights. How they lie in memory is no part of them: it follows the rows that were last learned or read."""
    section.put("coef", weights.coef)
    section.put("bias", weights.bias)


def take_weights(section: Section, n_vectors: int, n_features: int | None) -> Weights:
    """The weights that `put_weights` kept: so many vectors, of this length unless it is None."""
    coef = section.finite("coef", np.float64, (n_vectors, n_features))
    return Weights(coef, section.finite("bias", np.float64, (n_vectors,)))

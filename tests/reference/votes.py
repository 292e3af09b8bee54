"""The votes of a voted perceptron, each decided in rational arithmetic; nothing of novikoff."""

from fractions import Fraction

import numpy as np

from tests.reference import perceptron as reference


def exactly(values):
    """Doubles as the rational numbers that they are."""
    return [Fraction(float(value)) for value in values]


def dot(w, x):
    return sum((a * b for a, b in zip(exactly(w), exactly(x), strict=True)), Fraction(0))


def linear_votes(run, x, ties):
    """reference.votes, with <v, x> as a rational number."""
    total = 0.0 if run.weights[0].ndim == 1 else np.zeros(len(run.weights[0]))
    for v, survived in reference.survivors(run):
        if v.ndim == 1:
            total += survived * reference.predict(dot(v, x), ties)
        else:
            total[reference.predict([dot(w, x) for w in v], ties)] += survived
    return total / len(run.steps)


def polynomial(degree, gamma, coef0):
    """K(x, z) of rows of doubles as a rational number."""
    return lambda x, z: (Fraction(gamma) * dot(x, z) + Fraction(coef0)) ** degree

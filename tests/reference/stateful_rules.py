"""Rules that keep numbers for each feature, as their papers print them: dense, one example at a time, without novikoff.

Rows are folded with the constant coordinate first. An example is the vector v of which <w, v> is the margin: y x for
two classes, phi(x, y) - phi(x, z) for more, a matrix with x in the row of the true class y and -x in that of its
strongest rival z. All that a rule keeps is an array of the same shape, and only coordinates with v != 0 take part.
"""

import math

import numpy as np

from tests.reference.perceptron import is_mistake, strongest_rival


def folded(X, intercept):
    X = np.asarray(X, float)
    return np.hstack([np.ones((len(X), 1)), X]) if intercept else X


class AdaGrad:
    """Duchi, Hazan & Singer 2011, diagonal, on the smoothed hinge loss."""

    def __init__(self, shape, eta=0.3):
        self.w, self.G, self.eta = np.zeros(shape), np.zeros(shape), eta

    def learn(self, v, margin, c):
        slope = -c * min(max(1.0 - margin, 0.0), 1.0)
        for j in zip(*np.nonzero(v), strict=True):
            g = slope * v[j]
            self.G[j] += g**2
            if self.G[j] > 0.0:
                self.w[j] -= self.eta * g / math.sqrt(self.G[j])


class Arow:
    """Crammer, Kulesza & Dredze 2013, with a diagonal covariance; the noise of an example of weight c is r / c."""

    def __init__(self, shape, r=1.0):
        self.w, self.S, self.r = np.zeros(shape), np.ones(shape), r

    def learn(self, v, margin, c):
        if margin < 1.0:
            beta = 1.0 / ((self.S * v**2).sum() + self.r / c)
            self.w += (1.0 - margin) * beta * self.S * v
            self.S -= beta * (self.S * v) ** 2


class Coin:
    """Orabona & Pal 2016 for each coordinate, on the logistic loss, with unknown ranges (Kempka et al. 2019)."""

    def __init__(self, shape):
        self.w, self.theta, self.W, self.A, self.M = (np.zeros(shape) for _ in range(5))
        self.first_W = np.zeros(shape)
        self.shares = []  # sum_j (v_j / M_j)^2 of each row
        self.refreshed_margins = []

    def bet(self, j):
        return self.W[j] * self.theta[j] / (self.M[j] * (self.M[j] + self.A[j]))

    def learn(self, v, margin, c):
        at = list(zip(*np.nonzero(v), strict=True))
        for j in at:
            self.M[j] = max(self.M[j], abs(c * v[j]))
        self.shares.append(sum((c * v[j] / self.M[j]) ** 2 for j in at))
        for j in at:
            if self.first_W[j] == 0.0:
                self.first_W[j] = self.W[j] = 4.0 / math.sqrt(np.mean(self.shares))
            self.w[j] = self.bet(j)
        refreshed = sum(self.w[j] * v[j] for j in at)
        self.refreshed_margins.append(refreshed)
        slope = -c / (1.0 + math.exp(refreshed))
        for j in at:
            g = slope * v[j]
            self.W[j] -= g * self.w[j]
            self.theta[j] -= g
            self.A[j] += abs(g)
            self.w[j] = self.bet(j)


def run(rule, X, y, ties, importances=None):
    """Learn from folded rows; y is -1 or 1 for a rule with one vector, else a class. Return (mistakes, theta)."""
    theta, mistakes = np.zeros_like(rule.w), []
    for x, label, c in zip(X, y, np.ones(len(X)) if importances is None else importances, strict=True):
        scores = [float(w @ x) for w in rule.w]
        v = np.zeros_like(rule.w)
        if len(scores) == 1:
            v[0] = label * x
            mistake, margin = is_mistake(scores[0], label, ties), label * scores[0]
        else:
            rival = strongest_rival(scores, label, ties)
            v[label], v[rival] = x, -x
            mistake, margin = is_mistake(scores, label, ties), scores[label] - scores[rival]
        mistakes.append(mistake)
        theta += v if mistake else 0.0
        rule.learn(v, margin, c)
    return mistakes, theta

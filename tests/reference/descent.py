"""Losses and descents as they are printed: slow, obvious, and sharing nothing with novikoff.

Rows are folded by the caller (`reference.folded`): with an intercept the last coordinate is always 1, and `penalised`
says which weights pay the penalty.
"""

import numpy as np
from scipy.optimize import minimize, root

# value, slope and curvature of the score s, where y is wanted: vectors in, vectors out
VALUES = {
    "hinge-at-zero": lambda s, y: np.maximum(0.0, -y * s),
    "hinge": lambda s, y: np.maximum(0.0, 1.0 - y * s),
    "squared-hinge": lambda s, y: np.maximum(0.0, 1.0 - y * s) ** 2,
    "logistic": lambda s, y: np.logaddexp(0.0, -y * s),
    "squared": lambda s, y: (s - y) ** 2,
    "huber": lambda s, y: np.where(np.abs(s - y) <= 1.0, 0.5 * (s - y) ** 2, np.abs(s - y) - 0.5),
}
SLOPES = {
    "hinge-at-zero": lambda s, y: np.where(y * s <= 0.0, -y, 0.0),
    "hinge": lambda s, y: np.where(y * s < 1.0, -y, 0.0),
    "squared-hinge": lambda s, y: np.where(y * s < 1.0, 2.0 * (s - y), 0.0),  # y y = 1
    "logistic": lambda s, y: -y * np.exp(-np.logaddexp(0.0, y * s)),
    "squared": lambda s, y: 2.0 * (s - y),
    "huber": lambda s, y: np.clip(s - y, -1.0, 1.0),
}
STEEPNESS = {"hinge-at-zero": 1.0, "hinge": 1.0, "squared-hinge": 2.0, "logistic": 0.25, "squared": 2.0, "huber": 1.0}


def penalised(n_features, intercept):
    return np.append(np.ones(n_features), [0.0] if intercept else [])


def objective(loss, X, y, w, alpha, penalty):
    """1/n sum_i loss(<w, x_i>, y_i) + alpha/2 |w|^2."""
    return VALUES[loss](X @ w, y).mean() + 0.5 * alpha * (penalty * w) @ w


def gradient(loss, X, y, w, alpha, penalty):
    return X.T @ SLOPES[loss](X @ w, y) / len(y) + alpha * penalty * w


def minimum(loss, X, y, alpha, penalty):
    """The lowest place of a smooth loss, by scipy: a search of values, and where they differ by rounding only, of the
    point where the gradient is 0."""
    found = minimize(
        lambda w: objective(loss, X, y, w, alpha, penalty),
        np.zeros(X.shape[1]),
        method="BFGS",
        jac=lambda w: gradient(loss, X, y, w, alpha, penalty),
    )
    return root(lambda w: gradient(loss, X, y, w, alpha, penalty), found.x, tol=1e-13).x


def ridge(X, y, alpha, penalty):
    """Of least squares in closed form: 2/n X^T (X w - y) + alpha P w = 0."""
    return np.linalg.solve(2.0 / len(y) * X.T @ X + alpha * np.diag(penalty), 2.0 / len(y) * X.T @ y)


# -- step sizes: of example t = 1, 2, ..., where the longest row so far is R long; for weights and for the bias


def constant(eta):
    return lambda t, squared_radius: (eta, eta)


def inverse_root(eta):
    return lambda t, squared_radius: (eta / np.sqrt(t), eta / np.sqrt(t))


def optimal(alpha, loss):
    """Bottou 2012, as in SGDClassifier: 1 / (alpha (t0 + t - 1)), the first about as long as the weights will be."""
    weight = np.sqrt(1.0 / np.sqrt(alpha))
    eta = weight / max(1.0, abs(float(SLOPES[loss](-weight, 1.0))))
    t0 = 1.0 / (eta * alpha)
    return lambda t, squared_radius: (1.0 / (alpha * (t0 + t - 1.0)),) * 2


def fitted(alpha, loss):
    """1 / (steepness R^2 sqrt(1 + t / 10^4) + alpha t), and for the bias the same without the last term."""

    def steps(t, squared_radius):
        slowly = STEEPNESS[loss] * squared_radius * np.sqrt(1.0 + t / 1e4)
        return 1.0 / (slowly + alpha * t), 1.0 / slowly

    return steps


def longest(loss, falls=False):
    """1 / (steepness R^2), or that over sqrt(t)."""
    return lambda t, squared_radius: (1.0 / (STEEPNESS[loss] * squared_radius * (np.sqrt(t) if falls else 1.0)),) * 2


def sgd(loss, X, y, alpha, steps, orders, intercept):
    """w <- (1 - eta alpha) w - eta loss' x, one row at a time; all weights on the way, after each step."""
    w, squared_radius, found = np.zeros(X.shape[1]), 0.0, []
    for t, i in enumerate(np.concatenate(orders), 1):
        squared_radius = max(squared_radius, X[i] @ X[i])
        eta, eta_bias = steps(t, squared_radius)
        g = SLOPES[loss](X[i] @ w, y[i])
        eta = np.append(np.full(X.shape[1] - intercept, eta), [eta_bias] if intercept else [])
        shrunk = np.maximum(1.0 - eta * alpha, 1e-9)  # further it would point back
        w = np.where(penalised(X.shape[1] - intercept, intercept), shrunk, 1.0) * w - eta * g * X[i]
        found.append(w)
    return np.array(found)


def rising_average(weights):
    """Lacoste-Julien, Schmidt & Bach 2012: the t-th weighs t."""
    return np.average(weights, axis=0, weights=np.arange(1, len(weights) + 1))

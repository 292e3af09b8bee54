"""Losses and descents as their papers print them: slow and obvious.

It imports nothing of novikoff. The caller appends the intercept to rows as a last coordinate of 1; `penalised` says to
which weights the penalty applies.
"""

import numpy as np
from scipy.optimize import minimize, root
from scipy.special import xlogy

# value and slope of a loss at score s and target y, for vectors of them
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


def objective(loss, X, y, w, alpha, penalty, importances=None):
    """sum_i c_i loss(<w, x_i>, y_i) / sum_i c_i + alpha/2 |w|^2."""
    return np.average(VALUES[loss](X @ w, y), weights=importances) + 0.5 * alpha * (penalty * w) @ w


def gradient(loss, X, y, w, alpha, penalty, importances=None):
    shares = np.full(len(y), 1.0 / len(y)) if importances is None else importances / np.sum(importances)
    return X.T @ (shares * SLOPES[loss](X @ w, y)) + alpha * penalty * w


def minimum(loss, X, y, alpha, penalty, importances=None):
    """Return the minimum of a smooth loss, by scipy.

    A minimization of values is followed by a search for a gradient of 0, since near the minimum values differ only by
    rounding.
    """
    found = minimize(
        lambda w: objective(loss, X, y, w, alpha, penalty, importances),
        np.zeros(X.shape[1]),
        method="BFGS",
        jac=lambda w: gradient(loss, X, y, w, alpha, penalty, importances),
    )
    return root(lambda w: gradient(loss, X, y, w, alpha, penalty, importances), found.x, tol=1e-13).x


def ridge(X, y, alpha, penalty):
    """Return the minimum of least squares: 2/n X^T (X w - y) + alpha P w = 0."""
    return np.linalg.solve(2.0 / len(y) * X.T @ X + alpha * np.diag(penalty), 2.0 / len(y) * X.T @ y)


# -- steps of the weights along a loss, of the bias, and of the weights along the penalty, at example t = 1, 2, ...;
# `squares` has c |x|^2 of all rows so far


def constant(eta):
    return lambda t, squares: (eta, eta, eta)


def inverse_root(eta):
    return lambda t, squares: (eta / np.sqrt(t),) * 3


def optimal(alpha, loss):
    """Bottou 2012, as in SGDClassifier: 1 / (alpha (t0 + t - 1)); the first step is of the order of the weights."""
    weight = np.sqrt(1.0 / np.sqrt(alpha))
    eta = weight / max(1.0, abs(float(SLOPES[loss](-weight, 1.0))))
    t0 = 1.0 / (eta * alpha)
    return lambda t, squares: (1.0 / (alpha * (t0 + t - 1.0)),) * 3


def fitted(alpha, loss):
    """1 / (steepness r^2 sqrt(1 + t / 10^4) + alpha t) for rows of mean length r so far, for the bias without the last
    term; along a loss at most 1 / (steepness c |x|^2)."""

    def steps(t, squares):
        slowly = STEEPNESS[loss] * np.mean(np.sqrt(squares)) ** 2 * np.sqrt(1.0 + t / 1e4)
        limit = 1.0 / (STEEPNESS[loss] * squares[-1])
        eta = 1.0 / (slowly + alpha * t)
        return min(eta, limit), min(1.0 / slowly, limit), eta

    return steps


def longest(loss, falls=False):
    """1 / (steepness R^2) for the longest row so far, divided by sqrt(t) if it falls."""
    return lambda t, squares: (1.0 / (STEEPNESS[loss] * np.max(squares) * (np.sqrt(t) if falls else 1.0)),) * 3


def sgd(loss, X, y, alpha, steps, orders, intercept, importances=None):
    """w <- (1 - eta alpha) w - eta c loss' x, one row at a time; return the weights after each step."""
    w, squares, found = np.zeros(X.shape[1]), [], []
    c = np.ones(len(X)) if importances is None else importances
    for t, i in enumerate(np.concatenate(orders), 1):
        squares.append(c[i] * (X[i] @ X[i]))
        eta, eta_bias, eta_penalty = steps(t, squares)
        g = c[i] * SLOPES[loss](X[i] @ w, y[i])
        eta = np.append(np.full(X.shape[1] - intercept, eta), [eta_bias] if intercept else [])
        shrunk = np.maximum(1.0 - eta_penalty * alpha, 1e-9)  # a longer step would reverse the weights
        w = np.where(penalised(X.shape[1] - intercept, intercept), shrunk, 1.0) * w - eta * g * X[i]
        found.append(w)
    return np.array(found)


def rising_average(weights):
    """Lacoste-Julien, Schmidt & Bach 2012: an average in which the t-th weights count t times."""
    return np.average(weights, axis=0, weights=np.arange(1, len(weights) + 1))


# -- dual problems


CONJUGATES = {  # psi(m) = -max_s(-m s - loss(s, 1)), for the m that the dual problem allows
    "hinge": lambda m: m,
    "squared-hinge": lambda m: m - m**2 / 4.0,
    "logistic": lambda m: -xlogy(m, m) - xlogy(1.0 - m, 1.0 - m),
}


def dual_value(loss, X, y, a, alpha, importances=None):
    """mean c psi(a) - alpha/2 |w|^2 with w = mean c a y x / alpha, for the rows without the coordinate 1."""
    c = np.ones(len(y)) if importances is None else importances / np.mean(importances)
    w = X.T @ (c * a * y) / (alpha * len(y))
    return np.average(CONJUGATES[loss](a), weights=importances) - 0.5 * alpha * w @ w


def hinge_minimum(X, y, alpha, penalty, importances=None):
    """Return the least value of F for the hinge loss, as a quadratic program: minimize mean c xi + alpha/2 |w|^2 such
    that y <w, x> >= 1 - xi and xi >= 0."""
    n, d = X.shape
    shares = np.full(n, 1.0 / n) if importances is None else importances / np.sum(importances)
    curvature = np.append(alpha * penalty, np.zeros(n))
    slope = np.append(np.zeros(d), shares)
    margins = np.hstack([y[:, None] * X, np.eye(n)])
    found = minimize(
        lambda v: slope @ v + 0.5 * (curvature * v) @ v,
        np.append(np.zeros(d), np.ones(n)),
        jac=lambda v: slope + curvature * v,
        method="SLSQP",
        bounds=[(None, None)] * d + [(0.0, None)] * n,
        constraints={"type": "ineq", "fun": lambda v: margins @ v - 1.0, "jac": lambda v: margins},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return objective("hinge", X, y, found.x[:d], alpha, penalty, importances)

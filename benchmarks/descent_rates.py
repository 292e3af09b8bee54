"""Measured rates of convergence of gradient descent, Newton's method and their stochastic forms.

    python -m benchmarks.descent_rates [--picture rates.png]

                                     gd           newton ("2 GD")    sgd       stochastic newton ("2 SGD")
    rows read per iteration          n            n                  1         1
    iterations to accuracy eps       log 1/eps    log log 1/eps      1/eps     1/eps

on least squares: eps is (F - F*) / (F(0) - F*), with F* from linear algebra. For each method k ~ g^p is fitted to the
iterations k, where g is the entry of the table; the table is confirmed if p is 1. The stochastic methods draw rows with
replacement, as the table assumes: shuffled passes converge faster. Newton's method solves least squares in one step,
so that there is nothing to fit; it is measured on logistic regression with the same rows, where each step doubles the
digits: k against log2 log 1/eps has slope 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

import novikoff as nk

N, COLUMNS, CONDITION = 2000, 10, 30.0
SEEDS = 10
LONGEST = 2**17  # iterations of the stochastic methods


@dataclass(frozen=True)
class Curve:
    """Accuracies after numbers of iterations, and the rate in the table."""

    name: str
    rate: str
    iterations: np.ndarray
    accuracies: np.ndarray
    rows: int  # read in each iteration
    exponent: float | None

    @property
    def fitted(self) -> str:
        return "one step" if self.exponent is None else f"{self.exponent:.2f}"


def problem(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian rows whose covariance has the condition number CONDITION, and a linear function with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, COLUMNS)) * np.geomspace(1.0, CONDITION**-0.5, COLUMNS)
    return X, X @ rng.normal(size=COLUMNS) + 0.5 * rng.normal(size=N)


class LeastSquares:
    """The objective of least squares relative to its minimum."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        self.best = np.linalg.lstsq(X, y, rcond=None)[0]
        self.hessian = X.T @ X / len(y)  # of half of F, so that F - F* is a square without a factor

    def accuracy(self, w: np.ndarray) -> float:
        """eps, computed from the distance to the minimum: a difference of values of F would cancel."""
        return float((w - self.best) @ self.hessian @ (w - self.best) / (self.best @ self.hessian @ self.best))


def fitted_exponent(predicted: np.ndarray, iterations: np.ndarray) -> float:
    """p of k ~ g^p, by least squares of logarithms."""
    return float(np.polyfit(np.log(predicted), np.log(iterations), 1)[0])


def gradient_descent(X: np.ndarray, y: np.ndarray) -> Curve:
    squares, model = LeastSquares(X, y), nk.LinearRegressor(solver="gd", fit_intercept=False, learning_rate="constant")
    iterations = np.unique(np.geomspace(1, 3000, 25).astype(int))
    found = [model.set_params(max_iter=int(k), tol=None).fit(X, y).coef_ for k in iterations]
    accuracies = np.array([squares.accuracy(w) for w in found])
    # The first iterations end the error in the steep directions; the rate shows when only the flattest is left.
    start = int(np.argmax(accuracies < 1e-3))
    late = (accuracies < 0.1 * accuracies[start]) & (accuracies > 1e-14)
    exponent = fitted_exponent(np.log(accuracies[start] / accuracies[late]), iterations[late] - iterations[start])
    return Curve("gd", "log 1/ε", iterations[accuracies > 1e-14], accuracies[accuracies > 1e-14], N, exponent)


def newton(X: np.ndarray, y: np.ndarray) -> Curve:
    squares, model = LeastSquares(X, y), nk.LinearRegressor(fit_intercept=False, tol=1e-12).fit(X, y)
    accuracies = np.array([1.0, max(squares.accuracy(model.coef_), 1e-16)])
    return Curve("newton", "log log 1/ε", np.array([0, model.n_iter_]), accuracies, N, None)


def newton_on_logistic(X: np.ndarray, y: np.ndarray) -> Curve:
    """Here p is the slope of k against log2 log 1/eps, from the first full step on."""
    model = nk.LinearClassifier("logistic", "newton", alpha=1e-6, fit_intercept=False, tol=1e-15)
    values = model.fit(X, y > np.median(y)).trace_.objective
    accuracies = (values - values.min()) / (values[0] - values.min())
    iterations = np.flatnonzero(accuracies > 1e-13)  # below, the difference is rounding
    accuracies = accuracies[iterations]
    late = accuracies < 0.5
    exponent = float(np.polyfit(np.log2(np.log(1.0 / accuracies[late])), iterations[late], 1)[0])
    return Curve("newton, logistic loss", "log log 1/ε", iterations, accuracies, N, exponent)


def stochastic(X: np.ndarray, y: np.ndarray, solver: str) -> Curve:
    """The mean of SEEDS runs, each with other rows."""
    squares = LeastSquares(X, y)
    iterations = 2 ** np.arange(6, LONGEST.bit_length())
    total = np.zeros(len(iterations))
    for seed in range(SEEDS):
        drawn = np.random.default_rng(seed).integers(0, N, LONGEST)
        for j, k in enumerate(iterations):
            model = nk.LinearRegressor(solver=solver, fit_intercept=False, shuffle=False, max_iter=1, tol=None)
            total[j] += squares.accuracy(model.fit(X[drawn[:k]], y[drawn[:k]]).coef_)
    accuracies = total / SEEDS
    late = iterations >= 2**12
    exponent = fitted_exponent(1.0 / accuracies[late], iterations[late])
    return Curve(solver, "1/ε", iterations, accuracies, 1, exponent)


def draw(curves: list[Curve], path: Path) -> None:
    """Plot accuracy against iterations, and against rows read, which are the cost."""
    from matplotlib import pyplot

    from novikoff.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION

    styles: list[dict[str, Any]] = [
        {"color": colour, "marker": marker}
        for colour, marker in zip((BLUE, VERMILION, GREY, ORANGE, GREEN), "osD^v", strict=True)
    ]
    figure, axes = pyplot.subplots(1, 2, figsize=(10.0, 4.2), sharey=True, layout="constrained")
    for curve, style in zip(curves, styles, strict=True):
        for ax, cost in zip(axes, (1, curve.rows), strict=True):
            drawn = curve.iterations > 0
            ax.loglog(
                cost * curve.iterations[drawn],
                curve.accuracies[drawn],
                **style,
                markersize=4,
                linewidth=1.2,
                label=f"{curve.name}: {curve.rate}",
            )
    guide = np.array([2**12, LONGEST])
    for ax, title in zip(axes, ("iterations", "rows read"), strict=True):
        ax.loglog(guide, 30.0 / guide, color=BLACK, linewidth=0.8, linestyle=":", label="slope -1")
        ax.set(xlabel=title, ylim=(1e-17, 3.0))
    axes[0].set_ylabel("ε = (F - F*) / (F(0) - F*)")
    axes[0].legend(fontsize=8)
    figure.suptitle(f"Least squares, {N:,} × {COLUMNS}, condition {CONDITION:g}", fontsize=10)
    figure.savefig(path, dpi=130)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), help="Plot the curves into this PNG file.")
def main(picture: Path | None) -> None:
    """Measure how many iterations each method takes to an accuracy, and compare with the table."""
    X, y = problem()
    curves = [
        gradient_descent(X, y),
        newton(X, y),
        newton_on_logistic(X, y),
        stochastic(X, y, "sgd"),
        stochastic(X, y, "stochastic-newton"),
    ]
    print(f"{'method':<22} {'rows per step':>13}  {'rate g':<16} {'measured p, k ~ g^p':<20} {'reached ε':>9}")
    for curve in curves:
        print(f"{curve.name:<22} {curve.rows:>13,}  {curve.rate:<16} {curve.fitted:<20} {curve.accuracies[-1]:>9.1e}")
    if picture is not None:
        draw(curves, picture)


if __name__ == "__main__":
    main()

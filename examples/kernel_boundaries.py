"""Moons, circles and the exclusive or: not separable by a line, but with a kernel. Draws a figure.

    python examples/kernel_boundaries.py boundaries.png

The upper row has the separators of certificates: a Gaussian kernel separates each data set with the largest margin
gamma in feature space, so a kernel perceptron makes at most (R / gamma)^2 mistakes on it, in any order. The lower row
has voted kernel perceptrons after one pass, by scikit-learn's display: the colour is the share of the votes.
"""

import sys

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.colors import LinearSegmentedColormap
from sklearn.datasets import make_circles, make_moons
from sklearn.inspection import DecisionBoundaryDisplay

import novikoff as nk
from novikoff.plots import PlaneDisplay


def exclusive_or(n: int = 160, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Four clusters; those on a diagonal have the same label."""
    rng = np.random.default_rng(seed)
    corners = rng.integers(0, 2, (n, 2))
    return 2.0 * corners - 1.0 + 0.35 * rng.standard_normal((n, 2)).clip(-2, 2), corners[:, 0] ^ corners[:, 1]


DATA = {
    "Two moons": make_moons(160, noise=0.12, random_state=0),
    "Circles": make_circles(160, noise=0.06, factor=0.5, random_state=0),
    "Exclusive or": exclusive_or(),
}
KERNEL = {"kernel": "rbf", "gamma": 2.0}
BLUE, ORANGE = "#0072B2", "#E69F00"
VOTES = LinearSegmentedColormap.from_list("votes", [ORANGE, "#ffffff", BLUE])


def draw_certificate(ax: Axes, name: str, X: np.ndarray, y: np.ndarray) -> None:
    """Draw the separator of the certificate with novikoff's display."""
    certificate = nk.certify(X, y, **KERNEL)
    clf = nk.KernelPerceptron(**KERNEL, max_iter=1000).fit(X, y)
    print(
        f"{name}: a line separates it: {bool(nk.certify(X, y))}; the kernel does, by {certificate.margin:.4f},"
        f" so at most {certificate.mistake_bound:.0f} mistakes; the perceptron made {clf.ledger_.mistakes} in "
        f"{clf.n_iter_} passes"
    )
    PlaneDisplay.from_certificate(certificate, X, y, ax=ax)
    ax.set_title(rf"{name}: margin $\gamma$ = {certificate.margin:.3f}")
    ax.get_legend().remove()


def draw_votes(ax: Axes, like: Axes, X: np.ndarray, y: np.ndarray) -> QuadMesh:
    """Draw the votes after one pass with scikit-learn's display."""
    clf = nk.KernelPerceptron(**KERNEL).partial_fit(X, y)
    surface = DecisionBoundaryDisplay.from_estimator(
        clf,
        X,
        response_method="decision_function",
        plot_method="pcolormesh",
        cmap=VOTES,
        vmin=-1.6,
        vmax=1.6,
        shading="auto",
        ax=ax,
        grid_resolution=400,
        eps=2.0,
        xlabel="$x_1$",
        ylabel="$x_2$",
    ).surface_
    for sign, color, marker in ((1, BLUE, "o"), (0, ORANGE, "s")):
        ax.scatter(*X[y == sign].T, c=color, marker=marker, s=22, edgecolors="white", linewidths=0.5)
    ax.set(xlim=like.get_xlim(), ylim=like.get_ylim(), aspect="equal")
    ax.set_title(f"one pass: {clf.ledger_.mistakes} mistakes, {clf.score(X, y):.0%} right by vote")
    return surface


def main(path: str) -> None:
    figure, axes = pyplot.subplots(2, len(DATA), figsize=(12.5, 8.6), layout="constrained")
    for (top, bottom), (name, (X, y)) in zip(axes.T, DATA.items(), strict=True):
        draw_certificate(top, name, X, y)
        figure.canvas.draw()  # fixes the limits of axes with equal aspect
        surface = draw_votes(bottom, top, X, y)
    figure.colorbar(
        surface,
        ax=axes[1],
        label="share of the votes",
        boundaries=np.linspace(-1, 1, 201),
        ticks=[-1, -0.5, 0, 0.5, 1],
        aspect=30,
    )
    handles, labels = axes[0, 0].get_legend_handles_labels()
    labels = [label.partition(" = 0.")[0] if "margin" in label else label for label in labels]
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "boundaries.png")

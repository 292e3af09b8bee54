"""Clouds of points for scenes, drawn from fixed seeds and rounded to two digits."""

from __future__ import annotations

import numpy as np

__all__ = ["circles", "long_valley", "moons", "noisy_line", "two_groups"]


def two_groups(*, outlier: bool) -> list[list[float]]:
    """Return two groups of nine points, and on demand one point among those with the other label."""
    rng = np.random.default_rng(7)
    positive = rng.normal([1.5, 1.2], 0.45, size=(9, 2))
    negative = rng.normal([-1.5, -1.2], 0.45, size=(9, 2))
    points = _interleave(positive, negative)
    return [*points[:8], [-1.8, -1.4, 1], *points[8:]] if outlier else points


def noisy_line() -> list[list[float]]:
    """Return 80 points, labelled by a line; every label has a chance of a tenth to be wrong."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-2.0, 2.0, size=(80, 2))
    y = np.where(X[:, 0] + 0.6 * X[:, 1] + 0.2 > 0.0, 1, -1)
    y = np.where(rng.random(80) < 0.1, -y, y)
    return _list_points(X, y)


def moons() -> list[list[float]]:
    """Return two crescents of 24 points, one inside the opening of the other."""
    rng = np.random.default_rng(3)
    angle = np.linspace(0.0, np.pi, 24)
    upper = np.column_stack([np.cos(angle), np.sin(angle)])
    lower = np.column_stack([1.0 - np.cos(angle), 0.5 - np.sin(angle)])
    return _interleave(upper + rng.normal(0.0, 0.06, (24, 2)), lower + rng.normal(0.0, 0.06, (24, 2)))


def circles() -> list[list[float]]:
    """Return 20 points near a circle, and 20 near one of twice its radius."""
    rng = np.random.default_rng(4)
    angle = np.linspace(0.0, 2.0 * np.pi, 20, endpoint=False)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    return _interleave(0.75 * ring + rng.normal(0.0, 0.06, (20, 2)), 1.5 * ring + rng.normal(0.0, 0.06, (20, 2)))


def long_valley() -> list[list[float]]:
    """Return 24 points whose first coordinate varies three times as much as the second."""
    rng = np.random.default_rng(11)
    X = rng.normal(0.0, [1.5, 0.5], size=(24, 2))
    y = np.where(0.5 * X[:, 0] + 1.5 * X[:, 1] + rng.normal(0.0, 0.5, 24) > 0.0, 1, -1)
    return _list_points(X, y)


def _interleave(positive: np.ndarray, negative: np.ndarray) -> list[list[float]]:
    """Return points of both labels in turn."""
    X = np.stack([positive, negative], axis=1).reshape(-1, 2)
    return _list_points(X, np.tile([1, -1], len(positive)))


def _list_points(X: np.ndarray, y: np.ndarray) -> list[list[float]]:
    return [[round(x1, 2), round(x2, 2), label] for (x1, x2), label in zip(X.tolist(), y.tolist(), strict=True)]

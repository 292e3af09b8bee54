"""Curved boundaries: the curve in the plane on which a function is 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.plots.plane_parts import Window
from novikoff.plots.style import BLACK, BLUE, GREY, ORANGE

__all__ = ["Curve"]

_GRID_POINTS = 400  # across the window
_OVERHANG = 0.35  # of the window, on each side: axes of equal scale may show more than the window
_CHUNK = 20_000  # points scored at a time


@dataclass(frozen=True)
class Curve:
    """The curve f = 0 between two shaded regions, perhaps with a band around it.

    Attributes
    ----------
    score : callable
        f of points in the plane, (n, 2) -> (n,).
    margin, margin_label : float or None, str
        How large f is on the edges of the band.
    """

    score: Callable[[np.ndarray], np.ndarray]
    margin: float | None = None
    margin_label: str = ""

    def draw(self, ax: Any, window: Window) -> dict[str, Any]:
        """Draw regions, curve and band; the legend gets empty lines of the same style, as contours have no label."""
        low, high = window.low - _OVERHANG * window.size, window.high + _OVERHANG * window.size
        across, up = (np.linspace(*ends, _GRID_POINTS) for ends in zip(low, high, strict=True))
        grid = np.stack(np.meshgrid(across, up), axis=-1)
        cells = grid.reshape(-1, 2)
        parts = [self.score(cells[start : start + _CHUNK]) for start in range(0, len(cells), _CHUNK)]
        f = np.concatenate(parts).reshape(grid.shape[:2])
        largest = max(float(np.abs(f).max()), 1e-300) * 2.0
        regions = ax.contourf(across, up, f, [-largest, 0.0, largest], colors=[ORANGE, BLUE], alpha=0.13, zorder=0)
        line = band = None
        if f.min() < 0.0 < f.max():
            line = ax.contour(across, up, f, [0.0], colors=[BLACK], linewidths=1.6, zorder=2)
            ax.plot([], [], color=BLACK, lw=1.6, label="$f(x)$ = 0")
        if self.margin is not None:
            band = ax.contour(
                across,
                up,
                f,
                [-self.margin, self.margin],
                colors=[GREY],
                linewidths=1.0,
                linestyles=[(0, (4, 3))],
                zorder=2,
            )
            ax.plot([], [], color=GREY, lw=1.0, ls=(0, (4, 3)), label=self.margin_label)
        return {"regions_": regions, "boundary_": line, "band_": band}

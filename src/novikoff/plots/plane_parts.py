"""Parts of a picture of the plane: window, boundary and band, marked rows, witness hulls.

Each part is a value with a method that draws it on axes and returns the artists.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.plots.projection import ProjectedRows, convex_hull
from novikoff.plots.style import BLACK, BLUE, GREY, MARKERS, ORANGE, VERMILION, halo

__all__ = ["Boundary", "MarkedRows", "Window", "WitnessHulls", "draw_rows", "format_sum"]

_FAR = 100.0  # window sizes: half-planes end so far outside that zooming out does not show it
_OUT_OF_SIGHT = 50.0  # window sizes: a boundary farther away is not drawn


@dataclass(frozen=True)
class Window:
    """The part of the plane that is shown: x from low[0] to high[0], y from low[1] to high[1]."""

    low: np.ndarray
    high: np.ndarray

    @classmethod
    def around(cls, corners: np.ndarray, pad: float = 0.08) -> Window:
        """Return a window around the corners with some padding, also where they have no extent."""
        low, high = corners.min(axis=0), corners.max(axis=0)
        size = high - low
        flat = size <= 1e-9 * np.abs(corners).max(axis=0)
        size = np.where(flat, 1.0 if flat.all() else size.max() / pad / 4.0, size)
        return cls(low - pad * size, high + pad * size)

    def widen(self, ratio: float) -> Window:
        """Return a window that contains this one, with a width of `ratio` times its height."""
        width = max(self.size[0], ratio * self.size[1])
        half = np.array([width, width / ratio]) / 2.0
        return Window(self.centre - half, self.centre + half)

    @property
    def centre(self) -> np.ndarray:
        return (self.low + self.high) / 2.0

    @property
    def size(self) -> np.ndarray:
        return self.high - self.low


@dataclass(frozen=True)
class Boundary:
    """The line <normal, p> + offset = 0 between two shaded half-planes, its normal vector, perhaps a band around it.

    Attributes
    ----------
    normal, offset : ndarray of shape (2,), float
    equation : str
        The expression that is 0 on the line.
    vector : str
        The name of the normal vector.
    margin, margin_label : float or None, str
        How large <normal, p> + offset is on the edges of the band.
    is_strict : bool
        Whether the line belongs to neither side and is dashed, with both sides named.
    """

    normal: np.ndarray
    offset: float
    equation: str
    vector: str = "$w$"
    margin: float | None = None
    margin_label: str = ""
    is_strict: bool = False

    def foot(self, p: np.ndarray, level: float = 0.0, scale: Any = 1.0) -> np.ndarray:
        """Return the point nearest to p, in units of `scale` for each axis, where <normal, .> + offset = level."""
        along = self.normal * np.square(scale)
        return p - (self.normal @ p + self.offset - level) / (self.normal @ along) * along

    def landmarks(self) -> np.ndarray:
        """Return the points that an empty picture must show: the origin, the crossings of the axes, and the normal
        vector."""
        tail, tip = self._arrow_to_scale()
        return np.vstack([np.zeros(2), self._crossings(), tail, tip])

    def _crossings(self) -> np.ndarray:
        """Return where the line crosses the axes, unless that is far away."""
        foot = self.foot(np.zeros(2))
        crossings = [np.eye(2)[j] * -self.offset / self.normal[j] for j in (0, 1) if self.normal[j]]
        return np.array([p for p in crossings if np.abs(p).max() <= 10.0 * np.abs(foot).max()]).reshape(-1, 2)

    def _arrow_to_scale(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the normal vector in its true length, if that and the distance of the line from 0 fit in one
        picture."""
        tail = self._crossings().mean(axis=0)
        length, distance = np.linalg.norm(self.normal), np.linalg.norm(self.foot(np.zeros(2)))
        fits = not distance or 0.1 < length / distance < 10.0
        return tail, tail + self.normal * (1.0 if fits else distance / length)

    def _vector_label(self, arrow: np.ndarray) -> str:
        """Return the name of the vector; if it states numbers and the arrow is not that long, with a note."""
        return self.vector + ("\nnot to scale" if "=" in self.vector and not np.allclose(arrow, self.normal) else "")

    def _arrow_in(self, window: Window, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Tail and tip of an arrow along the normal, from where the line has most space around it."""
        tangent = np.array([-self.normal[1], self.normal[0]]) / np.abs(self.normal).max()
        with np.errstate(divide="ignore"):
            reach = (window.size / 2.0 / np.abs(tangent)).min()
        tails = self.foot(window.centre, scale=window.size) + np.outer(np.linspace(-0.9, 0.9, 19) * reach, tangent)
        step = self.normal * 0.15 / (np.abs(self.normal) / window.size).max()
        inside = ((tails > window.low) & (tails < window.high)).all(axis=1)
        tails = tails[inside] if inside.any() else tails[9:10]
        middle = tails + 0.7 * step
        space = np.abs((middle[:, None] - at[None]) / window.size).max(axis=2).min(axis=1, initial=1.0)
        from_edge = np.minimum((middle - window.low), window.high - middle) / window.size
        tail = tails[np.argmax(np.minimum(space, from_edge.min(axis=1)))]
        return tail, tail + step

    def draw(self, ax: Any, window: Window, at: np.ndarray, *, has_right_angles: bool = True) -> dict[str, Any]:
        """Draw line, half-planes, band and arrow; the arrow avoids the points `at`, and is to scale if there are none.

        Where right angles do not look right there is no arrow: it could seem to run along the line.
        """
        middle = self.foot(window.centre, scale=window.size) if self.normal.any() else np.full(2, np.inf)
        if (np.abs(middle - window.centre) > _OUT_OF_SIGHT * window.size).any():
            return self._draw_one_side(ax, window)
        outward = self.normal / np.linalg.norm(self.normal) * window.size.max() * _FAR
        ends = middle + np.outer([-1.0, 1.0], [-outward[1], outward[0]])
        names = (f"{self.equation} > 0", f"{self.equation} < 0") if self.is_strict else (None, None)
        regions = [
            ax.fill(
                *np.vstack([ends, ends[::-1] + side * outward]).T, color=color, alpha=0.13, lw=0, zorder=0, label=name
            )[0]
            for side, color, name in ((1, BLUE, names[0]), (-1, ORANGE, names[1]))
        ]
        label = f"{self.equation} = 0" + (" (in neither)" if self.is_strict else "")
        (line,) = ax.plot(*ends.T, color=BLACK, lw=1.6, ls="--" if self.is_strict else "-", zorder=2, label=label)
        arrow = None
        if has_right_angles:
            tail, tip = self._arrow_in(window, at) if len(at) else self._arrow_to_scale()
            arrow = _draw_arrow(ax, tail, tip, self._vector_label(tip - tail))
        return {"regions_": regions, "boundary_": line, "band_": self._draw_band(ax, ends), "normal_": arrow}

    def _draw_one_side(self, ax: Any, window: Window) -> dict[str, Any]:
        """Shade the window in the colour of its side: polygons that reach as far as the line would take too long."""
        is_positive = self.normal @ window.centre + self.offset > 0.0
        (low_x, low_y), (high_x, high_y) = window.low, window.high
        region = ax.fill(
            [low_x, high_x, high_x, low_x],
            [low_y, low_y, high_y, high_y],
            alpha=0.13,
            lw=0,
            zorder=0,
            color=BLUE if is_positive else ORANGE,
            label=f"{self.equation} = 0 is out of sight",
        )
        return {"regions_": region, "boundary_": None, "band_": None, "normal_": None}

    def _draw_band(self, ax: Any, ends: np.ndarray) -> Any:
        if self.margin is None:
            return None
        upper, lower = (np.array([self.foot(p, level) for p in ends]) for level in (self.margin, -self.margin))
        corners = np.vstack([upper, lower[::-1]])
        return ax.fill(
            *corners.T, facecolor="#00000012", edgecolor=GREY, ls=(0, (4, 3)), lw=1.0, zorder=1, label=self.margin_label
        )[0]


@dataclass(frozen=True)
class MarkedRows:
    """Rows with a ring around them, or a cross on them, by their indices among the points."""

    indices: np.ndarray
    label: str

    def draw(self, ax: Any, at: np.ndarray, *, cross: bool = False) -> Any:
        """Draw the rings, or crosses."""
        style: dict[str, Any] = {"marker": "o", "s": 120, "facecolors": "none", "edgecolors": BLACK, "linewidths": 1.5}
        if cross:
            style = {"marker": "x", "s": 30, "c": BLACK, "linewidths": 1.2}
        return ax.scatter(*at[self.indices].T, label=self.label, zorder=5, **style)


@dataclass(frozen=True)
class WitnessHulls:
    """Rows joined to convex hulls, one for each sign (or one for both, sign 0), and the point that they contain."""

    hulls: dict[int, np.ndarray]
    common: np.ndarray
    label: str

    def draw(self, ax: Any, at: np.ndarray) -> dict[str, Any]:
        """Draw hulls and point on top of the rows, which may be many."""
        hulls = []
        for sign, indices in self.hulls.items():
            color, corners = MARKERS[sign][0], convex_hull(at[indices])
            hulls += ax.fill(*corners.T, facecolor=(color, 0.2), edgecolor=color, lw=2.0, zorder=4, joinstyle="round")
        common = ax.scatter(
            *self.common, marker="*", s=190, c=VERMILION, edgecolors="white", linewidths=0.8, zorder=6, label=self.label
        )
        return {"hulls_": hulls, "common_": common}


def draw_rows(
    ax: Any, points: ProjectedRows, signs: np.ndarray, names: Iterable[tuple[int, str]], **kwargs: Any
) -> list[Any]:
    """Draw the rows, each sign with its own colour and marker."""
    drawn = []
    shrink = np.clip(np.sqrt(250.0 / max(1, len(signs))), 0.3, 1.0)
    for sign, name in names:
        color, marker, size = MARKERS[sign]
        style = {
            "c": color,
            "marker": marker,
            "s": size * shrink,
            "edgecolors": "white",
            "linewidths": 0.5 * shrink,
            "alpha": 1.0 if shrink > 0.6 else 0.7,
            "zorder": 3,
        }
        drawn.append(ax.scatter(*points.coordinates[signs == sign].T, label=name, **{**style, **kwargs}))
    return drawn


def format_sum(w: np.ndarray, intercept: float, names: list[str]) -> str:
    """Format <w, x> + intercept as it is written by hand.

    >>> from novikoff.plots.plane_parts import format_sum
    >>> format_sum([2.0, 1.0], 6.0, ["$x_1$", "height"])
    '$2\\\\,x_1$ + height + 6'
    """
    text = ""
    for value, name in [*zip(w, names, strict=True), (intercept, "")]:
        if value:
            size = f"{abs(value):.4g}"
            factor = size if not name else "" if size == "1" else rf"${size}\,$"
            text += (" \u2212 " if value < 0.0 else " + ") + (factor + name).replace("$$", "")
    return text[3:] if text.startswith(" + ") else f"\u2212{text[3:]}"


def _draw_arrow(ax: Any, tail: np.ndarray, tip: np.ndarray, label: str) -> Any:
    arrow = {"arrowstyle": "-|>", "color": BLACK, "lw": 1.8, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 14}
    drawn = ax.annotate("", xy=tip, xytext=tail, arrowprops=arrow, zorder=7, annotation_clip=True)
    right, up = tip >= tail
    ax.annotate(
        label,
        xy=tip,
        xytext=(5 if right else -5, 3 if up else -3),
        textcoords="offset points",
        zorder=8,
        ha="left" if right else "right",
        va="bottom" if up else "top",
        path_effects=halo(),
        annotation_clip=True,
    )
    return drawn

"""DescentDisplay: how fast solvers approach the minimum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from novikoff.descent.trace import DescentTrace
from novikoff.errors import DataError
from novikoff.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, escape_dollars, log_axes, new_axes

__all__ = ["DescentDisplay"]

_COLOURS, _LINES, _MARKERS = (BLUE, VERMILION, GREEN, ORANGE, BLACK, GREY), ("-", "--", "-.", ":"), "osD^vPX"
# Cycles of lengths 6, 4 and 7, so that 84 styles differ.
_STYLES = [(_COLOURS[k % 6], _LINES[k % 4], _MARKERS[k % 7]) for k in range(84)]


class DescentDisplay:
    """The descent of one or several solvers: how far F is above its minimum, by passes over the rows and by seconds.

    A dotted line is the duality gap, where it has been computed: F is proved to be no further above its minimum.

    On logarithmic axes gradient descent is a curve that falls ever faster, Newton's method drops almost vertically, and
    stochastic gradients follow a straight line.

    Parameters
    ----------
    traces : dict of DescentTrace
        By the names to draw them under.
    optimum : float or dict, default=None
        The minimum of F, if it is known; by name, if traces are of several problems, such as classes. By default the
        lowest value of all traces, which is then not drawn itself.

    Attributes
    ----------
    optimum : dict of float
        By name.
    ax_, figure_ : ndarray of two matplotlib Axes, matplotlib Figure
    lines_ : dict of lists of matplotlib artists
        By name: one in each panel.
    gaps_ : dict of lists of matplotlib artists
        Of the duality gaps, by name: one in each panel, for traces that have gaps after their first report.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import make_regression
    >>> import novikoff as nk
    >>> X, y = make_regression(100, 5, noise=1.0, random_state=0)
    >>> models = {name: nk.LinearRegressor(solver=name, tol=1e-9).fit(X, y) for name in ("gd", "newton")}
    >>> display = nk.DescentDisplay.from_estimators(models, ax=Figure().subplots(1, 2))
    >>> list(display.lines_), len(display.traces["newton"])
    (['gd', 'newton'], 2)
    """

    def __init__(self, traces: Mapping[str, DescentTrace], optimum: float | Mapping[str, float] | None = None) -> None:
        if not traces or not all(isinstance(trace, DescentTrace) and len(trace) for trace in traces.values()):
            raise DataError(
                "A descent is drawn from traces: pass LinearClassifiers or LinearRegressors that fit has "
                "fitted, or the trace_ of each, by name."
            )
        self.traces = dict(traces)
        if optimum is None:
            optimum = _lowest(traces.values())
        if isinstance(optimum, Mapping) and not optimum.keys() >= traces.keys():
            raise DataError(f"optimum must name all traces: {', '.join(map(repr, traces))}.")
        self.optimum = dict(optimum) if isinstance(optimum, Mapping) else dict.fromkeys(traces, float(optimum))

    @classmethod
    def from_estimator(cls, model: Any, *, optimum: float | None = None, ax: Any = None) -> DescentDisplay:
        """Draw the descent of one model; with many classes, of each class.

        Parameters
        ----------
        model : estimator
            With a `trace_`.
        optimum : float, default=None
        ax : sequence of two matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        DescentDisplay
        """
        traces = model.trace_
        if isinstance(traces, DescentTrace):
            return cls({getattr(model, "solver", "objective"): traces}, optimum).plot(ax)
        named = {str(name): trace for name, trace in zip(model.classes_, traces, strict=True)}
        own = {name: _lowest([trace]) for name, trace in named.items()}  # each class is a separate problem
        return cls(named, own if optimum is None else optimum).plot(ax)

    @classmethod
    def from_estimators(
        cls, models: Mapping[str, Any], *, optimum: float | None = None, ax: Any = None
    ) -> DescentDisplay:
        """Draw several models of the same rows, loss and penalty, side by side.

        Parameters
        ----------
        models : dict of estimators
            By the names to draw them under.
        optimum : float, default=None
        ax : sequence of two matplotlib Axes, default=None

        Returns
        -------
        DescentDisplay
        """
        traces: dict[str, DescentTrace] = {}
        problem: dict[str, Any] = {}  # which class, where there are several
        for name, model in models.items():
            trace: Any = getattr(model, "trace_", None)
            if isinstance(trace, list):
                own = {f"{name}: {label}": each for label, each in zip(model.classes_, trace, strict=True)}
                traces |= own
                problem |= dict(zip(own, model.classes_, strict=True))
            else:
                traces[name] = trace  # __init__ refuses what is not a trace
        if optimum is not None or not problem or not all(isinstance(trace, DescentTrace) for trace in traces.values()):
            return cls(traces, optimum).plot(ax)
        alike = {
            own: [trace for name, trace in traces.items() if problem.get(name) == problem.get(own)] for own in traces
        }
        return cls(traces, {name: _lowest(of_class) for name, of_class in alike.items()}).plot(ax)

    def plot(self, ax: Any = None) -> DescentDisplay:
        """Draw on two given axes, or in a new figure.

        Parameters
        ----------
        ax : sequence of two matplotlib Axes, default=None

        Returns
        -------
        self
        """
        self.ax_ = np.asarray(new_axes(2, (10.0, 4.0)) if ax is None else ax, object).ravel()
        if len(self.ax_) != 2:
            raise DataError(f"A descent has two panels; found {len(self.ax_)} axes.")
        self.figure_ = self.ax_[0].figure
        self.lines_: dict[str, list[Any]] = {name: [] for name in self.traces}
        self.gaps_: dict[str, list[Any]] = {}
        for panel, column, unit in zip(
            self.ax_, ("passes", "seconds"), ("passes over the rows", "seconds"), strict=True
        ):
            self._draw(panel, column)
            panel.set(xlabel=unit, ylabel="$F$ above its minimum", title=f"Descent by {column}")
            if any(len(lines[-1].get_xdata()) for lines in self.lines_.values()):
                log_axes(panel, "xy")
            else:
                panel.text(0.5, 0.5, "one step to the minimum", transform=panel.transAxes, ha="center", color=GREY)
            panel.legend(fontsize="small")
        return self

    def _draw(self, ax: Any, column: str) -> None:
        for (name, trace), (colour, line, marker) in zip(self.traces.items(), _STYLES * len(self.traces), strict=False):
            x, above = getattr(trace, column), trace.objective - self.optimum[name]
            is_positive = (x > 0.0) & (
                above > 0.0
            )  # the logarithm of 0 cannot be drawn: neither the start nor the minimum
            (drawn,) = ax.plot(
                x[is_positive],
                above[is_positive],
                color=colour,
                ls=line,
                lw=1.6,
                marker=marker,
                ms=4.0,
                markevery=max(1, is_positive.sum() // 30),
                label=escape_dollars(name),
            )
            self.lines_[name].append(drawn)
            is_known = (x > 0.0) & (trace.gap > 0.0)
            if is_known.any():
                (gap,) = ax.plot(x[is_known], trace.gap[is_known], color=colour, ls=":", lw=1.2, marker=marker, ms=2.0)
                self.gaps_.setdefault(name, []).append(gap)


def _lowest(traces: Iterable[DescentTrace]) -> float:
    """Return the lowest value of F in all traces."""
    return min(float(trace.objective.min()) for trace in traces)

"""LedgerDisplay: Novikoff's proof along a run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.perceptron.ledger import Ledger
from novikoff.plots.style import BLACK, BLUE, GREEN, GREY, VERMILION, format_number, log_axes, new_axes
from novikoff.rules import Margin, Perceptron

__all__ = ["LedgerDisplay"]

# Bounds up to _NEAR times the values of the run are drawn on linear axes, up to _FAR times on logarithmic ones, and
# beyond that only written as text.
_NEAR, _FAR = 5.0, 1000.0
_NOT_DRAWN: Any = None


class LedgerDisplay:
    """The proof of the mistake bound as a picture, in three panels.

    1. |w| after k updates between k * gamma below, by which it must grow, and sqrt(k) * R above, which it cannot
       exceed. The two meet at k = (R / gamma)^2: no run gets beyond.
    2. Mistakes against examples, with the bound as a ceiling.
    3. |w| / k, at every moment a certified upper bound on gamma, as it falls towards it.

    Without a known margin the floor, the bound and gamma are left out. The proof needs steps of one size: for rules
    whose steps vary, and after a change of rule, only |w| and what is certified in the end are drawn.

    Parameters
    ----------
    ledger : Ledger

    Attributes
    ----------
    k, norm, certified : ndarray
        Updates, |w| after them (divided by the learning rate), and |w| / k.
    margin : float or None
        gamma, if it is known.
    growth, limit : float or None
        R, or its counterpart for the rule, and the k at which floor and ceiling meet; None where there is no proof.
    ax_, figure_ : ndarray of three matplotlib Axes, matplotlib Figure
    norm_, floor_, ceiling_, progress_, meeting_, mistakes_, bound_, certified_, margin_ : matplotlib artists
        What was drawn; None where there was nothing to draw.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import novikoff as nk
    >>> from novikoff.plots import LedgerDisplay
    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> clf = nk.Perceptron(fit_intercept=False).fit(X, y)
    >>> display = LedgerDisplay.from_estimator(clf, margin=0.5, ax=Figure().subplots(1, 3))
    >>> display.certified.round(2), round(display.limit, 2)
    (array([2.24, 1.12, 1.05]), 20.0)
    """

    def __init__(self, ledger: Ledger) -> None:
        self.ledger, rule = ledger, ledger.rule
        self.step = rule.learning_rate if isinstance(rule, Perceptron) else 1.0
        self.k, self.examples, self.mistakes, norm, progress = _read_trace(ledger)
        self.norm, self.progress, self.certified = norm / self.step, progress / self.step, norm / self.step / self.k
        self.has_equal_steps = ledger.is_bounded and isinstance(rule, Perceptron | Margin)
        self.margin = ledger.margin if ledger.margin is not None and ledger.margin > 0.0 else None
        # The most that |w|^2 can grow by at an update is the rule's bound for margin 1.
        squared = rule.mistake_bound(ledger.radius, 1.0) if self.has_equal_steps else None
        self.growth = None if squared is None else math.sqrt(squared)
        self.limit: float | None = None
        if self.growth is not None and self.margin is not None and self.growth / self.margin < 1e150:
            self.limit = (self.growth / self.margin) ** 2

    @classmethod
    def from_estimator(cls, clf: Any, *, margin: float | None = None, ax: Any = None) -> LedgerDisplay:
        """Draw the ledger of an estimator.

        Parameters
        ----------
        clf : estimator
            With a `ledger_`.
        margin : float, default=None
            gamma of the data, if it is known: `certify(X, y).margin`.
        ax : sequence of three matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        LedgerDisplay
        """
        return cls.from_ledger(clf.ledger_, margin=margin, ax=ax)

    @classmethod
    def from_ledger(cls, ledger: Ledger, *, margin: float | None = None, ax: Any = None) -> LedgerDisplay:
        """Draw the ledger of a run.

        Parameters
        ----------
        ledger : Ledger
        margin : float, default=None
            gamma of the data, if it is known; by default the margin in the ledger, if it has one.
        ax : sequence of three matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        LedgerDisplay
        """
        ledger = ledger if margin is None else ledger.with_margin(margin)
        most = ledger.margin_at_most
        if margin is not None and most is not None and margin > most:
            raise DataError(
                f"The margin cannot be {margin:.6g}: this run proves that it is at most {most:.6g}. With "
                "an intercept the constant coordinate counts, as in certify(X, y).margin."
            )
        return cls(ledger).plot(ax)

    def plot(self, ax: Any = None) -> LedgerDisplay:
        """Draw on three given axes, or in a new figure.

        Parameters
        ----------
        ax : sequence of three matplotlib Axes, default=None

        Returns
        -------
        self
        """
        self.ax_ = np.asarray(new_axes(3, (12.6, 4.0)) if ax is None else ax, object).ravel()
        if len(self.ax_) != 3:
            raise DataError(f"The proof has three panels; found {len(self.ax_)} axes.")
        self.figure_ = self.ax_[0].figure
        self.norm_ = self.floor_ = self.ceiling_ = self.progress_ = self.meeting_ = _NOT_DRAWN
        self.mistakes_ = self.bound_ = self.certified_ = self.margin_ = _NOT_DRAWN
        for panel, draw in zip(self.ax_, (self._draw_norm, self._draw_mistakes, self._draw_certified), strict=True):
            if len(self.k):
                draw(panel)
            else:
                _write_instead(panel, "no path on record" if self.ledger.updates else "no mistakes")
        return self

    def _draw_norm(self, ax: Any) -> None:
        (self.norm_,) = ax.plot(
            self.k, self.norm, color=BLACK, lw=1.8, zorder=3, label=self._norm_name(), **self._marker_style()
        )
        is_far = self.limit is not None and self.limit > _NEAR * self.k[-1]
        end = 1.15 * max(self.k[-1], self.limit or 0.0) * (2.0 if is_far else 1.0)
        grid = np.geomspace(0.7, end, 300) if is_far else np.linspace(0.0, end, 300)
        if self.growth is not None:
            name = "R" if isinstance(self.ledger.rule, Perceptron) else r"\sqrt{R^2 + 2\beta}"
            (self.ceiling_,) = ax.plot(
                grid, np.sqrt(grid) * self.growth, color=VERMILION, ls="--", label=rf"at most $\sqrt{{k}}\,{name}$"
            )
        if self.limit is not None:
            self._draw_floor(ax, grid)
        ax.set(title=r"Growth of $\Vert w \Vert$", xlabel=self._k_name(), ylabel=self._norm_name(), xlim=(grid[0], end))
        if is_far:
            log_axes(ax, "xy")
        else:
            ax.set_ylim(0.0, None)
        # The legend hides nothing below the floor or above the ceiling.
        ax.legend(loc="lower right" if self.floor_ else "upper left", fontsize="small")

    def _draw_floor(self, ax: Any, grid: np.ndarray) -> None:
        assert self.limit is not None
        assert self.margin is not None
        assert self.growth is not None
        (self.floor_,) = ax.plot(grid, grid * self.margin, color=GREEN, ls="-.", label=r"at least $k\,\gamma$")
        between = np.append(grid[grid < self.limit], self.limit)
        ax.fill_between(between, between * self.margin, np.sqrt(between) * self.growth, color=GREY, alpha=0.15, lw=0)
        self.meeting_ = ax.scatter(
            self.limit,
            self.limit * self.margin,
            marker="*",
            s=150,
            color=BLACK,
            zorder=4,
            label=f"{self._limit_name()} = {format_number(self.limit)}",
        )
        known = ~np.isnan(self.progress)
        # The margin that was passed may differ from that of the separator u along which progress was recorded.
        if known.any() and (self.progress[known] >= self.k[known] * self.margin * (1.0 - 1e-9)).all():
            (self.progress_,) = ax.plot(
                self.k[known], self.progress[known], color=BLUE, ls=":", lw=1.8, label=r"$\langle w, u \rangle$"
            )

    def _draw_mistakes(self, ax: Any) -> None:
        ledger, bound = self.ledger, self.ledger.mistake_bound
        examples = np.concatenate([[0.0], self.examples, [ledger.examples]])
        mistakes = np.concatenate([[0.0], self.mistakes, [ledger.mistakes]])
        (self.mistakes_,) = ax.plot(
            examples, mistakes, color=BLACK, lw=1.8, drawstyle="steps-post", label=f"mistakes: {ledger.mistakes:,}"
        )
        passes = f" in {ledger.passes} passes" if ledger.passes > 1 else ""
        ax.set(title="Mistakes", xlabel=f"examples{passes}", ylabel="mistakes", xlim=(0.0, 1.02 * ledger.examples))
        ax.set_ylim(0.0, 1.15 * max(1, ledger.mistakes))
        if bound is not None and bound < math.inf:
            self._draw_bound(ax, bound, bound / max(1, ledger.mistakes))
        ax.legend(loc="best", fontsize="small")

    def _draw_bound(self, ax: Any, bound: float, times: float) -> None:
        if times > _FAR:
            ax.text(
                0.03,
                0.96,
                rf"$\uparrow$ bound: {format_number(bound)}",
                transform=ax.transAxes,
                color=VERMILION,
                va="top",
            )
            return
        self.bound_ = ax.axhline(bound, color=VERMILION, ls="--", label=f"bound: {format_number(bound)}")
        if times > _NEAR:
            log_axes(ax, "y")
            ax.set_ylim(0.8, 2.0 * bound)
        else:
            ax.set_ylim(0.0, 1.15 * bound)

    def _draw_certified(self, ax: Any) -> None:
        if self.has_equal_steps:
            label = r"$\Vert w \Vert\,/\,k$" if self.step == 1.0 else r"$\Vert w \Vert\,/\,(\eta\,k)$"
            (self.certified_,) = ax.plot(
                self.k, self.certified, color=BLACK, lw=1.8, label=label, **self._marker_style()
            )
        else:
            label, value = r"$\Vert w \Vert\,/$ sum of steps, at the end", self.ledger.norm / self.ledger.step_sum
            (self.certified_,) = ax.plot(self.k[-1:], value, color=BLACK, ls="", marker="o", label=label)
            ax.set_xlim(0.0, 1.15 * self.k[-1])
        if self.margin is not None:
            self.margin_ = ax.axhline(
                self.margin, color=GREEN, ls="-.", label=rf"$\gamma$ = {format_number(self.margin)}"
            )
        ax.set(title=r"Certified bound on $\gamma$", xlabel=self._k_name(), ylabel=r"$\gamma$ is at most")
        if self.has_equal_steps and len(self.k) > 20:
            log_axes(ax, "xy")
        else:
            ax.set_ylim(0.0, 1.25 * max(self.certified_.get_ydata()))
        ax.legend(loc="upper right", fontsize="small")

    def _marker_style(self) -> dict[str, Any]:
        """Return a marker for each point, if there are few."""
        return {"marker": "o", "ms": 4.0} if len(self.k) <= 30 else {}

    def _norm_name(self) -> str:
        return r"$\Vert w \Vert$" if self.step == 1.0 else r"$\Vert w \Vert\,/\,\eta$"

    def _k_name(self) -> str:
        return "mistakes $k$" if isinstance(self.ledger.rule, Perceptron) else "updates $k$"

    def _limit_name(self) -> str:
        is_perceptron = isinstance(self.ledger.rule, Perceptron)
        return r"$(R\,/\,\gamma)^2$" if is_perceptron else r"$(R^2 + 2\beta)\,/\,\gamma^2$"


def _read_trace(ledger: Ledger) -> np.ndarray:
    """Return the columns of the trace, with the last state, which thinning may have left out."""
    points = list(ledger.trace.points)
    if points and points[-1][0] < ledger.updates:
        points.append((ledger.updates, ledger.examples, ledger.mistakes, ledger.norm, math.nan))
    return np.array(points, float).reshape(-1, 5).T


def _write_instead(ax: Any, text: str) -> None:
    """Write a text where there is nothing to draw."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=GREY)
    ax.set(xticks=[], yticks=[])

"""PlaneDisplay: two classes in the plane, with a half-space or the proof that there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.errors import DataError
from novikoff.plots.curve import Curve
from novikoff.plots.pictures import Picture, compose_certificate, compose_classifier
from novikoff.plots.plane_parts import Boundary, MarkedRows, Window, WitnessHulls, draw_rows, format_sum
from novikoff.plots.projection import ProjectedRows, project, sample_row_indices, validate_matrix
from novikoff.plots.questions import name_sides, note_sample, read_half_space, signs_of
from novikoff.plots.style import GREY, new_axes
from novikoff.theory.certificates import Inseparable, Separable

__all__ = ["PlaneDisplay"]

_ARTISTS = (
    "points_",
    "regions_",
    "boundary_",
    "normal_",
    "band_",
    "rings_",
    "crosses_",
    "hulls_",
    "common_",
    "legend_",
)
_RATIO = 1.3  # about the width of the axes in a new figure, divided by their height
_LARGEST_RATIO = 12.0  # of the ranges of two features that are drawn to the same scale


@dataclass(eq=False, repr=False)
class PlaneDisplay:
    """Two classes in the plane, with the half-space that separates them, or the rows that prove that none does.

    Make one with `from_estimator`, `from_certificate` or `from_half_space`. Two features are drawn to the same scale,
    so that w looks perpendicular to the boundary; if their ranges differ too much for that, w is not drawn. With more
    features, rows are projected on w, where distances from the boundary are true, and on the direction of largest
    remaining variance. Of more than 5,000 rows a random 5,000 are drawn, and the legend says so; rows of a proof are
    always drawn.

    Attributes
    ----------
    points : ProjectedRows
        Where the rows are drawn, and the score in the picture: <normal, p> + offset.
    signs : ndarray of shape (n,)
        The side each row should be on; 0 if it has no label.
    names : tuple of (sign, name)
        What the legend calls the classes.
    title, note : str
    boundary : Boundary or None
        The line, with its band.
    ringed, crossed : MarkedRows or None
        Support or witness rows; rows that are not on their side.
    witness : WitnessHulls or None
        Hulls of witness rows, and the point in them that proves that no half-space separates them.
    limits : tuple of two ranges
        What to show of each axis; None for everything.
    curve : Curve or None
        The boundary, if it is not a line.
    ax_, figure_ : matplotlib Axes and Figure
    points_, regions_, boundary_, normal_, band_, rings_, crosses_, hulls_, common_, legend_ : matplotlib artists
        What was drawn; None where there was nothing to draw.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import novikoff as nk
    >>> from novikoff.plots import PlaneDisplay
    >>> X, y = [[-1, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]], [-1, 1, 1, -1, -1, 1]
    >>> clf = nk.Perceptron(fit_intercept=False).fit(X, y)
    >>> display = PlaneDisplay.from_estimator(clf, X, y, ax=Figure().subplots())
    >>> display.boundary.normal, display.boundary.margin
    (array([3., 1.]), 1.0)
    """

    points: ProjectedRows
    signs: np.ndarray
    names: tuple[tuple[int, str], ...]
    title: str
    note: str | None = None
    boundary: Boundary | None = None
    ringed: MarkedRows | None = None
    crossed: MarkedRows | None = None
    witness: WitnessHulls | None = None
    limits: tuple[tuple[float, float] | None, tuple[float, float] | None] = (None, None)
    curve: Curve | None = None

    @classmethod
    def from_estimator(
        cls, clf: Any, X: Any, y: Any, *, ax: Any = None, feature_names: Any = None, **kwargs: Any
    ) -> PlaneDisplay:
        """Draw the boundary of a fitted classifier of two classes, and rows with their labels.

        If every row is on its side, a band reaches to the nearest; otherwise the rows that are not are crossed. A
        boundary that is not a line, such as that of a `KernelPerceptron`, is drawn where there are two features, with
        rings around support rows.

        Parameters
        ----------
        clf : estimator
            With two `classes_`, and with `coef_` and `intercept_`, or `decision_function`: ours, or any of
            scikit-learn.
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        feature_names : sequence of str, default=None
            For the axes; by default the columns of a DataFrame.
        **kwargs
            For `Axes.scatter`.

        Returns
        -------
        PlaneDisplay
        """
        classes = np.asarray(clf.classes_)
        if len(classes) != 2:
            raise DataError(
                f"A plane has two sides, the estimator {len(classes)} classes. Draw a pair of them: fit on "
                "the rows of two classes, or pass one of the certificates of certify(X, y) to "
                "from_certificate."
            )
        X, names = validate_matrix(X, feature_names)
        signs = signs_of(y, classes, X.shape[0])
        return cls._from_picture(compose_classifier(clf, X, signs, name_sides(*classes), names)).plot(ax, **kwargs)

    @classmethod
    def from_certificate(
        cls, certificate: Any, X: Any, y: Any, *, ax: Any = None, feature_names: Any = None, **kwargs: Any
    ) -> PlaneDisplay:
        """Draw what `certify` has found about the rows X with labels y.

        Separable: w*, the band without rows around its boundary, and the support rows on the edges of the band.
        Inseparable: the witness rows of each class joined to a hull, and a point that is in both hulls. Without an
        intercept y x is drawn instead of x, and the hull of the witness rows around 0. In the feature space of a kernel
        the boundary and the edges of its band are curves, and no hulls are drawn.

        Parameters
        ----------
        certificate : Separable or Inseparable
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The rows that were certified.
        y : array-like of shape (n_samples,)
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        feature_names : sequence of str, default=None
            For the axes; by default the columns of a DataFrame.
        **kwargs
            For `Axes.scatter`.

        Returns
        -------
        PlaneDisplay
        """
        if not isinstance(certificate, Separable | Inseparable):
            raise DataError(
                f"Expected the certificate of one question, found {type(certificate).__name__}. For many "
                "classes pass one of them: certify(X, y)['a', 'b']."
            )
        X, names = validate_matrix(X, feature_names)
        signs = certificate.question.signs(y)
        if X.shape != (certificate.n_rows, certificate.n_features) or len(signs) != certificate.n_rows:
            raise DataError(
                f"The certificate is about {certificate.n_rows} rows with {certificate.n_features} "
                f"features; X has shape {X.shape}, y {len(signs)} labels."
            )
        return cls._from_picture(compose_certificate(certificate, X, signs, names)).plot(ax, **kwargs)

    @classmethod
    def from_half_space(
        cls,
        w: Any,
        intercept: float = 0.0,
        *,
        X: Any = None,
        y: Any = None,
        ax: Any = None,
        xlim: tuple[float, float] | None = None,
        ylim: tuple[float, float] | None = None,
        **kwargs: Any,
    ) -> PlaneDisplay:
        r"""Draw the half-space <w, x> + intercept > 0 with its normal vector, as textbook exercises show it.

        The boundary is dashed: it belongs to neither side.

        Parameters
        ----------
        w : array-like of shape (n_features,)
            Not all zero. Without X one or two numbers.
        intercept : float, default=0.0
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features), default=None
            Rows to draw as well.
        y : array-like of shape (n_samples,), default=None
            Their labels, two different ones; the second in order belongs on the positive side.
        ax : matplotlib Axes, default=None
            Where to draw; a new figure by default.
        xlim, ylim : tuple of float, default=None
            The part of the plane to show; by default the origin, the boundary, w and the rows.
        **kwargs
            For `Axes.scatter`.

        Returns
        -------
        PlaneDisplay

        Examples
        --------
        >>> from matplotlib.figure import Figure
        >>> from novikoff.plots import PlaneDisplay
        >>> PlaneDisplay.from_half_space([2, 3], 6, ax=Figure().subplots()).title
        '$2\\,x_{1}$ + $3\\,x_{2}$ + 6 > 0'
        """
        if X is None and np.size(w) > 2:
            raise DataError(f"A half-space of {np.size(w)} features can only be drawn together with rows: pass X.")
        X, names = validate_matrix(np.zeros((0, np.size(w))) if X is None else X)
        w, intercept = read_half_space(w, intercept, X.shape[1])
        classes = None if y is None else np.unique(np.asarray(y))
        signs = np.zeros(X.shape[0], np.int64) if classes is None else signs_of(y, classes, X.shape[0])
        rows = sample_row_indices(np.arange(len(signs)), np.arange(0))
        points = project(X[rows], w, intercept, names)
        equation = format_sum(w, intercept, names) if len(w) <= 2 else r"$w \cdot x + b$"
        vector = f"$w = ({', '.join(f'{value:.4g}' for value in w)})$" if len(w) <= 2 else "$w$"
        boundary = Boundary(points.normal, points.offset, equation, vector, is_strict=True)
        known = ((0, "rows"),) if classes is None else name_sides(*classes)
        return cls(
            points,
            signs[rows],
            known if len(signs) else (),
            f"{equation} > 0",
            note_sample(len(rows), len(signs)),
            boundary,
            limits=(xlim, ylim),
        ).plot(ax, **kwargs)

    @classmethod
    def _from_picture(cls, picture: Picture) -> PlaneDisplay:
        return cls(**vars(picture))

    def plot(self, ax: Any = None, **kwargs: Any) -> PlaneDisplay:
        """Draw on given axes, or in a new figure.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
        **kwargs
            For `Axes.scatter`.

        Returns
        -------
        self
        """
        self.ax_ = new_axes(1, (7.4, 4.4 if self.points.n_features > 1 else 2.2)) if ax is None else ax
        self.figure_ = self.ax_.figure
        window, at = self._window(), self.points.coordinates
        artists: dict[str, Any] = dict.fromkeys(_ARTISTS)
        artists["points_"] = draw_rows(self.ax_, self.points, self.signs, self.names, **kwargs)
        if self.boundary is not None:
            has_right_angles = self.points.n_features != 2 or self._has_one_scale(window)
            artists |= self.boundary.draw(self.ax_, window, at, has_right_angles=has_right_angles)
        if self.curve is not None:
            artists |= self.curve.draw(self.ax_, window)
        if self.witness is not None:
            artists |= self.witness.draw(self.ax_, at)
        artists["rings_"] = self.ringed and self.ringed.draw(self.ax_, at)
        artists["crosses_"] = self.crossed and self.crossed.draw(self.ax_, at, cross=True)
        self._frame(window)
        artists["legend_"] = self._legend(window, beside=ax is None)
        vars(self).update(artists)
        return self

    def _legend(self, window: Window, *, beside: bool) -> Any:
        """Draw the legend, beside the axes in a figure of our own; its title says what the picture does not show."""
        notes = [self.note] if self.note else []
        if self.points.n_features == 2 and not self._has_one_scale(window):
            notes.append("axes of different scales")
        position = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.0), "borderaxespad": 0.0} if beside else {}
        legend = self.ax_.legend(title="\n".join(notes) or None, fontsize="small", title_fontsize="small", **position)
        for handle in legend.legend_handles[: len(self.names)]:
            handle.set(sizes=[30.0], alpha=1.0)  # many rows are drawn small
        return legend

    def _window(self) -> Window:
        """Return the part of the plane with all rows, and with the boundary if it is not far from them."""
        corners = self.points.coordinates
        if self.boundary is not None and not len(corners):
            window = Window.around(self.boundary.landmarks(), 0.25)
        elif self.witness is not None:
            window = Window.around(np.vstack([corners, self.witness.common]))
        else:
            window = Window.around(corners)
        if self.boundary is not None and len(corners):
            foot = self.boundary.foot(window.centre, scale=window.size)
            if (np.abs(foot - window.centre) < window.size).all():
                window = Window.around(np.vstack([corners, foot]))
        if self.points.n_features == 1:
            return Window(np.array([window.low[0], -1.0]), np.array([window.high[0], 1.0]))
        return window.widen(_RATIO) if self._has_one_scale(window) else window

    def _has_one_scale(self, window: Window) -> bool:
        """Return whether both axes have the same scale, so that right angles look right."""
        return self.points.n_features == 2 and 1.0 / _LARGEST_RATIO < window.size[0] / window.size[1] < _LARGEST_RATIO

    def _frame(self, window: Window) -> None:
        """Set limits, scales and labels of the axes."""
        ax, (xlim, ylim) = self.ax_, self.limits
        # By default the data limits would include the shaded half-planes, which end far outside.
        ax.dataLim.set_points(np.array([window.low, window.high]))
        ax.set_xlim(xlim or (window.low[0], window.high[0]), auto=xlim is None)
        ax.set_ylim(ylim or (window.low[1], window.high[1]), auto=ylim is None)
        ax.set(xlabel=self.points.axes[0], ylabel=self.points.axes[1], title=self.title)
        if self.points.n_features == 1:
            ax.yaxis.set_visible(False)
        if self._has_one_scale(window):
            ax.set_aspect("equal", adjustable="box" if xlim or ylim else "datalim")
        if self.points.n_features == 1 or (self.points.n_features == 2 and not len(self.points.coordinates)):
            ax.axhline(0.0, color=GREY, lw=0.8, zorder=1)
        if not len(self.points.coordinates):
            ax.axvline(0.0, color=GREY, lw=0.8, zorder=1)

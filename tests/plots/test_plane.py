"""PlaneDisplay: artists are compared with the numbers they stand for."""

import sys
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nk
from novikoff.errors import DataError
from novikoff.plots import PlaneDisplay, projection
from novikoff.theory.certificates import Inseparable, Question, Separable, Verdicts
from tests.plots.artists import X, Y, blobs, line_of, offsets

SEPARABLE = Separable(
    Question(1, -1, fit_intercept=False),
    np.array([1.0, 0.0]),
    0.0,
    1.0,
    1.0,
    np.array([1, 3]),
    np.array([0.5, 0.5]),
    np.sqrt(5.0),
    6,
    2,
)

XOR = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]])
XOR_LABELS = np.array(["even", "even", "odd", "odd"])
INSEPARABLE = Inseparable(Question("odd", "even"), np.arange(4), (Fraction(1),) * 4, 4, 2)


def assert_is_boundary(display, w, b):
    ends = line_of(display.boundary_)
    scale = np.abs(ends).max() * np.abs(w).max()
    assert np.allclose(ends @ w + b, 0.0, atol=1e-12 * scale)
    arrow = np.subtract(display.normal_.xy, display.normal_.xyann)
    assert abs(arrow @ (ends[1] - ends[0])) <= 1e-9 * np.linalg.norm(arrow) * np.linalg.norm(ends[1] - ends[0])
    assert arrow @ w > 0.0  # into the positive side
    assert np.isclose(np.array(display.normal_.xyann) @ w + b, 0.0, atol=1e-9 * np.abs(w).max())


def test_estimator_in_the_plane():
    x, y = blobs()
    clf = nk.Perceptron().fit(x, y)
    display = PlaneDisplay.from_estimator(clf, x, y)
    w, b = clf.coef_[0], clf.intercept_[0]
    assert_is_boundary(display, w, b)
    assert [len(offsets(artist)) for artist in display.points_] == [60, 60]
    assert np.array_equal(offsets(display.points_[0]), x[y == "b"])
    scores = np.where(y == "b", 1, -1) * (x @ w + b)
    assert np.allclose(offsets(display.rings_), x[[scores.argmin()]])
    band = display.band_.get_xy()
    assert np.allclose(np.abs(band @ w + b), scores.min(), rtol=1e-6)
    assert display.ax_.get_aspect() == 1.0
    assert display.crosses_ is None
    assert display.figure_ is display.ax_.figure
    assert "120 of 120" in display.ax_.get_title()


def test_regions_are_on_their_sides():
    display = PlaneDisplay.from_half_space([2, 3], 6)
    positive, negative = (region.get_path() for region in display.regions_)
    for p in ([0.0, 0.0], [5.0, -3.0]):
        assert positive.contains_point(p)
        assert not negative.contains_point(p)
    assert negative.contains_point([-3.0, -3.0])


def test_rows_on_the_wrong_side_are_crossed():
    x, y = blobs()
    clf = nk.Perceptron().fit(x, y)
    y[:3] = "b"
    display = PlaneDisplay.from_estimator(clf, x, y)
    assert np.array_equal(offsets(display.crosses_), x[:3])
    assert display.rings_ is None
    assert display.band_ is None


def test_separable_certificate():
    display = PlaneDisplay.from_certificate(SEPARABLE, X, Y)
    assert_is_boundary(display, np.array([1.0, 0.0]), 0.0)
    assert np.array_equal(offsets(display.rings_), X[[1, 3]])
    assert np.allclose(np.abs(display.band_.get_xy()[:, 0]), 1.0)
    assert any("γ" in text.get_text() or "gamma" in text.get_text() for text in display.legend_.get_texts())


def test_inseparable_certificate_marks_the_common_point():
    display = PlaneDisplay.from_certificate(INSEPARABLE, XOR, XOR_LABELS)
    assert np.allclose(offsets(display.common_), [[0.5, 0.5]])
    assert np.array_equal(offsets(display.rings_), XOR)
    corners = [{tuple(p) for p in hull.get_xy()} for hull in display.hulls_]
    assert corners == [{(0.0, 1.0), (1.0, 0.0)}, {(0.0, 0.0), (1.0, 1.0)}]
    assert display.boundary_ is None


def test_common_point_is_the_weighted_mean_of_either_class():
    x = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 3.0], [1.0, 0.5], [9.0, 9.0]])
    y = np.array([0, 0, 0, 1, 1])  # 6 (1, .5) = 3 (0, 0) + 2 (3, 0) + 1 (0, 3)
    found = Inseparable(Question(1, 0, n_asked=5), np.array([3, 0, 1, 2]), tuple(map(Fraction, (6, 3, 2, 1))), 5, 2)
    found.verify(x, y)
    display = PlaneDisplay.from_certificate(found, x, y)
    negative = found.shares[1:] * 2.0 @ x[:3]
    assert np.allclose(offsets(display.common_), [negative])
    assert np.allclose(offsets(display.common_), [[1.0, 0.5]])


def test_without_intercept_the_hull_is_around_zero():
    x, y = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, -1.0]]), np.array([1, 0, 0])
    found = Inseparable(
        Question(1, 0, fit_intercept=False, n_asked=3), np.arange(3), tuple(map(Fraction, (2, 1, 1))), 3, 2
    )
    found.verify(x, y)
    display = PlaneDisplay.from_certificate(found, x, y)
    assert np.array_equal(offsets(display.rings_), [[1.0, 0.0], [-1.0, -1.0], [-1.0, 1.0]])  # y x
    assert np.array_equal(offsets(display.common_), [[0.0, 0.0]])
    assert "y" in display.ax_.get_xlabel()


def test_half_space_of_a_course_exercise():
    display = PlaneDisplay.from_half_space([2, 3], 6)
    assert_is_boundary(display, np.array([2.0, 3.0]), 6.0)
    assert np.allclose(np.subtract(display.normal_.xy, display.normal_.xyann), [2.0, 3.0])  # to scale
    assert display.boundary_.get_linestyle() == "--"  # > 0, not >= 0
    (x0, x1), (y0, y1) = display.ax_.get_xlim(), display.ax_.get_ylim()
    for x, y in [(0, 0), (-3, 0), (0, -2), display.normal_.xy]:
        assert x0 < x < x1
        assert y0 < y < y1
    assert display.title == r"$2\,x_{1}$ + $3\,x_{2}$ + 6 > 0"


def test_half_space_with_limits_rows_and_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["height", "width"])
    display = PlaneDisplay.from_half_space([1, -0.5], 0, X=frame, y=Y, xlim=(-4, 4), ylim=(-4, 4))
    display.figure_.canvas.draw()
    assert display.ax_.get_xlim() == (-4, 4)
    assert display.ax_.get_ylabel() == "width"
    assert display.title == "height − $0.5\\,$width > 0"
    assert len(PlaneDisplay.from_half_space([1, -0.5], X=X).points_) == 1  # without labels
    assert PlaneDisplay.from_half_space(np.ones(5), X=np.eye(5)).title == r"$w \cdot x + b$ > 0"


@pytest.mark.parametrize("w", [[1.0, 0.0], [0.0, -1.0], [200.0, 300.0], [1e-3, 1e-3], [5.0]])
@pytest.mark.parametrize("b", [0.0, 6.0, -600.0])
def test_any_half_space(w, b):
    assert_is_boundary(PlaneDisplay.from_half_space(w, b), np.append(w, 0.0)[:2], b)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array, np.float32])
def test_many_features_keep_their_distances(form):
    x, y = blobs(d=6)
    clf = nk.Perceptron().fit(x, y)
    display = PlaneDisplay.from_estimator(clf, form(x), y)
    w, b = clf.coef_[0], clf.intercept_[0]
    at = display.points.coordinates
    assert np.allclose(at[:, 0], (x @ w + b) / np.linalg.norm(w), atol=1e-5)
    assert np.allclose(line_of(display.boundary_)[:, 0], 0.0)
    rest = (x - x.mean(axis=0)) @ (np.eye(6) - np.outer(w, w) / (w @ w))
    assert np.isclose(at[:, 1].std(), np.linalg.svd(rest)[1][0] / np.sqrt(len(x)), rtol=1e-4)


def test_witness_of_many_features_meets_in_any_projection():
    x = np.hstack([XOR, np.arange(16.0).reshape(4, 4) % 3])
    x[3, 2:] = x[0, 2:] + x[1, 2:] - x[2, 2:]  # cancel as the first two columns do
    found = Inseparable(Question("odd", "even", n_asked=4), np.arange(4), (Fraction(1),) * 4, 4, 6)
    found.verify(x, XOR_LABELS)
    for rows in (x, sp.csr_array(x)):
        display = PlaneDisplay.from_certificate(found, rows, XOR_LABELS)
        positive, negative = (display.points.coordinates[display.signs == sign].mean(axis=0) for sign in (1, -1))
        assert np.allclose(offsets(display.common_), positive)
        assert np.allclose(positive, negative)


def test_one_feature():
    display = PlaneDisplay.from_estimator(nk.Perceptron().fit([[1.0], [3.0]], [0, 1]), [[1.0], [3.0]], [0, 1])
    w, b = display.points.normal[0], display.points.offset
    assert np.allclose(line_of(display.boundary_)[:, 0], -b / w)
    assert not display.ax_.yaxis.get_visible()


def test_rows_are_sampled_except_those_of_the_proof():
    x, y = blobs(n=4000)
    clf = nk.Perceptron().fit(x, y)
    scores = np.where(y == "b", 1, -1) * clf.decision_function(x)
    display = PlaneDisplay.from_estimator(clf, x, y)
    assert projection.MAX_ROWS <= len(display.points.coordinates) <= projection.MAX_ROWS + 1
    assert np.array_equal(offsets(display.rings_), x[[scores.argmin()]])
    assert f"{len(display.points.coordinates):,} of 8,000 rows" in display.legend_.get_title().get_text()


def test_other_classes_are_not_drawn():
    labels = np.append(XOR_LABELS, "other")
    found = Inseparable(Question("odd", "even"), np.arange(4), (Fraction(1),) * 4, 5, 2)
    display = PlaneDisplay.from_certificate(found, np.vstack([XOR, [9.0, 9.0]]), labels)
    assert len(display.points.coordinates) == 4


def test_features_of_different_ranges():
    x, y = blobs()
    x[:, 1] *= 1000.0
    display = PlaneDisplay.from_half_space([1000.0, 1.0], -3000.0, X=x, y=y)
    assert display.ax_.get_aspect() == "auto"
    assert display.normal_ is None  # it would not look perpendicular
    assert "scales" in display.legend_.get_title().get_text()


def test_plot_again_on_given_axes():
    fig, ax = plt.subplots()
    display = PlaneDisplay.from_certificate(SEPARABLE, X, Y, ax=ax)
    assert display.figure_ is fig
    assert display.plot(s=99.0) is display
    assert display.ax_ is not ax
    assert display.points_[0].get_sizes() == [99.0]


def test_bad_input():
    three = nk.Perceptron(max_iter=5).fit(np.eye(3), [0, 1, 2])
    with pytest.raises(DataError, match=r"3 classes.*certify"):
        PlaneDisplay.from_estimator(three, np.eye(3), [0, 1, 2])
    with pytest.raises(DataError, match="one of them"):
        PlaneDisplay.from_certificate(Verdicts({}, {}), X, Y)
    with pytest.raises(DataError, match="not all zero"):
        PlaneDisplay.from_half_space([0.0, 0.0], 1.0)
    with pytest.raises(DataError, match="pass X"):
        PlaneDisplay.from_half_space([1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="6 rows with 2 features"):
        PlaneDisplay.from_certificate(SEPARABLE, X[:5], Y[:5])
    with pytest.raises(DataError, match="NaN"):
        PlaneDisplay.from_half_space([1.0, 2.0], X=[[np.nan, 1.0]])
    with pytest.raises(DataError, match="feature_names has 1"):
        PlaneDisplay.from_certificate(SEPARABLE, X, Y, feature_names=["one"])
    with pytest.raises(DataError, match="one of two"):
        PlaneDisplay.from_estimator(nk.Perceptron().fit(X, Y), X, Y + 1)


def test_convex_hull():
    square = np.array([[0.0, 0], [1, 0], [1, 1], [0, 1]])
    inside = np.array([[0.5, 0.5], [0.5, 0.0]])
    assert projection.convex_hull(np.vstack([inside, square, square])).tolist() == square.tolist()
    assert projection.convex_hull(inside[:1]).tolist() == inside[:1].tolist()


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'Install the extra "plot"'):
        PlaneDisplay.from_half_space([2, 3], 6)

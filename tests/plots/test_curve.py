"""PlaneDisplay with curved boundaries."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.svm import SVC

import novikoff as nk
from novikoff.errors import DataError
from novikoff.plots import PlaneDisplay

mpl.use("Agg")

X, Y = make_circles(40, noise=0.05, factor=0.4, random_state=0)


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().subplots()


def vertices_of(contours):
    """All points of a curve."""
    return np.vstack([path.vertices for path in contours.get_paths()])


def test_the_boundary_of_a_classifier(ax):
    clf = nk.KernelPerceptron("poly", degree=2, gamma=1, hypothesis="last", max_iter=1000).fit(X, Y)
    display = PlaneDisplay.from_estimator(clf, X, Y, ax=ax)
    assert display.title == "KernelPerceptron: 40 of 40 rows on their side"
    on_the_curve = clf.decision_function(vertices_of(display.boundary_))
    assert np.abs(on_the_curve).max() < 0.01 * np.abs(clf.decision_function(X)).max()
    np.testing.assert_array_equal(np.sort(display.ringed.indices), np.sort(clf.support_))
    assert display.crosses_ is None
    assert "$f(x)$ = 0" in [text.get_text() for text in display.legend_.get_texts()]
    at = np.array([[0.0, 0.0], [1.5, 1.5]])
    np.testing.assert_array_equal(display.curve.score(at), clf.decision_function(at))


def test_rows_on_the_wrong_side_are_crossed(ax):
    clf = SVC(gamma=5.0).fit(X, Y)
    wrong = Y.copy()
    wrong[[3, 7]] ^= 1
    display = PlaneDisplay.from_estimator(clf, X, wrong, ax=ax)  # any classifier with a decision_function
    assert display.crossed.indices.tolist() == [3, 7]
    np.testing.assert_array_equal(np.sort(display.ringed.indices), np.sort(clf.support_))


def test_certificates_in_feature_space(ax):
    found = nk.certify(X, Y, kernel="poly", degree=2, gamma=1)
    display = PlaneDisplay.from_certificate(found, X, Y, ax=ax)
    assert display.title == r"1 against 0: separable with K = $(\langle x, z \rangle + 1)^2$"
    np.testing.assert_array_equal(display.ringed.indices, found.support)
    # support rows lie on the edges of the band
    np.testing.assert_allclose(np.abs(display.curve.score(X[found.support])), found.margin, rtol=1e-6)
    assert display.band_ is not None
    no = nk.certify(X, Y, kernel="poly", degree=1, gamma=1)
    display = PlaneDisplay.from_certificate(no, X, Y, ax=ax)
    assert (display.curve, display.boundary_) == (None, None)
    np.testing.assert_array_equal(display.ringed.indices, no.rows)
    assert "not separable" in display.title


def test_the_display_of_scikit_learn(ax):
    clf = nk.KernelPerceptron("rbf", gamma=3.0).partial_fit(X, Y)
    display = DecisionBoundaryDisplay.from_estimator(clf, X, response_method="predict", ax=ax, grid_resolution=20)
    assert set(np.unique(display.response)) == {0, 1}


def test_three_features_are_refused(ax):
    rows = np.hstack([X, X[:, :1]])
    clf = nk.KernelPerceptron("rbf", gamma=3.0).partial_fit(rows, Y)
    with pytest.raises(DataError, match="in the plane of two features, X has 3"):
        PlaneDisplay.from_estimator(clf, rows, Y, ax=ax)

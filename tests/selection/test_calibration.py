"""Calibration: against Lin, Lin & Weng's algorithm as printed, scikit-learn, SciPy, and cases worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from sklearn.calibration import CalibratedClassifierCV, _SigmoidCalibration
from sklearn.frozen import FrozenEstimator

from novikoff.errors import DataError, ModelFileError
from novikoff.estimators import Perceptron
from novikoff.model_files import Section
from novikoff.selection.calibration import Calibration, fit_calibration
from tests.reference import calibration as reference

seeds = st.integers(0, 10_000)


def two_classes(seed, n=200, scale=1.0):
    """Scores, and classes that are the likelier the higher the score."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(0.3, 1.0, n)
    return scale * scores, (rng.random(n) < 1 / (1 + np.exp(-1.5 * scores + 0.4))).astype(int)


def many_classes(seed, n=150, k=4):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, k))
    return scores, (scores + rng.gumbel(size=(n, k))).argmax(axis=1)


@given(seeds)
def test_two_classes_as_printed_by_lin_lin_and_weng(seed):
    scores, codes = two_classes(seed)
    A, B = reference.platt(scores.tolist(), codes.tolist())
    found = fit_calibration(scores, codes)
    assert (found.kind, found.rows) == ("sigmoid", 200)
    assert found.slope == pytest.approx(-A, rel=1e-6)
    assert found.intercept == pytest.approx(-B, rel=1e-6, abs=1e-6)


@given(seeds)
def test_two_classes_as_in_scikit_learn(seed):
    scores, codes = two_classes(seed)
    theirs = _SigmoidCalibration().fit(scores, codes).predict(scores)
    assert fit_calibration(scores, codes).probabilities(scores)[:, 1] == pytest.approx(theirs, abs=1e-4)


def test_a_perceptron_as_calibrated_by_scikit_learn():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(900, 3))
    y = (X @ [1.0, -2.0, 0.5] + rng.normal(size=900) > 0).astype(int)
    clf = Perceptron(hypothesis="averaged").partial_fit(X[:300], y[:300])
    theirs = CalibratedClassifierCV(FrozenEstimator(clf), method="sigmoid", ensemble=False).fit(X[300:], y[300:])
    ours = fit_calibration(clf.decision_function(X[300:]), y[300:])
    assert ours.probabilities(clf.decision_function(X)) == pytest.approx(theirs.predict_proba(X), abs=1e-4)


def test_a_sigmoid_through_two_points_by_hand():
    """Of 400 rows with score 1, and as many with -1, three quarters are right: Platt's targets are 401/402, 1/402."""
    found = fit_calibration(np.repeat([1.0, -1.0], 400), np.repeat([1, 0, 0, 1], [300, 100, 300, 100]))
    share = 0.75 * 401 / 402 + 0.25 / 402
    assert found.slope == pytest.approx(math.log(share / (1 - share)), rel=1e-9)
    assert found.intercept == pytest.approx(0.0, abs=1e-9)


@given(seeds)
def test_the_temperature_has_the_least_log_loss(seed):
    scores, codes = many_classes(seed)
    k = scores.shape[1]
    counts = np.bincount(codes, minlength=k)
    targets = [[((counts[c] + 1) if j == c else 1) / (counts[c] + k) for j in range(k)] for c in codes]
    best = minimize_scalar(
        lambda slope: reference.softmax_log_loss(slope, scores.tolist(), targets),
        bounds=(0, 20),
        method="bounded",
        options={"xatol": 1e-9},
    )
    found = fit_calibration(scores, codes)
    assert found.kind == "softmax"
    assert found.slope == pytest.approx(best.x, rel=1e-5)


def test_a_temperature_by_hand():
    """Three classes, scores 1 for one class and 0 for the others; two rows of three are right, the third is evenly
    either of the others. Softmax fits exactly: exp(a) / 2 is the odds of the class with score 1."""
    n = 600
    right = np.tile([0, 1, 2], n // 3)
    wrong = np.where(np.arange(n) // 3 % 6 == 4, 1, np.where(np.arange(n) // 3 % 6 == 5, 2, 0))
    codes = (right + wrong) % 3
    scores = np.eye(3)[right]
    counts = np.bincount(codes)
    mass = sum((counts[c] + 1 if c == r else 1) / (counts[c] + 3) for c, r in zip(codes, right, strict=True)) / n
    assert fit_calibration(scores, codes).slope == pytest.approx(math.log(2 * mass / (1 - mass)), rel=1e-8)


@given(seeds, st.sampled_from([1e-150, 1e-6, 3.0, 1e12, 1e150]))
def test_the_scale_of_scores_does_not_matter(seed, scale):
    for scores, codes in (two_classes(seed), many_classes(seed)):
        one, other = fit_calibration(scores, codes), fit_calibration(scale * scores, codes)
        assert other.probabilities(scale * scores) == pytest.approx(one.probabilities(scores), abs=1e-7)


@given(seeds, st.booleans())
def test_probabilities_are_monotone_and_sum_to_1(seed, against):
    scores, codes = two_classes(seed, n=30)
    found = fit_calibration(-scores if against else scores, codes)
    asked = np.sort(np.concatenate([scores, [-1e300, -1e3, 0.0, 1e3, 1e300]]))
    p = found.probabilities(asked)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert (np.diff(p[:, 1]) >= 0.0).all()
    scores, codes = many_classes(seed, n=30)
    found = fit_calibration(-scores if against else scores, codes)
    p = found.probabilities(scores * 1e3)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert (p >= 0.0).all()
    ranks = np.argsort(scores, axis=1)
    assert (np.diff(np.take_along_axis(p, ranks, axis=1), axis=1) >= 0.0).all()


@pytest.mark.parametrize("n", [1, 2, 5, 400])
def test_a_perfect_model_has_finite_parameters_and_no_certainty(n):
    codes = np.arange(n) % 2
    found = fit_calibration(2.0 * codes - 1.0, codes)
    assert np.isfinite([found.slope, found.intercept]).all()
    p = found.probabilities(2.0 * codes - 1.0)
    assert (p > 0.0).all()
    assert p[0, 0] == pytest.approx((-(-n // 2) + 1) / (-(-n // 2) + 2) if n > 1 else 2 / 3, abs=1e-6)
    codes = np.arange(3 * n) % 3
    p = fit_calibration(np.eye(3)[codes], codes).probabilities(np.eye(3)[codes])
    assert p[0, 0] == pytest.approx((n + 1) / (n + 3), abs=1e-6)


@pytest.mark.parametrize("scores", [np.zeros(12), np.zeros((12, 3))])
def test_scores_that_say_nothing(scores):
    codes = np.array([0] * 9 + [1] * 3)
    p = fit_calibration(scores, codes).probabilities(scores[:1])
    if scores.ndim == 1:  # the share of the second class, with Platt's targets
        assert p[0, 1] == pytest.approx((3 * 4 / 5 + 9 / 11) / 12, abs=1e-9)
    else:
        assert p[0] == pytest.approx(1 / 3)


def test_scores_that_point_the_wrong_way_do_not_rank():
    scores, codes = two_classes(3)
    found = fit_calibration(-scores, codes)
    assert found.slope == 0.0
    ones = int(codes.sum())
    share = (ones * (ones + 1) / (ones + 2) + (200 - ones) / (200 - ones + 2)) / 200
    assert found.probabilities(scores)[:, 1] == pytest.approx(share)


def test_nothing_to_fit():
    with pytest.raises(DataError, match="no held-out rows"):
        fit_calibration(np.empty(0), np.empty(0, int))
    with pytest.raises(DataError, match="not finite"):
        fit_calibration(np.array([1.0, np.inf]), np.array([0, 1]))


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "isotonic"},
        {"kind": "softmax"},
        {"slope": -1.0},
        {"slope": 1},
        {"intercept": "0"},
        {"rows": -1},
        {"rows": 2.0},
    ],
)
def test_a_file_with_another_calibration_is_refused(change):
    root = Section("m.nk holds no valid model")
    section = root.add_part("calibration")
    Calibration("sigmoid", 1.5, -0.25, 10).write_to(section)
    assert Calibration.read_from(root.part("calibration"), 2) == Calibration("sigmoid", 1.5, -0.25, 10)
    section.facts |= change
    with pytest.raises(ModelFileError, match=r"m\.nk holds no valid model: calibration"):
        Calibration.read_from(root.part("calibration"), 2)

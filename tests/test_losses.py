"""Losses in Python, in compiled loops, and by the textbook: derivatives, convexity, the zero-one loss."""

import math

import numba
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import losses
from novikoff._compiled.loops import descent
from novikoff.descent.compiled_losses import _CODES
from novikoff.errors import LossError
from tests.reference import descent as reference

NAMES = losses.NAMES
SMOOTH = [name for name in NAMES if losses.is_smooth(losses.resolve(name))]
KINKS = {"hinge-at-zero": 0.0, "hinge": 1.0, "squared-hinge": 1.0}  # margins at which a derivative jumps

scores = st.floats(-50.0, 50.0)
signs = st.sampled_from([-1.0, 1.0])
many_losses = pytest.mark.parametrize("name", NAMES)


@numba.njit
def compute_compiled(loss, s, y):
    return descent.loss_value(loss, s, y), descent.loss_slope(loss, s, y), descent.loss_curvature(loss, s, y)


@many_losses
@given(score=scores, target=signs)
def test_compiled_losses_equal_those_in_python(name, score, target):
    loss = losses.resolve(name)
    value, slope, curvature = compute_compiled(_CODES[type(loss)], score, target)
    assert value == pytest.approx(loss.value(score, target), rel=1e-12, abs=1e-300)
    assert slope == pytest.approx(loss.slope(score, target), rel=1e-12, abs=1e-300)
    assert curvature == pytest.approx(loss.curvature(score, target) or 0.0, rel=1e-12, abs=1e-300)


@many_losses
@given(score=scores, target=signs)
def test_values_and_slopes_equal_the_textbook(name, score, target):
    loss = losses.resolve(name)
    assert loss.value(score, target) == pytest.approx(float(reference.VALUES[name](score, target)), rel=1e-12)
    assert loss.slope(score, target) == pytest.approx(float(reference.SLOPES[name](score, target)), rel=1e-9)


def central_difference(function, at, h=1e-5):
    return (function(at + h) - function(at - h)) / (2.0 * h)


@many_losses
@given(score=st.floats(-8.0, 8.0), target=signs)
def test_slope_and_curvature_are_derivatives(name, score, target):
    loss = losses.resolve(name)
    if name in KINKS and abs(target * score - KINKS[name]) < 1e-3:
        return
    assert loss.slope(score, target) == pytest.approx(
        central_difference(lambda s: loss.value(s, target), score), abs=1e-6
    )
    if name in SMOOTH:
        assert loss.curvature(score, target) == pytest.approx(
            central_difference(lambda s: loss.slope(s, target), score), abs=1e-6
        )


@many_losses
@given(one=scores, other=scores, target=signs)
def test_every_loss_lies_above_its_tangents(name, one, other, target):
    """Convexity; at a kink the slope is a subgradient."""
    loss = losses.resolve(name)
    tangent = loss.value(one, target) + loss.slope(one, target) * (other - one)
    assert loss.value(other, target) >= tangent - 1e-9 * (1.0 + abs(tangent))


@pytest.mark.parametrize("name", [name for name in NAMES if losses.resolve(name).zero_one_factor is not None])
@given(score=scores, target=signs)
def test_a_multiple_bounds_the_zero_one_loss(name, score, target):
    loss = losses.resolve(name)
    assert loss.zero_one_factor * loss.value(score, target) >= float(target * score < 0.0)


def test_no_multiple_of_hinge_at_zero_bounds_the_zero_one_loss():
    loss = losses.HingeAtZero()
    assert loss.zero_one_factor is None
    for factor in (1.0, 1e3, 1e9):
        assert factor * loss.value(score=-0.5 / factor, target=1.0) < 1.0


@many_losses
@given(score=scores, target=signs)
def test_steepness_bounds_the_curvature_or_the_slope(name, score, target):
    """The default step sizes depend on it."""
    loss = losses.resolve(name)
    steepest = loss.curvature(score, target) if name in SMOOTH else abs(loss.slope(score, target))
    assert steepest <= loss.steepness


@many_losses
@pytest.mark.parametrize("score", [-800.0, 800.0])
def test_finite_losses_do_not_overflow(name, score):
    loss = losses.resolve(name)
    for target in (-1.0, 1.0):
        found = (
            *compute_compiled(_CODES[type(loss)], score, target),
            loss.value(score, target),
            loss.slope(score, target),
        )
        assert all(map(math.isfinite, found))


def test_names_and_values_resolve():
    assert losses.resolve("hinge") == losses.Hinge()
    assert losses.resolve(losses.Squared()) == losses.Squared()
    with pytest.raises(LossError, match=r"'hingee'.*'hinge-at-zero', 'hinge'"):
        losses.resolve("hingee")


def test_a_custom_loss_needs_functions():
    own = losses.Custom(lambda s, y: (s - y) ** 4, lambda s, y: 4.0 * (s - y) ** 3, lambda s, y: 12.0 * (s - y) ** 2)
    assert (own.value(3.0, 1.0), own.slope(3.0, 1.0), own.curvature(3.0, 1.0)) == (16.0, 32.0, 48.0)
    assert losses.is_smooth(own)
    assert not losses.is_smooth(losses.Custom(abs, abs))
    with pytest.raises(LossError, match="functions of"):
        losses.Custom(1.0, abs)
    with pytest.raises(LossError, match="steepness must be a number > 0"):
        losses.Custom(abs, abs, steepness=0.0)

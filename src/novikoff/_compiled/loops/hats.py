"""Hats: a number as the weights with which it is interpolated between knots.

problem   let a linear learner draw a curve over a number: a broken line with a value at each knot
given     a standardised number z, clipped to the first and the last knot
result    1 - a for the knot to its left and a for the one to its right, such that z = (1 - a) left + a right; 0 for
          all other knots. As a function of z, the weight of one knot has the shape of a hat
source    linear B-splines: de Boor, "A practical guide to splines", 1978
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined

KNOTS = (-3.0, -2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0, 3.0)
N_KNOTS = len(KNOTS)
_INNERMOST, _OUTERMOST = KNOTS[-2], KNOTS[-1]


@inlined
def find_hats(z):
    """Return the number of the knot to the left of z, which must not be NaN, and the weight a of the one to its
    right."""
    z = min(max(z, -_OUTERMOST), _OUTERMOST)
    if z < -_INNERMOST:
        return 0, z + _OUTERMOST
    if z >= _INNERMOST:
        return N_KNOTS - 2, z - _INNERMOST
    halves = 2.0 * z  # inner knots are 1/2 apart
    left = np.floor(halves)
    return np.int64(left) + (N_KNOTS // 2), halves - left

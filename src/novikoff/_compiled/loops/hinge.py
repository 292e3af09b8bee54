"""Sums over rows for gradients of hinge losses; Hessian products are in descent.py.

problem   minimise a function of the margins y_i <v, x_i> by conjugate gradients
given     rows x_1..x_n, dense (data 2-D, indices None) or CSR (data, indices, indptr); v with the bias as its
          last entry; the constant coordinate, 1 or 0
result    sum c_i x_i, each row read once; minus the slope of a loss along a line
source    Keerthi & DeCoste 2005 (Newton steps for the L2-SVM by conjugate gradients)
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import loop
from novikoff._compiled.loops.rows import row_add

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product


@loop
def combine_rows(data, indices, indptr, constant, c, out):
    """out = sum_i c_i (x_i, constant); rows with c_i = 0 are not read."""
    out[:] = 0.0
    last = 0.0
    d = out.size - 1
    w_out = out[:d]
    for i in range(c.size):
        if c[i] != 0.0:
            row_add(data, indices, indptr, _u(i), c[i], w_out)
            last += c[i]
    out[d] = constant * last


@loop
def rate_of_decrease(margins, direction_margins, t, mu, squared):
    """Return sum alpha_i direction_margins_i, minus the slope of the loss at margins + t * direction_margins.

    With h = max(0, 1 - margin), the loss is sqrt(|h|_2^2 + mu^2) if it is squared, and alpha = h / loss; else it is the
    sum of hinges smoothed over a width mu, and alpha = min(h / mu, 1).
    """
    total, squares = 0.0, mu * mu
    for i in range(margins.size):
        h = max(0.0, 1.0 - (margins[i] + t * direction_margins[i]))
        if squared:
            total += h * direction_margins[i]
            squares += h * h
        else:
            total += min(h / mu, 1.0) * direction_margins[i]
    return total / np.sqrt(squares) if squared else total

"""Sums over rows that gradients of hinge losses are made of; products with their Hessians are in descent.py.

problem   minimise a function of the margins y_i <v, x_i> by conjugate gradients
given     rows x_1..x_n, dense (data 2-D, indices None) or CSR (data, indices, indptr); v with the bias as its
          last entry; the constant coordinate, 1 or 0
result    sum c_i x_i, each row read once; how fast a loss falls along a line
source    Keerthi & DeCoste 2005 (Newton steps for the L2-SVM by conjugate gradients)
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel
from novikoff._compiled.loops.rows import row_add

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product


@kernel
def combine(data, indices, indptr, constant, c, out):
    """out = sum_i c_i (x_i, constant); rows with c_i = 0 are not read."""
    out[:] = 0.0
    last = 0.0
    d = out.size - 1
    down = out[:d]
    for i in range(c.size):
        if c[i] != 0.0:
            row_add(data, indices, indptr, _u(i), c[i], down)
            last += c[i]
    out[d] = constant * last


@kernel
def fall(margins, ahead, t, mu, squared):
    """Return sum alpha_i ahead_i: how fast the loss falls at margins + t * ahead, h = max(0, 1 - margin).

    The loss is sqrt(|h|_2^2 + mu^2) if it is squared, with alpha = h / loss; else the sum of hinges rounded off over
    a width mu, with alpha = min(h / mu, 1).
    """
    total, squares = 0.0, mu * mu
    for i in range(margins.size):
        h = max(0.0, 1.0 - (margins[i] + t * ahead[i]))
        if squared:
            total += h * ahead[i]
            squares += h * h
        else:
            total += min(h / mu, 1.0) * ahead[i]
    return total / np.sqrt(squares) if squared else total

"""Sums over rows that gradients and Hessians of hinge losses are made of.

problem   minimise a function of the margins y_i <v, x_i> by conjugate gradients
given     rows x_1..x_n, dense (data 2-D, indices None) or CSR (data, indices, indptr); v with the bias as its
          last entry; the constant coordinate, 1 or 0
result    sum c_i x_i, or sum x_i <v, x_i> over chosen rows: each row is read once
source    Keerthi & DeCoste 2005 (Newton steps for the L2-SVM by conjugate gradients)
"""

from __future__ import annotations

import numpy as np

from novikoff._jit import kernel, part, part_in_order

_u = np.uint64  # unsigned indices spare numba's test for negative ones, which costs as much as a product


@part
def row_dot(data, indices, indptr, i, v):
    """Return <v, x_i>."""
    if data.ndim == 2:
        s = 0.0
        for j in range(data.shape[1]):
            s += data[i, j] * v[j]
        return s
    else:
        return sparse_dot(data, indices, indptr[i], indptr[i + 1], v)


@part_in_order
def sparse_dot(data, indices, lo, hi, v):
    """Return <v, x> for the row stored at lo..hi-1."""
    s0 = s1 = 0.0
    p, end = _u(lo), _u(hi)
    while p + _u(2) <= end:
        s0 += data[p] * v[_u(indices[p])]
        s1 += data[p + _u(1)] * v[_u(indices[p + _u(1)])]
        p += _u(2)
    if p < end:
        s0 += data[p] * v[_u(indices[p])]
    return s0 + s1


@part
def row_add(data, indices, indptr, i, c, out):
    """out += c * x_i, the constant coordinate aside."""
    if data.ndim == 2:
        for j in range(data.shape[1]):
            out[j] += c * data[i, j]
    else:
        p, end = _u(indptr[i]), _u(indptr[i + 1])
        while p < end:
            out[_u(indices[p])] += c * data[p]
            p += _u(1)


@kernel
def combine(data, indices, indptr, constant, c, out):
    """out = sum_i c_i (x_i, constant); rows with c_i = 0 are not read."""
    out[:] = 0.0
    last = 0.0
    for i in range(c.size):
        if c[i] != 0.0:
            row_add(data, indices, indptr, i, c[i], out)
            last += c[i]
    out[out.size - 1] = constant * last


@kernel
def curve(data, indices, indptr, constant, chosen, v, out):
    """out = sum over chosen rows of (x_i, constant) <v, (x_i, constant)>."""
    out[:] = 0.0
    last = 0.0
    offset = constant * v[v.size - 1]
    for a in range(chosen.size):
        i = _u(chosen[a])
        s = row_dot(data, indices, indptr, i, v) + offset
        row_add(data, indices, indptr, i, s, out)
        last += s
    out[out.size - 1] = constant * last


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

"""Passes of scale-invariant online regression over dense and sparse rows.

    problem   along a stream, predict numbers y_t with a small sum of (yhat_t - y_t)^2
    given     rows x_1..x_n, dense (data 2-D, indices None) or CSR (data, indices, indptr); targets y_t
    result    the five numbers of each coordinate, changed in place; moments and sums of squared errors
    source    Kempka, Kotlowski & Warmuth 2019, algorithm 2 (ScInOL2); Cutkosky 2019 (clipping at the range so far)

For each coordinate i: G = -sum of g x_i / L, S^2 = sum of (g x_i / L)^2, M = max |x_i|, and the wealth E + V, of which
E is given and V is won, in units of L^2. With m the mean of the targets so far, which lie between a and b, and
theta = G / sqrt(S^2 + M^2),

    w_i  = L (E + V) max(-1, min(1, theta)) / (2 sqrt(S^2 + M^2))     after M has taken in the new x_i
    yhat = max(a, min(b, m + sum_i w_i x_i))
    g    = yhat - y, cut off at -L and L
    V   -= g w_i x_i / L^2;   G -= g x_i / L;   S^2 += (g x_i / L)^2

ScInOL2 assumes |g| <= 1, which is |g| <= L here. L is at least the range b - a, and at least doubles when the range
exceeds it; then G, S^2 and V are converted to the new unit. E is 2 / k for a coordinate that is first non-zero in a row
with k of them: together they may move the first prediction by L at most.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined_in_order, loop
from novikoff._compiled.loops.entries import end_entry, entry_coordinate, entry_value, first_entry

# Columns of the coordinates: row 0 is the constant 1, row 1 + j is feature j.
SUM, SQUARES, LARGEST, WON, GIVEN = range(5)

# Indices of `measures` (float64): m, a, b, L, and the sums of squared errors of the predictions and of the mean so far.
MEAN, LOWEST, HIGHEST, UNIT, SQUARED_ERROR, SQUARED_ERROR_OF_MEAN = range(6)

# Indices of `counts` (int64).
EXAMPLES, FEATURES = range(2)

WEALTH = 2.0  # given to all coordinates of a row together


@inlined_in_order
def bet(coordinates, j, x):
    """Return w_j x / L."""
    largest = max(coordinates[j, LARGEST], abs(x))
    size = np.sqrt(coordinates[j, SQUARES] + largest * largest)
    share = max(-1.0, min(1.0, coordinates[j, SUM] / size))
    return (coordinates[j, GIVEN] + coordinates[j, WON]) * share * x / (2.0 * size)


@inlined_in_order
def offset_from_mean(data, indices, indptr, i, coordinates):
    """Return sum_j w_j x_j / L for row i."""
    total = bet(coordinates, 0, 1.0)
    for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
        x = entry_value(data, i, p)
        if x != 0.0:
            total += bet(coordinates, entry_coordinate(data, indices, p), x)
    return total


@inlined_in_order
def within(value, lowest, highest):
    """Return the value, or the nearer end of a range that it lies outside of."""
    return max(lowest, min(highest, value))


@inlined_in_order
def open_coordinates(data, indices, indptr, i, coordinates):
    """Take the values of row i into M, and give wealth to the coordinates that are non-zero for the first time."""
    first, end = first_entry(data, indptr, i), end_entry(data, indptr, i)
    count = 1
    for p in range(first, end):
        count += entry_value(data, i, p) != 0.0
    if coordinates[0, LARGEST] == 0.0:
        coordinates[0, LARGEST], coordinates[0, GIVEN] = 1.0, WEALTH / count
    for p in range(first, end):
        x = entry_value(data, i, p)
        if x != 0.0:
            j = entry_coordinate(data, indices, p)
            if coordinates[j, LARGEST] == 0.0:
                coordinates[j, GIVEN] = WEALTH / count
            coordinates[j, LARGEST] = max(coordinates[j, LARGEST], abs(x))


@inlined_in_order
def settle(coordinates, j, x, g):
    """Update the coordinate j by its value x and the slope g, which is in units of L."""
    coordinates[j, WON] -= g * bet(coordinates, j, x)
    coordinates[j, SUM] -= g * x
    coordinates[j, SQUARES] += g * x * g * x


@inlined_in_order
def convert(coordinates, ratio):
    """Convert all coordinates to a new L, given the ratio of the old one to it."""
    for j in range(coordinates.shape[0]):
        coordinates[j, SUM] *= ratio
        coordinates[j, SQUARES] *= ratio * ratio
        coordinates[j, WON] *= ratio * ratio


@loop
def regression_pass(rows, targets, coordinates, counts, measures):
    """Predict each row, then learn from it. The constant coordinate comes first, so there are n_features + 1."""
    data, indices, indptr, n_features, _ = rows
    t = counts[EXAMPLES]
    mean, lowest, highest, unit = measures[MEAN], measures[LOWEST], measures[HIGHEST], measures[UNIT]
    for i in range(targets.size):
        y = targets[i]
        prediction = mean
        if unit > 0.0:
            open_coordinates(data, indices, indptr, i, coordinates)
            offset = offset_from_mean(data, indices, indptr, i, coordinates)
            prediction = within(mean + unit * offset, lowest, highest)
            g = within((prediction - y) / unit, -1.0, 1.0)
            settle(coordinates, 0, 1.0, g)
            for p in range(first_entry(data, indptr, i), end_entry(data, indptr, i)):
                x = entry_value(data, i, p)
                if x != 0.0:
                    settle(coordinates, entry_coordinate(data, indices, p), x, g)
        if t == 0:
            mean = lowest = highest = y
        else:
            measures[SQUARED_ERROR] += (prediction - y) ** 2
            measures[SQUARED_ERROR_OF_MEAN] += (mean - y) ** 2
        t += 1
        mean += (y - mean) / t
        lowest, highest = min(lowest, y), max(highest, y)
        if highest - lowest > unit:
            larger = max(highest - lowest, 2.0 * unit)
            convert(coordinates, unit / larger)
            unit = larger
    measures[MEAN], measures[LOWEST], measures[HIGHEST], measures[UNIT] = mean, lowest, highest, unit
    counts[EXAMPLES], counts[FEATURES] = t, n_features


@loop
def regression_predictions(rows, coordinates, measures, out):
    """out_i = the prediction for row i."""
    data, indices, indptr, _, _ = rows
    unit = measures[UNIT]
    for i in range(out.size):
        offset = offset_from_mean(data, indices, indptr, i, coordinates) if unit > 0.0 else 0.0
        out[i] = within(measures[MEAN] + unit * offset, measures[LOWEST], measures[HIGHEST])


@loop
def regression_weights(coordinates, unit, out):
    """out_j = w_j for values that are not larger than those seen so far."""
    for j in range(out.size):
        largest = coordinates[j, LARGEST]
        out[j] = unit * bet(coordinates, j, largest) / largest if largest > 0.0 else 0.0

"""K(x, z) for whole blocks of rows: what kernel perceptrons learn from, and certificates in feature space speak of.

functions.py   kernels by name, or a user's own
products.py    inner products of dense rows, rows with many zeros and sparse ones, and their powers
points.py      rows as kernels take them: arrays, CSR arrays, kernel rows, or any objects; and those that were kept
matrices.py    what a user passes as points, and the kernel matrix of all of them
"""

from novikoff.gram.functions import NAMES, Potential, UsersPotential, resolve
from novikoff.gram.matrices import are_objects, is_row, kernel_matrix, kernel_rows, points_of, require_numbers
from novikoff.gram.points import Growing, Points, Support

__all__ = [
    "NAMES",
    "Growing",
    "Points",
    "Potential",
    "Support",
    "UsersPotential",
    "are_objects",
    "is_row",
    "kernel_matrix",
    "kernel_rows",
    "points_of",
    "require_numbers",
    "resolve",
]

"""K(x, z) for whole blocks of rows: what kernel perceptrons learn from, and certificates in feature space speak of.

functions.py   kernels by name, or a user's own
points.py      rows as kernels take them: arrays, CSR arrays, kernel rows, or any objects; and those that were kept
"""

from novikoff.gram.functions import NAMES, Potential, UsersPotential, resolve
from novikoff.gram.points import Growing, Points, Support

__all__ = ["NAMES", "Growing", "Points", "Potential", "Support", "UsersPotential", "resolve"]

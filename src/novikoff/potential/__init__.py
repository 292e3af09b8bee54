"""Potential functions: perceptrons whose features are kernels around the rows they erred on.

    functions.py   K(x, z) by name, or a user's own, for whole blocks of rows
    points.py      rows as kernels take them: arrays, CSR arrays, kernel rows, or any objects
    dual.py        DualState and DualLearner: the perceptron in dual form, block by block
    regression.py  the same idea for numbers: residuals in the place of mistakes
    model.py       the same with the user's labels and names
    files.py       the same in a model file

Aizerman, Braverman & Rozonoer (1964) drew a potential around every example that was got wrong and let their sum decide;
Freund & Schapire (1999) let all the sums along the way vote.
"""

from novikoff.potential.dual import DualLearner, DualState
from novikoff.potential.functions import NAMES, Potential, UsersPotential, resolve
from novikoff.potential.model import KernelModel
from novikoff.potential.points import Points

__all__ = ["NAMES", "DualLearner", "DualState", "KernelModel", "Points", "Potential", "UsersPotential", "resolve"]

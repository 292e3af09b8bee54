"""Potential functions: perceptrons whose features are kernels around the rows they erred on.

    dual.py        DualState and DualLearner: the perceptron in dual form, block by block
    budget.py      the same for endless streams: no more than so many rows are kept
    caching.py     the kernel matrix of a training set, where it fits
    regression.py  the same idea for numbers: residuals in the place of mistakes
    model.py       the same with the user's labels and names
    files.py       the same in a model file; states.py what was learned

The kernels themselves, and rows as they take them, are in `novikoff.gram`.

Aizerman, Braverman & Rozonoer (1964) drew a potential around every example that was got wrong and let their sum decide;
Freund & Schapire (1999) let all the sums along the way vote.
"""

from novikoff.gram import NAMES, Points, Potential, UsersPotential, resolve
from novikoff.potential.budget import BudgetLearner, BudgetLedger, BudgetState
from novikoff.potential.dual import DualLearner, DualState
from novikoff.potential.model import KernelModel

__all__ = [
    "NAMES",
    "BudgetLearner",
    "BudgetLedger",
    "BudgetState",
    "DualLearner",
    "DualState",
    "KernelModel",
    "Points",
    "Potential",
    "UsersPotential",
    "resolve",
]

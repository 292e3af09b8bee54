"""Kernels K(x, z), and perceptrons whose features are kernels around the rows they erred on.

    kernels.py        kernels by name, or a user's own, for whole blocks of rows
    products.py       inner products of dense rows, rows with many zeros and sparse ones, and their powers
    points.py         rows as kernels take them, and those that a learner keeps
    matrices.py       what a user passes as points, and the kernel matrix of all of them
    dual.py           DualState and DualLearner: the perceptron in dual form, block by block
    budget.py         a dual learner for endless streams, which keeps a bounded number of rows
    caching.py        the kernel matrix of a training set, where it fits into memory
    vote_rounding.py  votes that rounding must not decide
    regression.py     regression by potential functions
    model.py          KernelModel: a dual learner with the user's labels and names
    saving.py         kernel models in model files; saved_states.py their states

Aizerman, Braverman & Rozonoer (1964) drew a potential around every example that was got wrong and let their sum decide;
Freund & Schapire (1999) let all the sums along the way vote.
"""

from novikoff.kernel_methods.budget import BudgetLearner, BudgetLedger, BudgetState
from novikoff.kernel_methods.dual import DualLearner, DualState
from novikoff.kernel_methods.kernels import NAMES, Potential, UsersPotential, resolve
from novikoff.kernel_methods.model import KernelModel
from novikoff.kernel_methods.points import Points

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

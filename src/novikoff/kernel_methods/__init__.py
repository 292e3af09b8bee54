"""Kernels K(x, z), and perceptrons and regressions in their feature spaces.

Aizerman, Braverman & Rozonoer (1964) drew a potential around every misclassified example and let the sum decide; Freund
& Schapire (1999) let all sums along the run vote. Here belong kernels, the dual state and its learners, and their
models; compiled loops are in `novikoff._compiled.loops`, scikit-learn's interface in `novikoff.estimators`.
"""

from novikoff.kernel_methods.budget import BudgetLearner, BudgetLedger, BudgetState
from novikoff.kernel_methods.dual import DualLearner
from novikoff.kernel_methods.dual_state import DualState
from novikoff.kernel_methods.kernels import NAMES, CustomKernel, Kernel, resolve
from novikoff.kernel_methods.model import KernelModel
from novikoff.kernel_methods.points import Points, require_width

__all__ = [
    "NAMES",
    "BudgetLearner",
    "BudgetLedger",
    "BudgetState",
    "CustomKernel",
    "DualLearner",
    "DualState",
    "Kernel",
    "KernelModel",
    "Points",
    "require_width",
    "resolve",
]

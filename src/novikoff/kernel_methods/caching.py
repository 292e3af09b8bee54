"""The kernel matrix of a training set, computed once for all passes if it fits into memory.

A pass over n rows needs the kernel values within each block, and those with every row of a later update; the next pass
needs many of them again. With a kernel that is a Python function, to compute them is most of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np

from novikoff.kernel_methods.budget import BudgetState
from novikoff.kernel_methods.dual import DualLearner
from novikoff.kernel_methods.dual_state import DualState
from novikoff.kernel_methods.kernels import Kernel
from novikoff.kernel_methods.matrices import require_numbers
from novikoff.kernel_methods.points import Points, Support

__all__ = ["precomputed_kernel"]

L = TypeVar("L", bound=DualLearner)


@contextmanager
def precomputed_kernel(
    learner: L, state: DualState | BudgetState, points: Points, max_iter: float, cache_size: float
) -> Iterator[tuple[L, Points]]:
    """Yield a learner and points to learn with.

    They are those given or, if there is more than one pass and the kernel matrix takes no more than `cache_size`
    megabytes, a learner for a precomputed kernel and that matrix. `state` must not have learned anything yet. When the
    block ends, its support consists of rows of `points` in both cases.
    """
    n = len(points)
    if points.is_kernel or max_iter <= 1 or 8e-6 * n * n > cache_size:
        yield learner, points
        return
    K = learner.kernel.gram(points, np.arange(n))
    require_numbers(K, np.arange(n))
    yield replace(learner, kernel=Kernel("precomputed")), Points(K, 0, True)
    state.support = Support(points.copy_rows(state.origins.values)) if len(state.support) else Support()

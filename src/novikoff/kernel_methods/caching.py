"""Kernels of a training set computed once for all passes, where their matrix fits.

A pass over n rows asks for each block's own kernels, and for those with every row updated on since; the next pass asks
for many of them again. With a kernel that is a function of Python that is most of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import numpy as np

from novikoff.kernel_methods.budget import BudgetState
from novikoff.kernel_methods.dual import DualLearner, DualState
from novikoff.kernel_methods.kernels import Potential
from novikoff.kernel_methods.matrices import require_numbers
from novikoff.kernel_methods.points import Points, Support

__all__ = ["cached"]

L = TypeVar("L", bound=DualLearner)


@contextmanager
def cached(
    learner: L, state: DualState | BudgetState, points: Points, max_iter: float, cache_size: float
) -> Iterator[tuple[L, Points]]:
    """The learner and the points to learn with: as they are, or with their kernel matrix in their place, if there is
    more than one pass and the matrix takes no more than so many megabytes. `state` has learned from nothing yet; in the
    end it keeps rows of the points, as if nothing had been in their place."""
    n = len(points)
    if points.is_kernel or max_iter <= 1 or 8e-6 * n * n > cache_size:
        yield learner, points
        return
    K = learner.potential.gram(points, np.arange(n))
    require_numbers(K, np.arange(n))
    yield replace(learner, potential=Potential("precomputed")), Points(K, 0, True)
    state.support = Support(points.kept(state.origins.values)) if len(state.support) else Support()

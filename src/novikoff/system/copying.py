"""Copies of objects that learn in place."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

__all__ = ["deep_copy"]

T = TypeVar("T")


def deep_copy(learner: T) -> T:
    """Return a deep copy; a class uses it as `__copy__`, so that neither copy changes when the other learns.

    >>> import copy
    >>> from novikoff import Learner
    >>> from novikoff.perceptron.model import Model
    >>> model = Model(Learner())
    >>> model.learn_one({"free": 1, "money": 2}, "spam")
    >>> copy.copy(model).learn_one({"lunch": 1}, "ham")
    >>> model.ledger.examples
    1
    """
    copied: Any = copy.deepcopy(learner)
    return copied

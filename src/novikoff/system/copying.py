"""Copies of objects that learn in place: neither changes when the other learns."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

__all__ = ["copied_deeply"]

Learning = TypeVar("Learning")


def copied_deeply(learner: Learning) -> Learning:
    """For classes to have as `__copy__`: a deep copy, so that neither changes when the other learns.

    >>> import copy
    >>> from novikoff import Learner
    >>> from novikoff.perceptron.model import Model
    >>> model = Model(Learner())
    >>> model.learn_one({"free": 1, "money": 2}, "spam")
    >>> copy.copy(model).learn_one({"lunch": 1}, "ham")
    >>> model.ledger.examples
    1
    """
    found: Any = copy.deepcopy(learner)
    return found

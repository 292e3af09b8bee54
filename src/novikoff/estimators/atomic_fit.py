"""What all estimators do with what they have learned: keep it if learning fails, and not share it with copies."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import wraps
from typing import Any, Self, TypeVar

__all__ = ["LearnsApart", "all_or_nothing"]

Method = TypeVar("Method", bound=Callable[..., Any])

_CHANGED_BY_LEARNING = ("_model", "random_state")  # in place; everything else is replaced


def all_or_nothing(method: Method) -> Method:
    """Make `fit` or `partial_fit` a method that leaves all attributes as they were if it fails or is interrupted.

    The model itself must be another one, or see to this by itself.
    """

    @wraps(method)
    def learn(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return method(self, *args, **kwargs)
        except BaseException:  # KeyboardInterrupt is no Exception
            self.__dict__ = before
            raise

    return learn  # type: ignore[return-value]


class LearnsApart:
    """For estimators with a `_model`: a copy of one has a model of its own."""

    def __copy__(self) -> Self:
        """The same parameters and attributes, and a deep copy of what learning changes: neither changes when the other
        learns."""
        found = object.__new__(type(self))
        found.__dict__ = {
            name: copy.deepcopy(value) if name in _CHANGED_BY_LEARNING else value for name, value in vars(self).items()
        }
        return found

"""Labels: any two or more values that can be sorted, known in advance or met along the way."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from novikoff.errors import DataError

__all__ = ["Labels", "encode"]

_SAMPLE = 1000  # rows in which all classes have usually been met


def encode(y: np.ndarray, classes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes of y (or those given), and for each row the place of its class among them.

    Same as np.unique(y, return_inverse=True), without sorting all of y where a sample shows every class.

    >>> from novikoff.labels import encode
    >>> encode(np.array(["spam", "ham", "spam"]))
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0, 1]))
    """
    try:
        found = np.unique(y[:_SAMPLE]) if classes is None else classes
        codes = _places(y, found)
        matches = found[codes] == y
        if not matches.all():
            if classes is not None:
                unknown = y[np.argmin(matches)]
                raise DataError(f"The label {unknown!r} in y is not one of the classes {classes.tolist()!r}.")
            found, codes = np.unique(y, return_inverse=True)
    except TypeError as error:
        raise _not_sortable(error) from error
    return found, codes


def _places(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Where each label stands among sorted classes; anywhere if it is not one of them."""
    if len(classes) == 2:
        return (y == classes[1]).astype(np.int64)
    return np.minimum(np.searchsorted(classes, y), len(classes) - 1)


class Labels:
    """The labels met so far, sorted, and the class of each in the state of a learner.

    A first label alone is class 1, against an other that is still unknown; or class 0 if it is a number <= 0 or
    False, so that -1/+1, 0/1 and False/True streams start as if both were known.
    """

    def __init__(self, known: Iterable[Hashable] = ()) -> None:
        self.known: list[Any] = []
        self.codes: dict[Any, int] = {}
        self.of_code: list[Any] = [None, None]  # None where the label of a class has not been met
        for label in known:
            self.add(label)

    def __len__(self) -> int:
        return len(self.known)

    def copy(self) -> Labels:
        return Labels(self.known)

    def add(self, label: Any) -> int:
        """Take in a new label; return its place in sorted order."""
        if label is None or (isinstance(label, (float, np.floating)) and np.isnan(label)):
            raise DataError(f"Input y contains NaN or None: {label!r} is not a label.")
        try:
            at = bisect_left(self.known, label)
            known = [*self.known[:at], label, *self.known[at:]]
            self.codes = {name: code for code, name in enumerate(known)}
        except (TypeError, ValueError) as error:
            raise _not_sortable(error) from error
        self.known = self.of_code = known
        if len(known) == 1:
            code = 0 if _is_real(label) and label <= 0 else 1
            self.codes, self.of_code = {label: code}, [label, None] if code == 0 else [None, label]
        return at

    def as_array(self) -> np.ndarray:
        """Sorted, in numpy's own type for them, or as objects if it has none."""
        array = np.array(self.known)
        if array.ndim == 1 and array.tolist() == self.known:
            return array
        array = np.empty(len(self.known), object)
        array[:] = self.known
        return array


def _is_real(label: Any) -> bool:
    return isinstance(label, (bool, int, float, np.bool_, np.integer, np.floating))


def _not_sortable(error: Exception) -> DataError:
    return DataError(f"The labels cannot be sorted ({error}); make them all strings or all numbers, single values.")

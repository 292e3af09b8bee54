"""Labels: any two or more values that can be sorted, known in advance or met along the way."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from novikoff.errors import DataError

__all__ = ["Labels", "as_given", "encode"]

_SAMPLE = 1000  # rows in which all classes have usually been met


def as_given(labels: Any) -> Any:
    """A list of labels as numpy can take it: as objects if one of them ends with a zero byte, which numpy's own strings
    drop, so that "a" and "a\\0" would be one label.

    >>> from novikoff.inputs.labels import as_given
    >>> np.asarray(as_given(["a", "a\\0"])).tolist()
    ['a', 'a\\x00']
    """
    is_list = isinstance(labels, (list, tuple))
    if is_list and any(isinstance(label, (str, bytes)) and label[-1:] in ("\0", b"\0") for label in labels):
        found = np.empty(len(labels), object)
        found[:] = labels
        return found
    return labels


def encode(y: np.ndarray, classes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The sorted classes of y (or those given), and for each row the place of its class among them.

    Same as np.unique(y, return_inverse=True), without sorting all of y where a sample shows every class.

    >>> from novikoff.inputs.labels import encode
    >>> encode(np.array(["spam", "ham", "spam"]))
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0, 1]))
    """
    if classes is None and y.dtype == object and set(map(type, labels := y.tolist())) == {str}:
        return _encode_texts(labels)
    try:
        found = np.unique(y[:_SAMPLE]) if classes is None else classes
        codes, matches = _places(y, found)
        if not matches.all():
            if classes is not None:
                unknown = y[np.argmin(matches)]
                unknown = unknown.item() if isinstance(unknown, np.generic) else unknown
                raise DataError(f"The label {unknown!r} in y is not one of the classes {classes.tolist()!r}.")
            found, codes = np.unique(y, return_inverse=True)
    except DataError:
        raise
    except (TypeError, ValueError) as error:  # the second of tuples, which numpy takes for rows
        raise _not_sortable(error) from error
    return found, codes


def _encode_texts(labels: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The same for Python's strings, which are looked up faster than compared."""
    found = sorted(set(labels))
    place = {label: at for at, label in enumerate(found)}
    return np.array(found, object), np.fromiter(map(place.__getitem__, labels), np.int64, len(labels))


def _places(y: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where each label stands among sorted classes, and whether it is one of them."""
    if len(classes) == 2:  # two comparisons take a tenth of the time of a search
        second = y == classes[1]
        return second.astype(np.int64), second | (y == classes[0])
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return codes, classes[codes] == y


class Labels:
    """The labels met so far, sorted, and the class of each in the state of a learner.

    A first label alone is class 1, against an other that is still unknown; or class 0 if it is a number <= 0 or
    False, so that -1/+1, 0/1 and False/True streams start as if both were known.
    """

    def __init__(self, known: Iterable[Hashable] = (), as_given: np.ndarray | None = None) -> None:
        self.known: list[Any] = []
        self.codes: dict[Any, int] = {}
        self.of_code: list[Any] = [None, None]  # None where the label of a class has not been met
        self._take(list(known))
        self._array = as_given  # the same labels in the type they came in

    def __len__(self) -> int:
        return len(self.known)

    def copy(self) -> Labels:
        other = Labels()
        other.known, other.codes, other.of_code = list(self.known), dict(self.codes), list(self.of_code)
        other._array = self._array
        return other

    def add(self, *labels: Any) -> None:
        """Take in new labels; if one of them cannot be, none is."""
        for label in labels:
            if label is None or (isinstance(label, (float, np.floating)) and np.isnan(label)):
                raise DataError(f"Input y contains NaN or None: {label!r} is not a label.")
        self._take([*self.known, *labels])
        self._array = None

    def _take(self, labels: list[Any]) -> None:
        try:
            known = sorted(labels)
            codes = {name: code for code, name in enumerate(known)}
        except (TypeError, ValueError) as error:
            raise _not_sortable(error) from error
        self.known = self.of_code = known
        self.codes = codes
        if len(known) == 1:
            code = 0 if _is_real(known[0]) and known[0] <= 0 else 1
            self.codes = {known[0]: code}
        if len(known) < 2:
            self.of_code = [next((name for name, own in self.codes.items() if own == code), None) for code in (0, 1)]

    def as_array(self) -> np.ndarray:
        """Sorted, in the type they came in or numpy's own for them, or as objects if it has none."""
        if self._array is None:
            array = np.array(self.known)
            if array.ndim != 1 or array.tolist() != self.known:
                array = np.empty(len(self.known), object)
                array[:] = self.known
            self._array = array
        return self._array.copy()


def _is_real(label: Any) -> bool:
    return isinstance(label, (bool, int, float, np.bool_, np.integer, np.floating))


def _not_sortable(error: Exception) -> DataError:
    return DataError(
        f"The labels cannot be sorted ({error}); make them all strings or all numbers, single values. In "
        "a table, --types LABEL=word reads numbers as strings."
    )

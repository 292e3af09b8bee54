"""Labels, known in advance or met along the way, and their class codes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from novikoff.errors import DataError

__all__ = ["Labels", "encode_labels", "protect_null_bytes"]

_SAMPLE = 1000  # rows among which all classes usually occur


def protect_null_bytes(labels: Any) -> Any:
    """Return a list of labels in a form that NumPy does not change: an object array if a label ends with a null byte.

    NumPy's own strings drop null bytes at the end, so that "a" and "a\\0" would be one label.

    >>> from novikoff.inputs.labels import protect_null_bytes
    >>> np.asarray(protect_null_bytes(["a", "a\\0"])).tolist()
    ['a', 'a\\x00']
    """
    is_list = isinstance(labels, (list, tuple))
    if is_list and any(isinstance(label, (str, bytes)) and label[-1:] in ("\0", b"\0") for label in labels):
        objects = np.empty(len(labels), object)
        objects[:] = labels
        return objects
    return labels


def encode_labels(y: np.ndarray, classes: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the sorted classes of y (or those given), and for each row the index of its class among them.

    This is np.unique(y, return_inverse=True), without sorting all of y if a sample has every class.

    >>> from novikoff.inputs.labels import encode_labels
    >>> encode_labels(np.array(["spam", "ham", "spam"]))
    (array(['ham', 'spam'], dtype='<U4'), array([1, 0, 1]))
    """
    if classes is None and y.dtype == object and set(map(type, labels := y.tolist())) == {str}:
        return _encode_strings(labels)
    try:
        known = np.unique(y[:_SAMPLE]) if classes is None else classes
        codes, is_match = _find_classes(y, known)
        if not is_match.all():
            if classes is not None:
                unknown = y[np.argmin(is_match)]
                unknown = unknown.item() if isinstance(unknown, np.generic) else unknown
                raise DataError(f"The label {unknown!r} in y is not one of the classes {classes.tolist()!r}.")
            known, codes = np.unique(y, return_inverse=True)
    except DataError:
        raise
    except (TypeError, ValueError) as error:  # ValueError for tuples, which NumPy takes for rows
        raise _not_sortable(error) from error
    return known, codes


def _encode_strings(labels: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """Encode Python strings, for which a dict is faster than comparisons."""
    classes = sorted(set(labels))
    index = {label: i for i, label in enumerate(classes)}
    return np.array(classes, object), np.fromiter(map(index.__getitem__, labels), np.int64, len(labels))


def _find_classes(y: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the index of each label among sorted classes, and whether it is one of them."""
    if len(classes) == 2:  # two comparisons take a tenth of the time of a search
        is_second = y == classes[1]
        return is_second.astype(np.int64), is_second | (y == classes[0])
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    return codes, classes[codes] == y


class Labels:
    """The labels met so far, sorted, and the class code of each in the state of a learner.

    A single label has the code 1, and the other class is not known yet; or the code 0 if it is a number <= 0 or False,
    so that streams of -1/+1, 0/1 and False/True start as if both were known.

    Attributes
    ----------
    known : list
        The labels, sorted.
    codes : dict
        The class code of each label.
    of_code : list
        The label of each class code; None for a class whose label is not known yet.
    """

    def __init__(self, known: Iterable[Hashable] = (), array: np.ndarray | None = None) -> None:
        self.known: list[Any] = []
        self.codes: dict[Any, int] = {}
        self.of_code: list[Any] = [None, None]
        self._set_labels(list(known))
        self._array = array  # the labels in the dtype that they came in

    def __len__(self) -> int:
        return len(self.known)

    def copy(self) -> Labels:
        other = Labels()
        other.known, other.codes, other.of_code = list(self.known), dict(self.codes), list(self.of_code)
        other._array = self._array
        return other

    def add(self, *labels: Any) -> None:
        """Add new labels: all of them, or none if one is not a label or does not sort with the others."""
        for label in labels:
            if label is None or (isinstance(label, (float, np.floating)) and np.isnan(label)):
                raise DataError(f"Input y contains NaN or None: {label!r} is not a label.")
        self._set_labels([*self.known, *labels])
        self._array = None

    def _set_labels(self, labels: list[Any]) -> None:
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
        """Return the sorted labels, in the dtype that they came in, else NumPy's own for them, else as objects."""
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
        f"The labels cannot be sorted ({error}); make them all strings or all numbers, single values. For "
        "a file, types={label: 'word'} reads numbers as strings."
    )

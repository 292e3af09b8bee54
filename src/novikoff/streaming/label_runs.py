"""LabelRuns and TargetRuns: do the rows of a stream come sorted by label, or by a number to predict?"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block

__all__ = ["LabelRuns", "TargetRuns"]

_RUNS_PER_LABEL = 2  # in a file, so that a few misplaced rows do not hide that it is sorted
_MIN_EVIDENCE = 3  # how many times fewer runs than in a random order
_LONG_RUNS = 10  # how many times fewer runs than in a random order, from which on they are worth a word
_MANY_ALIKE = 100  # rows with one label only, after which the others may come behind them


class LabelRuns:
    """Counts the runs of equal labels, and the rows of each label, along a stream.

    n rows of which a label i has n_i come in 1 + n - sum n_i**2 / n runs on average if their order is random. Rows that
    are sorted by label come in one run per label.

    Parameters
    ----------
    n_files : int
        Over how many files the stream goes, each of which may be sorted by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.data.formats import TableBlock
    >>> from novikoff.streaming.label_runs import LabelRuns
    >>> runs = LabelRuns()
    >>> for labels in (["ham"] * 50, ["ham"] * 10 + ["spam"] * 40):
    ...     runs.add(TableBlock("mail.csv", np.arange(len(labels)), np.array(labels, object), {}))
    >>> runs.n_runs, runs.expected_runs, runs.is_sorted
    (2, 49.0, True)
    """

    def __init__(self, n_files: int = 1) -> None:
        self.n_runs = 0
        self._max_runs_per_label = _RUNS_PER_LABEL * n_files
        self._rows_of: Counter[Any] = Counter()
        self._last: Any = None

    def add(self, block: Block) -> None:
        """Count the labels of the next rows."""
        if block.labels is None or not len(block):
            return
        classes, codes = block.encode_labels()
        labels = classes.tolist()
        counts = np.bincount(codes, minlength=len(labels)).tolist()
        self._rows_of.update({label: count for label, count in zip(labels, counts, strict=True) if count})
        is_new_run = not self.n_runs or labels[codes[0]] != self._last
        self.n_runs += int(np.count_nonzero(codes[1:] != codes[:-1])) + is_new_run
        self._last = labels[codes[-1]]

    @property
    def labels(self) -> list[Any]:
        """The labels met so far, in no particular order."""
        return list(self._rows_of)

    @property
    def n_rows(self) -> int:
        return self._rows_of.total()

    @property
    def expected_runs(self) -> float:
        """How many runs these rows would have on average in a random order."""
        n = self.n_rows
        return 1 + n - sum(count * count for count in self._rows_of.values()) / n if n else 0.0

    @property
    def may_be_sorted(self) -> bool:
        """Whether the labels have come in so few runs that the rows may turn out to be sorted."""
        return self.n_runs <= self._max_runs_per_label * len(self._rows_of)

    @property
    def is_sorted(self) -> bool:
        """Whether the labels have come in few runs each, and in far fewer than in a random order."""
        return self.may_be_sorted and self.n_runs * _MIN_EVIDENCE <= self.expected_runs

    @property
    def seems_sorted(self) -> bool:
        """Whether the rows are sorted as far as they have come, or have all had one label for long."""
        return self.is_sorted or (self.n_runs == 1 and self.n_rows >= _MANY_ALIKE)

    @property
    def are_long(self) -> bool:
        """Whether the runs are so long that a learner errs little by repeating the label before.

        >>> from novikoff.data.formats import TableBlock
        >>> runs = LabelRuns()
        >>> for label in "abcabcabc":
        ...     runs.add(TableBlock("a.csv", np.arange(50), np.array([label] * 50, object), {}))
        >>> runs.is_sorted, runs.are_long
        (False, True)
        """
        return self.n_runs * _LONG_RUNS <= self.expected_runs


class TargetRuns:
    """Counts the rising and falling runs of the numbers to predict, along a stream.

    n different numbers in a random order come in (2 n - 1) / 3 such runs on average (Bienaymé 1874); sorted ones in
    one.

    Parameters
    ----------
    n_files : int
        Over how many files the stream goes, each of which may be sorted by itself.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.data.formats import TableBlock
    >>> from novikoff.streaming.label_runs import TargetRuns
    >>> runs = TargetRuns()
    >>> for start in (0.0, 50.0):
    ...     runs.add(TableBlock("prices.csv", np.arange(50), start + np.arange(50), {}))
    >>> runs.n_runs, runs.is_sorted
    (1, True)
    """

    labels: tuple[Any, ...] = ()
    are_long = False  # neighbouring numbers are seldom equal

    def __init__(self, n_files: int = 1) -> None:
        self.n_runs = self.n_rows = 0
        self._max_runs = _RUNS_PER_LABEL * n_files
        self._last: float | None = None
        self._direction = 0.0

    def add(self, block: Block) -> None:
        """Count the numbers of the next rows; those that are none are for the model to refuse."""
        if block.labels is None or not len(block):
            return
        try:
            numbers = np.asarray(block.labels, np.float64)
        except (TypeError, ValueError):
            return
        self.n_rows += len(numbers)
        values = numbers if self._last is None else np.append(self._last, numbers)
        self._last = float(values[-1])
        directions = np.sign(np.diff(values))
        directions = np.append(self._direction, directions[directions != 0.0])
        if len(directions) > 1:
            self.n_runs += int(np.count_nonzero(directions[1:] != directions[:-1]))
            self._direction = float(directions[-1])

    @property
    def expected_runs(self) -> float:
        """How many runs different numbers would have on average in a random order."""
        return (2 * self.n_rows - 1) / 3

    @property
    def may_be_sorted(self) -> bool:
        """Whether the numbers have come in so few runs that the rows may turn out to be sorted."""
        return self.n_runs <= self._max_runs

    @property
    def is_sorted(self) -> bool:
        """Whether the numbers have come in few runs, and in far fewer than in a random order."""
        return self.may_be_sorted and self.n_runs * _MIN_EVIDENCE <= self.expected_runs

    seems_sorted = is_sorted

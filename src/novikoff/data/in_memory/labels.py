"""Labels that come beside the rows: a list, an array or a Series."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from novikoff._compiled.loops.decimals import VALUE_LIMIT
from novikoff.data.formats.block import Block
from novikoff.data.formats.sniffing import is_number
from novikoff.data.in_memory.known import KnownColumns, is_missing, list_of
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize

__all__ = ["attach_labels", "labels_from"]


def labels_from(y: Any, known_labels: Sequence[Any] = ()) -> np.ndarray:
    """Labels as files have them: doubles if they are numbers or booleans, else strings.

    Parameters
    ----------
    y : list, array or Series
    known_labels : sequence
        The labels that a model knows: if one is a string, numbers become strings too; if all are numbers, strings that
        are numbers become such.

    Examples
    --------
    >>> from novikoff.data.in_memory.labels import labels_from
    >>> labels_from([True, False]).tolist(), labels_from([7, 8], known_labels=["7", "9"]).tolist()
    ([1.0, 0.0], ['7', '8'])
    """
    cells = _as_list(y)
    missing = next((n for n, cell in enumerate(cells, start=1) if is_missing(cell)), None)
    if missing is not None:
        raise DataError(f"y:{missing}: the label is missing. Fill it in, or leave that row out.")
    if any(isinstance(label, str) for label in known_labels):
        spelling = KnownColumns({}, lambda column, value: value in known_labels).spell_booleans("")
        cells = [_as_word(cell, spelling) for cell in cells]
    elif known_labels and all(isinstance(cell, str) and is_number(cell) for cell in cells):
        cells = [float(cell) for cell in cells]
    is_string = isinstance(cells[0], str) if cells else False
    wanted: Any = str if is_string else (bool, int, float, np.bool_, np.number)
    for n, cell in enumerate(cells, start=1):
        if not isinstance(cell, wanted):
            raise DataError(
                f"y:{n}: expected a {'string' if is_string else 'number or a string'}, found {cell!r}, a "
                f"{type(cell).__name__}. Make the labels all strings or all numbers."
            )
        if not is_string and not abs(cell) < VALUE_LIMIT:
            raise DataError(f"y:{n}: the label {cell} is too large. Correct it.")
    return np.array(cells, object if is_string else np.float64)


def _as_list(y: Any) -> list[Any]:
    """Return the labels one by one; raise an error if there are not so many of them in a row."""
    cells = list(y) if isinstance(y, (list, tuple)) else list_of(y)
    if not isinstance(cells, list) or any(isinstance(cell, (list, tuple, dict, np.ndarray)) for cell in cells):
        shape = getattr(y, "shape", None)
        hint = " For the labels in a column, name it as target." if isinstance(y, str) else ""
        raise DataError(
            "y must hold one label for each row, as a list, an array or a Series; found "
            f"{type(y).__name__}{'' if shape is None else f' of shape {tuple(shape)}'}.{hint}"
        )
    return cells


def _as_word(cell: Any, spelling: tuple[str, str]) -> Any:
    """Return a boolean or number as a string, without the fraction if that is 0; anything else as it is."""
    if isinstance(cell, (bool, np.bool_)):
        return spelling[not cell]
    if isinstance(cell, (float, np.floating)):
        return str(int(cell)) if math.isfinite(cell) and cell == int(cell) else str(float(cell))
    return str(cell) if isinstance(cell, (int, np.integer)) else cell


def attach_labels(blocks: Iterable[Block], labels: np.ndarray, n_rows: int, name: str) -> Iterator[Block]:
    """Yield the blocks of data in memory, whose lines are the numbers of their rows, with the labels of these rows."""
    if len(labels) != n_rows:
        raise DataError(
            f"y has {pluralize(len(labels), 'label')}, and the {name} {pluralize(n_rows, 'row')}. Pass a label for "
            "each row."
        )
    return (replace(block, labels=labels[block.lines - 1], coded_labels=None) for block in blocks)

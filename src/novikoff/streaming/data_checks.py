"""Checks of the first rows of a table: labels and columns that cannot be what the user meant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from novikoff.data.formats.block import CategoricalColumn, TableBlock
from novikoff.errors import DataError

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block

__all__ = ["ColumnDoubt", "doubtful_columns", "likely_targets", "require_repeated_labels"]

_FEWEST_ROWS = 100  # fewer show nothing
_DISTINCT = 0.5  # share of labels that differ from all others, from which on they are no classes
_NEARLY_ALL = 0.9  # share of distinct values, from which on a column of words is an id or a text
_FEW = 0.05  # share of distinct values, up to which a column of words may be one of labels
_ID = re.compile(r"(?i:(?:.*[ _.-])?(?:ids?|uid|uuid|guid|index))|.*[a-z]I[Dd]", re.DOTALL)


def require_repeated_labels(block: Block) -> None:
    """Raise a DataError if nearly every row has a label of its own: there is nothing to learn from such labels."""
    if block.labels is None or len(block) < _FEWEST_ROWS:
        return
    classes, _ = block.encode_labels()
    if len(classes) > _DISTINCT * len(block):
        example = str(classes[0])[:40]
        raise DataError(
            f"{block.source}: {len(classes):,} different labels in the first {len(block):,} rows, such as {example!r}: "
            "nearly every row has a label of its own. Is this the column of the labels?"
        )


@dataclass(frozen=True)
class ColumnDoubt:
    """A column that is probably not a feature."""

    column: str
    reason: Literal["row number", "id", "nearly distinct"]


def doubtful_columns(block: Block) -> list[ColumnDoubt]:
    """Find columns that number the rows, columns called id of nearly distinct integers, and categorical columns in
    which nearly every value is new.

    >>> import numpy as np
    >>> from novikoff.data.formats import CategoricalColumn, TableBlock
    >>> columns = {"id": np.arange(1.0, 301.0), "who": CategoricalColumn.from_cells(map(str, range(300)))}
    >>> block = TableBlock("a.csv", np.arange(300), np.zeros(300), columns)
    >>> [(doubt.column, doubt.reason) for doubt in doubtful_columns(block)]
    [('id', 'row number'), ('who', 'nearly distinct')]
    """
    if not isinstance(block, TableBlock) or len(block) < _FEWEST_ROWS:
        return []
    doubts = []
    for name, column in block.columns.items():
        if isinstance(column, np.ndarray):
            if _numbers_rows(column):
                doubts.append(ColumnDoubt(name, "row number"))
            elif _ID.fullmatch(name) and _is_id(column):
                doubts.append(ColumnDoubt(name, "id"))
        elif isinstance(column, CategoricalColumn):
            codes = column.codes[column.codes >= 0]
            if len(codes) >= _FEWEST_ROWS and len(np.unique(codes)) > _NEARLY_ALL * len(codes):
                doubts.append(ColumnDoubt(name, "nearly distinct"))
    return doubts


def likely_targets(block: Block) -> list[str]:
    """Find the columns of words that have a few different ones, as a column of labels has.

    >>> import numpy as np
    >>> from novikoff.data.formats import CategoricalColumn, TableBlock
    >>> kind, who = (CategoricalColumn.from_cells(cells) for cells in (["a", "b"] * 150, ["c"] * 300))
    >>> columns = {"kind": kind, "who": who}
    >>> likely_targets(TableBlock("a.csv", np.arange(300), np.zeros(300), columns))
    ['kind']
    """
    columns = block.columns.items() if isinstance(block, TableBlock) else ()
    words = {name: column.codes for name, column in columns if isinstance(column, CategoricalColumn)}
    return [name for name, codes in words.items() if 2 <= len(np.unique(codes[codes >= 0])) <= _FEW * len(codes)]


def _numbers_rows(column: np.ndarray) -> bool:
    """Return whether a column counts in steps of 1, from any integer and in any order."""
    first = float(column.min())
    return first.is_integer() and np.array_equal(np.sort(column), first + np.arange(len(column)))


def _is_id(column: np.ndarray) -> bool:
    """Return whether a column holds integers that are nearly all distinct."""
    known = column[~np.isnan(column)]
    are_integers = len(known) >= _FEWEST_ROWS and np.array_equal(known, np.floor(known))
    return are_integers and len(np.unique(known)) > _NEARLY_ALL * len(known)

"""open_data: recognise data in memory, and open it as blocks."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.data.formats.block import Block
from novikoff.data.formats.columns import column_index
from novikoff.data.formats.notations import Notation
from novikoff.data.in_memory.arrays import (
    as_table_array,
    blocks_of_numbers,
    blocks_of_sparse,
    blocks_of_texts,
    name_columns,
)
from novikoff.data.in_memory.known import KnownColumns, list_of
from novikoff.data.table_form import TableForm
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize, quoted_list

__all__ = ["OPTIONS", "OpenedData", "is_data", "open_data"]

OPTIONS = ("target", "drop", "types", "bad_rows")  # that say how data in memory are read
_TEXT = "text"  # the column of texts that have no name, as in files of label<TAB>text


@dataclass(frozen=True)
class OpenedData:
    """Data in memory that can be iterated over once, block by block.

    Attributes
    ----------
    name : str
        What they are, for messages.
    n_rows : int
    blocks : iterable of Block
    target_name : str or None
        The column of the labels.
    form : TableForm or None
        How a table is written that is like a file: without a header, or with numbers in strings.
    """

    name: str
    n_rows: int
    blocks: Iterable[Block]
    target_name: str | None = None
    form: TableForm | None = None


def is_data(data: object) -> bool:
    """Return whether an object is data that `open_data` takes, rather than paths or blocks."""
    if isinstance(data, (list, tuple)):
        return len(data) > 0 and not isinstance(data[0], (str, os.PathLike, Block))
    return isinstance(data, np.ndarray) or sp.issparse(data) or _is_frame(data) or _is_series(data)


def open_data(
    data: Any,
    *,
    target: str | int | bool | None = None,
    drop: Sequence[str | int] = (),
    types: Mapping[str, str] | None = None,
    bad_rows: str = "stop",
    known: KnownColumns | None = None,
) -> OpenedData:
    """Open a DataFrame, a list of dicts, an array or a sparse matrix.

    Parameters
    ----------
    data : DataFrame of pandas or polars, table of pyarrow, list of dicts, array-like of two dimensions, sparse matrix,
           or list, array or Series of texts
        The columns of a DataFrame are found by name, and hold what their types say: numbers; booleans as 0 and 1;
        strings and categories as words, or as texts if they look like that. Dicts are like lines of JSON. An array is a
        table without names. A sparse matrix is like the rows of an svmlight file.
    target : str or int or False, optional
        The column of the labels; by default as in files. False if there is none.
    drop, types, bad_rows
        As those of `open_stream`.
    known : KnownColumns, optional
        What a model knows. Then only its columns are read, as it knows them; those of an array are taken in its order.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.data.in_memory import open_data
    >>> opened = open_data(np.array([[1.0, 2.0, 0.0], [3.0, 4.0, 1.0]]))
    >>> [block] = opened.blocks
    >>> list(block.columns), opened.target_name, block.labels.tolist()
    (['column 1', 'column 2'], 'column 3', [0.0, 1.0])
    """
    options: dict[str, Any] = {"target": target, "drop": drop, "types": types or {}, "bad_rows": bad_rows}
    if sp.issparse(data):
        _refuse_options(options)
        return OpenedData("sparse matrix", data.shape[0], blocks_of_sparse(data, "sparse matrix"))
    known = known or KnownColumns()
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Mapping):
        from novikoff.data.in_memory.dicts import DictReader  # these modules load pyarrow

        dicts = DictReader(data, "list of dicts", known=known, **options)
        return OpenedData(dicts.name, len(data), dicts, dicts.target_name)
    if _is_texts(data):
        return _open_texts(data, known, options)
    if not _is_frame(data):
        return _open_array(data, known, options)
    from novikoff.data.in_memory.frames import as_frame

    return _open_frame(as_frame(data, "DataFrame"), "DataFrame", known, options)


def _refuse_options(options: Mapping[str, Any]) -> None:
    """Raise an error for options that make no sense for a sparse matrix."""
    if options["target"] is not False:
        raise DataError("A sparse matrix has no column of labels: pass them as y.")
    for name in ("drop", "types"):
        if options[name]:
            raise DataError(f"The columns of a sparse matrix have no names and no types: it takes no {name}.")


def _open_frame(frame: Any, name: str, known: KnownColumns, options: dict[str, Any]) -> OpenedData:
    """Open a DataFrame of pandas, or what is read like one."""
    from novikoff.data.in_memory.frames import FrameReader, NamedArray, as_arrow_table, names_of

    names = names_of(frame)
    if known.kinds:
        options["drop"] = _unused(names, name, known, options["target"])
    dropped = {names[column_index(column, names, name, "drop")] for column in options["drop"]}
    table = as_arrow_table(frame, name, dropped, {**known.kinds, **options["types"]})
    reader = FrameReader(table, name, known=known, **options)
    notations = {own: str(notation) for own, notation in reader.notations.items() if notation is not Notation.PLAIN}
    n_columns = len(names) if isinstance(frame, NamedArray) else 0
    form = TableForm(notations, n_columns) if notations or n_columns else None
    return OpenedData(name, table.num_rows, reader, reader.target_name, form)


def _unused(names: Sequence[str], name: str, known: KnownColumns, target: Any) -> list[str]:
    """Return the columns of a table that a model does not know, without that of the labels; it must have those it
    knows."""
    missing = [own for own in known.kinds if own not in names]
    if missing:
        near = difflib.get_close_matches(missing[0], names, 1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise DataError(
            f"{name}: there is no column {missing[0]!r}, which the model has learned from. {hint}The columns are "
            f"{quoted_list(names)}."
        )
    has_labels = target is not False and target is not None
    used = {*known.kinds, *([names[column_index(target, names, name, "target")]] if has_labels else [])}
    return [own for own in names if own not in used]


def _open_texts(data: Any, known: KnownColumns, options: dict[str, Any]) -> OpenedData:
    """Texts are a table of one column, which is called as the model calls its own, or "text"."""
    column, name = next(iter(known.kinds)) if len(known.kinds) == 1 else _TEXT, "texts"
    if known.kinds:
        _unused([column], name, known, False)
    if options["target"] is not False:
        raise DataError("Texts have no column of labels: pass them as y.")
    texts = data if isinstance(data, (list, tuple)) else list_of(data) or []
    return OpenedData(name, len(texts), blocks_of_texts(texts, column, name))


def _open_array(data: Any, known: KnownColumns, options: dict[str, Any]) -> OpenedData:
    name = "array"
    array = as_table_array(data, name)
    n_rows, width = array.shape
    names = _names_of_array(width, name, known)
    kinds = {**known.kinds, **options["types"]}
    is_plain = array.dtype.kind in "fiub" and options["bad_rows"] == "stop" and not options["drop"]
    if is_plain and options["target"] is False and set(kinds.values()) <= {"number"}:
        used = [k for k, own in enumerate(names) if not known.kinds or own in known.kinds]
        numbers = array if len(used) == width else array[:, used]
        blocks = blocks_of_numbers(numbers, [names[k] for k in used], name)
        return OpenedData(name, n_rows, blocks, form=TableForm(n_columns=width))
    from novikoff.data.in_memory.frames import NamedArray

    return _open_frame(NamedArray(array, names), name, known, options)


def _names_of_array(width: int, name: str, known: KnownColumns) -> list[str]:
    """Return the names of the columns of an array: those that a model knows, in its order; or all that its tables
    had."""
    if not known.kinds:
        return name_columns(width)
    if width == len(known.kinds):
        return list(known.kinds)
    if known.unnamed is not None and known.unnamed.fits(width):
        return list(known.unnamed.names(width, name))
    raise DataError(
        f"{name}: found {pluralize(width, 'column')}; the model has learned from {len(known.kinds)}: "
        f"{quoted_list(list(known.kinds))}. Pass these, in this order, or a DataFrame, whose columns have names."
    )


def _is_frame(data: object) -> bool:
    """Return whether an object is a table with named columns: a DataFrame of pandas, or one that Arrow can read."""
    is_readable = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    return hasattr(data, "columns") and (is_readable or type(data).__module__.partition(".")[0] == "pandas")


def _is_texts(data: object) -> bool:
    """Return whether an object is a list, array or Series of strings."""
    if isinstance(data, (list, tuple)) or (isinstance(data, np.ndarray) and data.ndim == 1):
        return len(data) > 0 and isinstance(data[0], str)
    return _is_series(data)


def _is_series(data: object) -> bool:
    """Return whether an object is a Series of pandas or polars, or an array of Arrow."""
    is_readable = hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")
    is_pandas = type(data).__module__.partition(".")[0] == "pandas" and hasattr(data, "dtype")
    return (is_readable or is_pandas) and not hasattr(data, "columns") and not hasattr(data, "schema")

"""Joining blocks: many blocks as one, so that their rows can be taken in any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.data.formats.block import (
    AnyColumn,
    Block,
    CategoricalColumn,
    NamedBlock,
    SparseBlock,
    TableBlock,
    TextColumn,
)
from novikoff.data.formats.number_matrix import NumberMatrix
from novikoff.errors import DataError

__all__ = ["join_blocks", "memory_of"]


def join_blocks(blocks: Sequence[Block], source: str) -> Block:
    """Return one block with the rows of all these blocks in their order, without their rejects.

    >>> from novikoff.data.formats.block import CategoricalColumn, TableBlock
    >>> def block(sky, label):
    ...     return TableBlock("a", np.array([1]), np.array([label]), {"sky": CategoricalColumn.from_cells([sky])})
    >>> joined = join_blocks([block("sun", 1.0), block("rain", 0.0), block("sun", 1.0)], "days")
    >>> joined[np.array([2, 1])].columns["sky"].tolist(), joined.labels.tolist()
    (['sun', 'rain'], [1.0, 0.0, 1.0])
    """
    kinds = {type(block) for block in blocks}
    if len(kinds) > 1:
        raise DataError(f"{source}: rows with named columns and rows with numbered features cannot be mixed.")
    first = blocks[0]
    changes: dict[str, Any] = {
        "source": source,
        "lines": np.concatenate([block.lines for block in blocks]),
        "rejects": [],
        **_join_labels(blocks),
    }
    if isinstance(first, TableBlock):
        changes |= _join_tables(blocks, len(changes["lines"]))  # type: ignore[arg-type]  # all of one kind
    elif isinstance(first, SparseBlock):
        changes["rows"] = _join_sparse([block.rows for block in blocks])  # type: ignore[attr-defined]
    elif isinstance(first, NamedBlock):
        changes |= _join_named(blocks)  # type: ignore[arg-type]
    return replace(first, **changes)


def memory_of(block: Block) -> int:
    """Return the bytes that the arrays of a block take, without Python's objects around them.

    >>> memory_of(SparseBlock("a", np.arange(2), np.zeros(2), sp.csr_array(np.eye(2))))
    68
    """
    total, seen = 0, set()
    for array in _arrays_of(block):
        owner = array if array.base is None or not isinstance(array.base, np.ndarray) else array.base
        if id(owner) not in seen:
            seen.add(id(owner))
            total += owner.nbytes
    return total


def _arrays_of(block: Block) -> list[np.ndarray]:
    found = [block.lines] + ([] if block.labels is None else [block.labels])
    if isinstance(block, TableBlock):
        for column in block.columns.values():
            if isinstance(column, CategoricalColumn):
                found.append(column.codes)
            elif isinstance(column, TextColumn):
                found += [column.memory, column.spans]
            else:
                found.append(column)
    elif isinstance(block, SparseBlock):
        found += [block.rows.data, block.rows.indices, block.rows.indptr]
    elif isinstance(block, NamedBlock):
        found += [block.memory, block.names, block.hashes, block.values, block.namespace_of]
    return found


def _join_labels(blocks: Sequence[Block]) -> dict[str, Any]:
    coded = [block.coded_labels for block in blocks if block._are_labels_coded]
    if len(coded) == len(blocks):
        joined = _join_categorical([column for column in coded if column is not None])
        return {"coded_labels": joined, "labels": joined.strings}
    labels = [block.labels for block in blocks if block.labels is not None]
    if not labels:
        return {"labels": None, "coded_labels": None}
    dtype = np.float64 if all(part.dtype == np.float64 for part in labels) else object
    return {"labels": np.concatenate([part.astype(dtype) for part in labels]), "coded_labels": None}


def _join_tables(blocks: Sequence[TableBlock], n: int) -> dict[str, Any]:
    names = list(dict.fromkeys(name for block in blocks for name in block.columns))
    columns = {name: _join_columns([(block.columns.get(name), len(block)) for block in blocks]) for name in names}
    numeric = {name: column for name, column in columns.items() if isinstance(column, np.ndarray)}
    numbers = NumberMatrix.from_columns(numeric, n)
    return {"columns": columns | numbers.columns, "numbers": numbers}


def _join_columns(parts: Sequence[tuple[AnyColumn | None, int]]) -> AnyColumn:
    """Return the cells of a column, one part after another; all cells of a part that is None are missing.

    What the first part holds decides, as in the blocks of a file.
    """
    first = next(part for part, _ in parts if part is not None)
    if isinstance(first, np.ndarray):
        return np.concatenate([np.full(n, np.nan) if part is None else _as_numbers(part) for part, n in parts])
    if isinstance(first, CategoricalColumn):
        return _join_categorical(
            [
                part if isinstance(part, CategoricalColumn) else CategoricalColumn.from_cells(_cells(part, n))
                for part, n in parts
            ]
        )
    return _join_texts(
        [part if isinstance(part, TextColumn) else TextColumn.from_cells(_cells(part, n)) for part, n in parts]
    )


def _as_numbers(column: AnyColumn) -> np.ndarray:
    if isinstance(column, np.ndarray):
        return column
    raise DataError("A column holds numbers in one part of the rows and words in another; give its type.")


def _cells(column: AnyColumn | None, n: int) -> list[str | None]:
    if column is None:
        return [None] * n
    if isinstance(column, np.ndarray):
        return [None if np.isnan(value) else f"{value:g}" for value in column.tolist()]
    return column.tolist()


def _join_categorical(columns: Sequence[CategoricalColumn]) -> CategoricalColumn:
    code_of: dict[str, int] = {}
    parts = []
    for column in columns:
        own = [code_of.setdefault(value, len(code_of)) for value in column.values]
        parts.append(np.array([*own, -1], np.int32)[column.codes])  # code -1 finds the last
    return CategoricalColumn(np.concatenate(parts), list(code_of))


def _join_texts(columns: Sequence[TextColumn]) -> TextColumn:
    memories = [column.memory for column in columns]
    return TextColumn(np.concatenate(memories), _shifted([column.spans for column in columns], memories))


def _shifted(spans: Sequence[np.ndarray], memories: Sequence[np.ndarray]) -> np.ndarray:
    """Spans of memories that now lie one after another; a negative one stays."""
    offsets = np.cumsum([0, *map(len, memories)])
    if offsets[-1] > np.iinfo(np.int32).max:
        raise DataError("The texts of more than 2 GiB cannot be joined.")
    parts = [np.where(part < 0, part, part + offset) for part, offset in zip(spans, offsets[:-1], strict=True)]
    return np.concatenate(parts).astype(np.int32)


def _join_sparse(matrices: Sequence[sp.csr_array]) -> sp.csr_array:
    width = max(matrix.shape[1] for matrix in matrices)
    indptr, total = [np.zeros(1, np.int64)], 0
    for matrix in matrices:
        indptr.append(matrix.indptr[1:].astype(np.int64) + total)
        total += int(matrix.indptr[-1])
    parts = (
        np.concatenate([matrix.data for matrix in matrices]),
        np.concatenate([matrix.indices for matrix in matrices]),
        np.concatenate(indptr),
    )
    return sp.csr_array(parts, shape=(len(parts[2]) - 1, width))


def _join_named(blocks: Sequence[NamedBlock]) -> dict[str, Any]:
    memories = [block.memory for block in blocks]
    counts = np.cumsum([0, *(len(block.namespaces) for block in blocks)])
    of = [block.namespace_of + count for block, count in zip(blocks, counts[:-1], strict=True)]
    sizes = np.concatenate([np.diff(block.indptr) for block in blocks])
    whole = {
        name: np.concatenate([getattr(block, name) for block in blocks])
        for name in ("distinct", "squared_norms", "hashes", "values")
    }
    return whole | {
        "memory": np.concatenate(memories),
        "names": _shifted([block.names for block in blocks], memories),
        "namespaces": _shifted([block.namespaces for block in blocks], memories),
        "namespace_of": np.concatenate(of).astype(np.int32),
        "indptr": np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
    }

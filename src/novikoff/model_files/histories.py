"""Histories of voted perceptrons in model files: updates, and the rows they were made on."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.model_files.section import Section
from novikoff.model_files.weights import read_weights, write_weights
from novikoff.perceptron.history import History, UpdateSequence

__all__ = ["read_history", "write_history"]

_FLOATS = (np.float32, np.float64)
_INTEGERS = (np.int32, np.int64)


def write_history(section: Section, history: History) -> None:
    """Write a history. Its sequences are made compact first, because the blocks that updates came in are not kept."""
    sequences = history.copy().sequences
    section.facts["chains"] = len(sequences)
    for number, sequence in enumerate(sequences):
        sequence.compact()
        _write_sequence(section.add_part(str(number)), sequence)


def read_history(section: Section, n_classes: int, n_features: int, examples: int) -> History:
    """Read the history of a learner that has learned from this many examples."""
    n_sequences = section.fact("chains", int)
    section.require(n_sequences > 0, f"{section.path} has no sequences of updates")
    sequences = [_read_sequence(section.part(str(number)), n_classes, n_features) for number in range(n_sequences)]
    for number, sequence in enumerate(sequences):
        is_last = number == n_sequences - 1
        section.require((sequence.end is None) == is_last, f"{section.path}: only the last sequence may have no end")
        end = examples if sequence.end is None else sequence.end
        order = np.concatenate([[sequence.start + 1], *sequence.examples, [end + 1]])
        is_sorted = (order[1:] >= order[:-1]).all() and order[-1] <= examples + 1  # differences could overflow
        section.require(
            is_sorted, f"{section.path}: the updates of sequence {number} are not in the order of the examples"
        )
    return History(sequences)


def _write_sequence(section: Section, sequence: UpdateSequence) -> None:
    section.facts |= {"born": int(sequence.start), "ended": None if sequence.end is None else int(sequence.end)}
    section.facts["has_base"] = sequence.base is not None
    if sequence.base is not None:
        write_weights(section.add_part("base"), sequence.base)
    _write_rows(section, sequence.blocks[0] if sequence.blocks else np.empty((0, 0)))
    section.add_tensor("slots", np.concatenate([np.empty(0, np.int64), *sequence.row_indices]))
    section.add_tensor("steps", np.concatenate([np.empty(0), *sequence.steps]))
    section.add_tensor("classes", np.concatenate([np.empty((0, 2), np.int64), *sequence.classes]))
    section.add_tensor("examples", np.concatenate([np.empty(0, np.int64), *sequence.examples]))


def _read_sequence(section: Section, n_classes: int, n_features: int) -> UpdateSequence:
    n_vectors = 1 if n_classes == 2 else n_classes
    rows = _read_rows(section, n_features)
    n_rows = rows.shape[0]
    steps = section.finite("steps", np.float64, (None,))
    base = read_weights(section.part("base"), n_vectors, None) if section.fact("has_base", bool) else None
    if base is not None:
        section.require(
            base.coef.shape[1] <= n_features, f"{section.full_name('base')} has more features than the model"
        )
    pieces: dict[str, list[np.ndarray]] = {
        "row_indices": [section.indices("slots", (len(steps),), n_rows)],
        "steps": [steps],
        "classes": [section.indices("classes", (len(steps), 2), n_classes)],
        "examples": [section.tensor("examples", np.int64, (len(steps),))],
    }
    return UpdateSequence(
        start=section.fact("born", int),
        end=None if "ended" in section.facts and section.facts["ended"] is None else section.fact("ended", int),
        base=base,
        blocks=[rows] if n_rows else [],
        n_rows=n_rows,
        **(pieces if len(steps) else {}),
    )


def _write_rows(section: Section, rows: Any) -> None:
    """Write stored rows, dense or CSR, with the dtype that they were learned with. CSR without stored zeros and without
    empty columns at the end, because both depend on the blocks that the rows came in, which are not kept."""
    section.facts["is_sparse"] = bool(sp.issparse(rows))
    if not sp.issparse(rows):
        section.add_tensor("rows", rows)
        return
    rows = rows.copy()
    rows.eliminate_zeros()
    part = section.add_part("rows")
    part.facts["width"] = width = int(rows.indices.max(initial=-1)) + 1
    fits_int32 = max(rows.nnz, width) <= np.iinfo(np.int32).max
    part.add_tensor("data", rows.data)
    part.add_tensor("indices", rows.indices.astype(np.int32 if fits_int32 else np.int64, copy=False))
    part.add_tensor("indptr", rows.indptr.astype(np.int32 if fits_int32 else np.int64, copy=False))


def _read_rows(section: Section, n_features: int) -> Any:
    """Read stored rows and check every index."""
    if not section.fact("is_sparse", bool):
        rows = section.finite("rows", _FLOATS, (None, None))
        section.require(rows.shape[1] <= n_features, f"{section.full_name('rows')} has more features than the model")
        return rows
    part = section.part("rows")
    width = part.fact("width", int)
    part.require(width <= n_features, f"{part.path} has more features than the model")
    data = part.finite("data", _FLOATS, (None,))
    indices = part.indices("indices", (len(data),), width, _INTEGERS)
    indptr = part.tensor("indptr", indices.dtype, (None,))
    is_valid = indptr.size and indptr[0] == 0 and indptr[-1] == len(data) and (indptr[1:] >= indptr[:-1]).all()
    part.require(is_valid, f"{part.full_name('indptr')} do not rise from 0 to the number of values")
    rows = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))
    part.require(_are_distinct(rows), f"{part.full_name('indices')} have a column twice in a row")
    return rows


def _are_distinct(rows: sp.csr_array) -> bool:
    """Return whether no row has a column twice."""
    indices, starts = rows.sorted_indices().indices, rows.indptr[1:-1]
    within_row = np.ones(max(0, len(indices) - 1), bool)
    within_row[starts[(starts > 0) & (starts < len(indices))] - 1] = False
    return bool((indices[1:] > indices[:-1])[within_row].all())

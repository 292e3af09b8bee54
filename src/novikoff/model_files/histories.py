"""The memory of a voted learner in a model file: every chain with its updates and the rows they were made on."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.model_files.section import Section
from novikoff.model_files.weights import put_weights, take_weights
from novikoff.perceptron.history import Chain, History

__all__ = ["put_history", "take_history"]

_FLOATS = (np.float32, np.float64)
_INTEGERS = (np.int32, np.int64)


def put_history(section: Section, history: History) -> None:
    """Keep a history. Each chain is made compact first: how its updates came to be in pieces is no part of it."""
    chains = history.copy().chains
    section.facts["chains"] = len(chains)
    for number, chain in enumerate(chains):
        chain.compact()
        _put_chain(section.open(str(number)), chain)


def take_history(section: Section, n_classes: int, n_features: int, examples: int) -> History:
    """The history that `put_history` kept, of a learner that has seen so many examples."""
    n_chains = section.fact("chains", int)
    section.require(n_chains > 0, f"{section.path} has no chains")
    chains = [_take_chain(section.part(str(number)), n_classes, n_features) for number in range(n_chains)]
    for number, chain in enumerate(chains):
        last = number == n_chains - 1
        section.require((chain.ended is None) == last, f"{section.path}: only the last chain still grows")
        end = examples if chain.ended is None else chain.ended
        births = np.concatenate([[chain.born + 1], *chain.examples, [end + 1]])
        sound = (births[1:] >= births[:-1]).all() and births[-1] <= examples + 1
        section.require(sound, f"{section.path}: the updates of chain {number} are not in the order of the examples")
    return History(chains)


def _put_chain(section: Section, chain: Chain) -> None:
    section.facts |= {"born": int(chain.born), "ended": None if chain.ended is None else int(chain.ended)}
    section.facts["has_base"] = chain.base is not None
    if chain.base is not None:
        put_weights(section.open("base"), chain.base)
    _put_rows(section, chain.blocks[0] if chain.blocks else np.empty((0, 0)))
    section.put("slots", np.concatenate([np.empty(0, np.int64), *chain.slots]))
    section.put("steps", np.concatenate([np.empty(0), *chain.steps]))
    section.put("classes", np.concatenate([np.empty((0, 2), np.int64), *chain.classes]))
    section.put("examples", np.concatenate([np.empty(0, np.int64), *chain.examples]))


def _take_chain(section: Section, n_classes: int, n_features: int) -> Chain:
    n_vectors = 1 if n_classes == 2 else n_classes
    rows = _take_rows(section, n_features)
    n_rows = rows.shape[0]
    steps = section.finite("steps", np.float64, (None,))
    base = take_weights(section.part("base"), n_vectors, None) if section.fact("has_base", bool) else None
    if base is not None:
        section.require(base.coef.shape[1] <= n_features, f"{section.place('base')} has more features than the model")
    pieces: dict[str, list[np.ndarray]] = {
        "slots": [section.indices("slots", (len(steps),), n_rows)],
        "steps": [steps],
        "classes": [section.indices("classes", (len(steps), 2), n_classes)],
        "examples": [section.tensor("examples", np.int64, (len(steps),))],
    }
    return Chain(
        born=section.fact("born", int),
        ended=None if "ended" in section.facts and section.facts["ended"] is None else section.fact("ended", int),
        base=base,
        blocks=[rows] if n_rows else [],
        n_rows=n_rows,
        **(pieces if len(steps) else {}),
    )


def _put_rows(section: Section, rows: Any) -> None:
    """Stored rows, dense or CSR, in the floats they came in. CSR without stored zeros and no wider than need be: both
    depend on the blocks that rows came in, and that is no part of them."""
    section.facts["is_sparse"] = bool(sp.issparse(rows))
    if not sp.issparse(rows):
        section.put("rows", rows)
        return
    rows = rows.copy()
    rows.eliminate_zeros()
    part = section.open("rows")
    part.facts["width"] = width = int(rows.indices.max(initial=-1)) + 1
    narrow = max(rows.nnz, width) <= np.iinfo(np.int32).max
    part.put("data", rows.data)
    part.put("indices", rows.indices.astype(np.int32 if narrow else np.int64, copy=False))
    part.put("indptr", rows.indptr.astype(np.int32 if narrow else np.int64, copy=False))


def _take_rows(section: Section, n_features: int) -> Any:
    """The rows that `_put_rows` kept; every index has been looked at."""
    if not section.fact("is_sparse", bool):
        rows = section.finite("rows", _FLOATS, (None, None))
        section.require(rows.shape[1] <= n_features, f"{section.place('rows')} has more features than the model")
        return rows
    part = section.part("rows")
    width = part.fact("width", int)
    part.require(width <= n_features, f"{part.path} has more features than the model")
    data = part.finite("data", _FLOATS, (None,))
    indices = part.indices("indices", (len(data),), width, _INTEGERS)
    indptr = part.tensor("indptr", indices.dtype, (None,))
    sound = indptr.size and indptr[0] == 0 and indptr[-1] == len(data) and (indptr[1:] >= indptr[:-1]).all()
    part.require(sound, f"{part.place('indptr')} do not rise from 0 to the number of values")
    rows = sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, width))
    part.require(_are_distinct(rows), f"{part.place('indices')} have a column twice in a row")
    return rows


def _are_distinct(rows: sp.csr_array) -> bool:
    """Whether no row has a column twice."""
    indices, starts = rows.sorted_indices().indices, rows.indptr[1:-1]
    within_row = np.ones(max(0, len(indices) - 1), bool)
    within_row[starts[(starts > 0) & (starts < len(indices))] - 1] = False
    return bool((indices[1:] > indices[:-1])[within_row].all())

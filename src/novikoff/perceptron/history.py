"""The memory of a voted perceptron: its updates, from which every weight vector it ever had can be had again.

Storing the updates costs the rows that were updated on, once each per block they came in, instead of one weight
vector per update; a vote is then one matrix product and a running sum (_compiled/loops/voting.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff._compiled.loops import additive, voting
from novikoff.inputs.arrays import row_lengths, whole_rows
from novikoff.inputs.rows import Rows
from novikoff.perceptron.weights import Weights, linear_scores

__all__ = ["Chain", "History"]

_FOUND_AGAIN = ("lengths", "is_whole")  # what a chain keeps of them, and finds again once it has grown
_UNIT = 2.0**-53
_WHOLE = 2.0**53  # doubles hold every whole number up to this
_PRODUCT_CELLS = 1 << 23  # products are formed for this many (stored row, query) pairs at a time: 64 MB


@dataclass(eq=False)
class Chain:
    """Weight vectors that follow one another: a first one, and the updates in order."""

    born: int = 0  # examples seen before the chain began
    ended: int | None = None  # and when it ended; None while it grows
    base: Weights | None = None  # its first vector; None is zero
    blocks: list[Any] = field(default_factory=list)  # stored rows, as they came: 2-D arrays or CSR arrays
    n_rows: int = 0
    slots: list[np.ndarray] = field(default_factory=list)  # per update: which stored row,
    steps: list[np.ndarray] = field(default_factory=list)  # how far,
    classes: list[np.ndarray] = field(default_factory=list)  # (true class, rival class),
    examples: list[np.ndarray] = field(default_factory=list)  # and at which example, counted from 1

    def survived(self, now: int) -> np.ndarray:
        """How many examples each vector answered for, the one that made it included."""
        end = now if self.ended is None else self.ended
        births = np.concatenate([[self.born + 1], *self.examples, [end + 1]])
        return np.diff(births).astype(np.float64)

    def compact(self) -> None:
        """Join what many small updates left in many small arrays."""
        for name in ("slots", "steps", "classes", "examples"):
            pieces = getattr(self, name)
            if len(pieces) > 1:
                setattr(self, name, [np.concatenate(pieces)])
        if len(self.blocks) > 1:
            self.blocks = [_stacked(self.blocks)]

    def scores_of_base(self, rows: Rows, constant: float, n_vectors: int) -> np.ndarray:
        """Scores of the first vector, (vectors, queries)."""
        scores = np.zeros((n_vectors, len(rows)))
        if self.base is not None:
            base = self.base.widened(rows.n_features).laid_out(sparse=rows.is_sparse)
            scores += linear_scores(rows, base, constant).reshape(len(rows), -1).T
        return scores

    def add(self, rows: Any, slots: np.ndarray, steps: np.ndarray, classes: np.ndarray, examples: np.ndarray) -> None:
        """Remember updates, and the rows among them that are not stored yet."""
        if rows is not None:
            self.blocks.append(rows)
            self.n_rows += rows.shape[0]
        self.slots.append(slots)
        self.steps.append(steps)
        self.classes.append(classes)
        self.examples.append(examples)
        for name in _FOUND_AGAIN:
            vars(self).pop(name, None)

    @property
    def stored(self) -> Any:
        """All stored rows in double precision, once `compact` has joined them."""
        return self.blocks[0].astype(np.float64, copy=False) if self.blocks else np.empty((0, 0))

    @cached_property
    def lengths(self) -> np.ndarray:
        """At least the length of each stored row."""
        return row_lengths(self.stored)[0]

    @cached_property
    def is_whole(self) -> bool:
        """Whether all weight vectors are whole numbers, as far as doubles hold those."""
        base = [] if self.base is None else [self.base.coef, self.base.bias[None]]
        parts = [self.stored, *(steps[None] for steps in self.steps), *base]
        return all(bool(whole_rows(values).all()) for values in parts)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and deepcopy, without what is found again when it is asked for."""
        return {name: value for name, value in vars(self).items() if name not in _FOUND_AGAIN}


@dataclass(eq=False)
class History:
    """One chain for a learner that ran by itself; merged learners bring theirs along and start another."""

    chains: list[Chain] = field(default_factory=lambda: [Chain()])
    _source: Rows | None = None  # the rows being learned from now, and where each was stored:
    _stored: np.ndarray | None = None  # further passes need not store them again

    def add(self, rows: Rows, at: np.ndarray, steps: np.ndarray, classes: np.ndarray, examples: np.ndarray) -> None:
        """Remember updates on rows[at]."""
        chain = self.chains[-1]
        if self._source is not rows or self._stored is None:
            self._source, self._stored = rows, np.full(len(rows), -1)
        new = np.unique(at[self._stored[at] < 0])
        self._stored[new] = chain.n_rows + np.arange(new.size)
        chain.add(rows.take(new) if new.size else None, self._stored[at], steps, classes, examples)

    def one_more(self, row: Rows, step: float, classes: tuple[int, int], example: int) -> Callable[[], None]:
        """A function that adds one update on one row; called again, it changes nothing more."""
        chain = self.chains[-1]
        pieces: dict[str, Any] = {
            "blocks": row.take(np.zeros(1, np.int64)),
            "slots": np.array([chain.n_rows]),
            "steps": np.array([step]),
            "classes": np.array([classes]),
            "examples": np.array([example]),
        }
        lists = [(getattr(chain, name), len(getattr(chain, name)), [piece]) for name, piece in pieces.items()]
        n_rows = chain.n_rows + 1

        def add() -> None:
            for of_chain, size, piece in lists:
                of_chain[size:] = piece
            chain.n_rows = n_rows

        return add

    def compact(self) -> None:
        """Join what many small updates left in many small arrays."""
        for chain in self.chains:
            chain.compact()

    def release(self) -> None:
        """Let go of the caller's rows; what is stored stays."""
        self._source = self._stored = None

    def votes(self, rows: Rows, now: int, *, constant: float, tie: int, n_classes: int) -> np.ndarray:
        """The votes of all vectors: (queries,) signed for two classes, (queries, classes) for many."""
        n_vectors = 1 if n_classes == 2 else n_classes
        votes = np.zeros((n_vectors, len(rows)))
        for chain in self.chains:
            chain.compact()
            step = max(1, _PRODUCT_CELLS // max(1, chain.n_rows))
            for start in range(0, len(rows), step):
                part = rows[start : start + step]
                chain_votes(chain, part, now, constant, tie, votes[:, start : start + step])
        return votes[0] if n_classes == 2 else votes.T

    def copy(self) -> History:
        return History([_copied(chain) for chain in self.chains])

    def scaled(self, by: float) -> History:
        """As if every step had been `by` times as long; two classes become two vectors."""
        return self._changed(
            lambda c: {"steps": [s * by for s in c.steps], "base": c.base.split(by) if c.base is not None else None}
        )

    def recoded(self, code: np.ndarray) -> History:
        """With class k renamed to code[k]; a class left out of `code` is new and has no past."""

        def change(chain: Chain) -> dict[str, Any]:
            base = chain.base
            if base is not None and len(base.bias) == 1:
                base = base.scaled(-1.0)
            elif base is not None:
                missing = sorted(set(range(len(code) + 1)) - set(code.tolist()))
                for at in missing:
                    base = base.with_class(at)
            return {"classes": [code[c] for c in chain.classes], "base": base}

        return self._changed(change)

    def _changed(self, change: Any) -> History:
        return History([replace(_copied(chain), **change(chain)) for chain in self.chains])


def chain_votes(chain: Chain, rows: Rows, now: int, constant: float, tie: int, votes: np.ndarray) -> None:
    """Add the votes of one chain on some queries."""
    slots = np.concatenate([np.empty(0, np.int64), *chain.slots])
    steps = np.concatenate([np.empty(0), *chain.steps])
    winners, rivals = np.ascontiguousarray(np.concatenate([np.empty((0, 2), np.int64), *chain.classes]).T)
    lengths = np.abs(steps) * np.hypot(chain.lengths, constant)[slots]
    base = chain.base or Weights.zeros(len(votes), rows.n_features)
    reach = _reach(chain, rows, constant, base.norm + lengths.sum(), len(slots))
    queries = rows.matrix.astype(np.float64, copy=False)
    scores, sizes = chain.scores_of_base(rows, constant, len(votes)), np.full(len(rows), base.norm)
    w, bias, stored = np.array(base.widened(rows.n_features).coef, order="C"), base.bias.copy(), chain.stored
    products, of_rows = _products(stored, queries) + constant, (_arrays(stored), _arrays(queries), constant)
    meets = _meetings(stored, queries) if whole_rows(steps[None]).all() else None
    survived, last = chain.survived(now), tie != additive.TIE_NEGATIVE
    if len(votes) > 1:
        updates = slots, steps, lengths, winners, rivals, survived, last
        voting.multiclass_votes(products, meets, *updates, reach, sizes, scores, votes, *of_rows, w, bias)
    else:
        signed = slots, steps * (2 * winners - 1), lengths, survived, 1.0 if last else -1.0
        voting.binary_votes(products, meets, *signed, reach, sizes, scores[0], votes[0], *of_rows, w[0], bias)


def _products(stored: Any, queries: Any) -> np.ndarray:
    """<x_s, x_q> for every stored row s and query q; stored rows may be the narrower ones."""
    found = stored @ queries[:, : stored.shape[1]].T
    return np.ascontiguousarray(found.toarray() if sp.issparse(found) else found)


def _meetings(stored: Any, queries: Any) -> np.ndarray | None:
    """Which stored rows have a column in common with which queries; None if they are not sparse. Of those that have
    none the product is the constant, which whole steps add up without rounding."""
    if not sp.issparse(stored) or not sp.issparse(queries):
        return None
    stored, queries = (
        sp.csr_array((np.ones(len(m.data)), m.indices, m.indptr), shape=m.shape) for m in (stored, queries)
    )
    return _products(stored, queries) != 0.0


def _arrays(rows: Any) -> tuple[Any, Any, Any]:
    """Rows as kernels take them."""
    return (rows.data, rows.indices, rows.indptr) if sp.issparse(rows) else (rows, None, None)


def _reach(chain: Chain, rows: Rows, constant: float, size: float, n_updates: int) -> np.ndarray:
    """For each query what times a size is more than rounding can have added to a score: by the terms of the products
    and of the sum (Higham, "Accuracy and Stability of Numerical Algorithms", section 4.2), twice to be safe. Nothing
    if all are whole numbers that doubles hold."""
    lengths, counts = row_lengths(rows.matrix)
    lengths = np.hypot(lengths, constant)
    reach = 4.0 * _UNIT * (counts + n_updates + 8.0) * lengths
    if chain.is_whole:
        reach[whole_rows(rows.matrix) & (size * lengths < _WHOLE)] = 0.0
    return reach


def _stacked(blocks: list[Any]) -> Any:
    """Blocks of rows as one; narrow ones are filled up with zeros."""
    width = max(block.shape[1] for block in blocks)
    if any(sp.issparse(block) for block in blocks):
        wide = [sp.csr_array(block) for block in blocks]
        for block in wide:
            block.resize(block.shape[0], width)
        return sp.vstack(wide, format="csr")
    return np.concatenate([np.pad(block, ((0, 0), (0, width - block.shape[1]))) for block in blocks])


def _copied(chain: Chain) -> Chain:
    """A chain that can grow on its own; the arrays in its lists never change and are shared."""
    lists = {name: list(getattr(chain, name)) for name in ("blocks", "slots", "steps", "classes", "examples")}
    return replace(chain, **lists)  # type: ignore[arg-type]

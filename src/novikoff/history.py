"""The memory of a voted perceptron: its updates, from which every weight vector it ever had can be had again.

Storing the updates costs the rows that were updated on, once each per block they came in, instead of one weight
vector per update; a vote is then one matrix product and a running sum (kernels/voting.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from novikoff.kernels import additive, voting
from novikoff.rows import Rows
from novikoff.weights import Weights, linear_scores

__all__ = ["Chain", "History"]

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

    def products(self, rows: Rows, constant: float) -> np.ndarray:
        """<x_s, x_q> for every stored row s and query q, the constant coordinate included."""
        queries = rows.take(np.arange(len(rows))).astype(np.float64, copy=False)
        found = np.empty((self.n_rows, len(rows)))
        at = 0
        for block in self.blocks:
            product = block.astype(np.float64, copy=False) @ queries[:, : block.shape[1]].T
            found[at : at + block.shape[0]] = product.toarray() if sp.issparse(product) else product
            at += block.shape[0]
        found += constant
        return found


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
        if new.size:
            self._stored[new] = chain.n_rows + np.arange(new.size)
            chain.blocks.append(rows.take(new))
            chain.n_rows += new.size
        chain.slots.append(self._stored[at])
        chain.steps.append(steps)
        chain.classes.append(classes)
        chain.examples.append(examples)

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
    scores = chain.scores_of_base(rows, constant, len(votes))
    products = chain.products(rows, constant)
    slots = np.concatenate([np.empty(0, np.int64), *chain.slots])
    steps = np.concatenate([np.empty(0), *chain.steps])
    winners, rivals = np.concatenate([np.empty((0, 2), np.int64), *chain.classes]).T
    survived = chain.survived(now)
    if len(votes) == 1:
        tie_sign = -1.0 if tie == additive.TIE_NEGATIVE else 1.0
        voting.binary_votes(products, slots, steps * (2 * winners - 1), survived, tie_sign, scores[0], votes[0])
    else:
        last = tie != additive.TIE_NEGATIVE
        voting.multiclass_votes(products, slots, steps, winners.copy(), rivals.copy(), survived, last, scores, votes)


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

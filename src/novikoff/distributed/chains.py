"""Chains: the learners of a round, each of which goes through some of the files, in order.

Which files make a chain is decided once, from their numbers of rows, and does not depend on how many workers there are:
so the result does not either.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.distributed.caching import Encoded, cached
from novikoff.distributed.packing import PackedState, pack_state, unpack_state
from novikoff.errors import DataError
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.state import State
from novikoff.streaming.model import StreamModel
from novikoff.streaming.opening import open_for_model

__all__ = ["Chain", "ChainEnd", "Plan", "deal_files", "encode_file", "learn_chain", "learn_first_rows"]


@dataclass(frozen=True)
class Chain:
    """Files that one learner goes through, in this order, and the number of rows of each."""

    files: tuple[str, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Plan:
    """What is the same for all chains and rounds of a run.

    Attributes
    ----------
    model : StreamModel
        How files are read, their rows encoded and their labels coded; without a state.
    options : dict
        Of `open_stream`.
    run : str
        The name of the run, under which a process keeps rows in memory.
    memory : int
        How many bytes of rows it may keep; see caching.py.
    """

    model: StreamModel
    options: dict[str, Any]
    run: str
    memory: int

    @property
    def learner(self) -> Learner:
        return self.model.model.learner

    def empty_state(self) -> State:
        """Return the state before the first example, from which all others differ."""
        assert self.model.encoding is not None
        return self.learner.init(self.model.encoding.n_features, max(2, len(self.model.labels)))


@dataclass(frozen=True, eq=False)
class ChainEnd:
    """A state after a chain, and how many seconds it took."""

    state: PackedState
    seconds: float


def deal_files(files: Sequence[str], rows: Sequence[int], n_chains: int) -> list[Chain]:
    """Deal files to chains so that these have about as many rows each: the largest file first, each to the chain with
    the fewest rows so far. Within a chain they keep their order.

    >>> from novikoff.distributed.chains import deal_files
    >>> [chain.files for chain in deal_files("abcd", [5, 1, 9, 2], 2)]
    [('c',), ('a', 'b', 'd')]
    """
    totals, dealt = [0] * n_chains, [list[int]() for _ in range(n_chains)]
    for number in sorted(range(len(files)), key=lambda number: (-rows[number], number)):
        chain = totals.index(min(totals))
        totals[chain] += rows[number]
        dealt[chain].append(number)
    return [Chain(tuple(files[k] for k in sorted(own)), tuple(rows[k] for k in sorted(own))) for own in dealt]


def learn_chain(plan: Plan, start: PackedState, chain: Chain) -> ChainEnd:
    """Learn from the rows of a chain, from a fork of the state before the round; a task."""
    began = time.perf_counter()
    learner, fork = plan.learner, _unpack_start(plan, start)
    end = fork.copy()
    for path, n_rows in zip(chain.files, chain.rows, strict=True):
        for rows, codes in cached(plan.run, path, encode_file(plan, path, n_rows), plan.memory):
            end = learner.update(end, rows, codes)
    return ChainEnd(pack_state(end, fork), time.perf_counter() - began)


def learn_first_rows(plan: Plan, start: PackedState, chain: Chain) -> None:
    """Learn from the first block of a chain and forget it, so that all compiled code is there; a task."""
    learner, state = plan.learner, _unpack_start(plan, start)
    for path, n_rows in zip(chain.files, chain.rows, strict=True):
        for rows, codes in encode_file(plan, path, n_rows):
            pack_state(learner.update(state.copy(), rows, codes), state)
            return


_last_start: tuple[PackedState, State] | None = None


def _unpack_start(plan: Plan, start: PackedState) -> State:
    """Return the fork that all chains of a round begin with, which must not be changed: it is kept for the next one."""
    global _last_start
    last = _last_start
    if last is None or last[0] is not start:
        last = _last_start = start, unpack_state(plan.learner, start, plan.empty_state())
    return last[1]


def encode_file(plan: Plan, path: str, n_expected: int, lines: list[np.ndarray] | None = None) -> Iterator[Encoded]:
    """Yield the rows of a file, encoded, and their codes; a DataError if it has changed since the look. The lines of
    the rows are appended to a list, if there is one.
    """
    model, n_rows = plan.model, 0
    assert model.encoding is not None
    with open_for_model(model, path, plan.options) as reader:
        for block in reader:
            if not len(block):
                continue
            rows = model.encoding.encode(block)
            rows.require_numbers()
            n_rows += len(block)
            if lines is not None:
                lines.append(block.lines)
            yield rows, _code_labels(model, path, *block.encode_labels())
    if n_rows != n_expected:
        raise DataError(
            f"{path} has {n_rows:,} rows; it had {n_expected:,} when this run began. Files must stay as they are until "
            "it ends: begin a new run."
        )


def _code_labels(model: StreamModel, path: str, classes: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """Return the code of each row's class, given the classes and for each row the index of its own."""
    codes = model.model.labels.codes
    try:
        of_class = np.array([codes[label] for label in classes.tolist()], np.int64)
    except KeyError as error:
        raise DataError(
            f"{path} has the label {error.args[0]!r}, which was in no file when this run began. Files must stay as "
            "they are until it ends: begin a new run."
        ) from error
    return of_class[indices]

"""A learning session: a model learns from blocks, with checkpoints and a log of rejects."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from novikoff.errors import DataError, NovikoffError

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.perceptron.ledger import Ledger
    from novikoff.streaming.checkpoints import Checkpointer
    from novikoff.streaming.model import StreamModel
    from novikoff.streaming.progressive import ProgressiveErrors
    from novikoff.streaming.rejects import RejectLog

__all__ = ["LearningSession"]

_POWERS_OF_TWO = frozenset(1 << k for k in range(62))


class LearningSession:
    """A model, the blocks that it learns from, and what is written meanwhile.

    Parameters
    ----------
    model : StreamModel
    blocks : iterable of blocks
        Such as a `FilePasses`.
    checkpointer : Checkpointer, optional
    rejects : RejectLog, optional
    on_power_of_two : callable, optional
        Called with the ledger when the model has learned from 1, 2, 4, 8, ... examples.
    on_block : callable, optional
        Called with the ledger after each block.
    progressive : ProgressiveErrors, optional
        Counts errors while the model learns; set it to None to stop counting.
    guard : context manager, optional
        Entered around each block; it must be reusable. The command defers Ctrl-C to the end of a block with it.
    """

    def __init__(
        self,
        model: StreamModel,
        blocks: Iterable[Block],
        *,
        checkpointer: Checkpointer | None = None,
        rejects: RejectLog | None = None,
        on_power_of_two: Callable[[Ledger], None] | None = None,
        on_block: Callable[[Ledger], None] | None = None,
        progressive: ProgressiveErrors | None = None,
        guard: AbstractContextManager[Any] | None = None,
    ) -> None:
        self.model, self.blocks, self.checkpointer, self.rejects = model, blocks, checkpointer, rejects
        self.on_power_of_two, self.on_block, self.progressive = on_power_of_two, on_block, progressive
        self._guard = guard or nullcontext()
        self._examples_before = model.ledger.examples

    @property
    def n_learned(self) -> int:
        """How many examples the model has learned from in this session."""
        return self.model.ledger.examples - self._examples_before

    def run(self) -> None:
        """Learn from all blocks and write the last checkpoint, also if Ctrl-C or bad data ends it early."""
        try:
            self.learn()
        except (KeyboardInterrupt, NovikoffError) as error:
            if self.checkpointer is not None and self.n_learned:
                self.checkpointer.save()
                error.add_note(f"{self.checkpointer.path} has what was learned so far; resume=True continues from it.")
            raise
        finally:
            if self.rejects is not None:
                self.rejects.close()
        self.save()

    def learn(self) -> None:
        """Learn from all blocks, and write checkpoints when they are due."""
        for block in self.blocks:
            with self._guard:
                self._learn_block(block)

    def save(self) -> None:
        """Write the last checkpoint."""
        if self.checkpointer is None:
            return
        if self.model.encoding is None:
            raise DataError("There was nothing to learn from.")
        self.checkpointer.save()

    def _learn_block(self, block: Block) -> None:
        if self.rejects is not None:
            self.rejects.add(block)
        if len(block):
            self._learn_rows(block)
        if self.on_block is not None:
            self.on_block(self.model.ledger)
        if self.checkpointer is not None:
            self.checkpointer.save_if_due()

    def _learn_rows(self, block: Block) -> None:
        progressive = self.progressive
        stops = _POWERS_OF_TWO if self.on_power_of_two is not None else frozenset()
        if progressive is not None:
            stops |= progressive.stops
        before_piece = None if progressive is None else progressive.before_piece
        for n_examples in self.model.learn_until(block, stops, before_piece):
            if progressive is not None:
                progressive.after_piece()
            if self.on_power_of_two is not None and n_examples in _POWERS_OF_TWO:
                self.on_power_of_two(self.model.ledger)

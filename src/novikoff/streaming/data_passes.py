"""DataPasses: the blocks of data in memory, as many times as there are passes, in the orders that files have."""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from novikoff.streaming.passes import FilePasses

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.data.in_memory import OpenedData
    from novikoff.streaming.model import StreamModel

__all__ = ["DataPasses"]


class DataPasses(FilePasses):
    """The passes of `FilePasses` over data in memory, which are all read before the first row is learned from.

    Parameters
    ----------
    model : StreamModel
        As for `FilePasses`.
    opened : OpenedData
        Rows are counted under its name.
    **options
        As for `FilePasses`, besides those that say how to read files.
    """

    def __init__(self, model: StreamModel, opened: OpenedData, **options: Any) -> None:
        super().__init__(model, [opened.name], **options)
        self._blocks = list(opened.blocks)

    def _read_files(self) -> Generator[Block, None, None]:
        for k, block in enumerate(self._blocks):
            if k == 0 and self._check is not None and len(block):
                self._check(block)
            yield block

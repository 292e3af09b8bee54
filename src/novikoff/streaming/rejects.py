"""RejectLog: counts and reports rows that could not be read, and writes them to a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Literal

from novikoff.formatting.phrases import pluralize
from novikoff.system.atomic_files import name_path_in_errors, require_writable

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.data.formats.rejects import Reject

__all__ = ["RejectLog"]

_MAX_REPORTED_REASONS = 3  # passed to `notify`; the file contains all of them


class RejectLog:
    """Counts the rejects of blocks, and writes each with its reason as one line of a file.

    Parameters
    ----------
    path : Path, optional
        Where to write them; the file is opened at the first reject. If None, they are only counted and reported.
    append : bool
        Whether to append to an existing file, as a resumed run does, instead of replacing it.
    notify : callable, optional
        Called with a message for each of the first few rejects, and with the total when closed.
    """

    def __init__(
        self, path: Path | None = None, *, append: bool = False, notify: Callable[[str], None] | None = None
    ) -> None:
        self.path, self.count = path, 0
        self._notify = notify
        self._mode: Literal["ab", "wb"] = "ab" if append else "wb"
        self._file: BinaryIO | None = None

    def add(self, block: Block) -> None:
        """Count, report and write the rejects of a block."""
        self.add_all(block.rejects)

    def add_all(self, rejects: Iterable[Reject]) -> None:
        """Count, report and write rejects."""
        for reject in rejects:
            if self._notify is not None and self.count < _MAX_REPORTED_REASONS:
                self._notify(f"rejected: {reject.reason}")
            self.count += 1
            self._write(reject.reason.encode() + b"\t" + reject.text.rstrip(b"\r\n") + b"\n")

    def _write(self, line: bytes) -> None:
        if self.path is None:
            return
        if self._file is None:
            require_writable(self.path)
            self._file = open(self.path, self._mode)  # noqa: SIM115 (`close` closes it)
        with name_path_in_errors(self.path):
            self._file.write(line)

    def flush(self) -> None:
        """Flush pending rejects to disk (fsync)."""
        if self._file is not None and self.path is not None:
            with name_path_in_errors(self.path):
                self._file.flush()
                if self.path.is_file():  # a device cannot be synced
                    os.fsync(self._file.fileno())

    def close(self) -> None:
        """Flush and close the file; report the total."""
        if self._file is not None and self.path is not None:
            try:
                self.flush()
            finally:  # even if the disk is full
                file, self._file = self._file, None
                with name_path_in_errors(self.path):
                    file.close()
        if self.count and self._notify is not None:
            where = "" if self.path is None else f"; they are in {self.path}, each with its reason"
            self._notify(f"{pluralize(self.count, 'row')} rejected{where}.")

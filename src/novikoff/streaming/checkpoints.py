"""Checkpoints: a model file that is written again and again while a model learns."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from novikoff.errors import DataError, ModelFileError
from novikoff.system.atomic_files import require_writable

if TYPE_CHECKING:
    from novikoff.streaming.model import StreamModel
    from novikoff.streaming.rejects import RejectLog

__all__ = ["Checkpointer", "publish", "require_replaceable"]

_SAMPLE = 1 << 16  # bytes; the header of a model file names novikoff within them


class Checkpointer:
    """Saves a model to one path whenever enough time has passed.

    Each checkpoint replaces the one before it as a whole: a process that is killed leaves the last complete one.

    Parameters
    ----------
    model : StreamModel
    path : Path
    every : float
        Seconds between two checkpoints; 0 for one after every block.
    rejects : RejectLog, optional
        Flushed before each checkpoint. The model counts the rows before a reject as read, so a run that resumes from
        the checkpoint does not report that reject again.
    """

    def __init__(self, model: StreamModel, path: Path, every: float = 60.0, rejects: RejectLog | None = None) -> None:
        if not every >= 0.0:
            raise DataError(f"The time between two checkpoints must be a number of seconds >= 0; found {every!r}.")
        self.model, self.path, self.every, self.rejects = model, path, every, rejects
        self._saved_at = time.monotonic()

    def save_if_due(self) -> None:
        """Save the model if it has learned something and the last checkpoint is old enough."""
        if self.model.encoding is not None and time.monotonic() - self._saved_at >= self.every:
            self.save()

    def save(self) -> None:
        """Save the model now."""
        if self.rejects is not None:
            self.rejects.flush()
        self.model.save(self.path)
        self._saved_at = time.monotonic()


def publish(draft: Path, path: Path) -> None:
    """Move a complete model file to its path, where it replaces an older one, whose permissions it gets."""
    if draft != path:
        target = os.path.realpath(path)
        if os.path.exists(target):
            os.chmod(draft, os.stat(target).st_mode & 0o7777)
        os.replace(draft, target)


def require_replaceable(path: str | os.PathLike[str]) -> None:
    """Raise an error if a model cannot be written to this path, or would replace a file that is not a model."""
    path = Path(path)
    require_writable(path)
    if path.is_file() and path.stat().st_size:
        with path.open("rb") as file:
            if b"novikoff" not in file.read(_SAMPLE):
                raise ModelFileError(f"{path} exists and is not a model file. Name another file, or remove it.")

"""Snapshots: model files that are written beside the log, so that a start need not learn the whole log again."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from novikoff.errors import ModelFileError
from novikoff.service.failpoints import failpoint
from novikoff.service.online_model import OnlineModel

__all__ = ["SnapshotPolicy", "Snapshots"]

_NAME = re.compile(r"snapshot-(\d{9,})\.nk")
_DRAFT = "snapshot.draft"
_KEPT = 2


class Snapshots:
    """The snapshots of one model, in its folder.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def paths(self) -> list[tuple[int, Path]]:
        """Return (seq, path) of each snapshot, the newest first."""
        found = ((_NAME.fullmatch(path.name), path) for path in self.folder.iterdir())
        return sorted(((int(match[1]), path) for match, path in found if match), reverse=True)

    def load_newest(self) -> Iterator[tuple[OnlineModel | None, str]]:
        """Yield the newest model that can be loaded, or None for each that cannot, with a message."""
        for seq, path in self.paths():
            try:
                model = OnlineModel.load(path)
                if model.seq != seq:
                    raise ModelFileError(f"{path} holds a model after {model.seq:,} labels.")
            except (ModelFileError, OSError) as error:
                yield None, f"{error} An older snapshot is used; this one is ignored."
                continue
            yield model, str(path)
            return

    def save(self, model: OnlineModel) -> Path:
        """Write a snapshot, and remove those older than the two newest."""
        path = self.folder / f"snapshot-{model.seq:09d}.nk"
        draft = self.folder / _DRAFT
        model.save(draft)
        failpoint("mid-snapshot")
        os.replace(draft, path)
        _sync(self.folder)
        failpoint("after rename")
        for _, old in self.paths()[_KEPT:]:
            old.unlink(missing_ok=True)
        return path


def _sync(folder: Path) -> None:
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class SnapshotPolicy:
    """When a snapshot is due.

    Parameters
    ----------
    snapshots : Snapshots
    model : OnlineModel
    every_labels : int
    every_seconds : float
        A snapshot is due after so many labels, or when there are new labels and so many seconds have passed.
    """

    def __init__(
        self, snapshots: Snapshots, model: OnlineModel, every_labels: int = 100_000, every_seconds: float = 300.0
    ) -> None:
        self.snapshots, self.model = snapshots, model
        self.every_labels, self.every_seconds = every_labels, every_seconds
        self.saved_seq = next((seq for seq, _ in snapshots.paths()), 0)
        self._saved_at = time.monotonic()

    def is_due(self, *, at_end: bool = False) -> bool:
        """Whether a snapshot is due; at the end it is if anything has been learned since the last one."""
        new = self.model.seq - self.saved_seq
        if new <= 0 or not self.model.can_be_saved:
            return False
        return at_end or new >= self.every_labels or time.monotonic() - self._saved_at >= self.every_seconds

    def postpone(self) -> None:
        """Count the time to the next snapshot from now on."""
        self._saved_at = time.monotonic()

    def save(self) -> Path | None:
        """Write a snapshot now; None if the model has learned nothing at all."""
        if not self.model.can_be_saved:
            return None
        self.postpone()
        path = self.snapshots.save(self.model)
        self.saved_seq = self.model.seq
        return path

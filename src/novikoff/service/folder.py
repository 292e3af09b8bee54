"""Data folders: one folder for each model, with its log, the model it began with, and snapshots.

mail/                   the data folder
  lock                  held by the server
  spam/                 a model
    start.nk            the model it began with; not there if it began with nothing
    log.sqlite          predictions and labels; not there if they are in a database
    snapshot-000041874.nk   the model after that many labels; the two newest are kept
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import TracebackType
from typing import Self

from novikoff.errors import ServiceError

__all__ = ["FolderLock", "model_names", "require_name"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}", re.ASCII)


def require_name(name: str) -> str:
    """Return the name of a model; raise a ServiceError unless it can be part of an address and of a path.

    >>> from novikoff.service.folder import require_name
    >>> require_name("spam-2")
    'spam-2'
    """
    if not _NAME.fullmatch(name):
        raise ServiceError(
            f"{name!r} cannot be the name of a model: it has 1 to 64 letters and digits of ASCII, and _ . - after the "
            "first. Name it by NAME=FILE."
        )
    return name


def model_names(folder: Path) -> list[str]:
    """Return the names of the models in a data folder."""
    if not folder.is_dir():
        return []
    return sorted(each.name for each in folder.iterdir() if each.is_dir() and _NAME.fullmatch(each.name))


class FolderLock:
    """Holds a data folder, so that no other server uses it. The system releases it when the process ends.

    Parameters
    ----------
    folder : Path
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(self._file)
        except OSError as error:
            os.close(self._file)
            raise ServiceError(f"{folder} is in use by another server. Stop it, or name another folder.") from error

    def release(self) -> None:
        """Release the folder."""
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _lock(file: int) -> None:
    if os.name == "nt":
        import msvcrt

        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

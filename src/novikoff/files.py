"""Writing files so that nothing is lost: the old or the new one is there whole, whatever happens."""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

__all__ = ["opened_whole", "write_whole"]


def write_whole(path: Path, content: bytes) -> None:
    """Write to a temporary file beside `path`, sync it, and rename it into place."""
    with opened_whole(path) as file:
        file.write(content)


@contextmanager
def opened_whole(path: Path) -> Iterator[BinaryIO]:
    """The same for content that comes piece by piece: what is written goes into place when the block ends well."""
    if path.exists() and not path.is_file():  # a pipe or a device, such as /dev/null, is not to be replaced by a file
        with path.open("wb") as file:
            yield file
        return
    if not path.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))  # not the temporary file's name
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    if os.name == "nt":  # folders cannot be synced there
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _umask() -> int:
    """The process's umask; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask

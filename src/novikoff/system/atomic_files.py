"""Atomic file writing: at any moment the old file or the new one is in place, and always a whole one.

New content goes to a temporary file in the same folder, ".<name>." and a few letters. It is synced to the disk, takes
over the permissions of the file that it replaces, and is renamed into place. Whatever goes wrong, Ctrl-C included, the
temporary file is removed, the old file stays as it is, and the error names the path that the user gave. Only killing
the process can leave a temporary file behind; it can be deleted.

    symbolic link       the file that it points to is replaced, and the link stays
    hard link           this name gets the new file; the other names keep the old one
    read-only file      is not replaced: an error says so
    device, named pipe  is written to directly, and so are the standard streams (/dev/stdout)
"""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

__all__ = ["naming", "opened_whole", "require_writable", "write_whole"]

_BUFFER = 1 << 18  # bytes
_SHOWN = 40  # characters of the name in that of the temporary file: a name may have 255 bytes, and no more
_STANDARD_STREAMS = (1, 2)
_NO_SUPPORT = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)  # what file systems answer that cannot sync a folder


def write_whole(path: Path, content: bytes) -> None:
    """Replace a file, or make a new one. What has been written is read back and compared before it is renamed."""
    with _replacing(path, content) as file:
        file.write(content)


@contextmanager
def opened_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write to piece by piece. It is renamed into place when the block ends without an error."""
    with _replacing(path, None) as file:
        yield file


def require_writable(path: Path) -> None:
    """Raise the error that writing to this path would end with, as far as it can be known before.

    For commands that compute for hours before they write.
    """
    target, found = _target(path)
    if found is not None and not stat.S_ISREG(found.st_mode):
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    # Root may write to anything, so look at the mode too.
    if found is not None and not (found.st_mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(
            errno.EACCES, "the file is read-only. Make it writable (chmod u+w), or name another file", str(path)
        )
    if not os.access(target.parent, os.W_OK):
        raise _unwritable_folder(path, target, errno.EACCES)


@contextmanager
def naming(path: Path | str) -> Iterator[None]:
    """Let every OSError of a block name this path: a full disk gives no name, and a temporary file a wrong one."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def _replacing(path: Path, expected: bytes | None) -> Iterator[BinaryIO]:
    """A file that takes the place of the one at `path` after the block, if it holds what is expected."""
    with naming(path):
        direct = _opened_directly(path)
    if direct is not None:
        with direct:
            yield direct
        return
    require_writable(path)
    target, replaced = _target(path)
    temporary = target.with_name(f".{target.name[:_SHOWN]}.{os.urandom(8).hex()}")
    try:
        with _opened_temporary(path, temporary, replaced) as file:
            yield file
            with naming(path):
                file.flush()
                if replaced is not None:
                    _copy_permissions(file.fileno(), target, replaced)
                os.fsync(file.fileno())
        with naming(path):
            if expected is not None:
                _require_content(temporary, expected)
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    with naming(path):
        _sync_folder(target.parent)


def _target(path: Path) -> tuple[Path, os.stat_result | None]:
    """The file that a path stands for, symbolic links followed, and its status; None if there is no file yet."""
    try:
        found = os.stat(path)
    except FileNotFoundError:  # or a link to a file that is not there
        found = None
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return Path(os.path.realpath(path)), found


def _opened_directly(path: Path) -> BinaryIO | None:
    """What cannot be replaced, opened for writing: a device, a pipe, a standard stream; None for files and folders."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    for stream in _STANDARD_STREAMS:
        with suppress(OSError):  # it may be closed
            if os.path.samestat(found, os.fstat(stream)):
                return io.BufferedWriter(_NamingFile(os.dup(stream), path))
    if stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode):
        return None
    return io.BufferedWriter(_NamingFile(os.open(path, os.O_WRONLY), path))


class _NamingFile(io.FileIO):
    """A raw file whose errors name the path that the user gave."""

    def __init__(self, handle: int, path: Path) -> None:
        super().__init__(handle, "wb")
        self._path = path

    def write(self, data: Any) -> int:
        with naming(self._path):
            return super().write(data)


def _opened_temporary(path: Path, temporary: Path, replaced: os.stat_result | None) -> BinaryIO:
    """A new file: with the permissions of any new file, or closed to others until it has those of the old one."""
    mode = 0o666 if replaced is None else 0o600
    try:
        handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
    except PermissionError as error:
        raise _unwritable_folder(path, temporary, error.errno or errno.EACCES) from error
    except OSError as error:
        if error.errno == errno.EROFS:
            raise _unwritable_folder(path, temporary, errno.EROFS) from error
        error.filename = str(path)
        raise
    return io.BufferedWriter(_NamingFile(handle, path), _BUFFER)


def _unwritable_folder(path: Path, target: Path, number: int) -> OSError:
    return OSError(number, f"no file can be made in its folder {target.parent} ({os.strerror(number)})", str(path))


def _copy_permissions(handle: int, target: Path, replaced: os.stat_result) -> None:
    """Give a new file the owner, mode and extended attributes, such as access control lists, of the old one."""
    if os.name == "nt":
        return
    mode = stat.S_IMODE(replaced.st_mode)
    new = os.fstat(handle)
    if new.st_gid != replaced.st_gid:
        try:
            os.fchown(handle, -1, replaced.st_gid)
        except OSError:  # it is of a group that this user is not in: what that group may do, ours may not
            mode = mode & ~0o070 | (mode & 0o007) << 3
    if new.st_uid != replaced.st_uid:
        with suppress(OSError):  # only root may give files away
            os.fchown(handle, replaced.st_uid, -1)
    if hasattr(os, "listxattr"):
        with suppress(OSError):  # not every file system has them
            for name in os.listxattr(target):
                with suppress(OSError):  # and some only root may set
                    os.setxattr(handle, name, os.getxattr(target, name))
    os.fchmod(handle, mode)


def _require_content(path: Path, expected: bytes) -> None:
    """Read a file back, piece by piece, and compare."""
    at = 0
    with path.open("rb", buffering=0) as file:
        while piece := file.read(_BUFFER):
            if piece != expected[at : at + len(piece)]:
                break
            at += len(piece)
    if piece or at != len(expected):
        raise OSError(errno.EIO, "what was read back is not what was written. Check the disk, or name another")


def _sync_folder(folder: Path) -> None:
    """Let the new name survive a power failure, where the system can do that."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # files may be made in it, but it cannot be read
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _NO_SUPPORT:
            raise
    finally:
        os.close(handle)

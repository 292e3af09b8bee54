"""Atomic file writing: a path always holds the complete old file or the complete new one.

New content is written to a temporary file in the same folder, named ".<name>." and 16 hexadecimal digits. The file is
synced to the disk, gets the permissions of the file that it replaces, and is renamed over it. After any error, Ctrl-C
included, the temporary file is removed, the old file is unchanged, and the error names the path that the user gave.
Only killing the process can leave a temporary file behind; it can be deleted.

    symbolic link       the file that it points to is replaced, and the link stays
    hard link           this name gets the new file; the other names keep the old one
    read-only file      is not replaced; a PermissionError is raised
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

__all__ = ["name_path_in_errors", "open_atomic", "require_writable", "write_atomic"]

_BUFFER = 1 << 18  # bytes
_NAME_LENGTH = 40  # characters of the name in that of the temporary file, as a file name may have at most 255 bytes
_STANDARD_STREAMS = (1, 2)
_SYNC_UNSUPPORTED = (errno.EINVAL, errno.EBADF, errno.ENOTSUP)  # from file systems that cannot sync a folder


def write_atomic(path: Path, content: bytes) -> None:
    """Replace a file or create it. The content is read back and compared before the new file is renamed."""
    with _open_replacement(path, content) as file:
        file.write(content)


@contextmanager
def open_atomic(path: Path) -> Iterator[BinaryIO]:
    """Open a file to be written in several calls. It is renamed into place if the block ends without an error."""
    with _open_replacement(path, None) as file:
        yield file


def require_writable(path: Path) -> None:
    """Raise the error that writing to this path would raise, as far as it can be known in advance.

    For commands that compute for hours before they write.
    """
    target, status = _resolve(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        return
    if not target.parent.is_dir():
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    if _is_on_read_only_mount(target.parent):
        raise _unwritable_folder(path, target, errno.EROFS)
    # Root may write to any file, so check the mode too.
    if status is not None and not (status.st_mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(errno.EACCES, _describe_read_only_file(status), str(path))
    if not os.access(target.parent, os.W_OK):
        raise _unwritable_folder(path, target, errno.EACCES)


@contextmanager
def name_path_in_errors(path: Path | str) -> Iterator[None]:
    """Set the path of every OSError in a block: a full disk gives none, and a temporary file gives its own."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise


@contextmanager
def _open_replacement(path: Path, expected: bytes | None) -> Iterator[BinaryIO]:
    """Open a file that replaces the one at `path` after the block, if it holds the expected content (None: any)."""
    with name_path_in_errors(path):
        direct = _open_directly(path)
    if direct is not None:
        with direct:
            yield direct
        return
    require_writable(path)
    target, replaced = _resolve(path)
    temporary = target.with_name(f".{target.name[:_NAME_LENGTH]}.{os.urandom(8).hex()}")
    try:
        with _open_temporary(path, temporary, replaced) as file:
            yield file
            with name_path_in_errors(path):
                file.flush()
                if replaced is not None:
                    _copy_permissions(file.fileno(), target, replaced)
                os.fsync(file.fileno())
        with name_path_in_errors(path):
            if expected is not None:
                _require_content(temporary, expected)
            os.replace(temporary, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    with name_path_in_errors(path):
        _sync_folder(target.parent)


def _resolve(path: Path) -> tuple[Path, os.stat_result | None]:
    """Follow symbolic links; return the path of the file and its status, None if there is no file yet."""
    try:
        status = os.stat(path)
    except FileNotFoundError:  # or a link to a file that is not there
        status = None
    if status is not None and stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return Path(os.path.realpath(path)), status


def _is_on_read_only_mount(folder: Path) -> bool:
    """Return whether the file system is mounted read-only; False where the system does not report it."""
    return hasattr(os, "statvfs") and bool(os.statvfs(folder).f_flag & os.ST_RDONLY)


def _describe_read_only_file(status: os.stat_result) -> str:
    """Say what to do about a file that may not be written to: only its owner may change its mode."""
    is_own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
    if is_own and not status.st_mode & stat.S_IWUSR:
        return "the file is read-only. Make it writable (chmod u+w), or name another file"
    return "the file is read-only for this user. Name another file"


def _open_directly(path: Path) -> BinaryIO | None:
    """Open what cannot be replaced: a device, a pipe, a standard stream; return None for files and folders."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        return None
    for stream in _STANDARD_STREAMS:
        with suppress(OSError):  # it may be closed
            if os.path.samestat(status, os.fstat(stream)):
                return _BufferedFile(_PathNamingFile(os.dup(stream), "wb", path))
    if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
        return None
    return _BufferedFile(_PathNamingFile(os.open(path, os.O_WRONLY), "wb", path))


class _PathNamingFile(io.FileIO):
    """A raw file whose errors have the path that the user gave.

    A KeyboardInterrupt may come after the call that opens a file and before the `with` block that closes it. Python
    then closes the file when it deletes the object, with a ResourceWarning; `__del__` closes it without one. It is a
    function in C, because an interrupt in a `__del__` in Python would be ignored.
    """

    __del__ = io.FileIO.close

    def __init__(self, file: int | Path, mode: str, path: Path) -> None:
        super().__init__(file, mode)
        self._path = path

    def write(self, data: Any) -> int:
        with name_path_in_errors(self._path):
            return super().write(data)


class _BufferedFile(io.BufferedWriter):
    """A buffered file that is closed without a ResourceWarning when it is deleted; see `_PathNamingFile`."""

    __del__ = io.BufferedWriter.close


def _open_temporary(path: Path, temporary: Path, replaced: os.stat_result | None) -> BinaryIO:
    """Create a file: with default permissions, or, until it gets those of a replaced file, for its owner only."""
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
    return _BufferedFile(_PathNamingFile(handle, "wb", path), _BUFFER)


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
        except OSError:  # this user is not in that group: our group gets the rights of others instead
            mode = mode & ~0o070 | (mode & 0o007) << 3
    if new.st_uid != replaced.st_uid:
        with suppress(OSError):  # only root may change the owner
            os.fchown(handle, replaced.st_uid, -1)
    if hasattr(os, "listxattr"):
        with suppress(OSError):  # not every file system has them
            for name in os.listxattr(target):
                with suppress(OSError):  # and some only root may set
                    os.setxattr(handle, name, os.getxattr(target, name))
    os.fchmod(handle, mode)


def _require_content(path: Path, expected: bytes) -> None:
    """Read a file back and compare it with the expected content."""
    offset = 0
    with _PathNamingFile(path, "rb", path) as file:
        while piece := file.read(_BUFFER):
            if piece != expected[offset : offset + len(piece)]:
                break
            offset += len(piece)
    if piece or offset != len(expected):
        raise OSError(errno.EIO, "what was read back is not what was written. Check the disk, or name another")


def _sync_folder(folder: Path) -> None:
    """Make the new name survive a power failure, where the system supports it."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except PermissionError:  # files may be created in it, but it cannot be read
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in _SYNC_UNSUPPORTED:
            raise
    finally:
        os.close(handle)

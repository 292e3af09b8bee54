"""Remote files: paths with a scheme, such as s3://bucket/name, opened by the file systems of pyarrow.

    s3://bucket/path       Amazon S3 and what speaks its protocol
    gs://bucket/path       Google Cloud Storage
    hdfs://host:port/path  Hadoop
    file:///path           a local file

Credentials are found where the libraries of these services look for them. pyarrow is loaded only if a path has a
scheme.
"""

from __future__ import annotations

import fnmatch
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from novikoff.errors import DataError

__all__ = ["expand_remote", "is_remote", "open_remote", "open_remote_file"]

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


def is_remote(path: str | os.PathLike[str]) -> bool:
    """Return whether a path has a scheme.

    >>> from novikoff.data.formats.remote import is_remote
    >>> is_remote("s3://bucket/rows.csv"), is_remote("rows.csv")
    (True, False)
    """
    return isinstance(path, str) and _SCHEME.match(path) is not None


def open_remote(uri: str) -> tuple[Any, int | None]:
    """Open a file to be read from front to back; return it, and its size in bytes if it is known."""
    with _explaining(uri):
        system, path = _find(uri)
        size = system.get_file_info(path).size
        return system.open_input_stream(path, compression=None), size


def open_remote_file(uri: str) -> Any:
    """Open a file with random access, as pyarrow's readers take it."""
    with _explaining(uri):
        system, path = _find(uri)
        return system.open_input_file(path)


def expand_remote(pattern: str) -> list[str]:
    """Return the files that match a pattern, in order: * stands for any part of a name.

    >>> import pathlib, tempfile
    >>> from novikoff.data.formats.remote import expand_remote
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("b.csv", "a.csv", "c.txt"):
    ...         _ = pathlib.Path(folder, name).write_text("x")
    ...     [uri.rpartition("/")[2] for uri in expand_remote(f"file://{folder}/*.csv")]
    ['a.csv', 'b.csv']
    """
    from pyarrow import fs

    folder, _, name = pattern.rpartition("/")
    if re.search(r"[*?\[]", folder):
        raise DataError(f"{pattern}: * may stand in the name of remote files, not in that of their folder.")
    if not re.search(r"[*?\[]", name):
        return [pattern]
    with _explaining(folder):
        system, path = fs.FileSystem.from_uri(folder)
        found = system.get_file_info(fs.FileSelector(path))
    names = [info.base_name for info in found if info.type == fs.FileType.File]
    return [f"{folder}/{own}" for own in sorted(fnmatch.filter(names, name))]


def _find(uri: str) -> tuple[Any, str]:
    """Return the file system and the path in it; a DataError if there is no such file."""
    from pyarrow import fs

    system, path = fs.FileSystem.from_uri(uri)
    kind = system.get_file_info(path).type
    if kind == fs.FileType.NotFound:
        raise DataError(f"{uri}: there is no such file.")
    if kind == fs.FileType.Directory:
        raise DataError(f"{uri}: is a folder. Name the files in it.")
    return system, path


@contextmanager
def _explaining(uri: str) -> Iterator[None]:
    """Turn what file systems raise into DataErrors."""
    import pyarrow

    try:
        yield
    except DataError:
        raise
    except (OSError, ValueError, NotImplementedError, pyarrow.ArrowException) as error:
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataError(f"{uri}: cannot be opened: {what}") from error

"""Keeping freed memory in the process for the next allocation."""

from __future__ import annotations

import ctypes
import functools
import sys

# In bytes: more than a block of a stream, or a double for each of a million rows; less than the 32 MB above which the
# GNU C library never keeps memory.
_LARGE = 1 << 24


@functools.cache
def keep_freed_memory() -> None:
    """Make the C library keep freed memory, once per process.

    The GNU library returns a large allocation to the system as soon as it is freed, until one of that size has been
    freed once. Fetching it anew, page by page, takes a third of the time of reading a file, and a tenth of the time of
    five passes over some hundred megabytes.
    """
    bytearray(_LARGE)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # parameters of mallopt
_MOST_MAPPED, _MOST_KEPT = 1 << 25, 1 << 29  # bytes; the first is the largest threshold that glibc takes


@functools.cache
def undo_trimming() -> None:
    """Make the C library keep freed memory although `MALLOC_TRIM_THRESHOLD_` is set, once per process.

    Dask starts its workers with that variable. It lets glibc return what is freed after every block of rows, and also
    turns off the adaptation that `keep_freed_memory` relies on, so that each block is fetched anew, page by page.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library, which has no such parameters
        return
    mallopt(_MMAP_THRESHOLD, _MOST_MAPPED)
    mallopt(_TRIM_THRESHOLD, _MOST_KEPT)

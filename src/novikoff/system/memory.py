"""Keeping freed memory in the process for the next allocation."""

from __future__ import annotations

import functools

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

"""Memory that the C library keeps for who asks next."""

from __future__ import annotations

import functools

_LARGE = (
    1 << 24
)  # bytes: more than a block of a stream, or a number for each of a million rows; less than what is never kept


@functools.cache
def keep_memory() -> None:
    """Have the C library keep what is given back, once for the process. The GNU one hands large pieces to the system at
    once until it has seen one of some size come and go. To fetch them anew, page by page, takes a third of the time of
    reading a file, and a tenth of that of five passes over some hundred megabytes."""
    bytearray(_LARGE)

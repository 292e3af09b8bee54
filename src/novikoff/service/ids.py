"""Ids of predictions: UUIDs of version 7, which sort by the time when they were made."""

from __future__ import annotations

import os
import re
import time

from novikoff.service.refusals import BadRequestError

__all__ = ["IdMaker", "is_id", "now", "require_id"]

_DIGITS = 12  # that are random
_VALID = re.compile(r"[A-Za-z0-9._~:@+=-]{1,128}", re.ASCII)


def now() -> int:
    """Return the time in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def is_id(id: str) -> bool:
    """Whether a string can be the id of a prediction."""
    return _VALID.fullmatch(id) is not None and id not in (".", "..")


def require_id(id: str) -> str:
    """Return an id that a caller has named; raise a BadRequestError unless it can be part of an address.

    >>> from novikoff.service.ids import require_id
    >>> require_id("mail-17")
    'mail-17'
    """
    if not is_id(id):
        raise BadRequestError("An id has 1 to 128 characters: letters and digits of ASCII, and any of . _ ~ : @ + = -")
    return id


class IdMaker:
    """Makes ids, each greater than the one before: 48 bits of time, a counter of 26 bits, and 48 random bits (RFC 9562,
    section 6.2, method 1).

    >>> from novikoff.service.ids import IdMaker
    >>> make = IdMaker()
    >>> first, second = make(), make()
    >>> len(first), first[14], first < second
    (36, '7', True)
    """

    def __init__(self) -> None:
        self._at, self._count = 0, 0
        self._random = ""  # hexadecimal digits; a call to the system for each id would take longer than all the rest

    def __call__(self) -> str:
        at = now()
        if at > self._at:
            self._at, self._count = at, 0
        else:
            self._count += 1
            if self._count >> 26:
                self._at, self._count = self._at + 1, 0
        high, low = self._count >> 14, self._count & 0x3FFF
        if not self._random:
            self._random = os.urandom(12 * 256).hex()
        own, self._random = self._random[:_DIGITS], self._random[_DIGITS:]
        digits = f"{self._at:012x}7{high:03x}{0x8000 | low:04x}{own}"
        return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"

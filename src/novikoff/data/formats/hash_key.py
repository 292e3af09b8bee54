"""The secret key of this process, under which names are hashed for lookup.

It is drawn when the process starts and stored nowhere. No result depends on it, because names with equal hashes are
compared; but without it, nobody can choose names that are slow to look up. Hashes that are pickled carry their key
along, and are computed again where another one is in use.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import numpy as np

__all__ = ["KEY", "Key"]


class Key(NamedTuple):
    """The key of a hash: the value that every hash begins with, and an odd number to multiply by (see
    _compiled/loops/names.py)."""

    seed: np.uint64
    factor: np.uint64

    @classmethod
    def of(cls, data: bytes) -> Key:
        """Make a key of 16 bytes."""
        seed, factor = np.frombuffer(data, "<u8").astype(np.uint64)
        return cls(seed, factor | np.uint64(1))


KEY = Key.of(secrets.token_bytes(16))

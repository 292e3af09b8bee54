"""The secret key of this process, under which names are hashed to be looked up.

It is drawn when the process begins and stored nowhere. No result depends on it, for names whose hashes agree are
compared; but who does not know it cannot choose names that are slow to look up. What is hashed and pickled carries its
key along, and is hashed again where that is another one.
"""

from __future__ import annotations

import secrets
from typing import NamedTuple

import numpy as np

__all__ = ["KEY", "Key"]


class Key(NamedTuple):
    """The key of a hash: what every hash begins with, and an odd number to multiply by (see
    _compiled/loops/names.py)."""

    seed: np.uint64
    factor: np.uint64

    @classmethod
    def of(cls, data: bytes) -> Key:
        """A key made of 16 bytes."""
        seed, factor = np.frombuffer(data, "<u8").astype(np.uint64)
        return cls(seed, factor | np.uint64(1))


KEY = Key.of(secrets.token_bytes(16))

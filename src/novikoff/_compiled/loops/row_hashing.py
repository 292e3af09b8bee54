"""Hashes of rows, by which equal rows are found.

problem   find identical rows among many
given     rows, dense or CSR; whether x and -x count as equal
result    a 64-bit hash for each row, the same for equal rows and hardly ever for others; the sign of its first non-zero
source    the finaliser of MurmurHash3 (Appleby 2011), over the bits of each entry and its column
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import inlined, loop

_u = np.uint64


@inlined
def mix_entry(h, bits, column):
    """Return the hash h with one entry mixed in."""
    h ^= bits + (_u(column) + _u(1)) * _u(0x9E3779B97F4A7C15)
    h = (h ^ (h >> _u(33))) * _u(0xFF51AFD7ED558CCD)
    h = (h ^ (h >> _u(33))) * _u(0xC4CEB9FE1A85EC53)
    return h ^ (h >> _u(33))


@loop
def hash_rows(data, indices, indptr, up_to_sign, hashes, leading_signs):
    """Fill in the hash and the leading sign of every row; zeros do not count, even if they are stored."""
    value = np.empty(1)
    bits = value.view(np.uint64)
    for i in range(hashes.size):
        h, leading = _u(0), 0.0
        start, stop = (0, data.shape[1]) if data.ndim == 2 else (indptr[i], indptr[i + 1])
        for p in range(start, stop):
            v = np.float64(data[i, p] if data.ndim == 2 else data[p])
            if v != 0.0:
                if leading == 0.0:
                    leading = 1.0 if v > 0.0 else -1.0
                value[0] = leading * v if up_to_sign else v
                h = mix_entry(h, bits[0], p if data.ndim == 2 else indices[p])
        hashes[i], leading_signs[i] = h, leading

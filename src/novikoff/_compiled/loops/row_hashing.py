"""Rows that are the same, found by their hashes.

problem   find identical rows among many
given     rows, dense or CSR; whether x and -x count as the same
result    a 64-bit hash for each row, equal for rows that are the same and hardly ever for others; the sign of its
          first entry that is not zero
source    the finaliser of MurmurHash3 (Appleby 2011), over the bits of each entry and its column
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part

_u = np.uint64


@part
def mixed(h, bits, column):
    """Stir an entry into a hash."""
    h ^= bits + (_u(column) + _u(1)) * _u(0x9E3779B97F4A7C15)
    h = (h ^ (h >> _u(33))) * _u(0xFF51AFD7ED558CCD)
    h = (h ^ (h >> _u(33))) * _u(0xC4CEB9FE1A85EC53)
    return h ^ (h >> _u(33))


@kernel
def row_hashes(data, indices, indptr, up_to_sign, hashes, leads):
    """Fill in the hash and the leading sign of every row; zeros count for nothing, stored or not."""
    value = np.empty(1)
    bits = value.view(np.uint64)
    for i in range(hashes.size):
        h, lead = _u(0), 0.0
        start, stop = (0, data.shape[1]) if data.ndim == 2 else (indptr[i], indptr[i + 1])
        for p in range(start, stop):
            v = np.float64(data[i, p] if data.ndim == 2 else data[p])
            if v != 0.0:
                if lead == 0.0:
                    lead = 1.0 if v > 0.0 else -1.0
                value[0] = lead * v if up_to_sign else v
                h = mixed(h, bits[0], p if data.ndim == 2 else indices[p])
        hashes[i], leads[i] = h, lead

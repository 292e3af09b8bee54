"""Running standardisation: each value minus the mean, over the standard deviation, of its column so far.

    problem   bring columns of unknown scale to a common one while they are being read
    given     rows of floats, NaN where one is missing; count, mean and sum of squared deviations of each column
    result    (v - mean) / deviation, 0 for NaN and for a column that has been constant so far; the moments updated
    source    Welford 1962

The moments include a row before it is scaled. So the result depends on the rows before it only, not on the blocks in
which they come.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import loop


@loop
def standardise(values, scaled, counts, means, squares, learn):
    """Fill `scaled` with the rows of `values`, in order, by moments that each row updates first if `learn`.

    Written so that LLVM vectorises it over columns: no column is skipped, and every moment is written back.
    """
    for i in range(values.shape[0]):
        for j in range(counts.size):
            v = values[i, j]
            is_present = v == v
            n, mean, square = counts[j], means[j], squares[j]
            if learn and is_present:
                n += 1.0
                before = v - mean
                mean += before / n
                square += before * (v - mean)
            counts[j], means[j], squares[j] = n, mean, square
            deviation = np.sqrt(square / max(n, 1.0))
            scaled[i, j] = (v - mean) / deviation if is_present and deviation > 0.0 else 0.0

"""Running standardisation of sparse rows, in time proportional to their entries.

    problem   bring features of unknown scale to a common one while sparse rows are being read
    given     CSR rows; the number, mean and sum of squared deviations of the values of each feature other than 0
    result    v itself of a feature that has had no value but 0 and 1, to the last bit;
              (v - mean) / deviation of a dense one, over all t rows so far, v = 0 in those that do not have it;
              v / r of any other, r the root mean square of its values and as many zeros; the moments updated
    source    Welford 1962; moments of values and zeros together: Chan, Golub and LeVeque 1979

A feature is dense if at least half of the rows so far have it. So the entries that rows get for dense features that
they lack are, on average, at most as many as their own; and the scale of a feature hardly changes when it becomes
dense, or ceases to be. The moments include a row before it is scaled. So the result depends on the rows before it only,
not on the blocks in which they come.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.rows import LARGEST_SQUARED_NORM, SMALLEST_SQUARED_NORM, squared_norm_or_unmeasured

COUNT, MEAN, SQUARES, LAST_ROW = range(4)  # columns of `Moments.features`

_u = np.uint64


class Moments(NamedTuple):
    """What is known of each feature.

    features : number, mean and sum of squared deviations of its values other than 0, and the last row, counted from 1,
        that has an entry for it; side by side, so that they are in one cache line
    dense : the indices of the dense features, ascending
    is_dense : 1 for each of these
    """

    features: np.ndarray  # float64, (features, 4)
    dense: np.ndarray  # int32, as long as there are features; n_dense of them are used
    is_dense: np.ndarray  # uint8


class UndoLog(NamedTuple):
    """The moments of features before they were changed by rows after row `mark`; `used[0]` of them. There must be room
    for one more."""

    mark: float
    used: np.ndarray  # int64, one element
    indices: np.ndarray  # int64
    moments: np.ndarray  # float64, (features, 3)


class CsrArrays(NamedTuple):
    """The arrays of CSR rows, and their squared norms; and for each entry 1 if it is that of a dense feature, for which
    the array must begin with zeros, or an array of length 0 where this is not to be recorded."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    squared_norms: np.ndarray
    is_standardised: np.ndarray  # uint8


@inlined
def moments_of(features, j):
    """Return count, mean and sum of squared deviations of a feature."""
    return features[j, COUNT], features[j, MEAN], features[j, SQUARES]


@inlined
def is_number(mean, squares):
    """Return whether a feature with these moments has had values other than 0 and 1."""
    return mean != 1.0 or squares != 0.0


@inlined
def n_averaged(count, mean, squares):
    """Return over how many values, zeros among them, the squares of a feature that is not dense are averaged."""
    return count * (1.0 + is_number(mean, squares))


@inlined
def is_dense_now(count, mean, squares, t):
    """Whether a feature with these moments has to be standardised as a dense one after t rows."""
    return 2.0 * count >= t and is_number(mean, squares)


@inlined
def standardised(v, count, mean, squares, t):
    """Return (v - mean) / deviation, given the moments of `count` values, by those of these and t - count zeros. What
    is no number, or too large to be squared, stays as it is, for the row to be rejected."""
    if not squares <= LARGEST_SQUARED_NORM:
        return v
    if count < t:
        squares += mean * mean * count * ((t - count) / t)
        mean *= count / t
    deviation = np.sqrt(squares / t)
    return (v - mean) / deviation if deviation > 0.0 else 0.0


@inlined
def scaled(v, size, sum_of_squares):
    """Return v over the root mean square of `size` numbers. A value too large to be squared stays as it is, for the row
    to be rejected; so does one that is too small to count."""
    is_usual = SMALLEST_SQUARED_NORM <= sum_of_squares <= LARGEST_SQUARED_NORM
    return v * np.sqrt(size / sum_of_squares) if is_usual else v


@inlined
def touch(features, j, t, log, at):
    """Set the last row of a feature to t. Log its moments at `at`; return the index after it if this is the first time
    since the mark, else `at`, so that the entry is overwritten: a branch would take longer."""
    count, mean, squares = moments_of(features, j)
    log.indices[at] = j
    log.moments[at, COUNT], log.moments[at, MEAN], log.moments[at, SQUARES] = count, mean, squares
    at += features[j, LAST_ROW] <= log.mark
    features[j, LAST_ROW] = t
    return at


@loop
def count_binary_rows(rows, moments, n_rows, log):
    """Update the moments by rows as long as all their values are 0 or 1; return the number of these rows."""
    features, at = moments.features, log.used[0]
    for i in range(rows.indptr.size - 1):
        others = 0
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            others += rows.data[p] != 0.0 and rows.data[p] != 1.0
        if others:
            log.used[0] = at
            return i
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            j = _u(rows.indices[p])
            at = touch(features, j, n_rows + i + 1.0, log, at)
            features[j, COUNT] += rows.data[p]
            features[j, MEAN] = max(features[j, MEAN], rows.data[p])
    log.used[0] = at
    return rows.indptr.size - 1


@loop
def learn_rows(rows, first, moments, n_rows, n_dense, log, out):
    """Standardise the rows from row `first` on, the first of which is row n_rows + 1 of the stream, each by moments
    that it updates first, as long as there is room in `out`, which must be enough for a row.

    Return (the first row left, the number of dense features)."""
    longest = 0
    for i in range(first, rows.indptr.size - 1):
        longest = max(longest, rows.indptr[i + 1] - rows.indptr[i])
    sums_of_squares, hits = np.empty(longest), np.empty(longest + 1, np.int64)
    used = 0
    out.indptr[0] = 0
    for i in range(first, rows.indptr.size - 1):
        lo, size, t = rows.indptr[i], rows.indptr[i + 1] - rows.indptr[i], n_rows + (i - first) + 1.0
        if used + 2 * size + n_dense > out.data.size:
            return i, n_dense
        n_hits = learn_row(rows, lo, size, moments.features, t, log, out, used, sums_of_squares, hits)
        for k in range(size):  # a loop of its own, which LLVM vectorises
            out.data[used + k] = scaled(rows.data[lo + k], out.data[used + k], sums_of_squares[k])
        for h in range(n_hits):
            k = hits[h]
            j = _u(rows.indices[lo + k])
            n_dense = insert(moments, n_dense, j)
            count, mean, squares = moments_of(moments.features, j)
            out.data[used + k] = standardised(rows.data[lo + k], count, mean, squares, t)
            record(out, used + k)
        end = used + size
        if n_hits < n_dense:
            n_dense, end = add_absent(moments, n_dense, t, out, end)
        out.indptr[i - first + 1] = end
        out.squared_norms[i - first] = squared_norm_or_unmeasured(out.data, used, end)
        used = end
    return rows.indptr.size - 1, n_dense


@inlined
def learn_row(rows, lo, size, features, t, log, out, used, sums_of_squares, hits):
    """Update the moments by row t, whose entries are lo..lo+size-1; prepare its entries in `out` to be scaled. Fill
    `hits` with the entries of dense features; return how many there are."""
    n_hits, at = 0, log.used[0]
    for k in range(size):
        j, v = _u(rows.indices[lo + k]), rows.data[lo + k]
        at = touch(features, j, t, log, at)
        count, mean, squares = moments_of(features, j)
        if v != 0.0:
            count += 1.0
            before = v - mean
            mean += before / count
            squares += before * (v - mean)
            features[j, COUNT], features[j, MEAN], features[j, SQUARES] = count, mean, squares
        out.indices[used + k] = j
        out.data[used + k] = n_averaged(count, mean, squares)
        sums_of_squares[k] = squares + count * mean * mean
        hits[n_hits] = k
        n_hits += is_dense_now(count, mean, squares, t)
    log.used[0] = at
    return n_hits


@inlined
def record(out, at):
    """Record that an entry is that of a dense feature, if this is to be recorded."""
    if out.is_standardised.size:
        out.is_standardised[at] = 1


@inlined
def insert(moments, n_dense, j):
    """Insert a feature into the dense ones, unless it is one already; return how many there are."""
    if moments.is_dense[j]:
        return n_dense
    moments.is_dense[j] = 1
    at = n_dense
    while at > 0 and moments.dense[at - 1] > np.int64(j):
        moments.dense[at] = moments.dense[at - 1]
        at -= 1
    moments.dense[at] = j
    return n_dense + 1


@inlined
def add_absent(moments, n_dense, t, out, end):
    """Remove the features that are dense no longer, and add entries for those that row t lacks; return the number of
    dense features, and the end of the row."""
    features, kept = moments.features, 0
    for a in range(n_dense):
        j = _u(moments.dense[a])
        count, mean, squares = moments_of(features, j)
        if not is_dense_now(count, mean, squares, t):
            moments.is_dense[j] = 0
            continue
        moments.dense[kept] = j
        kept += 1
        if features[j, LAST_ROW] != t:
            out.indices[end] = j
            out.data[end] = standardised(0.0, count, mean, squares, t)
            record(out, end)
            end += 1
    return kept, end


@loop
def encode_rows(rows, moments, n_rows, n_dense, row_of, out):
    """Standardise rows by the moments as they are. `row_of` has a 0 for every feature, and is changed; `out` needs room
    for n_dense more entries in every row."""
    features, used = moments.features, 0
    out.indptr[0] = 0
    for i in range(rows.indptr.size - 1):
        n_hits, begin = 0, used
        for p in range(rows.indptr[i], rows.indptr[i + 1]):
            j, v = _u(rows.indices[p]), rows.data[p]
            count, mean, squares = moments_of(features, j)
            out.indices[used] = j
            if moments.is_dense[j]:
                n_hits += 1
                row_of[j] = i + 1
                out.data[used] = standardised(v, count, mean, squares, n_rows)
                record(out, used)
            else:
                out.data[used] = scaled(v, n_averaged(count, mean, squares), squares + count * mean * mean)
            used += 1
        if n_hits < n_dense:
            for a in range(n_dense):
                j = _u(moments.dense[a])
                if row_of[j] != i + 1:
                    count, mean, squares = moments_of(features, j)
                    out.indices[used] = j
                    out.data[used] = standardised(0.0, count, mean, squares, n_rows)
                    record(out, used)
                    used += 1
        out.indptr[i + 1] = used
        out.squared_norms[i] = squared_norm_or_unmeasured(out.data, begin, used)
    return used

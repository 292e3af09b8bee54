"""Running standardisation of sparse rows, in time proportional to their entries.

    problem   bring features of unknown scale to a common one while sparse rows are being read
    given     CSR rows; the number, mean and sum of squared deviations of the values of each feature other than 0
    result    (v - mean) / deviation of a dense feature, over all t rows so far, v = 0 in those that do not have it;
              1 + ln v of a count above 1, and v itself of 0 and 1, to the last bit; v / r of any other, r the root mean
              square of its values and as many zeros; the moments updated
    source    Welford 1962; moments of values and zeros together: Chan, Golub and LeVeque 1979

A feature is dense if at least half of the rows so far have it. So the entries that rows get for dense features that
they lack are, on average, at most as many as their own; and the scale of a feature hardly changes when it becomes
dense, or ceases to be. Features whose values are all 0 or 1 are not dense, however many rows have them; and counts are
only after some rows, or most words of the first texts would begin as dense features.

A feature that is not dense counts as long as all its values are whole numbers from 0 on. Counts have a unit in common,
so dividing each by a size of its own would make rare words of frequent ones; and they come in bursts, so that the tenth
occurrence says less than the first. If counts are not to become logarithms, only 0 and 1 are left as they are.

The moments include a row before it is scaled. So the result depends on the rows before it only,
not on the blocks in which they come.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.rows import LARGEST_SQUARED_NORM, SMALLEST_SQUARED_NORM, squared_norm_or_unmeasured

COUNT, MEAN, SQUARES, MEASURED, LAST_ROW = range(5)  # columns of `Moments.features`

_LARGEST_COUNT = 2.0**53
COUNTS_LEAD = 8.0  # twice the rows with a count must be this many more than all rows for it to be dense

_u = np.uint64


class Moments(NamedTuple):
    """What is known of each feature.

    features : number, mean and sum of squared deviations of its values other than 0, 1 if one of them was no count, and
        the last row, counted from 1, that has an entry for it; side by side, so that they are in one cache line
    dense : the indices of the dense features, ascending
    is_dense : 1 for each of these
    """

    features: np.ndarray  # float64, (features, 5)
    dense: np.ndarray  # int32, as long as there are features; n_dense of them are used
    is_dense: np.ndarray  # uint8


class UndoLog(NamedTuple):
    """The moments of features before they were changed by rows after row `mark`; `used[0]` of them. There must be room
    for one more."""

    mark: float
    used: np.ndarray  # int64, one element
    indices: np.ndarray  # int64
    moments: np.ndarray  # float64, (features, 4)


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
def is_measure(v, logs):
    """Whether a value is no count: no whole number from 0 on, or without logarithms anything but 0 and 1."""
    if logs:
        return not (0.0 <= v <= _LARGEST_COUNT and math.floor(v) == v)
    return v != 0.0 and v != 1.0


@inlined
def compressed(v):
    """Return v up to 1, and 1 + ln v beyond; of a negative number, -compressed(-v). What is no number, or too large to
    be squared, stays as it is, for the row to be rejected."""
    size = abs(v)
    if not 1.0 < size * size <= LARGEST_SQUARED_NORM:
        return v
    return math.copysign(1.0 + math.log(size), v)


@inlined
def is_dense_now(count, mean, squares, measured, t):
    """Return whether a feature with these moments has to be standardised as a dense one after t rows."""
    return 2.0 * count >= t + COUNTS_LEAD * (1.0 - measured) and is_number(mean, squares)


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
    log.moments[at, MEASURED] = features[j, MEASURED]
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
def learn_rows(rows, first, moments, n_rows, n_dense, logs, log, out):
    """Standardise the rows from row `first` on, the first of which is row n_rows + 1 of the stream, each by moments
    that it updates first, as long as there is room in `out`, which must be enough for a row. `logs` says whether counts
    become logarithms.

    Return (the first row left, the number of dense features)."""
    longest = 0
    for i in range(first, rows.indptr.size - 1):
        longest = max(longest, rows.indptr[i + 1] - rows.indptr[i])
    sums_of_squares, hits, counts = np.empty(longest), np.empty(longest + 1, np.int64), np.empty(longest + 1, np.int64)
    used = 0
    out.indptr[0] = 0
    for i in range(first, rows.indptr.size - 1):
        lo, size, t = rows.indptr[i], rows.indptr[i + 1] - rows.indptr[i], n_rows + (i - first) + 1.0
        if used + 2 * size + n_dense > out.data.size:
            return i, n_dense
        lists = sums_of_squares, hits, counts
        n_hits, n_counts = learn_row(rows, lo, size, moments.features, t, logs, log, out, used, lists)
        for k in range(size):  # a loop of its own, which LLVM vectorises
            out.data[used + k] = scaled(rows.data[lo + k], out.data[used + k], sums_of_squares[k])
        for c in range(n_counts):
            out.data[used + counts[c]] = compressed(out.data[used + counts[c]])
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
def learn_row(rows, lo, size, features, t, logs, log, out, used, lists):
    """Update the moments by row t, whose entries are lo..lo+size-1; prepare its entries in `out` to be scaled. `lists`
    are their sums of squares, the entries of dense features and those of counts above 1, here filled in; return how
    many of the last two there are."""
    sums_of_squares, hits, counts = lists
    n_hits, n_counts, at = 0, 0, log.used[0]
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
            if is_measure(v, logs):
                features[j, MEASURED] = 1.0
        out.indices[used + k] = j
        is_measured = features[j, MEASURED] != 0.0
        out.data[used + k] = 2.0 * count if is_measured else 1.0
        sums_of_squares[k] = squares + count * mean * mean if is_measured else 1.0
        counts[n_counts] = k
        n_counts += v > 1.0 and not is_measured
        hits[n_hits] = k
        n_hits += is_dense_now(count, mean, squares, features[j, MEASURED], t)
    log.used[0] = at
    return n_hits, n_counts


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
        if not is_dense_now(count, mean, squares, features[j, MEASURED], t):
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
def encode_rows(rows, moments, n_rows, n_dense, logs, row_of, out):
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
            elif features[j, MEASURED] != 0.0:
                out.data[used] = scaled(v, 2.0 * count, squares + count * mean * mean)
            else:
                out.data[used] = compressed(v) if logs else v
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

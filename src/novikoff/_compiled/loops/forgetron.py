"""The perceptron in dual form on a budget: it keeps the last B rows it erred on, and forgets the oldest in good order.

    problem   as in dual.py, with no more than B terms in f = sum_i alpha_i psi_i, however long the stream is
    given     vectors psi of length 1: psi_i = x_i / |x_i| in feature space, added to its class and taken from its
              rival, over sqrt(2). A pool of rows in the order of their age, the kept ones and then those of a block;
              `products` (row of the block, row of the pool) and `old` (some of the oldest, kept rows) are their
              kernels K(x, z) / (|x| |z|)
    result    alpha, and the queue of the rows in use; mistakes, |f|^2, what shrinking and forgetting may have cost
    source    Dekel, Shalev-Shwartz & Singer, "The Forgetron: a kernel-based perceptron on a budget", SIAM J. Comput. 37
              (2008): the self-tuned Forgetron; Collins 2002 for more than two classes

On a mistake, the M-th, on x_t:

    f'  = f + psi_t                                    the perceptron's own step
    if f' has more than B terms:                       r the oldest of them, lambda = alpha_r, mu = <f', psi_r>
        phi = the largest in (0, 1] with Q + Psi(phi) <= 15/32 M,
              Psi(phi) = (lambda phi)^2 + 2 lambda phi (1 - phi mu)
        f'' = phi f',  Q <- Q + Psi(phi)               all shrink, so that the oldest weighs little,
        f   = f'' - phi lambda psi_r                   and may be forgotten

Scores are added up term by term in the order of age for every row anew, whatever the blocks.
"""

from __future__ import annotations

import numpy as np

from novikoff._compiled import kernel, part
from novikoff._compiled.loops.additive import (
    EXAMPLES,
    MISTAKES,
    PROGRESS,
    SEEN_MARGIN,
    SQUARED_NORM,
    UPDATES,
    strongest_rival,
)
from novikoff._compiled.loops.dual import MISTAKES_SO_FAR, ROW, is_beaten

# Places in `measures`, of what this learner has no use for: Q, and the sum of (1 - phi) / (1 + phi).
DEVIATION, SHRINKAGE = PROGRESS, SEEN_MARGIN

# The oldest row in use, the place after the youngest, and how many updates are in the log.
HEAD, TAIL, LOGGED = range(3)


@kernel
def walk(
    products,
    old,
    first,
    t,
    budget,
    codes,
    tie,
    scores,
    queue,
    ends,
    alpha,
    winners,
    rivals,
    counts,
    measures,
    log,
    norms,
):
    """Walk through a block from row t on; return the row it came to. Short of the end that is a row whose mistake
    needs kernels of an older row than `old` has, which begins with row `first` of the pool.

    From ends[HEAD] to ends[TAIL] the queue holds the rows of the pool in use; `scores` is room for one per class. A row
    of length 0 can be erred on, but not learned from. Updates are logged, and ends[LOGGED] counts them: row of the
    block, mistakes so far; |f|^2 after it.
    """
    n = products.shape[0]
    m = products.shape[1] - n
    kernels = np.empty(m + n)
    while t < n:
        y = codes[t]
        class_scores(products[t], queue, ends, alpha, winners, rivals, scores)
        rival = strongest_rival(scores, y, tie)
        margin = 0.5 * (scores[y] - scores[rival])
        wrong = is_beaten(margin, y, rival, tie)
        learns = wrong and products[t, m + t] > 0.0
        r = queue[ends[HEAD]]
        is_full = learns and ends[TAIL] - ends[HEAD] == budget
        if is_full and r < m and r >= first + old.shape[0]:
            return t
        counts[EXAMPLES] += 1
        counts[MISTAKES] += wrong
        if learns:
            queue[ends[TAIL]] = m + t
            ends[TAIL] += 1
            alpha[m + t], winners[m + t], rivals[m + t] = 1.0, y, rival
            counts[UPDATES] += 1
            measures[SQUARED_NORM] += 2.0 * margin + 1.0
            if is_full:
                kernels_of(r, products, old, first, queue, ends, kernels)
                class_scores(kernels, queue, ends, alpha, winners, rivals, scores)
                mu = 0.5 * (scores[winners[r]] - scores[rivals[r]])
                forget(r, mu, queue, ends, alpha, counts, measures)
            log[ends[LOGGED], ROW], log[ends[LOGGED], MISTAKES_SO_FAR] = t, counts[MISTAKES]
            norms[ends[LOGGED]] = measures[SQUARED_NORM]
            ends[LOGGED] += 1
        t += 1
    return t


@part
def class_scores(kernels, queue, ends, alpha, winners, rivals, scores):
    """scores[v] = sum over the rows of class v of alpha K, less that over the rows it was the rival of."""
    scores[:] = 0.0
    for at in range(ends[HEAD], ends[TAIL]):
        i = queue[at]
        scores[winners[i]] += alpha[i] * kernels[i]
        scores[rivals[i]] -= alpha[i] * kernels[i]


@part
def kernels_of(r, products, old, first, queue, ends, kernels):
    """The kernels of row r of the pool with all rows in use."""
    m = products.shape[1] - products.shape[0]
    for at in range(ends[HEAD], ends[TAIL]):
        i = queue[at]
        if r >= m:
            kernels[i] = products[r - m, i]
        elif i >= m:
            kernels[i] = products[i - m, r]
        else:
            kernels[i] = old[r - first, i]


@part
def forget(r, mu, queue, ends, alpha, counts, measures):
    """f <- phi f - phi alpha_r psi_r, with the largest phi that the account allows."""
    room = 15.0 / 32.0 * counts[MISTAKES] - measures[DEVIATION]
    phi = largest_factor(alpha[r], mu, room)
    for at in range(ends[HEAD], ends[TAIL]):
        alpha[queue[at]] *= phi
    weight = alpha[r]  # phi * lambda
    alpha[r] = 0.0
    ends[HEAD] += 1
    measures[DEVIATION] += weight * weight + 2.0 * weight * (1.0 - phi * mu)
    measures[SHRINKAGE] += (1.0 - phi) / (1.0 + phi)
    measures[SQUARED_NORM] = phi * phi * measures[SQUARED_NORM] - 2.0 * weight * phi * mu + weight * weight


@part
def largest_factor(lam, mu, room):
    """The largest phi in (0, 1] with (lam^2 - 2 lam mu) phi^2 + 2 lam phi <= room; room > 0, so there is one."""
    a, b = lam * lam - 2.0 * lam * mu, 2.0 * lam
    if a + b <= room:
        return 1.0
    # The parabola is below the room at 0 and above it at 1: it crosses once, at a root without cancellation.
    return 2.0 * room / (b + np.sqrt(b * b + 4.0 * a * room))

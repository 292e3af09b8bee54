"""The kernel perceptron on a budget (Forgetron): at most B rows are kept, the oldest is removed first.

    problem   as in dual.py, with no more than B terms in f = sum_i alpha_i psi_i, however long the stream is
    given     vectors psi of length 1: psi_i = x_i / |x_i| in feature space, added to its class and subtracted from its
              rival, over sqrt(2). A pool of rows in the order of their age, the kept ones and then those of a block;
              their kernel values K(x, z) / (|x| |z|)
    result    alpha, and the queue of the rows in use; mistakes, |f|^2, a bound on the cost of shrinking and removing
    source    Dekel, Shalev-Shwartz & Singer, "The Forgetron: a kernel-based perceptron on a budget", SIAM J. Comput. 37
              (2008): the self-tuned Forgetron; Collins 2002 for more than two classes

On a mistake, the M-th, on x_t:

    f'  = f + psi_t                                    the perceptron's own step
    if f' has more than B terms:                       r the oldest of them, lambda = alpha_r, mu = <f', psi_r>
        phi = the largest in (0, 1] with Q + Psi(phi) <= 15/32 M,
              Psi(phi) = (lambda phi)^2 + 2 lambda phi (1 - phi mu)
        f'' = phi f',  Q <- Q + Psi(phi)               all weights shrink, so that the oldest is small
        f   = f'' - phi lambda psi_r                   and can be removed

The scores of each row are summed afresh, term by term in the order of age, so that they do not depend on the blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from novikoff._compiled import inlined, loop
from novikoff._compiled.loops.additive import (
    EXAMPLES,
    MISTAKES,
    PROGRESS,
    SEEN_MARGIN,
    SQUARED_NORM,
    UPDATES,
    find_strongest_rival,
)
from novikoff._compiled.loops.dual import MISTAKES_SO_FAR, ROW, is_beaten

# Q, and the sum of (1 - phi) / (1 + phi): at indices of `measures` that this learner does not need otherwise.
DEVIATION, SHRINKAGE = PROGRESS, SEEN_MARGIN

# Indices of `BudgetTerms.ends`.
HEAD, TAIL, LOGGED = range(3)


class BudgetKernels(NamedTuple):
    """Kernel values of rows scaled to length 1: `block` (row of the block, row of the pool) and `oldest` (some of the
    oldest kept rows, kept row), which begins with row `first` of the pool."""

    block: np.ndarray
    oldest: np.ndarray
    first: int


class BudgetTerms(NamedTuple):
    """The terms of f. The queue has the pool's rows in use, from ends[HEAD], the oldest, to before ends[TAIL];
    ends[LOGGED] is the number of updates in the log. The others have one entry for each row of the pool."""

    queue: np.ndarray
    ends: np.ndarray
    alpha: np.ndarray
    winners: np.ndarray
    rivals: np.ndarray


@loop
def learn_block(kernels, terms, t, budget, codes, tie, scores, counts, measures, log, squared_norms):
    """Learn from the rows of a block from row t on; return the row reached.

    Before the end of the block, that is a row whose mistake needs kernel values of an older row than `kernels.oldest`
    has. `scores` is a buffer, one per class. A row of length 0 can be a mistake, but there is no update for it. Each
    update is logged: its row and the mistakes so far in `log`, |f|^2 after it in `squared_norms`.
    """
    block, oldest, first = kernels
    queue, ends, alpha, winners, rivals = terms
    n = block.shape[0]
    m = block.shape[1] - n
    values = np.empty(m + n)
    while t < n:
        y = codes[t]
        sum_class_scores(block[t], terms, scores)
        rival = find_strongest_rival(scores, y, tie)
        margin = 0.5 * (scores[y] - scores[rival])
        is_mistake = is_beaten(margin, y, rival, tie)
        learns = is_mistake and block[t, m + t] > 0.0
        r = queue[ends[HEAD]]
        is_full = learns and ends[TAIL] - ends[HEAD] == budget
        if is_full and r < m and r >= first + oldest.shape[0]:
            return t
        counts[EXAMPLES] += 1
        counts[MISTAKES] += is_mistake
        if learns:
            queue[ends[TAIL]] = m + t
            ends[TAIL] += 1
            alpha[m + t], winners[m + t], rivals[m + t] = 1.0, y, rival
            counts[UPDATES] += 1
            measures[SQUARED_NORM] += 2.0 * margin + 1.0
            if is_full:
                gather_kernels(r, kernels, terms, values)
                sum_class_scores(values, terms, scores)
                mu = 0.5 * (scores[winners[r]] - scores[rivals[r]])
                remove_oldest(r, mu, terms, counts, measures)
            log[ends[LOGGED], ROW], log[ends[LOGGED], MISTAKES_SO_FAR] = t, counts[MISTAKES]
            squared_norms[ends[LOGGED]] = measures[SQUARED_NORM]
            ends[LOGGED] += 1
        t += 1
    return t


@inlined
def sum_class_scores(values, terms, scores):
    """scores[v] = sum of alpha K over the rows added to class v, minus that over the rows subtracted from it."""
    queue, ends, alpha, winners, rivals = terms
    scores[:] = 0.0
    for at in range(ends[HEAD], ends[TAIL]):
        i = queue[at]
        scores[winners[i]] += alpha[i] * values[i]
        scores[rivals[i]] -= alpha[i] * values[i]


@inlined
def gather_kernels(r, kernels, terms, values):
    """values[i] = kernel value of row r of the pool with row i, for all rows i in use."""
    block, oldest, first = kernels
    m = block.shape[1] - block.shape[0]
    for at in range(terms.ends[HEAD], terms.ends[TAIL]):
        i = terms.queue[at]
        if r >= m:
            values[i] = block[r - m, i]
        elif i >= m:
            values[i] = block[i - m, r]
        else:
            values[i] = oldest[r - first, i]


@inlined
def remove_oldest(r, mu, terms, counts, measures):
    """f <- phi f - phi alpha_r psi_r, with the largest phi that keeps Q <= 15/32 M."""
    queue, ends, alpha, _, _ = terms
    allowance = 15.0 / 32.0 * counts[MISTAKES] - measures[DEVIATION]
    phi = find_largest_factor(alpha[r], mu, allowance)
    for at in range(ends[HEAD], ends[TAIL]):
        alpha[queue[at]] *= phi
    weight = alpha[r]  # phi * lambda
    alpha[r] = 0.0
    ends[HEAD] += 1
    measures[DEVIATION] += weight * weight + 2.0 * weight * (1.0 - phi * mu)
    measures[SHRINKAGE] += (1.0 - phi) / (1.0 + phi)
    measures[SQUARED_NORM] = phi * phi * measures[SQUARED_NORM] - 2.0 * weight * phi * mu + weight * weight


@inlined
def find_largest_factor(lam, mu, allowance):
    """Return the largest phi in (0, 1] with (lam^2 - 2 lam mu) phi^2 + 2 lam phi <= allowance, which is positive."""
    a, b = lam * lam - 2.0 * lam * mu, 2.0 * lam
    if a + b <= allowance:
        return 1.0
    # The parabola is below the allowance at 0 and above it at 1: it crosses once, at a root without cancellation.
    return 2.0 * allowance / (b + np.sqrt(b * b + 4.0 * a * allowance))

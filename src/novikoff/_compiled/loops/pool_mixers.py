"""The two mixers of the rule "auto": linear learners on the scores of the experts.

    problem   weigh six scores of a row so that the weighted score has the right sign
    given     s_i, the scores of the experts; before each row a weight vector a and a matrix P for each mixer
    result    the scores of both mixers; a and P after the row, in place
    source    online logistic regression by Newton steps with a random walk: West & Harrison 1997, ch. 14;
              AROW with the full matrix: Crammer, Kulesza & Dredze 2009

u_i = s_i / rms_i, within -10 and 10, where rms_i is the root of the mean of s_i^2 over the rows so far and this one. A
mixer's score is <a, u>. With d = y u, after the row

    log     p = 1 / (1 + e^<a, d>);  h = p (1 - p);  v = <d, P d>;  a += p P d / (1 + h v)
            P -= h (P d) (P d)^T / (1 + h v);  P_ii += 0.0001 where P_ii < 0.3
    AROW    m = <a, d>; if m < 1: beta = 1 / (v + 1);  a += (1 - m) beta P d;  P -= beta (P d) (P d)^T

At first a_i = 1/6, and P is 0.3 times the identity for log, 0.1 times for AROW.

Of many classes each has a score s_ik and u_ik = (s_ik - mean over the classes) / rms_i, within -5 and 5, where rms_i^2
is the mean of (s_ik - s_il)^2 over pairs of classes and rows; d = u_y - u_z, where z is the strongest rival of y by the
mixer's own scores. Two classes with the scores -s/2 and s/2 are the case above.
"""

from __future__ import annotations

import math

from novikoff._compiled import inlined_exactly

__all__ = ["AROW_MIXER", "AROW_PRIOR", "LOG_MIXER", "LOG_PRIOR", "N_EXPERTS", "N_MIXERS"]

N_EXPERTS, N_MIXERS = 6, 2
LOG_MIXER, AROW_MIXER = range(2)

LOG_PRIOR, AROW_PRIOR = 0.3, 0.1  # P_ii at first
WALK = 1e-4  # the variance of the random walk: it lets the weights follow drift
AROW_R = 1.0
LARGEST_SCORE = 10.0
LARGEST_EXPONENT = 700.0


@inlined_exactly
def mean_squared_difference(scores, expert):
    """Return s_i^2 for two classes, and the mean of (s_ik - s_il)^2 over all pairs for more."""
    n = scores.shape[1]
    if n == 1:
        return scores[expert, 0] * scores[expert, 0]
    mean = mean_score(scores, expert)
    total = 0.0
    for k in range(n):
        total += (scores[expert, k] - mean) * (scores[expert, k] - mean)
    return 2.0 * total / (n - 1)


@inlined_exactly
def mean_score(scores, expert):
    """Return the mean of an expert's scores over the classes, or 0 where two classes share a score."""
    n = scores.shape[1]
    total = 0.0
    if n > 1:
        for k in range(n):
            total += scores[expert, k]
    return total / n


@inlined_exactly
def normalise_scores(scores, squares, n_before, u):
    """u[i, k] = the score of expert i, divided by rms_i; `squares` are the sums of squares over the rows before."""
    n = scores.shape[1]
    limit = LARGEST_SCORE if n == 1 else LARGEST_SCORE / 2.0
    for i in range(N_EXPERTS):
        rms = math.sqrt((squares[i] + mean_squared_difference(scores, i)) / (n_before + 1.0))
        mean = mean_score(scores, i)
        for k in range(n):
            u[i, k] = max(-limit, min(limit, (scores[i, k] - mean) / rms)) if rms > 0.0 else 0.0


@inlined_exactly
def score_by_mixers(mixers, u, scores):
    """Add the scores <a, u> of both mixers to those of the experts."""
    for mixer in range(N_MIXERS):
        for k in range(u.shape[1]):
            total = 0.0
            for i in range(N_EXPERTS):
                total += mixers[mixer, 0, i] * u[i, k]
            scores[N_EXPERTS + mixer, k] = total


@inlined_exactly
def update_mixer(mixers, mixer, d, moved):
    """Update a mixer by the differences d = y u. Row 0 of mixers[mixer] is a, the others are P; `moved` is for P d."""
    m, v = 0.0, 0.0
    for i in range(N_EXPERTS):
        total = 0.0
        for j in range(N_EXPERTS):
            total += mixers[mixer, 1 + i, j] * d[j]
        moved[i] = total
    for i in range(N_EXPERTS):
        m += mixers[mixer, 0, i] * d[i]
        v += d[i] * moved[i]
    step, shrink = log_step(m, v) if mixer == LOG_MIXER else arow_step(m, v)
    if shrink > 0.0:
        for i in range(N_EXPERTS):
            mixers[mixer, 0, i] += step * moved[i]
            for j in range(N_EXPERTS):
                mixers[mixer, 1 + i, j] -= shrink * (moved[i] * moved[j])
    if mixer == LOG_MIXER:
        for i in range(N_EXPERTS):
            if mixers[mixer, 1 + i, i] < LOG_PRIOR:
                mixers[mixer, 1 + i, i] += WALK


@inlined_exactly
def logistic_slope(m):
    """Return 1 / (1 + e^m), the size of the slope of the logistic loss at margin m."""
    return 1.0 / (1.0 + math.exp(min(m, LARGEST_EXPONENT)))


@inlined_exactly
def log_step(m, v):
    """Return the factors of P d in a and of (P d) (P d)^T in P, for the logistic loss."""
    p = logistic_slope(m)
    h = p * (1.0 - p)
    return p / (1.0 + h * v), h / (1.0 + h * v)


@inlined_exactly
def arow_step(m, v):
    """Return the factors of P d in a and of (P d) (P d)^T in P, for AROW."""
    if m >= 1.0:
        return 0.0, 0.0
    beta = 1.0 / (v + AROW_R)
    return (1.0 - m) * beta, beta

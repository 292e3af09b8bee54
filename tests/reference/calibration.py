"""Probabilities of scores, as the papers print them."""

import math


def platt(scores, labels):
    """Lin, Lin & Weng 2007, algorithm 1: A and B of P(y = 1 | f) = 1 / (1 + exp(A f + B)).

    As printed, but for the tolerance, which is 1e-5 there: Newton's method converges quadratically, so that a few
    further steps give all digits.
    """
    prior1 = sum(1 for y in labels if y > 0)
    prior0 = len(labels) - prior1
    minstep, sigma, eps = 1e-10, 1e-12, 1e-9
    hi_target, lo_target = (prior1 + 1.0) / (prior1 + 2.0), 1 / (prior0 + 2.0)
    t = [hi_target if y > 0 else lo_target for y in labels]
    A, B = 0.0, math.log((prior0 + 1.0) / (prior1 + 1.0))

    def objective(A, B):
        total = 0.0
        for f, ti in zip(scores, t, strict=True):
            z = f * A + B
            total += ti * z + math.log1p(math.exp(-z)) if z >= 0 else (ti - 1) * z + math.log1p(math.exp(z))
        return total

    value = objective(A, B)
    for _ in range(100):
        h11 = h22 = sigma
        h21 = g1 = g2 = 0.0
        for f, ti in zip(scores, t, strict=True):
            z = f * A + B
            if z >= 0:
                p, q = math.exp(-z) / (1.0 + math.exp(-z)), 1.0 / (1.0 + math.exp(-z))
            else:
                p, q = 1.0 / (1.0 + math.exp(z)), math.exp(z) / (1.0 + math.exp(z))
            d2 = p * q
            h11 += f * f * d2
            h22 += d2
            h21 += f * d2
            d1 = ti - p
            g1 += f * d1
            g2 += d1
        if abs(g1) < eps and abs(g2) < eps:
            break
        det = h11 * h22 - h21 * h21
        dA, dB = -(h22 * g1 - h21 * g2) / det, -(-h21 * g1 + h11 * g2) / det
        gd = g1 * dA + g2 * dB
        stepsize = 1.0
        while stepsize >= minstep:
            new_value = objective(A + stepsize * dA, B + stepsize * dB)
            if new_value < value + 0.0001 * stepsize * gd:
                A, B, value = A + stepsize * dA, B + stepsize * dB, new_value
                break
            stepsize /= 2.0
        else:
            break
    return A, B


def softmax_log_loss(slope, scores, targets):
    """The log loss of softmax(slope * s) against soft targets."""
    total = 0.0
    for row, wanted in zip(scores, targets, strict=True):
        highest = max(slope * s for s in row)
        log_sum = highest + math.log(sum(math.exp(slope * s - highest) for s in row))
        total += sum(t * (log_sum - slope * s) for s, t in zip(row, wanted, strict=True))
    return total

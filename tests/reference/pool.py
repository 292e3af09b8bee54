"""The rule "auto", one example at a time: six learners, two mixers on their scores, and a weighted majority of all.

Every learner is a class of its own with two methods: `scores` of a row as if it came next, and `learn`. Weights are a
list of vectors: one for two classes, which are the signs -1 and +1, and one for each of more classes 0..K-1. Rows are
folded: with an intercept the first coordinate is always 1. Sums run over the coordinates in order, without those that
are 0, so that the compiled loops can be compared with these to the last bit.
"""

import math
from dataclasses import dataclass, field

ETA, EPSILON = 0.3, 0.01


def entries(x):
    return [(j, value) for j, value in enumerate(x) if value != 0.0]


def dot(w, x):
    total = 0.0
    for j, value in entries(x):
        total += value * w[j]
    return total


def clip(value, low, high):
    return max(low, min(high, value))


def sigma(z):
    return 1.0 / (1.0 + math.exp(-z))


# -- what scores mean


def answer(scores, ties):
    """The sign of one score, or the class with the largest of many; a tie is -1 or the first, +1 or the last."""
    if len(scores) == 1:
        return 1 if scores[0] > 0.0 or (scores[0] == 0.0 and ties != "negative") else -1
    best = [k for k, s in enumerate(scores) if s == max(scores)]
    return best[0] if ties == "negative" else best[-1]


def rival(scores, y, ties):
    """The class that would be the answer if y did not exist; of two classes there is no other."""
    if len(scores) == 1:
        return None
    return answer([-math.inf if k == y else s for k, s in enumerate(scores)], ties)


def margin(scores, y, ties):
    return y * scores[0] if len(scores) == 1 else scores[y] - scores[rival(scores, y, ties)]


def errs(scores, y, ties):
    return answer(scores, ties) != y or (ties == "mistake" and margin(scores, y, ties) == 0.0)


def sides(scores, y, ties):
    """The vectors that an update changes, and the sign of x in each: phi(x, y) - phi(x, z)."""
    return [(0, float(y))] if len(scores) == 1 else [(y, 1.0), (rival(scores, y, ties), -1.0)]


def softmax_slopes(scores, y):
    """Of the multinomial logistic loss: 1 - p_k for the true class, p_k for the others."""
    powers = [math.exp(s - max(scores)) for s in scores]
    total = 0.0
    for power in powers:
        total += power
    return [1.0 - power / total if k == y else power / total for k, power in enumerate(powers)]


def one_against_all(scores, y):
    """Each vector with the sign of the row for it."""
    return [(0, float(y))] if len(scores) == 1 else [(k, 1.0 if k == y else -1.0) for k in range(len(scores))]


# -- the learners


class AdaGrad:
    """Duchi, Hazan & Singer 2011, on the smoothed hinge; for many classes on the multinomial logistic loss."""

    def __init__(self, d, n_vectors):
        self.w = [[0.0] * d for _ in range(n_vectors)]
        self.G = [[0.0] * d for _ in range(n_vectors)]

    def scores(self, x):
        return [dot(w, x) for w in self.w]

    def learn(self, x, y, ties, c):
        s = self.scores(x)
        sizes = [clip(1.0 - y * s[0], 0.0, 1.0)] if len(s) == 1 else softmax_slopes(s, y)
        for k, sign in one_against_all(s, y):
            for j, value in entries(x):
                slope = -c * sizes[k] * (sign * value)
                self.G[k][j] += slope * slope
                if self.G[k][j] > 0.0:
                    self.w[k][j] -= 0.3 * slope / math.sqrt(self.G[k][j])


class PassiveAggressive:
    """Crammer et al. 2006, PA-II with C = 0.1; `averaged` gives the scores of the mean of w after each example."""

    def __init__(self, d, n_vectors):
        self.w = [[0.0] * d for _ in range(n_vectors)]
        self.sums = [[0.0] * d for _ in range(n_vectors)]
        self.n = 0

    def scores(self, x):
        return [dot(w, x) for w in self.w]

    def averaged(self, x):
        return [dot(w, x) - dot(sums, x) / max(1.0, self.n) for w, sums in zip(self.w, self.sums, strict=True)]

    def learn(self, x, y, ties, c):
        s = self.scores(x)
        q = 0.0
        for _, value in entries(x):
            q += value * value
        q = q if len(s) == 1 else 2.0 * q
        tau = c * (max(0.0, 1.0 - margin(s, y, ties)) / (q + 5.0))
        for k, sign in sides(s, y, ties):
            for j, value in entries(x):
                self.w[k][j] += tau * (sign * value)
                self.sums[k][j] += self.n * (tau * (sign * value))
        self.n += 1


class Arow:
    """Crammer, Kulesza & Dredze 2009, the diagonal with r = 1, one class against all; an importance c divides r."""

    def __init__(self, d, n_vectors):
        self.w = [[0.0] * d for _ in range(n_vectors)]
        self.S = [[1.0] * d for _ in range(n_vectors)]

    def scores(self, x):
        return [dot(w, x) for w in self.w]

    def learn(self, x, y, ties, c):
        s = self.scores(x)
        for k, sign in one_against_all(s, y):
            m = sign * s[k]
            if m >= 1.0:
                continue
            v = 0.0
            for j, value in entries(x):
                v += self.S[k][j] * value * value
            beta = 1.0 / (v + 1.0 / c)
            for j, value in entries(x):
                step = self.S[k][j] * (sign * value)
                self.w[k][j] += (1.0 - m) * beta * step
                self.S[k][j] = max(0.0, self.S[k][j] - beta * step * step)


class CoinBetting:
    """Coin betting on the logistic loss, of many classes the multinomial one, with wealth per coordinate."""

    def __init__(self, d, n_vectors):
        self.W, self.theta, self.A = ([[0.0] * d for _ in range(n_vectors)] for _ in range(3))
        self.M = [0.0] * d
        self.squares = []  # sum_j (x_j / M_j)^2 of each example

    def scores(self, x):
        """By the weights for M_j = max(M_j, |x_j|)."""
        return self._scores(x, [max(largest, abs(value)) for largest, value in zip(self.M, x, strict=True)])

    def _scores(self, x, M):
        return [dot([self._weight(k, j, M[j]) for j in range(len(M))], x) for k in range(len(self.W))]

    def _weight(self, k, j, M):
        return self.W[k][j] * self.theta[k][j] / (M * (M + self.A[k][j])) if M else 0.0

    def learn(self, x, y, ties, c):
        self.M = [max(largest, max(1.0, c) * abs(value)) for largest, value in zip(self.M, x, strict=True)]
        total = 0.0
        for j, value in entries(x):
            total += (value / self.M[j]) * (value / self.M[j])
        self.squares.append(total)
        wealth = 4.0 / math.sqrt(sum(self.squares) / len(self.squares)) if sum(self.squares) else 0.0
        for j, _ in entries(x):
            if self.W[0][j] == 0.0:
                for W in self.W:
                    W[j] = wealth
        s = self._scores(x, self.M)
        sizes = [sigma(-y * s[0])] if len(s) == 1 else softmax_slopes(s, y)
        for k, sign in one_against_all(s, y):
            for j, value in entries(x):
                slope = -c * sizes[k] * (sign * value)
                w = self._weight(k, j, self.M[j])
                self.W[k][j] -= slope * w
                self.theta[k][j] -= slope
                self.A[k][j] += abs(slope)


# -- the mixers


class LogMixer:
    """Online logistic regression on u: Newton steps, with a random walk of the weights."""

    def __init__(self, n):
        self.a = [1.0 / n] * n
        self.P = [[0.3 * (i == j) for j in range(n)] for i in range(n)]

    def scores(self, u):
        """u[k][i]: of learner i for class k."""
        return [dot_all(self.a, u_k) for u_k in u]

    def learn(self, d):
        m, moved, v = prepare(self.a, self.P, d)
        p = sigma(-m)
        h = p * (1.0 - p)
        move(self.a, self.P, moved, p / (1.0 + h * v), h / (1.0 + h * v))
        for i in range(len(d)):
            if self.P[i][i] < 0.3:
                self.P[i][i] += 1e-4


class ArowMixer:
    """AROW with the full matrix, r = 1."""

    def __init__(self, n):
        self.a = [1.0 / n] * n
        self.P = [[0.1 * (i == j) for j in range(n)] for i in range(n)]

    scores = LogMixer.scores

    def learn(self, d):
        m, moved, v = prepare(self.a, self.P, d)
        if m < 1.0:
            beta = 1.0 / (v + 1.0)
            move(self.a, self.P, moved, (1.0 - m) * beta, beta)


def dot_all(a, b):
    total = 0.0
    for one, other in zip(a, b, strict=True):
        total += one * other
    return total


def prepare(a, P, d):
    """<a, d>, P d and <d, P d>."""
    moved = [dot_all(row, d) for row in P]
    return dot_all(a, d), moved, dot_all(d, moved)


def move(a, P, moved, step, shrink):
    for i in range(len(a)):
        a[i] += step * moved[i]
        for j in range(len(a)):
            P[i][j] -= shrink * (moved[i] * moved[j])


def mean_squared_difference(scores):
    """s^2 of two classes; the mean of (s_k - s_l)^2 over all pairs k, l of more."""
    if len(scores) == 1:
        return scores[0] * scores[0]
    mean = centre(scores)
    total = 0.0
    for s in scores:
        total += (s - mean) * (s - mean)
    return 2.0 * total / (len(scores) - 1)


def centre(scores):
    if len(scores) == 1:
        return 0.0
    total = 0.0
    for s in scores:
        total += s
    return total / len(scores)


# -- all of it


@dataclass
class Pool:
    """Learn with `learn`; `mistakes` are the vote's, `wrong` those of the eight candidates, `theta` its certificate.

    `plain` has the coordinates that are no hats.
    """

    d: int
    n_classes: int = 2
    ties: str = "mistake"
    plain: list = None
    answers: list = field(default_factory=list)

    def __post_init__(self):
        v = self.n_vectors = 1 if self.n_classes == 2 else self.n_classes
        self.plain = [True] * self.d if self.plain is None else self.plain
        self.adagrad, self.arow, self.coin = AdaGrad(self.d, v), Arow(self.d, v), CoinBetting(self.d, v)
        self.pa, self.plain_pa = PassiveAggressive(self.d, v), PassiveAggressive(self.d, v)
        self.mixers = [LogMixer(6), ArowMixer(6)]
        self.squares = [0.0] * 6
        self.h = [1.0 / 8.0] * 8
        self.n, self.mistakes, self.wrong = 0, 0, [0] * 8
        self.theta = [[0.0] * self.d for _ in range(v)]

    def plain_part(self, x):
        return [value if plain else 0.0 for value, plain in zip(x, self.plain, strict=True)]

    def experts(self, x):
        return [
            self.adagrad.scores(x),
            self.pa.scores(x),
            self.pa.averaged(x),
            self.plain_pa.averaged(self.plain_part(x)),
            self.arow.scores(x),
            self.coin.scores(x),
        ]

    def normalised(self, scores):
        """u[k][i], by the root of the mean square over the rows so far and this one."""
        limit = 10.0 if self.n_vectors == 1 else 5.0
        u = []
        for k in range(self.n_vectors):
            u_k = []
            for i in range(6):
                rms = math.sqrt((self.squares[i] + mean_squared_difference(scores[i])) / (self.n + 1.0))
                u_k.append(clip((scores[i][k] - centre(scores[i])) / rms, -limit, limit) if rms else 0.0)
            u.append(u_k)
        return u

    def votes(self, candidates):
        """The difference of both classes' weights, or the weight behind each class."""
        votes = [0.0] * self.n_vectors
        for h, scores in zip(self.h, candidates, strict=True):
            voted = answer(scores, self.ties)
            if self.n_vectors == 1:
                votes[0] += h * voted
            else:
                votes[voted] += h
        return votes

    def candidates(self, x):
        experts = self.experts(x)
        u = self.normalised(experts)
        return experts + [mixer.scores(u) for mixer in self.mixers], u

    def score(self, x):
        return self.votes(self.candidates(x)[0])

    def learn(self, x, y, c=1.0):
        candidates, u = self.candidates(x)
        votes = self.votes(candidates)
        is_mistake = errs(votes, y, self.ties)
        self.answers.append(answer(votes, self.ties))
        for learner in (self.adagrad, self.pa, self.arow, self.coin):
            learner.learn(x, y, self.ties, c)
        self.plain_pa.learn(self.plain_part(x), y, self.ties, c)
        self.squares = [s + mean_squared_difference(own) for s, own in zip(self.squares, candidates[:6], strict=True)]
        for mixer, scores in zip(self.mixers, candidates[6:], strict=True):
            if self.n_vectors == 1:
                d = [y * value for value in u[0]]
            else:
                z = rival(scores, y, self.ties)
                d = [right - wrong for right, wrong in zip(u[y], u[z], strict=True)]
            mixer.learn(d)
        self.share(candidates, y, is_mistake)
        if is_mistake:
            self.mistakes += 1
            for k, sign in sides(votes, y, self.ties):
                for j, value in entries(x):
                    self.theta[k][j] += sign * value
        self.n += 1

    def share(self, candidates, y, is_mistake):
        """Littlestone & Warmuth 1994; the weights are shared after the vote's own mistakes."""
        for i, scores in enumerate(candidates):
            if errs(scores, y, self.ties):
                self.wrong[i] += 1
                self.h[i] *= math.exp(-ETA)
        total = 0.0
        for h in self.h:
            total += h
        self.h = [h / total for h in self.h]
        if is_mistake:
            self.h = [(1.0 - EPSILON) * h + EPSILON / 8 for h in self.h]


def vote_bound(mistakes_of_candidate):
    """The theorem: what the vote's mistakes cannot exceed."""
    gain = math.log(2.0 / (1.0 + math.exp(-ETA))) - math.log(1.0 / (1.0 - EPSILON))
    return (ETA * mistakes_of_candidate + math.log(8.0)) / gain

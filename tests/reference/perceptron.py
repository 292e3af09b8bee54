"""Every algorithm as its paper prints it: slow, obvious, and sharing nothing with novikoff.

Rows are folded first: a model with an intercept has a last coordinate that is always 1. Two classes are the signs -1
and +1 and one weight vector w; many are 0..K-1 and a matrix W with one row for each. A `Run` keeps the literal list of
all weights, so that every hypothesis can be read off it.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import nnls


def folded(X, intercept):
    X = np.asarray(X, float)
    return np.hstack([X, np.ones((len(X), 1))]) if intercept else X


# -- rules: the step tau from the margin, the squared norm, and whether it was a mistake


def perceptron(margin, squared_norm, mistake):
    """Rosenblatt 1958: on a mistake, w <- w + y x."""
    return 1.0 if mistake else 0.0


def margin_rule(beta):
    """Krauth & Mezard 1987: the same whenever y <w, x> <= beta."""
    return lambda margin, squared_norm, mistake: 1.0 if margin <= beta else 0.0


def passive_aggressive(step_from_loss):
    """Crammer et al. 2006, fig. 1: suffer the hinge loss; step if there is any."""

    def step(margin, squared_norm, mistake):
        loss = max(0.0, 1.0 - margin)
        return step_from_loss(loss, squared_norm) if loss > 0.0 and squared_norm > 0.0 else 0.0

    return step


def pa():
    return passive_aggressive(lambda loss, squared_norm: loss / squared_norm)


def pa_1(C):
    return passive_aggressive(lambda loss, squared_norm: min(C, loss / squared_norm))


def pa_2(C):
    return passive_aggressive(lambda loss, squared_norm: loss / (squared_norm + 1.0 / (2.0 * C)))


# -- what scores mean


def predict(score, ties):
    """The sign of a number, or the place of the largest of many; at a tie +1 or the last, -1 or the first."""
    if np.ndim(score) == 0:
        if score == 0.0:
            return -1 if ties == "negative" else 1
        return 1 if score > 0.0 else -1
    best = [k for k in range(len(score)) if score[k] == max(score)]
    return best[0] if ties == "negative" else best[-1]


def is_mistake(score, y, ties):
    if predict(score, ties) != y:
        return True
    if ties != "mistake":
        return False
    if np.ndim(score) == 0:
        return score == 0.0
    return any(score[k] == score[y] for k in range(len(score)) if k != y)


def strongest_rival(scores, y, ties):
    """The class that would be predicted if y did not exist."""
    return predict([-np.inf if k == y else scores[k] for k in range(len(scores))], ties)


# -- learning


@dataclass
class Run:
    """weights[0] is where it began, weights[t] what example t left; the other lists say what happened at each."""

    weights: list
    mistakes: list = field(default_factory=list)
    steps: list = field(default_factory=list)
    passes: list = field(default_factory=list)  # (first example, one past the last) of each pass
    converged: bool = False

    def took(self, weights, mistake, step):
        self.weights.append(weights)
        self.mistakes.append(mistake)
        self.steps.append(step)


def start(n_features, n_classes=2):
    return Run([np.zeros(n_features) if n_classes == 2 else np.zeros((n_classes, n_features))])


def learn(run, X, y, step, ties, importances=None):
    """One pass: predict, suffer, update (Novikoff 1962; many classes: Collins 2002, fig. 1).

    An importance c multiplies the step; an example of importance 0 is not there.
    """
    for x, label, c in zip(X, y, np.ones(len(X)) if importances is None else importances, strict=True):
        if c > 0.0:
            take_one(run, x, label, lambda *of, c=c: c * step(*of), ties)
    return run


def take_one(run, x, y, step, ties):
    w = run.weights[-1].copy()
    if w.ndim == 1:
        score = float(w @ x)
        mistake = is_mistake(score, y, ties)
        tau = step(y * score, float(x @ x), mistake)
        w = w + tau * y * x
    else:
        scores = [float(v @ x) for v in w]
        mistake = is_mistake(scores, y, ties)
        rival = strongest_rival(scores, y, ties)
        # |phi(x, y) - phi(x, z)|^2 = 2 |x|^2
        tau = step(scores[y] - scores[rival], 2.0 * float(x @ x), mistake)
        w[y] = w[y] + tau * x
        w[rival] = w[rival] - tau * x
    run.took(w, mistake, tau)


def cycle(run, X, y, step, ties, max_passes, *, clean="mistakes"):
    """The batch perceptron: pass after pass until one is clean, of `mistakes` or of `steps`."""
    for _ in range(max_passes):
        begin = len(run.steps)
        learn(run, X, y, step, ties)
        run.passes.append((begin, len(run.steps)))
        if not any(getattr(run, clean)[begin:]):
            run.converged = True
            break
    return run


# -- hypotheses


def last(run):
    return run.weights[-1]


def averaged(run):
    """The mean of the weights after each example."""
    return sum(run.weights[1:]) / len(run.steps)


def survivors(run):
    """Freund & Schapire 1999, fig. 1: the list of (v_k, c_k)."""
    v = [[run.weights[0], 0]]
    for weights, step in zip(run.weights[1:], run.steps, strict=True):
        if step > 0.0:
            v.append([weights, 1])
        else:
            v[-1][1] += 1
    return v


def votes(run, x, ties):
    """sum_k c_k sign <v_k, x>, or for many classes the votes that each gets; as a share of the examples."""
    total = 0.0 if run.weights[0].ndim == 1 else np.zeros(len(run.weights[0]))
    for v, c in survivors(run):
        vote = predict(v @ x, ties)
        if v.ndim == 1:
            total += c * vote
        else:
            total[vote] += c
    return total / len(run.steps)


def run_lengths(run):
    """After each example, how many right answers in a row the same weights have given."""
    lengths = []
    for mistake, step in zip(run.mistakes, run.steps, strict=True):
        lengths.append(0 if mistake or step > 0.0 else (lengths[-1] if lengths else 0) + 1)
    return lengths


def pocket(run, begin=0, end=None):
    """Gallant 1990: the weights with the longest run of right answers, the first of equals; None without any."""
    lengths = run_lengths(run)[begin:end]
    longest = lengths.index(max(lengths))
    return run.weights[begin + longest + 1] if lengths[longest] else None


def ratchet(run, X, y, ties):
    """Gallant's ratchet, checked once a pass: the longest runner of a pass must have fewer errors on all rows."""
    kept, fewest = None, len(X) + 1
    for begin, end in run.passes:
        candidate = pocket(run, begin, end)
        if candidate is None and kept is None:
            candidate = run.weights[0]
        if candidate is not None and errors(candidate, X, y, ties) < fewest:
            kept, fewest = candidate, errors(candidate, X, y, ties)
    return kept


def errors(weights, X, y, ties):
    return sum(is_mistake(weights @ x, label, ties) for x, label in zip(X, y, strict=True))


# -- the data


def differences(X, y, n_classes=2):
    """The vectors the proofs speak of: y x; for many classes phi(x, y) - phi(x, z) for every rival z, laid flat."""
    if n_classes == 2:
        return np.array([label * x for x, label in zip(X, y, strict=True)])
    found = []
    for x, label in zip(X, y, strict=True):
        for rival in range(n_classes):
            if rival != label:
                phi = np.zeros((n_classes, len(x)))
                phi[label], phi[rival] = x, -x
                found.append(phi.ravel())
    return np.array(found)


def largest_margin(V):
    """gamma of the vectors V = y x: 1 / |w| for the shortest w with V w >= 1 (Lawson & Hanson 1974, ch. 23)."""
    n, d = V.shape
    E = np.vstack([V.T, np.ones(n)])
    f = np.append(np.zeros(d), 1.0)
    z, _ = nnls(E, f)
    r = E @ z - f
    return 1.0 / np.linalg.norm(r[:d] / r[d])

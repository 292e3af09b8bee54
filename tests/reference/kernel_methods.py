"""The kernel perceptron as its papers print it: one example and one kernel value at a time.

It imports nothing of novikoff. A run keeps, for each weight vector, the list of all its functions: each a list of
(sign, x), with the number of examples that it survived.
"""

import math

# -- kernels of two rows


def linear(x, z):
    return sum(a * b for a, b in zip(x, z, strict=True))


def poly(degree, gamma, coef0):
    return lambda x, z: (gamma * linear(x, z) + coef0) ** degree


def rbf(gamma):
    return lambda x, z: math.exp(-gamma * sum((a - b) ** 2 for a, b in zip(x, z, strict=True)))


def laplacian(gamma):
    return lambda x, z: math.exp(-gamma * sum(abs(a - b) for a, b in zip(x, z, strict=True)))


def sigmoid(gamma, coef0):
    return lambda x, z: math.tanh(gamma * linear(x, z) + coef0)


def hamming(gamma):
    return lambda x, z: math.exp(-gamma * sum(a != b for a, b in zip(x, z, strict=True)))


# -- from scores to classes


def sign(score, ties):
    if score == 0.0:
        return -1 if ties == "negative" else 1
    return 1 if score > 0.0 else -1


def highest(scores, ties):
    best = [k for k in range(len(scores)) if scores[k] == max(scores)]
    return best[0] if ties == "negative" else best[-1]


class KernelExpansion:
    """A function f = sum of sign * K(x, .), and the number of examples it survived."""

    def __init__(self, terms=()):
        self.terms, self.survived = list(terms), 0

    def __call__(self, K, x):
        return sum(s * K(z, x) for s, _, z in self.terms)

    def plus(self, s, at, x):
        return KernelExpansion([*self.terms, (s, at, x)])


class Binary:
    """Freund & Schapire 1999, fig. 1, with K in place of the inner product."""

    def __init__(self, K, ties):
        self.K, self.ties, self.functions, self.mistakes = K, ties, [KernelExpansion()], 0

    def learn(self, at, x, y):
        """Learn from one row, of index `at` and label y = -1 or +1; return whether it was a mistake."""
        score = self.functions[-1](self.K, x)
        wrong = sign(score, self.ties) != y or (score == 0.0 and self.ties == "mistake")
        if wrong:
            self.mistakes += 1
            self.functions.append(self.functions[-1].plus(y, at, x))
        self.functions[-1].survived += 1
        return wrong

    def score(self, x, hypothesis):
        n = sum(f.survived for f in self.functions)
        if hypothesis == "last":
            return self.functions[-1](self.K, x)
        if hypothesis == "averaged":
            return sum(f.survived * f(self.K, x) for f in self.functions) / n
        return sum(f.survived * sign(f(self.K, x), self.ties) for f in self.functions) / n

    def coefficient(self, at):
        return sum(s for s, row, _ in self.functions[-1].terms if row == at)

    def squared_norm(self):
        terms = self.functions[-1].terms
        return sum(s * r * self.K(x, z) for s, _, x in terms for r, _, z in terms)


class OneAgainstTheRest:
    """Freund & Schapire 1999, section 5: a perceptron for each class; the highest of their scores wins."""

    def __init__(self, K, ties, n_classes):
        self.each, self.ties = [Binary(K, ties) for _ in range(n_classes)], ties

    @property
    def mistakes(self):
        return sum(one.mistakes for one in self.each)

    def learn(self, at, x, y):
        wrong = [one.learn(at, x, 1 if k == y else -1) for k, one in enumerate(self.each)]
        return any(wrong)

    def score(self, x, hypothesis):
        return [one.score(x, hypothesis) for one in self.each]

    def coefficient(self, at):
        return [one.coefficient(at) for one in self.each]

    def squared_norm(self):
        return sum(one.squared_norm() for one in self.each)


class Direct:
    """Collins 2002, fig. 1: add the row to its class, subtract it from the rival with the highest score."""

    def __init__(self, K, ties, n_classes):
        self.K, self.ties, self.n_classes, self.mistakes = K, ties, n_classes, 0
        self.rounds = [[[KernelExpansion() for _ in range(n_classes)], 0]]

    def learn(self, at, x, y):
        functions = self.rounds[-1][0]
        scores = [f(self.K, x) for f in functions]
        rival = highest([-math.inf if k == y else s for k, s in enumerate(scores)], self.ties)
        wrong = highest(scores, self.ties) != y or (scores[rival] == scores[y] and self.ties == "mistake")
        if wrong:
            self.mistakes += 1
            functions = list(functions)
            functions[y] = functions[y].plus(1, at, x)
            functions[rival] = functions[rival].plus(-1, at, x)
            self.rounds.append([functions, 0])
        self.rounds[-1][1] += 1
        return wrong

    def score(self, x, hypothesis):
        n = sum(survived for _, survived in self.rounds)
        if hypothesis == "last":
            return [f(self.K, x) for f in self.rounds[-1][0]]
        total = [0.0] * self.n_classes
        for functions, survived in self.rounds:
            scores = [f(self.K, x) for f in functions]
            if hypothesis == "voted":
                total[highest(scores, self.ties)] += survived
            else:
                total = [t + survived * s for t, s in zip(total, scores, strict=True)]
        return [t / n for t in total]

    def coefficient(self, at):
        return [sum(s for s, row, _ in f.terms if row == at) for f in self.rounds[-1][0]]

    def squared_norm(self):
        found = 0.0
        for f in self.rounds[-1][0]:
            found += sum(s * r * self.K(x, z) for s, _, x in f.terms for r, _, z in f.terms)
        return found


def start(K, ties, n_classes, multi_class):
    if n_classes == 2:
        return Binary(K, ties)
    return (OneAgainstTheRest if multi_class == "ovr" else Direct)(K, ties, n_classes)


def cycle(run, X, y, order, n_examples):
    """Visit rows in this order, again and again, until a pass has no mistake or n_examples are over.

    Return the rows with mistakes, in the order of their first.
    """
    support, clean = [], 0
    for t in range(n_examples):
        at = order[t % len(order)]
        if run.learn(at, X[at], y[at]):
            clean = 0
            if at not in support:
                support.append(at)
        else:
            clean += 1
        if clean >= len(order) and (t + 1) % len(order) == 0:
            break
    return support


class Regression:
    """Aizerman, Braverman & Rozonoer 1964: f <- f + step * (y - f(x)) K(x, .)."""

    def __init__(self, K, step):
        self.K, self.step, self.functions, self.losses = K, step, [KernelExpansion()], []

    def learn(self, at, x, y):
        residual = y - self.functions[-1](self.K, x)
        self.losses.append(residual**2)
        self.functions.append(self.functions[-1].plus(self.step * residual, at, x))

    def predict(self, x, hypothesis):
        """Return the value of the last function, or of the mean of those after each example."""
        functions = self.functions[1:] if hypothesis == "averaged" else self.functions[-1:]
        return sum(f(self.K, x) for f in functions) / len(functions)

    def squared_norm(self):
        terms = self.functions[-1].terms
        return sum(s * r * self.K(x, z) for s, _, x in terms for r, _, z in terms)


class Forgetron:
    """Dekel, Shalev-Shwartz & Singer 2008, self-tuned, for any number of classes.

    f = sum of weight * psi, where psi is a row of norm 1 in feature space, divided by sqrt(2) in its class, and minus
    that in the class of its rival.
    """

    def __init__(self, K, ties, n_classes, budget):
        self.K, self.ties, self.n_classes, self.budget = K, ties, n_classes, budget
        self.terms, self.mistakes, self.Q, self.shrinkage = [], 0, 0.0, 0.0

    def unit(self, x, z):
        return self.K(x, z) / math.sqrt(self.K(x, x) * self.K(z, z))

    def scores(self, x):
        """<f, x / |x| in class v> for every class v, times sqrt(2)."""
        found = [0.0] * self.n_classes
        for weight, _, z, winner, rival in self.terms:
            found[winner] += weight * self.unit(z, x)
            found[rival] -= weight * self.unit(z, x)
        return found

    def margin(self, x, winner, rival):
        """<f, psi>."""
        scores = self.scores(x)
        return (scores[winner] - scores[rival]) / 2

    def learn(self, at, x, y):
        scores = self.scores(x) if self.K(x, x) else [0.0] * self.n_classes
        rival = highest([-math.inf if k == y else s for k, s in enumerate(scores)], self.ties)
        wrong = highest(scores, self.ties) != y or (scores[rival] == scores[y] and self.ties == "mistake")
        self.mistakes += wrong
        if wrong and self.K(x, x):  # a row of norm 0 cannot be learned from
            self.terms.append((1.0, at, x, y, rival))
            if len(self.terms) > self.budget:
                self.forget()

    def forget(self):
        """Shrink all weights as little as the bound on Q allows, then drop the oldest row."""
        weight, _, x, winner, rival = self.terms[0]
        mu = self.margin(x, winner, rival)

        def psi(phi):
            return (weight * phi) ** 2 + 2 * weight * phi * (1 - phi * mu)

        phi, limit = 1.0, 15 / 32 * self.mistakes
        if psi(1.0) + self.Q > limit:  # bisection: the bound holds at low, not at high
            low, high = 0.0, 1.0
            for _ in range(200):
                phi = (low + high) / 2
                low, high = (phi, high) if psi(phi) + self.Q <= limit else (low, phi)
            phi = low
        self.Q += psi(phi)
        self.shrinkage += (1 - phi) / (1 + phi)
        self.terms = [(phi * weight, *rest) for weight, *rest in self.terms[1:]]

    def squared_norm(self):
        return sum(weight * self.margin(x, winner, rival) for weight, _, x, winner, rival in self.terms)

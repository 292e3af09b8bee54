"""Scale-invariant online regression, as Kempka, Kotlowski & Warmuth 2019 print ScInOL2, around the running mean.

The paper's losses have slopes of at most 1. Here the loss of a prediction p is (p - y)^2 / 2, and the unit of slopes is
L, a bound on the range of the targets so far: it doubles, at least, when the range exceeds it, and slopes are cut off
at L (Cutkosky 2019). All quantities are kept in the units of the data, and what depends on L is computed anew from the
history whenever it is needed: slow, and without the conversions of the compiled loop.
"""

import math


class Coordinate:
    """eta_{t,i} and the sums of algorithm 2, in the units of the data."""

    def __init__(self, given):
        self.given = given  # of the initial wealth eta_0, in units of L^2
        self.slopes = []  # g_t x_{t,i} of all rounds so far
        self.won = 0.0
        self.largest = 0.0

    def weight(self, L):
        G = -sum(slope / L for slope in self.slopes)
        size = math.sqrt(sum((slope / L) ** 2 for slope in self.slopes) + self.largest**2)
        theta = G / size
        eta = self.given * L + self.won / L
        return math.copysign(min(abs(theta), 1.0), theta) / (2.0 * size) * eta


class Regression:
    """Predict, then learn, one dict {coordinate: value} at a time; "constant" must be one of them, with the value 1."""

    def __init__(self):
        self.coordinates, self.targets, self.L = {}, [], 0.0

    def predict(self, x):
        """Return the prediction; a value larger than all before counts for the weight that it meets."""
        if not self.targets:
            return None
        mean = math.fsum(self.targets) / len(self.targets)
        total = 0.0
        for name, value in x.items() if self.L else ():
            if name in self.coordinates and value:
                coordinate = self.coordinates[name]
                before = coordinate.largest
                coordinate.largest = max(before, abs(value))
                total += coordinate.weight(self.L) * value
                coordinate.largest = before
        return max(min(self.targets), min(max(self.targets), mean + total))

    def learn(self, x, y):
        x = {name: value for name, value in x.items() if value}
        if self.L:
            for name, value in x.items():
                if name not in self.coordinates:
                    self.coordinates[name] = Coordinate(2.0 / len(x))
                self.coordinates[name].largest = max(self.coordinates[name].largest, abs(value))
            g = max(-self.L, min(self.L, self.predict(x) - y))
            weights = {name: self.coordinates[name].weight(self.L) for name in x}
            for name, value in x.items():
                self.coordinates[name].won -= g * value * weights[name]
                self.coordinates[name].slopes.append(g * value)
        self.targets.append(y)
        span = max(self.targets) - min(self.targets)
        if span > self.L:
            self.L = max(span, 2.0 * self.L)

"""The rule "auto": six learners and two mixers of their scores, which vote."""

from __future__ import annotations

import math
from dataclasses import dataclass

from novikoff.stateful_rules import StatefulRule

__all__ = ["CANDIDATES", "PA_SOFTNESS", "Auto", "bound_vote"]

# In the order of _compiled/loops/pool.py.
CANDIDATES = (
    "AdaGrad",
    "PA-II",
    "averaged PA-II",
    "averaged PA-II, plain",
    "AROW",
    "coin betting",
    "log mixer",
    "AROW mixer",
)
PA_SOFTNESS = 5.0  # 1 / (2 C) of PA-II, with C = 0.1

_ETA, _EPSILON = 0.3, 0.01
_GAIN = math.log(2.0 / (1.0 + math.exp(-_ETA))) - math.log(1.0 / (1.0 - _EPSILON))


def bound_vote(mistakes: float, log_cost: float = math.log(len(CANDIDATES))) -> float:
    """Return the most mistakes that the vote can have made, given those of one candidate; see `Auto`.

    >>> from novikoff.auto_rule import bound_vote
    >>> round(bound_vote(0), 1), round(bound_vote(1000) - bound_vote(0))
    (16.2, 2330)
    """
    return (_ETA * mistakes + log_cost) / _GAIN


@dataclass(frozen=True)
class Auto(StatefulRule):
    """Six linear learners side by side, two mixers of their scores, and a weighted vote of these eight candidates.

    No single rule makes few mistakes on every stream: AROW, AdaGrad and averages cannot follow drift, PA-II and the
    perceptron err too often without it. So all of them learn from each example, in one pass:

    - AdaGrad with learning rate 0.3: on the smoothed hinge loss, with many classes on the multinomial logistic loss
    - PA-II with C = 0.1
    - the average of PA-II's weights after each example
    - that average on the features that are no interpolation weights of numbers
    - AROW with a variance for each weight, r = 1; with many classes one against all
    - coin betting on the logistic loss

    Their scores, each divided by its root mean square so far, are mixed by online logistic regression, whose weights
    may drift, and by AROW with the full matrix. The answer is the vote of all eight. Their weights h_i are equal at
    first. After every example

        h_i  <-  h_i * exp(-0.3) for every candidate that erred; then all are divided by their sum
        h    <-  0.99 * h + 0.01 / 8 if the vote erred

    Theorem (Littlestone & Warmuth 1994, with shared weight). On every sequence of examples, with any number of
    classes, and for every candidate i with m_i mistakes, the vote makes at most

        (0.3 m_i + ln 8) / (ln(2 / (1 + exp(-0.3))) - ln(1 / 0.99))  <=  2.3303 m_i + 16.16

    mistakes. PA-II makes at most (R^2 + 5) / gamma^2 on examples that are separable with margin gamma (Crammer et al.
    2006), so the vote makes at most 2.3303 (R^2 + 5) / gamma^2 + 16.16. Nothing is proved here for AROW with a variance
    for each weight, nor for the mixer by logistic regression.

    Because theta, the sum of y * x over the vote's own mistakes, satisfies <theta, u> >= gamma * M after M mistakes for
    every unit vector u that separates the examples with margin gamma, the ledger certifies gamma <= |theta| / M.

    Sample and class weights multiply the steps of AdaGrad, PA-II and coin betting, and divide AROW's r. Mixers and vote
    count every example once.

    It keeps 13 numbers for each feature of each weight vector, and takes 20 to 40 times as long as the
    perceptron on the rows of a table, without the reading of the file.

    References
    ----------
    Littlestone & Warmuth, "The weighted majority algorithm", 1994.

    Examples
    --------
    >>> import novikoff as nk
    >>> rows = [[1.0, 0.0], [0.0, 1.0]] * 20
    >>> model = nk.Perceptron(rule="auto").partial_fit(rows, [1, -1] * 20)
    >>> model.ledger_.mistakes, model.ledger_.best_candidate.mistakes, round(model.ledger_.vote_bound, 1)
    (1, 2, 20.8)
    """

    @property
    def parameter(self) -> float:
        return 0.0

    def mistake_bound(self, radius: float, margin: float) -> float | None:
        """Return the vote's bound with PA-II's own for its mistakes."""
        return bound_vote((radius * radius + PA_SOFTNESS) / margin / margin)  # a square could be 0

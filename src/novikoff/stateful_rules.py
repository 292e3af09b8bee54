"""Stateful rules: update rules that keep numbers of their own for each feature, besides its weight.

The rules of rules.py move the weights by one step tau along y * x. These move each weight by a step of its own, which
depends on what its feature has done so far. What they keep for a feature are *slots*, one set for each weight vector:
two classes have one vector, more have one each. The constant coordinate of the intercept is a feature like any other,
x_0 = 1. With more than two classes x stands for phi(x, y) - phi(x, z) below, the true class against its strongest
rival z: x itself in the vector of y, -x in that of z, and the label is always +1.

The weights are no sum of steps times y * x, so |w| certifies nothing. Hence every stateful rule also keeps

    theta  =  the sum of y * x over its own mistakes

Every unit vector u that separates the examples with margin gamma has <theta, u> >= gamma * M after M mistakes, so
gamma <= |theta| / M, whatever the rule. The ledger certifies the margin by that.

The updates are written once, in _compiled/loops/stateful_formulas.py. This module does not import numba.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from novikoff.errors import RuleError
from novikoff.rule_parameters import convert_to_float

__all__ = ["THETA", "AdaGrad", "Arow", "CoinBetting", "Slot", "StatefulRule"]

THETA = 0  # the index of the first slot of every stateful rule


class Slot(NamedTuple):
    """A number that a stateful rule keeps for each feature of each weight vector.

    Attributes
    ----------
    name : str
    initial : float
        What a new feature, or a new class, starts from.
    is_signed : bool
        Whether it changes its sign when the two classes are exchanged, as a weight does.
    share : float
        With the third class the vector of two classes becomes two. Either takes over this multiple of the number, the
        first with the opposite sign if it is signed.
    """

    name: str
    initial: float = 0.0
    is_signed: bool = False
    share: float = 1.0


_THETA = Slot("theta", is_signed=True)


class StatefulRule(ABC):
    """A rule that keeps numbers for each feature.

    Attributes
    ----------
    slots : tuple of Slot
        What it keeps for each feature; the first is theta.
    n_totals : int
        How many numbers it keeps that belong to no feature; they start at 0.
    """

    slots: ClassVar[tuple[Slot, ...]] = (_THETA,)
    n_totals: ClassVar[int] = 0
    depends_only_on_mistakes: ClassVar[bool] = False
    required_margin: ClassVar[float | None] = None

    @property
    def initial_slots(self) -> tuple[float, ...]:
        """What the slots of a new feature start from."""
        return tuple(slot.initial for slot in self.slots)

    @property
    @abstractmethod
    def parameter(self) -> float:
        """The parameter of the update, as a number for the compiled loop."""

    def mistake_bound(self, radius: float, margin: float) -> float | None:
        """Return None: no theorem bounds the mistakes by radius and margin alone."""
        return None


@dataclass(frozen=True)
class AdaGrad(StatefulRule):
    """AdaGrad on the smoothed hinge loss: features that have moved little still take long steps.

    With m = y <w, x>, the loss is l(m) = 0 for m >= 1, (1 - m)^2 / 2 for m from 0 to 1, and 1/2 - m below. Its slope
    in the score is g = -y * min(1, max(0, 1 - m)). For every j with g x_j != 0

        G_j  <-  G_j + (g x_j)^2
        w_j  <-  w_j - eta * g * x_j / sqrt(G_j)

    Theorem (Duchi, Hazan & Singer 2011, theorem 5). The smoothed hinge loss is convex, and at least 1/2 on a mistake.
    So on every sequence of examples, for every u, the number of mistakes M is at most

        2 * (L(u) + (D^2 / (2 eta) + eta) * sum_j sqrt(G_j))

    with L(u) the sum of the losses of u, G_j as it is in the end, and D the largest |w_j - u_j| of any j at any time.
    D and G are known only afterwards, so this is no bound by radius and margin, and the ledger has none. It holds for
    examples without weights; one of weight c has the loss c * l(m), hence the slope c * g.

    Parameters
    ----------
    learning_rate : float, default=0.3
        eta, about the change of a weight at the first update of its feature.

    References
    ----------
    Duchi, Hazan & Singer, "Adaptive subgradient methods for online learning and stochastic optimization", 2011.

    Examples
    --------
    >>> import novikoff as nk
    >>> model = nk.Perceptron(rule=nk.rules.AdaGrad(learning_rate=0.5), fit_intercept=False)
    >>> model.partial_fit([[2.0, 0.0], [1.0, 4.0]], [1, -1]).coef_.round(3)
    array([[ 0.276, -0.5  ]])
    """

    learning_rate: float = 0.3

    slots: ClassVar[tuple[Slot, ...]] = (_THETA, Slot("squares"))

    def __post_init__(self) -> None:
        convert_to_float(self, "learning_rate")
        if not 0.0 < self.learning_rate <= 1e100:
            raise RuleError(f"AdaGrad: learning_rate must be > 0 and at most 1e100, found {self.learning_rate!r}.")

    @property
    def parameter(self) -> float:
        return self.learning_rate


@dataclass(frozen=True)
class Arow(StatefulRule):
    """AROW, with a variance for each weight: the less certain a weight is, the farther it moves.

    The weights are the means of independent normal distributions, w_j with variance S_j, which is 1 at first. If
    m = y <w, x> < 1, with beta = 1 / (r + sum_j S_j x_j^2),

        w_j  <-  w_j + (1 - m) * beta * y * S_j * x_j
        S_j  <-  S_j - beta * (S_j x_j)^2

    In doubles S_j - beta * (S_j x_j)^2 may be rounded to 0 or below where S_j x_j^2 is far larger than r. It is never
    less than r * beta * S_j in exact arithmetic, so the larger of the two is taken. An example of weight c > 0 has
    r / c in place of r, as if its label were known c times as exactly.

    No theorem is claimed. The mistake bound of Crammer, Kulesza & Dredze is for the full covariance matrix, not for
    its diagonal.

    Parameters
    ----------
    r : float, default=1.0
        The variance of the noise of labels; the larger, the shorter are the steps.

    References
    ----------
    Crammer, Kulesza & Dredze, "Adaptive regularization of weight vectors", 2009 and 2013.

    Examples
    --------
    >>> import novikoff as nk
    >>> model = nk.Perceptron(rule=nk.rules.Arow(r=1.0), fit_intercept=False)
    >>> model.partial_fit([[1.0, 0.0], [1.0, 1.0]], [1, -1]).coef_
    array([[ 0.2, -0.6]])
    """

    r: float = 1.0

    slots: ClassVar[tuple[Slot, ...]] = (_THETA, Slot("variance", initial=1.0, share=0.5))

    def __post_init__(self) -> None:
        convert_to_float(self, "r")
        if not 1e-100 <= self.r < math.inf:
            raise RuleError(f"Arow: r must be a number of at least 1e-100, found {self.r!r}.")

    @property
    def parameter(self) -> float:
        return self.r


@dataclass(frozen=True)
class CoinBetting(StatefulRule):
    """Coin betting on the logistic loss: no learning rate, and no scale of the features.

    Each weight is a bet. With the loss l(m) = ln(1 + exp(-m)) its slope in the score is g = -y / (1 + exp(m)), and
    coordinate j keeps its wealth W_j, theta_j = -sum of g x_j, A_j = sum of |g x_j|, and M_j, the largest |x_j| so far.
    For the features j of a row with x_j != 0,

        M_j  <-  max(M_j, |x_j|)
        W_j   =  4 / sqrt(c) at first sight, with c the mean over all rows so far of sum_j (x_j / M_j)^2
        w_j  <-  W_j theta_j / (M_j (M_j + A_j));     then m and g by these weights, and
        W_j  <-  W_j - g x_j w_j;    theta_j  <-  theta_j - g x_j;    A_j  <-  A_j + |g x_j|
        w_j  <-  W_j theta_j / (M_j (M_j + A_j))

    The last line is what predicts, and what the mistakes of the ledger are counted by; a row with a value larger than
    all before changes w_j before the slope is taken.

    Theorem (an identity; Orabona & Pal 2016). W_j can only change by -g x_j w_j, and stays above 0. So on every
    sequence of examples, for every u, with the weights w by which the slopes are taken,

        sum of l(w) - sum of l(u)  <=  sum_j (W_j at first - W_j in the end) + <u, theta>

    and since l >= ln 2 on a mistake, the mistakes of those weights are at most (L(u) + that) / ln 2, with L(u) the sum
    of the losses of u. This is no bound by radius and margin, and the ledger has none. An example of weight c has the
    loss c * l(m): c * g stands for g, and c * |x_j| for |x_j| in M_j and in c; the identity holds as it is.

    References
    ----------
    Orabona & Pal, "Coin betting and parameter-free online learning", 2016; Kempka, Kotlowski & Warmuth, "Adaptive
    scale-invariant online algorithms for learning linear models", 2019.

    Examples
    --------
    >>> import novikoff as nk
    >>> model = nk.Perceptron(rule=nk.rules.CoinBetting(), fit_intercept=False)
    >>> model.partial_fit([[1.0, 0.0]], [1], classes=[-1, 1]).coef_.round(3)
    array([[1.333, 0.   ]])
    """

    slots: ClassVar[tuple[Slot, ...]] = (
        _THETA,
        Slot("wealth", share=0.5),
        Slot("slopes", is_signed=True),
        Slot("sizes"),
        Slot("largest"),
    )
    n_totals: ClassVar[int] = 1

    @property
    def parameter(self) -> float:
        return 0.0


# A compiled loop knows a stateful rule by its index here; _compiled/loops/stateful_formulas.py has the same order.
KINDS: tuple[type[StatefulRule], ...] = (AdaGrad, Arow, CoinBetting)

"""The rule and the hypothesis of a stream, where the caller leaves them open."""

from __future__ import annotations

from collections.abc import Callable

from novikoff import hypotheses, rules

__all__ = ["choose_rule_and_hypothesis"]


def choose_rule_and_hypothesis(
    rule: str | rules.Rule | Callable[[float, float], float] | None, hypothesis: str | hypotheses.Hypothesis | None
) -> tuple[rules.Rule, hypotheses.Hypothesis]:
    """Return the rule and the hypothesis of `nk.learn` and `novikoff learn`, of which either may be None.

    The rule is then "auto", or the perceptron if a hypothesis is chosen, since auto has none to choose. The hypothesis
    is the average, but for stateful rules, whose steps grow shorter by themselves, the last weights.

    >>> from novikoff.streaming.defaults import choose_rule_and_hypothesis
    >>> choose_rule_and_hypothesis(None, None)
    (Auto(), Last())
    >>> choose_rule_and_hypothesis(None, "voted")
    (Perceptron(learning_rate=1.0), Voted())
    """
    chosen = rules.resolve(rule if rule is not None else "auto" if hypothesis is None else "perceptron")
    if hypothesis is None:
        is_stateful = isinstance(chosen, rules.StatefulRule)
        return chosen, hypotheses.Last() if is_stateful else hypotheses.Averaged()
    return chosen, hypotheses.resolve(hypothesis)

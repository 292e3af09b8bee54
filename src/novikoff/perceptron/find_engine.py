"""find_engine: the engine of a rule, if it has one."""

from __future__ import annotations

from functools import cache

from novikoff import rules
from novikoff.perceptron.engines import StatefulEngine
from novikoff.perceptron.pool_engine import PoolEngine
from novikoff.stateful_rules import KINDS, StatefulRule

__all__ = ["find_engine"]

_ENGINES: dict[type[StatefulRule], type[StatefulEngine]] = dict.fromkeys(KINDS, StatefulEngine) | {
    rules.Auto: PoolEngine
}


@cache
def _make_engine(rule: StatefulRule) -> StatefulEngine:
    return _ENGINES[type(rule)](rule)


def find_engine(rule: rules.Rule) -> StatefulEngine | None:
    """Return the engine of a stateful rule; None for a rule whose step is one number."""
    return _make_engine(rule) if isinstance(rule, StatefulRule) else None

"""Parameters of scikit-learn's linear classifiers that ours do not have: what to use instead.

A constructor of scikit-learn's kind has no **kwargs, so an unknown name is Python's own TypeError, which helps nobody
who comes from `sklearn.linear_model.Perceptron` or `SGDClassifier`. `explain_foreign` decorates a constructor: names
that those have, and ours does not, become a TypeError with a sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import signature
from typing import ParamSpec

__all__ = ["OF_LINEAR", "OF_PERCEPTRON", "explain_foreign"]

P = ParamSpec("P")

_LEAVE_OUT = "leave it out"

OF_PERCEPTRON = {
    "loss": "it minimizes no loss; use LinearClassifier(loss=...)",
    "penalty": "its weights have no penalty; use LinearClassifier(loss='hinge-at-zero', alpha=...)",
    "alpha": "its weights have no penalty; use LinearClassifier(loss='hinge-at-zero', alpha=...)",
    "l1_ratio": f"its weights have no penalty; {_LEAVE_OUT}",
    "C": "use rule=rules.PassiveAggressive(C=...)",
    "eta0": "use rule=rules.Perceptron(learning_rate=...)",
    "learning_rate": "use rule=rules.Perceptron(learning_rate=...)",
    "power_t": f"its steps do not fall; {_LEAVE_OUT}, or use LinearClassifier(learning_rate='invscaling')",
    "epsilon": f"it minimizes no loss; {_LEAVE_OUT}, or use LinearClassifier(loss=losses.Custom(...))",
    "average": "use hypothesis='averaged'",
    "shuffle": "use order='shuffled', or order='given'",
    "tol": "fit ends with a pass without mistakes, or after max_iter passes; use max_iter",
    "early_stopping": "use hypothesis='averaged' or 'pocket' with a small max_iter",
    "validation_fraction": "use hypothesis='averaged' or 'pocket' with a small max_iter",
    "n_iter_no_change": "use hypothesis='averaged' or 'pocket' with a small max_iter",
    "n_jobs": f"it learns in one thread; {_LEAVE_OUT}",
    "verbose": "use ledger_ after fit, or set_callbacks for what happens after each pass",
    "warm_start": "use partial_fit, which goes on from what was learned",
}

OF_LINEAR = {
    "penalty": "the penalty is alpha/2 |w|^2, that of penalty='l2'; use alpha",
    "l1_ratio": "the penalty is alpha/2 |w|^2, that of l1_ratio=0; use alpha",
    "C": "use alpha=1 / (C * n_samples)",
    "power_t": "learning_rate='invscaling' is eta0 / sqrt(t), that of power_t=0.5; use eta0",
    "epsilon": "use loss=losses.Custom(...), with a function that has it",
    "early_stopping": "use tol, which ends fit when the objective falls no more, or max_iter",
    "validation_fraction": "use tol, which ends fit when the objective falls no more, or max_iter",
    "n_iter_no_change": "use tol, which compares the objective with that of half as many passes",
    "n_jobs": f"it learns in one thread; {_LEAVE_OUT}",
    "warm_start": "use partial_fit with solver='sgd', which goes on from what was learned",
}


def explain_foreign(hints: Mapping[str, str]) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Return a decorator of constructors: a name in `hints` that the constructor does not take is a TypeError.

    `inspect.signature` of the result is that of the constructor, so that get_params and clone do not notice.

    >>> import novikoff as nk
    >>> nk.Perceptron(average=True)
    Traceback (most recent call last):
    ...
    TypeError: Perceptron has no parameter 'average': use hypothesis='averaged'.
    """

    def decorate(init: Callable[P, None]) -> Callable[P, None]:
        foreign = {name: hint for name, hint in hints.items() if name not in signature(init).parameters}

        @wraps(init)
        def explain(*args: P.args, **kwargs: P.kwargs) -> None:
            for name in kwargs:
                if name in foreign:
                    raise TypeError(f"{type(args[0]).__name__} has no parameter {name!r}: {foreign[name]}.")
            init(*args, **kwargs)

        return explain

    return decorate

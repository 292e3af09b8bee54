"""The step size of a built-in rule, compiled from the formulas in `novikoff.rules`.

    problem   the multiple tau >= 0 of y * x that an update adds to the weights
    given     the code of a rule, which is the index of its formula in `rules.FORMULAS`; its parameter; the margin and
              the squared norm of an example, and whether it is a mistake
    result    tau; 0 leaves the weights as they are

A loop that is passed a function, or that captures one in a closure, misses numba's disk cache in every process. So
loops are passed the code, an integer, and call `step_size`, a global: a chain of ifs, one for each formula. It is built
here from closures, which do no harm in a function that is inlined and not cached by itself. The branches do not depend
on the row, and cost nothing that can be measured.
"""

from __future__ import annotations

from novikoff._compiled import inlined
from novikoff.rules import FORMULAS, LARGEST_SQUARED_UPDATE

__all__ = ["LARGEST_SQUARED_UPDATE", "choose_by_code", "step_size"]


def choose_by_code(formulas, code=0):
    """Return step_size(rule, parameter, margin, squared_norm, mistake) for the rules from `code` on."""
    formula = inlined(formulas[code])

    def last_step_size(rule, parameter, margin, squared_norm, mistake):
        return formula(margin, squared_norm, mistake, parameter)

    if code == len(formulas) - 1:
        return inlined(last_step_size)
    others = choose_by_code(formulas, code + 1)

    def step_size(rule, parameter, margin, squared_norm, mistake):
        if rule == code:
            return formula(margin, squared_norm, mistake, parameter)
        return others(rule, parameter, margin, squared_norm, mistake)

    return inlined(step_size)


step_size = choose_by_code(FORMULAS)

"""Everything novikoff raises on purpose.

    NovikoffError
    ├── DataError            (ValueError)   rows or labels that cannot be learned from
    ├── RuleError            (ValueError)   an update rule that is unknown or misbehaves
    ├── LossError            (ValueError)   a loss that is unknown, misbehaves, or that a solver cannot take
    ├── DivergenceError      (ArithmeticError)   a descent that went up: its steps are too long
    ├── MergeError           (ValueError)   states that do not belong together
    ├── CertificateError     (ValueError)   a claim about data that is false
    ├── ReentryError         (RuntimeError) a call on a learner from within another call on it
    └── ModelFileError       (ValueError)   a file that holds no whole model, or a model that no file can hold

Each class is also the built-in that callers would catch. The message says what is wrong, where, what was
found and what to do. Rejected data changes nothing: the learner is as it was before the call.
"""

from __future__ import annotations

__all__ = [
    "CertificateError",
    "DataError",
    "DivergenceError",
    "LossError",
    "MergeError",
    "ModelFileError",
    "NovikoffError",
    "ReentryError",
    "RuleError",
]


class NovikoffError(Exception):
    """The root of the tree: catch this to catch everything of ours."""


class DataError(NovikoffError, ValueError):
    """Rows or labels that cannot be learned from or predicted on."""


class RuleError(NovikoffError, ValueError):
    """An update rule that is unknown, wrongly set, or returned a step that is not a number >= 0."""


class LossError(NovikoffError, ValueError):
    """A loss that is unknown, cannot be compiled, or lacks what a solver needs."""


class DivergenceError(NovikoffError, ArithmeticError):
    """A descent that went up instead of down: its steps are too long. There is no model."""


class MergeError(NovikoffError, ValueError):
    """States of different learners or shapes cannot be merged."""


class CertificateError(NovikoffError, ValueError):
    """A certificate claims what is not true of the data it is checked against."""


class ModelFileError(NovikoffError, ValueError):
    """A model file is missing, cut short, damaged, foreign or too new; or a model holds what no file can keep."""


class ReentryError(NovikoffError, RuntimeError):
    """A learner was called from within another call on it, or copied by a fork while another thread changed it."""

"""The exceptions that novikoff raises on purpose.

    NovikoffError
    ├── DataError            (ValueError)        rows or labels that cannot be learned from
    ├── RuleError            (ValueError)        an update rule that is unknown or returns an invalid step
    ├── LossError            (ValueError)        a loss that is unknown, invalid, or that a solver cannot use
    ├── DivergenceError      (ArithmeticError)   a solver that diverged: its steps are too long
    ├── MergeError           (ValueError)        states of different learners or shapes
    ├── CertificateError     (ValueError)        a certificate that does not hold for the data
    ├── TimeLimitError       (TimeoutError)      a time limit that was reached before anything was proved
    ├── ReentryError         (RuntimeError)      a call on a learner from within another call on it
    ├── ClusterError         (RuntimeError)      a cluster that was lost, or whose workers die of a task
    ├── ModelFileError       (ValueError)        a file without a complete model, or a model that cannot be saved
    └── ServiceError         (RuntimeError)      a service that cannot start or go on
        └── LogError         (OSError)           an event log that is damaged, in use, or cannot be written
            └── LogFullError                     an event log without room; nothing was logged

Each class also derives from the built-in exception that callers would catch. The message says what is wrong, where,
what was found and what to do. Rejected data changes nothing: the learner is as it was before the call.
"""

from __future__ import annotations

__all__ = [
    "CertificateError",
    "ClusterError",
    "DataError",
    "DivergenceError",
    "LogError",
    "LogFullError",
    "LossError",
    "MergeError",
    "ModelFileError",
    "NovikoffError",
    "ReentryError",
    "RuleError",
    "ServiceError",
    "TimeLimitError",
]


class NovikoffError(Exception):
    """The base class of all exceptions of novikoff."""


class DataError(NovikoffError, ValueError):
    """Rows or labels that cannot be learned from or predicted on."""


class RuleError(NovikoffError, ValueError):
    """An update rule that is unknown, wrongly set, or returned a step that is not a number >= 0."""


class LossError(NovikoffError, ValueError):
    """A loss that is unknown, cannot be compiled, or lacks what a solver needs."""


class DivergenceError(NovikoffError, ArithmeticError):
    """A solver diverged, because its steps are too long. No model is kept."""


class MergeError(NovikoffError, ValueError):
    """States of different learners or shapes cannot be merged."""


class CertificateError(NovikoffError, ValueError):
    """A certificate does not hold for the data that it is checked against."""


class ModelFileError(NovikoffError, ValueError):
    """A model file is missing, truncated, damaged, of another program or too new; or a model cannot be saved."""


class TimeLimitError(NovikoffError, TimeoutError):
    """A time limit was reached before anything was proved that could be returned."""


class ReentryError(NovikoffError, RuntimeError):
    """A learner was called from within another call on it, or copied by a fork while another thread changed it."""


class ClusterError(NovikoffError, RuntimeError):
    """A cluster cannot be reached, was lost, or has workers that die of a task."""


class ServiceError(NovikoffError, RuntimeError):
    """A service cannot start, or cannot go on."""


class LogError(ServiceError, OSError):
    """An event log is damaged, in use by another process, or cannot be written."""


class LogFullError(LogError):
    """There is no room for more in an event log. Nothing was logged; it may be tried again."""

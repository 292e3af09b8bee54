"""Whether an error is a Ctrl-C that Python has wrapped."""

from __future__ import annotations

__all__ = ["is_interrupt"]


def is_interrupt(error: BaseException) -> bool:
    """Return whether an error is a KeyboardInterrupt, or was raised by Python because of one.

    Up to 3.11, Python raises a RuntimeError from whatever ends a `__set_name__`, so a Ctrl-C while a module with
    dataclasses is imported arrives as a RuntimeError.
    """
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)

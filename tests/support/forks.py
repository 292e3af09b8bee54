"""Calls in forked processes that are ended if they hang."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Callable

__all__ = ["call_in_fork"]


def call_in_fork(call: Callable[[], object], seconds: int = 60) -> int:
    """Return the exit code of a forked process that makes a call: 0 if it returned, 2 if it raised, or minus the number
    of the signal that ended it; SIGALRM if it took longer than so many seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks in a process with threads
        child = os.fork()
    if child == 0:
        code = 2
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(seconds)
            call()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

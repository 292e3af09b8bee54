"""Failpoints: places where tests kill the process.

The environment variable NOVIKOFF_FAILPOINT, which only tests set, names a place and how many visits to survive, such as
"after commit:3".
"""

from __future__ import annotations

import os
import signal

__all__ = ["failpoint"]

_name, _, _count = os.environ.get("NOVIKOFF_FAILPOINT", "").partition(":")
_visits_left = int(_count or 0)


def failpoint(name: str) -> None:
    """Kill this process without warning if tests have asked for that here."""
    if name == _name:
        _visit()


def _visit() -> None:
    global _visits_left
    if _visits_left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    _visits_left -= 1

"""Learning from within learning, which is refused."""

from __future__ import annotations

from novikoff.errors import ReentryError
from novikoff.system.threads import Lock

__all__ = ["require_free"]


def require_free(lock: Lock, owner: object) -> None:
    """Refuse to learn if this thread holds the lock already: it cannot wait for itself."""
    if lock.is_mine:
        raise ReentryError(
            f"A {type(owner).__name__} was asked to learn from within another call of this thread that teaches it: by "
            "a signal handler, an attribute or a problem. Nothing was learned; learn after the other call has returned."
        )

"""Job: work in a thread of its own, with progress to read and a way to stop it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from novikoff.errors import NovikoffError

__all__ = ["Cancelled", "Job"]


class Cancelled(Exception):  # noqa: N818 - no error: somebody asked for it
    """The user has stopped a job."""


class Job:
    """One run of `work(job)`, which calls `report` along the way and `check` often.

    Attributes
    ----------
    state : {"running", "done", "cancelled", "failed"}
    progress : dict
        What was reported last, by name.
    result : dict or None
        What the work has returned. A job that is cancelled may have one too, if the work returns what it has.
    error : str
    """

    def __init__(self, kind: str, work: Callable[[Job], dict[str, Any] | None]) -> None:
        self.kind, self.state, self.error = kind, "running", ""
        self.progress: dict[str, Any] = {}
        self.result: dict[str, Any] | None = None
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Job], dict[str, Any] | None]) -> None:
        state, error = "done", ""
        result: dict[str, Any] | None = None
        try:
            result = work(self)
            state = "cancelled" if self.is_cancelled else "done"
        except Cancelled:
            state = "cancelled"
        except (NovikoffError, OSError) as found:
            state, error = "failed", str(found)
        except BaseException as bug:
            state, error = "failed", f"This is a fault of the studio: {bug!r}."
            raise
        finally:
            with self._lock:
                self.state, self.error, self.result = state, error, result

    def report(self, **progress: Any) -> None:
        """Note progress, and raise Cancelled if the user has stopped the job."""
        with self._lock:
            self.progress |= progress
        self.check()

    def check(self) -> None:
        """Raise Cancelled if the user has stopped the job."""
        if self.is_cancelled:
            raise Cancelled

    @property
    def is_cancelled(self) -> bool:
        return self._stop.is_set()

    def cancel(self) -> None:
        """Stop the work at its next check."""
        self._stop.set()

    def wait(self, seconds: float) -> None:
        """Wait for the end of the work, at most for some seconds."""
        self._thread.join(seconds)

    def to_json(self) -> dict[str, Any]:
        """Return state, progress and result as a JSON object."""
        with self._lock:
            return {
                "kind": self.kind,
                "state": self.state,
                "error": self.error,
                "progress": dict(self.progress),
                "result": self.result,
            }

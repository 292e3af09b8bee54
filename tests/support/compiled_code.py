"""Where tests keep compiled code: a folder for each way in which it is compiled, shared by all processes of a run."""

from collections.abc import Mapping
from pathlib import Path

_FOLDER = Path(__file__).parents[2] / ".pytest_cache"


def folder_of(environment: Mapping[str, str]) -> str:
    """Return the folder for the compiled code of a process that has this environment.

    Processes may share it at the same time (see _add_lock in novikoff/_compiled/numba_private.py), but those that
    compile in different ways would replace each other's code again and again.
    """
    if environment.get("NOVIKOFF_PLAIN", "") not in ("", "0"):
        variant = "plain"
    else:
        variant = "checked" if environment.get("NUMBA_BOUNDSCHECK", "") not in ("", "0") else "fast"
    return str(_FOLDER / f"numba-{variant}")

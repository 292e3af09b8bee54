"""Settings for all tests."""

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

# All workers share the compiled code: see _add_lock in novikoff/_compiled/numba_private.py.
_VARIANT = "plain" if os.environ.get("NOVIKOFF_PLAIN") else "checked" if os.environ.get("NUMBA_BOUNDSCHECK") else "fast"
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / f"numba-{_VARIANT}"))

# The first call of a loop compiles it, so a deadline would only measure the compiler. Every day the same examples are
# tried, so that a run that fails fails again; pytest --hypothesis-profile=explore draws new ones, and prints
# the seed and the example if one fails.
everyday = settings(
    deadline=None, max_examples=60, print_blob=True, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("everyday", everyday)
settings.register_profile("explore", everyday, max_examples=100, derandomize=False)
settings.register_profile("thorough", everyday, max_examples=2000, derandomize=False)
settings.load_profile("everyday")


def pytest_terminal_summary(terminalreporter):
    """Say it loudly if the logs of the service in databases were not tested."""
    skipped = [report for report in terminalreporter.stats.get("skipped", ()) if "PostgreSQL" in str(report.longrepr)]
    if skipped:
        terminalreporter.write_line(
            "PostgreSQL is not installed: logs in databases were NOT tested.", red=True, bold=True
        )

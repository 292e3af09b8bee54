"""Settings for all tests."""

import os

from hypothesis import HealthCheck, settings

from tests.support.compiled_code import folder_of

os.environ.setdefault("NUMBA_CACHE_DIR", folder_of(os.environ))

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
    """Say it where nobody overlooks it if something was not tested, for want of a browser or of a database server."""
    skipped = terminalreporter.stats.get("skipped", ())
    if any("PostgreSQL" in str(report.longrepr) for report in skipped):
        terminalreporter.write_line(
            "PostgreSQL is not installed: logs in databases were NOT tested.", red=True, bold=True
        )
    if n := sum("Chromium" in str(report.longrepr) for report in skipped):
        line = f"{n} tests of the studio were SKIPPED: there is no Chromium here (Debian: apt install chromium)"
        terminalreporter.write_line(line, red=True, bold=True)

"""Settings for all tests."""

import os
from pathlib import Path

from hypothesis import HealthCheck, settings

# numba's disk cache is not made for processes that fill it at the same time: each gets its own.
WORKER = os.environ.get("PYTEST_XDIST_WORKER", "main")
os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / f"numba-{WORKER}"))

# The first call of a kernel compiles it, so a deadline would only measure the compiler. Every day the same examples are
# tried, so that a run that fails fails again; pytest --hypothesis-profile=thorough looks for new ones.
everyday = settings(
    deadline=None, max_examples=60, print_blob=True, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("everyday", everyday)
settings.register_profile("thorough", everyday, max_examples=2000, derandomize=False)
settings.load_profile("everyday")

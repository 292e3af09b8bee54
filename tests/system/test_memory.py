"""Freed memory stays in the process also where Dask has told the C library to return it."""

import os
import subprocess
import sys

import pytest

COUNT = """
import resource, sys
import numpy as np
from novikoff.system.memory import keep_freed_memory, undo_trimming
keep_freed_memory()
if sys.argv[1] == "undo":
    undo_trimming()
def work():
    for _ in range(50):
        np.ones(1 << 18)  # 2 MB, as much as a block of rows
work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(how, **environment):
    command = [sys.executable, "-c", COUNT, how]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=True)
    return int(done.stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="MALLOC_TRIM_THRESHOLD_ is of the GNU C library")
def test_page_faults_do_not_grow_with_the_blocks():
    trimmed = {"MALLOC_TRIM_THRESHOLD_": "65536"}
    assert page_faults("undo", **trimmed) <= page_faults("keep") + 600  # one block of 2 MB has 512 pages

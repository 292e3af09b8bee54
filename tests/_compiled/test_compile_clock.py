"""The clock that stands still while something is compiled."""

import threading
import time

import numpy as np
import pytest

from novikoff._compiled import before_compiling, compile_here, compile_seconds, is_compiling, working_time
from novikoff._compiled.compile_clock import _CompileClock

needs_jit = pytest.mark.skipif(not is_compiling, reason="nothing is compiled without the JIT")


def new_function():
    def add(x):
        total = 0.0
        for value in x:
            total += value
        return total

    return compile_here(add)


@needs_jit
def test_compiling_is_counted_and_the_clock_stands_still():
    add, x = new_function(), np.ones(3)
    wall, compiled, worked = time.perf_counter(), compile_seconds(), working_time()
    assert add(x) == 3.0
    wall, compiled, worked = time.perf_counter() - wall, compile_seconds() - compiled, working_time() - worked
    assert compiled > 0.0
    assert compiled + worked == pytest.approx(wall, abs=0.01)
    before = compile_seconds()
    assert add(x) == 3.0
    assert compile_seconds() == before


@needs_jit
def test_the_callback_comes_once_before_compiling():
    calls = []
    before_compiling(lambda: calls.append(compile_seconds()))
    start = compile_seconds()
    new_function()(np.ones(3))
    new_function()(np.ones(3))
    assert len(calls) == 1
    assert calls[0] == pytest.approx(start, abs=0.01)


def test_overlapping_compilations_are_counted_once():
    """Two threads, of which one begins and ends within the time of the other."""
    clock = _CompileClock()
    began = time.perf_counter()
    clock.on_start(None)
    inner = threading.Thread(target=lambda: (clock.on_start(None), time.sleep(0.02), clock.on_end(None)))
    inner.start()
    inner.join()
    while_running = clock.seconds_until(time.perf_counter())
    clock.on_end(None)
    took = time.perf_counter() - began
    assert 0.02 <= while_running <= clock.seconds_until(time.perf_counter()) <= took

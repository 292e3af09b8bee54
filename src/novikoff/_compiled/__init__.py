"""Compiled code: the one package that imports numba, with a plain fallback for everything that is hand-written.

    jit.py             the decorators, and which flags they compile with
    compile_clock.py   how long compiling took, and a clock that stands still meanwhile
    numba_private.py   the parts of numba that are not documented, guarded: without them only speed is lost
    switches.py        NOVIKOFF_PLAIN=1, and which fast paths this process uses
    llvm.py            functions written in LLVM's intermediate representation
    pyobjects.py       functions that Python calls as builtins, and that read Python's objects
    user_functions.py  users' own functions within compiled loops
    versions.py        nk.show_versions
    loops/             the loops themselves: functions of arrays and numbers, nothing else

What the loops compute is decided elsewhere: rules in `rules.py`, losses in `losses.py`.
"""

from novikoff._compiled.compile_clock import before_compiling, compile_seconds, waiting_for_compiler, working_time
from novikoff._compiled.jit import (
    compile_here,
    inlined,
    inlined_exactly,
    inlined_in_order,
    is_compiling,
    loop,
    rebuild,
)
from novikoff._compiled.switches import PREFETCHES_ROWS

__all__ = [
    "PREFETCHES_ROWS",
    "before_compiling",
    "compile_here",
    "compile_seconds",
    "inlined",
    "inlined_exactly",
    "inlined_in_order",
    "is_compiling",
    "loop",
    "rebuild",
    "waiting_for_compiler",
    "working_time",
]

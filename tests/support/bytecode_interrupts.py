"""A KeyboardInterrupt before any bytecode of the package, as Ctrl-C may cause it.

CPython raises it where it looks for signals, which is nowhere within compiled code or a call of C, and not between the
end of a `with` block and the call that releases its lock. Everything else is tried.
"""

import dis
import sys
from functools import cache
from pathlib import Path
from types import CodeType

PACKAGE = str(Path(__file__).parents[2] / "src" / "novikoff")


@cache
def _with_exits(code: CodeType) -> frozenset[int]:
    """Return the offsets of the instructions that call __exit__ at the end of a `with` block."""
    steps = [(step.offset, step.opname, step.argval) for step in dis.get_instructions(code)]
    found: set[int] = set()
    for at in range(len(steps) - 3):
        if all(opname == "LOAD_CONST" and value is None for _, opname, value in steps[at : at + 3]):
            calls = [opname for _, opname, _ in steps[at + 3 : at + 5]]
            if "CALL" in calls:
                first = at - 1 if at and steps[at - 1][1] == "SWAP" else at
                found |= {offset for offset, _, _ in steps[first : at + 5]}
    return frozenset(found)


class Interrupt:
    """Call something, and interrupt it before the bytecode with this number, of those in files of the package.

    Attributes
    ----------
    came : bool
        Whether there were so many.
    """

    def __init__(self, number: int, under: str = PACKAGE) -> None:
        self.left, self.under, self.came = number, under, False

    def __call__(self, call):
        """Return what the call returns; None if it was interrupted."""
        watched = sys.gettrace()
        sys.settrace(self._enter)
        try:
            return call()
        except KeyboardInterrupt:
            if not self.came:
                raise
            return None
        finally:
            sys.settrace(watched)

    def _enter(self, frame, event, arg):
        name = frame.f_code.co_filename
        if not name.startswith(self.under) or name.endswith(
            "system/exclusive.py"
        ):  # which says where signals cannot come
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        return self._step

    def _step(self, frame, event, arg):
        if event == "opcode" and frame.f_lasti not in _with_exits(frame.f_code):
            if self.left == 0:
                self.came = True
                raise KeyboardInterrupt
            self.left -= 1
        return self._step


def count_bytecodes(call, under: str = PACKAGE) -> int:
    """Count the bytecodes of the package that a call executes."""
    whole = Interrupt(sys.maxsize, under)
    whole(call)
    return sys.maxsize - whole.left

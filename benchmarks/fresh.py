"""Measurements that need a fresh process: memory while fitting, and start-up time."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Benchmark, Line, Options, Times, at_most, seconds

_REPEATS = 7  # times of processes vary more than times of calls

_IMPORT = "import novikoff"
_FIRST_FIT = """
import time, warnings
import numpy as np
import novikoff as nk
model = nk.Perceptron(max_iter=5)
X, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 0.5]]), np.array([0, 1, 0])
start = time.perf_counter()
model.fit(X, y)
print(time.perf_counter() - start)
"""


def memory(options: Options) -> list[Line]:
    """C-ordered float32 and float64 arrays and CSR matrices are not copied."""
    if not Path("/proc/self/clear_refs").exists():
        return [Line("memory while fitting", "X itself", at_most(0.1, "%"), note="can only be measured on Linux")]
    lines = []
    for kind in ("float32", "float64", "csr"):
        found = json.loads(_output("-m", "benchmarks.fresh", kind, str(options.size(500_000, 100_000))))
        share = found["extra"] / found["size"]
        note = f"{found['extra'] / 1e6:.1f} MB at most on top of X and y, X is {found['size'] / 1e6:.0f} MB"
        lines.append(
            Line(f"memory while fitting, {kind}, as a share of X", "X itself", at_most(0.1, "%"), share, note=note)
        )
    return lines


def startup(options: Options) -> list[Line]:
    bare, imported, helped = ["-c", "pass"], ["-c", _IMPORT], _command("--help")
    lines = [_startup_line("import novikoff", bare, [sys.executable, *imported])]
    if helped is None:
        lines.append(
            Line("novikoff --help", "python -c pass", at_most(0.25, " s"), note="there is no novikoff command")
        )
    else:
        lines.append(_startup_line("novikoff --help", bare, helped))
    _output("-c", _FIRST_FIT)  # fills the cache
    first = min(float(_output("-c", _FIRST_FIT)) for _ in range(_REPEATS))
    lines.append(
        Line(
            "first fit in a process, compiled code on disk",
            "–",
            at_most(1.0, " s"),
            first,
            note="after the imports, three rows",
        )
    )
    return lines


def _startup_line(work: str, bare: list[str], command: list[str]) -> Line:
    """Wall time of a command less that of an empty Python program, in turns."""
    pairs = [(seconds(lambda: _run([sys.executable, *bare])), seconds(lambda: _run(command))) for _ in range(_REPEATS)]
    theirs, ours = (min(times) for times in zip(*pairs, strict=True))
    return Line(work, "python -c pass", at_most(0.25, " s"), ours - theirs, Times(theirs, ours))


def _command(*arguments: str) -> list[str] | None:
    script = Path(sys.executable).with_name("novikoff")
    works = script.exists() and subprocess.run([script, *arguments], capture_output=True, check=False).returncode == 0
    return [str(script), *arguments] if works else None


def _output(*arguments: str) -> str:
    return _run([sys.executable, "-W", "ignore", *arguments])


def _run(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout


def _peak_of_fit(kind: str, n: int) -> dict[str, int]:
    """The bytes of X, and by how many the process grew during the fit."""
    import numpy as np

    import novikoff as nk
    from benchmarks import data

    model = nk.Perceptron(max_iter=2)
    if kind == "csr":
        model.fit(*data.uniform_sparse(50, 1_000, 10))  # compiles before anything is measured
        X, y = data.uniform_sparse(n, 50_000, 50)
        size = X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    else:
        dtype = np.dtype(kind).type
        small = data.noisy_linear(50, 10, dtype)
        model.fit(small.X, small.y)
        rows = data.noisy_linear(n, 100, dtype)
        X, y, size = rows.X, rows.y, rows.X.nbytes
    _reset_peak()
    before = _memory("VmRSS")
    model.fit(X, y)
    return {"size": size, "extra": max(0, _memory("VmHWM") - before)}


def _memory(name: str) -> int:
    """Bytes of this process now (VmRSS) or at most (VmHWM). getrusage would include those of the parent process."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) * 1024
    raise LookupError(name)


def _reset_peak() -> None:
    """Reset the peak, since compiling needs more memory than learning."""
    Path("/proc/self/clear_refs").write_text("5")


BENCHMARKS: dict[str, Benchmark] = {"memory": memory, "startup": startup}


if __name__ == "__main__":
    print(json.dumps(_peak_of_fit(sys.argv[1], int(sys.argv[2]))))

"""Find attacks, play rounds of one in a process of its own, and say what came of it."""

from __future__ import annotations

import faulthandler
import importlib
import os
import pkgutil
import signal
import subprocess
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tests import fuzz

ROOT = Path(__file__).parents[2]
_PREFIX = "attack_"
_PATIENCE = 200  # seconds beyond its time before a process that hangs is ended


@dataclass(frozen=True)
class Report:
    """What came of an attack: rounds and cases that went well, and what it printed if one did not."""

    name: str
    rounds: int
    cases: int
    failure: str | None


def attacks() -> list[str]:
    """The names of all attacks."""
    modules = (module.name for module in pkgutil.iter_modules(fuzz.__path__))
    return sorted(name.removeprefix(_PREFIX) for name in modules if name.startswith(_PREFIX))


def play(name: str, *, seed: int, first: int, rounds: int | None, seconds: float) -> int:
    """Play rounds of an attack in this process, and print a line after each; return an exit code."""
    faulthandler.enable()
    attack = importlib.import_module(f"tests.fuzz.{_PREFIX}{name}").attack
    end = time.monotonic() + seconds
    number = first
    while (rounds is None or number < first + rounds) and (number == first or time.monotonic() < end):
        print(f"begin {number}", flush=True)
        try:
            cases = attack(np.random.default_rng([seed, number]))
        except BaseException:
            traceback.print_exc()
            return 1
        print(f"done {cases}", flush=True)
        number += 1
    return 0


def run(name: str, *, seed: int, first: int = 0, rounds: int | None = None, seconds: float = 60.0) -> Report:
    """Play rounds of an attack in a child process: until the time is over, or as many as asked for."""
    options = {"--play": name, "--seed": seed, "--first": first, "--rounds": rounds, "--seconds": seconds}
    words = [str(word) for option, value in options.items() if value is not None for word in (option, value)]
    command = [sys.executable, "-m", "tests.fuzz", *words]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=ROOT, env=environment, start_new_session=True, **pipes) as child:
        try:
            output, errors = child.communicate(timeout=seconds + _PATIENCE)
            ending = str(child.returncode)
        except subprocess.TimeoutExpired:
            # The whole group: a forked process that hangs would keep the pipes open, and be waited for.
            os.killpg(child.pid, signal.SIGKILL)
            output, errors = child.communicate()
            ending = "a hang"
    begun = [int(line.split()[1]) for line in output.splitlines() if line.startswith("begin ")]
    done = [int(line.split()[1]) for line in output.splitlines() if line.startswith("done ")]
    failure = None
    if ending != "0":
        again = f"python -m tests.fuzz --only {name} --seed {seed} --first {begun[-1] if begun else first} --rounds 1"
        failure = f"{name} ended with {ending}. To repeat it:\n    {again}\n{errors}"
    return Report(name, len(done), sum(done), failure)

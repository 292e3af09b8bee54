"""WarmUp: compile what learning needs in another process, while this one reads the first rows.

On a machine where nothing is compiled yet, reading a file and learning from it each take seconds to compile, and numba
compiles one function at a time in a process. Compiled code is kept on disk, where both processes find it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from novikoff import rules
from novikoff._compiled import before_compiling, compile_seconds, is_compiling, waiting_for_compiler
from novikoff.data.formats.block import CategoricalColumn, SparseBlock, TableBlock, TextColumn
from novikoff.data.formats.number_matrix import NumberMatrix
from novikoff.system.threads import n_processors

if TYPE_CHECKING:
    from novikoff.data.formats.block import AnyColumn, Block

__all__ = ["WarmUp"]

_PATIENCE = 60.0  # seconds to wait for the other process; then this one compiles by itself


class WarmUp:
    """Starts the other process as soon as something has to be compiled here, and waits for it before learning begins.

    Without a second processor, or if the other process fails, this one compiles everything.

    Parameters
    ----------
    rule : Rule, optional
        Of the model that is to learn.
    hats : bool
        Whether numbers have hats, which make the rows of all tables sparse.
    """

    def __init__(self, rule: rules.Rule = rules.Perceptron(), *, hats: bool = False) -> None:  # noqa: B008 - frozen
        self._hats = hats
        self._rule = next((name for name in rules.NAMES if type(rules.resolve(name)) is type(rule)), rules.NAMES[0])
        self._compiled_before = compile_seconds()
        self._is_open = is_compiling and n_processors() > 1
        self._process: subprocess.Popen[bytes] | None = None

    def expect(self, reader: Any) -> None:
        """Have the process started, if anything must be compiled, for rows like those of this reader."""
        if not self._is_open or self._process is not None:
            return
        kinds = getattr(reader, "kinds", None)
        target = getattr(reader, "target_name", None)
        columns = None if not kinds else [k for n, k in zip(reader.names, kinds, strict=True) if n != target]
        task = json.dumps({"kinds": columns, "format": type(reader).__name__, "rule": self._rule, "hats": self._hats})
        if compile_seconds() > self._compiled_before:
            self._start(task)
        else:
            before_compiling(lambda: self._start(task))

    def _start(self, task: str) -> None:
        if self._is_open and self._process is None:
            command = [sys.executable, "-m", __name__, task]
            quiet = subprocess.DEVNULL
            self._process = subprocess.Popen(command, stdin=quiet, stdout=quiet, stderr=quiet)

    def before_first(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks; wait for the process before the first, or end it if there is none."""
        try:
            for block in blocks:
                self.wait()
                yield block
        finally:
            self.wait(0.0)

    def wait(self, patience: float = _PATIENCE) -> None:
        """Wait until the process has ended, and end it after that many seconds; from then on none is started."""
        self._is_open = False
        if self._process is None:
            return
        try:
            with waiting_for_compiler():
                self._process.wait(patience)
        except BaseException as error:
            self._process.kill()
            self._process.wait()
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
        self._process = None


def compile_for(task: dict[str, Any]) -> None:
    """Learn from a few rows, predict and save, so that the compiled code for this kind of rows is on the disk."""
    from novikoff.data.encoding import Features
    from novikoff.perceptron.learner import Learner
    from novikoff.streaming.defaults import choose_rule_and_hypothesis
    from novikoff.streaming.model import StreamModel
    from novikoff.streaming.progressive import ProgressiveErrors
    from novikoff.streaming.session import LearningSession

    block = _few_rows(task["kinds"], task["format"])
    if block is None:
        return
    learner = Learner(*choose_rule_and_hypothesis(task["rule"], None))  # every hypothesis has the same compiled loops
    model = StreamModel(learner, Features(hats=task["hats"]))
    LearningSession(model, [block, block], progressive=ProgressiveErrors(model.model)).run()
    model.predict(block)
    with tempfile.TemporaryDirectory() as folder:
        model.save(Path(folder, "model.nk"))


def _few_rows(kinds: list[str] | None, format: str) -> Block | None:
    n = 4
    lines, labels = np.arange(n), CategoricalColumn.from_cells(["a", "b"] * (n // 2))
    if kinds:
        columns = {f"{k}": _few_cells(kind, n) for k, kind in enumerate(kinds)}
        numbers = NumberMatrix.from_columns({k: c for k, c in columns.items() if isinstance(c, np.ndarray)}, n)
        return TableBlock(
            "rows", lines, labels.strings, columns | numbers.columns, numbers=numbers, coded_labels=labels
        )
    if format == "SvmlightReader":
        return SparseBlock("rows", lines, np.array([-1.0, 1.0] * (n // 2)), sp.csr_array(np.eye(n)))
    return None


def _few_cells(kind: str, n: int) -> AnyColumn:
    if kind == "number":
        return np.arange(n, dtype=float)
    cells = [f"some words {k}" for k in range(n)]
    return TextColumn.from_cells(cells) if kind == "text" else CategoricalColumn.from_cells(cells)


if __name__ == "__main__":
    compile_for(json.loads(sys.argv[1]))

"""Vowpal Wabbit: its learners with the options that change how many mistakes they make, on a file in its format."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.mistakes.features import Examples

__all__ = ["SET_UPS", "Folder"]

_LOSSES = {"": "", ", hinge": " --loss_function hinge", ", logistic": " --loss_function logistic"}

# The first is the default: adaptive, normalised, invariant steps on the squared loss, which the others without a name
# of a loss have too.
SET_UPS: dict[str, str] = {
    **{f"default{loss}": option for loss, option in _LOSSES.items()},
    **{
        f"{learner}{loss}": f"--{learner}{option}"
        for learner in ("coin", "ftrl", "pistol", "sgd")
        for loss, option in _LOSSES.items()
    },
    "default, hinge, l2": "--loss_function hinge --l2 1e-5",
    "default, logistic, l2": "--loss_function logistic --l2 1e-5",
    "sgd, hinge, constant steps": "--sgd --loss_function hinge -l 1 --power_t 0",
    "sgd, logistic, constant steps": "--sgd --loss_function logistic -l 1 --power_t 0",
    # Learning rates that do not fall: of use where a stream drifts, as elec does.
    "default, hinge, constant steps": "--loss_function hinge -l 10 --power_t 0",
    "default, logistic, constant steps": "--loss_function logistic -l 10 --power_t 0",
}


class Folder:
    """A temporary folder with rows in Vowpal Wabbit's format; many set-ups learn from the file. It is removed
    with this object.

    Features have numbers instead of names, which become indices of weights as they are, so that no two share one.
    """

    def __init__(self, examples: Examples) -> None:
        self._examples = examples
        self._folder = tempfile.TemporaryDirectory(prefix="novikoff-vw-")
        self._file = Path(self._folder.name, "rows.vw")
        with self._file.open("w") as file:
            file.writelines(_lines(examples))

    def mistakes(self, arguments: str) -> int:
        """Learn from the file in one pass; return how many rows were predicted wrongly before they were learned."""
        import vowpalwabbit

        out = Path(self._folder.name, "predictions")
        n_classes = self._examples.n_classes
        copies = 1 << (n_classes - 1).bit_length() if n_classes > 2 else 1
        bits = max(18, (2 * copies * self._examples.X.shape[1]).bit_length())
        if n_classes > 2:
            arguments += f" --oaa {n_classes}"
        fixed = ["--quiet", "--no_stdin", "-d", str(self._file), "-p", str(out), "-b", str(bits)]
        vowpalwabbit.Workspace(arg_list=[*fixed, *arguments.split()]).finish()
        predicted = np.array([float(line.split()[0]) for line in out.read_text().splitlines() if line])
        if len(predicted) != len(self._examples.y):
            raise RuntimeError(f"Vowpal Wabbit predicted {len(predicted)} of {len(self._examples.y)} rows.")
        y = self._examples.y
        return int(np.count_nonzero((predicted - 1.0 if n_classes > 2 else predicted > 0.0) != y))


def _lines(examples: Examples) -> Iterator[str]:
    X = examples.X
    names = ("1" if value else "-1" for value in examples.y) if examples.n_classes == 2 else map(str, examples.y + 1)
    for i, label in enumerate(names):
        entries = slice(X.indptr[i], X.indptr[i + 1])
        pairs = zip(X.indices[entries].tolist(), X.data[entries].tolist(), strict=True)
        yield f"{label} | {' '.join([f'{j}:{value:.9g}' for j, value in pairs])}\n"

"""From a file to a model with the defaults of `nk.learn`: the rule "auto", on numbers with interpolation weights.

Against Vowpal Wabbit on the same rows, and against the averaged perceptron on plain numbers, which is what `nk.learn`
did by default before it had the rule "auto". The file has been read once before. Reading is in threads on all
processors, beside the one that learns; where processors are busy with something else the ratios say little.
"""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import dump_svmlight_file

import novikoff as nk
from benchmarks import data
from benchmarks.measure import Benchmark, Line, Options, alternate, at_least, at_most

_SLOWER = 1.6
_FASTER = 1.5


def defaults(options: Options) -> list[Line]:
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        svmlight, vw = _sparse_files(Path(folder), options)
        for name, path in (("svmlight text", svmlight), ("Vowpal Wabbit's text", vw)):
            work = f"{name}, {path.stat().st_size / 1e6:.0f} MB, to a model, defaults"
            lines += [_against_vowpal_wabbit(path, vw, work, options), _against_perceptron(path, work, options)]
        table = _table(Path(folder), options)
        work = f"numeric CSV, {table.stat().st_size / 1e6:.0f} MB, to a model, defaults"
        return [*lines, _against_perceptron(table, work, options)]


def _sparse_files(folder: Path, options: Options) -> tuple[Path, Path]:
    """Write texts as svmlight and as Vowpal Wabbit's text."""
    rows = data.text_like(options.size(160_000, 4_000), 50_000, 86)
    rows.X.data = rows.X.data.round(6)
    svmlight, vw = folder / "rows.svm", folder / "rows.vw"
    dump_svmlight_file(rows.X, np.where(rows.y, 1, -1), str(svmlight), zero_based=False)
    with svmlight.open() as source, vw.open("w") as target:
        target.writelines(line.replace(" ", " | ", 1) for line in source)
    return svmlight, vw


def _table(folder: Path, options: Options) -> Path:
    rows = data.noisy_linear(options.size(200_000, 10_000), 20, np.float64)
    path = folder / "rows.csv"
    header = ",".join([*(f"x{j}" for j in range(rows.X.shape[1])), "label"])
    np.savetxt(path, np.column_stack([rows.X, rows.y]), "%.6g", ",", header=header, comments="")
    return path


def _against_vowpal_wabbit(path: Path, vw: Path, work: str, options: Options) -> Line:
    target = at_least(_FASTER)
    if importlib.util.find_spec("vowpalwabbit") is None:
        return Line(work, "Vowpal Wabbit", target, note="pip install vowpalwabbit to measure this")
    import vowpalwabbit

    def learn() -> None:
        vowpalwabbit.Workspace(f"--quiet --no_stdin --loss_function hinge -b 18 -d {vw}").finish()

    times = alternate(learn, lambda: nk.learn(path), options.repeats)
    note = f"mistakes: {nk.learn(path).ledger.error_rate:.2%}"
    return Line(work, "Vowpal Wabbit", target, times.ratio, times, note=note)


def _against_perceptron(path: Path, work: str, options: Options) -> Line:
    times = alternate(lambda: nk.learn(path, rule="perceptron", hats=False), lambda: nk.learn(path), options.repeats)
    peer = "the averaged perceptron on plain numbers, time"
    return Line(work, peer, at_most(_SLOWER), times.ours / times.theirs, times)


BENCHMARKS: dict[str, Benchmark] = {"learn-defaults": defaults}

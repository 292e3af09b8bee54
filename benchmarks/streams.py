"""From a file to a model in one pass: against Vowpal Wabbit, and against reading it all and fitting scikit-learn.

Both sides read the same numbers from text on disk and learn in the order of the file; the file has been read once
before, so that neither waits for the disk. The score is the share of right answers while learning for novikoff and for
Vowpal Wabbit (progressive), and on the rows learned from for scikit-learn.
"""

from __future__ import annotations

import importlib.util
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.linear_model import Perceptron

import novikoff as nk
from benchmarks import data
from benchmarks.measure import Benchmark, Line, Options, alternate, at_least


def svmlight(options: Options) -> list[Line]:
    rows = data.text_like(options.size(160_000, 4_000), 50_000, 86)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.svm")
        dump_svmlight_file(rows.X, np.where(rows.y, 1, -1), str(path), zero_based=False)
        size = f"svmlight text, {path.stat().st_size / 1e6:.0f} MB, to a model"
        return [_against_vowpal_wabbit(path, size, options), _against_loading(path, size, options)]


def _against_vowpal_wabbit(path: Path, work: str, options: Options) -> Line:
    peer = "Vowpal Wabbit, the same as VW text"
    if importlib.util.find_spec("vowpalwabbit") is None:
        return Line(work, peer, at_least(3.0), note="pip install vowpalwabbit to measure this")
    import vowpalwabbit

    theirs = path.with_suffix(".vw")
    with path.open() as source, theirs.open("w") as target:
        target.writelines(line.replace(" ", " | ", 1) for line in source)

    def learn() -> Any:
        model = vowpalwabbit.Workspace(f"--quiet --loss_function hinge -b 18 -d {theirs}")
        model.finish()

    times = alternate(learn, lambda: _ours(path), options.repeats)
    return Line(work, peer, at_least(3.0), times.ratio, times, note=f"mistakes: {_ours(path).ledger.error_rate:.2%}")


def _against_loading(path: Path, work: str, options: Options) -> Line:
    model = Perceptron(shuffle=False, tol=None, max_iter=1)

    def learn() -> None:
        X, y = load_svmlight_file(str(path))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # fit takes no other
        model.fit(X, y)

    times = alternate(learn, lambda: _ours(path), options.repeats)
    return Line(work, "sklearn load_svmlight_file + fit", at_least(15.0), times.ratio, times)


def table(options: Options) -> list[Line]:
    rows = data.noisy_linear(options.size(400_000, 10_000), 50, np.float64)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.csv")
        header = ",".join([*(f"x{j}" for j in range(rows.X.shape[1])), "label"])
        np.savetxt(path, np.column_stack([rows.X, rows.y]), "%.6g", ",", header=header, comments="")
        work = f"numeric CSV, {path.stat().st_size / 1e6:.0f} MB, to a model"
        return [
            _against_frame(path, work, name, target, options) for name, target in (("polars", 1.5), ("pandas", 2.0))
        ]


def _against_frame(path: Path, work: str, name: str, target: float, options: Options) -> Line:
    peer = f"{name} read_csv + sklearn fit"
    if importlib.util.find_spec(name) is None:
        return Line(work, peer, at_least(target), note=f"pip install {name} to measure this")
    frames = importlib.import_module(name)
    model = Perceptron(shuffle=False, tol=None, max_iter=1)

    def learn() -> None:
        values = frames.read_csv(path).to_numpy()
        model.fit(values[:, :-1], values[:, -1])

    times = alternate(learn, lambda: nk.learn(nk.open_stream(path, target="label"), scale=False), options.repeats)
    return Line(work, peer, at_least(target), times.ratio, times)


def _ours(path: Path) -> nk.StreamModel:
    return nk.learn(nk.open_stream(path), hypothesis="last")


BENCHMARKS: dict[str, Benchmark] = {"svmlight": svmlight, "csv": table}

"""From a file to a model in one pass, against Vowpal Wabbit and against reading the file and fitting scikit-learn.

Both sides read the same numbers from a file and learn in its order; the file has been read once before, so that neither
waits for the disk. novikoff reads and parses in threads on all processors; so do Vowpal Wabbit, polars and pyarrow, but
neither pandas nor scikit-learn. The score is the share of right predictions, for novikoff and Vowpal Wabbit while
learning (progressive), for scikit-learn on the rows it has learned.
"""

from __future__ import annotations

import gzip
import importlib.util
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.linear_model import Perceptron

import novikoff as nk
from benchmarks import data
from benchmarks.measure import Benchmark, Line, Options, Target, alternate, at_least, at_most, best_of


def svmlight(options: Options) -> list[Line]:
    with tempfile.TemporaryDirectory() as folder:
        path = _svmlight_file(Path(folder), options)
        size = f"svmlight text, {path.stat().st_size / 1e6:.0f} MB, to a model"
        return [
            _against_vowpal_wabbit(path, path, size, "the same as VW text", at_least(3.0), options),
            _against_loading(path, size, options),
        ]


def vowpal_wabbit(options: Options) -> list[Line]:
    with tempfile.TemporaryDirectory() as folder:
        path = _svmlight_file(Path(folder), options)
        work = "the same as VW text, hashed to 18 bits, to a model"
        return [_against_vowpal_wabbit(path, path.with_suffix(".vw"), work, "", at_least(2.0), options, hash_bits=18)]


def _svmlight_file(folder: Path, options: Options) -> Path:
    """Write a synthetic svmlight file of 186 MB, and a second file with the same rows in Vowpal Wabbit's format."""
    rows = data.text_like(options.size(160_000, 4_000), 50_000, 86)
    rows.X.data = rows.X.data.round(6)  # as in usual files; with all sixteen digits it would have 305 MB
    path = folder / "rows.svm"
    dump_svmlight_file(rows.X, np.where(rows.y, 1, -1), str(path), zero_based=False)
    with path.open() as source, path.with_suffix(".vw").open("w") as target:
        target.writelines(line.replace(" ", " | ", 1) for line in source)
    return path


def _against_vowpal_wabbit(
    path: Path, ours: Path, work: str, note: str, target: Target, options: Options, **features: Any
) -> Line:
    peer = ", ".join(["Vowpal Wabbit", *([note] if note else [])])
    if importlib.util.find_spec("vowpalwabbit") is None:
        return Line(work, peer, target, note="pip install vowpalwabbit to measure this")
    import vowpalwabbit

    def learn() -> Any:
        model = vowpalwabbit.Workspace(f"--quiet --loss_function hinge -b 18 -d {path.with_suffix('.vw')}")
        model.finish()

    times = alternate(learn, lambda: _ours(ours, **features), options.repeats)
    return Line(
        work, peer, target, times.ratio, times, note=f"mistakes: {_ours(ours, **features).ledger.error_rate:.2%}"
    )


def _against_loading(path: Path, work: str, options: Options) -> Line:
    model = Perceptron(shuffle=False, tol=None, max_iter=1)

    def learn() -> None:
        X, y = load_svmlight_file(str(path))
        X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # fit takes no 64-bit indices
        model.fit(X, y)

    times = alternate(learn, lambda: _ours(path), options.repeats)
    return Line(work, "sklearn load_svmlight_file + fit", at_least(15.0), times.ratio, times)


def table(options: Options) -> list[Line]:
    rows = data.noisy_linear(options.size(870_000, 10_000), 50, np.float64)
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

    def ours() -> None:
        nk.learn(path, target="label", hypothesis="averaged", scale=False)

    times = alternate(learn, ours, options.repeats)
    return Line(work, peer, at_least(target), times.ratio, times)


def _ours(path: Path, **features: Any) -> nk.StreamModel:
    return nk.learn(nk.open_stream(path), hypothesis="last", **features)


def parquet(options: Options) -> list[Line]:
    import pyarrow
    from pyarrow import parquet as files

    pyarrow.set_cpu_count(os.cpu_count())  # it would obey OMP_NUM_THREADS, but our reading has threads too
    rows = data.noisy_linear(options.size(400_000, 10_000), 50, np.float64)
    model = Perceptron(shuffle=False, tol=None, max_iter=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.parquet")
        columns = {f"x{j}": column for j, column in enumerate(rows.X.T)} | {"label": rows.y.astype(np.int64)}
        files.write_table(pyarrow.table(columns), path)

        def learn() -> None:
            found = files.read_table(path)
            X = np.column_stack([found[name].to_numpy() for name in found.column_names[:-1]])
            model.fit(X, found["label"].to_numpy())

        times = alternate(
            learn, lambda: nk.learn(nk.open_stream(path), hypothesis="last", scale=False), options.repeats
        )
        work = f"Parquet, {path.stat().st_size / 1e6:.0f} MB, to a model"
    return [Line(work, "pyarrow read_table + sklearn fit", at_least(2.0), times.ratio, times)]


def text(options: Options) -> list[Line]:
    """Both hash the lower-case words of the texts into 2^20 features, rows of equal norm, in one pass."""
    work, peer = "hashed words of 20 newsgroups to a model", "sklearn HashingVectorizer + Perceptron"
    source = data.real_file("text/20news_train.tsv.gz")
    if source is None:
        return [Line(work, peer, at_least(10.0), note="set NOVIKOFF_DATA to measure this")]
    with gzip.open(source, "rt") as lines:
        rows = [(label, body) for label, _, body in (line.rstrip("\n").split("\t") for line in lines)]
    random.Random(0).shuffle(rows)
    rows = rows[: options.size(len(rows), 1_000)]
    model = Perceptron(shuffle=False, tol=None, max_iter=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "news.txt")
        path.write_text("".join(f"{label}\t{body}\n" for label, body in rows))

        def learn() -> None:
            labels, bodies = zip(*(line.split("\t") for line in path.read_text().split("\n") if line), strict=True)
            model.fit(HashingVectorizer().transform(bodies), labels)

        form = {"ngrams": (1, 1), "char_ngrams": (0, 0), "hash_bits": 20}
        times = alternate(learn, lambda: _ours(path, **form), options.repeats)
        found = _ours(path, **form).ledger.error_rate
    return [Line(work, peer, at_least(10.0), times.ratio, times, note=f"mistakes: {found:.2%}")]


def memory(options: Options) -> list[Line]:
    """Peak memory of `novikoff learn` on 1, 4 and 16 times the rows; a first run compiles."""
    lines, sizes = [], (1, 4, 16)
    command = Path(sys.executable).with_name("novikoff")
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("svm", "vw", "csv", "jsonl", "parquet"):
            peaks = []
            for times in (1, *sizes):
                path = _write_rows(Path(folder, f"rows.{kind}"), times * options.size(20_000, 1_000))
                peaks.append(_peak([str(command), "learn", str(path), "-o", str(Path(folder, "m.nk"))]))
            shown = ", ".join(f"×{times}: {peak / 1e6:.0f} MB" for times, peak in zip(sizes, peaks[1:], strict=True))
            lines.append(
                Line(
                    f"peak memory of novikoff learn, .{kind} ×16",
                    "the same, ×4",
                    at_most(1.1),
                    peaks[3] / peaks[2],
                    note=shown,
                )
            )
    return lines


def _write_rows(path: Path, n: int) -> Path:
    """Write a file with n rows of 50 numbers."""
    rows = data.noisy_linear(n, 50, np.float64)
    source = path.with_suffix(".svm")
    dump_svmlight_file(np.round(rows.X, 4), rows.y, str(source), zero_based=False)
    if path != source:
        command = Path(sys.executable).with_name("novikoff")
        subprocess.run([command, "convert", str(source), str(path)], check=True, capture_output=True)
    return path


def _peak(command: list[str]) -> int:
    """The peak memory of a command, in bytes."""
    code = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True, capture_output=True); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    out = subprocess.run([sys.executable, "-c", code, *command], check=True, capture_output=True, text=True).stdout
    return 1024 * int(out)


def start(options: Options) -> list[Line]:
    """Wall time of the whole command on a table of 1,000 rows, with compiled code in the cache on disk."""
    command = Path(sys.executable).with_name("novikoff")
    with tempfile.TemporaryDirectory() as folder:
        rows = data.noisy_linear(1_000, 10, np.float64)
        path = Path(folder, "rows.csv")
        np.savetxt(path, np.column_stack([rows.X, rows.y]), "%.6g", ",")
        run = [str(command), "learn", str(path), "-o", str(Path(folder, "m.nk"))]
        took = best_of(lambda: subprocess.run(run, check=True, capture_output=True), max(options.repeats, 7))
    return [Line("novikoff learn, CSV of 1,000 rows, wall time", "–", at_most(1.5, " s"), took)]


BENCHMARKS: dict[str, Benchmark] = {
    "svmlight": svmlight,
    "vw": vowpal_wabbit,
    "csv": table,
    "parquet": parquet,
    "text": text,
    "learn-memory": memory,
    "learn-start": start,
}

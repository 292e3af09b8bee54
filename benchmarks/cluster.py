"""Two worker processes of this machine against one: learning in rounds, the cost of a round, and certificates.

Both sides compute the same result, to the last bit, unless a line says otherwise. Workers are started, and everything
is compiled, before a turn is timed. Each file is read by one process, so that a side with one process reads them in
turn.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

import novikoff as nk
from benchmarks.measure import Benchmark, Line, Options, alternate, at_least, at_most, no_target
from novikoff.distributed.learning import RoundObserver

_FILES = 8
_PLAIN = {"scale": False, "hats": False, "rule": "perceptron", "hypothesis": "averaged"}


@contextmanager
def _two_workers() -> Iterator[Any]:
    from novikoff.distributed.dask_engine import start_local

    with start_local(2) as client:
        yield client


def _missing(work: str) -> list[Line]:
    return [Line(work, "one process", at_least(1.0), note="pip install distributed to measure this")]


def _dense_rows(n: int, d: int, seed: int, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    return X, np.sign(X @ u + 0.3 * rng.normal(size=n) * np.linalg.norm(u)).astype(np.int64)


def _write_parquet(folder: Path, n: int, d: int) -> list[str]:
    """Write dense rows with noise on the labels to several files."""
    u = np.random.default_rng(0).normal(size=d).astype(np.float32)
    for k in range(_FILES):
        X, y = _dense_rows(n // _FILES, d, k + 1, u)
        table = pa.table({**{f"x{j}": X[:, j] for j in range(d)}, "y": y})
        pyarrow.parquet.write_table(table, folder / f"part{k}.parquet")
    return sorted(map(str, folder.glob("*.parquet")))


def parquet(options: Options) -> list[Line]:
    if importlib.util.find_spec("distributed") is None:
        return _missing("Parquet, 2 workers")
    n, d = options.size(2_000_000, 16_000), options.size(100, 10)
    with tempfile.TemporaryDirectory() as folder, _two_workers() as client:
        files = _write_parquet(Path(folder), n, d)

        def learn(cluster: Any, chains: int = 8) -> nk.StreamModel:
            return nk.distributed.learn(files, target="y", cluster=cluster, chains=chains, persist=False, **_PLAIN)

        times = alternate(lambda: learn(None), lambda: learn(client), options.repeats)
        work = f"Parquet, {n:,} rows of {d}, look and one round of 8 chains, 2 workers"
        lines = [Line(work, "one process", at_least(1.8), times.ratio, times, note=_load())]
        rows = _dense_rows(n // _FILES, d, 99, np.random.default_rng(0).normal(size=d).astype(np.float32))
        errors = [_error(learn(None, chains), *rows) for chains in (1, 8)]
        difference = 100 * (errors[1] - errors[0])
        note = f"held-out error {errors[1]:.3%} with 8 chains, {errors[0]:.3%} with 1"
        return [*lines, Line("the same: error of 8 chains", "1 chain", at_most(0.1, " points"), difference, note=note)]


def _error(model: nk.StreamModel, X: np.ndarray, y: np.ndarray) -> float:
    return float((model.predict(X) != y).mean())


def svmlight(options: Options) -> list[Line]:
    if importlib.util.find_spec("distributed") is None:
        return _missing("svmlight, 2 workers")
    rng = np.random.default_rng(1)
    with tempfile.TemporaryDirectory() as folder, _two_workers() as client:
        for k in range(_FILES):
            X = _sparse_rows(rng, options.size(20_000, 500), 50_000, 80)
            dump_svmlight_file(X, rng.choice([-1, 1], X.shape[0]), str(Path(folder, f"p{k}.svm")), zero_based=False)
        files = sorted(map(str, Path(folder).glob("*.svm")))

        def ours() -> None:
            nk.distributed.learn(files, cluster=client, rounds=4, chains=8, **_PLAIN)

        def threads() -> None:
            nk.learn(files, passes=5, shuffle="never", **_PLAIN)

        times = alternate(threads, ours, options.repeats)
        work = "svmlight text, look and 4 rounds, 2 workers"
        return [Line(work, "nk.learn, 5 passes, reading in threads", at_least(1.5), times.ratio, times, note=_load())]


def _sparse_rows(rng: np.random.Generator, n: int, d: int, per_row: int) -> sp.csr_array:
    """Rows with Zipf's frequencies, as of words."""
    columns = np.minimum((d ** rng.random((n, per_row))).astype(np.int64), d - 1)
    X = sp.csr_array((np.ones(n * per_row), (np.repeat(np.arange(n), per_row), columns.ravel())), shape=(n, d))
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn writes no others
    return X


def hashed(options: Options) -> list[Line]:
    """2^20 features, of which a round meets some."""
    if importlib.util.find_spec("distributed") is None:
        return _missing("2^20 features, 8 chains")
    rng, d = np.random.default_rng(2), 1 << 20
    with tempfile.TemporaryDirectory() as folder, _two_workers() as client:
        for k in range(_FILES):
            X = _sparse_rows(rng, options.size(20_000, 500), d, 100)
            dump_svmlight_file(X, rng.choice([-1, 1], X.shape[0]), str(Path(folder, f"p{k}.svm")), zero_based=False)
        files = sorted(map(str, Path(folder).glob("*.svm")))

        def learn(cluster: Any) -> None:
            nk.distributed.learn(files, cluster=cluster, rounds=3, chains=8, persist=False, **_PLAIN)

        times = alternate(lambda: learn(None), lambda: learn(client), options.repeats)
        return [
            Line(
                "2^20 features, look and 3 rounds of 8 chains, 2 workers",
                "one process",
                at_least(1.0),
                times.ratio,
                times,
                note=_load(),
            )
        ]


class _Seconds(RoundObserver):
    """Keeps the time of each round, and of its chains."""

    def __init__(self) -> None:
        self.rounds: list[float] = []
        self.bytes = 0

    def on_round(self, done: Any) -> None:
        self.rounds.append(done.seconds)
        self.bytes = done.bytes_moved


def overhead(options: Options) -> list[Line]:
    """A round of 8 chains that have ten rows each: what mixing costs."""
    if importlib.util.find_spec("distributed") is None:
        return _missing("overhead of a round")
    lines = []
    with tempfile.TemporaryDirectory() as folder, _two_workers() as client:
        for d, target in ((100, 30.0), (1 << 20, 100.0)):
            for k in range(_FILES):
                text = "".join(f"{(-1) ** i} {1 + (i * 37 + k) % (d - 1)}:1 {d}:0.5\n" for i in range(10))
                Path(folder, f"p{k}.svm").write_text(text)
            seconds = _Seconds()
            files = sorted(map(str, Path(folder).glob("*.svm")))
            nk.distributed.learn(files, cluster=client, rounds=8, chains=8, persist=True, observer=seconds, **_PLAIN)
            best = 1000 * min(seconds.rounds[2:])
            note = f"{seconds.bytes / 1e6:.2f} MB on the way; {_load()}"
            lines.append(
                Line(f"a round of 8 chains, {d:,} features", "nothing", at_most(target, " ms"), best, note=note)
            )
    return lines


def certificate(options: Options) -> list[Line]:
    if importlib.util.find_spec("distributed") is None:
        return _missing("certificate")
    n, d = options.size(2_000_000, 16_000), options.size(100, 10)
    rng = np.random.default_rng(0)
    u = rng.normal(size=d)
    with tempfile.TemporaryDirectory() as folder, _two_workers() as client:
        for k in range(_FILES):
            X = rng.normal(size=(2 * n // _FILES, d)).round(4)
            scores = X @ u / np.linalg.norm(u)
            X = X[abs(scores) > 0.1][: n // _FILES]
            table = pa.table({**{f"x{j}": X[:, j] for j in range(d)}, "y": np.sign(X @ u).astype(np.int64)})
            pyarrow.parquet.write_table(table, Path(folder, f"p{k}.parquet"))
        began = time.perf_counter()
        proof = nk.distributed.certify(f"{folder}/*.parquet", target="y", cluster=client)
        seconds = time.perf_counter() - began
        note = f"margin {proof.verdict.margin:.6g}, {proof.verdict.n_rows:,} rows, {seconds:.0f} s; {_load()}"  # type: ignore[union-attr]
        return [Line("separable certificate: passes", "nothing", at_most(10, ""), float(proof.passes), note=note)]


def chains(options: Options) -> list[Line]:
    """What 100 workers would learn, simulated in this process: the bits do not depend on where chains are computed."""
    rng, d, n_files = np.random.default_rng(3), 1 << 17, 100
    u = rng.normal(size=d)
    n = options.size(1_000, 50)
    with tempfile.TemporaryDirectory() as folder:
        for k in range(n_files + 1):
            X = _sparse_rows(rng, n if k < n_files else 20 * n, d, 60)
            y = np.sign(X @ u + 0.5 * np.sqrt(60) * rng.normal(size=X.shape[0]))
            dump_svmlight_file(X, y, str(Path(folder, f"p{k:03}.svm")), zero_based=False)
        *files, held_out = sorted(map(str, Path(folder).glob("*.svm")))

        def error(n_chains: int, rounds: int) -> float:
            model = nk.distributed.learn(files, rounds=rounds, chains=n_chains, persist=True, **_PLAIN)
            return 100 * (1 - model.score(held_out))

        found = {(s, r): error(s, r) for r in (1, 5) for s in (1, 2, 8, 32, 100)}
    notes = [f"{r} rounds: " + ", ".join(f"{found[s, r]:.2f} % ({s})" for s in (1, 2, 8, 32, 100)) for r in (1, 5)]
    work = f"{n_files * n:,} rows of words, 100 chains, 5 rounds"
    return [Line(work, "1 chain", no_target(" points"), found[100, 5] - found[1, 5], note="; ".join(notes))]


def _load() -> str:
    return f"load {os.getloadavg()[0]:.0f}"


BENCHMARKS: dict[str, Benchmark] = {
    "cluster-parquet": parquet,
    "cluster-svmlight": svmlight,
    "cluster-hashed": hashed,
    "cluster-overhead": overhead,
    "cluster-certificate": certificate,
    "cluster-chains": chains,
}

"""Files to learn from, and two worker processes that all tests of a session share."""

import numpy as np
import pytest

pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def cluster(tmp_path_factory):
    """A client of two processes with one thread each."""
    import dask

    from novikoff.distributed.dask_engine import start_local

    with dask.config.set({"distributed.scheduler.allowed-failures": 1}), start_local(2) as client:  # by default 3
        yield client


def write_tables(folder, n_files=5, *, n=120, seed=0):
    """CSV files of two numbers and a word, which come in different numbers of rows; not separable."""
    rng = np.random.default_rng(seed)
    for k in range(n_files):
        size = n + 17 * k
        X, words = rng.normal(k / 4, 1 + k / 3, (size, 2)).round(3), rng.choice(["a", "b", f"w{k}"], size)
        y = np.where(X @ [1.0, -2.0] + (words == "a") + 0.3 * rng.normal(size=size) > 0, "yes", "no")
        lines = [f"{u},{v},{w},{label}\n" for (u, v), w, label in zip(X.tolist(), words, y, strict=True)]
        (folder / f"part{k}.csv").write_text("u,v,word,y\n" + "".join(lines))
    return sorted(map(str, folder.glob("part*.csv")))


@pytest.fixture
def tables(tmp_path):
    return write_tables(tmp_path)

"""Engines: where the tasks of a run are computed, in this process or on a cluster.

An engine has one method, `map(function, items)`, which yields the results in the order of the items. A task depends on
its function and its item alone and changes neither, so an engine may compute it anywhere, and again where a worker has
died. With it, other libraries are a few lines away:

    class JoblibEngine:
        def map(self, function, items):
            return joblib.Parallel(n_jobs=4, return_as="generator")(joblib.delayed(function)(item) for item in items)

    class RayEngine:
        def map(self, function, items):
            shared = ray.put(function)
            futures = [ray.remote(lambda task, item: task(item)).remote(shared, item) for item in items]
            return (ray.get(future) for future in futures)

A function may be a `functools.partial`: its arguments are the same for all items, and often large, so that an engine
had better send them once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Protocol, TypeVar

from novikoff.errors import ClusterError
from novikoff.formatting.extras import explain_missing

__all__ = ["Engine", "SerialEngine", "open_engine", "warm"]

A = TypeVar("A")
B = TypeVar("B")


class Engine(Protocol):
    """What computes tasks."""

    def map(self, function: Callable[[A], B], items: Sequence[A]) -> Iterable[B]:
        """Yield function(item) for every item, in the order of the items; raise the error of the first that fails."""


def warm(engine: Engine, function: Callable[[A], Any], item: A) -> None:
    """Let an engine whose workers share a folder of compiled code compile a function once on each host."""
    if hasattr(engine, "warm"):
        engine.warm(function, item)


class SerialEngine:
    """Computes every task in this process, one after the other.

    >>> from novikoff.distributed.engines import SerialEngine
    >>> list(SerialEngine().map(len, ["a", "bc"]))
    [1, 2]
    """

    def map(self, function: Callable[[A], B], items: Sequence[A]) -> Iterator[B]:
        """Yield function(item) for every item."""
        return map(function, items)


@contextmanager
def open_engine(cluster: Any) -> Iterator[Engine]:
    """Yield the engine for what a caller has named, and close in the end what was started for it.

    Parameters
    ----------
    cluster : None, str, client or cluster of Dask, or engine
        None computes in this process. "local:2" starts two processes on this machine, "local" one for each processor;
        any other string is the address of a scheduler of Dask, such as "tcp://host:8786".
    """
    if cluster is None:
        yield SerialEngine()
        return
    if not isinstance(cluster, str) and hasattr(cluster, "map") and not hasattr(cluster, "scheduler_info"):
        yield cluster
        return
    if find_spec("distributed") is None:
        raise ClusterError(explain_missing(f"cluster={cluster!r}", "distributed", "dask"))
    from novikoff.distributed.dask_engine import DaskEngine, connect, start_local

    if not isinstance(cluster, str):
        yield DaskEngine(cluster if hasattr(cluster, "submit") else cluster.get_client())
        return
    local = re.fullmatch(r"local(?::(\d+))?", cluster)
    if local is None and "://" not in cluster:
        raise ClusterError(
            f"{cluster!r} is no cluster: give 'local:2' for two processes on this machine, or the address of a "
            "scheduler, such as 'tcp://host:8786'."
        )
    with start_local(int(local[1]) if local[1] else None) if local else connect(cluster) as client:
        yield DaskEngine(client)

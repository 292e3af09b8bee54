"""DaskEngine: tasks on the workers of a Dask cluster, as pure functions that are computed again where a worker dies.

Nothing but futures is used: no actors, no scattered data and no messages between workers, so that the scheduler can
compute whatever is lost from its lineage. That stays short, since results are gathered after every round.
"""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from typing import Any

import dask
from distributed import Client, KilledWorker, LocalCluster, WorkerPlugin, get_worker
from distributed.comm.core import CommClosedError

from novikoff.distributed.caching import limit_memory
from novikoff.errors import ClusterError
from novikoff.system.memory import undo_trimming
from novikoff.system.threads import n_processors

__all__ = ["DaskEngine", "connect", "start_local"]

_LOST = (CancelledError, CommClosedError, TimeoutError)
_SETTINGS = {
    # Weights travel with tasks on purpose, so that lineage can bring them back.
    "distributed.admin.large-graph-warning-threshold": "1TB",
}
_LOCAL_SETTINGS = {
    # A worker that pauses to have more memory waits for ever: what takes its memory is the task that it computes. It is
    # ended at 95 % of its limit.
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": False,
}
_CHECK_EVERY, _MOST_CHECKS = 30, 10  # seconds after which workers are counted, and how often there may be none
_PATIENCE = "20s"  # to reach a scheduler


class DaskEngine:
    """Computes tasks on the workers of a Dask cluster.

    The arguments of a `functools.partial` are sent once and kept as long as the next call has them too. An item is
    computed, if possible, by the worker that computed the item of that number before: it may have its rows in memory.

    Parameters
    ----------
    client : distributed.Client

    Attributes
    ----------
    dashboard : str
        The address of the page on which Dask shows what the cluster is doing.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._sent: dict[int, tuple[Any, Any]] = {}  # by id: an object, which so stays alive, and its future
        self._worker_of: dict[int, str] = {}
        self._warm: set[str] = set()

    @property
    def dashboard(self) -> str:
        return str(self._client.dashboard_link)

    @property
    def n_workers(self) -> int:
        """How many workers there are now."""
        return len(self._workers())

    def _workers(self) -> list[str]:
        return list(self._client.scheduler_info(n_workers=-1)["workers"])

    def warm(self, function: Callable[[Any], Any], item: Any) -> None:
        """Compute one item on one worker of each host, so that no two of them compile there at once; once per function.

        Numba keeps what it compiles in a folder that all processes of a host share.
        """
        name = getattr(function, "func", function).__name__
        if name in self._warm:
            return
        hosts = {address.rpartition(":")[0]: address for address in reversed(self._workers())}
        with self._explaining():
            task, shared = self._send(function)
            futures = [future for address in hosts.values() for future in self._submit(task, shared, [item], address)]
            before = dict(self._worker_of)
            for _ in self._results(futures):
                pass
            self._worker_of = before
        self._warm.add(name)

    def map(self, function: Callable[[Any], Any], items: Sequence[Any]) -> Iterator[Any]:
        """Yield function(item) for every item, in the order of the items; raise the error of the first that fails."""
        with self._explaining():
            task, shared = self._send(function)
            of_worker: dict[str | None, list[int]] = {}
            for number in range(len(items)):
                of_worker.setdefault(self._worker_of.get(number), []).append(number)
            futures: list[Any] = [None] * len(items)
            for worker, numbers in of_worker.items():
                submitted = self._submit(task, shared, [items[number] for number in numbers], worker)
                for number, future in zip(numbers, submitted, strict=True):
                    futures[number] = future
            yield from self._results(futures)

    def _results(self, futures: list[Any]) -> Iterator[Any]:
        """Yield the results in order; each is forgotten by the cluster as soon as it is here."""
        futures.reverse()
        try:
            number = 0
            while futures:
                result, self._worker_of[number] = self._wait_for(futures[-1])
                futures.pop().release()
                number += 1
                yield result
        finally:
            self._client.cancel(futures)  # type: ignore[no-untyped-call]

    def _wait_for(self, future: Any) -> Any:
        """Return the result of a future; a ClusterError if there are no workers for long."""
        n_checks = 0
        while n_checks < _MOST_CHECKS:
            try:
                return future.result(timeout=_CHECK_EVERY)
            except TimeoutError:
                if future.done() or self._client.status != "running":
                    raise
            n_checks = 0 if self._workers() else n_checks + 1
        raise ClusterError(
            "All workers of the cluster are gone, and no other has come for minutes. A worker that takes more "
            "memory than it may is ended: give them more, or split the files."
        )

    def _submit(self, task: Any, shared: list[Any], items: list[Any], worker: str | None) -> list[Any]:
        """Return the futures of some items, to be computed by this worker unless it is gone."""
        where: dict[str, Any] = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        same = [[value] * len(items) for value in (task, *shared)]
        return self._client.map(_compute, items, *same, pure=False, **where)

    def _send(self, function: Callable[[Any], Any]) -> tuple[Any, list[Any]]:
        """Return a function, and futures of its first arguments, which are sent now unless they were before."""
        if not isinstance(function, partial) or function.keywords:
            return function, []
        sent, self._sent = self._sent, {}
        for argument in function.args:
            held = sent.get(id(argument))
            future = self._client.submit(_identity, argument, pure=False) if held is None else held[1]
            self._sent[id(argument)] = argument, future
        return function.func, [self._sent[id(argument)][1] for argument in function.args]

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn what Dask raises about the cluster itself into ClusterErrors."""
        try:
            with dask.config.set(_SETTINGS):
                yield
        except KilledWorker as error:
            raise ClusterError(
                f"A task has ended its worker {error.allowed_failures + 1} times, and is not tried again: mostly a "
                "file that takes more memory than a worker has. Give workers more memory, or split the files."
            ) from error
        except _LOST as error:
            if isinstance(error, TimeoutError) and self._client.status == "running":
                raise
            raise ClusterError("The scheduler of the cluster was lost, or has ended.") from error


def _identity(value: Any) -> Any:
    return value


def _compute(item: Any, function: Callable[..., Any], *shared: Any) -> tuple[Any, str]:
    """Compute a task; return its result, and the address of the worker."""
    worker = get_worker()
    undo_trimming()
    limit_memory(worker.memory_manager.memory_limit, worker.monitor.get_process_memory())
    return function(*shared, item), worker.address


@contextmanager
def connect(address: str) -> Iterator[Client]:
    """Yield a client of the scheduler at an address."""
    try:
        client = Client(address, timeout=_PATIENCE, set_as_default=False)  # type: ignore[no-untyped-call]
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"{address}: no scheduler of Dask answers there ({error}).") from error
    with client:
        yield client


@contextmanager
def start_local(n_workers: int | None) -> Iterator[Client]:
    """Yield a client of workers that are processes of this machine, and end these afterwards."""
    if n_workers == 0:
        raise ClusterError("'local:0' has no workers: give one or more.")
    with warnings.catch_warnings(), dask.config.set(_LOCAL_SETTINGS):
        warnings.filterwarnings("ignore", message="Port .* is already in use", category=UserWarning)
        cluster = LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=n_workers or n_processors(),
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=50,
        )
    with cluster, Client(cluster, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        client.register_plugin(_IgnoreInterrupts())
        yield client


class _IgnoreInterrupts(WorkerPlugin):
    """Lets Ctrl-C, which a terminal sends to all processes, reach only the one that has started the workers: it ends
    them in order, and they would print tracebacks."""

    def setup(self, worker: Any) -> None:
        """Ignore SIGINT in the process of a worker."""
        signal.signal(signal.SIGINT, signal.SIG_IGN)

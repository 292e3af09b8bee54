"""The results of one stream: what the peers reach, and what novikoff does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.mistakes import ours, peers
from benchmarks.mistakes.files import STREAMS, BenchmarkStream

__all__ = ["Result", "measure", "measure_all"]

SLACK = 0.001  # a tenth of a percentage point, by which two learners count as equal


@dataclass(frozen=True)
class Result:
    """Shares of mistakes on one stream.

    Attributes
    ----------
    rows, orders : int
        The number of rows, and of orders of them over which the shares are averaged.
    default : float
        Of `nk.learn` with its defaults.
    learners : dict
        Of `ours.LEARNERS`; None where this version has no such rule.
    """

    stream: BenchmarkStream
    rows: int
    orders: int
    peers: peers.Peers
    default: float
    learners: dict[str, float | None]

    @property
    def best_peer(self) -> peers.Run | None:
        """The best set-up of all peers in hindsight, on the file as it is or on novikoff's encoding of it."""
        return self.peers.best()

    @property
    def vw_default(self) -> peers.Run | None:
        """Vowpal Wabbit without any options, on the file as it is."""
        return self.peers.find("vowpalwabbit", "default", "raw")


def measure(
    stream: BenchmarkStream, *, rows: int | None = None, refresh: bool = False, with_learners: bool = True
) -> Result | None:
    """Measure a stream, or its first `rows` in one order; None if its file is not there."""
    block = stream.read()
    if block is None:
        return None
    orders = list(stream.orders(block))
    if rows is not None:
        orders = [orders[0][:rows]]
    learners = {name: ours.error_of(name, orders) for name in ours.LEARNERS} if with_learners else {}
    found = peers.measure(stream.name, orders, refresh=refresh)
    return Result(stream, len(orders[0]), len(orders), found, ours.default_error(orders), learners)


def measure_all(names: tuple[str, ...] = (), *, refresh: bool = False) -> Iterator[Result]:
    """Measure the streams of these names, or all, whose files are there."""
    for stream in STREAMS:
        if not names or stream.name in names:
            result = measure(stream, refresh=refresh)
            if result is not None:
                yield result

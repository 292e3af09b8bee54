"""Replays of a whole log: is what the service has learned what its log says, to the last bit?"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import msgspec

from novikoff.errors import LogError, ServiceError
from novikoff.service.event_log import EventLog
from novikoff.service.features import Features
from novikoff.service.online_model import OnlineModel
from novikoff.service.snapshots import Snapshots
from novikoff.service.starting import Beginning, first_model, read_beginning, replay

__all__ = ["ReplayResult", "learn_log_again", "open_existing_log"]


class ReplayResult(msgspec.Struct):
    """What a replay has found.

    Attributes
    ----------
    model : OnlineModel
    labels : int
        Learned again.
    seconds : float
    equal : list of str
        The snapshots that are equal, byte for byte, to the model after the same labels.
    different : list of str
        The snapshots that are not, and what else differs.
    """

    model: OnlineModel
    labels: int
    seconds: float
    equal: list[str]
    different: list[str]


def open_existing_log(folder: Path, address: str | None, name: str) -> EventLog:
    """Open the log of a model to read it, also while a server writes to it."""
    if address is not None:
        from novikoff.service.postgres_log import PostgresLog

        return PostgresLog(address, name, read_only=True)
    from novikoff.service.sqlite_log import SqliteLog

    path = folder / "log.sqlite"
    if not path.is_file():
        raise ServiceError(f"{folder} has no log. Name a data folder of novikoff serve; with --log also its database.")
    return SqliteLog(path, read_only=True)


def learn_log_again(folder: Path, log: EventLog, until: int | None = None, *, verify: bool = False) -> ReplayResult:
    """Learn the labels of a log from the first model on.

    Parameters
    ----------
    folder : Path
        Of the model.
    log : EventLog
    until : int, optional
        The last seq; by default that of the log.
    verify : bool
        Whether to compare the outcomes that are logged and the snapshots.
    """
    beginning: Beginning = read_beginning(folder, log)
    model, state = first_model(folder, beginning), log.state()
    features = Features(model.kinds | state.columns, model.model.target or "label")
    result = ReplayResult(model, 0, 0.0, [], [])
    last = state.seq if until is None else min(until, state.seq)
    snapshots = dict(Snapshots(folder).paths())
    stops = sorted({last, *(seq for seq in snapshots if verify and seq <= last)})
    for stop in stops:
        _replay_to(log, result, features, stop, verify=verify)
        if verify and stop in snapshots:
            is_equal = _is_equal(model, snapshots[stop])
            (result.equal if is_equal else result.different).append(snapshots[stop].name)
    return result


def _replay_to(log: EventLog, result: ReplayResult, features: Features, stop: int, *, verify: bool) -> None:
    begin, first = time.perf_counter(), result.model.seq
    logged = _logged_flags(log, first) if verify else None
    for events, flags in replay(log, result.model, features, first, stop):
        if logged is not None:
            own = bytes(islice(logged, len(flags)))
            if own != flags[: len(own)]:
                result.different.append(f"the outcomes of labels {events[0].seq:,} to {events[-1].seq:,}")
    if result.model.seq != stop:
        raise LogError(f"The log ends after {result.model.seq:,} labels, before {stop:,}.")
    result.labels = result.model.seq
    result.seconds += time.perf_counter() - begin


def _logged_flags(log: EventLog, after: int) -> Iterator[int]:
    for outcomes in log.outcomes(after):
        yield from outcomes.flags[max(0, after + 1 - outcomes.first) :]


def _is_equal(model: OnlineModel, snapshot: Path) -> bool:
    """Whether a snapshot is what the model would be saved as."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder) / snapshot.name
        model.save(own)
        return own.read_bytes() == snapshot.read_bytes()

"""Starting: what a model begins with, and how it comes back after a stop or a crash: snapshot, then replay."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from novikoff.errors import LogError, ServiceError
from novikoff.service.accounts import WINDOWS, Accounts
from novikoff.service.event_log import EventLog
from novikoff.service.failpoints import failpoint
from novikoff.service.features import Features
from novikoff.service.labels import KnownLabels
from novikoff.service.online_model import OnlineModel
from novikoff.service.records import LabelEvent, LogState, decode, next_checksum
from novikoff.service.snapshots import Snapshots
from novikoff.system.atomic_files import write_atomic

__all__ = ["PAGE", "Beginning", "Started", "begin", "first_model", "read_beginning", "read_pages", "replay", "start"]

PAGE = 4096  # labels that are read and learned at a time
_FACT = "beginning"


class Beginning(msgspec.Struct, omit_defaults=True):
    """What a log begins with; it is the fact "beginning" of the log.

    Attributes
    ----------
    sha256 : str or None
        Of start.nk; None if the model began with nothing.
    labels : list or None
        The labels that are taken; None for any.
    rule, hypothesis : str or None
        Of a model that began with nothing.
    """

    sha256: str | None = None
    labels: list[Any] | None = None
    rule: str | None = None
    hypothesis: str | None = None


class Started(msgspec.Struct):
    """A model that has learned all labels of its log."""

    model: OnlineModel
    accounts: Accounts
    features: Features
    labels: KnownLabels
    beginning: Beginning


def begin(folder: Path, log: EventLog, model: Path | None, new: Beginning | None) -> Beginning:
    """Return what the log begins with; write it if the log is new.

    Parameters
    ----------
    folder : Path
        Of the model; start.nk is written to it.
    model : Path or None
        The model file that the caller has given.
    new : Beginning or None
        What the caller has said of a model that begins with nothing, or of the labels that are taken.
    """
    found = log.read_fact(_FACT)
    asked = new or Beginning()
    if model is not None:
        asked.sha256 = hashlib.sha256(model.read_bytes()).hexdigest()
    if found is not None:
        known = msgspec.json.decode(found, type=Beginning)
        if (model is not None or new is not None) and asked != known:
            raise ServiceError(
                f"{folder} goes on from what it has logged, and began with something else than what is given now: "
                "another model file, or other labels or rules. Leave these out, or name another folder."
            )
        return known
    if model is None and new is None:
        raise ServiceError(f"{folder} has no model yet. Name a model file, or begin with nothing by a name for it.")
    if log.state().number:
        raise LogError(f"{folder}: the log has events and no beginning. Restore it from a backup.")
    if model is not None:
        OnlineModel.load(model)  # raises an error if it cannot be served
        write_atomic(folder / "start.nk", model.read_bytes())
    first_model(folder, asked)
    log.write_fact(_FACT, msgspec.json.encode(asked).decode())
    return asked


def read_beginning(folder: Path, log: EventLog) -> Beginning:
    """Return what a log begins with, which must be there."""
    found = log.read_fact(_FACT)
    if found is None:
        raise ServiceError(f"{folder} has no model yet.")
    return msgspec.json.decode(found, type=Beginning)


def first_model(folder: Path, beginning: Beginning) -> OnlineModel:
    """Return the model before the first label."""
    from novikoff.perceptron.learner import Learner
    from novikoff.streaming.defaults import choose_rule_and_hypothesis

    if beginning.sha256 is None:
        learner = Learner(*choose_rule_and_hypothesis(beginning.rule, beginning.hypothesis))
        return OnlineModel.untrained(learner, sorted(beginning.labels or ()))
    path = folder / "start.nk"
    if hashlib.sha256(path.read_bytes()).hexdigest() != beginning.sha256:
        raise ServiceError(f"{path} is not the model that the log began with. Restore it from a backup.")
    model = OnlineModel.load(path)
    model.forget_log()
    return model


def start(
    folder: Path, log: EventLog, beginning: Beginning, warn: Callable[[str], None], *, use_snapshots: bool = True
) -> Started:
    """Return the model after all labels of the log: the newest valid snapshot, and the labels after it."""
    state, model = log.state(), None
    if use_snapshots:
        for found, message in Snapshots(folder).load_newest():
            model = found
            if found is None:
                warn(message)
    if model is None:
        model = first_model(folder, beginning)
    elif model.seq > state.seq:
        raise LogError(
            f"{folder} has a snapshot after {model.seq:,} labels, and its log ends after {state.seq:,}: labels were "
            "lost. Restore the log from a backup; or delete the snapshots to go on without those labels."
        )
    features = Features(model.kinds | state.columns, model.model.target or "label")
    accounts = _recount(log, state, model.seq)
    for events, flags in replay(log, model, features, model.seq):
        failpoint("during replay")
        known = max(0, min(len(events), state.outcomes_end - events[0].seq))
        accounts.recount([event.mistake for event in events[:known]], flags[:known])
        accounts.count([event.mistake for event in events[known:]], flags[known:])
    labels = KnownLabels([*(beginning.labels or ()), *model.labels], is_closed=beginning.labels is not None)
    return Started(model, accounts, features, labels, beginning)


def _recount(log: EventLog, state: LogState, seq: int) -> Accounts:
    """Return the accounts of the outcomes in the log, with the windows as they were after the label `seq`."""
    accounts = Accounts(state.outcomes_end - 1, state.totals)
    first = max(0, seq - WINDOWS[-1])
    flags = b""
    for outcomes in log.outcomes(first):
        part = outcomes.flags[max(0, first + 1 - outcomes.first) : max(0, seq + 1 - outcomes.first)]
        flags += part
    events = log.labels(first, len(flags))
    accounts.recount([event.mistake for event in events], flags[: len(events)])
    return accounts


def replay(
    log: EventLog, model: OnlineModel, features: Features, after: int, until: int | None = None
) -> Iterator[tuple[Sequence[LabelEvent], bytes]]:
    """Learn the labels of a log after some seq, in order; yield those of each page and their flags."""
    for events in read_pages(log, after, until):
        rows = [decode(event.features) for event in events]
        labels = KnownLabels(model.labels)
        found = []
        for event in events:
            label = labels.check(decode(event.label))
            labels.add(label)
            found.append(label)
        yield events, model.learn(rows, found, features.kinds)


def read_pages(log: EventLog, after: int, until: int | None = None) -> Iterator[list[LabelEvent]]:
    """Yield the labels of a log after some seq, in pages; raise a LogError where it is damaged."""
    before = log.labels(after - 1, 1) if after else []
    checksum = before[0].checksum if before else 0
    while until is None or after < until:
        events = log.labels(after, PAGE if until is None else min(PAGE, until - after))
        if not events:
            return
        for event in events:
            checksum = next_checksum(checksum, event.id, event.features, event.label)
            if event.seq != after + 1 or event.checksum != checksum:
                raise LogError(
                    f"The log is damaged: label {after + 1:,} is not what was logged. Restore it from a backup."
                )
            after = event.seq
        yield events

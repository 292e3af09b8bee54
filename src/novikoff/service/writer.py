"""Writer: the one thread that logs, learns and answers, for one model.

    gather    all requests that have come
    plan      validate them, find what they name, assign numbers and seqs
    predict   all rows in one block, by the weights before this batch
    commit    everything in one transaction, synced to the disk (group commit)
    learn     the labels in the order of seq
    answer

Only this thread touches the model and the log. So every prediction is made by the weights after some label, never in
the middle of an update, and no request sees an answer that is not on the disk.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from novikoff.errors import LogFullError, ModelFileError
from novikoff.service.accounts import Accounts, LedgerReport
from novikoff.service.entries import Entry, RecentEntries
from novikoff.service.event_log import EventLog
from novikoff.service.failpoints import failpoint
from novikoff.service.features import Features
from novikoff.service.ids import IdMaker, now
from novikoff.service.labels import KnownLabels
from novikoff.service.online_model import UPDATED, OnlineModel
from novikoff.service.plan import Plan, Position
from novikoff.service.records import Batch
from novikoff.service.refusals import QueueFullError, UnavailableError
from novikoff.service.requests import Answer, Request
from novikoff.service.snapshots import SnapshotPolicy

__all__ = ["Deliver", "Writer"]

Results = list["Answer | Exception"]
Deliver = Callable[[list[tuple[Any, Results]]], None]

_LARGEST_BATCH = 2048  # requests
_EXPIRY = 1000  # milliseconds between two removals of predictions that wait for too long
_GATHER = 0.002  # seconds at most that a batch waits for more requests
_IDLE = 0.2  # seconds without requests, after which what is left to be logged is logged


class _Submission:
    """Requests that came together, and who waits for their answers."""

    __slots__ = ("deliver", "requests", "token")

    def __init__(self, requests: Sequence[Request], deliver: Deliver, token: Any) -> None:
        self.requests, self.deliver, self.token = requests, deliver, token


class Writer:
    """The thread that answers requests to one model.

    Parameters
    ----------
    model : OnlineModel
        Which has learned all labels of the log.
    log : EventLog
    accounts : Accounts
    features : Features
    labels : KnownLabels
    window : int or None
        How long after its prediction a label is learned, in milliseconds.
    most_waiting : int
        Requests that may wait.
    policy : SnapshotPolicy, optional
        Which snapshots to write, after batches and at the end.
    warn : callable, optional
        Called with a message if a snapshot cannot be written.
    on_batch : callable, optional
        Called after each batch with labels.
    on_failure : callable, optional
        Called with the error if the log fails; the thread then ends, and nothing more is answered.
    """

    def __init__(
        self,
        model: OnlineModel,
        log: EventLog,
        accounts: Accounts,
        features: Features,
        labels: KnownLabels,
        *,
        window: int | None = None,
        most_waiting: int = 10_000,
        policy: SnapshotPolicy | None = None,
        warn: Callable[[str], None] | None = None,
        on_batch: Callable[[], None] | None = None,
        on_failure: Callable[[BaseException], None] | None = None,
    ) -> None:
        self.model, self.log, self.accounts, self.features, self.labels = model, log, accounts, features, labels
        self.window, self.most_waiting = window, most_waiting
        self.on_batch = on_batch
        self._policy, self._warn, self._on_failure = policy, warn, on_failure
        state = log.state()
        self._position = Position(state.number, state.seq, state.checksum)
        self._recent, self._make_id = RecentEntries(), IdMaker()
        self._queue: deque[_Submission] = deque()
        self._current: list[_Submission] = []  # the batch that is being answered
        self._calls: deque[tuple[Callable[[], Any], Callable[[Any, BaseException | None], None]]] = deque()
        self._waiting = 0
        self._expire_at = 0
        self._expected = 0  # requests of the last batch; as many are likely to come again at once
        self._wake = threading.Condition()
        self._is_idle = False  # whether the thread waits for requests
        self._is_stopping = False
        self.failure: BaseException | None = None
        self.predictions = 0  # since the start
        self.batches = 0
        self._thread = threading.Thread(target=self._run, name="novikoff writer", daemon=True)

    # -- for other threads

    def start(self) -> None:
        self._thread.start()

    @property
    def seq(self) -> int:
        """The seq of the last label that was logged and learned."""
        return self.accounts.seq

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return self._waiting

    def submit(self, requests: Sequence[Request], deliver: Deliver, token: Any) -> None:
        """Queue requests. `deliver` is called from the writer's thread with [(token, results), ...], for all that end
        with one batch at once."""
        with self._wake:
            if self._is_stopping or self.failure is not None:
                raise UnavailableError("The service is stopping.")
            if self._waiting + len(requests) > max(self.most_waiting, len(requests)):
                raise QueueFullError(f"{self._waiting:,} requests are waiting. Try again in a second.")
            self._waiting += len(requests)
            self._queue.append(_Submission(requests, deliver, token))
            if self._is_idle:
                self._wake.notify()

    def ask(self, requests: Sequence[Request], timeout: float | None = 60.0) -> Results:
        """Submit requests and wait for their answers."""
        done = threading.Event()
        found: list[Results] = []

        def deliver(pairs: list[tuple[Any, Results]]) -> None:
            for receive, results in pairs:
                receive(results)

        def receive(results: Results) -> None:
            found.append(results)
            done.set()

        self.submit(requests, deliver, receive)
        if not done.wait(timeout):
            raise UnavailableError("The writer did not answer.")
        return found[0]

    def call(self, function: Callable[[], Any], done: Callable[[Any, BaseException | None], None]) -> None:
        """Have a function called by the writer's thread, between two batches; `done` gets its result or its error."""
        with self._wake:
            if self._is_stopping or self.failure is not None:
                raise UnavailableError("The service is stopping.")
            self._calls.append((function, done))
            self._wake.notify()

    def run(self, function: Callable[[], Any], timeout: float | None = 60.0) -> Any:
        """Call a function on the writer's thread and return its result."""
        finished = threading.Event()
        found: list[tuple[Any, BaseException | None]] = []

        def done(result: Any, error: BaseException | None) -> None:
            found.append((result, error))
            finished.set()

        self.call(function, done)
        if not finished.wait(timeout):
            raise UnavailableError("The writer did not answer.")
        result, error = found[0]
        if error is not None:
            raise error
        return result

    def stop(self) -> None:
        """Answer what is waiting, write a last snapshot, close the log and end the thread."""
        with self._wake:
            self._is_stopping = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join()

    def report(self) -> LedgerReport:
        """Return the ledger; on the writer's thread."""
        return self.accounts.report(self.model.ledger, self.log.count_pending())

    # -- the thread

    def _run(self) -> None:
        try:
            self.flush()  # the outcomes of a replay
            while self._step():
                pass
            self.flush()
            self._save_if_due(at_end=True)
        except BaseException as error:
            self.failure = error
            if self._on_failure is not None:
                self._on_failure(error)
            self._give_up(error)
        finally:
            self.log.close()

    def _step(self) -> bool:
        """Wait for requests and answer them; return whether to go on."""
        with self._wake:
            if not (self._queue or self._calls or self._is_stopping):
                self._is_idle = True
                self._wake.wait(_IDLE)
                self._is_idle = False
            is_idle = not (self._queue or self._calls)
            if is_idle and self._is_stopping:
                return False
        self._wait_for_more()
        with self._wake:
            batch = self._gather()
            calls = [self._calls.popleft() for _ in range(len(self._calls))]
        if batch:
            self._answer(batch)
        elif is_idle:
            self.flush()
        for function, done in calls:
            try:
                result, error = function(), None
            except Exception as raised:
                result, error = None, raised
            done(result, error)
        self._save_if_due()
        return True

    def _wait_for_more(self) -> None:
        """Wait a moment if clients that were answered together are likely to come again: one sync does for all."""
        deadline = time.monotonic() + _GATHER
        while self._waiting and self._waiting < self._expected and time.monotonic() < deadline:
            time.sleep(_GATHER / 8)

    def _give_up(self, error: BaseException) -> None:
        """Tell everyone who waits that there will be no answer: what was being logged may be in the log, or not."""
        with self._wake:
            left, calls = [*self._current, *self._queue], list(self._calls)
        for each in left:
            each.deliver([(each.token, [UnavailableError(f"The service has failed: {error}")] * len(each.requests))])
        for _, done in calls:
            done(None, UnavailableError(f"The service has failed: {error}"))

    def _gather(self) -> list[_Submission]:
        batch: list[_Submission] = []
        n = 0
        while self._queue and (not batch or n + len(self._queue[0].requests) <= _LARGEST_BATCH):
            batch.append(self._queue.popleft())
            n += len(batch[-1].requests)
        self._waiting -= n
        self._expected = (3 * n) // 4
        return batch

    def _answer(self, batch: list[_Submission]) -> None:
        self._current = batch
        requests = [request for each in batch for request in each.requests]
        results = self._process(requests)
        by_receiver: dict[Deliver, list[tuple[Any, Results]]] = {}
        at = 0
        for each in batch:
            own = results[at : at + len(each.requests)]
            at += len(each.requests)
            by_receiver.setdefault(each.deliver, []).append((each.token, own))
        self._current = []
        for deliver, pairs in by_receiver.items():
            deliver(pairs)

    def _process(self, requests: Sequence[Request]) -> Results:
        """Plan, predict, commit, learn; return the result of each request."""
        at = now()
        plan = Plan(
            self.log,
            self._recent,
            self.features,
            self.labels,
            self._make_id,
            self.accounts.find_flag,
            self._position,
            self.model.seq,
            at,
            self.window,
        )
        try:
            plan.read(requests)
            self._predict(plan.to_predict)
            batch = plan.settle()
        except Exception as error:  # a bug; nothing has been logged
            plan.drop()
            return [error] * len(requests)
        try:
            self._commit(batch, at)
        except LogFullError as error:
            plan.drop()
            return [UnavailableError(str(error))] * len(requests)
        except BaseException:
            plan.drop()
            raise
        failpoint("after commit")
        self._position = plan.position
        plan.keep()
        self._learn([task.entry for task in plan.tasks], [task.label for task in plan.tasks])
        failpoint("after learn")
        self.predictions += len(plan.to_predict)
        self.batches += 1
        if plan.tasks and self.on_batch is not None:
            self.on_batch()
        return [*plan.answers()]

    def _predict(self, entries: list[Entry]) -> None:
        if entries:
            answers = self.model.predict([entry.read_row() for entry in entries], self.features.kinds)
            for entry, (label, scores) in zip(entries, answers, strict=True):
                entry.label, entry.scores = label, scores

    def _commit(self, batch: Batch, at: int) -> None:
        """Log a batch, with the outcomes of batches before it."""
        unlogged = self.accounts.unlogged()
        batch.outcomes = list(unlogged)
        if not batch:
            return
        if self.window is not None and at >= self._expire_at:
            batch.expired_before, self._expire_at = at - self.window, at + _EXPIRY
        self.log.append(batch)
        self.accounts.keep_logged(len(unlogged))

    def _learn(self, entries: list[Entry], labels: list[Any]) -> None:
        if not entries:
            return
        flags = self.model.learn([entry.read_row() for entry in entries], labels, self.features.kinds)
        mistakes: list[bool | None] = []
        for entry, flag in zip(entries, flags, strict=True):
            entry.updated, entry.row = flag == UPDATED, None
            mistakes.append(entry.event.mistake if entry.event is not None else None)
        self.accounts.count(mistakes, flags)

    def flush(self) -> bool:
        """Log the outcomes that are not logged yet; return whether all are logged."""
        if self.accounts.unlogged():
            try:
                self._commit(Batch([], [], [], {}, [], 0, []), now())
            except LogFullError:
                return False  # they are logged with a later batch
        return True

    def save_snapshot(self) -> Path | None:
        """Write a snapshot now, and return its path; None if there is nothing to save. On the writer's thread."""
        return self._policy.save() if self._policy is not None and self.flush() else None

    def _save_if_due(self, *, at_end: bool = False) -> None:
        policy = self._policy
        if policy is None or not policy.is_due(at_end=at_end):
            return
        try:
            if self.flush():
                policy.save()
        except (OSError, ModelFileError) as error:  # a disk that is full; the log has everything
            policy.postpone()
            if self._warn is not None:
                self._warn(f"The snapshot was not written, and is tried again later: {error}")

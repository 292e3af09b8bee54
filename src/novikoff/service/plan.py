"""Plan: what the requests of one batch lead to, in their order, before anything is logged.

A plan is made, committed as one transaction, and then kept: entries, names and labels that it adds count only from then
on. If the commit fails, it is dropped, and everything is as before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from novikoff.selection.evaluation import plain_labels
from novikoff.service.entries import Entry, RecentEntries
from novikoff.service.event_log import EventLog
from novikoff.service.features import Features, Row
from novikoff.service.ids import IdMaker, is_id, require_id
from novikoff.service.labels import KnownLabels
from novikoff.service.online_model import UPDATED
from novikoff.service.records import Batch, LabelEvent, Prediction, encode, next_checksum
from novikoff.service.refusals import ConflictError, ExpiredError, NotFoundError, RefusalError
from novikoff.service.requests import Answer, Labelled, Learn, Learned, Predict, Predicted, PutLabel, Request

__all__ = ["Plan", "Position"]


class Position:
    """Where a log ends: the number of the last prediction, the seq and the checksum of the last label."""

    __slots__ = ("checksum", "number", "seq")

    def __init__(self, number: int, seq: int, checksum: int) -> None:
        self.number, self.seq, self.checksum = number, seq, checksum


class _LabelTask:
    """A label to be learned: its entry, the label as the model has it, and its request."""

    __slots__ = ("entry", "label")

    def __init__(self, entry: Entry, label: str | float) -> None:
        self.entry, self.label = entry, label


class Plan:
    """The consequences of a batch of requests.

    Parameters
    ----------
    log, recent, features, labels, make_id
        Of the model.
    find_flag : callable
        Returns the flag of a label by its seq, if it is one of the last; the log has those before.
    position : Position
        Where the log ends.
    version : int
        The seq of the last label that the model has learned.
    at : int
        The time, in milliseconds since 1970.
    window : int or None
        How long after its prediction a label is learned, in milliseconds; None for any time.
    """

    def __init__(
        self,
        log: EventLog,
        recent: RecentEntries,
        features: Features,
        labels: KnownLabels,
        make_id: IdMaker,
        find_flag: Callable[[int], int | None],
        position: Position,
        version: int,
        at: int,
        window: int | None,
    ) -> None:
        self._log, self._recent, self._features, self._labels = log, recent, features, labels
        self._find_flag = find_flag
        self._make_id, self._version, self._at, self._window = make_id, version, at, window
        self._own: dict[str, Entry] = {}  # entries of this batch by id
        self.position = Position(position.number, position.seq, position.checksum)
        self.batch = Batch([], [], [], {}, [], 0, [])
        self.to_predict: list[Entry] = []
        self.tasks: list[_LabelTask] = []
        self._late: list[Entry] = []
        self._answers: list[Callable[[], Answer] | RefusalError] = []

    def read(self, requests: Sequence[Request]) -> None:
        """Find what the requests of the batch lead to."""
        self._find_ids(requests)
        for request in requests:
            try:
                self._answers.append(self._read(request))
            except RefusalError as refusal:
                self._answers.append(refusal)

    def _find_ids(self, requests: Sequence[Request]) -> None:
        """Find the predictions that requests name and that are not in memory."""
        ids = [one.id for one in requests if one.id is not None and self._recent.get(one.id) is None and is_id(one.id)]
        if ids:
            found = self._log.find(list(dict.fromkeys(ids)))
            self._own |= {id: Entry.from_stored(stored) for id, stored in found.items()}

    def _find(self, id: str | None) -> Entry | None:
        if id is None:
            return None
        return self._own.get(id) or self._recent.get(require_id(id))

    # -- requests

    def _read(self, request: Request) -> Callable[[], Answer]:
        if isinstance(request, Predict):
            return self._predict(request)
        if isinstance(request, PutLabel):
            return self._put_label(request)
        return self._learn(request)

    def _predict(self, request: Predict) -> Callable[[], Answer]:
        entry = self._find(request.id) or self._add_entry(request.id, request.features, is_served=True)
        return lambda: Predicted(entry.prediction.id, entry.label, entry.scores, entry.prediction.version)

    def _put_label(self, request: PutLabel) -> Callable[[], Answer]:
        entry = self._find(request.id)
        if entry is None:
            if request.features is None:
                raise NotFoundError(f'There is no prediction "{request.id}". Send the features with the label.')
            self._labels.check(request.label)
            entry = self._add_entry(request.id, request.features, is_served=False)
        return self._label(entry, request.label)

    def _learn(self, request: Learn) -> Callable[[], Answer]:
        self._labels.check(request.label)
        entry = self._find(request.id) or self._add_entry(request.id, request.features, is_served=True)
        labelled = self._label(entry, request.label)

        def answer() -> Learned:
            one, own = entry.prediction, labelled()
            outcome = own.seq, own.mistake, own.updated, own.duplicate
            return Learned(one.id, entry.label, entry.scores, one.version, *outcome)

        return answer

    def _add_entry(self, id: str | None, features: object, *, is_served: bool) -> Entry:
        """Add a prediction; it is predicted later, together with the others of the batch."""
        id = self._make_id() if id is None else require_id(id)
        row: Row = self._features.read(features)
        self.position.number += 1
        entry = Entry(Prediction(self.position.number, id, self._at, self._version, encode(row), None), row)
        self._own[id] = entry
        self.batch.predictions.append(entry.prediction)
        if is_served:
            self.to_predict.append(entry)
        return entry

    def _label(self, entry: Entry, given: object) -> Callable[[], Labelled]:
        """Label a prediction, or find that it has a label."""
        label = self._labels.check(given)
        one, written = entry.prediction, encode(plain_labels([label])[0])
        if entry.event is not None:
            event = entry.event
            if event.label != written:
                raise ConflictError(f'The prediction "{one.id}" has the label {event.label.decode()} already.')
            return lambda: Labelled(event.seq, event.mistake, self._was_updated(entry), True)
        if entry.is_late or (self._window is not None and self._at - one.at > self._window):
            if not entry.is_late:
                self.batch.late.append((one.number, written, self._at))
                self._late.append(entry)
            raise ExpiredError(
                f'The label of "{one.id}" came {(self._at - one.at) // 1000:,} s after its prediction, and the window '
                f"is {(self._window or 0) // 1000:,} s. It is logged, and not learned."
            )
        self._labels.add(label)
        position = self.position
        position.seq += 1
        position.checksum = next_checksum(position.checksum, one.id, one.features, written)
        entry.event = event = LabelEvent(
            position.seq, one.number, written, self._at, None, position.checksum, one.id, one.features
        )
        self.tasks.append(_LabelTask(entry, label))
        return lambda: Labelled(event.seq, event.mistake, bool(entry.updated), False)

    def _was_updated(self, entry: Entry) -> bool:
        if entry.updated is None:
            assert entry.event is not None
            seq = entry.event.seq
            flag = self._find_flag(seq)
            if flag is not None:
                entry.updated = flag == UPDATED
                return entry.updated
            for outcomes in self._log.outcomes(seq - 1, limit=1):
                if outcomes.first <= seq < outcomes.end:
                    entry.updated = outcomes.flags[seq - outcomes.first] == UPDATED
        return bool(entry.updated)

    # -- after the predictions

    def settle(self) -> Batch:
        """Return what is to be logged: the answers of predictions and the mistakes among labels are known now."""
        batch = self.batch
        for entry in self.to_predict:
            entry.prediction.answer = encode({"label": entry.label, "scores": entry.scores})
        for task in self.tasks:
            event = task.entry.event
            assert event is not None
            if task.entry.prediction.answer is not None:
                event.mistake = encode(task.entry.label) != event.label
            batch.labels.append(event)
        batch.pending = [entry.prediction.number for entry in self.to_predict if entry.event is None]
        batch.columns = dict(self._features.new)
        return batch

    def keep(self) -> None:
        """Go on from what was committed."""
        for entry in self._late:
            entry.is_late = True
        self._features.keep_new()
        self._labels.keep_new()
        for prediction in self.batch.predictions:  # not those that were found in the log: they would push others out
            self._recent.add(self._own[prediction.id])

    def drop(self) -> None:
        """Forget everything: nothing was committed."""
        for task in self.tasks:
            task.entry.event = None
        self._features.forget_new()
        self._labels.forget_new()

    def answers(self) -> list[Answer | RefusalError]:
        """Return the answer of each request, after its label has been learned."""
        return [each if isinstance(each, RefusalError) else each() for each in self._answers]

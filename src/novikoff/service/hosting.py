"""HostedModel: one model with its folder, log, writer and snapshots; what HTTP is put in front of."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from novikoff.service.event_log import EventLog, open_log
from novikoff.service.features import Row
from novikoff.service.folder import require_name
from novikoff.service.online_model import OnlineModel
from novikoff.service.snapshots import SnapshotPolicy, Snapshots
from novikoff.service.starting import Beginning, begin, start
from novikoff.service.writer import Writer

__all__ = ["HostedModel", "HostingOptions", "warm_up"]


class HostingOptions(msgspec.Struct, frozen=True):
    """How a model is served.

    Attributes
    ----------
    window : int or None
        How long after its prediction a label is learned, in milliseconds; None for any time.
    most_waiting : int
        Requests that may wait for the writer.
    snapshot_labels : int
    snapshot_seconds : float
        A snapshot is written after so many labels, or if there are new ones, after so many seconds.
    log : str or None
        The address of a database for the logs; None for a file in the folder of the model.
    """

    window: int | None = None
    most_waiting: int = 10_000
    snapshot_labels: int = 100_000
    snapshot_seconds: float = 300.0
    log: str | None = None


class HostedModel:
    """A model that answers requests.

    Parameters
    ----------
    name : str
    data : Path
        The data folder, which the caller has locked.
    model : Path, optional
        The model file to begin with.
    new : Beginning, optional
        What to begin with if there is no model file; or the labels that are taken.
    options : HostingOptions, optional
    warn : callable, optional
    on_batch, on_failure : callable, optional
        As for `Writer`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from novikoff.service.hosting import HostedModel
    >>> from novikoff.service.requests import Learn, Predict
    >>> from novikoff.service.starting import Beginning
    >>> folder = tempfile.TemporaryDirectory()
    >>> hosted = HostedModel("spam", pathlib.Path(folder.name), new=Beginning(labels=["ham", "spam"]))
    >>> [answer] = hosted.writer.ask([Learn({"links": 3}, "ham")])
    >>> answer.seq, answer.updated
    (1, True)
    >>> hosted.writer.ask([Predict({"links": 4})])[0].label
    'ham'
    >>> hosted.stop()
    >>> folder.cleanup()
    """

    def __init__(
        self,
        name: str,
        data: Path,
        model: Path | None = None,
        new: Beginning | None = None,
        options: HostingOptions | None = None,
        warn: Callable[[str], None] = print,
        on_batch: Callable[[], None] | None = None,
        on_failure: Callable[[BaseException], None] | None = None,
    ) -> None:
        self.name, self.folder = require_name(name), data / name
        self.options = options or HostingOptions()
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self._open_log()
        try:
            self.beginning = begin(self.folder, log, model, new)
            started = start(self.folder, log, self.beginning, warn)
            self.snapshots = Snapshots(self.folder)
            self.writer = Writer(
                started.model,
                log,
                started.accounts,
                started.features,
                started.labels,
                window=self.options.window,
                most_waiting=self.options.most_waiting,
                policy=SnapshotPolicy(
                    self.snapshots, started.model, self.options.snapshot_labels, self.options.snapshot_seconds
                ),
                warn=warn,
                on_batch=on_batch,
                on_failure=on_failure,
            )
        except BaseException:
            log.close()
            raise
        warm_up(started.model)
        self.writer.start()

    def _open_log(self) -> EventLog:
        return open_log(self.options.log or self.folder / "log.sqlite", self.name)

    def stop(self) -> None:
        """Answer what is waiting, write a snapshot, and close the log."""
        self.writer.stop()


def warm_up(model: OnlineModel) -> None:
    """Compile what requests to a model need, or load it from the cache, by rows of another model."""
    own = OnlineModel.untrained(model.model.model.learner, model.labels)
    kinds = {"number": "number", "word": "word", "text": "text"}
    row: Row = {"number": 1.0, "word": "a", "text": "some words of a text"}
    labels = model.labels or ["a", "b"]
    for _ in range(2):
        own.predict([row], kinds)
        own.learn([row] * len(labels), labels, kinds)

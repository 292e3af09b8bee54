"""StreamModel: a perceptron that learns from files and pipes, with what turns their rows into numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from novikoff.encoding import Encoding, Features, IndexEncoding, NameEncoding, TableEncoding, Vocabulary
from novikoff.errors import ModelFileError
from novikoff.kernels.additive import EXAMPLES
from novikoff.learner import Learner
from novikoff.ledger import Ledger
from novikoff.model import Model
from novikoff.rows import Rows
from novikoff.rules import Custom
from novikoff.store import Section, put_model, read, take_model, write
from novikoff.streams.block import Block, NamedBlock, SparseBlock
from novikoff.streams.opening import open_stream
from novikoff.streams.sources import STANDARD_INPUT

__all__ = ["KIND", "StreamModel", "encoding_for", "learn"]

KIND = "stream"


class StreamModel:
    """A learner and its encoding.

    Parameters
    ----------
    learner : Learner
    features : Features, optional
        How columns become features.

    Attributes
    ----------
    ledger : Ledger
    rows_read : dict
        How many rows each source has given.
    rows_of_run : dict
        The same for files, in the last run over each: what is to be passed over when it was interrupted and goes on.
    target : str or None
        The column of a table that held the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff import Learner
    >>> from novikoff.online import StreamModel
    >>> from novikoff.streams import TableBlock, Words
    >>> def block(sky, label):
    ...     return TableBlock("sky.csv", np.array([2]), np.array([label], object), {"sky": Words.of([sky])})
    >>> model = StreamModel(Learner())
    >>> for sky, label in [("sun", "stay"), ("rain", "go"), ("rain", "go")]:
    ...     model.learn(block(sky, label))
    >>> model.predict(block("rain", None)).tolist(), model.names
    (['go'], ['sky=sun', 'sky=rain'])
    """

    def __init__(self, learner: Learner, features: Features | None = None) -> None:
        self.model = Model(learner)
        self.features = features or Features()
        self.encoding: Encoding[Any] | None = None
        self.rows_read: dict[str, int] = {}
        self.rows_of_run: dict[str, int] = {}
        self.target: str | None = None

    def __repr__(self) -> str:
        learner = self.model.learner
        kinds = f"{type(learner.rule).__name__}, {type(learner.hypothesis).__name__.lower()}"
        sizes = f"{len(self.labels)} labels, {self.n_features:,} features, {self.ledger.examples:,} examples"
        return f"StreamModel({kinds}, {sizes})"

    @property
    def ledger(self) -> Ledger:
        return self.model.ledger

    @property
    def names(self) -> list[str]:
        """Of the features, in the order of the weights."""
        return self.encoding.names if self.encoding is not None else []

    @property
    def labels(self) -> list[Any]:
        """Those met so far, sorted."""
        return list(self.model.labels.known)

    @property
    def n_features(self) -> int:
        return self.encoding.n_features if self.encoding is not None else 0

    @property
    def takes_tables(self) -> bool:
        """Whether it has learned from tables, whose columns have names."""
        return isinstance(self.encoding, TableEncoding)

    @property
    def kinds(self) -> dict[str, str]:
        """What the columns of a table hold, as it was first seen: "number", "word" or "text"."""
        return dict(self.encoding.kinds) if isinstance(self.encoding, TableEncoding) else {}

    @property
    def format(self) -> str:
        """What a stream for this model probably is, if neither its name nor its first lines tell."""
        if isinstance(self.encoding, TableEncoding):
            return "text" if self.kinds == {"text": "text"} else "csv"
        formats = {"index": "svmlight", "names": "vw"}
        return formats[self.encoding.kind] if self.encoding is not None else "csv"

    def forget_run(self, sources: Iterable[str]) -> None:
        """Begin another run over some sources."""
        for source in sources:
            self.rows_of_run.pop(source, None)

    def ahead_of(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """The blocks of a stream to learn from, or parts of them; the texts of the next are looked at in a thread while
        this one is learned from."""
        blocks = iter(blocks)
        for first in blocks:
            encoding = self.encoding or encoding_for(first, self.features)
            every = chain(iter([first]), blocks)
            del first  # neither this nor a list in the chain is to keep it to the end
            yield from encoding.ahead_of(every)

    def learn(self, block: Block) -> None:
        """Learn from every row of a block, in order."""
        for _ in self.learn_until(block, ()):
            pass

    def learn_until(self, block: Block, stops: Iterable[int]) -> Iterator[int]:
        """The same, pausing after each of these numbers of examples since the beginning, to look at the ledger."""
        if self.encoding is None:
            self.encoding = encoding_for(block, self.features)
        if block.labels is None:
            raise ValueError("Rows without labels teach nothing.")
        self.encoding.require(block)
        classes, place = self.model.encoded(block.labels)  # before anything has changed
        stops, done = list(stops), 0
        for rows in self.encoding.learn(block):
            yield from self._learn_rows(rows, classes, place[done : done + len(rows)], stops)
            done += len(rows)
        self.rows_read[block.source] = self.rows_read.get(block.source, 0) + len(block)
        if block.source != STANDARD_INPUT:  # a pipe goes on where it is
            self.rows_of_run[block.source] = self.rows_of_run.get(block.source, 0) + len(block)

    def _learn_rows(self, rows: Rows, classes: np.ndarray, place: np.ndarray, stops: Iterable[int]) -> Iterator[int]:
        before, start = int(self.model.state.counts[EXAMPLES]), 0
        for stop in (*(stop - before for stop in stops if before < stop < before + len(rows)), len(rows)):
            if stop > start:
                part = rows if stop - start == len(rows) else rows[start:stop]
                self.model.learn_encoded(part, classes, place[start:stop])
                start = stop
                yield before + stop

    def rows_of(self, block: Block) -> Rows:
        """The rows of a block as the weights take them."""
        if self.encoding is None:
            raise ValueError("The model has learned nothing yet.")
        return self.encoding.read(block)

    def predict(self, block: Block) -> np.ndarray:
        """The label of every row of a block."""
        return self.model.predict(self.rows_of(block))

    def heaviest(self, n: int = 10) -> list[tuple[Any, list[tuple[str, float]]]]:
        """For each label (for two, the second) the features with the largest weights, and the weights."""
        weights = self.model.learner.hypothesis.weights(self.model.state) or self.model.state.raw
        labels = self.labels if len(weights.bias) > 1 else self.labels[-1:]
        names = self.names
        found = []
        for label, w in zip(labels, weights.coef, strict=False):
            order = np.argsort(-np.abs(w), kind="stable")[:n]
            found.append((label, [(names[j], float(w[j])) for j in order.tolist() if w[j] != 0.0]))
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file that `load` reads back; it is replaced whole."""
        root = Section("The model cannot be saved")
        if self.encoding is None:
            root.fail("it has learned nothing yet")
        if isinstance(self.model.learner.rule, Custom):
            root.fail("its rule is a function, and a file holds no code")
        put_model(root, self.model)
        encoding = root.open("encoding")
        encoding.facts["kind"] = self.encoding.kind
        self.encoding.put(encoding)
        if self.encoding.n_features != self.model.state.n_features:
            root.fail("it was interrupted within a block; go on from the last file that was written")
        root.facts["rows_read"], root.facts["rows_of_run"] = self.rows_read, self.rows_of_run
        root.facts["target"] = self.target or ""
        write(path, KIND, root)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StreamModel:
        """Read a model that `save` has written; it goes on as if it had never stopped, to the last bit."""
        kind, root = read(path)
        if kind != KIND:
            how = "it is for `novikoff tag`" if kind == "tagger" else "open it with nk.load in Python"
            raise ModelFileError(
                f"{os.fspath(path)} holds a learner of kind {kind!r}, not one of `novikoff learn`: {how}."
            )
        return cls.taken(root, path)

    @classmethod
    def taken(cls, root: Section, path: str | os.PathLike[str]) -> StreamModel:
        """The same from the content of the file."""
        found = cls.__new__(cls)
        found.model = take_model(root, None)
        found.encoding = _take_encoding(root.part("encoding"))
        found.features = getattr(found.encoding, "features", Features())
        found.rows_read, found.rows_of_run = (
            {name: root.part(kept).fact(name, int) for name in root.fact(kept, dict)}
            for kept in ("rows_read", "rows_of_run")
        )
        found.target = root.fact("target", str) or None
        if found.encoding.n_features != found.model.state.n_features:
            raise ModelFileError(f"{os.fspath(path)} holds no sound model: {found.encoding.n_features} features and "
                                 f"{found.model.state.n_features} weights.")  # fmt: skip
        return found


def encoding_for(block: Block, features: Features) -> Encoding[Any]:
    """An encoding that has seen nothing, for a stream that begins with this block."""
    if isinstance(block, SparseBlock):
        return IndexEncoding()
    return NameEncoding(Vocabulary(features.hash_bits)) if isinstance(block, NamedBlock) else TableEncoding(features)


def _take_encoding(section: Section) -> Encoding[Any]:
    """Read back what `put` wrote under the kind of the encoding."""
    kind = section.fact("kind", str)
    for encoding in (IndexEncoding, NameEncoding, TableEncoding):
        if encoding.kind == kind:
            return encoding.take(section)
    raise ModelFileError(f"The model has an encoding of kind {kind!r}, which this version of novikoff does not know.")


def learn(
    stream: Iterable[Block] | str | os.PathLike[str], *, rule: Any = "perceptron", hypothesis: Any = "averaged",
    fit_intercept: bool = True,
    ties: str = "mistake", **features: Any,
) -> StreamModel:  # fmt: skip
    """Learn from every block of a stream, once, in order.

    Parameters
    ----------
    stream : iterable of blocks, or path
        Such as `open_stream` gives; for a path, what it gives by default.
    rule, hypothesis, fit_intercept, ties
        As those of `Perceptron`.
    **features
        How columns become features: `scale=False` takes the numbers of a table as they are, not standardised as they
        come; `hash_bits=20` gives the first 2**20 names a weight each, which later ones share; `ngrams=(1, 2)` and
        `char_ngrams=(3, 4)` are the fewest and the most words and characters that make a feature of a text.

    Returns
    -------
    StreamModel
        With `learn`, `predict`, `save`, `heaviest` and a `ledger`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import novikoff as nk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "days.csv")
    ...     _ = path.write_text("sky,wind,sail\\nsun,3,yes\\nrain,9,no\\nsun,4,yes\\n")
    ...     model = nk.learn(nk.open_stream(path, target="sail"))
    >>> model.ledger.examples, model.labels
    (3, ['no', 'yes'])
    """
    if isinstance(stream, (str, os.PathLike)):
        stream = open_stream(stream)
    model = StreamModel(Learner(rule, hypothesis, ties, fit_intercept), Features(**features))
    model.target = getattr(stream, "target_name", None)
    for block in model.ahead_of(stream):
        model.learn(block)
    return model

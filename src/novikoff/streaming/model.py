"""StreamModel: a perceptron that learns from files and pipes, with what turns their rows into numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np

from novikoff._compiled.loops.additive import EXAMPLES
from novikoff.data.encoding import MARK, Encoding, Features, IndexEncoding, NameEncoding, TableEncoding, Vocabulary
from novikoff.data.formats.block import Block, NamedBlock, SparseBlock
from novikoff.data.formats.opening import open_stream
from novikoff.data.formats.sources import STANDARD_INPUT
from novikoff.errors import ModelFileError, ReentryError
from novikoff.inputs.rows import Rows
from novikoff.model_files import Section, put_model, read, take_model, write
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.model import Model
from novikoff.rules import Custom
from novikoff.system.copying import copied_deeply
from novikoff.system.exclusive import Exclusive, learning, lock_for, reading

__all__ = ["KIND", "StreamModel", "encoding_for", "learn"]

KIND = "stream"


class StreamModel(Exclusive):
    """A learner and its encoding.

    A block is learned whole or not at all if it is interrupted or rejected; one with much text, or with a pause in it,
    piece by piece, and `rows_read` tells how many rows have been learned. Threads may share the model: one call is
    carried out at a time.

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
    >>> from novikoff.streaming.model import StreamModel
    >>> from novikoff.data.formats import TableBlock, Words
    >>> def block(sky, label):
    ...     return TableBlock("sky.csv", np.array([2]), np.array([label], object), {"sky": Words.of([sky])})
    >>> model = StreamModel(Learner())
    >>> for sky, label in [("sun", "stay"), ("rain", "go"), ("rain", "go")]:
    ...     model.learn(block(sky, label))
    >>> model.predict(block("rain", None)).tolist(), model.names
    (['go'], ['sky=sun', 'sky=rain'])
    """

    __copy__ = copied_deeply

    def __init__(self, learner: Learner, features: Features | None = None) -> None:
        self.model = Model(learner)
        self.features = features or Features()
        self.encoding: Encoding[Any] | None = None
        self.rows_read: dict[str, int] = {}
        self.rows_of_run: dict[str, int] = {}
        self.target: str | None = None
        self._lock, self._piece = lock_for(self), None

    # -- one call at a time

    _piece: _Piece | None  # what is being learned

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and deepcopy: what has been learned, apart from this."""
        return self._copied()

    @reading
    def _copied(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_piece")}
        return deepcopy(kept)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=lock_for(self), _piece=None)

    def _carry_out(self) -> None:
        if self._piece is not None:
            raise ReentryError(
                "A StreamModel was asked for something while this thread was learning from a block: by a signal "
                "handler or a finalizer. Ask after the call has returned."
            )

    def _recover(self) -> None:
        piece = self._piece
        if piece is not None and piece.rows is None:
            self._take_back(piece)
        elif piece is not None:
            self._finish(piece)

    def _take_back(self, piece: _Piece) -> None:
        """Be as before a piece of which nothing has been learned."""
        if piece.encoding is not None:
            piece.encoding.back_to(piece.mark)
        self.encoding = piece.encoding
        self._piece = None

    def _finish(self, piece: _Piece) -> None:
        """Learn the rows of a piece that have not been learned, and count them all."""
        assert piece.rows is not None
        done = 0
        for rows in piece.rows:
            if len(rows) and int(self.model.state.counts[EXAMPLES]) == piece.examples + done:
                self.model.learn_encoded(rows, piece.classes, piece.place[done : done + len(rows)])
            done += len(rows)
        self.rows_read = piece.rows_read
        self.rows_of_run = piece.rows_of_run
        self._piece = None

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

    @learning
    def forget_run(self, sources: Iterable[str]) -> None:
        """Begin another run over some sources."""
        forgotten = set(sources)
        self.rows_of_run = {name: n for name, n in self.rows_of_run.items() if name not in forgotten}

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
        """The same, pausing after each of these numbers of examples since the beginning, to look at the ledger; it
        yields how many there are."""
        if block.labels is None:
            raise ValueError("Rows without labels teach nothing.")
        encoding = self.encoding or encoding_for(block, self.features)
        encoding.require(block)
        classes, place = self.model.encoded(block.labels)  # before anything has changed
        before, done = int(self.model.state.counts[EXAMPLES]), 0
        edges = [0, *sorted(stop - before for stop in stops if before < stop < before + len(block)), len(block)]
        for start, stop in pairwise(edges):
            for piece in encoding.pieces(block if stop - start == len(block) else block[start:stop]):
                yield self._learn_piece(encoding, piece, classes, place[done : done + len(piece)])
                done += len(piece)

    @learning
    def _learn_piece(self, encoding: Encoding[Any], block: Block, classes: np.ndarray, place: np.ndarray) -> int:
        """Learn from a piece of a block; return how many examples there are then."""
        encoding = self.encoding or encoding
        n_read = self.rows_read.get(block.source, 0) + len(block)
        rows_of_run = self.rows_of_run
        if block.source != STANDARD_INPUT:  # a pipe goes on where it is
            rows_of_run = rows_of_run | {block.source: rows_of_run.get(block.source, 0) + len(block)}
        examples = int(self.model.state.counts[EXAMPLES])
        self._piece = piece = _Piece(
            self.encoding,
            encoding.mark(),
            examples,
            classes,
            place,
            self.rows_read | {block.source: n_read},
            rows_of_run,
        )
        self.encoding = encoding
        try:
            encoded = list(encoding.learn(block))
            for rows in encoded:
                rows.require_numbers()
            piece.rows = encoded
            self._finish(piece)
        except Exception:
            if int(self.model.state.counts[EXAMPLES]) == examples:
                self._take_back(piece)
            self._piece = None
            raise
        return examples + len(block)

    @reading
    def rows_of(self, block: Block) -> Rows:
        """The rows of a block as the weights take them."""
        return self._rows_of(block)

    def _rows_of(self, block: Block) -> Rows:
        if self.encoding is None:
            raise ValueError("The model has learned nothing yet.")
        return self.encoding.read(block)

    @reading
    def predict(self, block: Block) -> np.ndarray:
        """The label of every row of a block."""
        return self.model.predict(self._rows_of(block))

    @reading
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

    @reading
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file that `load` reads back. One that could not be loaded is refused, and the old file
        stays; see `novikoff.system.atomic_files` for links and permissions."""
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
            root.fail("it was stopped within a block by an error; go on from the last file that was written")
        root.facts["rows_read"], root.facts["rows_of_run"] = self.rows_read, self.rows_of_run
        root.facts["target"] = self.target or ""
        write(path, KIND, root, lambda found: StreamModel.taken(found, path))

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
        found._lock, found._piece = lock_for(found), None
        found.model = take_model(root, None)
        found.encoding = _take_encoding(root.part("encoding"))
        found.features = getattr(found.encoding, "features", Features())
        found.rows_read, found.rows_of_run = (
            {name: root.part(kept).fact(name, int) for name in root.fact(kept, dict)}
            for kept in ("rows_read", "rows_of_run")
        )
        found.target = root.fact("target", str) or None
        if found.encoding.n_features != found.model.state.n_features:
            raise ModelFileError(
                f"{os.fspath(path)} holds no sound model: {found.encoding.n_features} features and "
                f"{found.model.state.n_features} weights."
            )
        return found


@dataclass
class _Piece:
    """A piece of a block that is being learned, and what it takes to take it back or to finish it.

    As long as it has no rows, nothing of it has been learned, and the encoding can go back to where it was. When it has
    rows, the encoding has met all of it, and the model learns from those.
    """

    encoding: Encoding[Any] | None
    mark: Any
    examples: int
    classes: np.ndarray
    place: np.ndarray
    rows_read: dict[str, int]
    rows_of_run: dict[str, int]
    rows: list[Rows] | None = None


def load_stream_model(path: str | os.PathLike[str], kind: str, root: Section, code: None = None) -> StreamModel:
    """The StreamModel in a model file; see `novikoff.model_files.loading`."""
    return StreamModel.taken(root, path)


def encoding_for(block: Block, features: Features) -> Encoding[Any]:
    """An encoding that has seen nothing, for a stream that begins with this block."""
    if isinstance(block, SparseBlock):
        return IndexEncoding()
    return (
        NameEncoding(Vocabulary(features.hash_bits, MARK)) if isinstance(block, NamedBlock) else TableEncoding(features)
    )


def _take_encoding(section: Section) -> Encoding[Any]:
    """Read back what `put` wrote under the kind of the encoding."""
    kind = section.fact("kind", str)
    for encoding in (IndexEncoding, NameEncoding, TableEncoding):
        if encoding.kind == kind:
            return encoding.take(section)
    raise ModelFileError(f"The model has an encoding of kind {kind!r}, which this version of novikoff does not know.")


def learn(
    stream: Iterable[Block] | str | os.PathLike[str],
    *,
    rule: Any = "perceptron",
    hypothesis: Any = "averaged",
    fit_intercept: bool = True,
    ties: str = "mistake",
    **features: Any,
) -> StreamModel:
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

"""StreamModel: a perceptron that learns from files and pipes, and encodes their rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import asdict, dataclass
from itertools import chain, pairwise
from typing import Any

import numpy as np

from novikoff.data.encoding import Encoding, Features, TableEncoding
from novikoff.data.encoding.curves import Curves
from novikoff.data.formats.block import Block
from novikoff.data.formats.sources import STANDARD_INPUT
from novikoff.data.table_form import TableForm
from novikoff.errors import ModelFileError, ReentryError
from novikoff.inputs.rows import Rows
from novikoff.model_files import Section, read, read_model, write, write_model
from novikoff.perceptron.candidates import Candidate
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.model import Model
from novikoff.rules import Custom
from novikoff.selection.calibration import Calibration
from novikoff.streaming.class_weights import ClassWeight, ClassWeights
from novikoff.streaming.cluster_run import ClusterRun
from novikoff.streaming.encodings import encoding_for, read_encoding
from novikoff.streaming.in_memory import DataMethods
from novikoff.streaming.row_order import RunOrder
from novikoff.system.copying import deep_copy
from novikoff.system.exclusive import ExclusiveAccess, exclusive_read, exclusive_write, make_lock

__all__ = ["KIND", "StreamModel", "encoding_for"]

KIND = "stream"


class StreamModel(DataMethods, ExclusiveAccess):
    """A model, and the encoding that makes rows of numbers of the blocks of a stream.

    `predict`, `score`, `decision_function` and `learn` take DataFrames of pandas and polars, lists of dicts, arrays,
    sparse matrices, texts, paths, and blocks; `predict_one` and `learn_one` take one example.

    A block is learned whole, or not at all if it is interrupted or rejected. A block with much text, or with a pause in
    it, is learned in pieces, and `rows_read` tells how many rows have been learned. Threads may share the model: one
    call runs at a time.

    Parameters
    ----------
    learner : Learner
    features : Features, optional
        How columns become features.
    class_weight : dict {label: weight} or "balanced", optional
        The factor of the steps on rows with each label; see `novikoff.streaming.class_weights`.

    Attributes
    ----------
    ledger : Ledger
    rows_read : dict
        The number of rows learned from each source.
    rows_of_run : dict
        The number of rows learned from each file in the last run over it. A run that was interrupted skips them when it
        is resumed.
    run_order : RunOrder or None
        The order of the rows in the last run, if they were shuffled. A run that was interrupted repeats it.
    target : str or None
        The column of a table that holds the labels.
    form : TableForm or None
        How the tables are written that it has learned from.
    cluster_run : ClusterRun or None
        The run on a cluster in which it has learned, which can be resumed.
    calibration : Calibration or None
        How scores become probabilities; set by `nk.calibrate`, and None again after further learning.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff import Learner
    >>> from novikoff.streaming.model import StreamModel
    >>> from novikoff.data.formats import CategoricalColumn, TableBlock
    >>> def block(sky, label):
    ...     column = CategoricalColumn.from_cells([sky])
    ...     return TableBlock("sky.csv", np.array([2]), np.array([label], object), {"sky": column})
    >>> model = StreamModel(Learner())
    >>> for sky, label in [("sun", "stay"), ("rain", "go"), ("rain", "go")]:
    ...     model.learn(block(sky, label))
    >>> model.predict(block("rain", None)).tolist(), model.names
    (['go'], ['sky=sun', 'sky=rain'])
    """

    kind = KIND  # of model files
    predicts_numbers = False  # but labels
    __copy__ = deep_copy
    form: TableForm | None = None  # here: it is not in pickles of earlier versions

    class_weights: ClassWeights | None = None
    cluster_run: ClusterRun | None = None

    def __init__(
        self, learner: Learner, features: Features | None = None, class_weight: ClassWeight | None = None
    ) -> None:
        self.model = Model(learner)
        self.class_weights = None if class_weight is None else ClassWeights(class_weight)
        self.features = features or Features()
        self.encoding: Encoding[Any] | None = None
        self.rows_read: dict[str, int] = {}
        self.rows_of_run: dict[str, int] = {}
        self.run_order: RunOrder | None = None
        self.target: str | None = None
        self.calibration: Calibration | None = None
        self._lock, self._piece = make_lock(self), None

    # -- one call at a time

    _piece: _Piece | None  # the piece of a block that is being learned

    def __getstate__(self) -> dict[str, Any]:
        """Return a copy of everything learned, for pickle and deepcopy."""
        return self._copy_attributes()

    @exclusive_read
    def _copy_attributes(self) -> dict[str, Any]:
        kept = {name: value for name, value in self.__dict__.items() if name not in ("_lock", "_piece")}
        return deepcopy(kept)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # joblib may have mapped the arrays of a file into memory, where nothing can be written to them.
        copied = {"calibration": None} | state | {"encoding": deepcopy(state["encoding"])}
        self.__dict__.update(copied, _lock=make_lock(self), _piece=None)

    def _apply_pending(self) -> None:
        if self._piece is not None:
            raise ReentryError(
                "A StreamModel was asked for something while this thread was learning from a block: by a signal "
                "handler or a finalizer. Ask after the call has returned."
            )

    def _recover(self) -> None:
        piece = self._piece
        if piece is not None and piece.rows is None:
            self._undo(piece)
        elif piece is not None:
            try:
                self._finish(piece)
            except Exception:  # the rule refuses the piece, which the call that was interrupted would have raised
                self._abandon(piece)

    def _undo(self, piece: _Piece) -> None:
        """Restore the encoding to what it was before a piece of which no row has been learned."""
        if piece.encoding is not None:
            piece.encoding.restore(piece.mark)
        self.encoding = piece.encoding
        self._piece = None

    def _abandon(self, piece: _Piece) -> None:
        """Stop learning from a piece that is refused, and undo it if no row of it has been learned."""
        if self.model.n_examples == piece.examples:
            piece.rows = None  # so that it is undone, not learned, if this is interrupted
            self._undo(piece)
        self._piece = None

    def _finish(self, piece: _Piece) -> None:
        """Learn the rows of a piece that have not been learned yet, and count all its rows."""
        assert piece.rows is not None
        done = 0
        for rows in piece.rows:
            if len(rows) and self.model.n_examples == piece.examples + done:
                part = slice(done, done + len(rows))
                if piece.importances is None:  # a regression takes none
                    self.model.learn_encoded(rows, piece.classes, piece.class_indices[part])
                else:
                    own = piece.importances[part]
                    self.model.learn_encoded(rows, piece.classes, piece.class_indices[part], importances=own)
            done += len(rows)
        self.class_weights = piece.class_weights
        self.rows_read = piece.rows_read
        self.rows_of_run = piece.rows_of_run
        self.calibration = None  # of the scores before
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
        """The names of the features, in the order of the weights."""
        return self.encoding.names if self.encoding is not None else []

    @property
    def labels(self) -> list[Any]:
        """The labels met so far, sorted."""
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
        """The type of each column of a table, as it was first sniffed: "number", "word" or "text"."""
        return dict(self.encoding.kinds) if isinstance(self.encoding, TableEncoding) else {}

    @property
    def format(self) -> str:
        """The most likely format of a stream for this model, for when sniffing gives no answer."""
        if isinstance(self.encoding, TableEncoding):
            return "text" if self.kinds == {"text": "text"} else "csv"
        formats = {"index": "svmlight", "names": "vw"}
        return formats[self.encoding.kind] if self.encoding is not None else "csv"

    @exclusive_write
    def forget_run(self, sources: Iterable[str]) -> None:
        """Begin a new run over some sources."""
        forgotten = set(sources)
        self.run_order = self.cluster_run = None
        self.rows_of_run = {name: n for name, n in self.rows_of_run.items() if name not in forgotten}

    def ahead_of(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the blocks of a stream to learn from, or parts of them.

        While one is learned from, a thread prepares the text columns of the next.
        """
        blocks = iter(blocks)
        for first in blocks:
            encoding = self.encoding or encoding_for(first, self.features)
            all_blocks = chain(iter([first]), blocks)
            del first  # or the first block would stay in memory to the end
            yield from encoding.precompute(all_blocks)

    def learn_until(
        self,
        block: Block,
        stops: Iterable[int],
        before_piece: Callable[[Rows, np.ndarray, np.ndarray], None] | None = None,
    ) -> Iterator[int]:
        """Learn from a block, and pause after each of some numbers of examples, counted from the start of the model.

        Yields the number of examples so far at each pause, so that the caller can read the ledger. `before_piece` is
        called with the encoded rows of each piece, the classes and the class index of each row, before it is learned.
        """
        if block.labels is None:
            raise ValueError("Rows without labels teach nothing.")
        encoding = self.encoding or encoding_for(block, self.features)
        encoding.require(block)
        classes, class_indices = self._encode_labels(block)
        before, done = self.model.n_examples, 0
        edges = [0, *sorted(stop - before for stop in stops if before < stop < before + len(block)), len(block)]
        for start, stop in pairwise(edges):
            for piece in encoding.split(block if stop - start == len(block) else block[start:stop]):
                own_indices = class_indices[done : done + len(piece)]
                yield self._learn_piece(encoding, piece, classes, own_indices, before_piece)
                done += len(piece)

    def _encode_labels(self, block: Block) -> tuple[np.ndarray, np.ndarray]:
        """Return the classes of a block, and for each row the index of its own; raise an error if they are no labels
        for this model."""
        classes, class_indices = block.encode_labels()
        self.model.require_sortable(classes)
        return classes, class_indices

    @exclusive_write
    def _learn_piece(
        self,
        encoding: Encoding[Any],
        block: Block,
        classes: np.ndarray,
        class_indices: np.ndarray,
        before_piece: Callable[[Rows, np.ndarray, np.ndarray], None] | None,
    ) -> int:
        """Learn from a piece of a block; return the number of examples so far."""
        encoding = self.encoding or encoding
        n_read = self.rows_read.get(block.source, 0) + len(block)
        rows_of_run = self.rows_of_run
        if block.source != STANDARD_INPUT:  # a pipe cannot be read from the start again
            rows_of_run = rows_of_run | {block.source: rows_of_run.get(block.source, 0) + len(block)}
        examples = self.model.n_examples
        self._piece = piece = _Piece(
            self.encoding,
            encoding.snapshot(),
            examples,
            classes,
            class_indices,
            self.rows_read | {block.source: n_read},
            rows_of_run,
        )
        if self.class_weights is not None:
            piece.importances, piece.class_weights = self.class_weights.weigh(classes, class_indices)
        self.encoding = encoding
        try:
            encoded = list(encoding.learn(block))
            done = 0
            for rows in encoded:
                rows.require_numbers()
                if before_piece is not None and len(rows):
                    before_piece(rows, classes, class_indices[done : done + len(rows)])
                done += len(rows)
            piece.rows = encoded
            self._finish(piece)
        except Exception:
            self._abandon(piece)
            raise
        return examples + len(block)

    @exclusive_read
    def rows_of(self, block: Block) -> Rows:
        """Return the rows of a block, encoded."""
        return self._rows_of(block)

    def _rows_of(self, block: Block) -> Rows:
        if self.encoding is None:
            raise ValueError("The model has learned nothing yet.")
        return self.encoding.encode(block)

    @exclusive_read
    def heaviest(self, n: int = 10) -> list[tuple[Any, list[tuple[str, float]]]]:
        """Return for each label (of two, the second) the features with the largest weights, and these weights.

        A number with hats counts as one feature: its weight is the slope from the lowest to the highest point of its
        curve within two standard deviations of the mean, as if they were as far apart as they can be.
        """
        weights = self.model.learner.linear_weights(self.model.state) or self.model.state.raw
        labels = self.labels if len(weights.bias) > 1 else self.labels[-1:]
        names, curves = self.names, self.curves()
        found = []
        for label, own in zip(labels, weights.coef, strict=False):
            w = own if curves is None else curves.join(own)
            order = np.argsort(-np.abs(w), kind="stable")[:n]
            found.append((label, [(names[j], float(w[j])) for j in order.tolist() if w[j] != 0.0]))
        return found

    def curves(self) -> Curves | None:
        """Return the numbers that have hats, and the indices of their weights; None if there are no hats."""
        return None if self.encoding is None else self.encoding.curves()

    @property
    def experts_(self) -> tuple[Candidate, ...]:
        """The learners that vote under the rule "auto", each with `name`, `mistakes` and `weight`; else empty."""
        return self.ledger.candidates

    @exclusive_read
    def to_linear(self) -> StreamModel:
        """Return a model with one weight vector: the blended score of the rule "auto", see `Model.to_linear`.

        Its ledger has the mistakes of that score, to be compared with those of the vote.
        """
        linear = deepcopy(self)
        linear.model, linear.calibration = self.model.to_linear(), None
        return linear

    @exclusive_read
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file that `load` reads back.

        A model that could not be loaded again is refused, and the old file stays; see `novikoff.system.atomic_files`
        for links and permissions.
        """
        root = Section("The model cannot be saved")
        if self.encoding is None:
            root.fail("it has learned nothing yet")
        self._write_model(root)
        encoding = root.add_part("encoding")
        encoding.facts["kind"] = self.encoding.kind
        self.encoding.write_to(encoding)
        if self.encoding.n_features != self.model.n_features:
            root.fail("it was stopped within a block by an error; go on from the last file that was written")
        root.facts["rows_read"], root.facts["rows_of_run"] = self.rows_read, self.rows_of_run
        root.facts["target"] = self.target or ""
        if self.run_order is not None:
            root.facts["run_order"] = asdict(self.run_order)
        if self.cluster_run is not None:
            self.cluster_run.write_to(root.add_part("cluster_run"))
        if self.form is not None:
            self.form.write_to(root.add_part("form"))
        if self.class_weights is not None:
            self.class_weights.write_to(root.add_part("class_weights"))
        if self.calibration is not None:
            self.calibration.write_to(root.add_part("calibration"))
        write(path, self.kind, root, lambda found: type(self).read_from(found, path))

    def _write_model(self, root: Section) -> None:
        if isinstance(self.model.learner.rule, Custom):
            root.fail("its rule is a function, and a file holds no code")
        write_model(root, self.model)

    @staticmethod
    def _read_model(root: Section) -> Model:
        return read_model(root)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StreamModel:
        """Read a model that `save` has written. It goes on learning as if it had never stopped, to the last bit.

        A file of `novikoff learn --loss squared` becomes a `StreamRegressor`.
        """
        from novikoff.streaming.regressor import StreamRegressor  # a subclass

        kind, root = read(path)
        for each in (StreamModel, StreamRegressor):
            if kind == each.kind and issubclass(each, cls):
                return each.read_from(root, path)
        how = "it is for `novikoff tag`" if kind == "tagger" else "open it with nk.load in Python"
        raise ModelFileError(f"{os.fspath(path)} holds a learner of kind {kind!r}, not one of `novikoff learn`: {how}.")

    @classmethod
    def read_from(cls, root: Section, path: str | os.PathLike[str]) -> StreamModel:
        """Build a model from the content of a model file."""
        found = cls.__new__(cls)
        found._lock, found._piece = make_lock(found), None
        found.model = cls._read_model(root)
        found.encoding = read_encoding(root.part("encoding"))
        own = found.encoding
        scaling = Features(scale=own.scales, hats=own.has_hats, log_counts=own.log_counts)
        found.features = getattr(found.encoding, "features", scaling)
        found.rows_read, found.rows_of_run = (
            {name: root.part(kept).fact(name, int) for name in root.fact(kept, dict)}
            for kept in ("rows_read", "rows_of_run")
        )
        found.run_order = _read_run_order(root)
        found.target = root.fact("target", str) or None
        found.form = TableForm.read_from(root.part("form")) if "form" in root.facts else None
        if "cluster_run" in root.facts:
            found.cluster_run = ClusterRun.read_from(root.part("cluster_run"))
        if "class_weights" in root.facts:
            found.class_weights = ClassWeights.read_from(root.part("class_weights"))
        found.calibration = None
        if "calibration" in root.facts:
            found.calibration = Calibration.read_from(root.part("calibration"), len(found.labels))
        if found.encoding.n_features != found.model.n_features:
            raise ModelFileError(
                f"{os.fspath(path)} holds no valid model: {found.encoding.n_features} features and "
                f"{found.model.n_features} weights."
            )
        return found


@dataclass
class _Piece:
    """A piece of a block that is being learned, and what is needed to undo or finish it after an interrupt.

    As long as `rows` is None, nothing of it has been learned, and the encoding can be restored to its `mark`. Once it
    has rows, the encoding has seen all of it, and the model can learn from them.
    """

    encoding: Encoding[Any] | None
    mark: Any
    examples: int
    classes: np.ndarray
    class_indices: np.ndarray
    rows_read: dict[str, int]
    rows_of_run: dict[str, int]
    rows: list[Rows] | None = None
    importances: np.ndarray | None = None
    class_weights: ClassWeights | None = None  # after the piece


def load_stream_model(path: str | os.PathLike[str], kind: str, root: Section, code: None = None) -> StreamModel:
    """Build the StreamModel of a model file; see `novikoff.model_files.loading`."""
    return StreamModel.read_from(root, path)


def _read_run_order(root: Section) -> RunOrder | None:
    if "run_order" not in root.facts:  # as in files of earlier versions
        return None
    part = root.part("run_order")
    order = RunOrder(
        part.fact("source", str),
        part.fact("seed", int),
        part.fact("rows", int),
        part.fact("parts", int),
        part.fact("is_first_shuffled", bool),
    )
    root.require(order.seed >= 0 and order.rows >= 0 and order.parts >= 1, "the order of its rows makes no sense")
    return order

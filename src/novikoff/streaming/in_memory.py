"""What a StreamModel does with data in memory: DataFrames, lists of dicts, arrays, one example at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp

from novikoff.data.encoding import IndexEncoding, NameBatch, NameEncoding, TableEncoding
from novikoff.data.feature_names import category_prefix
from novikoff.data.formats.block import Block, TableBlock
from novikoff.data.formats.notations import Notation
from novikoff.data.formats.reader import Reader
from novikoff.data.in_memory import KnownColumns, OpenedData, attach_labels, labels_from, open_data
from novikoff.data.table_form import TableForm
from novikoff.errors import DataError
from novikoff.formatting.phrases import pluralize, quoted_list
from novikoff.streaming.opening import known_notations, open_for_model, unnamed_columns
from novikoff.system.exclusive import exclusive_read

if TYPE_CHECKING:
    from novikoff.data.encoding import Encoding
    from novikoff.inputs.rows import Rows
    from novikoff.perceptron.model import Model
    from novikoff.selection.calibration import Calibration

__all__ = ["DataMethods", "open_data_for_model"]


class DataMethods:
    """The methods of a StreamModel that take data: blocks, or anything that blocks can be made of.

    Data are one of

    - a DataFrame of pandas or polars, or a table of pyarrow: columns are found by name, others are ignored
    - a list of dicts: a key that is not there is a missing cell
    - an array of two dimensions: its columns are those of `kinds`, in that order
    - a sparse matrix, for a model that has learned from one or from svmlight files
    - a list, array or Series of texts, for a model with one column of text
    - a path of a file, a block, or the blocks of a reader

    Labels are passed as `y`, or are in the column `target`.
    """

    model: Model
    encoding: Encoding[Any] | None
    target: str | None
    form: TableForm | None
    calibration: Calibration | None

    def learn(self, data: Any, y: Any = None) -> None:
        """Learn from every row of a block, or of data, in order.

        Parameters
        ----------
        data : block, or data as `predict` takes them
            Data in memory are read before the first row is learned from: if one is wrong, nothing has changed.
        y : list, array or Series of labels, optional
            By default the labels are in the column `target` of the data, which is by default the last one.

        Examples
        --------
        >>> import novikoff as nk
        >>> model = nk.StreamModel(nk.Learner())
        >>> model.learn([[1.0, 5.0], [2.0, 3.0], [4.0, 4.0]], ["no", "yes", "yes"])
        >>> model.ledger.examples
        3
        """
        if isinstance(data, Block) and y is None:
            self._learn_block(data)
            return
        opened = open_data_for_model(self, data, y)
        is_stream = isinstance(data, (str, os.PathLike, Reader))
        is_first = self.encoding is None
        for block in opened.blocks if is_stream else [*opened.blocks]:
            self._learn_block(self._keep_dense(block))
        self.target = opened.target_name or self.target
        if is_first:
            self.form = opened.form

    def learn_one(self, x: Any, y: Any) -> Self:
        """Learn from one example.

        Parameters
        ----------
        x : dict, 1-D array-like, or text
            A dict may bring columns that are new.
        y : label

        Returns
        -------
        self

        Examples
        --------
        >>> import novikoff as nk
        >>> model = nk.StreamModel(nk.Learner())
        >>> for x, y in [({"sky": "sun", "wind": 3}, "go"), ({"sky": "rain"}, "stay"), ({"sky": "sun"}, "go")]:
        ...     guess = model.predict_one(x)
        ...     model = model.learn_one(x, y)
        >>> model.predict_one({"sky": "sun", "wind": 4}), model.ledger.mistakes
        ('go', 3)
        """
        self.learn(_as_one_row(x), [y])
        return self

    def predict(self, data: Any) -> np.ndarray:
        """Return the label of every row.

        Parameters
        ----------
        data : DataFrame, list of dicts, array, sparse matrix, texts, path, or block
            The columns of a DataFrame are found by name. A dict may lack some. Those of an array are in the order of
            `kinds`.

        Examples
        --------
        >>> import novikoff as nk
        >>> days = [{"sky": "sun", "wind": 3}, {"sky": "rain", "wind": 9}, {"sky": "sun", "wind": 8}]
        >>> model = nk.learn(days, ["go", "stay", "go"])
        >>> model.predict([{"sky": "rain"}, {"wind": 2, "sky": "sun"}]).tolist()
        ['stay', 'go']
        """
        return _concatenate([self._predict_block(block) for block in self._blocks_to_predict(data)])

    def predict_one(self, x: Any) -> Any:
        """Return the label of one example: a dict, a 1-D array-like or a text; None before anything was learned."""
        if self.encoding is None:
            return None
        return self.predict(_as_one_row(x)).tolist()[0]

    def decision_function(self, data: Any) -> np.ndarray:
        """Return the scores of every row: for two labels one, positive for labels[1]; for more, one for each label.

        Parameters
        ----------
        data : as for `predict`
        """
        return _concatenate([self._score_block(block) for block in self._blocks_to_predict(data)])

    def predict_proba(self, data: Any) -> np.ndarray:
        """Return the probability of every label, in the order of `labels`, for every row.

        The model must have been calibrated since it has last learned; see `nk.calibrate`.

        Parameters
        ----------
        data : as for `predict`
        """
        if self.calibration is None:
            raise DataError(
                "The model has no probabilities: it has not been calibrated since it has last learned. Call "
                "nk.calibrate(model, blocks) with rows that it has not learned from."
            )
        return self.calibration.probabilities(self.decision_function(data))

    def score(self, data: Any, y: Any = None) -> float:
        """Return the share of rows whose label is predicted right.

        Parameters
        ----------
        data : as for `predict`
        y : list, array or Series of labels, optional
            By default those in the column `target` of the data.

        Examples
        --------
        >>> import novikoff as nk
        >>> model = nk.learn([[0.0], [1.0], [0.2], [0.9]], ["no", "yes", "no", "yes"])
        >>> model.score([[0.1], [0.8]], ["no", "no"])
        0.5
        """
        right = rows = 0
        for block in self._check_dicts(open_data_for_model(self, data, y).blocks):
            if block.labels is None:
                raise DataError(f"{block.source}: rows without labels have no score. Pass y, or name a target.")
            right += int((self._predict_block(block) == block.labels).sum())
            rows += len(block)
        return right / rows

    def _blocks_to_predict(self, data: Any) -> Iterable[Block]:
        if isinstance(data, Block):
            return [data]
        if self.encoding is None:
            raise DataError("The model has learned nothing yet.")
        return self._check_dicts(open_data_for_model(self, data, labelled=False).blocks)

    def _learn_block(self, block: Block) -> None:
        for _ in self.learn_until(block, ()):
            pass

    @exclusive_read
    def _predict_block(self, block: Block) -> np.ndarray:
        return self.model.predict(self._rows_of(block))

    @exclusive_read
    def _score_block(self, block: Block) -> np.ndarray:
        return self.model.scores(self._rows_of(block))

    def _check_dicts(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield blocks to predict; raise an error for dicts, or lines of JSON, none of whose keys the model knows: the
        answers would mean nothing."""
        for block in blocks:
            if isinstance(block, TableBlock) and block.is_loose and block.columns:
                names, known = list(block.columns), self.kinds
                if known and block.columns.keys().isdisjoint(known):
                    raise DataError(
                        f"{block.source}: the model knows none of the columns {quoted_list(names)}; it has learned "
                        f"from {quoted_list(list(known))}. Name them so."
                    )
            yield block

    def _keep_dense(self, block: Block) -> Block:
        """Make dicts that bring no new column a plain table, if the model has met nothing but numbers: its rows are
        dense, and stay so."""
        encoding = self.encoding
        if not (isinstance(encoding, TableEncoding) and encoding.is_dense and isinstance(block, TableBlock)):
            return block
        if not block.is_loose or not block.columns.keys() <= encoding.kinds.keys():
            return block
        missing = np.full(len(block), np.nan)
        return replace(
            block, columns={name: block.columns.get(name, missing) for name in encoding.kinds}, is_loose=False
        )

    if TYPE_CHECKING:

        @property
        def kinds(self) -> dict[str, str]: ...

        def learn_until(self, block: Block, stops: Iterable[int]) -> Iterator[int]: ...

        def _rows_of(self, block: Block) -> Rows: ...


def open_data_for_model(
    model: Any, data: Any, y: Any = None, options: Mapping[str, Any] | None = None, *, labelled: bool = True
) -> OpenedData:
    """Open data with what a model knows of their columns.

    Parameters
    ----------
    model : StreamModel
    data : as `StreamModel.predict` takes them
    y : labels, optional
        Beside the rows.
    options : dict, optional
        As those of `open_data`; they override what the model knows.
    labelled : bool
        Whether the blocks must have labels: those of y, or of the column that `options` or the model name.
    """
    if isinstance(data, (str, os.PathLike, Block, Reader)) and y is not None:
        raise DataError("y is for data in memory: blocks and files have their own labels.")
    if isinstance(data, Block):
        return OpenedData(data.source, len(data), [data], model.target)
    if isinstance(data, (str, os.PathLike)):
        data = open_for_model(model, data, dict(options or {}), labelled=labelled)
    if isinstance(data, Reader):
        return OpenedData(data.name, 0, data, getattr(data, "target_name", None), TableForm.from_reader(data))
    is_dicts = isinstance(data, (list, tuple)) and len(data) > 0 and isinstance(data[0], Mapping)
    chosen = dict(options or {})
    if labelled and y is None:
        chosen["target"] = _choose_target(model, chosen.get("target"))
        kind = _kind_of_labels(model)
        if kind is not None and chosen["target"] is not None:
            chosen["types"] = {chosen["target"]: kind, **chosen.get("types", {})}
    else:
        _require_apart(model, data, y, chosen.get("drop", ()))
        chosen["target"] = False
        if is_dicts and model.target is not None:
            chosen["drop"] = (*chosen.get("drop", ()), model.target)  # else it would be a column that is new
    if isinstance(model.encoding, IndexEncoding):
        data = _as_sparse(data, model.encoding.width)
    elif isinstance(model.encoding, NameEncoding):
        raise DataError(
            "The model has learned from Vowpal Wabbit's text, whose features have namespaces: pass a path, or the "
            "blocks of open_stream."
        )
    opened = open_data(data, known=_known_columns(model), **chosen)
    if labelled and y is not None:
        labels = labels_from(y, model.labels)
        return replace(opened, blocks=attach_labels(opened.blocks, labels, opened.n_rows, opened.name))
    return opened


def _choose_target(model: Any, target: Any) -> Any:
    """Return the column of the labels: the one that is asked for, or that of the model; None if it is to be found."""
    target = model.target if target is None else target
    if target is None and model.encoding is not None:
        raise DataError("The model does not know which column holds the labels, since they came as y: pass y again.")
    return target


def _kind_of_labels(model: Any) -> str | None:
    """Return what the column of the labels holds; None if it may be anything."""
    if any(isinstance(label, str) for label in model.labels):
        return "word"
    return "number" if model.labels or model.predicts_numbers else None


def _require_apart(model: Any, data: Any, y: Any, drop: Sequence[str | int]) -> None:
    """Raise an error if labels that come as y are a column to learn from as well."""
    name = getattr(y, "name", None)
    if model.encoding is None and name is not None and name in getattr(data, "columns", ()) and name not in drop:
        raise DataError(
            f"y is the column {name!r}, which is also in the data and would be learned from. Name it as target "
            "instead of passing y, or leave it out of the data."
        )


def _known_columns(model: Any) -> KnownColumns | None:
    """Return what a model knows of the columns of tables."""
    encoding = model.encoding
    if not isinstance(encoding, TableEncoding):
        return None

    def has_value(column: str, value: str) -> bool:
        if column not in encoding.kinds:  # that of the labels
            return value in model.labels
        name = NameBatch.with_prefixes([(category_prefix(column), [value])])
        return bool(encoding.vocabulary.find_indices(name, learn=False)[0] >= 0)

    notations = {name: Notation(notation) for name, notation in known_notations(model, {}).items()}
    return KnownColumns(dict(encoding.kinds), has_value, notations, unnamed_columns(model))


def _as_sparse(data: Any, width: int) -> Any:
    """Data as a sparse matrix, for a model whose features are numbers: column j is feature j."""
    if sp.issparse(data):
        return data
    array = np.asarray(data) if isinstance(data, (list, tuple, np.ndarray)) else None
    if array is None or array.ndim != 2 or array.dtype.kind not in "fiub" or array.shape[1] != width:
        raise DataError(
            f"The model has learned from features 0 to {width - 1}, as svmlight files number them: pass a sparse "
            f"matrix, whose column j is feature j, or an array of {pluralize(width, 'column')}."
        )
    return sp.csr_array(array)


def _as_one_row(x: Any) -> Any:
    """One example as data of one row."""
    if hasattr(x, "to_dict"):  # a row of a DataFrame
        x = x.to_dict()
    if isinstance(x, (Mapping, str)) or not sp.issparse(x):
        return [x]
    return x


def _concatenate(parts: list[np.ndarray]) -> np.ndarray:
    if not parts:
        raise DataError("There are no rows to predict.")
    return parts[0] if len(parts) == 1 else np.concatenate(parts)

"""Opening a file for a model: the columns are read as the model knows them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from novikoff.data.formats.columns import KINDS, UnnamedColumns
from novikoff.data.formats.opening import open_stream
from novikoff.data.table_form import TableForm

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.streaming.model import StreamModel

__all__ = [
    "known_notations",
    "open_for_model",
    "options_like",
    "read_for_model",
    "remember_reader",
    "unnamed_columns",
]


def open_for_model(
    model: StreamModel, path: str | os.PathLike[str], options: dict[str, Any], *, labelled: bool = True
) -> Any:
    """Open a file with the reader for its format, as `open_stream` does, with what the model knows as hints.

    The model knows which column of a table holds the labels, what kind of values the others hold and how their numbers
    are written, and which columns it has not learned from. `options` go to `open_stream` and override the hints. If the
    rows are not `labelled`, no column holds labels unless `options["target"]` names one.
    """
    options = dict(options)
    target = options.get("target", model.target if labelled else False)
    hints: dict[str, Any] = {} if target is None else {"target": target}
    kinds: dict[Any, str] = {}
    is_known = model.takes_tables and target is not None
    if is_known:
        # A categorical column with the values a1 and 17 would be sniffed as numbers in a file that has only 17.
        kinds = dict(model.kinds)
        if labelled and any(isinstance(label, str) for label in model.labels):
            kinds[target] = "word"
    if labelled and model.predicts_numbers and target not in (None, False):
        kinds[target] = "number"  # or one bad row among the first would make a column of words of it
    if kinds:
        hints["types"] = {**kinds, **options.pop("types", {})}
    if is_known:
        hints["only"] = frozenset(model.kinds)
        hints["unnamed"] = unnamed_columns(model)
        hints["notations"] = known_notations(model, options)
    return open_stream(path, otherwise=model.format, hints=hints, **options)


def read_for_model(model: StreamModel, files: Iterable[str], options: dict[str, Any]) -> Iterator[Block]:
    """Yield the labelled blocks of files, read as the model knows their columns."""
    for file in files:
        with open_for_model(model, file, options) as reader:
            yield from reader


def options_like(reader: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Options for reading another file like the one that was read: the same target, and columns of the same kinds."""
    if not getattr(reader, "names", ()):
        return dict(options)
    columns = zip(reader.names, reader.kinds, strict=True)
    kinds = {name: kind for name, kind in columns if kind in KINDS and name != reader.target_name}
    hints = {} if reader.target_name is None else {"target": reader.target_name}
    return {**hints, **options, "types": {**kinds, **options.get("types", {})}}


def unnamed_columns(model: StreamModel) -> UnnamedColumns | None:
    """Return the columns of tables without a header, if a model has learned from such."""
    return UnnamedColumns.from_names(model.kinds, model.target, 0 if model.form is None else model.form.n_columns)


def known_notations(model: StreamModel, options: Mapping[str, Any]) -> dict[str, str]:
    """Return how the numbers of the columns are written that the model has learned from, unless `options` say how."""
    if model.form is None:  # it has learned from other formats, or with a version that did not remember it
        return {}
    names = [name for name, kind in model.kinds.items() if kind == "number"]
    if model.target in model.form.notations and not any(isinstance(label, str) for label in model.labels):
        names.append(str(model.target))
    return model.form.notations_of(names, without_decimals="decimal" in options, without_dates="dates" in options)


def remember_reader(model: StreamModel, reader: Any) -> None:
    """Let a model remember the target of a file that it learns from, and how it is written."""
    model.target = getattr(reader, "target_name", None)
    model.form = TableForm.from_reader(reader) or model.form

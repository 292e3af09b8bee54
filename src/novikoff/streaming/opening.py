"""Opening a file for a model: the columns are read as the model knows them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from novikoff.data.formats.opening import open_stream
from novikoff.errors import DataError

if TYPE_CHECKING:
    from novikoff.streaming.model import StreamModel

__all__ = ["open_for_model"]


def open_for_model(
    model: StreamModel, path: str | os.PathLike[str], options: dict[str, Any], *, labelled: bool = True
) -> Any:
    """Open a file with the reader for its format, as `open_stream` does, with what the model knows as hints.

    The model knows which column of a table holds the labels, and what kind of values the others hold. `options` go to
    `open_stream` and override the hints. If the rows are not `labelled`, no column holds labels unless
    `options["target"]` names one.
    """
    options = dict(options)
    target = options.get("target", model.target if labelled else False)
    hints: dict[str, Any] = {} if target is None else {"target": target}
    kinds: dict[Any, str] = {}
    if model.takes_tables and target is not None:
        # A categorical column with the values a1 and 17 would be sniffed as numbers in a file that has only 17.
        kinds = dict(model.kinds)
        if labelled and any(isinstance(label, str) for label in model.labels):
            kinds[target] = "word"
    if labelled and model.predicts_numbers and target not in (None, False):
        kinds[target] = "number"  # or one bad row among the first would make a column of words of it
    if kinds:
        hints["types"] = {**kinds, **options.pop("types", {})}
    reader = open_stream(path, otherwise=model.format, hints=hints, **options)
    _require_width(model, reader)
    return reader


def _require_width(model: StreamModel, reader: Any) -> None:
    """Raise an error if a table without a header has not as many columns as the model knows, with or without labels.

    Columns without names are identified by their position.
    """
    known = len(model.kinds)
    if known and getattr(reader, "has_header", True) is False and len(reader.names) not in (known, known + 1):
        reader.source.close()
        raise DataError(
            f"{reader.name} has {len(reader.names)} columns without names; the model has learned from "
            f"{known} besides the labels. If the first line names them, say that there is a header."
        )

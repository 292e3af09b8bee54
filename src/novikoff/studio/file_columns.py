"""What a file holds: its columns as the readers understand them, its first rows, and the rows that cannot be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from novikoff.data.formats.column_notes import note_columns
from novikoff.data.formats.columns import KINDS
from novikoff.data.formats.opening import open_stream
from novikoff.errors import DataError

__all__ = ["MOST_REJECTS", "describe_file", "list_rejects", "reading_options"]

MOST_REJECTS = 200  # that are listed; all are counted
_ROWS = 20_000  # of a file, read to describe it
_PREVIEW = 6
_CELL = 60  # characters


def reading_options(given: Any) -> dict[str, Any]:
    """Return the options of `open_stream` that a page has sent, or raise a DataError."""
    if not isinstance(given, Mapping):
        raise DataError(f"The options are a JSON object; found {type(given).__name__}.")
    unknown = sorted(set(given) - {"target", "types", "drop"})
    if unknown:
        raise DataError(f"There is no option {unknown[0]!r}: the options are target, types and drop.")
    target, types, drop = given.get("target"), given.get("types") or {}, given.get("drop") or []
    if target is not None and not isinstance(target, str):
        raise DataError(f"target should be the name of a column, found {target!r}.")
    if not isinstance(types, Mapping) or not all(kind in KINDS for kind in types.values()):
        raise DataError(f"types should give columns one of the kinds {', '.join(KINDS)}; found {types!r}.")
    if not isinstance(drop, list) or not all(isinstance(name, str) for name in drop):
        raise DataError(f"drop should be a list of names of columns, found {drop!r}.")
    options: dict[str, Any] = {"target": target, "types": dict(types), "drop": tuple(drop)}
    return {name: value for name, value in options.items() if value}


def describe_file(path: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Read the first rows, and return what they are, as a JSON object."""
    labels: Counter[str] = Counter()
    rejects: list[Any] = []
    first: dict[str, Any] | None = None
    rows = 0
    with open_stream(path, bad_rows="skip", **options) as reader:
        for block in reader:
            rejects += block.rejects
            if len(block) and first is None:
                first = _preview(block)
            if block.labels is not None:
                labels.update(map(str, block.labels.tolist()))
            rows += len(block)
            if rows >= _ROWS:
                break
        layout = getattr(reader, "layout", None)
        target = getattr(reader, "target_name", None)
        names, kinds = getattr(reader, "names", ()), getattr(reader, "kinds", ())
        notes = [f"{', '.join(note.columns[:8])}: {note.text}" for note in note_columns(layout)] if layout else []
    columns = [{"name": name, "kind": kind} for name, kind in zip(names, kinds, strict=True) if name != target]
    if layout is not None:
        known = {*layout.used, layout.target}
        columns += [{"name": name, "kind": "left out"} for at, name in enumerate(layout.names) if at not in known]
    return {
        "columns": columns,
        "target": target,
        "target_reason": getattr(layout, "target_reason", ""),
        "labels": [{"label": label, "rows": n} for label, n in labels.most_common(50)],
        "n_labels": len(labels),
        "rows": rows,
        "is_whole": rows < _ROWS,
        "notes": notes,
        "preview": first,
        **list_rejects(rejects, path),
    }


def list_rejects(rejects: list[Any], path: Path) -> dict[str, Any]:
    """Return the rows that could not be read, by line, with the folder of the file left out of the reasons."""
    listed = [
        {"line": reject.line, "reason": reject.reason.replace(f"{path.parent}/", "")}
        for reject in rejects[:MOST_REJECTS]
    ]
    return {"rejects": listed, "n_rejects": len(rejects)}


def _preview(block: Any) -> dict[str, Any] | None:
    """Return the first rows of a table; None for other formats."""
    columns = getattr(block, "columns", None)
    if columns is None:
        return None
    cells = [[_shorten(cell) for cell in column[:_PREVIEW].tolist()] for column in columns.values()]
    labels = [] if block.labels is None else [_shorten(label) for label in block.labels[:_PREVIEW].tolist()]
    return {
        "names": list(columns),
        "rows": [list(row) for row in zip(*cells, strict=True)],
        "labels": labels,
        "lines": block.lines[:_PREVIEW].tolist(),
    }


def _shorten(cell: Any) -> str:
    """Return a cell as text; a number with six digits."""
    if cell is None or cell != cell:
        return ""
    text = f"{cell:.6g}" if isinstance(cell, float) else str(cell)
    return text if len(text) <= _CELL else text[: _CELL - 1] + "…"

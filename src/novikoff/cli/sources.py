"""What the commands that take FILES do with them: open them as a model needs them, say what the columns are, and keep
what could not be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from novikoff.cli.progress import say, tell_of_compiling
from novikoff.errors import DataError
from novikoff.formatting.phrases import counted
from novikoff.system.atomic_files import naming, require_writable

if TYPE_CHECKING:
    from novikoff.data.formats.block import Block
    from novikoff.streaming.model import StreamModel

__all__ = ["Columns", "LeftOut", "open_for"]

_SHOWN = 3  # reasons


def open_for(model: StreamModel, file: str, options: dict[str, Any], *, labelled: bool = True) -> Any:
    """The reader of a file, told what the model knows of tables: which column holds the labels, and what the others
    hold. Without labels no column does, unless one was named."""
    from novikoff.data.formats.opening import open_stream

    tell_of_compiling()
    options = dict(options)
    target = options.get("target", model.target if labelled else False)
    hints: dict[str, Any] = {} if target is None else {"target": target}
    if model.takes_tables and target is not None:
        # Cells such as a1 and 17 are words; of a file that happens to have only the second kind one would not think so.
        kinds = model.kinds
        if labelled and any(isinstance(label, str) for label in model.labels):
            kinds[target] = "word"
        hints["types"] = {**kinds, **options.pop("types", {})}
    reader = open_stream(file, otherwise=model.format, hints=hints, **options)
    _require_width(model, reader)
    return reader


def _require_width(model: StreamModel, reader: Any) -> None:
    """Columns without names are known by their numbers: then there must be as many, with or without the labels."""
    known = len(model.kinds)
    if known and getattr(reader, "has_header", True) is False and len(reader.names) not in (known, known + 1):
        reader.source.close()
        raise DataError(
            f"{reader.name} has {len(reader.names)} columns without names; the model has learned from "
            f"{known} besides the labels. If the first line names them, say --header."
        )


class Columns:
    """Says what the columns of a table were taken for, once for all files that agree."""

    def __init__(self) -> None:
        self._said = ""

    def say(self, reader: Any) -> None:
        """Before the first row is learned, so that a wrong guess can be stopped in time."""
        if not getattr(reader, "names", ()):
            return
        words = columns_in_words(reader)
        if words != self._said:
            say(f"{reader.name}: {words}")
        self._said = words


def columns_in_words(reader: Any) -> str:
    """Such as: 2 numbers (age, hours), 1 word (town); target is_spam."""
    target, layout = reader.target_name, getattr(reader, "layout", None)
    kinds = {name: kind for name, kind in zip(reader.names, reader.kinds, strict=True) if name != target}
    if layout is not None:  # it also has the columns that are left out
        kinds |= {name: "left out" for k, name in enumerate(layout.names) if k not in (*layout.used, layout.target)}
    parts = []
    for kind, plural in (("number", "numbers"), ("word", "words"), ("text", "texts"), ("left out", "left out")):
        found = [name for name, other in kinds.items() if other == kind]
        if found:
            parts.append(f"{len(found):,} {kind if len(found) == 1 else plural} ({_some(found)})")
    return ", ".join(parts) + ("" if target is None else f"; target {_printable(target)}")


def _some(names: list[str], shown: int = 8) -> str:
    more = [f"... and {len(names) - shown:,} more"] if len(names) > shown + 1 else []
    return ", ".join([_printable(name) for name in (names[:shown] if more else names)] + more)


def _printable(name: str) -> str:
    """Without what could play tricks on a terminal, and not too long."""
    name = "".join(c if c.isprintable() else "?" for c in name)
    return name if len(name) <= 40 else f"{name[:39]}…"


class LeftOut:
    """Rows that could not be read: the first few are told of, and all are written to a file, if there is one."""

    def __init__(self, path: Path | None = None, *, append: bool = False) -> None:
        self.path, self.count = path, 0
        self._mode: Literal["ab", "wb"] = "ab" if append else "wb"
        self._file: BinaryIO | None = None

    def note(self, block: Block) -> None:
        """Those of a block."""
        for reject in block.rejects:
            if self.count < _SHOWN:
                say(f"left out: {reject.reason}")
            self.count += 1
            self._write(reject.reason.encode() + b"\t" + reject.text.rstrip(b"\r\n") + b"\n")

    def _write(self, line: bytes) -> None:
        if self.path is None:
            return
        if self._file is None:
            require_writable(self.path)
            self._file = open(self.path, self._mode)  # noqa: SIM115 (`close` closes it)
        with naming(self.path):
            self._file.write(line)

    def flush(self) -> None:
        """See to it that those so far are on the disk."""
        if self._file is not None and self.path is not None:
            with naming(self.path):
                self._file.flush()
                if self.path.is_file():  # a device cannot be synced
                    os.fsync(self._file.fileno())

    def close(self) -> None:
        """Say how many there were."""
        if self._file is not None and self.path is not None:
            with naming(self.path):
                self._file.close()
        if self.count:
            where = "" if self.path is None else f"; they are in {self.path}, each with its reason"
            say(f"{counted(self.count, 'row')} left out{where}.")

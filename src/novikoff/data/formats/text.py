"""Labelled texts: rows `label<TAB>text`, or, where labels do not matter, a text per line."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import numpy as np

from novikoff._compiled.loops.decimals import find_lines
from novikoff.data.formats.block import CategoricalColumn, TableBlock, TextColumn
from novikoff.data.formats.lines import TextChunk, count_byte, decode_line, is_utf8, read_text_chunks
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.rejects import Reject, RejectCode, RowError
from novikoff.data.formats.remedies import FileError, Remedy
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

__all__ = ["LabelledTextReader"]

_BLANK = 32
_TARGETS = (None, False, True, "label", "first", 1, "1")


class LabelledTextReader(Reader[TableBlock]):
    """Blocks of rows from lines `label<TAB>text`, the next one split in a thread while the caller works on this one.

    Labels are strings, without the blanks around them; every other character, such as a no-break space, is a part of
    the label. Nothing is quoted: whatever follows the first tab is the text. Lines of blanks and tabs are skipped.

    Parameters
    ----------
    source : Source or path or "-"
    target : None or False or "label" or "first" or 1
        False if labels do not matter: then lines may be texts alone, and are if the first has no tab.
    types : dict, optional
        Can only be {"label": "word", "text": "text"}.
    bad_rows : {"stop", "skip"}
        What a row that cannot be read leads to: an error, after the rows before it have been delivered; or an entry in
        the block's `rejects`.

    Examples
    --------
    >>> from novikoff.data.formats.sources import Source
    >>> from novikoff.data.formats.text import LabelledTextReader
    >>> chunks = iter([b"ham\\tSee you\\nspam\\tCall \\"NOW\\"\\n", b""])
    >>> [block] = LabelledTextReader(Source("sms.txt", lambda n: next(chunks)))
    >>> block.labels.tolist(), block.columns["text"].tolist()
    (['ham', 'spam'], ['See you', 'Call "NOW"'])
    """

    names, kinds = ("label", "text"), ("word", "text")

    def __init__(
        self,
        source: Source | str,
        *,
        target: str | int | bool | None = None,
        types: Mapping[str, str] | None = None,
        bad_rows: str = "stop",
    ) -> None:
        super().__init__(source, bad_rows)
        known = dict(zip(self.names, self.kinds, strict=True))
        if target not in _TARGETS or not (types or {}).items() <= known.items():
            raise FileError(
                f"{self.name}: lines of label<TAB>text have a column 'label' of words and a column 'text' "
                "of texts. If it is another table, say that its format is tsv.",
                Remedy.NAME_TSV,
            )
        self.target_name = None if target is False else "label"

    def _blocks(self) -> Generator[TableBlock, None, None]:
        n_rows, has_labels = 0, self.target_name is not None
        for chunk in read_text_chunks(self.source):
            lines = _Lines(chunk)
            has_labels = has_labels or (not n_rows and bool((lines.tabs[:1] >= 0).any()))
            block, error = self._block(chunk, lines, has_labels)
            n_rows += len(block) + len(block.rejects)
            if len(block) or block.rejects:
                yield block
            if error is not None:
                raise error
        if not n_rows:
            raise DataError(f"{self.name}: found no rows, only blank lines.")

    def _block(self, chunk: TextChunk, lines: _Lines, has_labels: bool) -> tuple[TableBlock, RowError | None]:
        """Return the rows of a chunk, as far as the first error, and that error."""
        wrong = list(self._wrong_lines(chunk, lines))
        rejects = [Reject.from_error(line, error, text) for line, error, text in wrong]
        bad = np.isin(lines.numbers, [reject.line for reject in rejects])
        error = None
        if wrong and self.bad_rows == "stop":
            bad[bad.argmax() :] = True
            (_, error, _), rejects = wrong[0], []
        kept = np.flatnonzero(~bad)
        begins = np.where(has_labels & (lines.tabs >= 0), lines.tabs + 1, lines.begins)
        texts = TextColumn(
            np.frombuffer(chunk.text, np.uint8), np.column_stack([begins, lines.ends])[kept].astype(np.int32)
        )
        labels = None
        if self.target_name is not None:
            labels = _code_labels(chunk.text, np.column_stack([lines.begins, lines.tabs])[kept].astype(np.int32))
        block = TableBlock(
            self.name,
            lines.numbers[kept],
            None if labels is None else labels.strings,
            {"text": texts},
            rejects=rejects,
            coded_labels=labels,
        )
        return block, error

    def _wrong_lines(self, chunk: TextChunk, lines: _Lines) -> Generator[tuple[int, RowError, bytes], None, None]:
        """Yield the lines that cannot be read, and why."""
        needs_labels = self.target_name is not None
        is_valid = is_utf8(chunk.text) and 0 not in chunk.text
        is_suspect = ((lines.tabs < 0) | (np.frombuffer(chunk.text, np.uint8)[lines.begins] <= _BLANK)) & needs_labels
        for row in np.flatnonzero(is_suspect) if is_valid else range(len(lines.begins)):
            begin, end, tab, number = (int(of[row]) for of in (lines.begins, lines.ends, lines.tabs, lines.numbers))
            text, location = bytes(chunk.text[begin:end]), f"{self.name}:{number}"
            try:
                decoded = decode_line(text, location)
                if needs_labels and (tab < 0 or not chunk.text[begin:tab].strip(b" ")):
                    raise RowError(
                        f"{location}:1: expected a label, a tab and a text, found {decoded[:40]!r}. Correct it, "
                        "or pass over such rows.",
                        RejectCode.BAD_LABEL,
                    )
            except RowError as error:
                yield number, error, text


def _code_labels(text: bytearray, spans: np.ndarray) -> CategoricalColumn:
    """Return the labels at these spans, without the blanks around them."""
    column = CategoricalColumn.from_spans(text, spans)
    stripped = CategoricalColumn.from_cells(value.strip(" ") for value in column.values)  # some may be the same now
    return CategoricalColumn(stripped.codes[column.codes], stripped.values)


class _Lines:
    """The lines of a chunk that are not blank: where each begins and ends, its first tab, -1 if it has none, and its
    number."""

    def __init__(self, chunk: TextChunk) -> None:
        n = count_byte(chunk.text, b"\n") + 1
        found = [np.empty(n, np.int64) for _ in range(4)]
        rows = find_lines(np.frombuffer(chunk.text, np.uint8), *found)
        self.begins, self.ends, self.tabs, self.numbers = (array[:rows] for array in found)
        self.numbers += chunk.line

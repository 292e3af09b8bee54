"""Plain text: rows `label<TAB>text`, or, where labels do not matter, a text per line."""

from __future__ import annotations

from collections.abc import Generator, Mapping

import numpy as np

from novikoff._compiled.loops.decimals import find_lines
from novikoff.data.formats.block import Reject, TableBlock, Texts
from novikoff.data.formats.lines import Piece, count, is_text, pieces_of, require_text
from novikoff.data.formats.reader import Reader
from novikoff.data.formats.sources import Source
from novikoff.errors import DataError

__all__ = ["ProseReader"]

_BLANK = 32


class ProseReader(Reader[TableBlock]):
    """Blocks of rows from lines `label<TAB>text`, the next one cut in a thread while the caller works on this one.

    Labels are strings, without the blanks around them; every other character, such as a no-break space, is a part of
    the label. Nothing is quoted: whatever follows the first tab is the text. Lines of blanks and tabs are passed over.

    Parameters
    ----------
    source : Source or path or "-"
    target : None or False or "label"
        False if labels do not matter: then lines may be texts alone, and are if the first has no tab.
    types : dict, optional
        Cannot be but {"label": "word", "text": "text"}.
    bad_rows : {"stop", "skip"}
        What a row that cannot be read leads to: an error, after the rows before it have been delivered; or an entry in
        the block's `rejects`.

    Examples
    --------
    >>> from novikoff.data.formats.sources import Source
    >>> from novikoff.data.formats.text import ProseReader
    >>> chunks = iter([b"ham\\tSee you\\nspam\\tCall \\"NOW\\"\\n", b""])
    >>> [block] = ProseReader(Source("sms.txt", lambda n: next(chunks)))
    >>> block.labels.tolist(), block.columns["text"].tolist()
    (['ham', 'spam'], ['See you', 'Call "NOW"'])
    """

    names, kinds = ("label", "text"), ("word", "text")

    def __init__(
        self,
        source: Source | str,
        *,
        target: str | bool | None = None,
        types: Mapping[str, str] | None = None,
        bad_rows: str = "stop",
    ) -> None:
        super().__init__(source, bad_rows)
        known = dict(zip(self.names, self.kinds, strict=True))
        if target not in (None, False, True, "label") or not (types or {}).items() <= known.items():
            raise DataError(
                f"{self.name}: lines of label<TAB>text have a column 'label' of words and a column 'text' "
                "of texts. If it is another table, say that its format is tsv."
            )
        self.target_name = None if target is False else "label"

    def _blocks(self) -> Generator[TableBlock, None, None]:
        n_rows, has_labels = 0, self.target_name is not None
        for piece in pieces_of(self.source):
            lines = _Lines(piece)
            has_labels = has_labels or (not n_rows and bool((lines.tabs[:1] >= 0).any()))
            block, error = self._block(piece, lines, has_labels)
            n_rows += len(block) + len(block.rejects)
            if len(block) or block.rejects:
                yield block
            if error is not None:
                raise error
        if not n_rows:
            raise DataError(f"{self.name}: found no rows, only blank lines.")

    def _block(self, piece: Piece, lines: _Lines, has_labels: bool) -> tuple[TableBlock, DataError | None]:
        """The rows of a piece, as far as the first error, and that error."""
        rejects = [Reject(line, str(error), text) for line, error, text in self._wrong(piece, lines)]
        bad = np.isin(lines.numbers, [reject.line for reject in rejects])
        error = None
        if rejects and self.bad_rows == "stop":
            bad[bad.argmax() :] = True
            error, rejects = DataError(rejects[0].reason), []
        kept = np.flatnonzero(~bad)
        begins = np.where(has_labels & (lines.tabs >= 0), lines.tabs + 1, lines.begins)
        texts = Texts(np.frombuffer(piece.text, np.uint8), np.column_stack([begins, lines.ends])[kept].astype(np.int32))
        labels = None
        if self.target_name is not None:
            ends = zip(lines.begins[kept].tolist(), lines.tabs[kept].tolist(), strict=True)
            labels = np.array([piece.text[begin:tab].decode().strip(" ") for begin, tab in ends], object)
        return TableBlock(self.name, lines.numbers[kept], labels, {"text": texts}, rejects=rejects), error

    def _wrong(self, piece: Piece, lines: _Lines) -> Generator[tuple[int, DataError, bytes], None, None]:
        """The lines that cannot be read, and why."""
        needs_labels = self.target_name is not None
        is_sound = is_text(piece.text) and 0 not in piece.text
        lacks = ((lines.tabs < 0) | (np.frombuffer(piece.text, np.uint8)[lines.begins] <= _BLANK)) & needs_labels
        for row in np.flatnonzero(lacks) if is_sound else range(len(lines.begins)):
            begin, end, tab, number = (int(of[row]) for of in (lines.begins, lines.ends, lines.tabs, lines.numbers))
            text, place = bytes(piece.text[begin:end]), f"{self.name}:{number}"
            try:
                shown = require_text(text, place)
                if needs_labels and (tab < 0 or not piece.text[begin:tab].strip(b" ")):
                    raise DataError(
                        f"{place}:1: expected a label, a tab and a text, found {shown[:40]!r}. Correct it, "
                        "or pass over such rows."
                    )
            except DataError as error:
                yield number, error, text


class _Lines:
    """Where the lines of a piece that are not blank begin and end, their first tabs, -1 if there is none, and their
    numbers."""

    def __init__(self, piece: Piece) -> None:
        n = count(piece.text, b"\n") + 1
        found = [np.empty(n, np.int64) for _ in range(4)]
        rows = find_lines(np.frombuffer(piece.text, np.uint8), *found)
        self.begins, self.ends, self.tabs, self.numbers = (array[:rows] for array in found)
        self.numbers += piece.line

"""Sniffing for novikoff tag apply: does a file without --format have columns, or is it text?

CoNLL-U is recognised by `SentenceFile`. Other lines are columns if nearly all have the same number of cells and, in
addition, all have tabs, or there are empty lines between runs of them, or they have as many cells as the files that the
tagger was trained on. Otherwise they are text, which is an error if the tagger needs other columns than words. If both
are possible, a message says which was chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import click

from novikoff.cli.progress import say

if TYPE_CHECKING:
    from novikoff.structured import SequenceTagger
    from novikoff.structured.sentence_files import SentenceFile

__all__ = ["name_columns", "require_words_only", "sniff_columns"]

_NEARLY_ALL = 0.9  # share of lines: one line with a cell too many is an error in columns, and no reason to read text


def name_columns(tagger: SequenceTagger, width: int) -> Sequence[str]:
    """Return the names of the columns of a file with this many: those of the training files, with or without the tags;
    otherwise the columns that the tagger needs, which come first."""
    known = tagger.files
    if known is not None and known.format == "columns":
        for names in known.names, known.without_tag:
            if len(names) == width:
                return names
    return tagger.columns_


def sniff_columns(file: SentenceFile, tagger: SequenceTagger) -> None:
    """Set the format of a file to columns or text, by its first lines and by the columns of the training files."""
    from novikoff.structured.sentence_files import split_line

    lines = [line.strip("\r ") for line in file.first_lines()]
    rows = [split_line(line) for line in lines if line.strip()]
    if file.format == "conllu" or not rows:
        return
    width, most = Counter(map(len, rows)).most_common(1)[0]
    is_even = most >= _NEARLY_ALL * len(rows)
    is_marked = is_even and (all("\t" in line for line in lines if line.strip()) or _has_runs(lines))
    if len(tagger.columns_) > 1:
        first = next(k for k, line in enumerate(lines, 1) if line.strip())
        _require_columns(file, tagger, first, len(rows[0]), is_even=is_even, is_marked=is_marked)
        is_sure = is_marked or len(rows) > 1
    else:
        is_columns = is_even and (is_marked or _is_like_training(tagger, rows, width))
        file.format = "columns" if is_columns else "text"
        fits = width in _training_widths(tagger)
        is_one_word = len(rows) == width == 1  # the same sentence in both formats
        is_sure = not is_even or is_one_word or (is_marked if fits else len(rows) == 1 and not is_marked)
    if not is_sure:
        _report_choice(file, tagger, width)


def _has_runs(lines: Sequence[str]) -> bool:
    """Return whether there are runs of several lines, with empty lines after them."""
    is_token = [bool(line.strip()) for line in lines]
    first_run = next((k for k, (one, other) in enumerate(pairwise(is_token)) if one and other), None)
    return first_run is not None and not all(is_token[is_token.index(True) :])


def _training_widths(tagger: SequenceTagger) -> set[int]:
    """Return the numbers of columns of the training files, with tags and without; none if they were not columns."""
    known = tagger.files
    return set() if known is None or known.format != "columns" else {len(known.names), len(known.names) - 1}


def _is_like_training(tagger: SequenceTagger, rows: Sequence[Sequence[str]], width: int) -> bool:
    """Return whether lines may be columns like those of the training files; a single line must have a known tag."""
    known = tagger.files
    if known is None or width not in _training_widths(tagger):
        return False
    at = known.names.index(known.tag)
    return len(rows) > 1 or (width == len(known.names) and rows[0][at] in tagger.tags_)


def _require_columns(
    file: SentenceFile, tagger: SequenceTagger, line: int, width: int, *, is_even: bool, is_marked: bool
) -> None:
    """Raise an error if lines cannot be the columns of a tagger that needs several."""
    needed, names = len(tagger.columns_), ", ".join(tagger.columns_)
    if width < needed:
        what = (
            f"{width} {'column' if width == 1 else 'columns'}, but the tagger needs {needed}: {names}; a token per line"
        )
        raise click.ClickException(f"{file.name}:{line}: {what}, an empty line after each sentence.")
    if not (is_marked or (is_even and width in _training_widths(tagger) | {needed, needed + 1})):
        raise click.ClickException(
            f"{file.name}:{line}: this looks like text, but the tagger needs columns: {names}; "
            "a token per line, an empty line after each sentence. If it has them, use --format "
            "columns."
        )


def require_words_only(file: SentenceFile, tagger: SequenceTagger) -> None:
    """Raise an error if a tagger needs other columns than words, which text does not have."""
    if len(tagger.columns_) > 1:
        raise click.ClickException(
            f"{file.name}: text has only words, but the tagger needs the columns {', '.join(tagger.columns_)}. Use "
            "--format columns for a file that has them, or learn a tagger with --use word."
        )


def _report_choice(file: SentenceFile, tagger: SequenceTagger, width: int) -> None:
    if file.format == "text":
        say(f"{file.name}: read as text, a sentence per line. If it has a token per line, use --format columns.")
        return
    names = name_columns(tagger, width)
    more = "" if len(names) == width else " first"
    other = (
        "If it has a sentence per line, use --format text."
        if len(tagger.columns_) == 1
        else "The tagger cannot read plain text."
    )
    say(f"{file.name}: read as columns, a token per line: {', '.join(names)}{more}. {other}")

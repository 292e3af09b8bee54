"""How novikoff tag apply reads a file that nobody has named the format of.

CoNLL-U tells itself. Of the rest, lines are columns if nearly all have as many cells, and either tabs, or empty lines
between runs of them, or as many cells as the columns of the files that the tagger has learned from. Otherwise they are
text, which is an error if the tagger needs more than words. Where both are possible, what was chosen is said.
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

__all__ = ["names_in", "settle_format"]

_NEARLY_ALL = 0.9  # a line with a cell too many or too few is to be told, not to be taken for text


def names_in(tagger: SequenceTagger, width: int) -> Sequence[str]:
    """What the columns of a file of so many are called: as in the files learned from, with tags or without; otherwise
    those which the tagger needs come first."""
    known = tagger.files
    if known is not None and known.format == "columns":
        for names in known.names, known.without_tag:
            if len(names) == width:
                return names
    return tagger.columns_


def settle_format(file: SentenceFile, tagger: SequenceTagger) -> None:
    """Tell text from columns by the first lines and by what the tagger has learned from."""
    from novikoff.structured.sentence_files import cells_of

    lines = [line.strip("\r ") for line in file.first_lines()]
    rows = [cells_of(line) for line in lines if line.strip()]
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
        is_columns = is_even and (is_marked or _is_as_known(tagger, rows, width))
        file.format = "columns" if is_columns else "text"
        fits = width in _known_widths(tagger)
        one_word = len(rows) == width == 1  # the same either way
        is_sure = not is_even or one_word or (is_marked if fits else len(rows) == 1 and not is_marked)
    if not is_sure:
        _tell(file, tagger, width)


def _has_runs(lines: Sequence[str]) -> bool:
    """Whether tokens follow one another, with empty lines after them."""
    is_token = [bool(line.strip()) for line in lines]
    first_run = next((k for k, (one, other) in enumerate(pairwise(is_token)) if one and other), None)
    return first_run is not None and not all(is_token[is_token.index(True) :])


def _known_widths(tagger: SequenceTagger) -> set[int]:
    """How many columns the files learned from had, with tags and without; none if they were not columns."""
    known = tagger.files
    return set() if known is None or known.format != "columns" else {len(known.names), len(known.names) - 1}


def _is_as_known(tagger: SequenceTagger, rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether lines may be columns such as the tagger has learned from. For a single one that takes a tag it knows."""
    known = tagger.files
    if known is None or width not in _known_widths(tagger):
        return False
    at = known.names.index(known.tag)
    return len(rows) > 1 or (width == len(known.names) and rows[0][at] in tagger.tags_)


def _require_columns(
    file: SentenceFile, tagger: SequenceTagger, line: int, width: int, *, is_even: bool, is_marked: bool
) -> None:
    """Refuse what cannot be the columns of a tagger that needs several."""
    needed, names = len(tagger.columns_), ", ".join(tagger.columns_)
    if width < needed:
        what = (
            f"{width} {'column' if width == 1 else 'columns'}, but the tagger needs {needed}: {names}; a token per line"
        )
        raise click.ClickException(f"{file.name}:{line}: {what}, an empty line after each sentence.")
    if not (is_marked or (is_even and width in _known_widths(tagger) | {needed, needed + 1})):
        raise click.ClickException(
            f"{file.name}:{line}: this looks like text, but the tagger needs columns: {names}; "
            "a token per line, an empty line after each sentence. If it has them, say --format "
            "columns."
        )


def _tell(file: SentenceFile, tagger: SequenceTagger, width: int) -> None:
    if file.format == "text":
        say(f"{file.name}: taken for text, a sentence per line. If it has a token per line, say --format columns.")
        return
    names = names_in(tagger, width)
    more = "" if len(names) == width else " first"
    other = (
        "If it has a sentence per line, say --format text."
        if len(tagger.columns_) == 1
        else ("The tagger cannot read plain text.")
    )
    say(f"{file.name}: taken for columns, a token per line: {', '.join(names)}{more}. {other}")

"""Options of the novikoff tag commands, and the columns of words and tags in files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.progress import say

if TYPE_CHECKING:
    from novikoff.structured import SequenceTagger
    from novikoff.structured.sentence_files import FileColumns, FileSentence, SentenceFile

__all__ = [
    "BadSentences",
    "ColumnLayout",
    "Corpus",
    "column_options",
    "format_option",
    "load_tagger",
    "model_argument",
    "read_blocks",
    "read_corpus",
    "warn_of_one_tag",
]

Corpus = tuple[list[Any], list[Any]]  # sentences and their tags

_FORMATS = ("columns", "conllu", "text")


def model_argument(command: Any) -> Any:
    """Add the argument MODEL to a command."""
    return click.argument("model", type=click.Path(path_type=Path))(command)


def format_option(command: Any) -> Any:
    """Add --format to a command."""
    return click.option(
        "--format", type=click.Choice(_FORMATS), help="Format of the files.  [default: sniffed from their content]"
    )(command)


def column_options(command: Any) -> Any:
    """Add --column, --columns, --use and --format to a command."""
    for option in (
        format_option,
        click.option(
            "--use",
            metavar="NAMES",
            help="The columns that templates may use.  [default: all but the tags; for CoNLL-U the words]",
        ),
        click.option(
            "--columns",
            metavar="NAMES",
            help="The names of the columns, separated by commas.  [default: those that the model was trained on; "
            "word, pos, column2, ..., tag; those of CoNLL-U]",
        ),
        click.option(
            "--column",
            metavar="NAME",
            help="The column of the tags.  [default: the one that the model was trained on; for a new model the last, "
            "for CoNLL-U upos]",
        ),
    ):
        command = option(command)
    return command


class ColumnLayout:
    """Which columns of a file templates use, and which holds the tags.

    Options decide; without them, the columns are those of the files that the tagger was trained on, if there were any
    and this file has the same format and number of columns.
    """

    def __init__(
        self,
        file: SentenceFile,
        first: FileSentence,
        *,
        column: str | None,
        columns: str | None,
        use: str | None,
        known: FileColumns | None = None,
    ) -> None:
        from novikoff.structured.sentence_files import CONLLU
        from novikoff.structured.sentences import default_columns

        width = len(first.rows[0])
        is_conllu = file.format == "conllu"
        is_like_known = known is not None and known.format == file.format and len(known.names) == width
        default = CONLLU if is_conllu else (*default_columns(width - 1), "tag")
        names = (
            _split_names(columns, "--columns") if columns else list(known.names if known and is_like_known else default)
        )
        if len(names) != width:
            raise click.ClickException(f"{file.name}:{first.line}: {width} columns, but --columns names {len(names)}.")
        self.names, self.file, self.format = names, file.name, file.format
        if column is None and known is not None and known.tag in names:
            column = known.tag
        self.tag = self._column_index(column or ("upos" if is_conllu else names[-1]), "--column")
        used = (
            _split_names(use, "--use")
            if use
            else ["word"]
            if is_conllu
            else [n for k, n in enumerate(names) if k != self.tag]
        )
        if not used:
            raise click.ClickException(f"{file.name}:{first.line}: one column, so either words or tags are missing.")
        self.used = [self._column_index(name, "--use") for name in used]
        if self.tag in self.used:
            raise click.ClickException(
                f"{file.name}: the column {self.tag_name!r} holds the tags, which templates "
                "cannot use. Name another with --column, or remove it from --use."
            )

    def _column_index(self, name: str, option: str) -> int:
        if name not in self.names:
            raise click.ClickException(
                f"{self.file}: there is no column {name!r} for {option}; there are {', '.join(self.names)}."
            )
        return self.names.index(name)

    @property
    def tag_name(self) -> str:
        return self.names[self.tag]

    @property
    def used_names(self) -> list[str]:
        return [self.names[k] for k in self.used]

    @property
    def file_columns(self) -> FileColumns:
        """What a tagger stores of it."""
        from novikoff.structured.sentence_files import FileColumns

        return FileColumns(self.format, tuple(self.names), self.tag_name)

    def require_allowed(self, scheme: str, sentences: Sequence[FileSentence]) -> None:
        """Raise a DataError, with file and line, if a scheme forbids the tags."""
        import numpy as np

        from novikoff.structured.constraints import require_allowed

        def locate(sentence: int, token: int) -> str:
            found = sentences[sentence]
            return f"{self.file}:{found.line + [position for _, position in found.lines].index(token)}"

        starts = np.cumsum([0, *(len(sentence.rows) for sentence in sentences)])
        require_allowed(scheme, [], starts, [row[self.tag] for each in sentences for row in each.rows], locate)

    def split_tags(self, sentences: Sequence[FileSentence]) -> Corpus:
        """Return the sentences in the columns that templates use, and their tags."""
        words = [[tuple([row[k] for k in self.used]) for row in sentence.rows] for sentence in sentences]
        return words, [[row[self.tag] for row in sentence.rows] for sentence in sentences]


def _split_names(text: str, option: str) -> list[str]:
    names = text.split(",")
    repeated = [name for k, name in enumerate(names) if name in names[:k]]
    if repeated:
        raise click.UsageError(f"{option} names {repeated[0]!r} twice.")
    return names


class BadSentences:
    """Sentences whose tags a scheme for spans forbids: an error, or left out and counted.

    Parameters
    ----------
    scheme : str or None
        None allows all tags.
    skip : bool
        Whether they are left out.
    """

    def __init__(self, scheme: str | None, *, skip: bool) -> None:
        self.scheme, self._skips = scheme, skip
        self._n_skipped = self._n_read = 0
        self._first = ""  # what is wrong with the first of them

    def select(self, layout: ColumnLayout, sentences: Sequence[FileSentence]) -> Sequence[FileSentence]:
        """Return the sentences to use; raise a DataError for the first bad one unless they are left out."""
        from novikoff.structured.constraints import are_allowed

        if self.scheme is None:
            return sentences
        is_good = are_allowed(self.scheme, [[row[layout.tag] for row in each.rows] for each in sentences])
        good = list(compress(sentences, is_good))
        if len(good) < len(sentences):
            self._note_first(layout, sentences[is_good.index(False)])
        self._n_read, self._n_skipped = self._n_read + len(sentences), self._n_skipped + len(sentences) - len(good)
        return good

    def _note_first(self, layout: ColumnLayout, sentence: FileSentence) -> None:
        """Keep what is wrong with the first bad sentence, or raise it."""
        from novikoff.errors import DataError
        from novikoff.structured.constraints import ForbiddenTagError

        try:
            layout.require_allowed(str(self.scheme), [sentence])
        except DataError as error:
            what = error.problem if isinstance(error, ForbiddenTagError) else str(error)
            if not self._skips:
                advice = "leave such sentences out with --bad-sentences skip, or learn without --constraints"
                raise DataError(f"{what} Correct it, {advice}.") from error
            self._first = self._first or what

    def report(self) -> None:
        """Say how many sentences were left out, and where the first is; forget the counts, for the next pass."""
        if self._n_skipped:
            sentences = f"{self._n_skipped:,} of {self._n_read:,} sentences"
            say(f"{sentences} left out, whose tags break the scheme {self.scheme}. The first is {self._first}")
        self._n_skipped = self._n_read = 0


def warn_of_one_tag(layout: ColumnLayout, tags: Iterable[Any]) -> None:
    """Print a warning if all tags are alike, such as _ in a column of CoNLL-U that is not filled in."""
    found = set(tags)
    if len(found) == 1:
        others = [name for k, name in enumerate(layout.names) if k != layout.tag]
        what = f"every tag in column {layout.tag_name} of {layout.file} is {found.pop()!r}: there is nothing to learn"
        say(f"Warning: {what}. Name another column with --column: {', '.join(others)}.")


def read_blocks(
    files: Sequence[str], format: str | None, *, bad: BadSentences | None = None, **choices: Any
) -> Iterator[tuple[ColumnLayout, Corpus]]:
    """Yield the sentences of files with their tags, a block at a time; all files must have the columns of the first."""
    from novikoff.structured.sentence_files import SentenceFile

    first: ColumnLayout | None = None
    for name in files:
        with SentenceFile(name, format=format) as file:
            own: ColumnLayout | None = None
            for block in file.blocks():
                sentences = [sentence for sentence in block if sentence.rows]
                if not sentences:
                    continue
                own = own or ColumnLayout(file, sentences[0], **choices)
                first = first or own
                if own.used_names != first.used_names:
                    raise click.ClickException(f"{file.name}: its columns are not those of {first.file}.")
                yield own, own.split_tags(sentences if bad is None else bad.select(own, sentences))
            if own is None:
                raise click.ClickException(f"{file.name}: there are no sentences in it.")


def read_corpus(files: Sequence[str], format: str | None, **choices: Any) -> tuple[ColumnLayout, Corpus]:
    """Read all sentences of files with their tags into memory."""
    layouts, blocks = zip(*read_blocks(files, format, **choices), strict=True)
    X, y = (list(chain.from_iterable(some)) for some in zip(*blocks, strict=True))
    if not X:
        raise click.ClickException(f"{layouts[0].file}: the tags of all sentences break the scheme.")
    return layouts[0], (X, y)


def load_tagger(path: Path, otherwise: str) -> SequenceTagger:
    """Load a tagger from a model file; `otherwise` is the command to suggest for models of other kinds."""
    from novikoff.cli.model_loading import load_model
    from novikoff.structured import SequenceTagger

    found = load_model(path)
    if not isinstance(found, SequenceTagger):
        raise click.ClickException(f"{path} holds a {type(found).__name__}, not a tagger. Try novikoff {otherwise}.")
    return found

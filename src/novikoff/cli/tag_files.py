"""What the commands of novikoff tag share: options, and which columns of a file hold words and which tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from novikoff.structured import SequenceTagger
    from novikoff.structured.sentence_files import FileColumns, Read, SentenceFile

__all__ = [
    "Corpus",
    "Layout",
    "column_options",
    "format_option",
    "load_tagger",
    "model_argument",
    "parts_of",
    "read_all",
    "word",
]

Corpus = tuple[list[Any], list[Any]]  # sentences and their tags

_FORMATS = ("columns", "conllu", "text")


def model_argument(command: Any) -> Any:
    """MODEL."""
    return click.argument("model", type=click.Path(path_type=Path))(command)


def format_option(command: Any) -> Any:
    """--format."""
    return click.option(
        "--format", type=click.Choice(_FORMATS), help="Of the files.  [default: told by their content]"
    )(command)


def column_options(command: Any) -> Any:
    """--column, --columns, --use and --format."""
    for option in (
        format_option,
        click.option(
            "--use",
            metavar="NAMES",
            help="The columns that templates may use.  [default: all but the tags; of CoNLL-U the words]",
        ),
        click.option(
            "--columns",
            metavar="NAMES",
            help="What the columns are called, parted by commas.  [default: "
            "as when the model learned; word, pos, column2, ..., tag; those of CoNLL-U]",
        ),
        click.option(
            "--column",
            metavar="NAME",
            help="The column of the tags.  [default: that "
            "which the model has learned from; of a new one the last, of CoNLL-U upos]",
        ),
    ):
        command = option(command)
    return command


class Layout:
    """Which columns of a file hold the words and which the tags: as it was said, or else as in the files that the
    tagger knows, if there are any and this one is like them."""

    def __init__(
        self,
        file: SentenceFile,
        first: Read,
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
        like_known = known is not None and known.format == file.format and len(known.names) == width
        usual = CONLLU if is_conllu else (*default_columns(width - 1), "tag")
        names = _names(columns, "--columns") if columns else list(known.names if known and like_known else usual)
        if len(names) != width:
            raise click.ClickException(f"{file.name}:{first.line}: {width} columns, but --columns names {len(names)}.")
        self.names, self.file, self.format = names, file.name, file.format
        if column is None and known is not None and known.tag in names:
            column = known.tag
        self.tag = self._number(column or ("upos" if is_conllu else names[-1]), "--column")
        used = (
            _names(use, "--use")
            if use
            else ["word"]
            if is_conllu
            else [n for k, n in enumerate(names) if k != self.tag]
        )
        if not used:
            raise click.ClickException(f"{file.name}:{first.line}: one column, so either words or tags are missing.")
        self.used = [self._number(name, "--use") for name in used]
        if self.tag in self.used:
            raise click.ClickException(
                f"{file.name}: the column {self.tag_name!r} holds the tags, which templates "
                "cannot see. Name another with --column, or take it out of --use."
            )

    def _number(self, name: str, option: str) -> int:
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
    def remembered(self) -> FileColumns:
        """What a tagger keeps of it."""
        from novikoff.structured.sentence_files import FileColumns

        return FileColumns(self.format, tuple(self.names), self.tag_name)

    def require_allowed(self, scheme: str | None, sentences: Sequence[Read]) -> None:
        """Refuse tags that a scheme bars, by file and line."""
        import numpy as np

        from novikoff.structured.constraints import require_allowed

        def place(sentence: int, token: int) -> str:
            found = sentences[sentence]
            return f"{self.file}:{found.line + [number for _, number in found.lines].index(token)}"

        if scheme is not None:
            starts = np.cumsum([0, *(len(sentence.rows) for sentence in sentences)])
            require_allowed(scheme, [], starts, [row[self.tag] for each in sentences for row in each.rows], place)

    def parted(self, sentences: Sequence[Read]) -> Corpus:
        """Sentences as a tagger takes them, and their tags."""
        words = [[tuple([row[k] for k in self.used]) for row in sentence.rows] for sentence in sentences]
        return words, [[row[self.tag] for row in sentence.rows] for sentence in sentences]


def _names(text: str, option: str) -> list[str]:
    names = text.split(",")
    twice = [name for k, name in enumerate(names) if name in names[:k]]
    if twice:
        raise click.UsageError(f"{option} names {twice[0]!r} twice.")
    return names


def parts_of(
    files: Sequence[str], format: str | None, *, constraints: str | None = None, **choices: Any
) -> Iterator[tuple[Layout, Corpus]]:
    """The sentences of some files with their tags, some at a time; the first file says what the columns are."""
    from novikoff.structured.sentence_files import SentenceFile

    first: Layout | None = None
    for name in files:
        with SentenceFile(name, format=format) as file:
            own: Layout | None = None
            for block in file.blocks():
                sentences = [sentence for sentence in block if sentence.rows]
                if not sentences:
                    continue
                own = own or Layout(file, sentences[0], **choices)
                first = first or own
                if own.used_names != first.used_names:
                    raise click.ClickException(f"{file.name}: its columns are not those of {first.file}.")
                own.require_allowed(constraints, sentences)
                yield own, own.parted(sentences)
            if own is None:
                raise click.ClickException(f"{file.name}: there are no sentences in it.")


def read_all(files: Sequence[str], format: str | None, **choices: Any) -> tuple[Layout, Corpus]:
    """All of them at once."""
    layouts, parts = zip(*parts_of(files, format, **choices), strict=True)
    X, y = (list(chain.from_iterable(some)) for some in zip(*parts, strict=True))
    return layouts[0], (X, y)


def load_tagger(path: Path, otherwise: str) -> SequenceTagger:
    """The tagger in a model file; `otherwise` is the command for models of other kinds."""
    from novikoff.model_files.loading import load
    from novikoff.structured import SequenceTagger

    found = load(path)
    if not isinstance(found, SequenceTagger):
        raise click.ClickException(f"{path} holds a {type(found).__name__}, not a tagger. Try novikoff {otherwise}.")
    return found


def word(value: Any) -> str:
    """A tag or name without what could play tricks on a terminal."""
    return "".join(c if c.isprintable() else "?" for c in str(value))

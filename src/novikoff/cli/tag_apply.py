"""novikoff tag apply: tag the sentences of files or a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from novikoff.cli.interrupts import InterruptibleCommand
from novikoff.cli.options import require_distinct_paths
from novikoff.cli.progress import say
from novikoff.cli.tag_files import format_option, load_tagger, model_argument
from novikoff.cli.tag_sniffing import name_columns, require_words_only, sniff_columns

if TYPE_CHECKING:
    from novikoff.structured import SequenceTagger
    from novikoff.structured.sentence_files import FileSentence, SentenceFile

__all__ = ["apply"]


@click.command(cls=InterruptibleCommand)
@model_argument
@click.argument("files", nargs=-1)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write the tagged sentences.  [default: the standard output]",
)
@click.option(
    "--column",
    metavar="NAME",
    help="The column of CoNLL-U to write the tags to.  [default: the one that the tagger was trained on, or upos]",
)
@click.option(
    "--tokenize/--no-tokenize",
    default=None,
    help="Split punctuation from the words of text.  [default: blanks separate tokens, which a message says]",
)
@format_option
def apply(
    model: Path,
    files: tuple[str, ...],
    output: Path | None,
    column: str | None,
    format: str | None,
    tokenize: bool | None,
) -> None:
    """Tag the sentences of files or a pipe.

    Text has a sentence per line, with blanks between its tokens; with --tokenize, punctuation and English clitics (n't,
    's) are tokens too, while 1,003.5, U.S., O'Neill, well-known and addresses stay whole. The output has a token and
    its tag per line, and an empty line after each sentence. In columns, the tag is added as the last one. In CoNLL-U,
    the tags replace one column; everything else stays as it is. Sentences are tagged as they arrive, and memory does
    not grow with the files.

    Without --format, the lines are columns if nearly all have the same number of cells and, in addition, have tabs, or
    have empty lines between sentences, or have the columns of the files that the tagger was trained on, with or without
    the tags; otherwise they are text. If both are possible, a message says which was chosen. A tagger that needs other
    columns than words rejects text.
    """
    from novikoff.system.atomic_files import open_atomic

    require_distinct_paths({"--output": output}, [model, *files])
    if tokenize and format not in (None, "text"):
        raise click.UsageError(f"--tokenize is for text, and --format is {format}, whose tokens are given.")
    texts = _tag_files(
        load_tagger(model, "predict"), files or ("-",), column, "text" if tokenize else format, tokenize=tokenize
    )
    if output is None:
        for text in texts:
            click.echo(text)  # which flushes: the program that writes into the pipe may be waiting for the answer
        return
    with open_atomic(output) as file:
        for text in texts:
            file.write(f"{text}\n".encode())


def _tag_files(
    tagger: SequenceTagger, files: Sequence[str], column: str | None, format: str | None, *, tokenize: bool | None
) -> Iterator[str]:
    """Yield blocks of sentences with their tags, as text without the last line feed."""
    from novikoff.structured.sentence_files import SentenceFile

    is_announced = tokenize is not None
    for name in files:
        with SentenceFile(name, format=format, tokenize=bool(tokenize)) as file:
            if format is None:
                sniff_columns(file, tagger)
            if file.format == "text":
                require_words_only(file, tagger)
                if not is_announced:
                    say(f"{file.name}: blanks separate tokens. To split punctuation from words as well: --tokenize.")
                    is_announced = True
            for block in file.blocks():
                yield "\n".join(_tag_block(tagger, file, block, column))


def _tag_block(
    tagger: SequenceTagger, file: SentenceFile, block: Sequence[FileSentence], column: str | None
) -> Iterator[str]:
    """Yield the lines of some sentences with their tags."""
    from novikoff.structured.sentence_files import CONLLU

    is_conllu, at = file.format == "conllu", 0
    width = next((len(sentence.rows[0]) for sentence in block if sentence.rows), 0)
    names = CONLLU if is_conllu else tagger.columns_ if file.format == "text" else name_columns(tagger, width)
    used = [_column_index(file, name, names) for name in tagger.columns_]
    if is_conllu:
        at = _column_index(file, column or _tag_column(tagger, CONLLU), CONLLU)
    words = [_select_columns(file, sentence, used, tagger.columns_) for sentence in block]
    for sentence, own in zip(block, tagger.predict(words), strict=True):
        if is_conllu:
            for line, token in sentence.lines:
                cells = line.split("\t")
                yield line if token is None else "\t".join([*cells[:at], str(own[token]), *cells[at + 1 :]])
        else:
            yield from ("\t".join([*row, str(found)]) for row, found in zip(sentence.rows, own, strict=True))
        yield ""


def _tag_column(tagger: SequenceTagger, names: Sequence[str]) -> str:
    """Return the column of tags in the files that the tagger was trained on, if these files have it as well."""
    return tagger.files.tag if tagger.files is not None and tagger.files.tag in names else "upos"


def _select_columns(
    file: SentenceFile, sentence: FileSentence, used: Sequence[int], needed: Sequence[str]
) -> list[tuple[str, ...]]:
    """Return the cells of each token that the tagger needs."""
    width = len(sentence.rows[0]) if sentence.rows else 0  # the same in all rows: SentenceFile has checked it
    if sentence.rows and width <= max(used):
        raise click.ClickException(
            f"{file.name}:{sentence.line}: {width} {'column' if width == 1 else 'columns'}, but "
            f"the tagger needs {max(used) + 1}: {', '.join(needed)}."
        )
    return [tuple([row[k] for k in used]) for row in sentence.rows]


def _column_index(file: SentenceFile, name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise click.ClickException(f"{file.name}: there is no column {name!r}; there are {', '.join(names)}.")
    return names.index(name)

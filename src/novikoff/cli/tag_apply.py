"""novikoff tag apply: tags for sentences, as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from novikoff.cli.options import require_apart
from novikoff.cli.tag_files import format_option, load_tagger, model_argument
from novikoff.cli.tag_sniffing import names_in, settle_format

if TYPE_CHECKING:
    from novikoff.structured import SequenceTagger
    from novikoff.structured.sentence_files import Read, SentenceFile

__all__ = ["apply"]


@click.command()
@model_argument
@click.argument("files", nargs=-1)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Where to write them.  [default: the standard output]",
)
@click.option(
    "--column",
    metavar="NAME",
    help="Where CoNLL-U gets the tags.  [default: where the tagger had them when it learned, or upos]",
)
@format_option
def apply(model: Path, files: tuple[str, ...], output: Path | None, column: str | None, format: str | None) -> None:
    """Tag the sentences of files or a pipe.

    Text has a sentence per line; what comes out is a token per line with its tag, and an empty line after each
    sentence. Columns get their tag as the last one. In CoNLL-U the tags replace what was in one column; all else stays.
    Sentences are answered as they come, and memory does not grow with the files.

    Without --format, lines are columns if nearly all have as many cells, and tabs, or empty lines between sentences, or
    the columns of the files that the tagger has learned from, with or without their tags; otherwise they are text.
    Where both may be, it says which. A tagger that needs more than words refuses text.
    """
    from novikoff.system.atomic_files import opened_whole

    require_apart({"--output": output}, [model, *files])
    texts = _tagged(load_tagger(model, "predict"), files or ("-",), column, format)
    if output is None:
        for text in texts:
            click.echo(text)  # which flushes: who feeds a pipe may be waiting for the answer
        return
    with opened_whole(output) as file:
        for text in texts:
            file.write(f"{text}\n".encode())


def _tagged(tagger: SequenceTagger, files: Sequence[str], column: str | None, format: str | None) -> Iterator[str]:
    """The sentences with their tags, some at a time, as text without its last line feed."""
    from novikoff.structured.sentence_files import SentenceFile

    for name in files:
        with SentenceFile(name, format=format) as file:
            if format is None:
                settle_format(file, tagger)
            for block in file.blocks():
                yield "\n".join(_lines(tagger, file, block, column))


def _lines(tagger: SequenceTagger, file: SentenceFile, block: Sequence[Read], column: str | None) -> Iterator[str]:
    from novikoff.structured.sentence_files import CONLLU

    is_conllu, at = file.format == "conllu", 0
    width = next((len(sentence.rows[0]) for sentence in block if sentence.rows), 0)
    names = CONLLU if is_conllu else tagger.columns_ if file.format == "text" else names_in(tagger, width)
    used = [_place(file, name, names) for name in tagger.columns_]
    if is_conllu:
        at = _place(file, column or _column_of(tagger, CONLLU), CONLLU)
    words = [_words(file, sentence, used, tagger.columns_) for sentence in block]
    for sentence, own in zip(block, tagger.predict(words), strict=True):
        if is_conllu:
            for line, token in sentence.lines:
                cells = line.split("\t")
                yield line if token is None else "\t".join([*cells[:at], str(own[token]), *cells[at + 1 :]])
        else:
            yield from ("\t".join([*row, str(found)]) for row, found in zip(sentence.rows, own, strict=True))
        yield ""


def _column_of(tagger: SequenceTagger, names: Sequence[str]) -> str:
    """The column of the tags in the files that the tagger has learned from, if these have it as well."""
    return tagger.files.tag if tagger.files is not None and tagger.files.tag in names else "upos"


def _words(file: SentenceFile, sentence: Read, used: Sequence[int], needed: Sequence[str]) -> list[tuple[str, ...]]:
    width = len(sentence.rows[0]) if sentence.rows else 0  # the same in all rows: the file has been checked
    if sentence.rows and width <= max(used):
        raise click.ClickException(
            f"{file.name}:{sentence.line}: {width} {'column' if width == 1 else 'columns'}, but "
            f"the tagger needs {max(used) + 1}: {', '.join(needed)}."
        )
    return [tuple([row[k] for k in used]) for row in sentence.rows]


def _place(file: SentenceFile, name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise click.ClickException(f"{file.name}: there is no column {name!r}; there are {', '.join(names)}.")
    return names.index(name)

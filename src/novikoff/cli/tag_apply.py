"""novikoff tag apply: tags for sentences, as they come."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from novikoff.cli.options import require_apart
from novikoff.cli.tag_files import format_option, load_tagger, model_argument

if TYPE_CHECKING:
    from novikoff.structured import SequenceTagger
    from novikoff.structured.columns import Read, SentenceFile

__all__ = ["apply"]


@click.command()
@model_argument
@click.argument("files", nargs=-1)
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path, dir_okay=False),
              help="Where to write them.  [default: the standard output]")  # fmt: skip
@click.option("--column", default="upos", show_default=True, metavar="NAME", help="Where CoNLL-U gets the tags.")
@format_option
def apply(model: Path, files: tuple[str, ...], output: Path | None, column: str, format: str | None) -> None:
    """Tag the sentences of files or a pipe.

    Text has a sentence per line; what comes out is a token per line with its tag, and an empty line after each
    sentence. Columns get their tag as the last one. In CoNLL-U the tags replace what was in one column; all else stays.
    Sentences are answered as they come, and memory does not grow with the files.
    """
    from novikoff.files import opened_whole

    require_apart({"--output": output}, [model, *files])
    texts = _tagged(load_tagger(model), files or ("-",), column, format)
    if output is None:
        for text in texts:
            click.echo(text)  # which flushes: who feeds a pipe may be waiting for the answer
        return
    with opened_whole(output) as file:
        for text in texts:
            file.write(f"{text}\n".encode())


def _tagged(tagger: SequenceTagger, files: Sequence[str], column: str, format: str | None) -> Iterator[str]:
    """The sentences with their tags, some at a time, as text without its last line feed."""
    from novikoff.structured.columns import SentenceFile

    for name in files:
        is_text = format is None and len(tagger.columns_) == 1 and not name.endswith((".conllu", ".conllu.gz"))
        with SentenceFile(name, format="text" if is_text else format) as file:
            for block in file.blocks():
                yield "\n".join(_lines(tagger, file, block, column))


def _lines(tagger: SequenceTagger, file: SentenceFile, block: Sequence[Read], column: str) -> Iterator[str]:
    from novikoff.structured.columns import CONLLU

    is_conllu = file.format == "conllu"
    names = CONLLU if is_conllu else tagger.columns_
    used, at = [_place(file, name, names) for name in tagger.columns_], _place(file, column, CONLLU) if is_conllu else 0
    words = [_words(file, sentence, used) for sentence in block]
    for sentence, own in zip(block, tagger.predict(words), strict=True):
        if is_conllu:
            for line, token in sentence.lines:
                cells = line.split("\t")
                yield line if token is None else "\t".join([*cells[:at], str(own[token]), *cells[at + 1 :]])
        else:
            yield from ("\t".join([*row, str(found)]) for row, found in zip(sentence.rows, own, strict=True))
        yield ""


def _words(file: SentenceFile, sentence: Read, used: Sequence[int]) -> list[tuple[str, ...]]:
    width = len(sentence.rows[0]) if sentence.rows else 0  # the same in all rows: the file has been checked
    if sentence.rows and width <= max(used):
        raise click.ClickException(f"{file.name}:{sentence.line}: {width} {'column' if width == 1 else 'columns'}, but "
                                   f"the tagger needs {max(used) + 1}.")  # fmt: skip
    return [tuple([row[k] for k in used]) for row in sentence.rows]


def _place(file: SentenceFile, name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise click.ClickException(f"{file.name}: there is no column {name!r}; there are {', '.join(names)}.")
    return names.index(name)

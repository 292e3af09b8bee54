"""novikoff tag: the group of commands for taggers."""

from __future__ import annotations

import click

from novikoff.cli.tag_apply import apply
from novikoff.cli.tag_learn import learn
from novikoff.cli.tag_report import inspect, test

__all__ = ["tag"]

_EPILOG = """\b
Examples:
  novikoff tag learn train.conllu --column upos --dev dev.conllu -o pos.nk
  novikoff tag learn train.txt.gz --templates chunk -o chunk.nk      columns: word, pos, ..., tag
  novikoff tag learn train.txt --columns word,pos,tag --templates mine.tpl -o mine.nk
  novikoff tag apply pos.nk < plain.txt                              a sentence per line
  novikoff tag apply pos.nk new.conllu > tagged.conllu
  novikoff tag test pos.nk test.conllu
  novikoff tag inspect pos.nk
"""


@click.group(epilog=_EPILOG)
def tag() -> None:
    """Train taggers of sentences, and apply them.

    Files are CoNLL columns or CoNLL-U; files to be tagged may also be plain text, a sentence per line. All may be
    compressed. - is the standard input.
    """


for _command in (apply, inspect, learn, test):
    tag.add_command(_command)

"""novikoff tag: taggers of sentences, from the shell."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.progress import say

if TYPE_CHECKING:
    from novikoff.structured import SequenceTagger
    from novikoff.structured.columns import Read, SentenceFile
    from novikoff.structured.outcome import Outcome

__all__ = ["tag"]

_AT_ONCE = 512  # sentences, when nobody waits for an answer to each
_FORMATS = ("columns", "conllu", "text")

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

_model = click.argument("model", type=click.Path(path_type=Path))
_format = click.option("--format", type=click.Choice(_FORMATS), help="Of the files.  [default: told by their content]")
_column = click.option("--column", metavar="NAME", help="The column of the tags.  [default: the last; upos of CoNLL-U]")
_columns = click.option("--columns", metavar="NAMES", help="What the columns are called, parted by commas.  [default: "
                        "word, pos, column2, ...; those of CoNLL-U]")  # fmt: skip
_use = click.option("--use", metavar="NAMES", help="The columns that templates may use.  [default: all but the tags; "
                    "of CoNLL-U the words]")  # fmt: skip


@click.group(epilog=_EPILOG)
def tag() -> None:
    """Learn to tag sentences, and do it.

    Files are CoNLL columns, CoNLL-U, or to be tagged also plain text, a sentence per line; packed or not. - is the
    standard input.
    """


class _Layout:
    """Which columns of a file hold the words and which the tags."""

    def __init__(
        self, file: SentenceFile, first: Read, column: str | None, columns: str | None, use: str | None
    ) -> None:
        from novikoff.structured.columns import CONLLU
        from novikoff.structured.sentences import default_columns

        width = len(first.rows[0]) if first.rows else 0
        is_conllu = file.format == "conllu"
        names = columns.split(",") if columns else list(CONLLU if is_conllu else default_columns(width))
        if width and len(names) != width:
            raise click.ClickException(f"{file.name}:{first.line}: {width} columns, but --columns names {len(names)}.")
        self.names, self.file = names, file.name
        self.tag = self._number(column or ("upos" if is_conllu else names[-1]), "--column")
        used = use.split(",") if use else ["word"] if is_conllu else [n for k, n in enumerate(names) if k != self.tag]
        if not used:
            raise click.ClickException(f"{file.name}:{first.line}: one column, so either words or tags are missing.")
        self.used = [self._number(name, "--use") for name in used]

    def _number(self, name: str, option: str) -> int:
        if name not in self.names:
            raise click.ClickException(f"{self.file}: there is no column {name!r} for {option}; there are "
                                       f"{', '.join(self.names)}.")  # fmt: skip
        return self.names.index(name)

    @property
    def used_names(self) -> list[str]:
        return [self.names[k] for k in self.used]

    def parted(self, sentences: Sequence[Read]) -> tuple[list[list[tuple[str, ...]]], list[list[str]]]:
        """Sentences as a tagger takes them, and their tags."""
        words = [[tuple([row[k] for k in self.used]) for row in sentence.rows] for sentence in sentences]
        return words, [[row[self.tag] for row in sentence.rows] for sentence in sentences]


def _read_all(files: Sequence[str], format: str | None, **choices: Any) -> tuple[_Layout, list[Any], list[Any]]:
    """All sentences of some files, with their tags; the first file says what the columns are."""
    from novikoff.structured.columns import SentenceFile

    layout: _Layout | None = None
    X: list[Any] = []
    y: list[Any] = []
    for name in files:
        with SentenceFile(name, format=format) as file:
            sentences = [sentence for sentence in file if sentence.rows]
            if not sentences:
                raise click.ClickException(f"{file.name}: there are no sentences in it.")
            own = _Layout(file, sentences[0], **choices)
            layout = layout or own
            if own.used_names != layout.used_names:
                raise click.ClickException(f"{file.name}: its columns are not those of {layout.file}.")
            words, tags = own.parted(sentences)
            X.extend(words)
            y.extend(tags)
    assert layout is not None
    return layout, X, y


@tag.command()
@click.argument("files", nargs=-1, required=True)
@click.option("-o", "--output", required=True, metavar="MODEL", type=click.Path(path_type=Path, dir_okay=False),
              help="Where to write the model.")  # fmt: skip
@click.option("--templates", default="pos", show_default=True, metavar="SET|FILE",
              help="pos, chunk or ner, or a file with templates, also of CRF++.")  # fmt: skip
@click.option("--dev", metavar="FILE", help="Score each pass on this file, and keep the best.")
@click.option("--passes", type=click.IntRange(1), default=10, show_default=True, help="How often to go through.")
@click.option("--hypothesis", type=click.Choice(["averaged", "last"]), default="averaged", show_default=True,
              help="Which weights answer.")  # fmt: skip
@click.option("--hash-bits", type=click.IntRange(1, 30), help="At most 2^BITS features, which then have no names.")
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True, help="Of the shuffling.")
@_column
@_columns
@_use
@_format
def learn(
    files: tuple[str, ...], output: Path, templates: str, dev: str | None, passes: int, hypothesis: str,
    hash_bits: int | None, seed: int, format: str | None, **choices: Any,
) -> None:  # fmt: skip
    """Learn a tagger from files with tags.

    Says for each pass in how many sentences it made mistakes, and with --dev how good the tagger is by then; the best
    pass is kept.
    """
    from novikoff.structured import SequenceTagger

    if not output.resolve().parent.is_dir():
        raise click.UsageError(f"{output} cannot be written: there is no folder {output.parent}.")
    layout, X, y = _read_all(files, format, **choices)
    held_out = None if dev is None else _read_all([dev], format, **choices)
    if held_out is not None and held_out[0].used_names != layout.used_names:
        raise click.ClickException(f"{dev}: its columns are not those of {layout.file}.")
    say(f"{len(X):,} sentences, {sum(map(len, X)):,} tokens; tags in column {layout.names[layout.tag]}, templates see "
        f"{', '.join(layout.used_names)}.")  # fmt: skip
    tagger = SequenceTagger(templates, max_iter=passes, hypothesis=hypothesis, random_state=seed, hash_bits=hash_bits,
                            columns=layout.used_names)  # fmt: skip
    best = _go_through(tagger, X, y, held_out, output)
    if held_out is None:
        tagger.save(output)
    kept = "" if best is None else f"Pass {best} is kept. "
    say(f"{kept}{output}: {len(tagger.tags_)} tags, {output.stat().st_size / 1e6:.1f} MB.")


def _go_through(
    tagger: SequenceTagger, X: list[Any], y: list[Any], held_out: tuple[_Layout, list[Any], list[Any]] | None,
    output: Path,
) -> int | None:  # fmt: skip
    """Learn pass by pass; return the number of the best, which has been written, if there is something to tell by."""
    from novikoff.structured.outcome import outcome_of

    best, best_score, began = None, -1.0, time.perf_counter()
    for number, mistakes in enumerate(tagger.passes(X, y), 1):
        if number == 1:
            say(f"{'pass':>5} {'mistakes':>9} {'rate':>8} {'seconds':>8}" + ("" if held_out is None else "  dev"))
        line = f"{number:>5} {mistakes:>9,} {mistakes / len(X):>8.4f} {time.perf_counter() - began:>8.1f}"
        if held_out is not None:
            found = outcome_of(tagger, *held_out[1:])
            score = found.accuracy if found.f1 is None else found.f1
            line += f"  {_scores(found)}"
            if score > best_score:
                best, best_score = number, score
                tagger.save(output)
        say(line)
    return best


def _scores(found: Outcome) -> str:
    f1 = "" if found.f1 is None else f", span F1 {found.f1:.2%}"
    return f"accuracy {found.accuracy:.2%}{f1}"


def _load(path: Path) -> SequenceTagger:
    from novikoff.loading import load
    from novikoff.structured import SequenceTagger

    found = load(path)
    if not isinstance(found, SequenceTagger):
        raise click.ClickException(f"{path} holds a {type(found).__name__}, not a tagger. Try novikoff predict.")
    return found


@tag.command()
@_model
@click.argument("files", nargs=-1)
@click.option("--column", default="upos", show_default=True, metavar="NAME", help="Where CoNLL-U gets the tags.")
@_format
def apply(model: Path, files: tuple[str, ...], column: str, format: str | None) -> None:
    """Tag the sentences of files or a pipe.

    Text has a sentence per line; what comes out is a token per line with its tag, and an empty line after each
    sentence. Columns get their tag as the last one. In CoNLL-U the tags replace what was in one column; all else stays.
    """
    from novikoff.structured.columns import SentenceFile

    tagger = _load(model)
    for name in files or ("-",):
        is_text = format is None and len(tagger.columns_) == 1 and not name.endswith((".conllu", ".conllu.gz"))
        with SentenceFile(name, format="text" if is_text else format) as file:
            for block in _as_they_come(file):
                _write(tagger, file.format, block, column)


def _as_they_come(file: SentenceFile) -> Iterator[Sequence[Read]]:
    """Many at a time from a file, one at a time from a pipe, whose writer may be waiting."""
    from novikoff.structured.columns import blocks

    return blocks(iter(file), _AT_ONCE if file.is_steady else 1)


def _write(tagger: SequenceTagger, format: str, block: Sequence[Read], column: str) -> None:
    from novikoff.structured.columns import CONLLU

    names = CONLLU if format == "conllu" else tagger.columns_
    used = [_place(name, names) for name in tagger.columns_]
    words = [[tuple([_cell(row, k, sentence) for k in used]) for row in sentence.rows] for sentence in block]
    tags = tagger.predict(words)
    lines: list[str] = []
    for sentence, own in zip(block, tags, strict=True):
        if format == "conllu":
            at = _place(column, CONLLU)
            for line, token in sentence.lines:
                cells = line.split("\t")
                lines.append(line if token is None else "\t".join([*cells[:at], str(own[token]), *cells[at + 1 :]]))
        else:
            lines += ["\t".join([*row, str(found)]) for row, found in zip(sentence.rows, own, strict=True)]
        lines.append("")
    click.echo("\n".join(lines))


def _place(name: str, names: Sequence[str]) -> int:
    if name not in names:
        raise click.ClickException(f"There is no column {name!r}; there are {', '.join(names)}.")
    return names.index(name)


def _cell(row: tuple[str, ...], at: int, sentence: Read) -> str:
    if at >= len(row):
        raise click.ClickException(f"Line {sentence.line}: {len(row)} columns, but the tagger needs {at + 1}.")
    return row[at]


@tag.command()
@_model
@click.argument("files", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@_column
@_columns
@_use
@_format
def test(model: Path, files: tuple[str, ...], as_json: bool, use: str | None, **choices: Any) -> None:
    """Score a tagger on files with tags.

    Counts tokens, words that it has never met, whole sentences and, if the tags are BIO, IOB1, IOE or BILOU, spans.
    """
    from novikoff.structured.outcome import outcome_of

    tagger = _load(model)
    _, X, y = _read_all(files, use=use or ",".join(tagger.columns_), **choices)
    found = outcome_of(tagger, X, y)
    click.echo(json.dumps(found.facts(), indent=2) if as_json else "\n".join(_report(found, set(tagger.tags_))))


def _report(found: Outcome, known: set[Any]) -> Iterator[str]:
    yield f"{found.right:,} of {found.tokens:,} tokens right, {found.accuracy:.2%}."
    if found.unknown_accuracy is not None:
        unknown = sum(found.unknown.values())
        yield f"Of {unknown:,} tokens whose words were never met before, {found.unknown_accuracy:.2%}."
    yield f"{found.sentences_right:,} of {found.sentences:,} sentences have no mistake."
    strangers = sorted({str(tag) for tag, _ in found.counts if tag not in known})
    if strangers:
        yield f"The tagger has never met the tags {', '.join(strangers)}, and cannot give them."
    if found.spans is not None:
        precision, recall, f1 = (f"{0.0 if value is None else value:.2%}" for value in found.spans.scores())
        yield f"Spans: precision {precision}, recall {recall}, F1 {f1}."
        yield from _table("type", found.per_type())
    yield from _table("tag", found.per_tag())


def _table(what: str, rows: list[dict[str, Any]]) -> Iterator[str]:
    width = max(len(what), *(len(_word(row[what])) for row in rows))
    yield ""
    yield f"  {what:<{width}} {'support':>9} {'precision':>10} {'recall':>8} {'F1':>8}"
    for row in rows:
        shares = ["" if row[name] is None else f"{row[name]:.4f}" for name in ("precision", "recall", "f1")]
        name = f"{_word(row[what]):<{width}}"
        yield f"  {name} {row['support']:>9,} {shares[0]:>10} {shares[1]:>8} {shares[2]:>8}".rstrip()


def _word(value: Any) -> str:
    """A tag or name without what could play tricks on a terminal."""
    return "".join(c if c.isprintable() else "?" for c in str(value))


@tag.command()
@_model
@click.option("--top", type=click.IntRange(0), default=10, show_default=True, help="Features to show for each tag.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of words.")
def inspect(model: Path, top: int, as_json: bool) -> None:
    """Show what a tagger has learned.

    Its account of mistakes, and by name the features and pairs of tags that weigh most.
    """
    tagger = _load(model)
    heaviest = tagger.heaviest(top)
    pairs = sorted(tagger.transitions().items(), key=lambda item: (-abs(item[1]), str(item[0])))[:top]
    if as_json:
        ledger = tagger.ledger_
        facts = {"templates": list(tagger.templates.lines), "columns": list(tagger.columns_), "tags": tagger.tags_,
                 "features": tagger.n_features_, "sentences": ledger.examples, "mistakes": ledger.mistakes,
                 "radius": ledger.radius, "norm": ledger.norm, "margin_at_most": ledger.margin_at_most,
                 "heaviest": {str(tag): dict(weights) for tag, weights in heaviest.items()},
                 "transitions": [{"from": a, "to": b, "weight": weight} for (a, b), weight in pairs]}  # fmt: skip
        click.echo(json.dumps(facts, indent=2))
        return
    lines = [f"tags: {', '.join(map(_word, tagger.tags_))}", f"features: {tagger.n_features_:,}, of columns "
             f"{', '.join(tagger.columns_)}", "", repr(tagger.ledger_)]  # fmt: skip
    for name, weights in heaviest.items():
        lines += ["", f"for {_word(name)}:", *(f"  {weight:>+12.6g}  {_word(name)}" for name, weight in weights)]
    if pairs:
        lines += ["", "one tag after the other:", *(f"  {w:>+12.6g}  {_word(a)} {_word(b)}" for (a, b), w in pairs)]
    click.echo("\n".join(lines))

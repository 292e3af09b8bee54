"""Options and arguments that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

__all__ = [
    "FORMATS",
    "HYPOTHESES",
    "KINDS",
    "RULES",
    "Duration",
    "Range",
    "feature_options",
    "files_argument",
    "reading",
    "reading_options",
    "rejects_option",
    "require_apart",
    "require_replaceable",
    "require_writable",
]

# The same as in novikoff.data.formats, which loads too much for --help.
FORMATS = ("csv", "tsv", "text", "svmlight", "vw", "parquet", "arrow", "jsonl")
KINDS = ("number", "word", "text")
RULES = ("perceptron", "margin", "passive-aggressive", "passive-aggressive-I", "passive-aggressive-II")
HYPOTHESES = ("last", "averaged", "voted", "pocket")


def _matching(ctx: click.Context, param: click.Parameter, patterns: tuple[str, ...]) -> list[str]:
    """The files that are meant: a pattern in quotes, which the shell leaves alone, stands for those that match."""
    return [file for pattern in patterns for file in _matches(pattern)]


def _matches(pattern: str) -> list[str]:
    import glob

    from novikoff.errors import DataError

    if not glob.has_magic(pattern) or os.path.exists(pattern):
        return [pattern]
    found = sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))
    if not found:
        raise DataError(
            f"{pattern}: no file matches this pattern. * stands for any part of a name, ** for any folders."
        )
    return found


def _types(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str] | None:
    """{column: kind} from age=number,zip=word, which may be repeated."""
    found = {}
    for word in ",".join(values).split(",") if values else ():
        column, _, kind = word.rpartition("=")
        if not column or kind not in KINDS:
            raise click.BadParameter(
                f"expected COLUMN=KIND with a kind of {', '.join(KINDS)}, found {word!r}. "
                "For example: --types age=number,zip=word"
            )
        found[column] = kind
    return found or None


class Duration(click.ParamType):
    """A time as people write it, in seconds.

    >>> from novikoff.cli.options import Duration
    >>> [Duration().convert(text, None, None) for text in ("90", "60s", "5m", "1.5h")]
    [90.0, 60.0, 300.0, 5400.0]
    """

    name = "time"
    _SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}  # noqa: RUF012 (never changed)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number of seconds, above 0."""
        match = re.fullmatch(r"(\d+\.?\d*|\.\d+) ?([smh]?)", str(value).strip(), re.ASCII)
        if not match or not float(match[1]):
            self.fail(
                f"{value!r} is no time above 0. Write 90 or 90s for seconds, 5m for minutes, 2h for hours.", param, ctx
            )
        return float(match[1]) * self._SECONDS[match[2]]


class Range(click.ParamType):
    """The fewest and the most of something.

    >>> from novikoff.cli.options import Range
    >>> [Range().convert(text, None, None) for text in ("2", "1-3", "0")]
    [(2, 2), (1, 3), (0, 0)]
    """

    name = "range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Both ends; 0 and 0 for none."""
        match = re.fullmatch(r"(\d)(?:-(\d))?", str(value), re.ASCII)
        fewest, most = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if not (0 < fewest <= most <= 8 or fewest == most == 0):
            self.fail(f"{value!r} is no range from 1 to 8. Write 2, 1-3, or 0 for none.", param, ctx)
        return fewest, most


_FEATURES = (
    click.option("--no-scale", is_flag=True, help="Take the numbers of a table as they are, not standardised."),
    click.option(
        "--hash-bits",
        type=click.IntRange(1, 28),
        default=20,
        show_default=True,
        help="The first 2^BITS names have a weight each; later ones share these.",
    ),
    click.option(
        "--ngrams",
        type=Range(),
        default="1-2",
        show_default=True,
        help="How many words of a text make a feature; 0 for none.",
    ),
    click.option(
        "--char-ngrams",
        type=Range(),
        default="3-4",
        show_default=True,
        help="How many characters of a text make a feature; 0 for none.",
    ),
)


def feature_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how columns become features."""
    for option in reversed(_FEATURES):
        command = option(command)
    return command


def files_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command its FILES: paths, - or patterns."""
    return click.argument("files", nargs=-1, required=True, type=click.Path(allow_dash=True), callback=_matching)(
        command
    )


_OPTIONS = (
    click.option(
        "--target",
        metavar="COLUMN",
        help="Column of the labels, by name or number from 1.  [default: the last; in JSON lines label, "
        "target, class or y]",
    ),
    click.option("--drop", metavar="COLUMN", multiple=True, help="Leave a column out. May be repeated."),
    click.option(
        "--types",
        metavar="COLUMN=KIND,...",
        multiple=True,
        callback=_types,
        help="What columns hold, where the first rows mislead: number, word (one feature for each value) or "
        "text (features for the words in it). May be repeated.  [default: found out]",
    ),
    click.option(
        "--header/--no-header", default=None, help="Does the first line name the columns?  [default: found out]"
    ),
    click.option("--format", type=click.Choice(FORMATS), help="What the files hold.  [default: found out]"),
    click.option(
        "--bad-rows",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="What to do with a row that cannot be read.",
    ),
)


def require_apart(outputs: Mapping[str, Any], inputs: Iterable[Any]) -> None:
    """No output may be an input, or another output: what is there would be lost. `outputs` by their options."""
    taken = {os.path.realpath(path): f"which is read: {path}" for path in inputs if str(path) != "-"}
    for option, path in outputs.items():
        if path is None or str(path) == "-":
            continue
        where = os.path.realpath(path)
        if where in taken:
            raise click.UsageError(f"{option} {path} would overwrite the file {taken[where]}.")
        taken[where] = f"of {option}"


def rejects_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command a place for the rows that it leaves out."""
    where = click.Path(path_type=Path, dir_okay=False)
    text = "Where --bad-rows skip puts the rows it left out, each with its reason."
    return click.option("--rejects", metavar="FILE", type=where, help=text)(command)


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how to read its files."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def reading(options: dict[str, Any]) -> dict[str, Any]:
    """Those of them that were given, for `open_stream`."""
    return {name: value for name, value in options.items() if value not in (None, ())}


def require_writable(output: Path) -> None:
    """Raise an error before the work begins if its result could not be written: no folder, a read-only file."""
    from novikoff.system import atomic_files

    if not os.path.isdir(os.path.dirname(os.path.realpath(output))):
        raise click.UsageError(f"{output} cannot be written: there is no folder {output.parent}.")
    atomic_files.require_writable(output)


def require_replaceable(output: Path) -> None:
    """What -o names may be a model, which this one takes the place of, but no other file of the user's."""
    if output.is_file() and output.stat().st_size:
        with output.open("rb") as file:
            if b"novikoff" not in file.read(1 << 16):
                raise click.UsageError(f"{output} is there already and is no model. Name another file, or remove it.")

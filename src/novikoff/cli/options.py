"""Options and arguments that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import click

from novikoff import hypotheses, rules
from novikoff.data.feature_names import HATS_BY_DEFAULT

__all__ = [
    "CLUSTER_HELP",
    "DATES",
    "FORMATS",
    "HYPOTHESES",
    "KINDS",
    "RULES",
    "SHUFFLES",
    "TARGET_HELP",
    "Duration",
    "NgramRange",
    "cluster_option",
    "drop_unset",
    "feature_options",
    "files_argument",
    "notation_options",
    "parse_class_weight",
    "reading_options",
    "rejects_option",
    "require_distinct_paths",
    "require_replaceable",
    "require_writable",
    "round_options",
]

# Copies of choices in novikoff.data.formats, which imports too much for --help.
FORMATS = ("csv", "tsv", "text", "svmlight", "vw", "parquet", "arrow", "jsonl", "excel")
KINDS = ("number", "word", "text")
SHUFFLES = ("sorted", "always", "never")  # of novikoff.streaming.row_order
DATES = ("number", "word", "drop", "day-first", "month-first")
RULES = rules.NAMES
HYPOTHESES = hypotheses.NAMES


def _expand_patterns(ctx: click.Context, param: click.Parameter, patterns: tuple[str, ...]) -> list[str]:
    """The files that match; a pattern in quotes is not expanded by the shell."""
    return [file for pattern in patterns for file in _expand(pattern)]


def _expand(pattern: str) -> list[str]:
    import glob

    from novikoff.errors import DataError

    if not glob.has_magic(pattern) or os.path.exists(pattern):
        return [pattern]
    found = _expand_remote(pattern) if "://" in pattern else []
    found = found or sorted(path for path in glob.glob(pattern, recursive=True) if not os.path.isdir(path))
    if not found:
        raise DataError(
            f"{pattern}: no file matches this pattern. * stands for any part of a name, ** for any folders."
        )
    return found


def _expand_remote(pattern: str) -> list[str]:
    from novikoff.data.formats.remote import expand_remote, is_remote  # which import numba

    return expand_remote(pattern) if is_remote(pattern) else []


def _parse_types(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, str] | None:
    """A dict {column: kind} from age=number,zip=word; the option may be repeated."""
    found = {}
    for item in ",".join(values).split(",") if values else ():
        column, _, kind = item.rpartition("=")
        if not column or kind not in KINDS:
            raise click.BadParameter(
                f"expected COLUMN=KIND with a kind of {', '.join(KINDS)}, found {item!r}. "
                "For example: --types age=number,zip=word"
            )
        found[column] = kind
    return found or None


def parse_class_weight(
    ctx: click.Context, param: click.Parameter, values: tuple[str, ...]
) -> dict[str, float] | str | None:
    """A dict {label: weight} from spam=5,ham=1, or "balanced"; the option may be repeated."""
    if values == ("balanced",):
        return "balanced"
    found = {}
    for item in ",".join(values).split(",") if values else ():
        label, _, text = item.rpartition("=")
        try:
            weight = float(text)
        except ValueError:
            weight = 0.0
        if not label or not 0.0 < weight < float("inf"):
            raise click.BadParameter(
                f"expected LABEL=WEIGHT with a weight above 0, found {item!r}. "
                "For example: --class-weight spam=5,ham=1, or --class-weight balanced"
            )
        found[label] = weight
    return found or None


class Duration(click.ParamType):
    """A time such as 90, 90s, 5m or 2h, in seconds.

    >>> from novikoff.cli.options import Duration
    >>> [Duration().convert(text, None, None) for text in ("90", "60s", "5m", "1.5h")]
    [90.0, 60.0, 300.0, 5400.0]
    """

    name = "time"
    _SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}  # noqa: RUF012 (never changed)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number of seconds, above 0."""
        match = re.fullmatch(r"(\d+\.?\d*|\.\d+) ?([smh]?)", str(value).strip(), re.ASCII)
        if not match or not float(match[1]):
            self.fail(
                f"{value!r} is no time above 0. Write 90 or 90s for seconds, 5m for minutes, 2h for hours.", param, ctx
            )
        return float(match[1]) * self._SECONDS[match[2]]


class NgramRange(click.ParamType):
    """The fewest and the most words or characters of an n-gram.

    >>> from novikoff.cli.options import NgramRange
    >>> [NgramRange().convert(text, None, None) for text in ("2", "1-3", "0")]
    [(2, 2), (1, 3), (0, 0)]
    """

    name = "range"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, int]:
        """Return both ends; 0 and 0 for none."""
        match = re.fullmatch(r"(\d)(?:-(\d))?", str(value), re.ASCII)
        fewest, most = (int(match[1]), int(match[2] or match[1])) if match else (0, -1)
        if not (0 < fewest <= most <= 8 or fewest == most == 0):
            self.fail(f"{value!r} is no range from 1 to 8. Write 2, 1-3, or 0 for none.", param, ctx)
        return fewest, most


_FEATURES = (
    click.option("--no-scale", is_flag=True, help="Use numbers as they are, not standardised as they come."),
    click.option(
        "--hats/--plain-numbers",
        default=HATS_BY_DEFAULT,
        show_default=True,
        help="Whether standardised numbers are also interpolated between knots, so that the model learns a curve over "
        "each, or only a straight line.",
    ),
    click.option(
        "--hash-bits",
        type=click.IntRange(1, 28),
        default=20,
        show_default=True,
        help="The first 2^BITS feature names have a weight each; later ones share these.",
    ),
    click.option(
        "--ngrams",
        type=NgramRange(),
        default="1-2",
        show_default=True,
        help="How many words of a text make a feature; 0 for none.",
    ),
    click.option(
        "--char-ngrams",
        type=NgramRange(),
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
    """Give a command its FILES argument: paths, - or patterns."""
    return click.argument(
        "files", nargs=-1, required=True, type=click.Path(allow_dash=True), callback=_expand_patterns
    )(command)


TARGET_HELP = (
    "Column of the labels: its name; its number, from 1, or from -1 at the end; first or last.  [default: the one "
    "called label, class, target or y, otherwise the last]"
)


def _parse_delimiter(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A character; shells make it hard to type a tab."""
    found = {"tab": "\t", "\\t": "\t", "space": " ", "blank": " "}.get(value or "", value)
    if found is not None and (len(found) != 1 or not found.isascii() or found in "\r\n\0\"'"):
        raise click.BadParameter(f"expected one character, such as ';', or tab; found {value!r}.")
    return found


_NOTATIONS = (
    click.option(
        "--sep",
        "delimiter",
        metavar="CHAR",
        callback=_parse_delimiter,
        help="What separates cells: a character, or tab.  [default: detected]",
    ),
    click.option(
        "--decimal",
        type=click.Choice([".", ","]),
        help="What fractions begin with, where the cells do not show it, as in 1,234.  [default: detected]",
    ),
    click.option(
        "--dates",
        type=click.Choice(DATES),
        help="What columns of dates become: numbers (seconds since 1970), words, or nothing; day-first and month-first "
        "are numbers too, and say what 1/2/2024 means.  [default: number, where that is clear]",
    ),
    click.option(
        "--encoding",
        metavar="NAME",
        help="Encoding of the text, such as cp1252.  [default: utf-8, or utf-16 with a byte order mark]",
    ),
)


def notation_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how the cells of its files are written."""
    for option in reversed(_NOTATIONS):
        command = option(command)
    return command


_OPTIONS = (
    click.option("--target", metavar="COLUMN", help=TARGET_HELP),
    click.option(
        "--drop", metavar="COLUMN", multiple=True, help="Leave a column out, by name or number. May be repeated."
    ),
    click.option(
        "--types",
        metavar="COLUMN=KIND,...",
        multiple=True,
        callback=_parse_types,
        help="Kinds of columns, where the guess from the first rows is wrong: number, word (one feature for each "
        "value) or text (features for the words in it). May be repeated.  [default: detected]",
    ),
    click.option(
        "--header/--no-header", default=None, help="Whether the first line names the columns.  [default: detected]"
    ),
    *_NOTATIONS,
    click.option("--format", type=click.Choice(FORMATS), help="Format of the files.  [default: detected]"),
    click.option(
        "--bad-rows",
        type=click.Choice(["stop", "skip"]),
        default="stop",
        show_default=True,
        help="What to do with a row that cannot be read.",
    ),
)


def require_distinct_paths(outputs: Mapping[str, Any], inputs: Iterable[Any]) -> None:
    """Raise an error if an output is also an input or another output; `outputs` has the paths by their options."""
    used = {os.path.realpath(path): f"which is read: {path}" for path in inputs if str(path) != "-"}
    for option, path in outputs.items():
        if path is None or str(path) == "-":
            continue
        where = os.path.realpath(path)
        if where in used:
            raise click.UsageError(f"{option} {path} would overwrite the file {used[where]}.")
        used[where] = f"of {option}"


def rejects_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option that names a file for rejects."""
    where = click.Path(path_type=Path, dir_okay=False)
    text = "Where --bad-rows skip writes the rows it leaves out, each with its reason."
    return click.option("--rejects", metavar="FILE", type=where, help=text)(command)


CLUSTER_HELP = (
    "Work on a cluster of Dask: the address of its scheduler, tcp://host:8786, or local:2 for two processes of this "
    "machine."
)


def cluster_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the option that names a cluster."""
    return click.option("--cluster", metavar="WHERE", help=CLUSTER_HELP)(command)


_ROUNDS = (
    cluster_option,
    click.option(
        "--rounds",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        help="With --cluster: how many times to go through the files. After each round the weights are mixed.",
    ),
    click.option(
        "--chains",
        type=click.IntRange(1),
        help="With --cluster: how many learners there are in each round, whatever the number of workers.  "
        "[default: 8, or one for each file]",
    ),
    click.option(
        "--persist",
        type=click.Choice(["auto", "yes", "no"]),
        default="auto",
        show_default=True,
        help="With --cluster: whether workers keep rows in memory for later rounds; auto keeps what fits.",
    ),
)


def round_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of learning on a cluster."""
    for option in reversed(_ROUNDS):
        command = option(command)
    return command


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how to read its files."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def drop_unset(options: dict[str, Any]) -> dict[str, Any]:
    """The options that were given or have a default, for `open_stream`."""
    return {name: value for name, value in options.items() if value not in (None, ())}


def require_writable(output: Path) -> None:
    """Raise an error before the work begins if its result could not be written: no folder, a read-only file."""
    from novikoff.system import atomic_files

    target = Path(os.path.realpath(output))
    if not target.parent.is_dir():
        folder = target.parent if output.is_symlink() else output.parent
        raise click.UsageError(f"{output} cannot be written: there is no folder {folder}.")
    atomic_files.require_writable(output)


def require_replaceable(output: Path) -> None:
    """Raise a usage error if the output is an existing file other than a model."""
    from novikoff.errors import ModelFileError
    from novikoff.streaming import checkpoints

    try:
        checkpoints.require_replaceable(output)
    except ModelFileError as error:
        raise click.UsageError(str(error)) from error

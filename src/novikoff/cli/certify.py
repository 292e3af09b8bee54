"""novikoff certify: is this table linearly separable, and which rows prove it?"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.interrupts import Interrupted, InterruptibleCommand, InterruptRecorder
from novikoff.cli.options import FORMATS, TARGET_HELP, cluster_option, notation_options

if TYPE_CHECKING:
    from novikoff.data.whole_table import WholeTable
    from novikoff.theory.certificates import Certificate, Verdicts
    from novikoff.theory.fewest_errors import FewestErrors
    from novikoff.theory.geometric_margin import GeometricMargin

_KERNELS = ("poly", "rbf", "laplacian", "hamming")
_PICTURES = (".png", ".svg", ".pdf")
_MOST_LABELS = 100  # more would give thousands of pairs, and are hardly classes
# What to do about a `TableError`, by its remedy.
_ADVICE = {
    "drop-rows": "Leave such rows out with --drop-missing, or name another column with --target.",
    "drop-rows-or-column": "Leave these rows out with --drop-missing, or a column with --drop.",
    "drop-column": "Leave it out with --drop.",
    "drop-columns": "Leave columns out with --drop.",
    "name-target": "Name the column of the labels with --target.",
    "name-format": "If it is a CSV file, say --format csv.",
    "learn-text": "`novikoff learn` makes features of the words in them.",
}
_INSEPARABLE = 3  # the exit code with --exit-code

_EPILOG = """\b
Examples:
  novikoff certify flowers.csv                     the last column holds the labels
  novikoff certify votes.csv --target party        a column by name, or by number from 1
  novikoff certify votes.csv --drop-missing        leave out rows with empty cells, ? or NA
  novikoff certify flowers.csv --positive setosa   one class against the rest, in detail
  novikoff certify mail.svm.gz --json              the whole proof, for a program to check
  novikoff certify flowers.csv --positive setosa --plot setosa.png
  novikoff certify moons.csv --kernel poly --degree 3   with curves: in feature space
  cut -d, -f2- people.csv | novikoff certify -     from a pipe
  novikoff certify 'data/*.parquet' --target y --cluster local:2   many files
"""


def _check_picture_format(ctx: click.Context, param: click.Parameter, path: Path | None) -> Path | None:
    if path is not None and path.suffix.lower() not in _PICTURES:
        raise click.BadParameter(f"{str(path)!r} does not end in {', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}.")
    return path


@click.command(cls=InterruptibleCommand, epilog=_EPILOG)
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option("--target", metavar="COLUMN", help=TARGET_HELP)
@click.option("--positive", metavar="LABEL", help="Ask only about this label against the rest.")
@click.option(
    "--kernel",
    type=click.Choice(_KERNELS),
    help="Ask about curved rules: functions of the feature space of a kernel.",
)
@click.option("--degree", type=click.IntRange(min=1), default=3, show_default=True, help="Of the kernel poly.")
@click.option("--gamma", type=click.FloatRange(min=0.0, min_open=True), help="Of the kernel.  [default: 1 / columns]")
@click.option("--coef0", type=click.FloatRange(min=0.0), default=1.0, show_default=True, help="Of the kernel poly.")
@click.option("--no-intercept", is_flag=True, help="Only rules through 0: no constant besides the columns.")
@click.option(
    "--drop",
    metavar="COLUMN",
    multiple=True,
    help="Leave a column out, such as one that counts the rows. May be repeated.",
)
@click.option("--drop-missing", is_flag=True, help="Leave out rows with missing cells: empty, ?, NA, N/A, NaN, null.")
@click.option("--header/--no-header", default=None, help="Does the first line name the columns?  [default: found out]")
@notation_options
@click.option("--format", type=click.Choice(FORMATS), help="What the file holds.  [default: found out]")
@click.option("--errors/--no-errors", default=True, show_default=True, help="Bound the errors of the best linear rule.")
@click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0.0),
    default=10.0,
    show_default=True,
    help="How long to sharpen that bound.",
)
@click.option(
    "--verdict-limit",
    metavar="SECONDS",
    type=click.FloatRange(min=0.0),
    help="How long to look for a verdict, and then for the largest margin.  [default: as long as it takes]",
)
@click.option("--verify/--no-verify", default=True, show_default=True, help="Check the proof by independent code.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of words.")
@click.option(
    "--plot",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=_check_picture_format,
    help="Draw it: .png, .svg or .pdf.",
)
@cluster_option
@click.option("--exit-code", is_flag=True, help=f"Exit with {_INSEPARABLE}, not 0, if not separable.")
def certify(
    file: Path,
    positive: str | None,
    no_intercept: bool,
    errors: bool,
    time_limit: float,
    verdict_limit: float | None,
    verify: bool,
    as_json: bool,
    plot: Path | None,
    exit_code: bool,
    kernel: str | None,
    degree: int,
    gamma: float | None,
    coef0: float,
    cluster: str | None,
    **reading: Any,
) -> None:
    """Is a table linearly separable? The verdict comes with its proof.

    FILE is whatever `novikoff learn` reads: CSV, TSV, Parquet, Arrow, JSON, Excel, svmlight, Vowpal Wabbit's text,
    plain or packed; - is the standard input. Columns of words become columns of 0 and 1, one per value.

    \b
    SEPARABLE       a linear rule that gets every row right, its margin, and how
                    many mistakes a perceptron can make on the way to such a rule
    NOT SEPARABLE   a few rows that no linear rule can all get right, and how
                    few errors a linear rule can make at best

    More than two labels give a verdict for each against the rest, and for each pair.

    With --kernel a rule is a sum of kernels around rows, and may be curved. Its only constant is that of poly.

    The verdict is exact for the numbers as they are read, which is in double precision.

    With --cluster FILE is a pattern in quotes: the verdict is about the rows of all files that match, which no machine
    need hold, and names rows by file and line.
    """
    if math.isnan(time_limit):
        raise click.BadParameter("nan is no number of seconds.", param_hint="--time-limit")
    if cluster is not None:
        from novikoff.cli.cluster_certify import certify_on_cluster

        reading.pop("drop_missing")
        code = _INSEPARABLE if exit_code else None
        asked: dict[str, Any] = {"positive": positive, "as_json": as_json, "exit_code": code, "reading": reading}
        certify_on_cluster(file, cluster, fit_intercept=not no_intercept, **asked)
        return
    if plot is not None:
        _require_matplotlib(plot)
    with _waiting(f"Reading {file}"):
        table = _read(file, **reading)
    label = None if positive is None else _find_label(positive, table)
    _require_classes(table, label, plot)
    kernel_options = None if kernel is None else {"kernel": kernel, "degree": degree, "gamma": gamma, "coef0": coef0}
    if verdict_limit is not None and math.isnan(verdict_limit):
        raise click.BadParameter("nan is no number of seconds.", param_hint="--verdict-limit")
    recorder = InterruptRecorder()
    with recorder:
        found = (
            _decide(table, not no_intercept, label, verdict_limit)
            if kernel_options is None
            else _decide_with_kernel(table, label, kernel_options, verdict_limit)
        )
    geometric = None if recorder.is_interrupted else _find_geometric_margin(table, found, verdict_limit)
    if verify:
        _verify(table, found)
        if geometric is not None:
            geometric.verify(table.X, table.y)
    with recorder:
        wanted = errors and not found and not kernel_options and not recorder.is_interrupted
        fewest = _fewest_errors(table, found, time_limit, verify) if wanted else None
    if as_json:
        from novikoff.cli.certify_json import to_json

        click.echo(to_json(str(file), table, found, fewest, verify, geometric))
    else:
        _print(file, table, found, fewest, verify, geometric)
    if plot is not None:
        _draw(plot, table, found)
    if recorder.is_interrupted:
        raise Interrupted("Stopped. The verdict and the bounds on errors are proved; more time may improve the bounds.")
    if exit_code and not found:
        sys.exit(_INSEPARABLE)


def _read(file: Path, **reading: Any) -> WholeTable:
    """Read the file; errors advise options of this command."""
    from novikoff.cli.progress import announce_compilation
    from novikoff.data.whole_table import TableError, read_whole_table
    from novikoff.errors import DataError

    announce_compilation()
    options = {name: value for name, value in reading.items() if value not in (None, ())}
    try:
        return read_whole_table(str(file), **options)
    except TableError as error:
        raise DataError(f"{error.problem} {_ADVICE[error.remedy]}") from error


def _find_label(wanted: str, table: WholeTable) -> Any:
    """The label of the table that equals what the user has typed."""
    import difflib

    from novikoff.cli.certify_report import join_words
    from novikoff.errors import DataError
    from novikoff.inputs.labels import encode_labels

    labels = encode_labels(table.y)[0].tolist()
    for label in labels:
        if wanted == str(label) or (not isinstance(label, str) and _as_float(wanted) == label):
            return label
    near = difflib.get_close_matches(wanted, map(str, labels))
    hint = f" Did you mean {' or '.join(map(repr, near))}?" if near else ""
    known = join_words(list(map(repr, labels)))
    raise DataError(f"No row is labelled {wanted!r} (--positive).{hint} The labels are {known}.")


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _require_classes(table: WholeTable, positive: Any, plot: Path | None) -> None:
    """Refuse too many classes, and a picture of many questions."""
    from novikoff.errors import DataError
    from novikoff.inputs.labels import encode_labels

    n_labels = len(encode_labels(table.y)[0])
    if positive is None and n_labels > _MOST_LABELS:
        raise DataError(
            f"Found {n_labels:,} different labels in {len(table.y):,} rows, more than {_MOST_LABELS}: name "
            "the column of the labels with --target, or ask about one label with --positive."
        )
    if positive is None and n_labels > 2 and plot is not None:
        raise DataError(f"A picture shows one question, and {n_labels} labels make many: choose one with --positive.")


def _require_matplotlib(plot: Path) -> None:
    """Fail before any work if the picture could not be drawn or written."""
    from novikoff.formatting.extras import explain_missing
    from novikoff.system.atomic_files import require_writable

    if find_spec("matplotlib") is None:
        raise click.ClickException(explain_missing("--plot", "matplotlib", "plot"))
    if not plot.parent.is_dir():
        raise click.ClickException(f"{plot}: there is no folder {str(plot.parent)!r}.")
    require_writable(plot)


def _decide(table: WholeTable, fit_intercept: bool, positive: Any, time_limit: float | None) -> Certificate | Verdicts:
    """Call `certify`; with many classes, show which question is being answered."""
    from novikoff.inputs.labels import encode_labels
    from novikoff.theory.certificates import Question
    from novikoff.theory.search_clock import SearchClock
    from novikoff.theory.separability import certify, certify_classes, certify_signs, read_data

    names = encode_labels(table.y)[0].tolist()
    if positive is not None or len(names) <= 2:
        what = "Looking for a separator, or for rows that allow none"
        with _waiting(what) as update:
            return certify(
                table.X,
                table.y,
                fit_intercept=fit_intercept,
                positive=positive,
                time_limit=time_limit,
                progress=lambda lower, upper: update(_describe_bounds(what, lower, upper)),
            )
    rows, labels = read_data(table.X, table.y)
    total = len(names) * (len(names) + 1) // 2
    numbers = count(1)
    with _waiting(f"Answering {total:,} questions") as update:

        def ask(question: Question) -> Certificate:
            update(f"Question {next(numbers):,} of {total:,}: {question}")
            return certify_signs(rows, question.signs(labels), question, clock=SearchClock(time_limit))

        return certify_classes(ask, names, fit_intercept)


def _describe_bounds(what: str, lower: float, upper: float) -> str:
    """The progress of a search for a separator."""
    if lower > 0.0:
        return f"Separable; looking for the largest margin, from {lower:.4g} to {upper:.4g}"
    return what if math.isinf(upper) else f"{what}: no margin above {upper:.4g}"


def _decide_with_kernel(
    table: WholeTable, positive: Any, kernel_options: dict[str, Any], time_limit: float | None
) -> Certificate | Verdicts:
    """Call `certify` with a kernel."""
    from novikoff.theory.separability import certify

    with _waiting("Looking for a separator in feature space, or for rows that allow none"):
        return certify(table.X, table.y, positive=positive, time_limit=time_limit, **kernel_options)


def _find_geometric_margin(
    table: WholeTable, found: Certificate | Verdicts, time_limit: float | None
) -> GeometricMargin | None:
    """The margin whose bias is free, for one question that has such a bias and two classes."""
    from novikoff.theory.certificates import Separable
    from novikoff.theory.geometric_margin import find_geometric_margin
    from novikoff.theory.search_clock import OutOfTimeError, SearchClock
    from novikoff.theory.separability import read_data

    if not isinstance(found, Separable) or not found.question.constant:
        return None
    rows, labels = read_data(table.X, table.y)
    signs = found.question.signs(labels)
    if not (signs > 0).any() or not (signs < 0).any():
        return None
    with _waiting("Looking for the boundary farthest from both classes"):
        try:
            return find_geometric_margin(rows, signs, found, 1e-9, SearchClock(time_limit))
        except OutOfTimeError:
            return None


def _verify(table: WholeTable, found: Certificate | Verdicts) -> None:
    """Verify every proof, showing which one is being checked."""
    from novikoff.theory.certificates import Verdicts

    proofs = list(found.values()) if isinstance(found, Verdicts) else [found]
    if isinstance(found, Verdicts):
        found.check_questions(table.y)
    with _waiting("Checking the proof in exact arithmetic") as update:
        for number, proof in enumerate(proofs, start=1):
            update(f"Checking proof {number:,} of {len(proofs):,} in exact arithmetic")
            proof.verify(table.X, table.y)


def _fewest_errors(
    table: WholeTable, found: Certificate | Verdicts, time_limit: float, verify: bool
) -> FewestErrors | None:
    """Bound the errors of the best linear rule, for one question only: for many labels it would take too long."""
    from novikoff.theory.certificates import Certificate
    from novikoff.theory.fewest_errors import fewest_errors

    if not isinstance(found, Certificate):
        return None

    question, what = found.question, f"Looking for the fewest errors, {time_limit:g} s or until Ctrl-C"
    with _waiting_at_most(what, time_limit) as update:
        fewest = fewest_errors(
            table.X,
            table.y,
            fit_intercept=question.fit_intercept,
            positive=question.positive if question.one_against_rest else None,
            time_limit=time_limit,
            progress=lambda lower, upper: update(f"{what}: between {lower:,} and {upper:,}"),
        )
    if verify:
        with _waiting("Checking these bounds in exact arithmetic"):
            fewest.verify(table.X, table.y)
    return fewest


def _print(
    file: Path,
    table: WholeTable,
    found: Certificate | Verdicts,
    fewest: FewestErrors | None,
    verified: bool,
    geometric: GeometricMargin | None,
) -> None:
    """Print the whole report."""
    from rich.console import Console

    from novikoff.cli.certify_report import CertifyReport
    from novikoff.theory.certificates import Certificate

    report = CertifyReport(Console(highlight=False), table, geometric)
    report.print_opening("standard input" if str(file) == "-" else str(file))
    if isinstance(found, Certificate):
        report.print_verdict(found)
    else:
        report.print_verdicts(found)
    if fewest is not None:
        report.print_errors(fewest)
    if verified:
        report.print_paragraph(
            "\nThe proofs were checked again in exact arithmetic, by a checker that uses no code of the search, with "
            "three exceptions (docs/certificates.md)."
        )


def _draw(plot: Path, table: WholeTable, found: Any) -> None:
    """Write a picture of the certificate to a file."""
    import io

    from novikoff.plots import PlaneDisplay
    from novikoff.system.atomic_files import write_atomic

    figure = PlaneDisplay.from_certificate(found, table.X, table.y, feature_names=table.feature_names).figure_
    content = io.BytesIO()
    figure.savefig(content, format=plot.suffix[1:].lower())
    write_atomic(plot, content.getvalue())
    click.echo(f"Drawn in {plot}.", err=True)


@contextmanager
def _waiting(what: str) -> Iterator[Callable[[str], None]]:
    """Show a status line on a terminal until the work is done. Yields a function that changes its text."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(f"{what} ...")) as status:
        yield lambda text: status.update(Text(f"{text} ..."))


@contextmanager
def _waiting_at_most(what: str, seconds: float) -> Iterator[Callable[[str], None]]:
    """Show a status line with a bar that fills as time passes. Yields a function that changes its text."""
    if not sys.stderr.isatty():
        yield lambda text: None
        return
    from rich.console import Console
    from rich.progress import Progress, ProgressColumn, Task, TextColumn
    from rich.progress_bar import ProgressBar

    class ElapsedBar(ProgressColumn):
        def render(self, task: Task) -> ProgressBar:
            return ProgressBar(total=max(seconds, 1e-9), completed=task.elapsed or 0.0, width=24)

    columns = ElapsedBar(), TextColumn("{task.description}", markup=False)
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(what)
        yield lambda text: progress.update(task, description=text)

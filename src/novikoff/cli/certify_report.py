"""CertifyReport: verdicts and their proofs, printed as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from novikoff.cli.columns_report import describe_note
from novikoff.cli.printable import printable
from novikoff.theory.certificates import Certificate, Inseparable, Separable, Verdicts
from novikoff.theory.conflicts import count_conflicts

if TYPE_CHECKING:
    from novikoff.data.whole_table import TableColumn, WholeTable
    from novikoff.theory.fewest_errors import FewestErrors
    from novikoff.theory.geometric_margin import GeometricMargin

__all__ = ["CertifyReport", "join_words"]

_WITNESS, _SUPPORT, _COLUMNS, _WEIGHTS, _LISTED = 15, 6, 8, 10, 12  # how many of each to print
_LEGEND = "Rows are counted from 1; lines are those of the file."
_WIDTH = 110  # of paragraphs on wide terminals
_LONGEST_CELL = 18  # characters


class CertifyReport:
    """Prints verdicts about the rows of one table."""

    def __init__(self, console: Console, table: WholeTable, geometric: GeometricMargin | None = None) -> None:
        self.console, self.table, self.geometric = console, table, geometric

    def print_paragraph(self, text: str, style: str | None = None) -> None:
        """Print one paragraph, wrapped between words, without interpreting markup."""
        self.console.print(Text(_printable_lines(text), style or ""), width=min(self.console.width, _WIDTH))

    def print_opening(self, name: str) -> None:
        """Print what was read, and which column holds the labels."""
        table, (labels, counts) = self.table, np.unique(self.table.y, return_counts=True)
        n, d = table.X.shape
        by_default = f", {table.target_reason} (name another with --target)" if table.target_reason else ""
        target = f" The target is {table.target!r}{by_default}." if table.target is not None else ""
        tally = join_words(
            [f"{label} ({count:,})" for label, count in zip(labels.tolist(), counts.tolist(), strict=True)]
        )
        self.print_paragraph(
            f"{name}: {n:,} {_pluralize('row', n)}, {d:,} {_pluralize('column', d)}.{target} Labels: {tally}."
        )
        for note in table.column_notes:
            self.print_paragraph(f"{describe_note(note)}.")
        for sentence in table.notes:
            self.print_paragraph(sentence)
        self.print_paragraph("")

    def print_verdict(self, certificate: Certificate) -> None:
        """Print one certificate with its proof."""
        if isinstance(certificate, Separable):
            self._print_separable(certificate)
        else:
            assert isinstance(certificate, Inseparable)
            self._print_inseparable(certificate)

    def _print_separable(self, found: Separable) -> None:
        n = self.table.X.shape[0]
        right = f"One {_describe_rule(found)} gets all {n:,} rows right."
        if len(np.unique(self.table.y)) == 1:
            right = f"All rows are labelled {self.table.y[0]}: there is nothing to tell apart."
        self.print_paragraph(f"SEPARABLE{_in_brackets(found)}. {right}", "bold green")
        self._print_margin(found)
        question = found.question
        yes = f"not {question.negative}" if question.positive is None else question.positive
        no = f"not {question.positive}" if question.negative is None else question.negative
        rows = found.support.tolist()
        if question.kernel is not None:
            self.print_paragraph(
                f"\nThe rule: add up K(x, row) over these rows, times their shares, with + for those labelled "
                f"{yes} and - for the others; say {yes} above 0, {no} below. {_LEGEND}"
            )
            shares = np.array([float(weight) for weight in found.multipliers])
            self._print_rows(found, rows, shares / shares.sum(), _WITNESS)
            return
        self.print_paragraph(f"\nThe rule: say {yes} where this sum is above 0, {no} where it is below.")
        self._print_weights(found)
        nearest = f"The {len(rows):,} rows nearest to its boundary fix" if len(rows) > 1 else "The nearest row fixes"
        self.print_paragraph(f"\n{nearest} the margin. {_LEGEND}")
        self._print_rows(found, rows, np.array([float(weight) for weight in found.multipliers]), _SUPPORT)

    def _print_margin(self, found: Separable) -> None:
        """Print margin, radius, and the mistake bound that follows."""
        with np.errstate(over="ignore", divide="ignore"):
            bound = np.floor((np.float64(found.radius) / found.margin) ** 2)
        intercept = ", the constant 1 of the intercept included" if found.question.fit_intercept else ""
        if found.question.kernel is not None:
            intercept += ", in feature space: the root of the largest K(x, x)"
        grid = Grid.grid(padding=(0, 2))
        for name, value, meaning in (
            (
                "margin",
                f"{found.margin:.6g}",
                _describe_margin(found),
            ),
            *self._geometric_lines(),
            ("radius", f"{found.radius:.6g}", f"the longest row{intercept}"),
            (
                "mistakes",
                f"{bound:,.0f}" if bound < 1e15 else f"{bound:.3g}",
                "at most, (radius / margin)^2: a "
                "perceptron makes no more on these rows, in any order, over any number of passes",
            ),
        ):
            grid.add_row(name, value, meaning)
        self.console.print(grid, width=min(self.console.width, _WIDTH))

    def _geometric_lines(self) -> list[tuple[str, str, str]]:
        """The line of the geometric margin, if there is one."""
        if self.geometric is None:
            return []
        gap = self.geometric.margin_upper - self.geometric.margin
        meaning = (
            "as a support vector machine has it, its bias free: a boundary can be so far from every row, and none "
            f"can be farther by {gap:.1e}"
        )
        return [("geometric", f"{self.geometric.margin:.6g}", meaning)]

    def _print_weights(self, found: Separable) -> None:
        """Print the largest weights of a separator with the names of their columns."""
        weights = np.array([float(weight) for weight in found.separator])
        names, order = self.table.feature_names, np.argsort(-np.abs(weights), kind="stable")
        order = order[weights[order] != 0.0]
        grid = Grid.grid(padding=(0, 1))
        grid.add_column(justify="right")
        for at in order[:_WEIGHTS].tolist():
            grid.add_row(f"  {weights[at]:+.6g}", "x", Text(printable(names[at])))
        if found.question.fit_intercept:
            grid.add_row(f"  {float(found.intercept):+.6g}", "", "intercept")
        self.console.print(grid)
        if len(order) > _WEIGHTS:
            self.print_paragraph(f"  and {len(order) - _WEIGHTS:,} smaller ones (--json has them all)")

    def _print_inseparable(self, found: Inseparable) -> None:
        rows = found.rows.tolist()
        names = f"{_pluralize('Row', len(rows))} {join_words(self._row_numbers(rows))}"
        proof = f"{names} {'proves' if len(rows) == 1 else 'prove'} it"
        if self._are_identical(found):
            one, other = (self.table.y[row] for row in rows)
            self.print_paragraph(
                f"NOT SEPARABLE{_in_brackets(found)}. {names} are identical in double precision, but one is labelled "
                f"{one} and the other {other}: no rule on these numbers, linear or not, can get both right.",
                "bold red",
            )
            self._print_conflicts(found)
        elif len(rows) == 1:
            self.print_paragraph(
                f"NOT SEPARABLE{_in_brackets(found)}. {proof}: it is all zeros, and without an intercept every "
                f"{_describe_rule(found)} gives it 0, which is on neither side.",
                "bold red",
            )
        else:
            self.print_paragraph(
                f"NOT SEPARABLE{_in_brackets(found)}. {proof}: every {_describe_rule(found)} gets at least one of them "
                "wrong.",
                "bold red",
            )
            self._print_mixture(found)
        self.print_paragraph(_LEGEND)
        self._print_rows(found, rows, found.shares, _WITNESS)

    def _print_mixture(self, found: Inseparable) -> None:
        """Print why the rows of a witness prove that no rule gets them all right."""
        question = found.question
        yes = f"those labelled {question.positive}"
        no = "the others" if question.one_against_rest else f"those labelled {question.negative}"
        if question.kernel is not None:
            self.print_paragraph(
                f"Mixed in the shares below, the functions K(x, row) of {yes}, less those of {no}, come to "
                "exactly 0; a rule that got all these rows right would make more than 0 of them."
            )
        elif question.fit_intercept:
            self.print_paragraph(
                f"Mixed in the shares below, {yes} come to exactly the same point as {no}; and no point is on "
                "both sides of a boundary."
            )
        else:
            mixture = f"{yes} less {no}" if len(np.unique(self.table.y)) > 1 else "they"
            self.print_paragraph(
                f"Mixed in the shares below, {mixture} come to exactly 0; but a rule through 0 that got them all "
                "right would make of this mixture more than 0."
            )

    def _row_numbers(self, rows: Iterable[int]) -> list[str]:
        """The numbers of rows as people count them, from 1."""
        return [f"{self.table.row_numbers[row] + 1}" for row in rows]

    def _are_identical(self, found: Inseparable) -> bool:
        """Whether a witness is two identical rows with different labels."""
        if len(found.rows) != 2 or self.table.y[found.rows[0]] == self.table.y[found.rows[1]]:
            return False
        one, other = _take_dense(self.table.X, found.rows)
        return bool((one == other).all())

    def _print_conflicts(self, found: Inseparable) -> None:
        """Print how many sets of identical rows have different labels, if there are several."""
        sets, wrong = count_conflicts(self.table.X, found.question.signs(self.table.y))
        if sets > 1:
            self.print_paragraph(
                f"There are {sets:,} such sets of rows with different labels that are identical in double precision; "
                f"any rule on these numbers errs on at least {wrong:,} rows."
            )

    def _print_rows(self, found: Certificate, rows: list[int], shares: np.ndarray, most: int) -> None:
        """Print the rows of a proof, largest shares first within each class, and the columns in which they differ."""
        table, signs = self.table, found.question.signs(self.table.y)
        heaviest = np.argsort(-shares, kind="stable")[:most].tolist()
        order = sorted(heaviest, key=lambda at: -signs[rows[at]])
        values = _take_dense(table.X, [rows[at] for at in order])
        columns = self._distinguishing_columns(values, found)
        grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for title in ("row", "line", "label", "share"):
            grid.add_column(title, justify="left" if title == "label" else "right", no_wrap=True)
        for column in columns:
            grid.add_column(Text(_shorten(column.name)), justify="left" if column.values else "right", overflow="fold")
        for at, x in zip(order, values, strict=True):
            row = rows[at]
            grid.add_row(
                *self._row_numbers([row]),
                f"{table.lines[row]}",
                Text(_shorten(str(table.y[row]))),
                f"{shares[at]:.3g}",
                *(Text(_shorten(_format_cell(x, column))) for column in columns),
            )
        self.console.print(grid)
        hidden = [
            f"{count:,} {_pluralize(noun, count)}"
            for count, noun in ((len(rows) - len(order), "row"), (len(table.columns) - len(columns), "column"))
            if count
        ]
        if hidden:
            self.print_paragraph(f"({join_words(hidden)} not shown)")

    def _distinguishing_columns(self, some: np.ndarray, found: Certificate) -> list[TableColumn]:
        """The columns in which rows differ most, weighted by the separator or relative to the range of all rows.

        If no column differs, those with the largest values.
        """
        columns, X = self.table.columns, self.table.X
        limit = max(2, min(_COLUMNS, (self.console.width - 35) // 11))
        if len(columns) <= limit:
            return list(columns)
        if isinstance(found, Separable) and found.question.kernel is None:
            scale = np.abs(found.separator.astype(float))
        else:
            low, high = (end.toarray().ravel() if sp.issparse(X) else end for end in (X.min(axis=0), X.max(axis=0)))
            scale = np.divide(1.0, high - low, out=np.zeros(len(low)), where=high > low)
        spread = np.ptp(some, axis=0)
        differences = (spread if spread.any() else np.abs(some).max(axis=0)) * scale
        largest_difference = np.maximum.reduceat(differences, [column.first for column in columns])
        return [columns[k] for k in np.sort(np.argsort(-largest_difference, kind="stable")[:limit]).tolist()]

    def print_verdicts(self, found: Verdicts) -> None:
        """Print one line for every class against the rest and for every pair."""
        yes = sum(map(bool, found.against_rest.values()))
        pairs = sum(map(bool, found.pairs.values()))
        kernel = next(iter(found.values())).question.kernel
        how = "Linearly separable" if kernel is None else f"Separable with K(x, z) = {kernel}"
        self.print_paragraph(
            f"{how}: {yes} of {len(found.against_rest)} classes from the rest, {pairs} of "
            f"{len(found.pairs)} pairs from each other.",
            "bold",
        )
        grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for title in ("question", "verdict", "margin", "proof"):
            grid.add_column(title, justify="right" if title == "margin" else "left")
        for certificate in found.values():
            question = Text(printable(str(certificate.question)))
            if isinstance(certificate, Separable):
                rows = len(certificate.support)
                grid.add_row(
                    question,
                    Text("separable", "green"),
                    f"{certificate.margin:.4g}",
                    f"{rows:,} support {_pluralize('row', rows)}",
                )
            else:
                assert isinstance(certificate, Inseparable)
                numbers = self._row_numbers(certificate.rows)
                noun = "identical rows" if self._are_identical(certificate) else _pluralize("row", len(numbers))
                grid.add_row(question, Text("not separable", "red"), "", f"{noun} {join_words(numbers, 5)}")
        self.console.print(grid)
        self.print_paragraph("Rows are counted from 1. For one class in detail: --positive LABEL.")

    def print_errors(self, result: FewestErrors) -> None:
        """Print the bounds on the errors of the best linear rule."""
        low, high, n = result.lower, result.upper, self.table.X.shape[0]
        between = f"{low:,}" if low == high else f"between {low:,} and {high:,}"
        self.print_paragraph(f"\nThe best linear rule errs on {between} of {n:,} {_pluralize('row', n)}.")
        numbers = self._row_numbers(result.rows_wrong)
        if numbers:
            self.print_paragraph(
                f"One that errs on {len(numbers):,} gets {_pluralize('row', len(numbers))} {join_words(numbers)} wrong."
            )


def _describe_margin(found: Separable) -> str:
    """What the margin of a certificate means, and how much larger one could be."""
    bias = "with the intercept as one more weight, " if found.question.constant else ""
    return (
        f"Novikoff's: for weights of length 1, {bias}every row is at least so far on its side; no rule has more "
        f"than {found.margin_upper - found.margin:.1e} beyond that"
    )


def _describe_rule(found: Certificate) -> str:
    """The kind of rule that a certificate is about."""
    kernel = found.question.kernel
    return "linear rule" if kernel is None else f"rule with the kernel K(x, z) = {kernel}"


def _in_brackets(found: Certificate) -> str:
    """The question in brackets, where several could be meant."""
    return f" ({found.question})" if found.question.one_against_rest else ""


def _format_cell(x: np.ndarray, column: TableColumn) -> str:
    """The cell of the file in a column, from a row of X."""
    if column.values:
        return column.values[int(x[column.first : column.first + len(column.values)].argmax())]
    return f"{x[column.first]:.6g}"


def _take_dense(X: Any, rows: Sequence[int] | np.ndarray) -> np.ndarray:
    """Some rows as a dense 2-D array."""
    some = X[np.asarray(rows)]
    return some.toarray() if sp.issparse(some) else some


def join_words(words: Sequence[str], limit: int = _LISTED) -> str:
    """Join words as in a sentence, "a, b and c"; of many the first few, and how many more there are.

    >>> join_words(["1", "2", "3"]), join_words(["1", "2", "3"], 2)
    ('1, 2 and 3', '1, 2 and 1 more')
    """
    if len(words) > limit:
        return f"{', '.join(words[:limit])} and {len(words) - limit:,} more"
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def _pluralize(noun: str, count: int) -> str:
    """The noun without its count, in the plural unless the count is 1."""
    return noun if count == 1 else f"{noun}s"


def _printable_lines(text: str) -> str:
    """A text of several lines without control characters."""
    return "\n".join(map(printable, text.split("\n")))


def _shorten(text: str) -> str:
    """A cell of a table, printable and not too long."""
    return printable(text, _LONGEST_CELL)

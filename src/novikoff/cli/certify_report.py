"""Verdicts and their proofs in words that a person can act on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from novikoff.theory.certificates import Certificate, Inseparable, Separable, Verdicts

if TYPE_CHECKING:
    from novikoff.cli.table import Column, Table
    from novikoff.theory.fewest_errors import FewestErrors

__all__ = ["Report", "clashes", "listed"]

_WITNESS, _SUPPORT, _COLUMNS, _WEIGHTS, _LISTED = 15, 6, 8, 10, 12  # how many to show
_LEGEND = "Rows are counted from 1; lines are those of the file."
_WIDTH = 110  # of lines of words on wide terminals


class Report:
    """Writes about the rows of one table."""

    def __init__(self, console: Console, table: Table) -> None:
        self.console, self.table = console, table

    def say(self, text: str, style: str | None = None) -> None:
        """One paragraph: words wrapped between words, nothing in them taken for markup."""
        self.console.print(Text(clean(text), style or ""), width=min(self.console.width, _WIDTH))

    def opening(self, name: str, is_chosen: bool) -> None:
        """What was read, and which column was taken for the labels."""
        table, (labels, counts) = self.table, np.unique(self.table.y, return_counts=True)
        n, d = table.X.shape
        by_default = "" if is_chosen else ", the last column (name another with --target)"
        target = f" The target is {table.target!r}{by_default}." if table.target is not None else ""
        tally = listed([f"{label} ({count:,})" for label, count in zip(labels.tolist(), counts.tolist(), strict=True)])
        self.say(f"{name}: {n:,} {plural('row', n)}, {d:,} {plural('column', d)}.{target} Labels: {tally}.")
        for note in table.notes:
            self.say(note)
        self.say("")

    def verdict(self, certificate: Certificate) -> None:
        """One certificate, with its proof."""
        if isinstance(certificate, Separable):
            self._separable(certificate)
        else:
            assert isinstance(certificate, Inseparable)
            self._inseparable(certificate)

    def _separable(self, found: Separable) -> None:
        n = self.table.X.shape[0]
        right = f"One {_rule(found)} gets all {n:,} rows right."
        if len(np.unique(self.table.y)) == 1:
            right = f"All rows are labelled {self.table.y[0]}: there is nothing to tell apart."
        self.say(f"SEPARABLE{_aside(found)}. {right}", "bold green")
        self._account(found)
        question = found.question
        yes = f"not {question.negative}" if question.positive is None else question.positive
        no = f"not {question.positive}" if question.negative is None else question.negative
        rows = found.support.tolist()
        if question.kernel is not None:
            self.say(
                f"\nThe rule: add up K(x, row) over these rows, times their shares, with + for those labelled "
                f"{yes} and - for the others; say {yes} above 0, {no} below. {_LEGEND}"
            )
            shares = np.array([float(weight) for weight in found.multipliers])
            self._rows(found, rows, shares / shares.sum(), _WITNESS)
            return
        self.say(f"\nThe rule: say {yes} where this sum is above 0, {no} where it is below.")
        self._weights(found)
        nearest = f"The {len(rows):,} rows nearest to its boundary fix" if len(rows) > 1 else "The nearest row fixes"
        self.say(f"\n{nearest} the margin. {_LEGEND}")
        self._rows(found, rows, np.array([float(weight) for weight in found.multipliers]), _SUPPORT)

    def _account(self, found: Separable) -> None:
        """Margin, radius, and what the theorem makes of them."""
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
                "every row is at least so far on its side; no rule has more than "
                f"{found.margin_upper - found.margin:.1e} beyond that",
            ),
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

    def _weights(self, found: Separable) -> None:
        weights = np.array([float(weight) for weight in found.separator])
        names, order = self.table.names, np.argsort(-np.abs(weights), kind="stable")
        order = order[weights[order] != 0.0]
        grid = Grid.grid(padding=(0, 1))
        grid.add_column(justify="right")
        for at in order[:_WEIGHTS].tolist():
            grid.add_row(f"  {weights[at]:+.6g}", "x", Text(clean(names[at])))
        if found.question.fit_intercept:
            grid.add_row(f"  {float(found.intercept):+.6g}", "", "intercept")
        self.console.print(grid)
        if len(order) > _WEIGHTS:
            self.say(f"  and {len(order) - _WEIGHTS:,} smaller ones (--json has them all)")

    def _inseparable(self, found: Inseparable) -> None:
        rows = found.rows.tolist()
        names = f"{plural('Row', len(rows))} {listed(self._numbers(rows))}"
        proof = f"{names} {'proves' if len(rows) == 1 else 'prove'} it"
        if self._are_twins(found):
            one, other = (self.table.y[row] for row in rows)
            self.say(
                f"NOT SEPARABLE{_aside(found)}. {names} are identical in double precision, but one is labelled "
                f"{one} and the other {other}: no rule on these numbers, linear or not, can get both right.",
                "bold red",
            )
            self._count_clashes(found)
        elif len(rows) == 1:
            self.say(
                f"NOT SEPARABLE{_aside(found)}. {proof}: it is all zeros, and without an intercept every "
                f"{_rule(found)} gives it 0, which is on neither side.",
                "bold red",
            )
        else:
            self.say(
                f"NOT SEPARABLE{_aside(found)}. {proof}: every {_rule(found)} gets at least one of them wrong.",
                "bold red",
            )
            self._explain_mixture(found)
        self.say(_LEGEND)
        self._rows(found, rows, found.shares, _WITNESS)

    def _explain_mixture(self, found: Inseparable) -> None:
        question = found.question
        yes = f"those labelled {question.positive}"
        no = "the others" if question.one_against_rest else f"those labelled {question.negative}"
        if question.kernel is not None:
            self.say(
                f"Mixed in the shares below, the functions K(x, row) of {yes}, less those of {no}, come to "
                "exactly 0; a rule that got all these rows right would make more than 0 of them."
            )
        elif question.fit_intercept:
            self.say(
                f"Mixed in the shares below, {yes} come to exactly the same point as {no}; and no point is on "
                "both sides of a boundary."
            )
        else:
            mixture = f"{yes} less {no}" if len(np.unique(self.table.y)) > 1 else "they"
            self.say(
                f"Mixed in the shares below, {mixture} come to exactly 0; but a rule through 0 that got them all "
                "right would make of this mixture more than 0."
            )

    def _numbers(self, rows: Iterable[int]) -> list[str]:
        """Rows as people count them."""
        return [f"{self.table.numbers[row] + 1}" for row in rows]

    def _are_twins(self, found: Inseparable) -> bool:
        if len(found.rows) != 2 or self.table.y[found.rows[0]] == self.table.y[found.rows[1]]:
            return False
        one, other = dense(self.table.X, found.rows)
        return bool((one == other).all())

    def _count_clashes(self, found: Inseparable) -> None:
        sets, wrong = clashes(self.table.X, found.question.signs(self.table.y))
        if sets > 1:
            self.say(
                f"There are {sets:,} such sets of identical rows with different labels; whatever the rule, it "
                f"errs on at least {wrong:,} rows."
            )

    def _rows(self, found: Certificate, rows: list[int], shares: np.ndarray, most: int) -> None:
        """The rows of a proof, heaviest first within their class, with the columns that tell them apart."""
        table, signs = self.table, found.question.signs(self.table.y)
        heaviest = np.argsort(-shares, kind="stable")[:most].tolist()
        order = sorted(heaviest, key=lambda at: -signs[rows[at]])
        values = dense(table.X, [rows[at] for at in order])
        columns = self._telling(values, found)
        grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for title in ("row", "line", "label", "share"):
            grid.add_column(title, justify="left" if title == "label" else "right", no_wrap=True)
        for column in columns:
            grid.add_column(Text(short(column.name)), justify="left" if column.values else "right", overflow="fold")
        for at, x in zip(order, values, strict=True):
            row = rows[at]
            grid.add_row(
                *self._numbers([row]),
                f"{table.lines[row]}",
                Text(short(str(table.y[row]))),
                f"{shares[at]:.3g}",
                *(Text(short(_cell(x, column))) for column in columns),
            )
        self.console.print(grid)
        hidden = [
            f"{count:,} {plural(noun, count)}"
            for count, noun in ((len(rows) - len(order), "row"), (len(table.columns) - len(columns), "column"))
            if count
        ]
        if hidden:
            self.say(f"({listed(hidden)} not shown)")

    def _telling(self, some: np.ndarray, found: Certificate) -> list[Column]:
        """The columns in which rows differ most, by the separator or compared with all rows; those that are not 0 where
        none differs."""
        columns, X = self.table.columns, self.table.X
        room = max(2, min(_COLUMNS, (self.console.width - 35) // 11))
        if len(columns) <= room:
            return list(columns)
        if isinstance(found, Separable) and found.question.kernel is None:
            scale = np.abs(found.separator.astype(float))
        else:
            low, high = (end.toarray().ravel() if sp.issparse(X) else end for end in (X.min(axis=0), X.max(axis=0)))
            scale = np.divide(1.0, high - low, out=np.zeros(len(low)), where=high > low)
        spread = np.ptp(some, axis=0)
        apart = (spread if spread.any() else np.abs(some).max(axis=0)) * scale
        telling = np.maximum.reduceat(apart, [column.first for column in columns])
        return [columns[k] for k in np.sort(np.argsort(-telling, kind="stable")[:room]).tolist()]

    def verdicts(self, found: Verdicts) -> None:
        """Every class against the rest and every pair, a line each."""
        yes = sum(map(bool, found.against_rest.values()))
        pairs = sum(map(bool, found.pairs.values()))
        kernel = next(iter(found.values())).question.kernel
        how = "Linearly separable" if kernel is None else f"Separable with K(x, z) = {kernel}"
        self.say(
            f"{how}: {yes} of {len(found.against_rest)} classes from the rest, {pairs} of "
            f"{len(found.pairs)} pairs from each other.",
            "bold",
        )
        grid = Grid(box=None, padding=(0, 2, 0, 0), header_style="bold")
        for title in ("question", "verdict", "margin", "proof"):
            grid.add_column(title, justify="right" if title == "margin" else "left")
        for certificate in found.values():
            question = Text(clean(str(certificate.question)))
            if isinstance(certificate, Separable):
                rows = len(certificate.support)
                grid.add_row(
                    question,
                    Text("separable", "green"),
                    f"{certificate.margin:.4g}",
                    f"{rows:,} support {plural('row', rows)}",
                )
            else:
                assert isinstance(certificate, Inseparable)
                numbers = self._numbers(certificate.rows)
                twins = "identical rows" if self._are_twins(certificate) else plural("row", len(numbers))
                grid.add_row(question, Text("not separable", "red"), "", f"{twins} {listed(numbers, 5)}")
        self.console.print(grid)
        self.say("Rows are counted from 1. For one class in detail: --positive LABEL.")

    def errors(self, result: FewestErrors) -> None:
        """How few errors a linear rule can make."""
        low, high, n = result.lower, result.upper, self.table.X.shape[0]
        between = f"{low:,}" if low == high else f"between {low:,} and {high:,}"
        self.say(f"\nThe best linear rule errs on {between} of {n:,} {plural('row', n)}.")
        numbers = self._numbers(result.rows_wrong)
        if numbers:
            self.say(f"One that errs on {len(numbers):,} gets {plural('row', len(numbers))} {listed(numbers)} wrong.")


def _rule(found: Certificate) -> str:
    """What kind of rule it is about."""
    kernel = found.question.kernel
    return "linear rule" if kernel is None else f"rule with the kernel K(x, z) = {kernel}"


def _aside(found: Certificate) -> str:
    """The question, where it is not the only one that could be meant."""
    return f" ({found.question})" if found.question.one_against_rest else ""


def _cell(x: np.ndarray, column: Column) -> str:
    """What the file has in a column, from a row of X."""
    if column.values:
        return column.values[int(x[column.first : column.first + len(column.values)].argmax())]
    return f"{x[column.first]:.6g}"


def clashes(X: Any, signs: np.ndarray) -> tuple[int, int]:
    """How many sets of identical rows have both signs, and how many rows in them every rule must get wrong.

    >>> import numpy as np
    >>> clashes(np.array([[1.0], [1.0], [1.0], [2.0], [3.0], [3.0]]), np.array([1, 1, -1, 1, -1, -1]))
    (1, 1)
    """
    counts: defaultdict[bytes, list[int]] = defaultdict(lambda: [0, 0])
    for key, sign in zip(_keys(X), signs.tolist(), strict=True):
        if sign:
            counts[key][sign > 0] += 1
    both = [min(pair) for pair in counts.values() if all(pair)]
    return len(both), sum(both)


def _keys(X: Any) -> Iterable[bytes]:
    """The same bytes for the same row."""
    if not sp.issparse(X):
        return (row.tobytes() for row in X + 0.0)  # -0 becomes 0
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    parts = zip(X.indptr[:-1].tolist(), X.indptr[1:].tolist(), strict=True)
    return (X.indices[low:high].tobytes() + X.data[low:high].tobytes() for low, high in parts)


def dense(X: Any, rows: Sequence[int] | np.ndarray) -> np.ndarray:
    """Some rows as a 2-D array."""
    some = X[np.asarray(rows)]
    return some.toarray() if sp.issparse(some) else some


def listed(words: Sequence[str], shown: int = _LISTED) -> str:
    """In a sentence: a, b and c; of many the first few and how many more.

    >>> listed(["1", "2", "3"]), listed(["1", "2", "3"], 2)
    ('1, 2 and 3', '1, 2 and 1 more')
    """
    if len(words) > shown:
        return f"{', '.join(words[:shown])} and {len(words) - shown:,} more"
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def plural(noun: str, count: int) -> str:
    return noun if count == 1 else f"{noun}s"


def clean(text: str) -> str:
    """Without the control characters by which a file could play tricks on a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def short(text: str, length: int = 18) -> str:
    text = clean(text)
    return text if len(text) <= length else f"{text[: length - 1]}…"

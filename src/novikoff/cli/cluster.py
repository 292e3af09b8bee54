"""Options of commands that can run on a cluster, and what they print meanwhile."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from novikoff.cli.progress import LedgerTable, say
from novikoff.distributed.learning import RoundObserver
from novikoff.formatting.phrases import pluralize

if TYPE_CHECKING:
    from collections.abc import Sequence

    from novikoff.distributed.engines import Engine
    from novikoff.distributed.learning import Round
    from novikoff.distributed.looking import FileFacts, FileLook
    from novikoff.perceptron.ledger import Ledger
    from novikoff.streaming.cluster_run import ClusterRun

__all__ = ["RoundReport", "counting", "refuse_options", "say_dashboard"]


def refuse_options(names: Iterator[str] | Sequence[str], why: str) -> None:
    """Raise a usage error if one of these options is on the command line; `why` says what it does not go with."""
    context = click.get_current_context()
    for name in names:
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = next(param.opts[0] for param in context.command.params if param.name == name)
            raise click.UsageError(f"{option} {why}")


def say_dashboard(engine: Engine) -> None:
    """Print where to watch the workers, if the engine shows them."""
    address = getattr(engine, "dashboard", None)
    if address is not None:
        say(f"{pluralize(engine.n_workers, 'worker')}; watch them at {address}.")  # type: ignore[attr-defined]


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """Keep a bar below all that is printed on a terminal; yields a function of what is done and of all."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}", markup=False), BarColumn(24), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class RoundTable(LedgerTable):
    """The mistakes of the rounds of a run; for the perceptron also the mistakes that the theorem counts."""

    headings = f"{LedgerTable.headings} {'weighted':>11} {'(R/g)^2 >=':>11} {'rows/s/worker':>14}"
    rate = 0.0

    def format_line(self, ledger: Ledger, before: Ledger) -> str:
        weighted, at_most = ledger.weighted_mistakes, ledger.margin_at_most
        numbers = f"{'':>11} {'':>11}"
        if weighted is not None and at_most:
            numbers = f"{weighted:>11,.1f} {(ledger.radius / at_most) ** 2:>11,.1f}"
        return f"{super().format_line(ledger, before)} {numbers} {self.rate:>14,.0f}"


class RoundReport(RoundObserver):
    """Prints a line for each round.

    Parameters
    ----------
    ledger : Ledger
        Before the first round.
    bar : callable
        Told how many chains of a round are done, and how many there are.
    """

    def __init__(self, ledger: Ledger | None, bar: Callable[[int, int], None]) -> None:
        self._ledger, self._bar, self._table = ledger, bar, None if ledger is None else RoundTable(ledger)
        self._before = 0 if ledger is None else ledger.examples
        self.has_model = False  # whether a checkpoint has been written

    def on_engine(self, engine: Engine) -> None:
        say_dashboard(engine)

    def on_files(self, facts: Sequence[FileFacts]) -> None:
        first = facts[0]
        target = f", labels in {first.target_name!r}" if first.target_name else ""
        columns = f", {pluralize(len(first.names), 'column')}" if first.names else ""
        say(f"{pluralize(len(facts), 'file')}{columns}{target}.")

    def on_look(self, looks: Sequence[FileLook]) -> None:
        labels = {label for look in looks for label in look.labels}
        say(f"{sum(look.rows for look in looks):,} rows, {pluralize(len(labels), 'label')}.")

    def on_begin(self, run: ClusterRun) -> None:
        self.has_model = True
        say(f"{pluralize(run.chains, 'chain')} in each round, which decide the result; more workers only save time.")

    def on_chain(self, n_done: int, n_chains: int) -> None:
        self._bar(n_done, n_chains)

    def on_round(self, done: Round) -> None:
        if self._table is None:
            self._table = RoundTable(done.ledger)
            self._table.first = 0
            self._table._before = _nothing_of(done.ledger)
        rows = done.ledger.examples - self._before
        self._table.rate = rows / max(done.busy, 1e-9)
        self._table.add_line(done.ledger)
        self._before = done.ledger.examples

    def on_notice(self, message: str) -> None:
        say(message)


def _nothing_of(ledger: Any) -> Any:
    """The ledger before the first example of a run."""
    from dataclasses import replace

    return replace(ledger, examples=0, mistakes=0, updates=0)

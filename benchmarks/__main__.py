"""Run the benchmarks and print one table: times of novikoff and of its peers, ratios, and whether targets are met."""

from __future__ import annotations

import os
import tempfile

# Set before numpy and numba are imported: one thread on both sides, and no compiled code of an earlier run, so that
# the first call shows what compiling costs.
for _pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_pool, "1")
_cache = tempfile.TemporaryDirectory(prefix="novikoff-bench-")
os.environ["NUMBA_CACHE_DIR"] = _cache.name

import json  # noqa: E402
import sys  # noqa: E402
import warnings  # noqa: E402
from dataclasses import asdict, replace  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import click  # noqa: E402
from rich.console import Console  # noqa: E402
from rich.table import Table  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402

from benchmarks import (  # noqa: E402
    batch,
    certify,
    cluster,
    defaults,
    descent,
    fresh,
    growth,
    hostile,
    kernel,
    online,
    progressive,
    streams,
    tagging,
)
from benchmarks.measure import Line, Options  # noqa: E402

BENCHMARKS = {
    **batch.BENCHMARKS,
    **online.BENCHMARKS,
    **growth.BENCHMARKS,
    **fresh.BENCHMARKS,
    **certify.BENCHMARKS,
    **hostile.BENCHMARKS,
    **streams.BENCHMARKS,
    **defaults.BENCHMARKS,
    **progressive.BENCHMARKS,
    **tagging.BENCHMARKS,
    **kernel.BENCHMARKS,
    **descent.BENCHMARKS,
    **cluster.BENCHMARKS,
}

_STYLES = {"ok": "green", "missed": "bold red", "differs": "bold red", "skipped": "yellow"}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--only", multiple=True, type=click.Choice(list(BENCHMARKS)), help="Run only this benchmark; may be repeated."
)
@click.option("--quick", is_flag=True, help="Smaller data, to check that everything runs; missed targets do not fail.")
@click.option("--repeats", default=5, show_default=True, type=click.IntRange(3), help="Turns of each side at least.")
@click.option(
    "--json", "json_file", type=click.Path(dir_okay=False, path_type=Path), help="Also write the lines to this file."
)
def main(only: tuple[str, ...], quick: bool, repeats: int, json_file: Path | None) -> None:
    """Measure novikoff against its peers. Exits with 1 if a target is missed."""
    warnings.simplefilter("ignore", ConvergenceWarning)  # five passes over inseparable rows do not converge
    # A log has no width of its own; the table needs this much.
    console = Console() if sys.stdout.isatty() else Console(width=200)
    progress = Console(stderr=True)
    lines: list[Line] = []
    for name in only or BENCHMARKS:
        with progress.status(f"{name} …"):
            lines += [replace(line, name=name) for line in BENCHMARKS[name](Options(quick, repeats))]
    console.print(_table(lines, quick))
    for number, line in enumerate(lines, 1):
        if line.note:
            console.print(f"{number:>2}  {line.note}", style="dim", highlight=False, markup=False)
    if json_file is not None:
        json_file.write_text(json.dumps([_record(line) for line in lines], indent=2) + "\n")
    missed = [line for line in lines if line.verdict in ("missed", "differs")]
    skipped = sum(line.verdict == "skipped" for line in lines)
    console.print(f"{len(missed)} of {len(lines)} targets missed, {skipped} not measured.")
    sys.exit(1 if missed and not quick else 0)


def _record(line: Line) -> dict[str, Any]:
    """A line for JSON, which has no infinite numbers for the ends of a target."""
    return {**asdict(line), "target": str(line.target), "verdict": line.verdict}


def _table(lines: list[Line], quick: bool) -> Table:
    table = Table(title="novikoff and its peers" + (", small data: targets are for the full sizes" if quick else ""))
    for heading in ("", "work", "peer"):
        table.add_column(heading, overflow="fold")
    for heading in ("peer's time", "ours", "compiling", "ratio", "target", "scores, peer / ours"):
        table.add_column(heading, justify="right")
    table.add_column("agreement", overflow="fold")
    table.add_column("verdict")
    for number, line in enumerate(lines, 1):
        times = line.times
        clock = [_clock(times.theirs), _clock(times.ours), _clock(times.first_call)] if times else ["", "", ""]
        figure = line.target.show(line.figure) if line.figure is not None else "–"
        scores = " / ".join(f"{score:.4f}" for score in line.scores) if line.scores else ""
        style = _STYLES[line.verdict]
        table.add_row(
            str(number),
            line.work,
            line.peer,
            *clock,
            f"[{style}]{figure}[/{style}]",
            str(line.target),
            scores,
            line.agreement,
            f"[{style}]{line.verdict}[/{style}]",
        )
    return table


def _clock(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{seconds * 1e3:.3g} ms"


if __name__ == "__main__":
    main()

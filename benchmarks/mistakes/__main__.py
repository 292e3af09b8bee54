"""Measure all streams, print the tables, and on request write docs/mistakes.md."""

from __future__ import annotations

import importlib.metadata
import platform
import re
from pathlib import Path

import click
from rich.console import Console

from benchmarks.mistakes import page, river_models, vowpal_wabbit
from benchmarks.mistakes.claims import check
from benchmarks.mistakes.files import STREAMS
from benchmarks.mistakes.generated import GENERATED
from benchmarks.mistakes.results import Result, measure

_ALL = (*STREAMS, *GENERATED)
_PAGE = Path(__file__).parents[2] / "docs" / "mistakes.md"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", multiple=True, type=click.Choice([stream.name for stream in _ALL]), help="Only this stream.")
@click.option("--refresh", is_flag=True, help="Run the peers again, even where it is known what they reach.")
@click.option("--write", is_flag=True, help="Write the tables to docs/mistakes.md instead of printing them.")
def main(only: tuple[str, ...], refresh: bool, write: bool) -> None:
    """Count the mistakes of novikoff and its peers in one pass over generated streams and those in $NOVIKOFF_DATA."""
    if write and only:
        raise click.UsageError("--write is for all streams; leave out --only.")
    progress = Console(stderr=True)
    results: list[Result] = []
    for stream in _ALL:
        if only and stream.name not in only:
            continue
        with progress.status(f"{stream.name} …"):
            result = measure(stream, refresh=refresh)
        if result is None:
            progress.print(f"{stream.name}: skipped, $NOVIKOFF_DATA has no {stream.file}")
        else:
            results.append(result)
    if not results:
        raise click.ClickException("Nothing was measured: set NOVIKOFF_DATA to a folder with the streams.")
    if absent := sorted({name for result in results for name, error in result.learners.items() if error is None}):
        progress.print(f"This version has no rule for: {', '.join(absent)}.")
    text = page.render(results, check(results), _header())
    if write:
        _PAGE.write_text(text, encoding="utf-8")
    else:
        print(text)


def _header() -> dict[str, str]:
    versions = {key: importlib.metadata.version(name) for key, name in (("vw", "vowpalwabbit"), ("river", "river"))}
    sizes = {"n_vw": str(len(vowpal_wabbit.SET_UPS)), "n_river": str(len(river_models.SET_UPS))}
    return {"machine": _machine(), **versions, **sizes}


def _machine() -> str:
    """The processor, by name where the system tells it."""
    try:
        found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), flags=re.MULTILINE)
    except OSError:
        found = None
    return re.sub(r"\((R|TM)\)", "", found[1]) if found else platform.machine()


if __name__ == "__main__":
    main()

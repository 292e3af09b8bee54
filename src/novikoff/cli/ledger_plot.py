"""Plots of the ledger that commands write to files."""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from novikoff.cli.options import require_writable

if TYPE_CHECKING:
    from novikoff.perceptron.ledger import Ledger

__all__ = ["draw_ledger", "require_drawable"]


def require_drawable(path: Path, ledger: Ledger) -> None:
    """Fail now rather than after hours of learning: render the ledger as it is, without writing a file."""
    from novikoff.formatting.extras import explain_missing

    if find_spec("matplotlib") is None:
        raise click.ClickException(explain_missing("--plot", "matplotlib", "plot"))
    require_writable(path)
    try:
        _render(path, ledger, "")
    except ValueError as error:  # of matplotlib, with the formats that it knows
        raise click.UsageError(f"--plot {path}: {error}") from error


def draw_ledger(path: Path, ledger: Ledger, title: str) -> None:
    """Write a plot of the proof of the mistake bound along the run, replacing the file atomically."""
    from novikoff.system.atomic_files import write_atomic

    write_atomic(path, _render(path, ledger, title))
    click.echo(f"Drawn in {path}.", err=True)


def _render(path: Path, ledger: Ledger, title: str) -> bytes:
    """The plot as the bytes of a file, in the format that the suffix names."""
    from novikoff.plots import LedgerDisplay

    figure, content = LedgerDisplay.from_ledger(ledger).figure_, io.BytesIO()
    figure.suptitle(title, parse_math=False)
    figure.savefig(content, format=path.suffix[1:].lower() or "png", dpi=150)
    return content.getvalue()

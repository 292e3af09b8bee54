"""Pictures that commands draw into files."""

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
    """Fail now rather than after hours of learning: draw the account as it is, into nothing."""
    if find_spec("matplotlib") is None:
        raise click.ClickException("--plot needs matplotlib: pip install 'novikoff[plot]'.")
    require_writable(path)
    try:
        _drawn(path, ledger, "")
    except ValueError as error:  # matplotlib's, and it lists the formats that it knows
        raise click.UsageError(f"--plot {path}: {error}") from error


def draw_ledger(path: Path, ledger: Ledger, title: str) -> None:
    """The proof of the mistake bound along the run, in a file that is replaced whole."""
    from novikoff.system.atomic_files import write_whole

    write_whole(path, _drawn(path, ledger, title))
    click.echo(f"Drawn in {path}.", err=True)


def _drawn(path: Path, ledger: Ledger, title: str) -> bytes:
    from novikoff.plots import LedgerDisplay

    figure, content = LedgerDisplay.from_ledger(ledger).figure_, io.BytesIO()
    figure.suptitle(title, parse_math=False)
    figure.savefig(content, format=path.suffix[1:].lower() or "png", dpi=150)
    return content.getvalue()

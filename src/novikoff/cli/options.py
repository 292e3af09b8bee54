"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

__all__ = ["reading", "reading_options"]

_OPTIONS = (
    click.option("--target", metavar="COLUMN",
                 help="Column of the labels, by name or number from 1.  [default: the last]"),
    click.option("--drop", metavar="COLUMN", multiple=True, help="Leave a column out. May be repeated."),
    click.option("--header/--no-header", default=None,
                 help="Does the first line name the columns?  [default: found out]"),
    click.option("--format", type=click.Choice(["csv", "svmlight"]), help="What the files hold.  [default: found out]"),
    click.option("--bad-rows", type=click.Choice(["stop", "skip"]), default="stop", show_default=True,
                 help="What to do with a row that cannot be read."),
)  # fmt: skip


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that say how to read its files."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def reading(options: dict[str, Any]) -> dict[str, Any]:
    """Those of them that were given, for `open_stream`."""
    return {name: value for name, value in options.items() if value not in (None, ())}

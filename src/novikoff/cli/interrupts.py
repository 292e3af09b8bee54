"""Ctrl-C during a command: it takes effect at the end of a block, and the exit code tells."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import Any

import click

__all__ = ["DeferredInterrupts", "Interrupted", "RecordingCommand", "without_options"]


class Interrupted(click.ClickException):
    """The command was interrupted, and has ended in order."""

    exit_code = 130  # what shells report for Ctrl-C


class RecordingCommand(click.Command):
    """A command that keeps its arguments, so that it can say with which ones to continue."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = list(args)
        return super().parse_args(ctx, args)

    @staticmethod
    def arguments() -> list[str]:
        """The arguments of the running command."""
        return list(click.get_current_context().meta[__name__])


def without_options(arguments: list[str], options: Iterable[str]) -> list[str]:
    """The arguments of a command without some of its options, which are given by their names in Python.

    >>> arguments = ["a.txt", "--hash-bits", "3", "--beam=2", "--no-scale", "-o", "m"]
    >>> without_options(arguments, ["hash_bits", "beam", "no_scale"])
    ['a.txt', '-o', 'm']
    """
    flags = {f"--{name.replace('_', '-')}" for name in options}
    kept, arguments = [], list(arguments)
    while arguments:
        argument = arguments.pop(0)
        if argument.partition("=")[0] not in flags:
            kept.append(argument)
        elif "=" not in argument and not argument.startswith("--no-"):
            arguments.pop(0)  # its value
    return kept


class DeferredInterrupts:
    """Defers SIGINT (Ctrl-C) and SIGTERM to the end of a block, so that no block is learned in part.

    Enter it once around all blocks, and again around each block. A signal within a block raises KeyboardInterrupt at
    its end; a signal between two blocks raises it at once.
    """

    def __init__(self) -> None:
        self._depth, self._is_pending = 0, False

    def __enter__(self) -> DeferredInterrupts:
        if not self._depth:
            signals = (signal.SIGINT, signal.SIGTERM)
            self._handlers = {number: signal.signal(number, self._handle) for number in signals}
        self._depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        self._depth -= 1
        if not self._depth:
            for number, handler in self._handlers.items():
                signal.signal(number, handler)
        elif self._is_pending and error[0] is None:  # an error says more
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: Any) -> None:
        if self._depth < 2:
            raise KeyboardInterrupt
        self._is_pending = True

"""Ctrl-C during a command: what every command says about it, and how it is deferred to the end of a block.

A command that Ctrl-C ends prints one message on the standard error, "Stopped." and what became of its output, and exits
with 130. An output file is complete or as it was: see `novikoff.system.atomic_files`.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any

import click

from novikoff.system.interrupts import is_interrupt

__all__ = [
    "DeferredInterrupts",
    "InterruptRecorder",
    "Interrupted",
    "InterruptibleCommand",
    "RecordingCommand",
    "without_options",
]

_OUTPUTS = ("output", "plot", "rejects")  # parameters that name a file to write; -o is another name of the first


class Interrupted(click.ClickException):
    """The command was interrupted, and has ended in order. The message begins with "Stopped."."""

    exit_code = 130  # what shells report for Ctrl-C

    def show(self, file: IO[Any] | None = None) -> None:
        """Print the message, on a terminal below the line on which it shows ^C."""
        stream = sys.stderr if file is None else file
        if stream.isatty():
            click.echo(file=stream)
        click.echo(self.format_message(), file=stream)


class InterruptibleCommand(click.Command):
    """A command that says after Ctrl-C which of its output files were written."""

    def invoke(self, ctx: click.Context) -> Any:
        paths = [ctx.params.get(param.name or "") for param in self.params if _is_output(param)]
        before = {str(path): _identify(path) for path in paths if path is not None and str(path) != "-"}
        try:
            return super().invoke(ctx)
        except (KeyboardInterrupt, RuntimeError) as error:
            if not is_interrupt(error):
                raise
            raise Interrupted(f"Stopped. {_describe_outputs(before)}") from None


def _is_output(param: click.Parameter) -> bool:
    return param.name in _OUTPUTS or "-o" in param.opts


def _identify(path: Path | str) -> tuple[int, ...] | None:
    """Return what changes when a file is replaced or written to; None if it does not exist."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _describe_outputs(before: dict[str, tuple[int, ...] | None]) -> str:
    """Return a sentence for each output file: whether it was written since."""
    sentences = []
    for path, was in before.items():
        now = _identify(path)
        state = "was not written" if now is None else "is as it was" if now == was else "was written"
        sentences.append(f"{path} {state}.")
    return " ".join(sentences) or "No file was written."


class InterruptRecorder:
    """Records whether Ctrl-C came within a block whose code catches the KeyboardInterrupt and returns what it has.

    Attributes
    ----------
    is_interrupted : bool
    """

    def __init__(self) -> None:
        self.is_interrupted = False

    def __enter__(self) -> InterruptRecorder:
        self._handler = signal.signal(signal.SIGINT, self._handle)
        return self

    def __exit__(self, *error: object) -> None:
        signal.signal(signal.SIGINT, self._handler)

    def _handle(self, number: int, frame: Any) -> None:
        self.is_interrupted = True
        raise KeyboardInterrupt


class RecordingCommand(InterruptibleCommand):
    """A command that keeps its arguments, so that it can say with which ones to continue."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = list(args)
        return super().parse_args(ctx, args)

    @staticmethod
    def arguments() -> list[str]:
        """The arguments of the running command."""
        return list(click.get_current_context().meta[__name__])


_FLAGS = ("--hats", "--plain-numbers")  # options without a value, besides those that begin with --no-


def without_options(arguments: list[str], options: Iterable[str]) -> list[str]:
    """The arguments of a command without some of its options, which are given by their names in Python.

    >>> arguments = ["--hats", "a.txt", "--hash-bits", "3", "--beam=2", "--no-scale", "-o", "m"]
    >>> without_options(arguments, ["hash_bits", "beam", "no_scale", "hats"])
    ['a.txt', '-o', 'm']
    """
    flags = {f"--{name.replace('_', '-')}" for name in options}
    kept, arguments = [], list(arguments)
    while arguments:
        argument = arguments.pop(0)
        if argument.partition("=")[0] not in flags:
            kept.append(argument)
        elif "=" not in argument and argument not in _FLAGS and not argument.startswith("--no-"):
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

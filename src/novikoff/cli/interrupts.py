"""Ctrl-C without loss: it waits for the end of a block, and the exit code says what happened."""

from __future__ import annotations

import signal
from collections.abc import Iterable
from typing import Any

import click

__all__ = ["Interrupted", "InterruptedBetween", "Remembering", "without"]


class Interrupted(click.ClickException):
    """It was asked to end, and has."""

    exit_code = 130  # as a shell says it of Ctrl-C


class Remembering(click.Command):
    """Keeps the words it was called with, to say how to go on."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[__name__] = list(args)
        return super().parse_args(ctx, args)

    @staticmethod
    def words() -> list[str]:
        """Those of the command that is running."""
        return list(click.get_current_context().meta[__name__])


def without(words: list[str], options: Iterable[str]) -> list[str]:
    """The words of a command without some of its options, given by the names that Python has for them.

    >>> without(["a.txt", "--hash-bits", "3", "--beam=2", "--no-scale", "-o", "m"], ["hash_bits", "beam", "no_scale"])
    ['a.txt', '-o', 'm']
    """
    flags = {f"--{name.replace('_', '-')}" for name in options}
    kept, words = [], list(words)
    while words:
        word = words.pop(0)
        if word.partition("=")[0] not in flags:
            kept.append(word)
        elif "=" not in word and not word.startswith("--no-"):
            words.pop(0)  # its value
    return kept


class InterruptedBetween:
    """Within it Ctrl-C, or a scheduler's request to end, waits for the end of a block, so that no half of one is
    learned: `with` it once around all, and again around each block."""

    def __init__(self) -> None:
        self.depth, self.is_asked = 0, False

    def __enter__(self) -> InterruptedBetween:
        if not self.depth:
            self.before = {number: signal.signal(number, self._ask) for number in (signal.SIGINT, signal.SIGTERM)}
        self.depth += 1
        return self

    def __exit__(self, *error: object) -> None:
        self.depth -= 1
        if not self.depth:
            for number, before in self.before.items():
                signal.signal(number, before)
        elif self.is_asked and error[0] is None:  # an error says more
            raise KeyboardInterrupt

    def _ask(self, number: int, frame: Any) -> None:
        if self.depth < 2:
            raise KeyboardInterrupt
        self.is_asked = True

"""Parts of messages: a count with its noun, the first few of many names."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["counted", "quoted_list"]


def quoted_list(names: Sequence[str], shown: int = 10) -> str:
    """The first few, in quotes, and how many more there are."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(map(repr, names[:shown])) + more


def counted(count: int, noun: str) -> str:
    """A count and its noun."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

"""Parts of messages: a count with its noun, a list of names."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["pluralize", "quoted_list"]


def quoted_list(names: Sequence[str], limit: int = 10) -> str:
    """Return the first names in quotes, and how many more there are."""
    more = f" and {len(names) - limit:,} more" if len(names) > limit else ""
    return ", ".join(map(repr, names[:limit])) + more


def pluralize(count: int, noun: str) -> str:
    """Return a count and its noun, in the plural unless the count is 1."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"

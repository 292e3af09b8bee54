"""How results show themselves: a title and lines of name and value, as text and as a table for notebooks."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod

__all__ = ["Readable"]


class Readable(ABC):
    """Something that says in `_title` what it is and in `_lines` what there is to know."""

    def _title(self) -> str:
        return type(self).__name__

    @abstractmethod
    def _lines(self) -> list[tuple[str, str]]:
        """Names and values."""

    def __repr__(self) -> str:
        lines = self._lines()
        width = max(14, *(len(name) for name, _ in lines)) if lines else 0
        return "\n".join([self._title(), *(f"  {name:<{width}} {value}" for name, value in lines)])

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
            f"<td style='text-align:left'>{html.escape(value)}</td></tr>"
            for name, value in self._lines()
        )
        return f"<table><caption>{html.escape(self._title())}</caption>{cells}</table>"

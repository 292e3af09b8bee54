"""SummaryMixin: a repr with a title and lines of name and value, as text and as HTML."""

from __future__ import annotations

import html
from abc import ABC, abstractmethod

__all__ = ["SummaryMixin"]


class SummaryMixin(ABC):
    """Gives a class a summary as its repr and, in notebooks, as a table; a subclass defines `_lines`."""

    def _title(self) -> str:
        return type(self).__name__

    @abstractmethod
    def _lines(self) -> list[tuple[str, str]]:
        """Return names and values, in order."""

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

"""Files that the studio has been given."""

from __future__ import annotations

from typing import Any

__all__ = ["FileViews"]


class FileViews:
    """No files yet."""

    def __init__(self, file: Any = None, target: str | None = None) -> None:
        self.file, self.target = file, target

    def routes(self) -> list[Any]:
        """Return routes."""
        return []

    def __enter__(self) -> FileViews:
        return self

    def __exit__(self, *error: object) -> None:
        pass

"""The tree in CONTRIBUTING.md: every package and module with the first sentence of its docstring.

python -m tests.tree    write it anew, after a module was added, moved or described in other words
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "CONTRIBUTING.md"
SOURCE = ROOT / "src" / "novikoff"
_BEGIN, _END = "<!-- tree -->\n", "<!-- end of tree -->\n"


def tree() -> str:
    """The tree of the package as indented lines."""
    lines = ["src/novikoff/", *_below(SOURCE, "  ")]
    return "\n".join(f"    {line}".rstrip() for line in lines) + "\n"


def _below(folder: Path, indent: str) -> list[str]:
    modules = sorted(path for path in folder.glob("*.py") if path.name != "__init__.py")
    lines = [f"{indent}{path.name:<24} {_summary(path)}" for path in modules]
    for path in sorted(each for each in folder.iterdir() if (each / "__init__.py").exists()):
        lines += [f"{indent}{path.name + '/':<24} {_summary(path / '__init__.py')}", *_below(path, indent + "  ")]
    return lines


def _summary(path: Path) -> str:
    """The first sentence of a docstring, on one line."""
    text = " ".join((ast.get_docstring(ast.parse(path.read_text())) or "").split("\n\n")[0].split())
    sentence = re.match(r".*?[.?!](?=\s|$)", text)
    return sentence[0].rstrip(".") if sentence else text


def write() -> None:
    """Replace the tree in the page."""
    text = PAGE.read_text()
    begin, end = text.index(_BEGIN) + len(_BEGIN), text.index(_END)
    PAGE.write_text(f"{text[:begin]}\n{tree()}\n{text[end:]}")


if __name__ == "__main__":
    write()

"""The examples of a page, run as a reader would type them, and compared with what the page says they print.

    python -P tests/docs/examples.py README.md    in an empty folder, with the novikoff of that Python

Uses nothing but the standard library and novikoff with its dependencies, so that it also runs where only a wheel is
installed.
"""

from __future__ import annotations

import contextlib
import difflib
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path


def read_blocks(page: Path) -> list[tuple[str, str]]:
    """The python and text blocks of a page; a text block is what the python block before it prints."""
    return re.findall(r"```(python|text)\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)


def run_python(page: Path) -> tuple[int, int]:
    """Run the python blocks of a page in order; return how many there were, and how many outputs were as printed."""
    names: dict[str, object] = {}
    printed, ran, compared = "", 0, 0
    for language, text in read_blocks(page):
        if language == "text":
            _compare(text, printed, page)
            compared += 1
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(text, names)
        printed, ran = output.getvalue(), ran + 1
    return ran, compared


def _compare(expected: str, printed: str, page: Path) -> None:
    # Which rows prove inseparability may depend on how the processor rounds; that some do does not.
    pair = [re.sub(r"\d+ rows prove it", "some rows prove it", text) for text in (expected, printed)]
    if pair[0] != pair[1]:
        lines = difflib.unified_diff(*(text.splitlines(keepends=True) for text in pair), str(page), "printed")
        raise AssertionError(f"An example of {page} prints something else:\n{''.join(lines)}")


def read_commands(page: Path) -> list[str]:
    """The indented lines of a page that call the novikoff command."""
    return re.findall(r"^ {4}((?:.*\| )?novikoff .*)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)


def run_commands(page: Path) -> int:
    """Run the shell commands of a page in order on small files of the names they read; return how many there were.

    Each must end with exit code 0 and print something; `predict` prints a line for each row.
    """
    _write_files()
    commands = read_commands(page)
    search = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    for command in commands:
        ending = command.replace("tail -f ", "cat ")  # tail -f would wait for more rows
        run = subprocess.run(["bash", "-c", ending], capture_output=True, text=True, env={**os.environ, "PATH": search})
        said = f"{run.stdout}{run.stderr}"
        if run.returncode != 0:
            raise AssertionError(f"{page}: {command}\nends with exit code {run.returncode}:\n{said}")
        if not said or (" predict " in command and len(run.stdout.splitlines()) != len(_ROWS)):
            raise AssertionError(f"{page}: {command}\nprints something else:\n{said}")
    return len(commands)


_ROWS = [
    {"length": 12 + 5 * number % 7, "links": number % 3, "sender": "shop" if number % 3 == 2 else "friend"}
    for number in range(30)
]
_LABELS = ["yes" if row["links"] == 2 else "no" for row in _ROWS]


def _write_files() -> None:
    """Write the files that the commands of the pages read: the same thirty rows in several formats."""
    from pyarrow import Table, parquet  # type: ignore[import-untyped, unused-ignore]

    rows = [{**row, "is_spam": label} for row, label in zip(_ROWS, _LABELS, strict=True)]
    table = "".join(",".join(map(str, cells)) + "\n" for cells in [rows[0], *(row.values() for row in rows)])
    for name in ("train.csv", "test.csv", "mail.csv"):
        Path(name).write_text(table)
    Path("log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in _ROWS))
    parquet.write_table(Table.from_pylist(rows), "more.parquet")


def main(pages: list[str]) -> None:
    """Run the examples of pages in the current folder, and print what ran."""
    for page in map(Path, pages):
        ran, compared = run_python(page)
        commands = run_commands(page)
        print(f"{page.name}: {ran} Python examples, {compared} outputs as printed, {commands} shell commands")


if __name__ == "__main__":
    main(sys.argv[1:])

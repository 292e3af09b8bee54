"""docs/tagging.md: the output of its examples, and the completeness of its tables."""

import contextlib
import inspect
import io
import re
from pathlib import Path

import novikoff as nk
from novikoff.structured.attributes import NAMES

PAGE = (Path(__file__).parents[2] / "docs" / "tagging.md").read_text(encoding="utf-8")


def test_example_output():
    names, printed = {}, ""
    for language, text in re.findall(r"```(python|text)\n(.*?)```", PAGE, flags=re.DOTALL)[1:]:
        if language == "text":
            assert printed == text
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(text, names)
        printed = output.getvalue()


def test_tables_are_complete():
    plain = [name for name in NAMES if not name.startswith(("suffix", "prefix", "…"))]
    assert [name for name in plain if f"`{name}[0]`" not in PAGE] == []
    options = set(inspect.signature(nk.SequenceTagger).parameters) - {
        "templates",
        "columns",
        "random_state",
        "attributes",
    }
    assert [name for name in options if f"| `{name}=" not in PAGE] == []

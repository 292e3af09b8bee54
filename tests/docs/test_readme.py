"""The README's examples, run in order as printed there; a ```text block is what the one before it prints."""

import contextlib
import io
import re
from pathlib import Path

README = Path(__file__).parents[1].parent / "README.md"


def blocks():
    return re.findall(r"```(python|text)\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL)


def comparable(printed):
    """Which rows prove that there is no separator may depend on how the processor rounds; that some do does not."""
    return re.sub(r"\d+ rows prove it", "some rows prove it", printed)


def test_readme_examples_print_what_it_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of them write files
    names, printed, shown = {}, "", 0
    for language, text in blocks():
        if language == "text":
            assert comparable(printed) == comparable(text)
            shown += 1
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(text, names)
        printed = output.getvalue()
    assert shown >= 4

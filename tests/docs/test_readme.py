"""The examples of README.md and docs/python.md run in order and print what the pages say."""

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1].parent


def blocks(page):
    """The python and text blocks of a page; a text block is what the python block before it prints."""
    return re.findall(r"```(python|text)\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), flags=re.DOTALL)


def comparable(printed):
    """Which rows prove inseparability may depend on how the processor rounds; that some do does not."""
    return re.sub(r"\d+ rows prove it", "some rows prove it", printed)


@pytest.mark.parametrize(("page", "n_outputs"), [("README.md", 5), ("docs/python.md", 8)])
def test_examples_print_what_the_page_says(page, n_outputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of them write files
    names, printed, compared = {}, "", 0
    for language, text in blocks(page):
        if language == "text":
            assert comparable(printed) == comparable(text)
            compared += 1
            continue
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            exec(text, names)
        printed = output.getvalue()
    assert compared >= n_outputs


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []

"""The examples of README.md and docs/python.md run in order and print what the pages say."""

import re
from pathlib import Path

import pytest

from tests.docs import examples

ROOT = Path(__file__).parents[1].parent


@pytest.mark.parametrize(("page", "n_outputs"), [("README.md", 5), ("docs/python.md", 8)])
def test_examples_print_what_the_page_says(page, n_outputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of them write files
    ran, compared = examples.run_python(ROOT / page)
    assert ran >= compared >= n_outputs


def test_commands_of_the_readme(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert examples.run_commands(ROOT / "README.md") >= 4


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ("```python\nprint(2)\n```\n\n```text\n3\n```\n", r"prints something else:\n.*-3\n\+2\n"),
        ("    novikoff learn nowhere.csv -o m.nk\n", r"-o m.nk\nends with exit code 1:\n.*nowhere.csv"),
        ("    cat log.jsonl | novikoff --version | novikoff --version # predict \n", "prints something else"),
    ],
)
def test_an_example_that_differs_is_an_error(example, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    page = tmp_path / "page.md"
    page.write_text(example)
    with pytest.raises(AssertionError, match=f"(?s){message}"):
        examples.main([page])


@pytest.mark.parametrize("page", ["README.md", *(f"docs/{path.name}" for path in (ROOT / "docs").glob("*.md"))])
def test_links_lead_to_files(page):
    links = re.findall(r"\]\(([^)#:]+)\)", (ROOT / page).read_text(encoding="utf-8"))
    assert [link for link in links if not ((ROOT / page).parent / link).exists()] == []

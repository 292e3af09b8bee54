"""Messages about missing packages: the command they print installs the extra from where novikoff came from."""

import json
import re
import shlex
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import novikoff as nk
from novikoff.formatting import extras

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]


@pytest.fixture
def came_from(monkeypatch):
    """A function that makes pip's note say where novikoff came from; None for an installation without a note."""

    class Installed:
        def read_text(self, name):
            return self.notes.get(name)

    def note(origin):
        found = Installed()
        found.notes = {} if origin is None else {"direct_url.json": json.dumps(origin)}
        monkeypatch.setattr(metadata, "distribution", lambda name: found)

    monkeypatch.setattr(extras, "_pip", lambda: "pip")
    return note


def last_argument():
    return shlex.split(extras.explain_missing("--plot", "matplotlib", "plot"))[-1]


def test_a_clone_is_named(came_from, tmp_path):
    came_from({"url": tmp_path.as_uri(), "dir_info": {}})
    message = extras.explain_missing("--plot", "matplotlib", "plot")
    assert message == f'--plot needs matplotlib. Install the extra "plot": pip install "{tmp_path}[plot]"'


def test_an_editable_install_stays_editable(came_from, tmp_path):
    came_from({"url": tmp_path.as_uri(), "dir_info": {"editable": True}})
    assert extras.suggest_install("onnx") == f': pip install --editable "{tmp_path}[onnx]"'


@pytest.mark.parametrize("folder", ["with blanks", "Übung", "it's", 'a "quote"', "cost$HOME", "100%20"])
def test_paths_are_quoted_for_the_shell(came_from, tmp_path, folder):
    wheel = tmp_path / folder / "novikoff-0.1.0-py3-none-any.whl"
    wheel.parent.mkdir()
    wheel.touch()
    came_from({"url": wheel.as_uri(), "archive_info": {}})
    assert last_argument() == f"{wheel}[plot]"


def test_addresses_are_named(came_from):
    came_from({"url": "https://example.org/novikoff.git", "vcs_info": {"vcs": "git", "commit_id": "0" * 40}})
    assert last_argument() == "novikoff[plot] @ git+https://example.org/novikoff.git"
    came_from({"url": "https://example.org/novikoff-1.0-py3-none-any.whl", "archive_info": {}})
    assert last_argument() == "novikoff[plot] @ https://example.org/novikoff-1.0-py3-none-any.whl"


@pytest.mark.parametrize("origin", [None, {"url": "file:///nowhere/at/all", "dir_info": {}}])
def test_both_ways_are_named_where_the_origin_is_unknown(came_from, origin):
    came_from(origin)
    wheel = f"novikoff-{nk.__version__}-py3-none-any.whl"
    assert extras.suggest_install("plot") == (
        f'. From a clone: pip install ".[plot]"; from a wheel: pip install "{wheel}[plot]"'
    )


def test_sources_that_are_not_installed(monkeypatch):
    def fail(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "distribution", fail)
    assert 'From a clone: pip install ".[plot]"' in extras.explain_missing("--plot", "matplotlib", "plot")


def test_pip_of_this_python(monkeypatch, tmp_path):
    """Another pip on the path would install into another environment."""
    here = Path(sys.executable).parent
    monkeypatch.setattr("shutil.which", lambda name: str(here / "pip"))
    assert extras._pip() == "pip"
    monkeypatch.setattr("shutil.which", lambda name: str(tmp_path / "pip"))
    monkeypatch.chdir(tmp_path)
    assert shlex.split(extras._pip()) == [sys.executable, "-m", "pip"]
    monkeypatch.chdir(here.parent)
    assert extras._pip() == f"{here.name}/{Path(sys.executable).name} -m pip"


PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
SOURCES = [path for folder in ("src", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")]


@pytest.mark.parametrize("path", [*PAGES, *SOURCES], ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_that_install_extras_work(path):
    """None asks an index for novikoff, and each names an extra that there is, and a wheel of this version."""
    text = path.read_text(encoding="utf-8")
    if path.name != "extras.py":
        assert "novikoff[" not in text, "say explain_missing(...), or name a clone or wheel"
    named = re.findall(r"(?:\"\.|\.whl)\[([\w,]+)\]", text)
    assert {name for names in named for name in names.split(",")} <= set(EXTRAS)
    if path.suffix == ".md":
        assert set(re.findall(r"novikoff-([\d.]+)-py3", text)) <= {nk.__version__}

"""The pages under docs/ are current, and --help is cheap to print."""

import subprocess
import sys
from pathlib import Path

import pytest

from novikoff.cli import main
from novikoff.cli.options import DATES, FORMATS, KINDS
from novikoff.cli.reference import reference

ROOT = Path(__file__).parents[1].parent
HEAVY = "numba", "numpy", "scipy", "sklearn", "rich", "matplotlib"


def test_the_command_line_reference_is_current():
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert page == reference(), "Renew it: python -m novikoff.cli.reference > docs/cli.md"


def test_the_reference_does_not_depend_on_the_terminal():
    command = [sys.executable, "-m", "novikoff.cli.reference"]
    environment = {"COLUMNS": "40", "PYTHONIOENCODING": "utf-8", "PATH": ""}
    printed = subprocess.run(command, capture_output=True, check=True, env=environment, cwd=ROOT / "src").stdout
    assert printed.decode() == reference(), "it depends on the terminal"


def test_the_reference_has_every_command_and_option():
    page = reference()
    for name, command in main.commands.items():
        section = page.split(f"## novikoff {name}\n")[1].split("\n## ")[0]
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else [parameter.name.upper()]:
                assert option in section


def test_the_readme_links_to_the_reference():
    assert "(docs/cli.md)" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", sorted(main.commands))
def test_help_loads_no_large_package(command):
    code = f"""
import sys
from novikoff.cli import main
try: main([{command!r}, "--help"])
except SystemExit: pass
sys.exit([name for name in {HEAVY!r} if name in sys.modules] or 0)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    assert "Usage: " in run.stdout


def test_copies_of_choices_agree():
    """cli/options.py repeats them, since the readers load too much for --help."""
    from novikoff.data.formats import column_kinds, columns, opening

    assert FORMATS == opening.FORMATS
    assert KINDS == columns.KINDS
    assert DATES == column_kinds.DATE_OPTIONS

"""pyproject.toml and the two files of constraints agree with each other."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = SETTINGS["project"]
EXTRAS = PROJECT["optional-dependencies"]
FOR_USERS = {name: needs for name, needs in EXTRAS.items() if name not in ("bench", "dev")}


def read_pins(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return dict(line.lower().split("==") for line in lines if not line.startswith("#"))


def split(requirement):
    """The name of a requirement, and its lower bound or None."""
    name = re.match(r"[\w-]+", requirement)[0].lower()
    bound = re.search(r">=([\d.]+)", requirement)
    return name, bound and bound[1]


@pytest.mark.parametrize("requirement", [*PROJECT["dependencies"], *chain(*FOR_USERS.values())])
def test_lower_bounds_are_the_versions_that_are_tested(requirement):
    name, bound = split(requirement)
    oldest = read_pins("constraints-oldest.txt")[name]
    assert oldest == bound or oldest.startswith(f"{bound}.")


@pytest.mark.parametrize(
    "requirement", [*PROJECT["dependencies"], *chain(*EXTRAS.values()), *SETTINGS["build-system"]["requires"]]
)
def test_everything_that_make_installs_is_pinned(requirement):
    assert split(requirement)[0] in read_pins("constraints.txt")


def test_each_lower_bound_has_a_reason():
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    for requirement in (*PROJECT["dependencies"], *chain(*FOR_USERS.values())):
        assert re.search(rf'"{re.escape(requirement)}"\]?,?  # \w', text), requirement

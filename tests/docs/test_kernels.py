"""The examples of docs/kernels.md run, and certify --kernel agrees with them."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import make_circles

from novikoff.cli import main

DOCS = Path(__file__).parents[1].parent / "docs" / "kernels.md"


def test_the_examples_run():
    names = {}
    blocks = re.findall(r"```python\n(.*?)```", DOCS.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= 4
    for block in blocks:
        exec(block, names)


@pytest.fixture
def circles(tmp_path):
    X, y = make_circles(30, noise=0.02, factor=0.5, random_state=0)
    path = tmp_path / "circles.csv"
    np.savetxt(
        path, np.column_stack([X, y]), delimiter=",", header="a,b,inside", comments="", fmt=["%.4f", "%.4f", "%d"]
    )
    return str(path)


def test_the_command_prints_verdicts(circles):
    found = CliRunner().invoke(main, ["certify", circles, "--kernel", "poly", "--degree", "2", "--gamma", "1"])
    assert found.exit_code == 0, found.output
    words = " ".join(found.output.split())
    assert "SEPARABLE. One rule with the kernel K(x, z) = (<x, z> + 1)^2 gets all 30 rows right." in words
    assert "checked again in exact arithmetic" in words
    found = CliRunner().invoke(main, ["certify", circles, "--kernel", "poly", "--degree", "1", "--exit-code"])
    assert found.exit_code == 3
    assert "NOT SEPARABLE" in found.output


def test_the_command_prints_json(circles, tmp_path):
    picture = tmp_path / "circles.png"
    given = ["certify", circles, "--kernel", "rbf", "--gamma", "2", "--json", "--plot", str(picture)]
    found = CliRunner().invoke(main, given)
    assert found.exit_code == 0, found.output
    proof = json.loads(found.stdout)
    assert (proof["verdict"], proof["verified"], proof["kernel"]["name"]) == ("separable", True, "rbf")
    rows = np.loadtxt(circles, delimiter=",", skiprows=1)
    X, signs = rows[:, :2], 2 * rows[:, 2] - 1
    K = np.exp(-2.0 * ((X[:, None] - X) ** 2).sum(axis=-1))
    alpha = np.zeros(30)
    for term in proof["separator"]:
        alpha[term["row"]] = term["weight"]
    assert (signs * (K @ alpha)).min() / np.sqrt(alpha @ K @ alpha) == pytest.approx(proof["margin_lower"])
    assert picture.stat().st_size > 10_000

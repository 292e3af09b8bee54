"""CONTRIBUTING.md, "Add a rule": its steps, followed in a copy of the repository; and what they rely on."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from novikoff import rules, stateful_rules
from novikoff._compiled import is_compiling
from novikoff._compiled.jit import files_behind
from novikoff._compiled.loops import additive, stateful_formulas
from novikoff.perceptron.find_engine import find_engine

ROOT = Path(__file__).parents[2]

# Learns with the new rule by name: in a compiled loop, one example at a time, and again after saving.
USE_THE_RULE = """
import math, sys
import numpy as np
import novikoff as nk

X = np.array([[3.0, 4.0], [4.0, 3.0], [-3.0, -4.0]])
y = np.array([1, -1, -1])
expected = [0.6 - 0.8, 0.8 - 0.6]  # mistakes on the first two rows, each of length 5; the third is correct
fitted = nk.Perceptron("normalized", fit_intercept=False, max_iter=1).partial_fit(X, y)
np.testing.assert_allclose(fitted.coef_[0], expected, rtol=1e-12)
single = nk.Perceptron("normalized", fit_intercept=False)
for x, label in zip(X, y):
    single.learn_one(x, int(label))
np.testing.assert_allclose(single.coef_[0], expected, rtol=1e-12)
fitted.save(sys.argv[1])
assert nk.load(sys.argv[1]).rule == "normalized"
assert math.isclose(fitted.ledger_.with_margin(0.5).mistake_bound, 100.0)
"""


def steps():
    """The steps of the section: the file that each names first, if any, and its diffs."""
    section = (ROOT / "CONTRIBUTING.md").read_text().split("\n## Add a rule\n")[1].split("\n## ")[0]
    for step in re.split(r"\n(?=\d\. )", section)[1:]:
        files = re.findall(r"`((?:src|tests)/[\w/]+\.py)`", step)
        diffs = re.findall(r"^   ```diff\n(.*?)^   ```$", step, re.MULTILINE | re.DOTALL)
        yield files[0] if files else None, [textwrap.dedent(diff) for diff in diffs]


def apply(diff, path):
    """Replace the lines of a diff without a plus by those without a minus; they must occur exactly once."""
    lines = diff.splitlines(keepends=True)
    old = "".join(line[1:] for line in lines if not line.startswith("+"))
    new = "".join(line[1:] for line in lines if not line.startswith("-"))
    text = path.read_text()
    assert text.count(old) == 1, f"{path.name} has {text.count(old)} times: {old}"
    path.write_text(text.replace(old, new))


def run(folder, *command):
    environment = {**os.environ, "PYTHONPATH": str(folder / "src")}
    done = subprocess.run([sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_steps_add_a_rule(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__", "files", "*.nk")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    n_diffs = 0
    for file, diffs in steps():
        for diff in diffs:
            apply(diff, tmp_path / file)
            n_diffs += 1
    assert n_diffs == 8
    run(tmp_path, "-c", USE_THE_RULE, str(tmp_path / "model.nk"))
    pytest_quietly = ("-m", "pytest", "-q", "-p", "no:cacheprovider")
    chosen = "normalized and binary and float64 and mistake"
    run(tmp_path, *pytest_quietly, "tests/perceptron/test_oracle.py", "-k", chosen)
    run(tmp_path, *pytest_quietly, "tests/perceptron/test_theorems.py", "--collect-only")


def test_rules_need_neither_numba_nor_scikit_learn():
    """A student can read and import rules.py alone; its formulas are compiled elsewhere."""
    code = "import sys, novikoff.rules; print(*{'numba', 'sklearn', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "\n"


@pytest.mark.parametrize("rule", list(map(rules.resolve, rules.NAMES)), ids=repr)
def test_every_named_rule_has_a_formula_that_loops_know(rule):
    if isinstance(rule, rules.StatefulRule):
        assert find_engine(rule) is not None
        assert tuple(stateful_formulas.ROUNDS_OF_KINDS) == stateful_rules.KINDS
    else:
        assert rule.formula[0] in rules.FORMULAS


@pytest.mark.skipif(not is_compiling, reason="nothing is compiled")
def test_loops_are_compiled_again_when_a_formula_changes():
    """numba itself checks only the file of a loop, so the loop must know that it depends on rules.py."""
    assert rules.__file__ in files_behind(additive.learn_binary.py_func)


@pytest.mark.skipif(not is_compiling, reason="nothing is compiled")
def test_loops_with_built_in_rules_come_from_the_disk():
    """A second process compiles nothing, although the formulas are functions of another file."""
    code = (
        "import novikoff as nk\nfrom novikoff._compiled.loops import additive\n"
        "nk.Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])\n"
        "print(sum(additive.learn_binary.stats.cache_misses.values()))"
    )
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "0\n"

"""examples/parser.py: the search equals enumeration of all trees, and the parser learns."""

import importlib.util
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

EXAMPLE = Path(__file__).parents[2] / "examples" / "parser.py"


@pytest.fixture(scope="module")
def parser():
    spec = importlib.util.spec_from_file_location("parser_example", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_projective_tree(heads):
    """Return whether every word descends from the root, and no two arcs cross."""
    arcs = [(min(h, m), max(h, m)) for m, h in enumerate(heads, 1)]
    for m in range(1, len(heads) + 1):
        seen = set()
        while m:
            if m in seen:
                return False
            seen.add(m)
            m = heads[m - 1]
    return not any(a < c < b < d for a, b in arcs for c, d in arcs)


@given(st.integers(1, 5), st.integers(0, 10_000))
@settings(max_examples=40)
def test_eisner_equals_enumeration(parser, n, seed):
    scores = np.random.default_rng(seed).integers(-9, 10, size=(n + 1, n + 1)).astype(float)
    found = parser.eisner(scores).tolist()
    trees = [heads for heads in product(range(n + 1), repeat=n) if is_projective_tree(heads)]

    def total(heads):
        return sum(scores[h, m] for m, h in enumerate(heads, 1))

    assert is_projective_tree(found)
    assert total(found) == max(map(total, trees))


def test_parser_learns(parser, tmp_path, capsys):
    rows = [("the", "DT", 2), ("dog", "NN", 3), ("sees", "VB", 0), ("a", "DT", 5), ("cat", "NN", 3)]
    tree = "".join(f"{k}\t{w}\t_\t_\t{t}\t_\t{h}\t_\t_\t_\n" for k, (w, t, h) in enumerate(rows, 1))
    (tmp_path / "x.conllu").write_text(f"{tree}\n{tree}")
    parser.main(str(tmp_path / "x.conllu"), str(tmp_path / "x.conllu"))
    passes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("pass ")]
    assert "UAS on test 100.00%" in passes[-1]

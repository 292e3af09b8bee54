"""Compiled code never reads out of bounds, whatever a sparse matrix holds; unusual but valid matrices are read."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nk
from tests.support.corrupt_matrices import CASES, DENSE, ENTRIES, ENTRIES_OF_ONE, LIES, ODD, Y

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def outcomes():
    """Return the outcome of every case, [kind, text]; ["begun", ""] for a case that ended the process."""
    found: dict[int, list[str]] = {}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    while len(found) < len(CASES):
        command = [sys.executable, "-m", "tests.support.corrupt_matrices", str(len(found))]
        child = subprocess.run(command, cwd=ROOT, env=environment, text=True, capture_output=True, check=False)
        lines = [json.loads(line) for line in child.stdout.splitlines() if line.startswith("[")]
        assert lines, child.stderr
        found |= {number: rest for number, *rest in lines}
    return {case: found[number] for number, case in enumerate(CASES)}


def is_refused(kind, text, expected):
    """Whether a case was refused. A wrong shape, for which `expected` is empty, other code may refuse as well."""
    return kind == "DataError" and re.search(expected, text) if expected else kind in ("DataError", "ValueError")


@pytest.mark.parametrize("entry", [*ENTRIES, *ENTRIES_OF_ONE])
def test_a_corrupt_matrix_is_refused(outcomes, entry):
    found = {lie: outcomes[entry, lie] for lie in LIES}
    assert {lie: outcome for lie, outcome in found.items() if not is_refused(*outcome, LIES[lie][1])} == {}


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_unusual_matrix_is_read_correctly(outcomes, entry):
    found = {odd: outcomes[entry, odd] for odd in ODD}
    assert found["csr"][0] == "answer"
    assert {odd: outcome for odd, outcome in found.items() if outcome != found["csr"]} == {}


def test_a_matrix_that_changes_after_fit_is_checked_again():
    X = sp.csr_array(DENSE)
    model = nk.Perceptron().fit(X, Y)
    X.indices[8] = 5
    with pytest.raises(nk.errors.DataError, match=r"row 2 .*index 5 at position 8"):
        model.predict(X)


def test_rows_kept_by_a_voted_perceptron_do_not_change_with_the_matrix():
    X = sp.csr_array(DENSE)
    model = nk.Perceptron(hypothesis="voted").fit(X, Y)
    before = model.decision_function(DENSE)
    X.indices[:] = 10**9
    X.data[:] = np.nan
    np.testing.assert_array_equal(model.decision_function(DENSE), before)


def test_one_example_may_be_sparse_in_any_format():
    one = DENSE[:1]
    expected = nk.Perceptron().learn_one(one[0], 1).learn_one(-one[0], 0)
    for make in (sp.csr_array, sp.csc_matrix, sp.coo_array, sp.dok_array, sp.dok_matrix, sp.lil_array, sp.dia_array):
        model = nk.Perceptron().learn_one(make(one), 1).learn_one(make(-one), 0)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        assert model.predict_one(make(one)) == expected.predict_one(one[0])


@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sortedness_is_read_from_the_indices(index):
    """Rows of all lengths, empty ones included, so that the check runs over several spans of indices."""
    rng = np.random.default_rng(7)
    sizes = np.append(rng.integers(0, 40, 600), [0, 9000, 0, 0, 3])
    indptr = np.concatenate([[0], np.cumsum(sizes)]).astype(index)
    indices = np.concatenate([np.sort(rng.choice(10_000, size, replace=False)) for size in sizes]).astype(index)
    values = rng.standard_normal(len(indices))
    for at in (None, *rng.integers(1, len(indices), 15)):
        changed = indices.copy()
        if at is not None and at not in indptr:
            changed[at - 1 : at + 1] = changed[at - 1 : at + 1][::-1]
        X = sp.csr_array((values, changed, indptr), shape=(len(sizes), 10_000))
        X.has_canonical_format = X.has_sorted_indices = True
        rows = nk.Rows.of(X)
        falls = np.diff(rows.indices.astype(np.int64)) <= 0
        starts = np.unique(rows.indptr[(rows.indptr > 0) & (rows.indptr < len(indices))]) - 1
        assert set(np.flatnonzero(falls)) <= set(starts.tolist())
        assert (rows.indices is X.indices or np.shares_memory(rows.indices, X.indices)) == (at is None or at in indptr)
        np.testing.assert_array_equal(rows.matrix.toarray(), _dense(values, changed, indptr, X.shape))


def _dense(values, indices, indptr, shape):
    found = np.zeros(shape)
    np.add.at(found, (np.repeat(np.arange(shape[0]), np.diff(indptr)), indices), values)
    return found

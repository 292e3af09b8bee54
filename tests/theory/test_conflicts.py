"""count_conflicts counts the same in dense and sparse rows, and as a literal count does."""

import numpy as np
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff.theory.conflicts import count_conflicts


@given(st.lists(st.tuples(st.sampled_from([0.0, -0.0, 1.0]), st.sampled_from([0.0, 2.0]), st.sampled_from([-1, 1]))))
def test_dense_and_sparse_rows_agree_with_a_literal_count(rows):
    X, signs = np.array([row[:2] for row in rows]).reshape(-1, 2), np.array([row[2] for row in rows], int)
    points = {tuple(x) for x in X.tolist()}
    tallies = [
        [sum(tuple(x) == p and s == sign for x, s in zip(X.tolist(), signs, strict=True)) for sign in (-1, 1)]
        for p in points
    ]
    expected = sum(all(tally) for tally in tallies), sum(min(tally) for tally in tallies)
    assert count_conflicts(X, signs) == count_conflicts(sp.csr_array(X), signs) == expected

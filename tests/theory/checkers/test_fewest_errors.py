"""The checker of fewest errors: proofs by cases agree with brute force over all subsets."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novikoff.errors import CertificateError
from novikoff.theory.checkers.fewest_errors import check_fewest_errors


def test_cases_prove_what_shares_cannot():
    """Sets of every three of five points: shares sum to 5/3 and prove 2, cases prove 3."""
    signs = np.ones(5, np.int64)
    X = np.eye(5)
    triples = [np.array(rows) for rows in itertools.combinations(range(5), 3)]
    shares = [Fraction(1, 6)] * len(triples)
    check_fewest_errors(X, signs, triples, shares, 3, 0.0)
    with pytest.raises(CertificateError, match="do not prove"):
        check_fewest_errors(X, signs, triples, shares, 4, 0.0)
    with pytest.raises(CertificateError, match="do not prove"):
        check_fewest_errors(X, signs, triples[1:], shares[1:], 3, 0.0)


@given(st.data())
@settings(max_examples=100)
def test_cases_agree_with_all_subsets(data):
    """Random sets over few points, some of them with copies, some of one or two points."""
    copies = data.draw(st.lists(st.integers(1, 3), min_size=2, max_size=6))
    X = np.repeat(np.eye(len(copies)), copies, axis=0)
    starts = np.cumsum([0, *copies[:-1]])
    sets = data.draw(st.lists(st.sets(st.integers(0, len(copies) - 1), min_size=1, max_size=4), min_size=1, max_size=8))
    truth = min(
        sum(copies[point] for point in chosen)
        for size in range(len(copies) + 1)
        for chosen in itertools.combinations(range(len(copies)), size)
        if all(one & set(chosen) for one in sets)
    )
    rows = [starts[sorted(one)] for one in sets]
    signs, nothing = np.ones(len(X), np.int64), [Fraction(0)] * len(sets)
    check_fewest_errors(X, signs, rows, nothing, truth, 0.0)
    with pytest.raises(CertificateError):
        check_fewest_errors(X, signs, rows, nothing, truth + 1, 0.0)

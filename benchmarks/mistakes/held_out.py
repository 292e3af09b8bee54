"""The error on held-out rows after one pass of `nk.learn`, beside that of scikit-learn's LogisticRegression."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

import novikoff as nk
from benchmarks.mistakes.features import Examples, examples_of
from novikoff.data.formats.block import Block

__all__ = ["errors"]

_SPLITS = 5


def errors(block: Block) -> tuple[float, float]:
    """The share of wrong predictions on a fifth of the rows, chosen at random, after learning from the others: ours,
    and that of LogisticRegression on standardised numbers and one-hot categories. The mean over five splits."""
    examples = examples_of(block, "raw")
    ours, theirs = [], []
    for seed in range(_SPLITS):
        order = np.random.default_rng(seed).permutation(len(block))
        n_test = len(block) // 5
        test, train = order[:n_test], order[n_test:]
        model = nk.learn([block[train]])
        ours.append(float((model.predict(block[test]) != block[test].labels).mean()))
        theirs.append(_of_logistic_regression(examples, train, test))
    return float(np.mean(ours)), float(np.mean(theirs))


def _of_logistic_regression(examples: Examples, train: np.ndarray, test: np.ndarray) -> float:
    others = np.setdiff1d(np.arange(examples.X.shape[1]), examples.numbers)
    columns = sp.csc_array(examples.X)
    numbers, rest = columns[:, examples.numbers].toarray(), sp.csr_array(columns[:, others])
    scaler = StandardScaler().fit(numbers[train])
    X = sp.csr_array(sp.hstack([scaler.transform(numbers), rest]))
    model = LogisticRegression(max_iter=2_000).fit(X[train], examples.y[train])
    return float((model.predict(X[test]) != examples.y[test]).mean())

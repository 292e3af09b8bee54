"""Corrupt sparse matrices, whose arrays do not fit together, and all public functions that take a matrix.

`python -m tests.support.corrupt_matrices FIRST` puts every lie to every entry point from case FIRST on, and prints one
line of JSON after each. Compiled code that believed one would write out of its memory, so tests read these lines
instead of doing it in their own process.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import json
import sys
import warnings
from functools import cache

import numpy as np
import scipy.sparse as sp

import novikoff as nk

DENSE = np.array(
    [[1, 2, 0, 3, 1], [0, 1, 1, 0, 2], [2, 0, 1, 1, 1], [-1, -2, 0, -3, 1], [0, -1, -1, 2, 0], [-2, 1, -1, -1, 3]],
    float,
)
Y = np.array([1, 1, 1, 0, 0, 0])


def _with(make, **arrays):
    """Return a function that builds a matrix and replaces attributes afterwards, when SciPy has cached its flags."""

    def lie():
        X = make(DENSE)
        getattr(X, "has_canonical_format", None)  # which SciPy keeps
        for name, change in arrays.items():
            setattr(X, name, change(getattr(X, name)))
        return X

    return lie


def _put(at, value):
    def change(values):
        values = values.copy()
        values[at] = value
        return values

    return change


def _lil(change):
    def lie():
        X = sp.lil_array(DENSE)
        change(X)
        return X

    return lie


def _dok():
    X = sp.dok_array(DENSE)
    X._dict[(2, 5)] = 1.0
    return X


def _bsr(X):
    return sp.bsr_array(X, blocksize=(2, 1))


def _dia(X):
    return sp.dia_array(X)


# Position 8 of indices is in the middle of row 2 (CSR) and in column 1 (CSC).
LIES = {
    "csr index far": (_with(sp.csr_array, indices=_put(8, 10**9)), r"row 2 .*1000000000 at position 8"),
    "csr index of the first column beyond": (
        _with(sp.csr_matrix, indices=_put(8, 5)),
        r"row 2 .*index 5 at position 8",
    ),
    "csr index negative": (_with(sp.csr_array, indices=_put(8, -1)), r"row 2 .*index -1 at position 8"),
    "csr int64 index": (
        _with(sp.csr_array, indices=lambda i: _put(8, 2**40)(i.astype(np.int64))),
        r"row 2 .*1099511627776 at position 8",
    ),
    "csr uint64 index": (
        _with(sp.csr_array, indices=lambda i: _put(8, 2**64 - 1)(i.astype(np.uint64))),
        r"18446744073709551615 at position 8",
    ),
    "csr indptr short": (_with(sp.csr_array, indptr=lambda p: p[:-2]), r"indptr has length 5, and 6 rows need 7"),
    "csr indptr empty": (_with(sp.csr_array, indptr=lambda p: p[:0]), r"indptr has length 0"),
    "csr indices short": (_with(sp.csr_array, indices=lambda i: i[:-3]), r"row 5 ends at position 23 of 20 indices"),
    "csr data short": (_with(sp.csr_array, data=lambda v: v[:-3]), r"length 23 or more.*\(20,\)"),
    "csr indptr falls": (_with(sp.csr_array, indptr=_put(2, 3)), r"row 1 begins at position 4 and ends at 3"),
    "csr indptr begins late": (_with(sp.csr_array, indptr=_put(0, 1)), r"row 0 begins at position 1"),
    "csr indptr ends late": (_with(sp.csr_array, indptr=_put(-1, 10**9)), r"row 5 ends at position 1000000000"),
    "csr float indices": (_with(sp.csr_array, indices=lambda i: i.astype(float)), r"integers.*float64"),
    "csr float indptr": (_with(sp.csr_array, indptr=lambda p: p.astype(np.float32)), r"integers.*float32"),
    "csr indices in a table": (_with(sp.csr_array, indices=lambda i: i[:, None]), r"1-D.*\(23, 1\)"),
    "csr narrow": (_with(sp.csr_array, _shape=lambda _: (6, 3)), r"row 0 .*index 3 at position 2"),
    "csr long": (_with(sp.csr_array, _shape=lambda _: (9, 5)), r""),
    "csr shape negative": (_with(sp.csr_array, _shape=lambda _: (6, -5)), r""),
    "csr complex": (_with(sp.csr_array, data=lambda v: v * 1j), r"(?i)complex"),
    "csr words": (_with(sp.csr_array, data=lambda v: np.array(["no"] * len(v), object)), r"(?i)could not convert"),
    "csr data in a table": (_with(sp.csr_array, data=lambda v: v[:, None]), r"1-D.*\(23, 1\)"),
    "csc index far": (_with(sp.csc_array, indices=_put(8, 10**9)), r"column 1 .*1000000000 at position 8"),
    "csc index of the first row beyond": (
        _with(sp.csc_matrix, indices=_put(6, 6)),
        r"column 1 .*index 6 at position 6",
    ),
    "csc index negative": (_with(sp.csc_array, indices=_put(6, -1)), r"column 1 .*index -1 at position 6"),
    "csc indptr short": (_with(sp.csc_array, indptr=lambda p: p[:-2]), r"indptr has length 4, and 5 columns need 6"),
    "csc indices short": (_with(sp.csc_array, indices=lambda i: i[:-3]), r"column 4 ends at position 23 of 20"),
    "csc data short": (_with(sp.csc_array, data=lambda v: v[:-3]), r"length 23 or more"),
    "csc float indices": (_with(sp.csc_array, indices=lambda i: i.astype(float)), r"integers"),
    "coo row far": (_with(sp.coo_array, row=_put(8, 10**9)), r"position 8 has row index 1000000000"),
    "coo column beyond": (_with(sp.coo_matrix, col=_put(8, 5)), r"position 8 has row index 2 and column index 5"),
    "coo column negative": (_with(sp.coo_array, col=_put(8, -1)), r"position 8 has row index 2 and column index -1"),
    "coo rows short": (_with(sp.coo_array, row=lambda r: r[:-3]), r"20 row indices, 23 column indices and 23 values"),
    "coo data short": (_with(sp.coo_array, data=lambda v: v[:-3]), r"23 row indices, 23 column indices and 20 values"),
    "coo float rows": (_with(sp.coo_array, coords=lambda c: (c[0].astype(float), c[1])), r"integers"),
    "coo narrow": (_with(sp.coo_array, _shape=lambda _: (6, 3)), r"column index 3"),
    "bsr index far": (_with(_bsr, indices=_put(4, 10**9)), r"row of blocks 0 .*1000000000 at position 4"),
    "bsr indptr short": (_with(_bsr, indptr=lambda p: p[:-1]), r"indptr has length 3, and 3 row of blockss? need 4"),
    "bsr data short": (_with(_bsr, data=lambda v: v[:-1]), r"of length"),
    "bsr blocks": (_with(_bsr, _shape=lambda _: (5, 5)), r""),
    "dia offsets short": (_with(_dia, offsets=lambda k: np.append(k, [7, 8])), r"of length"),
    "dia float offsets": (_with(_dia, offsets=lambda k: k.astype(float)), r"integers"),
    "lil index far": (_lil(lambda X: X.rows[2].__setitem__(1, 10**9)), r"row index 2 and column index 1000000000"),
    "lil uneven": (_lil(lambda X: X.data[2].pop()), r"row 2 has 4 columns and 3 values"),
    "lil short": (_lil(lambda X: setattr(X, "rows", X.rows[:4])), r"4 lists of columns and 6 lists of values"),
    "dok key": (_dok, r"row index 2 and column index 5"),
}


def _doubled():
    """Return a matrix with every entry in two halves and columns in decreasing order, cached as canonical."""
    X = sp.csr_array(DENSE)
    assert X.has_canonical_format
    X.data, X.indices, X.indptr = np.repeat(X.data[::-1] / 2, 2), np.repeat(X.indices[::-1], 2), X.indptr
    sizes = np.diff(X.indptr)[::-1]
    order = np.concatenate([np.arange(2 * a, 2 * b) for a, b in _spans(sizes)[::-1]])
    X.data, X.indices, X.indptr = X.data[order], X.indices[order], 2 * X.indptr
    assert X.has_canonical_format
    return X


def _spans(sizes):
    ends = np.cumsum(sizes)
    return list(zip((ends - sizes).tolist(), ends.tolist(), strict=True))


def _read_only():
    X = sp.csr_array(DENSE)
    for array in (X.data, X.indices, X.indptr):
        array.flags.writeable = False
    return X


# Unusual, but sound: each means DENSE.
ODD = {
    "csr": lambda: sp.csr_array(DENSE),
    "csr, parts and disorder behind cached flags": _doubled,
    "csr, big-endian": _with(
        sp.csr_array,
        indices=lambda i: i.astype(">i4"),
        indptr=lambda p: p.astype(">i8"),
        data=lambda v: v.astype(">f8"),
    ),
    "csr, mixed integers": _with(
        sp.csr_array, indices=lambda i: i.astype(np.uint8), indptr=lambda p: p.astype(np.int64)
    ),
    "csr, mixed integers the other way": _with(sp.csr_array, indices=lambda i: i.astype(np.int64)),
    "csr, strided": _with(sp.csr_array, indices=lambda i: np.repeat(i, 2)[::2], data=lambda v: np.repeat(v, 2)[::2]),
    "csr, slack at the end": _with(
        sp.csr_array, indices=lambda i: np.append(i, [10**9, -1]), data=lambda v: np.append(v, [np.nan])
    ),
    "csr, read-only": _read_only,
    "csr, objects": _with(sp.csr_array, data=lambda v: v.astype(object)),
    "csc": lambda: sp.csc_array(DENSE),
    "csc, big-endian": _with(sp.csc_array, indices=lambda i: i.astype(">i4")),
    "coo": lambda: sp.coo_matrix(DENSE),
    "coo, big-endian": _with(sp.coo_array, row=lambda r: r.astype(">i4"), col=lambda c: c.astype(">i8")),
    "bsr": lambda: _bsr(DENSE),
    "dia": lambda: sp.dia_array(DENSE),
    "dia, offset outside": _with(
        _dia, offsets=lambda k: np.append(k, 2**40), data=lambda v: np.vstack([v, np.ones(v.shape[1])])
    ),
    "lil": lambda: sp.lil_array(DENSE),
    "dok": lambda: sp.dok_array(DENSE),
}


@cache
def _fitted(make):
    return make().fit(DENSE, Y)


@cache
def _certificates():
    return nk.certify(DENSE, Y), nk.certify(DENSE, Y, kernel="poly")


def _verify(X):
    for certificate in _certificates():
        certificate.verify(X, Y)
    return 0


def _learned(X):
    learner = nk.Learner()
    rows = nk.Rows.of(X)
    return learner.score(learner.update(learner.init(rows.n_features), rows, Y), rows)


def _selected(X):
    found = nk.select(nk.Perceptron(random_state=0), {"hypothesis": ["last", "averaged"]}, X, Y, cv=2, random_state=0)
    return [trial.error for trial in found.trials]


def _multiclass(X):
    return nk.Perceptron().fit(X, [0, 1, 2, 0, 1, 2]).coef_


def _rbf():
    return nk.KernelPerceptron(kernel="rbf", gamma=0.5)


def _rbf_regressor():
    return nk.KernelRegressor(kernel="rbf", gamma=0.5)


ENTRIES = {
    "Rows.of": lambda X: nk.Rows.of(X).matrix.toarray(),
    "Learner": _learned,
    "Perceptron.fit": lambda X: nk.Perceptron().fit(X, Y).coef_,
    "Perceptron.fit, three classes": _multiclass,
    "Perceptron.fit, voted": lambda X: nk.Perceptron(hypothesis="voted").fit(X, Y).decision_function(DENSE),
    "Perceptron.partial_fit": lambda X: nk.Perceptron().partial_fit(X, Y).coef_,
    "Perceptron.predict": lambda X: _fitted(nk.Perceptron).predict(X),
    "Perceptron.decision_function": lambda X: _fitted(nk.Perceptron).decision_function(X),
    "Perceptron.score": lambda X: _fitted(nk.Perceptron).score(X, Y),
    "LinearClassifier.fit": lambda X: nk.LinearClassifier(loss="logistic", solver="newton").fit(X, Y).coef_.round(6),
    "LinearClassifier.partial_fit": lambda X: (
        nk.LinearClassifier(random_state=0).partial_fit(X, Y, classes=[0, 1]).coef_
    ),
    "LinearClassifier.predict": lambda X: _fitted(nk.LinearClassifier).predict(X),
    "LinearRegressor.fit": lambda X: nk.LinearRegressor(solver="newton").fit(X, Y).coef_.round(6),
    "LinearRegressor.predict": lambda X: _fitted(nk.LinearRegressor).predict(X).round(6),
    "KernelPerceptron.fit": lambda X: _rbf().fit(X, Y).raw_dual_coef_,
    "KernelPerceptron.partial_fit": lambda X: _rbf().partial_fit(X, Y).raw_dual_coef_,
    "KernelPerceptron.predict": lambda X: _fitted(_rbf).predict(X),
    "KernelRegressor.fit": lambda X: _rbf_regressor().fit(X, Y).predict(DENSE).round(6),
    "KernelRegressor.predict": lambda X: _fitted(_rbf_regressor).predict(X).round(6),
    "certify": lambda X: float(nk.certify(X, Y).margin),
    "certify, kernel": lambda X: float(nk.certify(X, Y, kernel="poly").margin),
    "verify": _verify,
    "margins": lambda X: nk.margins([1.0, 2.0, 3.0, 4.0, 5.0], X, Y).round(6),
    "mistake_bound": lambda X: float(nk.mistake_bound(X, Y).value),
    "fewest_errors": lambda X: nk.fewest_errors(X, Y, time_limit=5).upper,
    "select": _selected,
}

# These take one example: a sound matrix of several rows is refused as well.
ENTRIES_OF_ONE = {
    "Perceptron.learn_one": lambda X: nk.Perceptron().learn_one(X, 1),
    "Perceptron.predict_one": lambda X: _fitted(nk.Perceptron).predict_one(X),
    "KernelPerceptron.learn_one": lambda X: _rbf().learn_one(X, 1),
    "KernelRegressor.learn_one": lambda X: nk.KernelRegressor().learn_one(X, 1.0),
    "KernelPerceptron.predict_one": lambda X: _fitted(_rbf).predict_one(X),
}

CASES = [
    *((entry, lie) for entry in (*ENTRIES, *ENTRIES_OF_ONE) for lie in LIES),
    *((entry, odd) for entry in ENTRIES for odd in ODD),
]


def outcome(entry: str, case: str) -> tuple[str, str]:
    """Return what an entry point does with a matrix: the type of its error and its message, or "answer" and that."""
    X = (LIES[case][0] if case in LIES else ODD[case])()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            answer = (ENTRIES | ENTRIES_OF_ONE)[entry](X)
    except Exception as error:
        return type(error).__name__, str(error)
    return "answer", repr(np.asarray(answer).tolist() if entry in ENTRIES else "")


def main() -> None:
    faulthandler.enable()
    for number in range(int(sys.argv[1]), len(CASES)):
        print(json.dumps([number, "begun", ""]), flush=True)
        print(json.dumps([number, *outcome(*CASES[number])]), flush=True)


if __name__ == "__main__":
    main()

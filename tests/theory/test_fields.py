"""Every published field of every proof is checked: a false value in any of them is refused.

FORGERIES has an entry for each field of each class, or UNCHECKED says why there is none. A new field has neither, and
fails `test_every_field_is_here`.
"""

import dataclasses
import math
import re
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import CertificateError
from novikoff.kernel_methods.kernels import Potential, UsersPotential
from novikoff.theory.bounds import MistakeBound
from novikoff.theory.certificates import Inseparable, KernelSeparable, Question, Separable
from novikoff.theory.fewest_errors import FewestErrors

RNG = np.random.default_rng(11)
X = RNG.integers(-4, 5, (24, 3)).astype(float)
X[:, 2] += 0.5
SPLIT = np.where(X @ [1.0, -2.0, 1.0] + 0.3 > 0, "yes", "no")
MIXED = SPLIT.copy()
MIXED[:3] = ["no", "yes", "no"]
MIXED = np.where(np.arange(24) % 5 == 0, np.where(MIXED == "yes", "no", "yes"), MIXED)
PARITY = np.where((X[:, 0] + X[:, 1]) % 2 == 0, "yes", "no")
THIN, MIDDLE = np.array([[0.1, 0.3], [0.2, 0.6], [0.30000000000000004, 0.9]]), [0, 1, 0]  # all but on one line
ONES = np.abs(X) + 1.0
CORNERS = [[0, 0], [0, 1], [1, 0], [1, 1]]


def shared(A, B):
    return (A @ B.T + 1.0) ** 3


# A proof, and the data it is about.
CASES = {
    "separable": (nk.certify(X, SPLIT), X, SPLIT),
    "one label": (nk.certify(ONES, ["a"] * 24, fit_intercept=False), ONES, ["a"] * 24),
    "fractions": (nk.certify(THIN, MIDDLE), THIN, MIDDLE),
    "one against the rest": (nk.certify(X, SPLIT, positive="no"), X, SPLIT),
    "inseparable": (nk.certify(X, MIXED), X, MIXED),
    "poly": (nk.certify(X, MIXED, kernel="poly", degree=3, gamma=0.5, coef0=2.0), X, MIXED),
    "poly, inseparable": (nk.certify(X, PARITY, kernel="poly", degree=1, gamma=0.5), X, PARITY),
    "rbf": (nk.certify(X, MIXED, kernel="rbf", gamma=0.5, fit_intercept=True), X, MIXED),
    "users": (nk.certify(X, MIXED, kernel=shared), X, MIXED),
    "precomputed": (nk.certify(shared(X, X), MIXED, kernel="precomputed"), shared(X, X), MIXED),
    "fewest": (nk.fewest_errors(X, MIXED, time_limit=20.0), X, MIXED),
    "bound, novikoff": (nk.mistake_bound(np.eye(9), [1, -1, -1] * 3), np.eye(9), [1, -1, -1] * 3),
    "bound": (nk.mistake_bound(X, MIXED), X, MIXED),
    "bound, fractions": (nk.mistake_bound(THIN, MIDDLE), THIN, MIDDLE),
    "bound, no direction": (nk.mistake_bound(CORNERS, [0, 1, 1, 0]), CORNERS, [0, 1, 1, 0]),
}
for theorem, candidate in CASES["bound"][0].candidates.items():
    CASES[f"bound, {theorem} alone"] = candidate, X, MIXED
for case in ("bound, novikoff", "bound, fractions"):
    CASES[f"{case} alone"] = CASES[case][0].candidates["novikoff"], *CASES[case][1:]


def refused(proof, data, labels):
    try:
        proof.verify(data, labels)
    except CertificateError:
        return True
    return False


# -- forgeries: from a proof to values of one field, each of which makes it say something false

TINY = 1e-9


def scaled(*factors):
    return lambda value: [type(value)(value * factor) for factor in factors]


def numbers(*values):
    return lambda _: list(values)


def swapped_rows(rows):
    """A row less, one twice, one that is not there, and one for which no sum comes out."""
    other = next(row for row in range(len(rows) + 1) if row not in rows.tolist())
    return [rows[:-1], np.append(rows[:-1], rows[:1]), np.append(rows[:-1], 10**6), -1 - rows, rows + 0.5] + (
        [np.append(rows[1:], other)] if len(rows) > 1 else []
    )


def turned(vector):
    longer = np.append(vector, vector[:1])
    return [-vector, vector * 2, vector[:-1], longer, np.zeros_like(vector)]


def with_fractions(vector):
    """As exact Fractions, which have another length to have."""
    return [np.array([Fraction(v) for v in vector.tolist()], object)] if vector.dtype.kind == "f" else []


def weights_of_support(weights):
    more = weights.copy()
    more[0] = more[0] * 2 if len(weights) > 1 else more[0] + 1
    return [weights * 2, -weights, more, weights[:-1]]


def whole_numbers(multipliers):
    first = multipliers[0]
    return [
        tuple(2 * m for m in multipliers),
        tuple(m / 2 for m in multipliers),
        (first + 1, *multipliers[1:]) if len(multipliers) > 1 else (first * 3,),
        tuple(-m for m in multipliers),
        multipliers[:-1],
    ]


def witnesses(found):
    first = found[0]
    about = replace(first.question, fit_intercept=not first.question.fit_intercept)
    return [
        (replace(first, question=about), *found[1:]),
        (replace(first, n_rows=first.n_rows + 1), *found[1:]),
        (replace(first, n_features=first.n_features + 1), *found[1:]),
        (replace(first, multipliers=tuple(2 * m for m in first.multipliers)), *found[1:]),
        (replace(first, rows=first.rows[:-1], multipliers=first.multipliers[:-1]), *found[1:]),
        found[1:],
    ]


def candidates(found):
    """Of a bound with candidates: one missing, one of another name, one that is worse or false."""
    if not found:
        return []
    name, bound = next(iter(found.items()))
    others = {other: value for other, value in found.items() if other != name}
    return [
        others,
        {"perceptron": bound} | others,
        {name: replace(bound, value=bound.value * 0.9)} | others,
        {name: replace(bound, n_rows=bound.n_rows + 1)} | others,
        {name: replace(bound, candidates={name: bound})} | others,
        {name: replace(bound, question=replace(bound.question, n_asked=None))} | others,
    ]


SAME = {
    "question": lambda question: [],  # see the fields of Question
    "separator": lambda w: turned(w) + with_fractions(w) if w.any() else [w + 1],
    "margin_lower": scaled(1 + TINY, 0, -1),
    "margin_upper": scaled(1 - 1e-6, -1),
    "support": swapped_rows,
    "multipliers": weights_of_support,
    "radius": scaled(1 - TINY, 1 + TINY, -1),
    "n_rows": lambda n: [n + 1, 0],
    "n_features": lambda n: [n + 1, -1],
}

FORGERIES = {
    Separable: {**SAME, "intercept": lambda b: [b + 1, b - 1]},
    KernelSeparable: {**SAME, "intercept": lambda b: [1.0, -1e-30, math.nan]},
    Inseparable: {
        "question": SAME["question"],
        "rows": swapped_rows,
        "multipliers": whole_numbers,
        "n_rows": SAME["n_rows"],
        "n_features": SAME["n_features"],
    },
    FewestErrors: {
        "question": SAME["question"],
        "lower": lambda lower: [lower + 1, -1],
        "upper": lambda upper: [upper + 1, upper - 1],
        "separator": lambda w: [-w, w[:-1], np.zeros_like(w), np.append(w, w)],
        "intercept": lambda b: [b + 1000, b - 1000, math.nan],
        "rows_wrong": lambda rows: [rows[:-1], np.append(rows[1:], rows[1:2]), rows + 0.5, np.append(rows[1:], 10**6)],
        "witnesses": witnesses,
        "shares": lambda shares: [
            shares[:-1],
            tuple(-s for s in shares),
            tuple(s + 1 for s in shares),
            (math.nan, *shares[1:]),
        ],
        "n_rows": SAME["n_rows"],
        "n_features": SAME["n_features"],
    },
    MistakeBound: {
        "theorem": numbers("perceptron", None),
        "value": scaled(1 - TINY, 1 + TINY, 2, -1),
        "lower": lambda lower: [lower * (1 + 1e-3), math.nan, math.inf],
        "passes": lambda passes: [2, None, "any" if passes == 1 else 1],
        "radius": scaled(1 - TINY, 1 + TINY, -1),
        "u": lambda u: turned(u) if u.any() else [u + 1, u[:-1]],
        "intercept": lambda b: [b + 1, b - 1],
        "margin": lambda m: [1.0] if m is None else [None, m * (1 + 1e-6), m * (1 - 1e-6), -m, 0.0],
        "loss": lambda loss: [loss + 1e-3, loss * (1 - 1e-6) - 1e-6, -loss - 1, math.nan],
        "weights": lambda a: [np.zeros_like(a), -a, a[:-1], np.append(a, a[:1])],
        "n_rows": SAME["n_rows"],
        "question": SAME["question"],
        "certificate": lambda c: [
            replace(c, n_rows=c.n_rows + 1),
            nk.certify([[1.0]], [1]),
            replace(c, question=replace(c.question, n_asked=None)),
        ],
        "candidates": candidates,
    },
    Question: {
        "positive": numbers("maybe", None, 17),
        "negative": numbers("maybe", 17, ["yes"]),
        "fit_intercept": lambda given: [not given],
        "one_against_rest": lambda given: [not given],
        "n_asked": lambda n: [None, n + 1, 0],
        "kernel": lambda kernel: [None if kernel is not None else Potential("linear", constant=1.0)],
    },
    Potential: {
        "name": numbers("sigmoid", "cosine", "laplacian"),
        "degree": lambda degree: [degree + 1, -1, degree + 0.5],
        "gamma": lambda gamma: [gamma * 1.25, -gamma, math.nan],
        "coef0": lambda coef0: [coef0 + 0.25, -1.0, math.nan],
        "constant": lambda constant: [1.0 - constant, -1.0, 0.5],
    },
    UsersPotential: {
        "function": numbers(lambda A, B: (A @ B.T + 1.0) ** 2, lambda A, B: -shared(A, B)),
        "constant": lambda constant: [1.0 - constant, 0.5],
    },
}

UNCHECKED = {
    UsersPotential: {
        "is_positive": "what its user says of it; verify looks at the matrix",
        "polynomial": "None for all functions of users",
        "_compiled": "no claim: what has been compiled in this process",
    },
}

# Weaker, or without a meaning here: still true.
TRUE = {
    ("one label", "Question.negative"): "there is no other label, and these are none",
    ("one label", "Question.one_against_rest"): "there is no rest",
    ("inseparable", "Question.kernel"): "with this kernel it says the same",
    ("poly, inseparable", "Potential.coef0"): "rows that cancel, together with their labels, cancel with any constant",
    ("poly, inseparable", "Potential.gamma"): "and at any scale",
    ("rbf", "Potential.degree"): "only poly has one",
    ("rbf", "Potential.coef0"): "only poly has one",
    ("precomputed", "Potential.degree"): "only poly has one",
    ("precomputed", "Potential.gamma"): "a matrix has none",
    ("precomputed", "Potential.coef0"): "only poly has one",
}


def test_every_field_is_here():
    for kind, forgeries in FORGERIES.items():
        names = {field.name for field in fields(kind)}
        unchecked = set(UNCHECKED.get(kind, {}))
        assert set(forgeries) | unchecked == names, kind.__name__
        assert not set(forgeries) & unchecked


PAGE = Path(__file__).parents[2] / "docs" / "certificates.md"


def test_every_field_is_documented():
    """The page about what is checked names each of them, and its example runs."""
    page = PAGE.read_text(encoding="utf-8")
    for kind in (Separable, Inseparable, FewestErrors, MistakeBound):
        for field in fields(kind):
            assert f"`{field.name}`" in page, field.name
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    exec(example, {})


def test_every_proof_is_here():
    """Each public class of the theory that is a proof is among these, and has been tried."""
    proofs = {name for name in nk.__all__ if hasattr(getattr(nk, name), "verify")}
    assert proofs == {"FewestErrors", "Inseparable", "MistakeBound", "Separable", "Verdicts"}
    tried = {type(proof) for proof, _, _ in CASES.values()}
    assert tried == {Separable, KernelSeparable, Inseparable, FewestErrors, MistakeBound}


def parts(proof):
    """The proof itself, its question and its kernel, each with how to put another one in its place."""
    yield proof, lambda part: part
    question = proof.question

    def with_question(part):
        if isinstance(proof, FewestErrors):
            around = tuple(replace(witness, question=part) for witness in proof.witnesses)
            return replace(proof, question=part, witnesses=around)
        return replace(proof, question=part)

    yield question, with_question
    if question.kernel is not None:
        yield question.kernel, lambda part: with_question(replace(question, kernel=part))


@pytest.mark.parametrize("case", CASES)
def test_true_proofs_are_accepted(case):
    proof, data, labels = CASES[case]
    proof.verify(data, labels)


@pytest.mark.parametrize("case", CASES)
def test_a_false_value_in_any_field_is_refused(case):
    proof, data, labels = CASES[case]
    tried = 0
    for part, put in parts(proof):
        kind = type(part)
        for name, forge in FORGERIES[kind].items():
            if (case, f"{kind.__name__}.{name}") in TRUE:
                continue
            for value in forge(getattr(part, name)):
                made = part if kind is not UsersPotential else UsersPotential(part.function, part.constant)
                forged = put(dataclasses.replace(made, **{name: value}))
                with np.errstate(all="ignore"):
                    assert refused(forged, data, labels), f"{kind.__name__}.{name} = {value!r}"
                tried += 1
    assert tried > 20


def test_verdicts():
    """All classes of y, all pairs of them, and each with the certificate that is about it."""
    y = np.array(["a", "b", "c"] * 8)
    verdicts = nk.certify(X, y)
    verdicts.verify(X, y)
    rest, pairs = verdicts.against_rest, verdicts.pairs
    kind = type(verdicts)
    forged = [
        kind({"a": rest["b"], "b": rest["a"], "c": rest["c"]}, pairs),
        kind({"a": rest["a"], "b": rest["b"]}, pairs),
        kind(rest, {key: proof for key, proof in pairs.items() if key != ("a", "b")}),
        kind(rest, pairs | {("a", "b"): pairs["a", "c"]}),
        kind(rest, pairs | {("a", "d"): pairs["a", "c"]}),
        kind(rest | {"d": rest["a"]}, pairs),
        kind(rest | {"a": nk.certify(X, y, fit_intercept=False).against_rest["a"]}, pairs),
        kind(rest | {"a": replace(rest["a"], n_rows=3)}, pairs),
        kind({}, {}),
    ]
    for lie in forged:
        assert refused(lie, X, y)
    assert refused(verdicts, X, np.where(np.arange(24) == 3, "d", y))
    turned_pairs = {
        key[::-1]: replace(proof, question=replace(proof.question, positive=key[0], negative=key[1]))
        for key, proof in pairs.items()
        if not proof
    }
    kind(rest, {key: proof for key, proof in pairs.items() if proof} | turned_pairs).verify(X, y)

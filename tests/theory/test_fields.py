"""Every published field of every proof is checked: a false value in any of them is refused.

FORGERIES has an entry for each field of each class, or UNCHECKED says why there is none. A new field has neither, and
fails `test_every_field_has_a_forgery`.
"""

import dataclasses
import math
import re
from dataclasses import fields, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import novikoff as nk
from novikoff.errors import CertificateError, DataError
from novikoff.kernel_methods.kernels import CustomKernel, Kernel
from novikoff.theory.bounds import MistakeBound
from novikoff.theory.certificates import ClosedSeparable, Inseparable, KernelSeparable, Question, Separable
from novikoff.theory.fewest_errors import FewestErrors
from novikoff.theory.geometric_margin import GeometricMargin
from novikoff.theory.row_changes import RowChange

RNG = np.random.default_rng(11)
X = RNG.integers(-4, 5, (24, 3)).astype(float)
X[:, 2] += 0.5
SPLIT = np.where(X @ [1.0, -2.0, 1.0] + 0.3 > 0, "yes", "no")
MIXED = SPLIT.copy()
MIXED[:3] = ["no", "yes", "no"]
MIXED = np.where(np.arange(24) % 5 == 0, np.where(MIXED == "yes", "no", "yes"), MIXED)
PARITY = np.where((X[:, 0] + X[:, 1]) % 2 == 0, "yes", "no")
NEARLY_COLLINEAR, MIDDLE_ROW = (
    np.array([[0.1, 0.3], [0.2, 0.6], [0.30000000000000004, 0.9]]),
    [0, 1, 0],
)  # all but on one line
ONES = np.abs(X) + 1.0
CORNERS = [[0, 0], [0, 1], [1, 0], [1, 1]]
# Of the positive rows two cancel: they are on the boundary of every half-space without an intercept.
CLOSED = np.array([[1, 2, 0], [-1, -2, 0], [2, -1, 1], [-1, 2, 0], [0, 1, -1]], float), np.array([1, 1, 1, 0, 0])


def cubic_kernel(A, B):
    return (A @ B.T + 1.0) ** 3


# A proof, and the data it is about.
CASES = {
    "separable": (nk.certify(X, SPLIT), X, SPLIT),
    "one label": (nk.certify(ONES, ["a"] * 24, fit_intercept=False), ONES, ["a"] * 24),
    "fractions": (nk.certify(NEARLY_COLLINEAR, MIDDLE_ROW), NEARLY_COLLINEAR, MIDDLE_ROW),
    "one against the rest": (nk.certify(X, SPLIT, positive="no"), X, SPLIT),
    "inseparable": (nk.certify(X, MIXED), X, MIXED),
    "closed": (nk.certify(*CLOSED, fit_intercept=False, ties="positive"), *CLOSED),
    "geometric": (nk.geometric_margin(X, SPLIT), X, SPLIT),
    "poly": (nk.certify(X, MIXED, kernel="poly", degree=3, gamma=0.5, coef0=2.0), X, MIXED),
    "poly, inseparable": (nk.certify(X, PARITY, kernel="poly", degree=1, gamma=0.5), X, PARITY),
    "rbf": (nk.certify(X, MIXED, kernel="rbf", gamma=0.5, fit_intercept=True), X, MIXED),
    "users": (nk.certify(X, MIXED, kernel=cubic_kernel), X, MIXED),
    "precomputed": (nk.certify(cubic_kernel(X, X), MIXED, kernel="precomputed"), cubic_kernel(X, X), MIXED),
    "fewest": (nk.fewest_errors(X, MIXED, time_limit=20.0), X, MIXED),
    "bound, novikoff": (nk.mistake_bound(np.eye(9), [1, -1, -1] * 3), np.eye(9), [1, -1, -1] * 3),
    "bound": (nk.mistake_bound(X, MIXED), X, MIXED),
    "bound, fractions": (nk.mistake_bound(NEARLY_COLLINEAR, MIDDLE_ROW), NEARLY_COLLINEAR, MIDDLE_ROW),
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


def integer_multipliers(multipliers):
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


COMMON_FORGERIES = {
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
    Separable: {**COMMON_FORGERIES, "intercept": lambda b: [b + 1, b - 1]},
    KernelSeparable: {**COMMON_FORGERIES, "intercept": lambda b: [1.0, -1e-30, math.nan]},
    ClosedSeparable: {
        "question": COMMON_FORGERIES["question"],
        "separator": lambda w: [-w, w[:-1], np.append(w, w[:1]), np.zeros_like(w), w[::-1]],
        "n_rows": COMMON_FORGERIES["n_rows"],
        "n_features": COMMON_FORGERIES["n_features"],
    },
    GeometricMargin: {
        **{name: forge for name, forge in COMMON_FORGERIES.items() if name != "radius"},
        "separator": turned,
        "intercept": lambda b: [b + 1, b - 1],
        "multipliers": lambda shares: [-shares, shares[:-1], shares[::-1], np.zeros_like(shares)],  # of any sum
    },
    Inseparable: {
        "question": COMMON_FORGERIES["question"],
        "rows": swapped_rows,
        "multipliers": integer_multipliers,
        "n_rows": COMMON_FORGERIES["n_rows"],
        "n_features": COMMON_FORGERIES["n_features"],
    },
    FewestErrors: {
        "question": COMMON_FORGERIES["question"],
        "lower": lambda lower: [lower + 1, -1, lower - 0.5],
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
        "n_rows": COMMON_FORGERIES["n_rows"],
        "n_features": COMMON_FORGERIES["n_features"],
    },
    MistakeBound: {
        "theorem": numbers("perceptron", None),
        "value": scaled(1 - TINY, 1 + TINY, 2, -1),
        "lower": lambda lower: [lower * (1 + 1e-3), math.nan, math.inf],
        "passes": lambda passes: [2, None, True, "any" if passes == 1 else 1],
        "radius": scaled(1 - TINY, 1 + TINY, -1),
        "u": lambda u: turned(u) + with_fractions(u) + with_fractions(u * 1000) if u.any() else [u + 1, u[:-1]],
        "intercept": lambda b: [b + 1, b - 1],
        "margin": lambda m: [1.0] if m is None else [None, m * (1 + 1e-6), m * (1 - 1e-6), -m, 0.0],
        "loss": lambda loss: [loss + 1e-3, loss * (1 - 1e-6) - 1e-6, -loss - 1, math.nan],
        "weights": lambda a: [np.zeros_like(a), -a, a[:-1], np.append(a, a[:1])],
        "n_rows": COMMON_FORGERIES["n_rows"],
        "question": COMMON_FORGERIES["question"],
        "certificate": lambda c: [
            replace(c, n_rows=c.n_rows + 1),
            nk.certify([[1.0]], [1]),
            replace(c, question=replace(c.question, n_asked=None)),
        ],
        "candidates": candidates,
        "change": lambda change: [RowChange(constant=2.0), RowChange(center=True, constant=1.0)],
    },
    Question: {
        "positive": numbers("maybe", None, 17),
        "negative": numbers("maybe", 17, ["yes"]),
        "fit_intercept": lambda given: [not given],
        "one_against_rest": lambda given: [not given],
        "n_asked": lambda n: [None, n + 1, 0],
        "kernel": lambda kernel: [None if kernel is not None else Kernel("linear", constant=1.0)],
        # The other way round it stays true: an open half-space with every row on its side has a closed one beside it.
        "ties": lambda ties: ["negative", None, 17, *(["wrong"] if ties == "positive" else [])],
    },
    Kernel: {
        "name": numbers("sigmoid", "cosine", "laplacian"),
        "degree": lambda degree: [degree + 1, -1, degree + 0.5],
        "gamma": lambda gamma: [gamma * 1.25, -gamma, math.nan],
        "coef0": lambda coef0: [coef0 + 0.25, -1.0, math.nan],
        "constant": lambda constant: [1.0 - constant, -1.0, 0.5],
    },
    CustomKernel: {
        "function": numbers(lambda A, B: (A @ B.T + 1.0) ** 2, lambda A, B: -cubic_kernel(A, B)),
        "constant": lambda constant: [1.0 - constant, 0.5],
    },
}

UNCHECKED = {
    MistakeBound: {"is_given": "where u comes from; candidates must agree on it"},
    CustomKernel: {
        "is_positive": "what its user says of it; verify looks at the matrix",
        "polynomial": "None for all functions of users",
        "_compiled": "no claim: what has been compiled in this process",
    },
}

# Changed values that leave the proof true: weaker claims, and fields without a meaning here.
TRUE = {
    ("one label", Question, "negative"): "there is no other label, and these are none",
    ("one label", Question, "one_against_rest"): "there is no rest",
    ("inseparable", Question, "kernel"): "with this kernel it says the same",
    ("poly, inseparable", Kernel, "coef0"): "rows that cancel, together with their labels, cancel with any constant",
    ("poly, inseparable", Kernel, "gamma"): "and at any scale",
    ("rbf", Kernel, "degree"): "only poly has one",
    ("rbf", Kernel, "coef0"): "only poly has one",
    ("precomputed", Kernel, "degree"): "only poly has one",
    ("precomputed", Kernel, "gamma"): "a matrix has none",
    ("precomputed", Kernel, "coef0"): "only poly has one",
}


def test_every_field_has_a_forgery():
    for kind, forgeries in FORGERIES.items():
        names = {field.name for field in fields(kind)}
        unchecked = set(UNCHECKED.get(kind, {}))
        assert set(forgeries) | unchecked == names, kind.__name__
        assert not set(forgeries) & unchecked


PAGE = Path(__file__).parents[2] / "docs" / "certificates.md"


def test_every_field_is_documented():
    """The page about what is checked names each of them, and its example runs."""
    page = PAGE.read_text(encoding="utf-8")
    for kind in (Separable, ClosedSeparable, GeometricMargin, Inseparable, FewestErrors, MistakeBound):
        for field in fields(kind):
            assert f"`{field.name}`" in page, field.name
    (example,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    exec(example, {})


def test_every_kind_of_proof_has_a_case():
    """Each public class of the theory that is a proof is among these, and has been tried."""
    proofs = {name for name in nk.__all__ if hasattr(getattr(nk, name), "verify")}
    tried = {type(proof) for proof, _, _ in CASES.values()}
    assert tried == set(FORGERIES) - {Question, Kernel, CustomKernel}
    assert proofs == {kind.__name__ for kind in tried - {KernelSeparable}} | {"Verdicts"}


def parts_with_setters(proof):
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
    for part, put in parts_with_setters(proof):
        kind = type(part)
        for name, forge in FORGERIES[kind].items():
            if (case, kind, name) in TRUE:
                continue
            for value in forge(getattr(part, name)):
                made = part if kind is not CustomKernel else CustomKernel(part.function, part.constant)
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
    forgeries = [
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
    for forged_verdicts in forgeries:
        assert refused(forged_verdicts, X, y)
    assert refused(verdicts, X, np.where(np.arange(24) == 3, "d", y))
    turned_pairs = {
        key[::-1]: replace(proof, question=replace(proof.question, positive=key[0], negative=key[1]))
        for key, proof in pairs.items()
        if not proof
    }
    kind(rest, {key: proof for key, proof in pairs.items() if proof} | turned_pairs).verify(X, y)


NUMBERS = ("radius", "margin_lower", "margin_upper", "intercept", "value", "loss", "margin", "lower", "upper")
OTHER_TYPES = [None, 7, "1", 1.5, True, b"1", [], (), {}, object(), np.array(["1"]), np.array([None]), np.ones((2, 2))]
ALSO_TRUE = {
    "margin": [None],
    "negative": [None],
    "kernel": [None],
    "candidates": [{}],
    "fit_intercept": [True],
    "one_against_rest": [True],
    "is_given": [True],
}  # values that these fields may have in a true proof


def values_of_other_types(name, value):
    """What a field should not be: of another type, or a string or a boolean in place of a number."""
    for other in OTHER_TYPES:
        is_number = isinstance(other, (int, float)) and other is not True
        is_allowed = any(
            other is allowed or type(other) is type(allowed) is dict for allowed in ALSO_TRUE.get(name, [])
        )
        is_same_label = name in ("positive", "negative") and np.isscalar(other) and other == value
        if not (name in NUMBERS and is_number) and not is_allowed and not is_same_label:
            yield other


@pytest.mark.parametrize("case", CASES)
def test_a_field_of_another_type_is_refused(case):
    """With a CertificateError, not with whatever the arithmetic raises; and numbers in strings are no numbers."""
    proof, data, labels = CASES[case]
    for part, put in parts_with_setters(proof):
        for name in FORGERIES[type(part)]:
            if (case, type(part), name) in TRUE:
                continue
            for other in values_of_other_types(name, getattr(part, name)):
                made = part if not isinstance(part, CustomKernel) else CustomKernel(part.function, part.constant)
                forged = put(dataclasses.replace(made, **{name: other}))
                with np.errstate(all="ignore"):
                    assert refused(forged, data, labels), f"{type(part).__name__}.{name} = {other!r}"


def test_witnesses_and_candidates_of_another_type_are_refused():
    fewest, data, labels = CASES["fewest"]
    for witness in (
        None,
        7,
        fewest,
        replace(fewest.witnesses[0], rows=None),
        replace(fewest.witnesses[0], question=None),
    ):
        assert refused(replace(fewest, witnesses=(witness, *fewest.witnesses[1:])), data, labels)
    bound, data, labels = CASES["bound"]
    for candidate in (None, 7, bound.certificate, replace(bound.candidates["hinge"], u=None)):
        assert refused(replace(bound, candidates=bound.candidates | {"hinge": candidate}), data, labels)
    verdicts = nk.certify(X, ["a", "b", "c"] * 8)
    assert refused(type(verdicts)(verdicts.against_rest | {"a": None}, verdicts.pairs), X, ["a", "b", "c"] * 8)


@pytest.mark.parametrize("kernel", [None, "linear", "rbf", "laplacian", "hamming"])
@pytest.mark.parametrize("bad", [math.inf, -math.inf, math.nan])
def test_rows_that_are_not_finite_are_refused(kernel, bad):
    rows = np.array([[0.0], [1.0], [3.0]])
    certificate = nk.certify(rows, [0, 1, 1], kernel=kernel, fit_intercept=True)
    for row in range(3):
        changed = rows.copy()
        changed[row] = bad
        with pytest.raises(CertificateError, match="NaN or infinity"):
            certificate.verify(changed, [0, 1, 1])


@pytest.mark.parametrize("rows", [[["a"], ["b"], ["c"]], [[0.0], [1.0, 2.0], [3.0]], [[{}], [1.0], [3.0]]])
def test_rows_that_are_no_numbers_are_refused(rows):
    with pytest.raises(DataError):
        nk.certify([[0.0], [1.0], [3.0]], [0, 1, 1]).verify(rows, [0, 1, 1])


@pytest.mark.parametrize("theorem", ["hinge", "freund-schapire"])
def test_directions_in_fractions_are_for_novikoff_alone(theorem):
    """In Fractions nothing was checked of the length of u: the bound held, and its direction had length 1000."""
    bound, data, labels = CASES[f"bound, {theorem} alone"]
    for factor in (1, 1000):
        u = np.array([Fraction(v) * factor for v in bound.u.tolist()], object)
        forged = replace(
            bound, u=u, intercept=Fraction(bound.intercept) * factor, margin=Fraction(bound.margin) * factor
        )
        assert refused(forged, data, labels)
        assert refused(forged, sp.csr_array(data), labels)


def test_fractions_of_novikoff_are_as_long_as_those_of_the_certificate():
    bound, data, labels = CASES["bound, fractions alone"]
    assert bound.u.dtype == object
    bound.verify(data, labels)
    bound.verify(sp.csr_array(data), labels)
    for factor in (Fraction(1, 1000), 1000):
        assert refused(replace(bound, u=bound.u * factor, intercept=bound.intercept * factor), data, labels)


def test_all_texts_say_the_same_of_the_checker():
    root = PAGE.parents[1]
    texts = [root / "README.md", root / "src" / "novikoff" / "cli" / "certify.py", PAGE]
    texts.append(root / "src" / "novikoff" / "theory" / "certificates.py")
    for text in texts:
        words = re.sub(r'[\s"]+', " ", text.read_text(encoding="utf-8"))
        assert "checker uses no code of the search" in words or "checker that uses no code of the search" in words
        assert "three exceptions" in words
        assert "shares nothing with the search" not in words

"""Certificates in feature space: true ones verify, false ones do not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

import novikoff as nk
from novikoff.errors import CertificateError, DataError
from novikoff.kernel_methods.kernels import resolve
from novikoff.theory.certificates import Inseparable, KernelSeparable, Question


def attack(rng: np.random.Generator) -> int:
    """Run one round."""
    tried = 0
    for _ in range(12):
        tried += _attack_named_kernel(rng) + _attack_matrix(rng)
        tried += _attack_underflow(rng) + _attack_length(rng)
    return tried


def _random_rows(rng: np.random.Generator) -> np.ndarray:
    n, d = int(rng.integers(2, 15)), int(rng.integers(1, 4))
    kind = rng.integers(3)
    if kind == 0:
        return rng.integers(-2, 3, (n, d)).astype(float)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-3, 3) + (rng.choice([0.0, 1e3]) if kind == 2 else 0.0)
    X[rng.integers(n)] = X[rng.integers(n)]
    return np.asarray(X)


def _attack_named_kernel(rng: np.random.Generator) -> int:
    X = _random_rows(rng)
    y = rng.integers(0, 2, len(X))
    name = str(rng.choice(["linear", "poly", "rbf", "laplacian", "hamming"]))
    given: dict[str, Any] = {
        "kernel": name,
        "gamma": float(10.0 ** rng.integers(-2, 2)),
        "degree": int(rng.integers(1, 4)),
        "fit_intercept": bool(rng.integers(2)),
    }
    form: Any = sp.csr_array(X) if rng.integers(3) == 0 else X
    try:
        proof: Any = nk.certify(form, y, **given)
    except CertificateError as error:
        _require_undecided(error)
        return 1
    proof.verify(form, y)
    proof.verify(X, y)
    return 2 + _require_all_refused(_forge(rng, proof), form, y)


def _attack_underflow(rng: np.random.Generator) -> int:
    """Rows so short that values of an exact kernel are near the smallest double, all of them or some."""
    n, d, degree = int(rng.integers(2, 8)), int(rng.integers(1, 4)), int(rng.integers(1, 4))
    X = rng.standard_normal((n, d)) * 2.0 ** (rng.integers(-620, -440) // degree)
    if rng.integers(3) == 0:
        X *= 2.0 ** rng.integers(-200, 400, (n, 1))
    y = rng.integers(0, 2, n)
    given = {"gamma": float(2.0 ** rng.integers(-60, 200)), "coef0": float(rng.integers(2))}
    name = str(rng.choice(["linear", "poly"]))
    try:
        proof: Any = nk.certify(X, y, kernel=name, degree=degree, fit_intercept=bool(rng.integers(2)), **given)
    except DataError as error:
        if "overflows" not in str(error) and "too large" not in str(error):
            raise
        return 1
    proof.verify(X, y)
    forged = [replace(proof, margin_lower=proof.margin_lower * 2 + proof.margin_upper * 2)] if proof else []
    return 1 + _require_all_refused(forged, X, y)


def _attack_length(rng: np.random.Generator) -> int:
    """Separators that are not of length 1, of rows far from 0 and of rows that nearly coincide."""
    n, d = int(rng.integers(2, 8)), int(rng.integers(1, 3))
    X = rng.standard_normal((n, d)) + rng.choice([0.0, 300.0, 1e6, 1e9])
    X[rng.integers(n)] = X[rng.integers(n)] * (1.0 + float(rng.choice([1e-3, 1e-6, 1e-9, 1e-12])))
    y = rng.integers(0, 2, n)
    name = str(rng.choice(["rbf", "laplacian", "linear", "poly"]))
    try:
        proof: Any = nk.certify(X, y, kernel=name, gamma=float(10.0 ** rng.integers(-2, 2)))
    except CertificateError as error:
        _require_undecided(error)
        return 1
    proof.verify(X, y)
    if not proof or proof.separator.dtype == object:
        return 1
    factors = (1.0 - 1e-5, 1.0 + 1e-5, 2.0, 1e6)
    return 1 + _require_all_refused([replace(proof, separator=proof.separator * factor) for factor in factors], X, y)


def _attack_matrix(rng: np.random.Generator) -> int:
    """Matrices with a negative eigenvalue that rounding does not explain, and certificates that are true otherwise."""
    n = int(rng.integers(2, 9))
    L = rng.integers(-2, 3, (n, n)).astype(float) if rng.integers(2) else rng.standard_normal((n, n))
    K = L @ L.T
    y = rng.integers(0, 2, n)
    try:
        proof: Any = nk.certify(K, y, kernel="precomputed")
    except CertificateError as error:
        _require_undecided(error)
        return 1
    proof.verify(K, y)
    v = rng.standard_normal(n)
    v /= np.linalg.norm(v)
    along = float(v @ K @ v)
    indefinite = K - (along + 0.01 * np.abs(K).max() + 0.01) * np.outer(v, v)
    indefinite = 0.5 * (indefinite + indefinite.T)
    claims = [proof, *_make_claims(rng, indefinite, y)]
    for claim in claims:
        _require_refused(claim, indefinite, y)
    try:
        nk.certify(indefinite, y, kernel="precomputed")
    except (CertificateError, DataError):
        return 2 + len(claims)
    raise AssertionError(f"certified: {indefinite!r}")


def _make_claims(rng: np.random.Generator, K: np.ndarray, y: np.ndarray) -> list[Any]:
    """Claims that would be true if these numbers were inner products: any f with all rows on its side."""
    n = len(K)
    kernel = resolve("precomputed", degree=3, gamma=None, coef0=1.0, fit_intercept=False, n_features=n)
    question = Question(1, 0, False, n_asked=n, kernel=kernel)
    signs = 2.0 * y - 1.0
    size = (n, n)
    found: list[Any] = [Inseparable(question, np.arange(n), (Fraction(1),) * n, *size)]
    for _ in range(20):
        alpha = rng.standard_normal(n) * rng.integers(0, 2, n)
        scores, squared = signs * (K @ alpha), float(alpha @ K @ alpha)
        if squared > 0.0 and scores.min() > 0.0:
            alpha, margin = alpha / squared**0.5, float(scores.min()) / squared**0.5 * 0.99
            radius = float(np.abs(K.diagonal()).max()) ** 0.5
            row = np.array([int(rng.integers(n))])
            found.append(KernelSeparable(question, alpha, 0.0, margin, 2 * radius, row, np.ones(1), radius, *size))
    return found


def _forge(rng: np.random.Generator, proof: Any) -> list[Any]:
    if not proof:
        more = list(proof.multipliers)
        more[rng.integers(len(more))] += 1
        return [replace(proof, multipliers=tuple(more))] if len(more) > 1 else []
    changes: list[dict[str, Any]] = [
        {"separator": -proof.separator},
        {"margin_lower": proof.margin_lower * 1.5 + proof.margin_upper},
        {"margin_upper": float(proof.margin_lower) * 0.99},
        {"radius": proof.radius * 0.999},
        {"radius": proof.radius * 1.001},
        {"multipliers": proof.multipliers * 2},
        {"intercept": 1.0},
        {"n_features": proof.n_features + 1},
    ]
    kernel = replace(proof.question.kernel, constant=1.0 - proof.question.kernel.constant)
    changes.append({"question": replace(proof.question, kernel=kernel)})
    return [replace(proof, **change) for change in changes]


def _require_all_refused(claims: list[Any], X: Any, y: np.ndarray) -> int:
    for claim in claims:
        _require_refused(claim, X, y)
    return len(claims)


def _require_refused(claim: Any, X: Any, y: np.ndarray) -> None:
    try:
        claim.verify(X, y)
    except CertificateError:
        return
    raise AssertionError(f"accepted: {claim!r}\n{X!r}\n{y!r}")


def _require_undecided(error: CertificateError) -> None:
    if "Undecided" not in str(error):
        raise error

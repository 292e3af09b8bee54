"""Certificates and bounds on rows of every kind: true ones verify, forged ones do not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

import novikoff as nk
from novikoff.errors import CertificateError

VALUES = np.array([1.0, -1.0, 0.1, 1 / 3, 3.0, 1e19, -1e19, 1e-19, 0.0, -0.0, 5e-324, -5e-324, 2.0**-1022])


def attack(rng: np.random.Generator) -> int:
    """Run one round."""
    tried = 0
    for _ in range(8):
        X, dense = _random_rows(rng)
        y = _random_labels(rng, dense)
        tried += _attack_proofs(rng, X, dense, y)
    return tried


def _random_rows(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """Random rows, often sparse with cells that are stored twice, and the same numbers as a dense array."""
    n, d = int(rng.integers(2, 12)), int(rng.integers(1, 5))
    kind = rng.integers(4)
    if kind == 0:
        dense = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-20, 20, (1, d))
        return dense, dense
    if kind == 1:
        dense = rng.integers(-3, 4, (n, d)).astype(float)
        return sp.csr_array(dense), dense
    most = int(rng.choice([3, 40]))
    counts = rng.integers(0, most, n)
    columns = rng.integers(0, d, counts.sum())
    values = rng.choice(VALUES, counts.sum()) * rng.choice([1.0, 1.0 + 2.0**-52, 7.0])
    dtype = rng.choice([np.float32, np.float64])
    ends = np.concatenate([[0], np.cumsum(counts)])
    X = sp.csr_array((values.astype(dtype), columns.astype(np.int32), ends.astype(np.int32)), shape=(n, d))
    dense = np.zeros((n, d), dtype)
    for row in range(n):
        for at in range(ends[row], ends[row + 1]):
            dense[row, columns[at]] += X.data[at]
    return (X if rng.integers(2) else X.tocsc()), dense.astype(float)


def _random_labels(rng: np.random.Generator, dense: np.ndarray) -> np.ndarray:
    if rng.integers(2):
        return rng.choice([-1, 1], len(dense))
    scores = dense / (np.abs(dense).max() or 1.0) @ rng.standard_normal(dense.shape[1])
    return np.where(scores > np.median(scores), 1, -1)


def _attack_proofs(rng: np.random.Generator, X: Any, dense: np.ndarray, y: np.ndarray) -> int:
    intercept = bool(rng.integers(2))
    certificate: Any = nk.certify(X, y, fit_intercept=intercept)
    bound = nk.mistake_bound(X, y, fit_intercept=intercept, certificate=certificate)
    fewest = nk.fewest_errors(X, y, fit_intercept=intercept, time_limit=0.05)
    for proof in (certificate, bound, fewest):
        proof.verify(X, y)
        proof.verify(dense, y)
    forged = _forge_certificates(rng, certificate, dense) + _forge_bounds(bound)
    forged += [replace(fewest, lower=fewest.upper + 1), replace(fewest, upper=fewest.upper + 1)]
    for claim in forged:
        for form in (X, dense):
            try:
                claim.verify(form, y)
            except CertificateError:
                continue
            raise AssertionError(f"accepted: {claim!r}\n{form!r}\n{dense!r}\n{y!r}")
    return 6 + 2 * len(forged)


def _forge_certificates(rng: np.random.Generator, proof: Any, dense: np.ndarray) -> list[Any]:
    """Certificates with the opposite verdict, and changes that make a certificate false."""
    if not proof:
        w = rng.standard_normal(dense.shape[1] + 1) * 10.0 ** rng.integers(-20, 20, dense.shape[1] + 1)
        w[-1] *= proof.question.fit_intercept
        w /= np.linalg.norm(w)
        radius = float(np.sqrt(np.linalg.norm(dense, axis=1).max() ** 2 + proof.question.fit_intercept))
        rows, shares = proof.rows, proof.shares
        other = nk.Separable(
            proof.question, w[:-1], w[-1], 5e-324, radius, rows, shares, radius, proof.n_rows, proof.n_features
        )
        more = list(proof.multipliers)
        more[rng.integers(len(more))] += 1
        return [other, *([replace(proof, multipliers=tuple(more))] if len(more) > 1 else [])]
    rows = rng.permutation(proof.n_rows)[: rng.integers(1, dense.shape[1] + 2)]
    multipliers = tuple(map(int, rng.integers(1, 3, len(rows))))
    changes: list[dict[str, Any]] = [
        {"separator": -proof.separator, "intercept": -proof.intercept},
        {"margin_lower": proof.margin_lower * 2},
        {"margin_upper": proof.margin_upper / 2},
        {"radius": proof.radius * 0.999},
        {"radius": proof.radius * 1.001},
        {"multipliers": proof.multipliers * 2},
        {"separator": proof.separator * 2, "intercept": proof.intercept * 2},
    ]
    return [replace(proof, **change) for change in changes if not _is_tiny(proof)] + [
        nk.Inseparable(proof.question, rows, multipliers, proof.n_rows, proof.n_features)
    ]


def _is_tiny(proof: Any) -> bool:
    """Whether the margin is so small that the changes above could be rounded away."""
    return not float(proof.margin_lower) > 1e-300


def _forge_bounds(bound: Any) -> list[Any]:
    found = []
    for candidate in bound.candidates.values():
        changes: list[dict[str, Any]] = [
            {"value": candidate.value * 0.99},
            {"value": candidate.value * 1.01},
            {"lower": candidate.value * 1.01},
            {"radius": candidate.radius * 1.001 + 1e-300},
            {"loss": candidate.loss * 1.01 + 0.01},
            {"n_rows": candidate.n_rows + 1},
        ]
        found += [replace(candidate, **change) for change in changes]
    return found

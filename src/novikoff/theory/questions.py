"""Question: which labels should be on which side of a half-space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novikoff.errors import CertificateError, DataError
from novikoff.kernel_methods.kernels import CustomKernel, Kernel
from novikoff.theory.checkers.fields import require_integers, require_label, require_numbers, require_type
from novikoff.theory.checkers.rows import assign_signs

__all__ = ["TIES", "Question", "names_of"]

TIES = ("wrong", "positive")  # what a score of 0 counts as


@dataclass(frozen=True)
class Question:
    """Which rows should lie on the positive side, and which on the negative; other rows do not belong to the question.

    A side that is None has no label, or is all labels but the positive one in a question of one against the rest. With
    an intercept every row has a constant coordinate 1.
    """

    positive: Any
    negative: Any = None
    fit_intercept: bool = True
    one_against_rest: bool = False
    n_asked: int | None = None  # the number of rows on either side; None until the rows are known
    kernel: Kernel | CustomKernel | None = None  # in whose feature space the rows are; its constant is the intercept
    ties: str = "wrong"  # "positive" if a score of 0 counts as positive

    @classmethod
    def against_rest(cls, positive: Any, names: list[Any], fit_intercept: bool, n_asked: int | None = None) -> Question:
        """Return the question of one class against all others; a DataError if it is none of the labels `names`."""
        if positive not in names:
            raise DataError(f"The label {positive!r} is not in y, whose labels are {names!r}.")
        return cls(positive, None, fit_intercept, one_against_rest=True, n_asked=n_asked)

    @property
    def constant(self) -> float:
        return 1.0 if self.fit_intercept and self.kernel is None else 0.0

    def signs(self, y: Any) -> np.ndarray:
        """Return the sign of each row: +1 and -1 on the two sides, 0 for rows that the question is not about."""
        y = np.asarray(y)
        negative = y != self.positive if self.one_against_rest else y == self.negative
        return (y == self.positive).astype(np.int64) - negative

    def checked_signs(self, y: np.ndarray) -> np.ndarray:
        """Assign signs independently of `signs`, for `verify`; a CertificateError if question and labels do not fit."""
        self._check_types()
        if self.one_against_rest and self.negative is not None:
            raise CertificateError(f"A question against the rest names no negative label, as {self.negative!r}.")
        if self.kernel is not None and self.kernel.constant != bool(self.fit_intercept):
            given = f"fit_intercept={self.fit_intercept}"
            raise CertificateError(f"{given} does not go with a kernel whose constant is {self.kernel.constant!r}.")
        signs = assign_signs(y, self.positive, self.negative, self.one_against_rest)
        if np.count_nonzero(signs) != self.n_asked:
            count = f"{np.count_nonzero(signs)} of these have such labels"
            raise CertificateError(f"The certificate is about {self.n_asked} rows ({self}); {count}.")
        return signs

    def _check_types(self) -> None:
        require_label(positive=self.positive, negative=self.negative)
        require_integers(n_asked=self.n_asked)
        flags = (self.fit_intercept, self.one_against_rest)
        if not all(isinstance(flag, (bool, int, np.bool_, np.integer)) and flag in (0, 1) for flag in flags):
            raise CertificateError(f"fit_intercept and one_against_rest are True or False, not {flags}.")
        if not isinstance(self.ties, str) or self.ties not in TIES:
            raise CertificateError(f"ties is one of {', '.join(map(repr, TIES))}, not {self.ties!r}.")
        require_type("kernel", self.kernel, Kernel, CustomKernel, type(None))
        if self.kernel is not None:
            require_numbers(constant=self.kernel.constant)
        if isinstance(self.kernel, CustomKernel) and not callable(self.kernel.function):
            raise CertificateError(f"A kernel is a function, not {self.kernel.function!r}.")

    def __str__(self) -> str:
        if self.one_against_rest:
            return f"{self.positive} against the rest"
        if self.negative is None or self.positive is None:
            return f"{self.negative if self.positive is None else self.positive}, the only label"
        return f"{self.positive} against {self.negative}"


def names_of(classes: np.ndarray) -> list[Any]:
    """Convert classes to plain Python values; dates are left alone, because `tolist` would make integers of them."""
    return list(classes) if classes.dtype.kind in "mM" else classes.tolist()

"""Section: a named part of a model file, with its facts (JSON) and tensors; the one place that looks at either."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

import numpy as np

from novikoff.errors import ModelFileError

__all__ = ["Section"]

T = TypeVar("T")

LARGEST = 2**62  # of anything counted: half of what an int64 holds, so that counting can go on


@dataclass(eq=False)
class Section:
    """A part of a model file. What is put into it comes back through the checks of the same name.

    Attributes
    ----------
    complaint : str
        How the message of an error begins: which file, or which attempt.
    facts : dict
        What JSON can hold; the facts of a part are a dict within it.
    tensors : dict
        Of the whole file, by their full names.
    path : str
        Where this part is in the file, "" for the root.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.model_files import Section
    >>> root = Section("m.nk holds no sound model")
    >>> moments = root.open("moments")
    >>> moments.facts["seen"] = 3
    >>> moments.put("mean", np.array([0.5, 2.0]))
    >>> root.tensors
    {'moments.mean': array([0.5, 2. ])}
    >>> root.part("moments").tensor("mean", np.float64, (3,))
    Traceback (most recent call last):
    ...
    novikoff.errors.ModelFileError: m.nk holds no sound model: moments.mean has shape (2,), expected (3,).
    """

    complaint: str
    facts: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    path: str = ""

    # -- writing

    def open(self, name: str) -> Section:
        """A new part."""
        facts = self.facts[name] = {}
        return Section(self.complaint, facts, self.tensors, self.place(name))

    def put(self, name: str, array: np.ndarray) -> None:
        """Keep an array."""
        self.tensors[self.place(name)] = np.asarray(array, order="C")

    # -- reading

    def part(self, name: str) -> Section:
        """The part of this name."""
        return Section(self.complaint, self.fact(name, dict), self.tensors, self.place(name))

    def fact(self, name: str, kind: type[T]) -> T:
        """The fact of this name, of exactly this type; an int counts something and is not negative."""
        value = self.facts.get(name)
        if name not in self.facts:
            self.fail(f"{self.place(name)} is missing")
        if type(value) is not kind or (isinstance(value, int) and not 0 <= value <= LARGEST):
            self.fail(f"{self.place(name)} is {reprlib.repr(value)}")
        return value

    def tensor(self, name: str, dtype: Any, shape: tuple[int | None, ...]) -> np.ndarray:
        """The tensor of this name, of this dtype or one of these, and this shape; None fits any length."""
        dtypes = [np.dtype(each) for each in (dtype if isinstance(dtype, tuple) else (dtype,))]
        place, found = self.place(name), self.tensors.get(self.place(name))
        if found is None:
            self.fail(f"{place} is missing")
        if found.dtype not in dtypes:
            self.fail(f"{place} has dtype {found.dtype}, expected {' or '.join(map(str, dtypes))}")
        fits = found.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, found.shape, strict=True))
        if not fits:
            expected = ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "")
            self.fail(f"{place} has shape {found.shape}, expected ({expected})")
        return found

    def finite(self, name: str, dtype: Any, shape: tuple[int | None, ...]) -> np.ndarray:
        """The tensor of this name; NaN and infinity are refused."""
        found = self.tensor(name, dtype, shape)
        self.require(np.isfinite(found).all(), f"{self.place(name)} holds NaN or infinity")
        return found

    def indices(self, name: str, shape: tuple[int | None, ...], limit: int, dtype: Any = np.int64) -> np.ndarray:
        """The tensor of this name; every number from 0 to limit - 1, for compiled code does not check its indices."""
        found = self.tensor(name, dtype, shape)
        sound = not found.size or (found.min() >= 0 and found.max() < limit)
        self.require(sound, f"{self.place(name)} points outside 0..{limit - 1}")
        return found

    def require(self, condition: Any, otherwise: str) -> None:
        """Raise a ModelFileError with this reason unless the condition holds."""
        if not condition:
            self.fail(otherwise)

    def fail(self, reason: str, cause: Exception | None = None) -> NoReturn:
        """Raise a ModelFileError with this reason."""
        raise ModelFileError(f"{self.complaint}: {reason.rstrip('.')}.") from cause

    def place(self, name: str) -> str:
        """The full name of something in this part."""
        return f"{self.path}.{name}" if self.path else name

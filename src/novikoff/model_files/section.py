"""Section: a named part of a model file, with its facts (JSON values) and tensors."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

import numpy as np

from novikoff.errors import ModelFileError

__all__ = ["Section"]

T = TypeVar("T")

LARGEST_COUNT = 2**62  # half of what an int64 holds, so that counting can continue


@dataclass(eq=False)
class Section:
    """A part of a model file. All reading goes through its methods, which check what they return.

    Attributes
    ----------
    complaint : str
        The beginning of error messages: which file is not valid, or which attempt failed.
    facts : dict
        JSON values; the facts of a part are a dict within those of the section.
    tensors : dict
        The tensors of the whole file, by full name.
    path : str
        The path of this part in the file, such as "state.history"; "" for the root.

    Examples
    --------
    >>> import numpy as np
    >>> from novikoff.model_files import Section
    >>> root = Section("m.nk holds no valid model")
    >>> moments = root.add_part("moments")
    >>> moments.facts["seen"] = 3
    >>> moments.add_tensor("mean", np.array([0.5, 2.0]))
    >>> root.tensors
    {'moments.mean': array([0.5, 2. ])}
    >>> root.part("moments").tensor("mean", np.float64, (3,))
    Traceback (most recent call last):
    ...
    novikoff.errors.ModelFileError: m.nk holds no valid model: moments.mean has shape (2,), expected (3,).
    """

    complaint: str
    facts: dict[str, Any] = field(default_factory=dict)
    tensors: dict[str, np.ndarray] = field(default_factory=dict)
    path: str = ""

    # -- writing

    def add_part(self, name: str) -> Section:
        """Add a part and return it."""
        facts = self.facts[name] = {}
        return Section(self.complaint, facts, self.tensors, self.full_name(name))

    def add_tensor(self, name: str, array: np.ndarray) -> None:
        """Add an array."""
        self.tensors[self.full_name(name)] = np.asarray(array, order="C")

    # -- reading

    def part(self, name: str) -> Section:
        """Return the part of this name."""
        return Section(self.complaint, self.fact(name, dict), self.tensors, self.full_name(name))

    def fact(self, name: str, kind: type[T]) -> T:
        """Return the fact of this name, which must have exactly this type; an int is a count and not negative."""
        value = self.facts.get(name)
        if name not in self.facts:
            self.fail(f"{self.full_name(name)} is missing")
        if type(value) is not kind or (isinstance(value, int) and not 0 <= value <= LARGEST_COUNT):
            self.fail(f"{self.full_name(name)} is {reprlib.repr(value)}")
        return value

    def tensor(self, name: str, dtype: Any, shape: tuple[int | None, ...]) -> np.ndarray:
        """Return the tensor of this name, of this dtype or one of these, and this shape; None fits any length."""
        dtypes = [np.dtype(each) for each in (dtype if isinstance(dtype, tuple) else (dtype,))]
        full_name, tensor = self.full_name(name), self.tensors.get(self.full_name(name))
        if tensor is None:
            self.fail(f"{full_name} is missing")
        if tensor.dtype not in dtypes:
            self.fail(f"{full_name} has dtype {tensor.dtype}, expected {' or '.join(map(str, dtypes))}")
        fits = tensor.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, tensor.shape, strict=True))
        if not fits:
            expected = ", ".join("any" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "")
            self.fail(f"{full_name} has shape {tensor.shape}, expected ({expected})")
        return tensor

    def finite(self, name: str, dtype: Any, shape: tuple[int | None, ...]) -> np.ndarray:
        """Return the tensor of this name; NaN and infinity are refused."""
        tensor = self.tensor(name, dtype, shape)
        self.require(np.isfinite(tensor).all(), f"{self.full_name(name)} holds NaN or infinity")
        return tensor

    def indices(self, name: str, shape: tuple[int | None, ...], limit: int, dtype: Any = np.int64) -> np.ndarray:
        """Return the tensor of this name, all from 0 to limit - 1, because compiled code does not check indices."""
        tensor = self.tensor(name, dtype, shape)
        is_valid = not tensor.size or (tensor.min() >= 0 and tensor.max() < limit)
        self.require(is_valid, f"{self.full_name(name)} points outside 0..{limit - 1}")
        return tensor

    def require(self, condition: Any, otherwise: str) -> None:
        """Raise a ModelFileError with this reason unless the condition holds."""
        if not condition:
            self.fail(otherwise)

    def fail(self, reason: str, cause: Exception | None = None) -> NoReturn:
        """Raise a ModelFileError with this reason."""
        raise ModelFileError(f"{self.complaint}: {reason.rstrip('.')}.") from cause

    def full_name(self, name: str) -> str:
        """Return the name of a fact or tensor of this part with the path of the part before it."""
        return f"{self.path}.{name}" if self.path else name

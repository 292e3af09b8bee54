"""nk.load: whatever a model file holds."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from novikoff import online, store
from novikoff.errors import ModelFileError

if TYPE_CHECKING:
    from novikoff.estimators import Perceptron

__all__ = ["load"]


def load(
    path: str | os.PathLike[str], *, rule: Callable[[float, float], float] | None = None
) -> Perceptron | online.StreamModel:
    """Read a learner that `save` or `novikoff learn` has written.

    It is equal to the one that was saved, and goes on learning as that would have, to the last bit. Nothing in the file
    is executed. A file that is not whole and sound is a `ModelFileError`.

    Parameters
    ----------
    path : str or path
    rule : callable, optional
        The rule it was trained by, if that is a function of one's own: a file holds no code.

    Returns
    -------
    Perceptron or StreamModel

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import novikoff as nk
    >>> model = nk.Perceptron().learn_one({"free": 1, "money": 2}, "spam")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(pathlib.Path(folder, "m.nk"))
    ...     again = nk.load(pathlib.Path(folder, "m.nk"))
    >>> again.learn_one({"lunch": 1}, "ham").ledger_.mistakes
    2
    """
    kind, root = store.read(path)
    if kind == online.KIND:
        if rule is not None:
            raise ModelFileError(f"{os.fspath(path)} knows its rule; rule= is only for models trained by a function.")
        return online.StreamModel.taken(root, path)
    from novikoff.estimators import estimator_of

    return estimator_of(store.taken(path, kind, root, rule), path)

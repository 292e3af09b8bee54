"""nk.load: an estimator from its file."""

from __future__ import annotations

import os
from collections.abc import Callable

from novikoff import store
from novikoff.errors import ModelFileError
from novikoff.estimators.perceptron import Perceptron

__all__ = ["load"]


def load(path: str | os.PathLike[str], *, rule: Callable[[float, float], float] | None = None) -> Perceptron:
    """Read a learner that `save` has written.

    It is equal to the one that was saved, and goes on learning as that would have, to the last bit. Nothing in the file
    is executed. A file that is not whole and sound is a `ModelFileError`.

    Parameters
    ----------
    path : str or path
    rule : callable, optional
        The rule it was trained by, if that is a function of one's own: a file holds no code.

    Returns
    -------
    Perceptron

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
    saved = store.load(path, rule)
    if saved.kind != "perceptron":
        raise ModelFileError(f"{os.fspath(path)} holds a learner of kind {saved.kind!r}, which this version of "
                             "novikoff cannot make.")  # fmt: skip
    try:
        found = Perceptron(**saved.parameters)
        found._validate_params()
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"{os.fspath(path)} holds no sound model: {error}") from error
    found._model = saved.model
    found.__dict__.update(saved.fitted)
    return found

"""nk.load: whatever a model file holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from novikoff import online, store
from novikoff.errors import ModelFileError

if TYPE_CHECKING:
    from novikoff.estimators import KernelPerceptron, KernelRegressor, LinearClassifier, LinearRegressor, Perceptron
    from novikoff.losses import Custom
    from novikoff.structured import SequenceTagger

    AnyEstimator = KernelPerceptron | KernelRegressor | LinearClassifier | LinearRegressor | Perceptron
    AnyLearner = AnyEstimator | SequenceTagger | online.StreamModel

__all__ = ["load"]


def load(
    path: str | os.PathLike[str], *, rule: Callable[[float, float], float] | None = None,
    kernel: Callable[[Any, Any], Any] | None = None, attributes: Mapping[str, Any] | None = None,
    loss: Custom | None = None,
) -> AnyLearner:  # fmt: skip
    """Read a learner that `save` or `novikoff learn` has written.

    It is equal to the one that was saved, and goes on learning as that would have, to the last bit. Nothing in the file
    is executed. A file that is not whole and sound is a `ModelFileError`.

    Parameters
    ----------
    path : str or path
    rule : callable, optional
        The rule it was trained by, if that is a function of one's own: a file holds no code.
    kernel : callable, optional
        The kernel, likewise.
    attributes : dict of functions, optional
        The attributes of one's own that a tagger was trained with, likewise.

    loss : losses.Custom, optional
        The loss, likewise.

    Returns
    -------
    Perceptron, LinearClassifier, LinearRegressor, KernelPerceptron, KernelRegressor, SequenceTagger or StreamModel

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
    if kind == "tagger":
        from novikoff.structured.saved import taken

        return taken(root, path, attributes)
    from novikoff.descent import files as linear_files
    from novikoff.estimators import estimator_of, kernel_estimator_of, linear_estimator_of
    from novikoff.potential import files

    if kind in linear_files.KINDS:
        return linear_estimator_of(linear_files.taken(path, kind, root, loss), path)
    if kind in (files.KIND, files.REGRESSION):
        if rule is not None:
            raise ModelFileError(f"{os.fspath(path)} holds a model with a kernel, which has no other rule.")
        return kernel_estimator_of(files.taken(path, root, kernel), kind, path)
    if kernel is not None:
        raise ModelFileError(f"{os.fspath(path)} holds a model without a kernel; kernel= is only for those trained "
                             "with a function.")  # fmt: skip
    return estimator_of(store.taken(path, kind, root, rule), path)

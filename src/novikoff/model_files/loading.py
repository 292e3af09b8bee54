"""nk.load, and the registry of the kinds of model files: which function builds each learner."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from novikoff.errors import ModelFileError
from novikoff.model_files.container import read

if TYPE_CHECKING:
    from novikoff.estimators import KernelPerceptron, KernelRegressor, LinearClassifier, LinearRegressor, Perceptron
    from novikoff.losses import Custom
    from novikoff.streaming.model import StreamModel
    from novikoff.streaming.regressor import StreamRegressor
    from novikoff.structured import SequenceTagger

    AnyEstimator: TypeAlias = KernelPerceptron | KernelRegressor | LinearClassifier | LinearRegressor | Perceptron
    AnyLearner: TypeAlias = AnyEstimator | SequenceTagger | StreamModel | StreamRegressor

__all__ = ["KINDS", "Kind", "load"]


class Kind(NamedTuple):
    """A kind of model file.

    Attributes
    ----------
    module, loader : str
        A module, and its function of (path, kind, root section, code) that builds the learner. Only the module of the
        kind at hand is imported.
    code : str, optional
        The parameter of `load` by which a user passes a function, which the file cannot hold.
    """

    module: str
    loader: str
    code: str | None = None


KINDS = {
    "perceptron": Kind("novikoff.estimators.from_files", "load_perceptron", "rule"),
    "linear-classifier": Kind("novikoff.estimators.from_files", "load_linear", "loss"),
    "linear-regressor": Kind("novikoff.estimators.from_files", "load_linear", "loss"),
    "kernel-perceptron": Kind("novikoff.estimators.from_files", "load_kernel", "kernel"),
    "kernel-regressor": Kind("novikoff.estimators.from_files", "load_kernel", "kernel"),
    "tagger": Kind("novikoff.structured.saving", "load_tagger", "attributes"),
    "stream": Kind("novikoff.streaming.model", "load_stream_model"),
    "stream-regressor": Kind("novikoff.streaming.regressor", "load_stream_regressor"),
}
_NEEDED_BY = {
    "rule": "perceptrons trained by a function",
    "kernel": "models with a kernel that is a function",
    "loss": "linear models trained with a loss of one's own",
    "attributes": "taggers with attributes of one's own",
}


def load(
    path: str | os.PathLike[str],
    *,
    rule: Callable[[float, float], float] | None = None,
    kernel: Callable[[Any, Any], Any] | None = None,
    attributes: Mapping[str, Any] | None = None,
    loss: Custom | None = None,
) -> AnyLearner:
    """Read a learner that `save` or `novikoff learn` has written.

    It equals the one that was saved, and continues to learn as that would have, to the last bit. Nothing in the file is
    executed. A file that is damaged or not valid is a `ModelFileError`.

    Parameters
    ----------
    path : str or path
    rule : callable, optional
        The rule it was trained with, if that is a user's function: a file holds no code.
    kernel : callable, optional
        The kernel, likewise.
    attributes : dict of functions, optional
        The user's attributes that a tagger was trained with, likewise.
    loss : losses.Custom, optional
        The loss, likewise.

    Returns
    -------
    Perceptron, LinearClassifier, LinearRegressor, KernelPerceptron, KernelRegressor, SequenceTagger, StreamModel or
    StreamRegressor

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
    kind, root = read(path)
    if kind not in KINDS:
        raise ModelFileError(
            f"{os.fspath(path)} holds a learner of kind {kind!r}, which this version of novikoff cannot load."
        )
    module, loader, code = KINDS[kind]
    given = {"rule": rule, "kernel": kernel, "attributes": attributes, "loss": loss}
    for name, value in given.items():
        if value is not None and name != code:
            raise ModelFileError(
                f"{os.fspath(path)} holds a {kind} model, which needs no {name}=; that is only for {_NEEDED_BY[name]}."
            )
    return getattr(import_module(module), loader)(path, kind, root, given.get(code or ""))

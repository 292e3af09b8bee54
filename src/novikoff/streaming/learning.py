"""nk.learn: from files or blocks to a model, with passes, checkpoints and resuming."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal

from novikoff import hypotheses, rules
from novikoff.data.encoding import Features, TableEncoding
from novikoff.data.formats.block import Block
from novikoff.data.in_memory import OPTIONS, OpenedData, is_data
from novikoff.errors import DataError, LossError
from novikoff.perceptron.learner import Learner, Ties
from novikoff.streaming.checkpoints import Checkpointer, require_replaceable
from novikoff.streaming.class_weights import ClassWeight
from novikoff.streaming.data_checks import require_repeated_labels
from novikoff.streaming.data_passes import DataPasses
from novikoff.streaming.defaults import choose_rule_and_hypothesis
from novikoff.streaming.in_memory import open_data_for_model
from novikoff.streaming.label_runs import LabelRuns, TargetRuns
from novikoff.streaming.model import StreamModel
from novikoff.streaming.opening import remember_reader
from novikoff.streaming.passes import FilePasses, PassObserver, RowSkipper
from novikoff.streaming.regressor import StreamRegressor
from novikoff.streaming.rejects import RejectLog
from novikoff.streaming.row_order import ShufflePolicy, Shuffles
from novikoff.streaming.session import LearningSession

__all__ = ["learn"]

PathLike = str | os.PathLike[str]

_LEARNER_OPTIONS = ("rule", "hypothesis", "ties", "fit_intercept")
_FEATURE_OPTIONS = tuple(field.name for field in fields(Features))


def learn(
    stream: Any,
    y: Any = None,
    *,
    loss: Literal["mistakes", "squared"] = "mistakes",
    rule: rules.RuleName | rules.Rule | Callable[[float, float], float] | None = None,
    hypothesis: hypotheses.HypothesisName | None = None,
    fit_intercept: bool = True,
    ties: Ties = "mistake",
    class_weight: ClassWeight | None = None,
    passes: int = 1,
    shuffle: Shuffles = "sorted",
    seed: int = 0,
    checkpoint: PathLike | None = None,
    checkpoint_every: float = 60.0,
    resume: bool = False,
    rejects: PathLike | None = None,
    **options: Any,
) -> StreamModel:
    """Learn from the rows of files, of data in memory, or of a stream of blocks.

    Parameters
    ----------
    stream : path, list of paths, DataFrame, list of dicts, array, sparse matrix, or iterable of blocks
        Files in any format that `open_stream` reads, or the blocks that it yields; or data as `StreamModel.predict`
        takes them, which lead to the same model as a file with these rows.
    y : list, array or Series of labels, optional
        For data in memory; by default their labels are in the column `target`.
    loss : {"mistakes", "squared"}
        What to keep small: the number of wrong labels, or, for labels that are numbers, the squared errors of the
        predicted numbers (regression, see `StreamRegressor`).
    rule, hypothesis, fit_intercept, ties
        As those of `Perceptron`; not for the squared loss, which has nothing to choose. The rule is "auto"
        by default, or "perceptron" if a hypothesis is chosen; the hypothesis is "averaged" by default, or "last" for
        "auto", "arow", "adagrad" and "coin".
    class_weight : dict {label: weight} or "balanced", optional
        The factor of the steps on rows with each label, > 0; a label that is not in the dict has 1. "balanced" is
        n / (K * count of the label), for the n rows and K labels so far.
    passes : int
        How often to go through the files or data.
    shuffle : {"sorted", "always", "never"}
        Whether the first pass visits the rows in a random order: if they come sorted by label, always, or
        never. Later passes visit them in a new random order each, unless it is "never". Rows of more than 512 MB are
        shuffled in parts. Blocks and pipes keep their order.
    seed : int
        Of the random orders.
    checkpoint : path, optional
        A model file that is written while the model learns, and in the end. Each checkpoint replaces the one before it
        as a whole. After an error in the data, or Ctrl-C, the file has what was learned until then.
    checkpoint_every : float
        Seconds between two checkpoints; 0 for one after every block.
    resume : bool
        Whether to continue from `checkpoint`, if that file exists: rows that it has learned are not learned again. The
        result is the same, byte for byte, as that of a run that was never interrupted, provided that files and options
        are the same. A run that was complete is left as it is.
    rejects : path, optional
        A file for the rows that `bad_rows="skip"` leaves out, each with its reason.
    **options
        How columns become features: `scale=False` takes numbers as they are, not standardised as they come;
        `hats=False` does not also interpolate them between knots, by which the model learns a curve over each;
        `log_counts=False` leaves counts as they are, where n occurrences of a word are 1 + ln n by default;
        `hash_bits=20` gives the first 2**20 names a weight each, which later ones share; `ngrams=(1, 2)` and
        `char_ngrams=(3, 4)` are the fewest and the most words and characters that make a feature of a text. For paths
        also how to read the files: `target`, `drop`, `types`, `header`, `delimiter`, `decimal`, `dates`, `encoding`,
        `format` and `bad_rows`, as in `open_stream`; for data in memory the first three and the last.

    Returns
    -------
    StreamModel, or StreamRegressor for the squared loss
        With `predict`, `predict_one`, `score`, `learn`, `learn_one`, `save`, `heaviest` and a `ledger`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import novikoff as nk
    >>> folder = tempfile.TemporaryDirectory()
    >>> days, checkpoint = pathlib.Path(folder.name, "days.csv"), pathlib.Path(folder.name, "days.nk")
    >>> _ = days.write_text("sky,wind,sail\\nsun,3,yes\\nrain,9,no\\nsun,4,yes\\n")
    >>> model = nk.learn(days, target="sail", checkpoint=checkpoint)
    >>> model.ledger.examples, model.labels
    (3, ['no', 'yes'])

    A run that resumes learns only the rows that the checkpoint has not learned, because the process was killed or
    because the file has grown since:

    >>> _ = days.write_text(days.read_text() + "rain,2,yes\\n")
    >>> nk.learn(days, target="sail", checkpoint=checkpoint, resume=True).ledger.examples
    4

    Rows that are in memory, here with their labels beside them:

    >>> model = nk.learn([{"sky": "sun", "wind": 3}, {"sky": "rain", "wind": 9}], ["yes", "no"])
    >>> model.predict_one({"sky": "rain", "wind": 8}), model.score(days)
    ('no', 1.0)

    Blocks come from any reader:

    >>> nk.learn(nk.open_stream(days, target="sail"), hypothesis="last").ledger.examples
    4

    A number can be the target of a regression:

    >>> nk.learn(days, target="wind", loss="squared")
    StreamRegressor(4 features, 4 examples)
    >>> folder.cleanup()
    """
    data = None if y is None and not is_data(stream) else stream
    files = None if data is not None else _as_files(stream)
    chosen = {name: options.pop(name) for name in _FEATURE_OPTIONS if name in options}
    _require_options(files, data, y, options)
    _require_sound(files, data, passes, checkpoint, resume)
    learner = Learner(*choose_rule_and_hypothesis(rule, hypothesis), ties, fit_intercept)
    given = {"rule": rule is not None, "hypothesis": hypothesis is not None}
    given |= {"fit_intercept": not fit_intercept, "ties": ties != "mistake"}
    new = _new_model(loss, learner, Features(**chosen), class_weight, [name for name in given if given[name]])
    model = _new_or_resumed(new, checkpoint if resume else None)
    log = None if rejects is None else RejectLog(Path(rejects), append=resume)
    checkpointer = None if checkpoint is None else Checkpointer(model, Path(checkpoint), checkpoint_every, log)
    policy, check = ShufflePolicy(shuffle, seed), None if model.predicts_numbers else require_repeated_labels
    blocks: Iterable[Block]
    if files is not None or data is not None:
        how: dict[str, Any] = {
            "passes": passes,
            "resume": resume and model.encoding is not None,
            "policy": policy,
            "check": check,
            "observer": _WarningObserver(),
        }
        if files is not None:
            blocks = FilePasses(model, files, options=options, **how)
        else:
            blocks = DataPasses(model, _open_data(model, data, y, options), **how)
    else:
        remember_reader(model, stream)
        blocks = model.ahead_of(RowSkipper(model.rows_of_run).skip(stream))
    LearningSession(model, blocks, checkpointer=checkpointer, rejects=log).run()
    if model.class_weights is not None and (unused := model.class_weights.unused(model.labels)):
        warnings.warn(f"class_weight has a weight for {unused[0]!r}, but no row had this label.", stacklevel=2)
    return model


def _as_files(stream: Any) -> list[str] | None:
    """The paths that were given; None if blocks were."""
    if isinstance(stream, (str, os.PathLike)):
        stream = [stream]
    if isinstance(stream, (list, tuple)) and stream and all(isinstance(one, (str, os.PathLike)) for one in stream):
        return [os.fspath(path) for path in stream]
    return None


def _open_data(model: StreamModel, data: Any, y: Any, options: dict[str, Any]) -> OpenedData:
    """Open data in memory, and let the model remember their target and how they are written."""
    opened = open_data_for_model(model, data, y, options)
    model.target, model.form = opened.target_name, model.form or opened.form
    return opened


def _require_options(files: list[str] | None, data: Any, y: Any, options: dict[str, Any]) -> None:
    """Raise an error for options that say how to read something else."""
    unknown = [name for name in options if name not in OPTIONS]
    if data is not None and unknown:
        raise TypeError(f"learn() got {unknown[0]!r}, which says how to read a file, but was given data in memory.")
    if y is not None and options.get("target") is not None:
        raise TypeError("learn() got labels twice: as y and, by target, as a column of the data; drop leaves it out.")
    if files is None and data is None and options:
        raise TypeError(
            f"learn() got {next(iter(options))!r}, which says how to read a file, but was given blocks; "
            "give a path, or pass it to open_stream."
        )


def _require_sound(files: list[str] | None, data: Any, passes: int, checkpoint: PathLike | None, resume: bool) -> None:
    """Raise an error for arguments that do not fit together."""
    if passes < 1:
        raise DataError(f"passes must be 1 or more; found {passes}.")
    if passes > 1 and data is None and (files is None or "-" in files):
        raise DataError("Blocks and pipes can be read once: for more than one pass give the paths of files.")
    if resume and checkpoint is None:
        raise DataError("resume needs the checkpoint to continue from.")
    if resume and files is not None and "-" in files:
        raise DataError("A pipe begins where it is: to resume give the paths of files.")
    if checkpoint is not None:
        require_replaceable(checkpoint)


def _new_model(
    loss: str, learner: Learner, features: Features, class_weight: ClassWeight | None, chosen: Sequence[str]
) -> StreamModel:
    """A model that has learned nothing; `chosen` are the parameters of the learner that the caller has given."""
    if loss == "mistakes":
        return StreamModel(learner, features, class_weight)
    if loss != "squared":
        raise LossError(f"learn() knows the losses 'mistakes' and 'squared'; found {loss!r}.")
    if class_weight is not None:
        raise LossError("class_weight is for loss='mistakes': numbers have no classes.")
    if chosen:
        raise LossError(f"{chosen[0]} is for loss='mistakes'; loss='squared' has nothing to choose.")
    return StreamRegressor(features)


def _new_or_resumed(new: StreamModel, checkpoint: PathLike | None) -> StreamModel:
    """The model in the checkpoint, if there is one, which must have been made as the new one; else the new one."""
    if checkpoint is None or not os.path.exists(checkpoint):
        return new
    model = StreamModel.load(checkpoint)
    pairs: dict[str, Any] = {"loss": (_loss_of(model), _loss_of(new))}
    if not (model.predicts_numbers or new.predicts_numbers):
        own, asked = model.model.learner, new.model.learner
        pairs |= {name: (getattr(own, name), getattr(asked, name)) for name in _LEARNER_OPTIONS}
    features = getattr(model.encoding, "features", new.features)
    pairs |= {name: (getattr(features, name), getattr(new.features, name)) for name in _FEATURE_OPTIONS}
    if model.encoding is not None:
        pairs["scale"] = (model.encoding.scales, new.features.scale)
        pairs["hats"] = (model.encoding.has_hats, new.features.has_hats)
        has_logs = new.features.log_counts and (new.features.scale or isinstance(model.encoding, TableEncoding))
        pairs["log_counts"] = (model.encoding.log_counts, has_logs)
    pairs["class_weight"] = _class_weight_of(model), _class_weight_of(new)
    for name, (found, asked_for) in pairs.items():
        if found != asked_for:
            raise DataError(
                f"{os.fspath(checkpoint)} was learned with {name}={found} and cannot be continued with "
                f"{name}={asked_for}. Give the same parameters, or resume=False to begin anew."
            )
    return model


def _loss_of(model: StreamModel) -> str:
    return "squared" if model.predicts_numbers else "mistakes"


def _class_weight_of(model: StreamModel) -> ClassWeight | None:
    return None if model.class_weights is None else model.class_weights.class_weight


class _WarningObserver(PassObserver):
    """Turns notices into warnings."""

    def on_notice(self, message: str) -> None:
        warnings.warn(message, UserWarning, stacklevel=2)

    def on_sorted(self, runs: LabelRuns | TargetRuns) -> None:
        self.on_notice(
            f"The first {runs.n_rows:,} rows come sorted by label, or have one label only, and stay in their order: "
            "what the ledger counts then says nothing, and the model may be poor. Shuffle the rows first."
        )

"""nk.distributed.learn: rounds of learners that each go through some of the files, with a checkpoint each."""

from __future__ import annotations

import glob
import os
import time
import uuid
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from novikoff import hypotheses, rules
from novikoff.data.encoding import Features
from novikoff.data.formats.remote import expand_remote, is_remote
from novikoff.distributed.caching import read_persist
from novikoff.distributed.chains import Chain, Plan, deal_files, learn_chain, learn_first_rows
from novikoff.distributed.engines import Engine, open_engine, warm
from novikoff.distributed.looking import FileFacts, FileLook, describe_files, look_at, merge_looks
from novikoff.distributed.mixing import join_packed
from novikoff.distributed.packing import PackedState, pack_state
from novikoff.errors import ClusterError, DataError, RuleError
from novikoff.inputs.labels import Labels
from novikoff.perceptron.learner import Learner, Ties
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.model import Model
from novikoff.streaming.checkpoints import require_replaceable
from novikoff.streaming.cluster_run import ClusterRun
from novikoff.streaming.model import StreamModel
from novikoff.streaming.rejects import RejectLog

__all__ = ["Round", "RoundObserver", "Rounds", "expand_files", "learn", "new_learner"]

_MOST_CHAINS = 8  # by default: more cost accuracy, see docs/cluster.md
_FEATURE_OPTIONS = tuple(field.name for field in fields(Features))

PathLike = str | os.PathLike[str]


@dataclass(frozen=True)
class Round:
    """What a round has done.

    Attributes
    ----------
    number : int
        From 1.
    ledger : Ledger
        After it.
    seconds : float
        How long it took.
    busy : float
        The seconds of all its chains together.
    bytes_moved : int
        The bytes of weights that went to the workers and came back.
    """

    number: int
    ledger: Ledger
    seconds: float
    busy: float
    bytes_moved: int


class RoundObserver:
    """What `Rounds` reports on the way; each method does nothing unless it is overridden."""

    def on_engine(self, engine: Engine) -> None:
        """Called when the engine is there."""

    def on_files(self, facts: Sequence[FileFacts]) -> None:
        """Called when it is known that the files go together."""

    def on_look(self, looks: Sequence[FileLook]) -> None:
        """Called after the first pass, from which nothing is learned but features and labels."""

    def on_begin(self, run: ClusterRun) -> None:
        """Called before the first round, when the checkpoint has been written to which one can come back."""

    def on_chain(self, n_done: int, n_chains: int) -> None:
        """Called after each chain of a round."""

    def on_round(self, done: Round) -> None:
        """Called after each round, when its checkpoint has been written."""

    def on_notice(self, message: str) -> None:
        """Called with what the user should know."""
        warnings.warn(message, UserWarning, stacklevel=2)


def learn(
    files: PathLike | Sequence[PathLike],
    *,
    cluster: Any = None,
    rounds: int = 1,
    chains: int | None = None,
    persist: bool | str | int = "auto",
    rule: rules.RuleName | rules.Rule | None = None,
    hypothesis: hypotheses.HypothesisName | None = None,
    fit_intercept: bool = True,
    ties: Ties = "mistake",
    checkpoint: PathLike | None = None,
    resume: bool = False,
    rejects: PathLike | None = None,
    observer: RoundObserver | None = None,
    **options: Any,
) -> StreamModel:
    """Learn from files on a cluster, or in several processes of this machine, by iterative parameter mixing.

    A first pass over all rows finds the names of features, the moments of numbers and the labels. Then come rounds:
    each of some chains learns from its own files, beginning with the weights that all have in common, and the results
    are mixed, weighted by their numbers of rows. The result depends on files, options and chains, not on the workers:
    it is the same, byte for byte, on any number of them, in this process, and after workers have died.

    Parameters
    ----------
    files : path, pattern, or list of these
        Each file is read as a whole by one worker, so there should be several. Workers must find them by these names.
    cluster : None, str, client or cluster of Dask, or engine
        "local:2" for two processes of this machine, "local" for one for each processor, or the address of a scheduler
        of Dask, "tcp://host:8786". None computes all chains in this process, one after the other. An engine is any
        object with the method `map` of `novikoff.distributed.engines.Engine`.
    rounds : int
        How often to go through the files.
    chains : int, optional
        How many learners there are in each round; by default 8, or one for each file if there are fewer. Chains beyond
        the number of workers only cost accuracy; see docs/cluster.md.
    persist : bool, "auto" or int
        Whether workers keep rows in memory for later rounds: as many as fit, all, none, or so many bytes each.
    rule, hypothesis, fit_intercept, ties
        As those of `novikoff.learn`; the rule is "perceptron" by default. Not the rule "auto" and the hypothesis
        "voted", which cannot be mixed.
    checkpoint : path, optional
        A model file that is written after the first pass and after every round.
    resume : bool
        Whether to go on after the last round in `checkpoint`, if that file exists: the result has the same bytes as
        that of a run that was never interrupted. A changed list of files is refused.
    rejects : path, optional
        A file for the rows that `bad_rows="skip"` leaves out.
    observer : RoundObserver, optional
        Told about the run on the way.
    **options
        How columns become features and how files are read, as for `novikoff.learn`.

    Returns
    -------
    StreamModel
        `ledger.weighted_mistakes` is what is at most (R / gamma)^2 by theorem; see `novikoff.Learner.join`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import novikoff as nk
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for k in range(3):
    ...         text = "".join(f"{x},{'yes' if x > 4 else 'no'}\\n" for x in range(k, 10, 2))
    ...         _ = pathlib.Path(folder, f"part{k}.csv").write_text("x,y\\n" + text)
    ...     model = nk.distributed.learn(f"{folder}/*.csv", target="y", rounds=4, chains=2)
    >>> model.ledger.examples, model.predict([{"x": 1}, {"x": 9}]).tolist()
    (56, ['no', 'yes'])
    """
    chosen = {name: options.pop(name) for name in _FEATURE_OPTIONS if name in options}
    rounds_of_run = Rounds(
        expand_files(files),
        new_learner(rule, hypothesis, fit_intercept, ties),
        Features(**chosen),
        rounds=rounds,
        chains=chains,
        memory=read_persist(persist),
        checkpoint=None if checkpoint is None else Path(checkpoint),
        options=options,
        observer=observer,
    )
    if resume and checkpoint is None:
        raise DataError("resume needs the checkpoint to continue from.")
    start = StreamModel.load(checkpoint) if resume and checkpoint is not None and os.path.exists(checkpoint) else None
    log = None if rejects is None else RejectLog(Path(rejects))
    with open_engine(cluster) as engine:
        return rounds_of_run.run(engine, start, log)


def new_learner(rule: Any, hypothesis: Any, fit_intercept: bool = True, ties: Ties = "mistake") -> Learner:
    """Return the learner of a run on a cluster; a RuleError if its states cannot be mixed."""
    chosen = rules.resolve("perceptron" if rule is None else rule)
    is_stateful = isinstance(chosen, rules.StatefulRule)
    answers = hypotheses.resolve(hypothesis or ("last" if is_stateful else "averaged"))
    learner = Learner(chosen, answers, ties, fit_intercept)
    if isinstance(chosen, rules.Custom):
        raise RuleError("A rule that is a function cannot be sent to workers: choose one by its name.")
    if isinstance(chosen, rules.Auto):
        learner.fork(learner.init(0))  # which says why
    if learner.hypothesis.remembers:
        raise RuleError(
            "The hypothesis 'voted' keeps the rows of all its mistakes, and rows do not travel between workers: choose "
            "'averaged', or learn on one machine."
        )
    return learner


def expand_files(files: PathLike | Sequence[PathLike]) -> list[str]:
    """Return the files that are named or match a pattern, in order; a DataError if one is named twice or none is."""
    if not isinstance(files, (str, os.PathLike, list, tuple)):
        raise DataError(
            f"Expected paths of files, found {type(files).__name__}. Write a collection of Dask to files first, by "
            "df.to_parquet(folder) for instance, and give these; for data in memory, novikoff.learn is faster."
        )
    named = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    found: list[str] = []
    for name in [os.fspath(each) for each in named]:
        is_pattern = glob.has_magic(name) and not os.path.exists(name)
        if is_remote(name):
            matching = expand_remote(name)
        else:
            matching = sorted(glob.glob(name, recursive=True)) if is_pattern else [name]
        if not matching:
            raise DataError(f"{name}: no file matches this pattern.")
        found += matching
    if not found:
        raise DataError("There are no files to read.")
    if "-" in found:
        raise DataError("A pipe cannot be read by several workers: give the paths of files.")
    twice = {name for name in found if found.count(name) > 1} if len(set(found)) < len(found) else set()
    if twice:
        raise DataError(f"{min(twice)} is named twice.")
    return found


class Rounds:
    """A run of rounds over some files.

    Parameters
    ----------
    files : list of str
    learner : Learner
    features : Features
    rounds, chains, memory, checkpoint, options, observer
        As those of `learn`; `memory` in bytes, see caching.py.
    """

    def __init__(
        self,
        files: list[str],
        learner: Learner,
        features: Features,
        *,
        rounds: int = 1,
        chains: int | None = None,
        memory: int = 0,
        checkpoint: Path | None = None,
        options: dict[str, Any] | None = None,
        observer: RoundObserver | None = None,
    ) -> None:
        if rounds < 1:
            raise DataError(f"rounds must be 1 or more; found {rounds}.")
        if chains is not None and not 1 <= chains <= len(files):
            raise DataError(
                f"chains must be a number from 1 to that of the files, {len(files):,}; found {chains}. A file is read "
                "by one chain: split the files if there are too few."
            )
        if checkpoint is not None:
            require_replaceable(checkpoint)
        self.files, self.learner, self.features = files, learner, features
        self.rounds, self.chains, self.memory, self.checkpoint = rounds, chains, memory, checkpoint
        self.options, self.observer = options or {}, observer or RoundObserver()

    def run(self, engine: Engine, start: StreamModel | None = None, rejects: RejectLog | None = None) -> StreamModel:
        """Learn, from the beginning or from a model that an interrupted run has left; return the model."""
        self.observer.on_engine(engine)
        facts, options = describe_files(engine, self.files, self.options)
        self.observer.on_files(facts)
        model = self._look(engine, facts, options, rejects) if start is None else self._resume(start, facts)
        run = model.cluster_run
        assert run is not None
        self.observer.on_begin(run)
        chains = deal_files(run.files, run.rows, run.chains)
        plan = Plan(_without_state(model), self.options, uuid.uuid4().hex, self.memory)
        try:
            for _ in range(run.rounds_done, self.rounds):
                self._learn_round(engine, plan, chains, model)
        except (KeyboardInterrupt, ClusterError) as error:
            if self.checkpoint is not None and model.cluster_run is not None:
                done = model.cluster_run.rounds_done
                error.add_note(f"{self.checkpoint} has the model after round {done}; resume=True continues from it.")
            raise
        return model

    def _look(
        self, engine: Engine, facts: Sequence[FileFacts], options: dict[str, Any], rejects: RejectLog | None
    ) -> StreamModel:
        """Return a model that knows all features and labels, and has learned nothing else."""
        looks = look_at(engine, facts, options, self.features)
        if rejects is not None:
            for look in looks:
                rejects.add_all(look.rejects)
            rejects.close()
        encoding = merge_looks(looks)
        self.observer.on_look(looks)
        counts: dict[Any, int] = {}
        for look in looks:
            counts |= {label: counts.get(label, 0) + n for label, n in look.labels.items()}
        if _are_sorted(looks, counts):
            self.observer.on_notice(
                "The rows of each file come sorted by label, or have one label only: nothing can be learned in that "
                "order. Shuffle them first, across the files."
            )
        model = StreamModel(self.learner, self.features)
        labels = Labels()
        labels.add(*counts)
        model.encoding, model.target, model.form = encoding, facts[0].target_name, facts[0].form
        n_classes = max(2, len(labels))
        model.model = Model(self.learner, labels, self.learner.init(encoding.n_features, n_classes))
        chains = self.chains or min(_MOST_CHAINS, len(self.files))
        rows = [look.rows for look in looks]
        model.cluster_run = ClusterRun(list(self.files), [_size_of(each) for each in facts], rows, chains, 0)
        self._save(model)
        return model

    def _resume(self, model: StreamModel, facts: Sequence[FileFacts]) -> StreamModel:
        """Return the model of an interrupted run, if this one would be that run."""
        run = model.cluster_run
        if run is None or model.ledger.examples != sum(run.rows) * run.rounds_done:
            raise DataError(
                "The model to continue from has not learned on a cluster, or has learned something else since: its "
                "features were not known in advance. Begin a new run."
            )
        run.require_same(self.files, [_size_of(each) for each in facts], self.chains)
        own = model.model.learner
        for name in ("rule", "hypothesis", "ties", "fit_intercept"):
            if getattr(own, name) != getattr(self.learner, name):
                raise DataError(
                    f"The run that is resumed has {name}={getattr(own, name)}, not {getattr(self.learner, name)}. Give "
                    "the same parameters, or begin a new run."
                )
        return model

    def _learn_round(self, engine: Engine, plan: Plan, chains: list[Chain], model: StreamModel) -> None:
        """Let all chains learn from the present weights, mix what they return, and save it."""
        began, learner = time.perf_counter(), plan.learner
        before, run = model.model.state, model.cluster_run
        assert run is not None
        fork = learner.fork(before)
        start = pack_state(fork, plan.empty_state())
        warm(engine, partial(learn_first_rows, plan, start), chains[0])
        ends, busy, n_bytes = list[PackedState](), 0.0, start.nbytes * len(chains)
        for end in engine.map(partial(learn_chain, plan, start), chains):
            ends.append(end.state)
            busy, n_bytes = busy + end.seconds, n_bytes + end.state.nbytes
            self.observer.on_chain(len(ends), len(chains))
        after = join_packed(learner, before, fork, ends)
        done = run.rounds_done + 1
        model.model.state = replace(after, passes=done)
        model.cluster_run = replace(run, rounds_done=done)
        model.rows_read = {name: rows * done for name, rows in zip(run.files, run.rows, strict=True)}
        model.rows_of_run = dict(model.rows_read)
        self._save(model)
        self.observer.on_round(Round(done, model.ledger, time.perf_counter() - began, busy, n_bytes))

    def _save(self, model: StreamModel) -> None:
        if self.checkpoint is not None:
            model.save(self.checkpoint)


def _are_sorted(looks: Sequence[FileLook], counts: dict[Any, int]) -> bool:
    """Return whether labels come in few runs for each file, and in far fewer than in a random order; see LabelRuns."""
    n, n_runs = sum(counts.values()), sum(look.n_runs for look in looks)
    expected = 1 + n - sum(count * count for count in counts.values()) / n
    return n_runs <= 2 * len(counts) * len(looks) and 3 * n_runs <= expected


def _size_of(facts: FileFacts) -> int:
    return -1 if facts.size is None else facts.size


def _without_state(model: StreamModel) -> StreamModel:
    """Return a model that reads and encodes as another does, and has no weights."""
    plain = StreamModel(model.model.learner, model.features)
    plain.encoding, plain.target, plain.form = model.encoding, model.target, model.form
    plain.model = Model(model.model.learner, model.model.labels.copy())
    return plain

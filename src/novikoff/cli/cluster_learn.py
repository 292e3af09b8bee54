"""novikoff learn --cluster: rounds on a cluster, with a line and a checkpoint for each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from novikoff.cli.advice import advise
from novikoff.cli.cluster import RoundReport, counting, refuse_options
from novikoff.cli.interrupts import Interrupted
from novikoff.cli.options import drop_unset
from novikoff.cli.progress import announce_compilation, say
from novikoff.errors import ClusterError, NovikoffError

if TYPE_CHECKING:
    from novikoff.distributed.learning import Rounds
    from novikoff.streaming.model import StreamModel

__all__ = ["CLUSTER_ONLY", "learn_on_cluster"]

CLUSTER_ONLY = ("rounds", "chains", "persist")
_SEQUENTIAL = {
    "passes": "is for one machine; with --cluster give --rounds.",
    "shuffle": "is for one machine: with --cluster the rows of each file keep their order.",
    "seed": "is for one machine: with --cluster nothing is random.",
    "holdout": "is for one machine; with --cluster leave out a file, and give it to --test.",
    "class_weight": "is for one machine.",
    "checkpoint": "is for one machine: with --cluster the model is written after each round.",
    "plot": "is for one machine: the picture shows one run, and rounds mix many.",
    "loss": "is for one machine.",
}
_PERSIST: dict[str, bool | str] = {"auto": "auto", "yes": True, "no": False}


def learn_on_cluster(
    files: list[str],
    draft: Path,
    start: Path | None,
    *,
    cluster: str,
    rounds: int,
    chains: int | None,
    persist: str,
    model_options: dict[str, Any],
    reading: dict[str, Any],
    rejects: Path,
    continuation: Callable[[Path], str],
) -> StreamModel:
    """Learn in rounds; return the model. `continuation` gives the command that goes on after an interrupt."""
    from novikoff.cli.model_loading import load_stream_model
    from novikoff.distributed.caching import read_persist
    from novikoff.distributed.engines import open_engine
    from novikoff.distributed.learning import Rounds, new_learner
    from novikoff.streaming.rejects import RejectLog

    for name, why in _SEQUENTIAL.items():
        refuse_options([name], why)
    announce_compilation()
    model = None if start is None else load_stream_model(start)
    learner, features = _learner_of(model, model_options, new_learner)
    with counting("Chains of this round") as bar:
        report = RoundReport(None if model is None else model.ledger, bar)
        run: Rounds = Rounds(
            files,
            learner,
            features,
            rounds=rounds,
            chains=chains,
            memory=read_persist(_PERSIST[persist]),
            checkpoint=draft,
            options=drop_unset(reading),
            observer=report,
        )
        log = RejectLog(rejects, append=model is not None, notify=say)
        try:
            with open_engine(cluster) as engine:
                return run.run(engine, model, log)
        except (KeyboardInterrupt, ClusterError) as error:
            raise _stopped(error, draft, report.has_model or model is not None, continuation) from error


def _learner_of(model: StreamModel | None, chosen: dict[str, Any], new_learner: Callable[..., Any]) -> tuple[Any, Any]:
    """The learner and the features of the run: those of the model to continue from, or new ones."""
    from novikoff.data.encoding import Features

    if model is not None:
        return model.model.learner, model.features
    learner = new_learner(chosen["rule"], chosen["hypothesis"], not chosen["no_intercept"])
    options = {name: chosen[name] for name in ("hats", "hash_bits", "ngrams", "char_ngrams")}
    return learner, Features(scale=not chosen["no_scale"], **options)


def _stopped(
    error: BaseException, draft: Path, has_model: bool, continuation: Callable[[Path], str]
) -> click.ClickException:
    """The message for a run that ended early."""
    command = click.get_current_context().command
    what = advise(error, command) if isinstance(error, NovikoffError) else "Stopped."
    kept = f"{draft} has the model after the last round. To continue:\n  {continuation(draft)}"
    message = f"{what} {kept if has_model else 'Nothing was learned, and no file was written.'}"
    return click.ClickException(message) if isinstance(error, NovikoffError) else Interrupted(message)

"""novikoff serve: predictions over HTTP now, their labels later."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from novikoff.cli.interrupts import InterruptibleCommand
from novikoff.cli.options import HYPOTHESES, RULES, Duration
from novikoff.cli.progress import say

_EPILOG = """\b
Examples:
  novikoff serve mail.nk --data ./mail                      a model of novikoff learn
  novikoff serve --new spam --labels ham,spam --data ./spam from nothing: features by name
  novikoff serve --data ./spam                              again, where it stopped
  curl -X POST localhost:8000/v2/models/spam/predict -d '{"features": {"links": 3}}'
  curl -X PUT localhost:8000/v2/models/spam/predictions/ID/label -d '{"label": "spam"}'
"""


def _parse_labels(context: click.Context, parameter: click.Parameter, value: str | None) -> list[str] | None:
    if value is None:
        return None
    labels = [label.strip() for label in value.split(",")]
    if len(set(labels)) < 2 or "" in labels or len(set(labels)) < len(labels):
        raise click.BadParameter("two or more different labels, separated by commas.")
    return labels


@click.command(cls=InterruptibleCommand, epilog=_EPILOG)
@click.argument("models", nargs=-1)
@click.option(
    "--data",
    required=True,
    metavar="DIR",
    type=click.Path(path_type=Path, file_okay=False),
    help="Where logs and snapshots are, and the models that were served before.",
)
@click.option("--new", "new_names", metavar="NAME", multiple=True, help="Begin a model with nothing. May be repeated.")
@click.option(
    "--labels",
    metavar="LABEL,...",
    callback=_parse_labels,
    help="The labels that a new model takes.  [default: any, as they come]",
)
@click.option("--rule", type=click.Choice(RULES), help="The rule of a new model.  [default: auto]")
@click.option("--hypothesis", type=click.Choice(HYPOTHESES), help="The hypothesis of a new model.")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0: any that is free.")
@click.option(
    "--token-file",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Who may call: on each line scopes (predict,label,admin) and a bearer token. Needed for other addresses than "
    "this machine's own.",
)
@click.option("--allow-host", metavar="NAME", multiple=True, help="A name that requests may have in their Host header.")
@click.option(
    "--allow-origin", metavar="ORIGIN", multiple=True, help="Web pages that may call, as https://example.org."
)
@click.option(
    "--label-window",
    metavar="TIME",
    type=Duration(),
    help="How long after its prediction a label is learned, such as 90s, 5m, 48h.  [default: for ever]",
)
@click.option("--log", metavar="ADDRESS", help="A PostgreSQL database for the logs: postgresql://...")
@click.option("--snapshot-every", metavar="TIME", type=Duration(), default="5m", show_default=True)
@click.option(
    "--snapshot-labels",
    type=click.IntRange(1),
    default=100_000,
    show_default=True,
    help="Write a snapshot after so many labels too.",
)
@click.option(
    "--most-waiting",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Requests that may wait; more are told to try again.",
)
def serve(models: tuple[str, ...], data: Path, **options: Any) -> None:
    """Serve models: predictions now, labels later.

    MODELS are files that novikoff learn has written, or NAME=FILE; the name is part of the address. Models that are in
    the data folder are served too, and go on from where they stopped.

    A prediction has an id, under which its label can come at any time. Nothing is acknowledged before it is on the
    disk, and each label is learned once, also if the process is killed in between. novikoff replay proves it.
    """
    from novikoff.formatting.extras import explain_missing

    try:
        from novikoff.service.hosting import HostingOptions
        from novikoff.service.serving import ModelSource, ServerOptions
        from novikoff.service.serving import serve as run
        from novikoff.service.starting import Beginning
        from novikoff.service.web.security import read_tokens
    except ModuleNotFoundError as error:
        raise click.ClickException(explain_missing("novikoff serve", error.name or "msgspec", "serve")) from error
    if not options["new_names"]:
        for name in ("labels", "rule", "hypothesis"):
            if options[name] is not None:
                raise click.UsageError(f"--{name} is for a model that begins with nothing: --new NAME.")
    sources: dict[str, ModelSource] = {}
    for name, path in map(_split_name, models):
        sources[name] = ModelSource(file=path)
    for name in options["new_names"]:
        beginning = Beginning(None, options["labels"], options["rule"], options["hypothesis"])
        sources[name] = ModelSource(new=beginning)
    if len(sources) < len(models) + len(options["new_names"]):
        raise click.UsageError("Two models have one name. Name them by NAME=FILE.")
    tokens = None if options["token_file"] is None else read_tokens(options["token_file"])
    window = None if options["label_window"] is None else int(options["label_window"] * 1000)
    code = run(
        data,
        sources,
        ServerOptions(options["host"], options["port"], tokens, options["allow_host"], options["allow_origin"]),
        HostingOptions(
            window, options["most_waiting"], options["snapshot_labels"], options["snapshot_every"], options["log"]
        ),
        say,
    )
    if code:
        raise click.exceptions.Exit(code)


def _split_name(model: str) -> tuple[str, Path]:
    """The name and the path of a model, given as PATH or NAME=PATH."""
    name, is_named, path = model.partition("=")
    found = Path(path if is_named else model)
    if not found.is_file():
        raise click.UsageError(f"{found} does not exist.")
    return (name if is_named else found.stem), found

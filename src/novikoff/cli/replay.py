"""novikoff replay: learn the log of a service again."""

from __future__ import annotations

from pathlib import Path

import click

from novikoff.cli.interrupts import InterruptibleCommand
from novikoff.cli.options import require_writable
from novikoff.cli.progress import say
from novikoff.formatting.phrases import pluralize

_EPILOG = """\b
Examples:
  novikoff replay ./mail --verify
  novikoff replay ./mail --until 40000 -o before.nk    the model as it was after 40,000 labels
"""


@click.command(cls=InterruptibleCommand, epilog=_EPILOG)
@click.argument("data", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--verify", is_flag=True, help="Compare with the snapshots, byte by byte; exit code 1 if one differs.")
@click.option("--model", "name", metavar="NAME", help="Which model.  [default: all]")
@click.option("--until", metavar="SEQ", type=click.IntRange(0), help="Stop after this label.")
@click.option(
    "-o",
    "--output",
    metavar="MODEL",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the model there.",
)
@click.option("--log", metavar="ADDRESS", help="The PostgreSQL database that has the logs: postgresql://...")
def replay(data: Path, verify: bool, name: str | None, until: int | None, output: Path | None, log: str | None) -> None:
    """Learn the labels in the log of a service again, from the first one.

    DATA is the data folder of novikoff serve, which may be running. The result is the same as what was served, to the
    last bit, on the same kind of processor and with the same version of novikoff.
    """
    from novikoff.formatting.extras import explain_missing

    try:
        from novikoff.service.folder import model_names
        from novikoff.service.replaying import learn_log_again, open_existing_log
    except ModuleNotFoundError as error:
        raise click.ClickException(explain_missing("novikoff replay", error.name or "msgspec", "serve")) from error
    names = [name] if name is not None else model_names(data)
    if not names:
        raise click.UsageError(f"{data} has no models.")
    if output is not None:
        require_writable(output)
        if len(names) > 1:
            raise click.UsageError(f"--output takes one model, and {data} has {len(names)}: choose by --model.")
    is_different = False
    for each in names:
        found_log = open_existing_log(data / each, log, each)
        try:
            result = learn_log_again(data / each, found_log, until, verify=verify)
        finally:
            found_log.close()
        rate = f", {result.labels / result.seconds:,.0f} labels/s" if result.seconds else ""
        say(f"{each}: {pluralize(result.labels, 'label')} learned again in {result.seconds:.2f} s{rate}.")
        if output is not None:
            result.model.save(output)
            say(f"{output}: the model after {pluralize(result.labels, 'label')}.")
        for one in result.equal:
            say(f"{each}: {one} is the same, byte for byte.")
        for one in result.different:
            say(f"{each}: {one} DIFFERS from the log.")
            is_different = True
        if verify and not result.equal and not result.different:
            say(f"{each}: there is no snapshot to compare with; the checksums of the log are right.")
    if is_different:
        raise click.exceptions.Exit(1)

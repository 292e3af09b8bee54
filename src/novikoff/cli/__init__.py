"""The novikoff command, one module for each subcommand, and what they print on the terminal.

Each imports what it needs when it runs, so that --help is instant. Domain logic belongs into the other packages.
"""

from __future__ import annotations

from typing import Any

import click

from novikoff import __version__
from novikoff.cli.advice import advise
from novikoff.cli.apply import predict, test
from novikoff.cli.certify import certify
from novikoff.cli.compare import compare
from novikoff.cli.convert import convert
from novikoff.cli.demo import demo
from novikoff.cli.export import export
from novikoff.cli.inspect import inspect
from novikoff.cli.interrupts import Interrupted
from novikoff.cli.learn import learn
from novikoff.cli.replay import replay
from novikoff.cli.select import select
from novikoff.cli.serve import serve
from novikoff.cli.small_inputs import claim_process
from novikoff.cli.studio import studio
from novikoff.cli.tag import tag
from novikoff.errors import NovikoffError

__all__ = ["main", "run_main"]


class _CommandGroup(click.Group):
    """Prints our own errors and those of the system as one line, with exit code 1; bugs keep their traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except NovikoffError as error:
            command = self.get_command(ctx, ctx.invoked_subcommand or "")
            raise click.ClickException(advise(error, command)) from error
        except BrokenPipeError:
            raise  # click exits without a message when the reader of a pipe has ended
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            raise click.ClickException(f"{where}{error.strerror or error}") from error


@click.group(cls=_CommandGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, "-V", "--version", prog_name="novikoff")
def main() -> None:
    """Linear learning that predicts while it learns, and proves what it can and cannot do.

    Start with `novikoff demo`: two minutes, no data of your own needed. Then `novikoff learn` from a file of yours, or
    ask `novikoff certify` whether it is linearly separable.
    """


for _command in (
    certify,
    compare,
    convert,
    demo,
    export,
    inspect,
    learn,
    predict,
    replay,
    select,
    serve,
    studio,
    tag,
    test,
):
    main.add_command(_command)


def run_main() -> int:
    """Run the command with the arguments of this process; return its exit code.

    It does what click does by itself, except that Ctrl-C outside of a command, while arguments are parsed for instance,
    ends it as it ends all commands.
    """
    claim_process()
    try:
        found = main(prog_name="novikoff", standalone_mode=False)
    except click.Abort:
        error: click.ClickException = Interrupted("Stopped.")
    except click.ClickException as own:
        error = own
    else:
        return found if isinstance(found, int) else 0
    error.show()
    return error.exit_code

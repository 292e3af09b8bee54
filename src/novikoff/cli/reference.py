"""The reference of the command line, from the --help of every command.

Write it with: python -m novikoff.cli.reference > docs/cli.md
"""

from __future__ import annotations

from collections.abc import Iterator

import click

from novikoff.cli import main

__all__ = ["reference"]

_WIDTH = 100  # of the help texts, whatever the terminal

_HEAD = """# The command line

What `novikoff COMMAND --help` prints. `python -m novikoff.cli.reference > docs/cli.md` writes this page.
"""


def reference() -> str:
    """The whole page, in Markdown."""
    settings = {**main.context_settings, "terminal_width": _WIDTH, "max_content_width": _WIDTH}
    return "\n".join([_HEAD, *_sections(click.Context(main, info_name="novikoff", **settings))])


def _sections(context: click.Context) -> Iterator[str]:
    """The help of a command and of its subcommands."""
    command = context.command
    yield _section(context.command_path, command.get_help(context))
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            within = command.get_command(context, name)
            assert within is not None
            yield from _sections(click.Context(within, info_name=name, parent=context))


def _section(title: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    click.echo(reference(), nl=False)

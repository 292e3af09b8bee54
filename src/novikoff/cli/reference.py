"""The reference of the command line, made of the --help of every command: python -m novikoff.cli.reference."""

from __future__ import annotations

import click

from novikoff.cli import main

__all__ = ["reference"]

_WIDTH = 100  # of the help texts, whatever the terminal

_HEAD = """# The command line

What `novikoff COMMAND --help` prints. This page is made by `python -m novikoff.cli.reference > docs/cli.md`.
"""


def reference() -> str:
    """The whole page, in Markdown."""
    settings = {**main.context_settings, "terminal_width": _WIDTH, "max_content_width": _WIDTH}
    parent = click.Context(main, info_name="novikoff", **settings)
    parts = [_HEAD, _section("novikoff", main.get_help(parent))]
    for name in main.list_commands(parent):
        command = main.get_command(parent, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=parent)
        parts.append(_section(f"novikoff {name}", command.get_help(context)))
    return "\n".join(parts)


def _section(title: str, text: str) -> str:
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    return f"## {title}\n\n```text\n{lines}\n```\n"


if __name__ == "__main__":
    click.echo(reference(), nl=False)

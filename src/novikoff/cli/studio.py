"""novikoff studio: a page that shows runs, verdicts and proofs, for points in the plane and for files."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from novikoff.cli.interrupts import Interrupted, InterruptibleCommand
from novikoff.cli.options import TARGET_HELP

__all__ = ["studio"]

_NEEDED = ("msgspec", "starlette", "uvicorn")


class _StudioGroup(click.Group):
    """A group whose command `open` need not be named: novikoff studio FILE is novikoff studio open FILE."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["open", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_StudioGroup)
def studio() -> None:
    """Watch a perceptron learn, and watch the proof, in the browser.

    \b
      novikoff studio                            points in the plane: scenes, or points that you draw
      novikoff studio mail.csv --target is_spam  a file: its verdict, a run, and what it got wrong
      novikoff studio --lesson week3.json        a list of scenes with a text and a question each
      novikoff studio export xor -o xor.html     a page of one file, which needs no server

    Without the name of a command it is `open`.
    """


@studio.command("open", cls=InterruptibleCommand)
@click.argument("file", required=False, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--target", metavar="COLUMN", help=TARGET_HELP)
@click.option("--scene", metavar="NAME", help="The scene to open first.  [default: cmu]")
@click.option(
    "--lesson",
    metavar="FILE",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help='A lesson: {"title": ..., "steps": [{"scene": ..., "variant": 0, "text": ..., "question": ...}]}.',
)
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the page in the browser.")
@click.option("--port", type=click.IntRange(0, 65535), help="0 takes a free one.  [default: the first free from 8765]")
def open_studio(
    file: Path | None, target: str | None, scene: str | None, lesson: Path | None, browser: bool, port: int | None
) -> None:
    """Serve the page on this machine until Ctrl-C.

    Prints its address as one line. Nothing leaves the machine: the page loads nothing from elsewhere, and files are
    read where they are. Whoever has the address with its token can read FILE; scenes need no token, so that
    http://127.0.0.1:PORT/?scene=xor works too.
    """
    _require_extra()
    from novikoff.studio.files import FileViews
    from novikoff.studio.lessons import read_lesson
    from novikoff.studio.scenes import find_scene
    from novikoff.studio.server import Studio, bind, serve

    if target is not None and file is None:
        raise click.UsageError("--target is for a FILE.")
    if scene is not None:
        find_scene(scene)
    steps = None if lesson is None else read_lesson(lesson)
    listening = bind(port)
    served = Studio(listening.getsockname()[1], FileViews(file, target), steps)
    address = served.address + (f"?scene={scene}" if scene is not None else "")
    listening.listen()
    click.echo(address)
    if browser:
        import webbrowser

        webbrowser.open(address)
    try:
        serve(served, listening)
    except KeyboardInterrupt:
        raise Interrupted("Stopped.") from None


@studio.command("export", cls=InterruptibleCommand)
@click.argument("scene")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write the page.",
)
def export_scene(scene: str, output: Path) -> None:
    """Write a scene as a page of one file, which needs no server and no network.

    SCENE is the name of a scene, as in the addresses of the studio: cmu, halfspace, xor, nobias, scaling, radius,
    nearly, outlier, noise, moons, circles, cases or descent.
    """
    from novikoff.cli.progress import announce_compilation
    from novikoff.studio.pages import make_page
    from novikoff.studio.scene import make_bundle
    from novikoff.studio.scenes import find_scene
    from novikoff.system.atomic_files import require_writable, write_atomic

    found = find_scene(scene)
    if not output.parent.is_dir():
        raise click.ClickException(f"{output}: there is no folder {str(output.parent)!r}.")
    require_writable(output)
    announce_compilation()
    page = make_page(make_bundle(found))
    write_atomic(output, page)
    click.echo(f"{output}: {found.title} ({len(page):,} bytes)")


def _require_extra() -> None:
    """Fail before any work if the server cannot run."""
    from novikoff.formatting.extras import explain_missing

    missing: Any = next((package for package in _NEEDED if find_spec(package) is None), None)
    if missing is not None:
        raise click.ClickException(explain_missing("novikoff studio", missing, "studio"))

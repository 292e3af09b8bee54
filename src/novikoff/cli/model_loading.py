"""Models for commands that show them: also those with functions that files do not hold, and what other files are."""

from __future__ import annotations

import json
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from novikoff.errors import ModelFileError, NovikoffError

if TYPE_CHECKING:
    from novikoff.model_files import Section
    from novikoff.streaming.model import StreamModel

__all__ = ["load_model", "load_stream_model", "load_to_show"]

_SAMPLE = 1 << 16  # bytes by which a file that is no model is recognised
_MAGIC = (
    (b"\x1f\x8b", "is compressed with gzip"),
    (b"BZh", "is compressed with bzip2"),
    (b"\xfd7zXZ", "is compressed with xz"),
    (b"\x28\xb5\x2f\xfd", "is compressed with zstandard"),
    (b"PAR1", "is a Parquet file"),
    (b"ARROW1", "is an Arrow file"),
)
_WRITERS = "Model files are written by novikoff learn, select and tag learn, and by save in Python."
_LEARN = "To learn from rows of data: novikoff learn {path} -o model.nk"


def load_model(path: Path) -> Any:
    """Load any model; if the file is something else, the error says what it is and what to do with it."""
    from novikoff.model_files.loading import load

    _require_model_file(path)
    return load(path)


def load_stream_model(path: Path) -> StreamModel:
    """Load a model that learns from files; if the file is something else, the error says what it is."""
    from novikoff.streaming.model import StreamModel

    _require_model_file(path)
    return StreamModel.load(path)


def load_to_show(path: Path) -> tuple[str, Any]:
    """Return the kind of a model file and its learner, which has placeholders for functions that files do not hold.

    The learner cannot learn or predict by them, but everything that was learned can be shown.
    """
    from novikoff.model_files.container import read
    from novikoff.model_files.loading import KINDS, load

    _require_model_file(path)
    kind, root = read(path)
    if kind not in KINDS or KINDS[kind].code is None:
        return kind, load(path)
    try:
        return kind, load(path)
    except NovikoffError as error:
        module, loader, _ = KINDS[kind]
        try:
            return kind, getattr(import_module(module), loader)(path, kind, root, _make_placeholder(kind, root))
        except NovikoffError:
            raise error from None


class _Placeholder:
    """In place of a function that the file does not hold."""

    def __init__(self, name: str) -> None:
        self.__qualname__ = self.__name__ = name

    def __repr__(self) -> str:
        return self.__name__

    def __call__(self, *args: Any) -> NoReturn:
        raise ModelFileError(f"{self.__name__} is a function, and a model file holds no code.")


def _make_placeholder(kind: str, root: Section) -> Any:
    """Return what the loader of a kind takes in place of code."""
    from novikoff.losses import Custom

    if kind == "tagger":
        names = root.part("parameters").facts.get("attributes")
        return {name: partial(_name_value, name) for name in (names if isinstance(names, list) else ())}
    if kind.startswith("linear"):
        return Custom(_Placeholder("a function"), _Placeholder("its derivative"))
    facts = root.facts if kind == "perceptron" else root.part("learner").facts
    return _Placeholder(str(facts.get("function")))


def _name_value(attribute: str, text: str) -> str:
    """Return a name of the value of an attribute that cannot be computed, for the names of features."""
    return f"{attribute}({text})"


def _require_model_file(path: Path) -> None:
    """Raise an error for a file that is not one of safetensors, which says what it is."""
    if path.is_dir():
        raise click.ClickException(f"{path} is a folder. Name a model file, such as {path / 'model.nk'}.")
    if not path.is_file():
        return  # a named pipe, or nothing: reading it says what is wrong
    with open(path, "rb") as file:
        head = file.read(_SAMPLE)
    if len(head) <= 8 or head[8:9] == b"{":
        return  # a header of safetensors, as far as can be seen
    what, advice = _recognise(head, path)
    raise click.ClickException(f"{path} is not a model file: it {what}. {advice.format(path=path)}")


def _recognise(head: bytes, path: Path) -> tuple[str, str]:
    """Return what a file is that begins with these bytes, and what can be done with it."""
    for magic, what in _MAGIC:
        if head.startswith(magic):
            return what, _LEARN
    if head.startswith((b"PK\x03\x04", b"\x80")):
        what = "is a zip archive, as of Excel or NumPy" if head.startswith(b"PK") else "looks like a Python pickle"
        return what, _WRITERS
    if b"\0" in head:
        return "holds bytes that are not text", _WRITERS
    if head.lstrip().startswith(b"{"):
        return _recognise_json(path)
    return "holds text", _LEARN


def _recognise_json(path: Path) -> tuple[str, str]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except ValueError:  # several objects, or one that is damaged
        return "holds lines of JSON", _LEARN
    if found.get("format") == "novikoff-coef":
        return (
            "holds the weights that novikoff export has written",
            "They can be read as they are; inspect the model that they were exported from.",
        )
    if "verdict" in found or "verdicts" in found:
        verdict = found.get("verdict") or f"{len(found['verdicts'])} verdicts"
        return (
            f"holds the proof of novikoff certify --json about {found.get('file')}: {verdict}",
            "The command without --json prints it in words.",
        )
    return "holds JSON", _LEARN

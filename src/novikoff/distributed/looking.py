"""The look: what has to be known of all rows before the first is learned from.

    problem   weights that live in different spaces must not be mixed: all learners need the same features
    given     files
    result    their columns, which must agree; then, by one pass over all rows in parallel, the names of features and
              the moments of numbers, merged in the order of the files; the labels; the number of rows of each file

Encodings stay as they are from then on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from novikoff.data.encoding import Encoding, Features
from novikoff.data.encoding.merging import merge_encodings
from novikoff.data.formats.block import Block
from novikoff.data.formats.rejects import Reject
from novikoff.data.table_form import TableForm
from novikoff.distributed.engines import Engine, warm
from novikoff.errors import DataError
from novikoff.formatting.phrases import quoted_list
from novikoff.perceptron.learner import Learner
from novikoff.streaming.data_checks import require_repeated_labels
from novikoff.streaming.encodings import encoding_for
from novikoff.streaming.label_runs import LabelRuns
from novikoff.streaming.model import StreamModel
from novikoff.streaming.opening import open_for_model, options_like

__all__ = ["FileFacts", "FileLook", "describe_file", "describe_files", "look_at", "look_at_file", "merge_looks"]


@dataclass(frozen=True)
class FileFacts:
    """What a file is before its rows are read: its size in bytes, its format, and its columns, if these have names."""

    path: str
    size: int | None
    format: str
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    target_name: str | None
    form: TableForm | None


@dataclass(frozen=True, eq=False)
class FileLook:
    """What the rows of a file have brought."""

    path: str
    rows: int
    encoding: Encoding[Any] | None  # None without rows
    labels: dict[Any, int]  # how many rows have each
    n_runs: int  # of equal labels
    rejects: list[Reject] = field(default_factory=list)


def describe_files(
    engine: Engine, files: Sequence[str], options: Mapping[str, Any]
) -> tuple[list[FileFacts], dict[str, Any]]:
    """Return what all files are, and the options with which to read them like the first; a DataError if one has other
    columns or another format than the first."""
    task = partial(describe_file, dict(options))
    (first,) = engine.map(task, files[:1])  # alone, so that what it needs is compiled when the others come
    facts = [first, *engine.map(task, files[1:])]
    for other in facts[1:]:
        _require_alike(first, other)
    return facts, options_like(first, options)


def describe_file(options: dict[str, Any], path: str) -> FileFacts:
    """Return what a file is; a task."""
    with open_for_model(StreamModel(Learner()), path, options) as reader:
        names, kinds = tuple(getattr(reader, "names", ())), tuple(getattr(reader, "kinds", ()))
        target, form = getattr(reader, "target_name", None), TableForm.from_reader(reader)
        return FileFacts(path, reader.source.size, type(reader).__name__, names, kinds, target, form)


def _require_alike(first: FileFacts, other: FileFacts) -> None:
    """Raise a DataError if two files cannot be learned from together."""
    if other.format != first.format:
        raise DataError(
            f"{other.path} and {first.path} are of different formats. Nothing was learned: convert one of them, or "
            "name the format of both."
        )
    lacking, added = set(first.names) - set(other.names), set(other.names) - set(first.names)
    if lacking or added:
        what = [f"lacks {quoted_list(sorted(lacking))}"] if lacking else []
        what += [f"has {quoted_list(sorted(added))} besides"] if added else []
        raise DataError(
            f"{other.path} has other columns than {first.path}: it {' and '.join(what)}. Nothing was learned: give "
            "files of the same columns, or drop those that not all of them have."
        )


Check = Callable[[Block], None]


def look_at(
    engine: Engine,
    facts: Sequence[FileFacts],
    options: dict[str, Any],
    features: Features,
    check: Check | None = None,
) -> list[FileLook]:
    """Read all files once, in parallel; return what each has brought. A check raises an error about a block; without
    one, labels that are no classes are refused."""
    warm(engine, partial(look_at_first_rows, options, features), facts[0].path)
    return list(engine.map(partial(look_at_file, options, features, check), [each.path for each in facts]))


def look_at_first_rows(options: dict[str, Any], features: Features, path: str) -> None:
    """Encode the first block of a file and forget it, so that all compiled code is there; a task."""
    with open_for_model(StreamModel(Learner(), features), path, options | {"bad_rows": "skip"}) as reader:
        for block in reader:
            if len(block):
                for _ in encoding_for(block, features).learn(block):
                    pass
                return


def look_at_file(options: dict[str, Any], features: Features, check: Check | None, path: str) -> FileLook:
    """Return what the rows of a file bring; a task."""
    encoding: Encoding[Any] | None = None
    runs, labels, rows, rejects = LabelRuns(), Counter[Any](), 0, list[Reject]()
    with open_for_model(StreamModel(Learner(), features), path, options) as reader:
        for block in reader:
            rejects += block.rejects
            if not len(block):
                continue
            if check is not None:
                check(block)
            elif encoding is None:
                require_repeated_labels(block)
            if encoding is None:
                encoding = encoding_for(block, features)
            for _ in encoding.learn(block):
                pass
            runs.add(block)
            classes, indices = block.encode_labels()
            counts = np.bincount(indices, minlength=len(classes)).tolist()
            labels.update(dict(zip(classes.tolist(), counts, strict=True)))
            rows += len(block)
    return FileLook(path, rows, encoding, dict(labels), runs.n_runs, rejects)


def merge_looks(looks: Sequence[FileLook]) -> Encoding[Any]:
    """Return the encoding of all rows together."""
    with_rows = [look for look in looks if look.encoding is not None]
    if not with_rows:
        raise DataError("There was nothing to learn from.")
    encodings = [look.encoding for look in with_rows if look.encoding is not None]
    return merge_encodings(encodings, [look.path for look in with_rows])

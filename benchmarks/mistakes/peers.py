"""What the peers reach on each stream, kept in the temporary folder of the user, so that it is measured once."""

from __future__ import annotations

import getpass
import importlib.metadata
import importlib.util
import json
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.mistakes import river_models, vowpal_wabbit
from benchmarks.mistakes.features import KINDS, Examples, examples_of
from novikoff.data.formats.block import Block

__all__ = ["PACKAGES", "Peers", "Run", "measure"]

PACKAGES = ("vowpalwabbit", "river")
_SCALINGS = ("", ", StandardScaler")


@dataclass(frozen=True)
class Run:
    """A set-up of a peer on one kind of features: the share of mistakes, the mean over the orders."""

    package: str
    set_up: str
    kind: str
    error: float

    def __str__(self) -> str:
        return f"{self.set_up}, {self.kind}"


class Peers:
    """All runs on one stream."""

    def __init__(self, runs: list[Run]) -> None:
        self.runs = runs

    def best(self, package: str | None = None, kinds: tuple[str, ...] = ("raw", "encoded")) -> Run | None:
        """The run with the fewest mistakes, chosen in hindsight."""
        found = [run for run in self.runs if run.kind in kinds and package in (None, run.package)]
        return min(found, key=lambda run: run.error, default=None)

    def find(self, package: str, set_up: str, kind: str) -> Run | None:
        asked_for = (package, set_up, kind)
        return next((run for run in self.runs if (run.package, run.set_up, run.kind) == asked_for), None)


def measure(name: str, orders: list[Block], *, refresh: bool = False) -> Peers:
    """Run all set-ups of the peers that are installed on a stream, in each of its orders, or recall what they reached.

    Of many classes only Vowpal Wabbit learns here: river's linear classifiers have two.
    """
    known = _Known(name, refresh=refresh)
    errors: dict[tuple[str, str, str], list[float]] = {}
    for kind in KINDS:
        for block in orders:
            examples = examples_of(block, kind)
            for package, set_up, wrong in _mistakes(examples, known):
                errors.setdefault((package, set_up, kind), []).append(wrong / len(block))
    return Peers([Run(*key, sum(found) / len(found)) for key, found in errors.items()])


def _mistakes(examples: Examples, known: _Known) -> Iterator[tuple[str, str, int]]:
    """Yield the package, the set-up and the mistakes of each peer on these rows."""
    if version := _version("vowpalwabbit"):
        folder = cache(lambda: vowpal_wabbit.Folder(examples))  # written when the first set-up needs it
        for set_up, arguments in vowpal_wabbit.SET_UPS.items():
            count = partial(_vowpal_wabbit, folder, arguments)
            yield "vowpalwabbit", set_up, known.recall(f"vowpalwabbit {version} {arguments.strip()}", examples, count)
    if examples.n_classes == 2 and (version := _version("river")):
        for scaling in _SCALINGS if len(examples.numbers) else _SCALINGS[:1]:
            rows = cache(partial(river_models.dicts, examples, scaled=bool(scaling)))
            for set_up, make in river_models.SET_UPS.items():
                count = partial(_river, rows, examples, make)
                yield "river", set_up + scaling, known.recall(f"river {version} {set_up}{scaling}", examples, count)


def _vowpal_wabbit(folder: Callable[[], vowpal_wabbit.Folder], arguments: str) -> int:
    return folder().mistakes(arguments)


def _river(rows: Callable[[], list[dict[int, float]]], examples: Examples, make: Callable[[int], Any]) -> int:
    return river_models.mistakes(rows(), examples, make)


def _version(package: str) -> str | None:
    return importlib.metadata.version(package) if importlib.util.find_spec(package) else None


class _Known:
    """Mistakes that were counted before, in a file for each stream."""

    def __init__(self, name: str, *, refresh: bool) -> None:
        folder = Path(tempfile.gettempdir(), f"novikoff-peers-{getpass.getuser()}")
        folder.mkdir(exist_ok=True)
        self._file = folder / f"{name}.json"
        is_there = self._file.is_file() and not refresh
        self._counts: dict[str, int] = json.loads(self._file.read_text()) if is_there else {}

    def recall(self, key: str, examples: Examples, count: Callable[[], int]) -> int:
        """Return the mistakes of a set-up on these rows, counted now if they are not known."""
        key = f"{key}: {examples.fingerprint}"
        if key not in self._counts:
            self._counts[key] = count()
            self._file.write_text(json.dumps(self._counts, indent=0))
        return self._counts[key]

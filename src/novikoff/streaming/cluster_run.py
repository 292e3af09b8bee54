"""ClusterRun: what a model remembers of the run on a cluster in which it learns, so that it can be resumed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from novikoff.errors import DataError
from novikoff.model_files import Section

__all__ = ["ClusterRun"]


@dataclass(frozen=True)
class ClusterRun:
    """Rounds of chains over files.

    Attributes
    ----------
    files : list of str
        In the order in which they were given.
    sizes : list of int
        Their bytes; -1 where that is not known.
    rows : list of int
        Their rows.
    chains : int
        How many learners each round has.
    rounds_done : int
    """

    files: list[str]
    sizes: list[int]
    rows: list[int]
    chains: int
    rounds_done: int

    def require_same(self, files: Sequence[str], sizes: Sequence[int], chains: int | None) -> None:
        """Raise a DataError if a run over these files would be another one."""
        if list(files) != self.files:
            changed = [name for name in files if name not in self.files] or [
                name for name in self.files if name not in files
            ]
            which = f", for instance in {changed[0]!r}" if changed else ": they come in another order"
            raise DataError(
                f"The run that is resumed has {len(self.files):,} files, and these are others{which}. Give the files "
                "of that run, or begin a new one."
            )
        for name, size, before in zip(files, sizes, self.sizes, strict=True):
            if size != before:
                raise DataError(
                    f"{name} has {size:,} bytes; it had {before:,} when this run began. Files must stay as they are: "
                    "begin a new run."
                )
        if chains is not None and chains != self.chains:
            raise DataError(
                f"The run that is resumed has {self.chains} chains, not {chains}: give the same number, or begin a new "
                "run."
            )

    def write_to(self, section: Section) -> None:
        """Write it to a part of a model file."""
        section.facts |= asdict(self)

    @classmethod
    def read_from(cls, section: Section) -> ClusterRun:
        """Read it from a part of a model file."""
        files, sizes, rows = (section.fact(name, list) for name in ("files", "sizes", "rows"))
        section.require(
            len(files) == len(sizes) == len(rows) > 0
            and all(isinstance(name, str) for name in files)
            and all(isinstance(n, int) and n >= -1 for n in [*sizes, *rows]),
            "its run on a cluster makes no sense",
        )
        chains, rounds_done = section.fact("chains", int), section.fact("rounds_done", int)
        section.require(0 < chains <= len(files) and rounds_done >= 0, "its run on a cluster makes no sense")
        return cls(files, sizes, rows, chains, rounds_done)

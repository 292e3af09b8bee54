"""TableForm: how the tables that a model has learned from are written, so that others are read in the same way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from novikoff.data.formats.notations import DATES, Notation
from novikoff.model_files import Section

__all__ = ["TableForm"]

_DECIMALS = (Notation.PLAIN, Notation.DECIMAL_POINT, Notation.DECIMAL_COMMA)


@dataclass(frozen=True)
class TableForm:
    """What a model remembers of the files of delimited text that it has learned from.

    Attributes
    ----------
    notations : dict of str to str
        How the numbers of columns are written, where they are not plain.
    n_columns : int
        The number of columns of a table without a header, those included that are not used; 0 if columns have names.

    Examples
    --------
    >>> from novikoff.data.table_form import TableForm
    >>> form = TableForm({"price": "decimal-comma"})
    >>> form.notations_of(["price", "age"])
    {'price': 'decimal-comma', 'age': 'plain'}
    """

    notations: dict[str, str] = field(default_factory=dict)
    n_columns: int = 0

    @classmethod
    def from_reader(cls, reader: Any) -> TableForm | None:
        """Return the form of the table that a reader reads; None if it is no delimited text."""
        if not hasattr(reader, "notations"):
            return None
        notations = {name: notation for name, notation in reader.notations.items() if notation != Notation.PLAIN}
        return cls(notations, 0 if reader.has_header else len(reader.names))

    def notations_of(
        self, columns: Iterable[str], *, without_decimals: bool = False, without_dates: bool = False
    ) -> dict[str, str]:
        """Return how the numbers of some columns are written; without those about which the caller says something
        else."""
        found = {name: self.notations.get(name, str(Notation.PLAIN)) for name in columns}
        refused = (*(_DECIMALS if without_decimals else ()), *(DATES if without_dates else ()))
        return {name: notation for name, notation in found.items() if notation not in refused}

    def write_to(self, section: Section) -> None:
        """Write it to a part of a model file."""
        section.facts |= {"notations": dict(self.notations), "n_columns": self.n_columns}

    @classmethod
    def read_from(cls, section: Section) -> TableForm:
        """Read it from a part of a model file."""
        notations = section.fact("notations", dict)
        known = set(map(str, Notation))
        section.require(
            all(isinstance(own, str) and own in known for own in notations.values()), "a notation is not known"
        )
        return cls(dict(notations), section.fact("n_columns", int))

"""From sentences to features: templates as numbers for the kernels, and places for the features they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from novikoff.kernels import chains as kernels
from novikoff.structured.attributes import Attribute, attribute_named
from novikoff.structured.sentences import Tokens
from novikoff.structured.templates import Template, Templates, cells_of
from novikoff.structured.words import Words, text_hashes

__all__ = ["Features", "Program", "Table"]


class Table:
    """Places for hashes, numbered from 0 as they come.

    Attributes
    ----------
    slots : ndarray of uint64
        Pairs of a hash and its place + 1, or zeros; never more than half full.
    """

    def __init__(self, size: int = 1 << 12) -> None:
        self.slots = np.zeros((size, 2), np.uint64)
        self.count = 0

    def grow(self, count: int) -> None:
        """Make room for this many."""
        if 2 * count > len(self.slots):
            larger = np.zeros((1 << (2 * count - 1).bit_length(), 2), np.uint64)
            kernels.move_table(self.slots, larger)
            self.slots = larger

    def enter(self, keys: np.ndarray) -> None:
        """Have keys[i] at place i; those that had one before are the first of them."""
        self.grow(len(keys))
        kernels.fill_keys(keys, self.count, self.slots)
        self.count = len(keys)

    def keys(self) -> np.ndarray:
        """The hash at each place."""
        found = np.empty(self.count, np.uint64)
        kernels.keys_of_places(self.slots, found)
        return found

    def places(self, keys: np.ndarray) -> np.ndarray:
        """The place of each hash, or -1."""
        found = np.empty(len(keys), np.int32)
        kernels.look_up(keys, self.slots, found)
        return found


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a set of sentences: ids[i, k] is that of template k at token i, -1 if it has none.

    keys[id] is the hash of a feature, firsts[id] where it came first: token * templates + template.
    """

    ids: np.ndarray
    keys: np.ndarray
    firsts: np.ndarray


class Program:
    """Templates as the kernels read them.

    Parameters
    ----------
    templates : Templates
    own : mapping from names to functions
        Attributes of the user's.
    hash_bits : int or None
        How many bits of a feature's hash tell it from others; None for 64, which is to say all of them.
    """

    def __init__(self, templates: Templates, own: Mapping[str, Attribute], hash_bits: int | None) -> None:
        self.templates = templates.every
        wanted = dict.fromkeys(atom.attribute for template in self.templates for atom in template.atoms)
        rows = {name: row for row, name in enumerate(wanted)}
        self.functions = {name: None if name is None else own.get(name) or attribute_named(name) for name in wanted}
        self.words = Words([(str(name), function) for name, function in self.functions.items()])
        atoms = [(rows[atom.attribute], atom.column, atom.offset) for t in self.templates for atom in t.atoms]
        self._atoms = np.array(atoms, np.int32).reshape(-1, 3)
        self._ends = np.cumsum([0, *(len(template.atoms) for template in self.templates)]).astype(np.int32)
        self._seeds = text_hashes([template.stem for template in self.templates])
        self._shift = np.uint64(0 if hash_bits is None else 64 - hash_bits)

    @property
    def most_atoms(self) -> int:
        return max(len(template.atoms) for template in self.templates)

    def learn(self, tokens: Tokens) -> Features:
        """All features of the sentences, numbered as they come."""
        table, at, firsts = Table(1 << 16), 0, np.empty(0, np.int64)
        ids = np.empty((len(tokens.types), len(self.templates)), np.int32)
        while at < len(tokens.starts) - 1:
            longest = tokens.longest * len(self.templates)
            table.grow(max(table.count + longest, len(table.slots) if at else 0))
            firsts = np.concatenate([firsts[: table.count], np.empty(len(table.slots) // 2 - table.count, np.int64)])
            at, table.count = self._find(tokens, at, table, True, ids, firsts)
        return Features(ids, table.keys(), firsts[: table.count].copy())

    def find(self, tokens: Tokens, table: Table) -> np.ndarray:
        """The place in the table of every feature, or -1."""
        ids = np.empty((len(tokens.types), len(self.templates)), np.int32)
        self._find(tokens, 0, table, False, ids, np.empty(0, np.int64))
        return ids

    def _find(
        self, tokens: Tokens, at: int, table: Table, learn: bool, ids: np.ndarray, firsts: np.ndarray
    ) -> tuple[int, int]:
        return kernels.find_features(
            tokens.types, tokens.starts, at, self.words.values(), self._atoms, self._ends, self._seeds, self._shift,
            table.slots, table.count, learn, ids, firsts,
        )  # fmt: skip

    def origins(self, tokens: Tokens, firsts: np.ndarray) -> np.ndarray:
        """For features that came first here: the template, and the number of each word it looked at. Beyond the
        sentence it is negative: -2d, d tokens before its beginning, or -2d - 1, d after its end."""
        found = np.zeros((len(firsts), 1 + self.most_atoms), np.int32)
        at, which = firsts // len(self.templates), firsts % len(self.templates)
        found[:, 0] = which
        sentence = np.searchsorted(tokens.starts, at, "right") - 1
        begin, end = tokens.starts[sentence], tokens.starts[sentence + 1]
        for k, template in enumerate(self.templates):
            mine = which == k
            for a, atom in enumerate(template.atoms, 1):
                j = at[mine] + atom.offset
                inside = tokens.types[np.clip(j, 0, len(tokens.types) - 1), atom.column]
                before, after = begin[mine] - j, j - end[mine] + 1
                found[mine, a] = np.where(before > 0, -2 * before, np.where(after > 0, -2 * after - 1, inside))
        return found

    def name(self, origin: Sequence[int], texts: Sequence[str]) -> str:
        """A feature as people read it: word[-1]=the word[0]=dog."""
        template = self.templates[origin[0]]
        values = [
            self._value(atom.attribute, number, texts) for atom, number in zip(template.atoms, origin[1:], strict=False)
        ]
        return _named(template, values)

    def _value(self, attribute: str | None, number: int, texts: Sequence[str]) -> str:
        if number < 0:
            return f"_B-{-number // 2}" if number % 2 == 0 else f"_B+{(-number - 1) // 2}"
        function = self.functions[attribute]
        return texts[number] if function is None else str(function(texts[number]))


def _named(template: Template, values: list[str]) -> str:
    if "%x" in template.text:  # CRF++'s way: U05:the/dog
        parts = template.stem.split("%x")
        return parts[0] + "".join(value + part for value, part in zip(values, parts[1:], strict=True))
    return " ".join(f"{cell}={value}" for cell, value in zip(cells_of(template.text), values, strict=True))

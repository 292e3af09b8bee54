"""From sentences to features: templates as numbers for the kernels, and places for the features they make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np

from novikoff._compiled.loops import tokens as kernels
from novikoff.structured.attributes import Attribute, attribute_named
from novikoff.structured.hash_table import Table
from novikoff.structured.sentences import Tokens
from novikoff.structured.templates import Template, Templates, cells_of
from novikoff.structured.word_table import Words, text_hashes

__all__ = ["Code", "Features", "Program"]


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a set of sentences: ids[i, k] is that of template k at token i, -1 if it has none.

    Of templates that go with the tag before, links[i, k] is what they make of token i, and after[link, a] the id of the
    feature that this is after tag a. keys[id] is the hash of a feature. firsts[id] is where it came first, token *
    templates + template; before_first[id] the tag before it if it is one of a link, or -1.
    """

    ids: np.ndarray
    links: np.ndarray
    after: np.ndarray
    keys: np.ndarray
    firsts: np.ndarray
    before_first: np.ndarray


class Code(NamedTuple):
    """Some templates as the kernels read them: atoms, where those of each template end, a hash to begin with."""

    atoms: np.ndarray
    ends: np.ndarray
    seeds: np.ndarray


class Program:
    """Templates as the kernels read them.

    Parameters
    ----------
    templates : Templates
    own : mapping from names to functions
        Attributes of the user's.
    hash_bits : int or None
        How many bits of a feature's hash tell it from others; None for 64, which is to say all of them.

    Attributes
    ----------
    groups : ndarray
        Templates that look at one word, by which: column, offset, first and last in `alone`.
    """

    def __init__(self, templates: Templates, own: Mapping[str, Attribute], hash_bits: int | None) -> None:
        self.templates, self.with_pairs = templates.every, templates.pairs
        wanted = dict.fromkeys(atom.attribute for template in self.templates for atom in template.atoms)
        self._rows = {name: row for row, name in enumerate(wanted)}
        self.functions = {name: None if name is None else own.get(name) or attribute_named(name) for name in wanted}
        self.words = Words([(str(name), function) for name, function in self.functions.items()])
        self.shift = np.uint64(0 if hash_bits is None else 64 - hash_bits)
        plain = [template for template in self.templates if not template.is_link]
        self._plain, self._links = self._code(plain), self._code(self.templates[len(plain) :])
        alone = sorted((t for t in plain if t.is_alone), key=_where)
        self.alone, self.together = self._code(alone), self._code([t for t in plain if not t.is_alone])
        self.groups = _groups(alone)

    def _code(self, templates: Sequence[Template]) -> Code:
        atoms = [(self._rows[atom.attribute], atom.column, atom.offset) for t in templates for atom in t.atoms]
        ends = np.cumsum([0, *(len(template.atoms) for template in templates)]).astype(np.int32)
        return Code(np.array(atoms, np.int32).reshape(-1, 3), ends, text_hashes([t.stem for t in templates]))

    @property
    def most_atoms(self) -> int:
        return max(len(template.atoms) for template in self.templates)

    @property
    def n_links(self) -> int:
        return self._links.seeds.size

    @property
    def reach(self) -> int:
        """How far beyond a sentence the templates look."""
        return max((abs(atom.offset) for template in self.templates for atom in template.atoms), default=0)

    def learn(self, tokens: Tokens, n_tags: int) -> Features:
        """All features of the sentences, numbered as they come."""
        table, at, firsts = Table(1 << 16), 0, np.empty(0, np.int64)
        ids = np.empty((len(tokens.types), self._plain.seeds.size), np.int32)
        while at < len(tokens.starts) - 1:
            longest = tokens.longest * self._plain.seeds.size
            table.grow(max(table.count + longest, len(table.slots) if at else 0))
            firsts = np.concatenate([firsts[: table.count], np.empty(len(table.slots) // 2 - table.count, np.int64)])
            at, table.count = kernels.find_features(
                tokens.types,
                tokens.starts,
                at,
                tokens.values,
                *self._plain,
                self.shift,
                table.slots,
                tokens.longest,
                table.count,
                ids,
                firsts,
            )
        return self._with_links(tokens, n_tags, ids, table, firsts[: table.count])

    def _with_links(self, tokens: Tokens, n_tags: int, ids: np.ndarray, table: Table, firsts: np.ndarray) -> Features:
        """Add what links are after each tag; few templates are links, so these may take more memory each."""
        found, at, links = np.unique(self.link_keys(tokens), return_index=True, return_inverse=True)
        every = self.keys_after(found, n_tags).ravel()
        distinct, first = np.unique(every[every != 0], return_index=True)
        is_new = table.places(distinct) < 0
        where = np.flatnonzero(every)[first[is_new]]
        keys = np.concatenate([table.keys(), distinct[is_new]])
        table.enter(keys)
        return Features(
            ids=ids,
            links=np.where(found[links] == 0, -1, links).astype(np.int32).reshape(len(ids), self.n_links),
            after=table.places(every).reshape(len(found), n_tags),
            keys=keys,
            firsts=np.concatenate([firsts, at[where // n_tags]]),
            before_first=np.concatenate([np.full(len(firsts), -1, np.int32), (where % n_tags).astype(np.int32)]),
        )

    def link_keys(self, tokens: Tokens) -> np.ndarray:
        """The hash that each template that is a link makes of each token, all in a row; 0 for none."""
        keys = np.empty((len(tokens.types), self.n_links), np.uint64)
        kernels.token_keys(tokens.types, tokens.starts, tokens.values, *self._links, self.shift, keys)
        return keys.ravel()

    def keys_after(self, keys: np.ndarray, n_tags: int) -> np.ndarray:
        """The hash of each of these after each tag; 0 for none."""
        after = np.empty((len(keys), n_tags), np.uint64)
        kernels.keys_after(keys, self.shift, after)
        return after

    def origins(self, tokens: Tokens, firsts: np.ndarray, before: np.ndarray) -> np.ndarray:
        """For features that came first here: the template, the number of each word it looked at, and of the tag before,
        -1 if that does not matter. Words beyond the sentence have the negative numbers of `kernels.tokens`."""
        found = np.zeros((len(firsts), 2 + self.most_atoms), np.int32)
        n_plain = len(self.templates) - self.n_links
        per_token = np.where(before < 0, n_plain, max(1, self.n_links))
        at, which = firsts // per_token, firsts % per_token + np.where(before < 0, 0, n_plain)
        found[:, 0], found[:, -1] = which, before
        sentence = np.searchsorted(tokens.starts, at, "right") - 1
        begin, end = tokens.starts[sentence], tokens.starts[sentence + 1]
        for k, template in enumerate(self.templates):
            mine = which == k
            for a, atom in enumerate(template.atoms, 1):
                j = at[mine] + atom.offset
                inside = tokens.types[np.clip(j, 0, len(tokens.types) - 1), atom.column]
                ahead, behind = begin[mine] - j, j - end[mine] + 1
                found[mine, a] = np.where(ahead > 0, -2 * ahead, np.where(behind > 0, -2 * behind - 1, inside))
        return found

    def name(self, origin: Sequence[int], texts: Sequence[str], tags: Sequence[Any]) -> str:
        """A feature as people read it: word[-1]=the word[0]=dog."""
        template = self.templates[origin[0]]
        values = [
            self._value(atom.attribute, number, texts)
            for atom, number in zip(template.atoms, origin[1:-1], strict=False)
        ]
        after = f"tag[-1]={tags[origin[-1]]} " if origin[-1] >= 0 else ""
        return after + _named(template, values)

    def _value(self, attribute: str | None, number: int, texts: Sequence[str]) -> str:
        if number < 0:
            return f"_B-{-number // 2}" if number % 2 == 0 else f"_B+{(-number - 1) // 2}"
        function = self.functions[attribute]
        return texts[number] if function is None else str(function(texts[number]))


def _where(template: Template) -> tuple[int, int]:
    return template.atoms[0].column, template.atoms[0].offset


def _groups(alone: Sequence[Template]) -> np.ndarray:
    found, first = [], 0
    for (column, offset), some in groupby(alone, _where):
        last = first + len(list(some))
        found.append((column, offset, first, last))
        first = last
    return np.array(found, np.int64).reshape(-1, 4)


def _named(template: Template, values: list[str]) -> str:
    if "%x" in template.text:  # CRF++'s way: U05:the/dog
        parts = template.stem.split("%x")
        return parts[0] + "".join(value + part for value, part in zip(values, parts[1:], strict=True))
    return " ".join(f"{cell}={value}" for cell, value in zip(cells_of(template.text), values, strict=True))

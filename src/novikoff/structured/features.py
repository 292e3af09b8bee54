"""FeatureExtractor: from tokens to features, by templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from novikoff._compiled.loops import tokens as loops
from novikoff._compiled.loops.tokens import TemplateArrays
from novikoff.structured.attributes import Attribute, find_attribute
from novikoff.structured.hash_table import HashTable
from novikoff.structured.sentences import Tokens
from novikoff.structured.templates import Template, Templates, split_cells
from novikoff.structured.word_table import WordTable, hash_texts

__all__ = ["FeatureExtractor", "TokenFeatures"]


@dataclass(frozen=True, eq=False)
class TokenFeatures:
    """The features of the tokens of some sentences, numbered in order of first occurrence.

    Attributes
    ----------
    ids : ndarray
        ids[i, k] is the feature of template k at token i, -1 if it has none.
    transitions : ndarray
        transitions[i, k] is what transition template k extracts at token i, before it is combined with a tag.
    after : ndarray
        after[f, a] is the feature that transition f becomes after tag a.
    keys : ndarray
        The hash of each feature.
    firsts : ndarray
        Where each feature occurred first: token * templates + template.
    tag_before_first : ndarray
        The previous tag there, for features of transition templates; -1 for others.
    """

    ids: np.ndarray
    transitions: np.ndarray
    after: np.ndarray
    keys: np.ndarray
    firsts: np.ndarray
    tag_before_first: np.ndarray


class FeatureExtractor:
    """Templates as arrays for the loops, and the words that they are applied to.

    Parameters
    ----------
    templates : Templates
    own : mapping from names to functions
        Attributes of the user.
    hash_bits : int or None
        How many bits of a feature's hash distinguish it from others; None for all 64.

    Attributes
    ----------
    single, joint : TemplateArrays
        Templates that depend on a single word, and those that depend on several; transition templates are in neither.
    groups : ndarray
        The templates in `single` by the word they depend on: column, offset, first and last template.
    """

    def __init__(self, templates: Templates, own: Mapping[str, Attribute], hash_bits: int | None) -> None:
        self.templates, self.with_pairs = templates.every, templates.pairs
        names = dict.fromkeys(atom.attribute for template in self.templates for atom in template.atoms)
        self._attribute_index = {name: index for index, name in enumerate(names)}
        self.functions = {name: None if name is None else own.get(name) or find_attribute(name) for name in names}
        self.words = WordTable([(str(name), function) for name, function in self.functions.items()])
        self._shift = np.uint64(0 if hash_bits is None else 64 - hash_bits)
        plain = [template for template in self.templates if not template.is_transition]
        self._plain, self._transition = self._to_arrays(plain), self._to_arrays(self.templates[len(plain) :])
        single = sorted((template for template in plain if template.has_one_word), key=_word_of)
        self.single = self._to_arrays(single)
        self.joint = self._to_arrays([template for template in plain if not template.has_one_word])
        self.groups = _group_by_word(single)

    def _to_arrays(self, templates: Sequence[Template]) -> TemplateArrays:
        atoms = [
            (self._attribute_index[atom.attribute], atom.column, atom.offset) for t in templates for atom in t.atoms
        ]
        ends = np.cumsum([0, *(len(template.atoms) for template in templates)]).astype(np.int32)
        seeds = hash_texts([template.stem for template in templates])
        return TemplateArrays(np.array(atoms, np.int32).reshape(-1, 3), ends, seeds, self._shift)

    @property
    def most_atoms(self) -> int:
        return max(len(template.atoms) for template in self.templates)

    @property
    def n_transitions(self) -> int:
        """The number of transition templates."""
        return self._transition.seeds.size

    @property
    def largest_offset(self) -> int:
        return max((abs(atom.offset) for template in self.templates for atom in template.atoms), default=0)

    def extract(self, tokens: Tokens, n_tags: int) -> TokenFeatures:
        """Return all features of the sentences."""
        n_templates = self._plain.seeds.size
        table, sentence, firsts = HashTable(1 << 16), 0, np.empty(0, np.int64)
        ids = np.empty((len(tokens), n_templates), np.int32)
        while sentence < tokens.n_sentences:
            table.reserve(max(table.count + tokens.longest * n_templates, len(table.slots) if sentence else 0))
            firsts = np.concatenate([firsts[: table.count], np.empty(len(table.slots) // 2 - table.count, np.int64)])
            sentence, table.count = loops.find_features(
                tokens.arrays, self._plain, sentence, table.slots, tokens.longest, table.count, ids, firsts
            )
        return self._add_transitions(tokens, n_tags, ids, table, firsts[: table.count])

    def _add_transitions(
        self, tokens: Tokens, n_tags: int, ids: np.ndarray, table: HashTable, firsts: np.ndarray
    ) -> TokenFeatures:
        """Add the features of transition templates, for each previous tag. Few templates are of this kind, so their
        features may take more memory each."""
        distinct, at, inverse = np.unique(self.hash_transitions(tokens), return_index=True, return_inverse=True)
        combined = self.combine_with_tags(distinct, n_tags).ravel()
        combined_keys, first = np.unique(combined[combined != 0], return_index=True)
        is_new = table.find(combined_keys) < 0
        where = np.flatnonzero(combined)[first[is_new]]
        keys = np.concatenate([table.keys(), combined_keys[is_new]])
        table.extend_to(keys)
        transitions = np.where(distinct[inverse] == 0, -1, inverse).astype(np.int32)
        return TokenFeatures(
            ids=ids,
            transitions=transitions.reshape(len(ids), self.n_transitions),
            after=table.find(combined).reshape(len(distinct), n_tags),
            keys=keys,
            firsts=np.concatenate([firsts, at[where // n_tags]]),
            tag_before_first=np.concatenate([np.full(len(firsts), -1, np.int32), (where % n_tags).astype(np.int32)]),
        )

    def hash_transitions(self, tokens: Tokens) -> np.ndarray:
        """Return the key that each transition template extracts at each token, in one row; 0 for none."""
        keys = np.empty((len(tokens), self.n_transitions), np.uint64)
        loops.fill_token_keys(tokens.arrays, self._transition, keys)
        return keys.ravel()

    def combine_with_tags(self, keys: np.ndarray, n_tags: int) -> np.ndarray:
        """Return the key of each of these features after each tag; 0 for none."""
        combined = np.empty((len(keys), n_tags), np.uint64)
        loops.combine_with_tags(keys, self._shift, combined)
        return combined

    def find_origins(self, tokens: Tokens, firsts: np.ndarray, tag_before_first: np.ndarray) -> np.ndarray:
        """Return what each feature was extracted from: the template, the id of each of its words, and the previous tag
        or -1. Positions outside the sentence have the negative ids of `loops.tokens`."""
        origins = np.zeros((len(firsts), 2 + self.most_atoms), np.int32)
        n_plain, is_plain = len(self.templates) - self.n_transitions, tag_before_first < 0
        per_token = np.where(is_plain, n_plain, max(1, self.n_transitions))
        at, which = firsts // per_token, firsts % per_token + np.where(is_plain, 0, n_plain)
        origins[:, 0], origins[:, -1] = which, tag_before_first
        sentence = np.searchsorted(tokens.starts, at, "right") - 1
        begin, end = tokens.starts[sentence], tokens.starts[sentence + 1]
        for k, template in enumerate(self.templates):
            mine = which == k
            for a, atom in enumerate(template.atoms, 1):
                j = at[mine] + atom.offset
                inside = tokens.words[np.clip(j, 0, len(tokens) - 1), atom.column]
                before, behind = begin[mine] - j, j - end[mine] + 1
                origins[mine, a] = np.where(before > 0, -2 * before, np.where(behind > 0, -2 * behind - 1, inside))
        return origins

    def format_name(self, origin: Sequence[int], texts: Sequence[str], tags: Sequence[Any]) -> str:
        """Return the name of a feature, such as word[-1]=the word[0]=dog."""
        template = self.templates[origin[0]]
        values = [
            self._format_value(atom.attribute, word, texts)
            for atom, word in zip(template.atoms, origin[1:-1], strict=False)
        ]
        after = f"tag[-1]={tags[origin[-1]]} " if origin[-1] >= 0 else ""
        return after + _join_values(template, values)

    def _format_value(self, attribute: str | None, word: int, texts: Sequence[str]) -> str:
        if word < 0:
            return f"_B-{-word // 2}" if word % 2 == 0 else f"_B+{(-word - 1) // 2}"
        function = self.functions[attribute]
        return texts[word] if function is None else str(function(texts[word]))


def _word_of(template: Template) -> tuple[int, int]:
    return template.atoms[0].column, template.atoms[0].offset


def _group_by_word(single: Sequence[Template]) -> np.ndarray:
    groups, first = [], 0
    for (column, offset), some in groupby(single, _word_of):
        last = first + len(list(some))
        groups.append((column, offset, first, last))
        first = last
    return np.array(groups, np.int64).reshape(-1, 4)


def _join_values(template: Template, values: list[str]) -> str:
    if "%x" in template.text:  # as CRF++ writes it: U05:the/dog
        parts = template.stem.split("%x")
        return parts[0] + "".join(value + part for value, part in zip(values, parts[1:], strict=True))
    return " ".join(f"{cell}={value}" for cell, value in zip(split_cells(template.text), values, strict=True))

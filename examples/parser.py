"""A dependency parser: trees instead of tags, without any learning code.

A sentence of n words has more than 2^n projective trees, but the perceptron's mistake bound does not depend on their
number: `StructuredPerceptron` needs the features of a tree, and the best tree. Here the best tree is found in n^3 steps
(Eisner 1996). The features of a tree are those of its arcs, as in McDonald, Crammer and Pereira 2005, table 1: the
words and tags at both ends, the tags between and beside them, together with the direction and the length of the arc.

    python examples/parser.py train.conllu test.conllu [passes]
"""

from __future__ import annotations

import sys
import time
from typing import NamedTuple

import numpy as np
from numba import njit

import novikoff as nk
from novikoff.structured.sentence_files import SentenceFile

BITS = 22  # of the index of a feature: 4 million weights, 32 MB
MAX_FEATURES = 400  # of an arc


class Sentence(NamedTuple):
    """The ids of words and of their tags; id 0 is the root, before the first word."""

    words: np.ndarray
    tags: np.ndarray


# -- features


@njit
def add_feature(indices, count, template, arc, a, b, c, d):
    """Add two features: these values, and these values with the direction and length of the arc."""
    h = np.uint64(template)
    for value in (a, b, c, d):
        h = (h ^ np.uint64(value + 1)) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    indices[count] = h >> np.uint64(64 - BITS)
    h = (h ^ np.uint64(arc)) * np.uint64(0xBF58476D1CE4E5B9)
    indices[count + 1] = (h ^ (h >> np.uint64(31))) & np.uint64((1 << BITS) - 1)
    return count + 2


@njit
def arc_features(words, tags, h, m, indices):
    """Write the indices of the features of an arc from head h to word m. Return their number."""
    n, low, high = len(words), min(h, m), max(h, m)
    hw, ht, mw, mt = words[h], tags[h], words[m], tags[m]
    length = high - low
    bucket = length if length < 5 else 5 if length < 10 else 6
    arc = 1000 + 2 * bucket + (h < m)
    hl, hr = tags[h - 1] if h > 0 else -1, tags[h + 1] if h + 1 < n else -1
    ml, mr = tags[m - 1] if m > 0 else -1, tags[m + 1] if m + 1 < n else -1
    count = add_feature(indices, 0, 1, arc, hw, ht, 0, 0)
    count = add_feature(indices, count, 2, arc, hw, 0, 0, 0)
    count = add_feature(indices, count, 3, arc, ht, 0, 0, 0)
    count = add_feature(indices, count, 4, arc, mw, mt, 0, 0)
    count = add_feature(indices, count, 5, arc, mw, 0, 0, 0)
    count = add_feature(indices, count, 6, arc, mt, 0, 0, 0)
    count = add_feature(indices, count, 7, arc, hw, ht, mw, mt)
    count = add_feature(indices, count, 8, arc, ht, mw, mt, 0)
    count = add_feature(indices, count, 9, arc, hw, mw, mt, 0)
    count = add_feature(indices, count, 10, arc, hw, ht, mt, 0)
    count = add_feature(indices, count, 11, arc, hw, ht, mw, 0)
    count = add_feature(indices, count, 12, arc, hw, mw, 0, 0)
    count = add_feature(indices, count, 13, arc, ht, mt, 0, 0)
    count = add_feature(indices, count, 14, arc, ht, hr, ml, mt)
    count = add_feature(indices, count, 15, arc, hl, ht, ml, mt)
    count = add_feature(indices, count, 16, arc, ht, hr, mt, mr)
    count = add_feature(indices, count, 17, arc, hl, ht, mt, mr)
    for between in range(low + 1, min(high, low + 1 + (MAX_FEATURES - count) // 2)):
        count = add_feature(indices, count, 18, arc, ht, tags[between], mt, 0)
    return count


@njit
def tree_features(words, tags, heads, found):
    """Write the indices of the features of a tree, in which heads[m - 1] is the head of word m. Return their number."""
    count, indices = 0, np.empty(MAX_FEATURES, np.int64)
    for m in range(1, len(words)):
        n = arc_features(words, tags, heads[m - 1], m, indices)
        found[count : count + n] = indices[:n]
        count += n
    return count


# -- search


@njit
def score_arcs(weights, words, tags):
    """Return scores[head, word] of all arcs."""
    n, indices = len(words), np.empty(MAX_FEATURES, np.int64)
    scores = np.full((n, n), -np.inf)
    for h in range(n):
        for m in range(1, n):
            if h != m:
                scores[h, m] = 0.0
                for k in range(arc_features(words, tags, h, m, indices)):
                    scores[h, m] += weights[indices[k]]
    return scores


@njit
def eisner(scores):
    """Return the projective tree with the highest sum of scores[head, word], as the head of each word.

    right[s, t] and left[s, t] are the scores of the best trees over words s..t with head s or t (complete spans);
    open_right[s, t] and open_left[s, t] those of the best trees with an arc between s and t, whose dependent may still
    get dependents on its other side (incomplete spans). split[kind, s, t] is where the best tree was divided.
    """
    n = len(scores)
    right, left = np.zeros((n, n)), np.zeros((n, n))
    open_right, open_left = np.zeros((n, n)), np.zeros((n, n))
    split = np.zeros((4, n, n), np.int64)
    for width in range(1, n):
        for s in range(n - width):
            t = s + width
            best, middle = -np.inf, s
            for r in range(s, t):
                if right[s, r] + left[r + 1, t] > best:
                    best, middle = right[s, r] + left[r + 1, t], r
            open_right[s, t], open_left[s, t] = best + scores[s, t], best + scores[t, s]
            split[0, s, t] = middle
            left[s, t], right[s, t] = -np.inf, -np.inf
            for r in range(s, t):
                if left[s, r] + open_left[r, t] > left[s, t]:
                    left[s, t], split[1, s, t] = left[s, r] + open_left[r, t], r
                if open_right[s, r + 1] + right[r + 1, t] > right[s, t]:
                    right[s, t], split[2, s, t] = open_right[s, r + 1] + right[r + 1, t], r + 1
    heads = np.zeros(n - 1, np.int64)
    todo = [(0, n - 1, 2)]  # spans to trace back: begin, end, and 0 for incomplete, 1 for left, 2 for right
    while len(todo) > 0:
        s, t, kind = todo.pop()
        if s == t:
            continue
        if kind == 1:
            r = split[1, s, t]
            heads[r - 1] = t
            todo.append((s, r, 1))
            s = r
        elif kind == 2:
            r = split[2, s, t]
            heads[r - 1] = s
            todo.append((r, t, 2))
            t = r
        todo.append((s, split[0, s, t], 2))
        todo.append((split[0, s, t] + 1, t, 1))
    return heads


class Trees:
    """The problem for StructuredPerceptron; see `novikoff.structured.Problem`."""

    size = 1 << BITS

    def features(self, x: Sentence, y: np.ndarray) -> np.ndarray:
        found = np.empty(MAX_FEATURES * len(x.words), np.int64)
        return found[: tree_features(x.words, x.tags, y, found)]

    def best(self, weights: np.ndarray, x: Sentence) -> np.ndarray:
        return eisner(score_arcs(weights, x.words, x.tags))


# -- files


def read(path: str, ids: dict[str, int], *, learn: bool) -> tuple[list[Sentence], list[np.ndarray]]:
    """Return sentences and their heads. Words and tags that occur once in training get id 1, as unknown ones do."""
    with SentenceFile(path) as file:
        rows = [sentence.rows for sentence in file]
    if learn:
        cells = [cell for own in rows for row in own for cell in (f"word {row[1].lower()}", f"tag {row[4]}")]
        seen = set()
        for cell in cells:
            if cell in seen:
                ids.setdefault(cell, len(ids) + 2)
            seen.add(cell)
    X = [
        Sentence(
            *(
                np.array([0, *(ids.get(f"{kind} {text}", 1) for text in texts)])
                for kind, texts in (("word", [row[1].lower() for row in own]), ("tag", [row[4] for row in own]))
            )
        )
        for own in rows
    ]
    return X, [np.array([int(row[6]) for row in own]) for own in rows]


def main(train: str, test: str, passes: str = "10") -> None:
    ids: dict[str, int] = {}
    X, heads = read(train, ids, learn=True)
    X_test, heads_test = read(test, ids, learn=False)
    parser = nk.StructuredPerceptron(Trees(), max_iter=int(passes), order="shuffled")
    began = time.perf_counter()
    for number, mistakes in enumerate(parser.passes(X, heads), 1):
        right = np.concatenate(parser.predict(X_test)) == np.concatenate(heads_test)
        print(
            f"pass {number}: mistakes in {mistakes:,} of {len(X):,} sentences, UAS on test {right.mean():.2%}, "
            f"{time.perf_counter() - began:.0f} s",
            flush=True,
        )
    print(parser.ledger_)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A dependency parser: trees instead of tags, and not a line of learning code.

A sentence of n words has more than 2^n projective trees, and the perceptron's theorem does not mind: all it asks of a
structure is what is in it, and which one is best. Here the best tree is found in n^3 steps (Eisner 1996), and a tree is
the sum of its arcs, each described as in McDonald, Crammer and Pereira 2005, table 1: the words and tags at both ends,
the tags between and beside them, together with the direction and the length of the arc.

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

BITS = 22  # of the places for features: 4 million weights, 32 MB
MOST = 400  # features of an arc, at most


class Sentence(NamedTuple):
    """Numbers for the words and their tags; number 0 stands for the root, before the first word."""

    words: np.ndarray
    tags: np.ndarray


# -- what is in a tree


@njit
def put(places, count, template, arc, a, b, c, d):
    """Two features more: these values, and the same together with direction and length of the arc."""
    h = np.uint64(template)
    for value in (a, b, c, d):
        h = (h ^ np.uint64(value + 1)) * np.uint64(0x9E3779B97F4A7C15)
        h ^= h >> np.uint64(29)
    places[count] = h >> np.uint64(64 - BITS)
    h = (h ^ np.uint64(arc)) * np.uint64(0xBF58476D1CE4E5B9)
    places[count + 1] = (h ^ (h >> np.uint64(31))) & np.uint64((1 << BITS) - 1)
    return count + 2


@njit
def describe(words, tags, h, m, places):
    """The places of the features of an arc from head h to m. Return how many there are."""
    n, low, high = len(words), min(h, m), max(h, m)
    hw, ht, mw, mt = words[h], tags[h], words[m], tags[m]
    length = high - low
    bucket = length if length < 5 else 5 if length < 10 else 6
    arc = 1000 + 2 * bucket + (h < m)
    hl, hr = tags[h - 1] if h > 0 else -1, tags[h + 1] if h + 1 < n else -1
    ml, mr = tags[m - 1] if m > 0 else -1, tags[m + 1] if m + 1 < n else -1
    count = put(places, 0, 1, arc, hw, ht, 0, 0)
    count = put(places, count, 2, arc, hw, 0, 0, 0)
    count = put(places, count, 3, arc, ht, 0, 0, 0)
    count = put(places, count, 4, arc, mw, mt, 0, 0)
    count = put(places, count, 5, arc, mw, 0, 0, 0)
    count = put(places, count, 6, arc, mt, 0, 0, 0)
    count = put(places, count, 7, arc, hw, ht, mw, mt)
    count = put(places, count, 8, arc, ht, mw, mt, 0)
    count = put(places, count, 9, arc, hw, mw, mt, 0)
    count = put(places, count, 10, arc, hw, ht, mt, 0)
    count = put(places, count, 11, arc, hw, ht, mw, 0)
    count = put(places, count, 12, arc, hw, mw, 0, 0)
    count = put(places, count, 13, arc, ht, mt, 0, 0)
    count = put(places, count, 14, arc, ht, hr, ml, mt)
    count = put(places, count, 15, arc, hl, ht, ml, mt)
    count = put(places, count, 16, arc, ht, hr, mt, mr)
    count = put(places, count, 17, arc, hl, ht, mt, mr)
    for between in range(low + 1, min(high, low + 1 + (MOST - count) // 2)):
        count = put(places, count, 18, arc, ht, tags[between], mt, 0)
    return count


@njit
def describe_tree(words, tags, heads, found):
    """The same for all arcs of a tree: heads[m - 1] is the head of word m."""
    count, places = 0, np.empty(MOST, np.int64)
    for m in range(1, len(words)):
        n = describe(words, tags, heads[m - 1], m, places)
        found[count : count + n] = places[:n]
        count += n
    return count


# -- the best tree


@njit
def arc_scores(weights, words, tags):
    n, places = len(words), np.empty(MOST, np.int64)
    scores = np.full((n, n), -np.inf)
    for h in range(n):
        for m in range(1, n):
            if h != m:
                scores[h, m] = 0.0
                for k in range(describe(words, tags, h, m, places)):
                    scores[h, m] += weights[places[k]]
    return scores


@njit
def eisner(scores):
    """The projective tree with the highest sum of scores[head, word].

    right[s, t] and left[s, t] are the best trees over s..t with head s or t; `open` ones have just got the arc between
    s and t, and wait for the rest of what hangs on its lower end. `at` says where the best was split.
    """
    n = len(scores)
    right, left = np.zeros((n, n)), np.zeros((n, n))
    open_right, open_left = np.zeros((n, n)), np.zeros((n, n))
    at = np.zeros((4, n, n), np.int64)
    for width in range(1, n):
        for s in range(n - width):
            t = s + width
            best, split = -np.inf, s
            for r in range(s, t):
                if right[s, r] + left[r + 1, t] > best:
                    best, split = right[s, r] + left[r + 1, t], r
            open_right[s, t], open_left[s, t] = best + scores[s, t], best + scores[t, s]
            at[0, s, t] = split
            left[s, t], right[s, t] = -np.inf, -np.inf
            for r in range(s, t):
                if left[s, r] + open_left[r, t] > left[s, t]:
                    left[s, t], at[1, s, t] = left[s, r] + open_left[r, t], r
                if open_right[s, r + 1] + right[r + 1, t] > right[s, t]:
                    right[s, t], at[2, s, t] = open_right[s, r + 1] + right[r + 1, t], r + 1
    heads = np.zeros(n - 1, np.int64)
    todo = [(0, n - 1, 2)]  # spans to take apart: begin, end, and 0 for one with an arc just made, 1 left, 2 right
    while len(todo) > 0:
        s, t, kind = todo.pop()
        if s == t:
            continue
        if kind == 1:
            r = at[1, s, t]
            heads[r - 1] = t
            todo.append((s, r, 1))
            s = r
        elif kind == 2:
            r = at[2, s, t]
            heads[r - 1] = s
            todo.append((r, t, 2))
            t = r
        todo.append((s, at[0, s, t], 2))
        todo.append((at[0, s, t] + 1, t, 1))
    return heads


class Trees:
    """The problem, as StructuredPerceptron wants to know it."""

    size = 1 << BITS

    def features(self, x: Sentence, y: np.ndarray) -> np.ndarray:
        found = np.empty(MOST * len(x.words), np.int64)
        return found[: describe_tree(x.words, x.tags, y, found)]

    def best(self, weights: np.ndarray, x: Sentence) -> np.ndarray:
        return eisner(arc_scores(weights, x.words, x.tags))


# -- files


def read(path: str, numbers: dict[str, int], *, learn: bool) -> tuple[list[Sentence], list[np.ndarray]]:
    """Sentences and their heads; words met once only in training are all the same stranger, number 1."""
    with SentenceFile(path) as file:
        rows = [sentence.rows for sentence in file]
    if learn:
        cells = [cell for own in rows for row in own for cell in (f"word {row[1].lower()}", f"tag {row[4]}")]
        seen = set()
        for cell in cells:
            if cell in seen:
                numbers.setdefault(cell, len(numbers) + 2)
            seen.add(cell)
    X = [
        Sentence(
            *(
                np.array([0, *(numbers.get(f"{kind} {text}", 1) for text in texts)])
                for kind, texts in (("word", [row[1].lower() for row in own]), ("tag", [row[4] for row in own]))
            )
        )
        for own in rows
    ]
    return X, [np.array([int(row[6]) for row in own]) for own in rows]


def main(train: str, test: str, passes: str = "10") -> None:
    numbers: dict[str, int] = {}
    X, heads = read(train, numbers, learn=True)
    X_test, heads_test = read(test, numbers, learn=False)
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

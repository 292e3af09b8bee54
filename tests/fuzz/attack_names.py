"""Names that are random, long, alike or crafted, against a dict of Python's."""

from __future__ import annotations

import pickle

import numpy as np

from novikoff._compiled.loops import names as kernels
from novikoff.data.encoding.names import Names
from novikoff.data.encoding.vocabulary import Vocabulary
from novikoff.model_files import Section
from tests.reference.names import neighbours, twins

_SIZES = (0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 25, 100, 132, 133, 134, 135, 300)


def attack(rng: np.random.Generator) -> int:
    """Give places to names in blocks of any size, with and without room for all; through a file and a pickle."""
    heads = [_name(rng) for _ in range(rng.integers(1, 12))]
    pool = [*(_name(rng) for _ in range(rng.integers(1, 3000))), *twins(rng, b"innocent_feature", 50)]
    pool += neighbours(rng, 50, 16)
    bits = int(rng.choice([1, 3, 8, 20]))
    vocabulary, known, cases = Vocabulary(bits), {}, 0
    for _ in range(rng.integers(1, 6)):
        chosen = [(heads[rng.integers(len(heads))], pool[rng.integers(len(pool))]) for _ in range(rng.integers(3000))]
        names, learn = _names(chosen), bool(rng.random() < 0.8)
        places = vocabulary.places(names, learn=learn).tolist()
        for pair, place in zip(chosen, places, strict=True):
            if learn and pair not in known and len(known) < 1 << bits:
                known[pair] = len(known)
            expected = known.get(pair)
            if expected is not None:
                assert place == expected, (pair, place, expected)
            elif len(known) < 1 << bits:
                assert place == -1, (pair, place)
            else:
                assert 0 <= place < 1 << bits, (pair, place)
        assert vocabulary.places(names, learn=False).tolist() == places
        cases += len(chosen)
        if rng.random() < 0.5:
            vocabulary = _again(vocabulary, rng)
    assert len(vocabulary) == len(known)
    assert _displacement(vocabulary) < 4.0
    return cases


def _name(rng: np.random.Generator) -> bytes:
    """Few different bytes, so that many names are alike; zero bytes among them."""
    size = int(rng.choice(_SIZES)) if rng.random() < 0.5 else int(rng.integers(12))
    name = bytearray(rng.choice([0, 97, 97, 97, 98, 255], size).astype(np.uint8).tobytes())
    if name and rng.random() < 0.3:
        name[:] = b"a" * size
        name[rng.integers(size)] = 0
    return bytes(name)


def _names(pairs: list[tuple[bytes, bytes]]) -> Names:
    memory, spans = _joined([name for _, name in pairs])
    heads, head_spans = _joined([head for head, _ in pairs])
    return Names.at(memory, spans, heads, np.arange(len(pairs), dtype=np.int32), head_spans)


def _joined(parts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.cumsum([0, *map(len, parts)]).astype(np.int32)
    return np.frombuffer(bytearray(b"".join(parts)), np.uint8), np.column_stack([ends[:-1], ends[1:]])


def _again(vocabulary: Vocabulary, rng: np.random.Generator) -> Vocabulary:
    if rng.random() < 0.5:
        return pickle.loads(pickle.dumps(vocabulary))
    section = Section("").open("vocabulary")
    vocabulary.put(section)
    return Vocabulary.take(section)


def _displacement(vocabulary: Vocabulary) -> float:
    """How far names are from their first slots, on average."""
    table = vocabulary._names
    content = vocabulary._content()
    hashes = np.concatenate([np.empty(0, np.uint64), *(names.hashes for names in content.in_parts())])
    sizes, heads, which = (np.empty(table.count, np.int64) for _ in range(3))
    kernels.read_sizes(table._slots, table._records, sizes, heads, which)
    first = (hashes & np.uint64(len(table._slots) - 1)).astype(np.int64)
    return float(((which - first) % len(table._slots)).mean()) if len(first) else 0.0

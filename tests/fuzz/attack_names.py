"""Vocabularies against a Python dict, with names that are random, long, similar or crafted."""

from __future__ import annotations

import pickle

import numpy as np

from novikoff._compiled.loops import names as loops
from novikoff.data.encoding.names import NameBatch
from novikoff.data.encoding.vocabulary import Vocabulary
from novikoff.model_files import Section
from tests.reference.names import names_with_equal_hashes, names_with_equal_low_bits

_SIZES = (0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 25, 100, 132, 133, 134, 135, 300)


def attack(rng: np.random.Generator) -> int:
    """Find indices of names in blocks of any size, with and without an index for each; through a file and a pickle."""
    prefixes = [_name(rng) for _ in range(rng.integers(1, 12))]
    pool = [*(_name(rng) for _ in range(rng.integers(1, 3000))), *names_with_equal_hashes(rng, b"innocent_feature", 50)]
    pool += names_with_equal_low_bits(rng, 50, 16)
    bits = int(rng.choice([1, 3, 8, 20]))
    vocabulary, known, cases = Vocabulary(bits), {}, 0
    for _ in range(rng.integers(1, 6)):
        chosen = [
            (prefixes[rng.integers(len(prefixes))], pool[rng.integers(len(pool))]) for _ in range(rng.integers(3000))
        ]
        names, learn = _names(chosen), bool(rng.random() < 0.8)
        indices = vocabulary.find_indices(names, learn=learn).tolist()
        for pair, index in zip(chosen, indices, strict=True):
            if learn and pair not in known and len(known) < 1 << bits:
                known[pair] = len(known)
            expected = known.get(pair)
            if expected is not None:
                assert index == expected, (pair, index, expected)
            elif len(known) < 1 << bits:
                assert index == -1, (pair, index)
            else:
                assert 0 <= index < 1 << bits, (pair, index)
        assert vocabulary.find_indices(names, learn=False).tolist() == indices
        cases += len(chosen)
        if rng.random() < 0.5:
            vocabulary = _copy(vocabulary, rng)
    assert len(vocabulary) == len(known)
    assert _displacement(vocabulary) < 4.0
    return cases


def _name(rng: np.random.Generator) -> bytes:
    """A name of few different bytes, so that many names are similar; zero bytes among them."""
    size = int(rng.choice(_SIZES)) if rng.random() < 0.5 else int(rng.integers(12))
    name = bytearray(rng.choice([0, 97, 97, 97, 98, 255], size).astype(np.uint8).tobytes())
    if name and rng.random() < 0.3:
        name[:] = b"a" * size
        name[rng.integers(size)] = 0
    return bytes(name)


def _names(pairs: list[tuple[bytes, bytes]]) -> NameBatch:
    memory, spans = _pack([name for _, name in pairs])
    prefixes, prefix_spans = _pack([prefix for prefix, _ in pairs])
    return NameBatch.from_spans(memory, spans, prefixes, np.arange(len(pairs), dtype=np.int32), prefix_spans)


def _pack(parts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    ends = np.cumsum([0, *map(len, parts)]).astype(np.int32)
    return np.frombuffer(bytearray(b"".join(parts)), np.uint8), np.column_stack([ends[:-1], ends[1:]])


def _copy(vocabulary: Vocabulary, rng: np.random.Generator) -> Vocabulary:
    if rng.random() < 0.5:
        return pickle.loads(pickle.dumps(vocabulary))
    section = Section("").add_part("vocabulary")
    vocabulary.write_to(section)
    return Vocabulary.read_from(section)


def _displacement(vocabulary: Vocabulary) -> float:
    """How many slots names are away from their home slots, on average."""
    table = vocabulary._names
    hashes = np.concatenate([np.empty(0, np.uint64), *(batch.hashes for batch in vocabulary._list().batches())])
    sizes, prefix_of, slot_of = (np.empty(table.count, np.int64) for _ in range(3))
    loops.read_sizes(table._slots, table._records, sizes, prefix_of, slot_of)
    home = ((hashes ^ hashes >> np.uint64(32)) & np.uint64(len(table._slots) - 1)).astype(np.int64)
    return float(((slot_of - home) % len(table._slots)).mean()) if len(home) else 0.0

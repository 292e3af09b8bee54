"""The hash of names in model files written before names were compared, and names made to fall together under it.
Imports nothing of novikoff."""

import struct

ALL = (1 << 64) - 1
SEED = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mixed(h, word):
    h ^= word
    h = (h ^ (h >> 30)) * FIRST & ALL
    h = (h ^ (h >> 27)) * SECOND & ALL
    return h ^ (h >> 31)


def unmixed(h):
    """The word h ^ word that `mixed` makes h of."""
    h = h ^ (h >> 31) ^ (h >> 62)
    h = h * pow(SECOND, -1, 1 << 64) & ALL
    h = h ^ (h >> 27) ^ (h >> 54)
    h = h * pow(FIRST, -1, 1 << 64) & ALL
    return h ^ (h >> 30) ^ (h >> 60)


def words_of(name):
    return struct.unpack(f"<{-(-len(name) // 8)}Q", name.ljust(-(-len(name) // 8) * 8, b"\0"))


def hash_of(*parts):
    """The hash of the parts of a name: its head, and what follows."""
    h = SEED
    for part in parts:
        for word in words_of(part):
            h = mixed(h, word)
    return h


def hash_of_run(head, words):
    """The hash of a run of words under a head."""
    h = hash_of(head, words[0])
    for word in words[1:]:
        h = mixed(h, 32)
        for part in words_of(word):
            h = mixed(h, part)
    return h


def twins(rng, name, count):
    """Other names of 16 bytes with the hash of this one, which has 16: letters for the first eight, and any bytes for
    the rest."""
    target = mixed(SEED, words_of(name)[0]) ^ words_of(name)[1]
    found = []
    for _ in range(count):
        first = bytes(rng.integers(97, 123, 8).tolist())
        found.append(first + struct.pack("<Q", mixed(SEED, words_of(first)[0]) ^ target))
    return found


def neighbours(rng, count, bits):
    """Names of 8 bytes, any of them, whose hashes have the same `bits` lowest bits."""
    low = int(rng.integers(1 << bits))
    highs = rng.choice(1 << min(62 - bits, 40), count, replace=False).tolist()
    return [struct.pack("<Q", unmixed(high << bits | low) ^ SEED) for high in highs]

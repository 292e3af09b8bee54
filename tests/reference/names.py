"""The hash of names in old model files, and names crafted to collide under it; imports nothing of novikoff."""

import struct

ALL = (1 << 64) - 1
SEED = 0x9E3779B97F4A7C15
FIRST, SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def mix(h, word):
    h ^= word
    h = (h ^ (h >> 30)) * FIRST & ALL
    h = (h ^ (h >> 27)) * SECOND & ALL
    return h ^ (h >> 31)


def unmix(h):
    """The inverse of `mix`: the value of h ^ word that gives h."""
    h = h ^ (h >> 31) ^ (h >> 62)
    h = h * pow(SECOND, -1, 1 << 64) & ALL
    h = h ^ (h >> 27) ^ (h >> 54)
    h = h * pow(FIRST, -1, 1 << 64) & ALL
    return h ^ (h >> 30) ^ (h >> 60)


def words_of(name):
    return struct.unpack(f"<{-(-len(name) // 8)}Q", name.ljust(-(-len(name) // 8) * 8, b"\0"))


def hash_of(*parts):
    """The hash of the parts of a name: its prefix, and the rest."""
    h = SEED
    for part in parts:
        for word in words_of(part):
            h = mix(h, word)
    return h


def hash_of_ngram(prefix, words):
    """The hash of an n-gram of words with a prefix."""
    h = hash_of(prefix, words[0])
    for word in words[1:]:
        h = mix(h, 32)
        for part in words_of(word):
            h = mix(h, part)
    return h


def names_with_equal_hashes(rng, name, count):
    """Names of 16 bytes with the same hash as this one, which has 16 too: letters for the first eight bytes, anything
    for the rest."""
    target = mix(SEED, words_of(name)[0]) ^ words_of(name)[1]
    found = []
    for _ in range(count):
        first = bytes(rng.integers(97, 123, 8).tolist())
        found.append(first + struct.pack("<Q", mix(SEED, words_of(first)[0]) ^ target))
    return found


def names_with_equal_low_bits(rng, count, bits):
    """Names of any 8 bytes whose hashes agree in the lowest `bits` bits."""
    low = int(rng.integers(1 << bits))
    highs = rng.choice(1 << min(62 - bits, 40), count, replace=False).tolist()
    return [struct.pack("<Q", unmix(high << bits | low) ^ SEED) for high in highs]

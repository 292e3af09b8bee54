"""Attacks on the package: random inputs, threads, signals and damaged files, until something gives way.

Every module here named `attack_*` has one function, `attack(rng) -> int`. It plays one round: it draws its cases
from `rng` and nowhere else, raises AssertionError if one of them goes wrong, and returns how many it tried. A round
takes about a second. Rounds run in a process of their own, so that one that crashes the interpreter is reported with
the seed that repeats it.

    make fuzz                                        every attack, one minute each
    python -m tests.fuzz --seconds 600 --only csr    one attack, ten minutes
    python -m tests.fuzz --only csr --seed 7 --first 41 --rounds 1    round 41 again
"""

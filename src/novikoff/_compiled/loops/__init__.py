"""Compiled loops over arrays and numbers.

Here belongs what runs once for every row, example, token or byte. Validation, messages, objects and decisions about
what to run belong to the callers. The files import numpy, `novikoff._compiled` and each other, nothing else: numba's
cache is checked against exactly these (see `check_cache` in _compiled/jit.py).
"""

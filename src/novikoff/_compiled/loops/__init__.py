"""Compiled loops on arrays and numbers, nothing else. The files import from each other alone (see _jit)."""

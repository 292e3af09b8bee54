"""Compiled loops on arrays and numbers, nothing else. Each file stands alone (see _jit.py)."""

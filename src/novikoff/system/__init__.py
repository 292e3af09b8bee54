"""What the operating system is asked for: atomic files, threads, locks and memory.

Nothing here knows about learning. Compiled code is in `_compiled`; file formats are in `data`.
"""

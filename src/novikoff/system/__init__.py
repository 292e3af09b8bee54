"""Services on top of the operating system: atomic files, threads, locks and memory.

Nothing here depends on learning. Compiled code is in `_compiled`; file formats are in `data`.
"""

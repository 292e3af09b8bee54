"""Benchmarks of novikoff against other libraries; every figure is a ratio measured in one run.

Start with `python -m benchmarks --help`. Real data is read from $NOVIKOFF_DATA, where that is set.
"""

"""Proofs about data: separability, margins, mistake bounds, and the fewest errors.

The functions that a user calls, the search behind them, and the certificates that they return belong here; what checks
a certificate is in `checkers/`. Learning, plots and the printing of verdicts do not belong here.
"""

"""Mistakes in one pass over real streams: each row is predicted before it is learned from.

    python -m benchmarks.mistakes --write      measure all streams and write docs/mistakes.md

`files` names the streams and the order of their rows, `generated` those that need no file, `features` makes rows
of numbers of them, `vowpal_wabbit` and `river_models` are the peers, `peers` keeps what they reached, `ours` runs
novikoff, `page` writes the tables.
"""

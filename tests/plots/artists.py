"""Data to draw, and the numbers that artists of matplotlib stand for."""

import numpy as np

# The worked example of the course; its best separator through the origin is (1, 0), with margin 1.
X = np.array([[-1.0, 2], [1, 0], [1, 1], [-1, 0], [-1, -2], [1, -1]])
Y = np.array([-1, 1, 1, -1, -1, 1])


def blobs(n=60, d=2, seed=0):
    rng = np.random.default_rng(seed)
    x = np.vstack([rng.normal(0.0, 0.5, (n, d)), rng.normal(3.0, 0.5, (n, d))])
    return x, np.repeat(["a", "b"], n)


def line_of(artist):
    return np.column_stack(artist.get_data())


def offsets(artist):
    return np.asarray(artist.get_offsets())

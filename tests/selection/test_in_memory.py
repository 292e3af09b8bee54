"""Rows in memory: splits use every row once, keep the share of each label, and do not depend on the format."""

import numpy as np
import pytest

from novikoff.errors import DataError
from novikoff.perceptron.learner import Learner
from novikoff.selection.in_memory import InMemoryBlocks, split_blocks
from novikoff.streaming.model import StreamModel


def table(path, n):
    """Write a table with a number and two labels."""
    rng = np.random.default_rng(n)
    path.write_text("x,y\n" + "".join(f"{x:.4f},{'yes' if x > 0 else 'no'}\n" for x in rng.normal(size=n)))
    return path


def test_a_split_uses_every_row_once(tmp_path):
    data = InMemoryBlocks.read([str(table(tmp_path / "t.csv", 1500))], {})
    for folds in (1, 4):
        splits = split_blocks(data.blocks, folds, 0.2, seed=7)
        assert len(splits) == folds
        for train, held_out in splits:
            lines = [np.concatenate([block.lines for block in side]) for side in (train, held_out)]
            assert sorted(np.concatenate(lines).tolist()) == list(range(2, 1502))
        if folds > 1:
            out = [line for _, side in splits for block in side for line in block.lines.tolist()]
            assert sorted(out) == list(range(2, 1502))
    for share, rows in ((0.2, 300), (0.01, 15), (0.99, 1485)):
        assert sum(map(len, split_blocks(data.blocks, 1, share, seed=7)[0][1])) == rows


FORMATS = {
    "csv": ("x,town,y\n", lambda k: f"{k},{'ab'[k % 2]},{'pq'[k % 3 == 0]}\n"),
    "svm": ("", lambda k: f"{k % 2} 1:{k} {2 + k % 5}:1\n"),
    "vw": ("", lambda k: f"{1 - 2 * (k % 2)} |n a:{k} b{k % 5}\n"),
    "txt": ("", lambda k: f"{'pq'[k % 2]}\tword{k} and {k % 7}\n"),
}


@pytest.mark.parametrize("ending", FORMATS)
def test_parts_equal_files_with_their_rows(tmp_path, ending):
    """Each part of a split equals what is read from a file with only its rows."""
    header, row = FORMATS[ending]

    def read(name, numbers):
        path = tmp_path / f"{name}.{ending}"
        path.write_text(header + "".join(map(row, numbers)))
        return InMemoryBlocks.read([str(path)], {}).blocks

    blocks = read("all", range(1200))
    model = StreamModel(Learner())
    for block in blocks:
        model.learn(block)
    for side, n in zip(split_blocks(blocks, 1, 0.25, seed=1)[0], (900, 300), strict=True):
        assert sum(map(len, side)) == n
        numbers = np.concatenate([block.lines for block in side]) - (2 if header else 1)
        alone = read("some", numbers.tolist())
        for kind in (model.predict, lambda block: model.rows_of(block).matrix.sum(axis=1), lambda block: block.labels):
            ours, expected = (np.concatenate([np.asarray(kind(block)) for block in part]) for part in (side, alone))
            np.testing.assert_array_equal(ours, expected)


def test_held_out_rows_are_stratified_by_label(tmp_path):
    rows = "".join(f"{k},{'rare' if k % 20 == 0 else 'common'}\n" for k in range(400))
    (tmp_path / "t.csv").write_text("x,y\n" + rows)
    data = InMemoryBlocks.read([str(tmp_path / "t.csv")], {})
    for seed in range(3):
        _, held_out = split_blocks(data.blocks, 1, 0.2, seed)[0]
        labels = [label for block in held_out for label in block.labels.tolist()]
        assert (labels.count("rare"), labels.count("common")) == (4, 76)


def test_one_label_is_not_enough(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n1,a\n2,a\n")
    with pytest.raises(DataError, match="every row has the label 'a'") as found:
        InMemoryBlocks.read([str(tmp_path / "t.csv")], {}).require_two_classes()
    assert "--" not in str(found.value)  # the command names its options

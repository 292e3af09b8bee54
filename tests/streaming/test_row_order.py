"""Orders of rows: sorted files are shuffled, later passes have new orders, and all of it resumes bit for bit."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import novikoff as nk
from novikoff.data.formats import open_stream
from novikoff.errors import DataError
from novikoff.perceptron.learner import Learner
from novikoff.streaming.holdout import Holdout
from novikoff.streaming.label_runs import LabelRuns, TargetRuns
from novikoff.streaming.model import StreamModel
from novikoff.streaming.passes import FilePasses, PassObserver
from novikoff.streaming.row_order import ShufflePolicy, windows

FORMATS = ("csv", "svm", "vw", "jsonl", "txt")


def rows_of(n, labels="ab", *, is_sorted=True, seed=0):
    """Labels and a number that is unique, so that every row can be recognised."""
    rng = np.random.default_rng(seed)
    drawn = rng.choice(list(labels), size=n).tolist()
    return [(label, k) for k, label in enumerate(sorted(drawn) if is_sorted else drawn)]


def write(path, rows):
    """Write (label, number) rows in the format of the path."""
    suffix = path.suffix
    lines = {
        ".csv": ["n,word,y"] + [f"{k},w{k % 7},{label}" for label, k in rows],
        ".svm": [f"{ord(label)} 1:{k + 1} {2 + k % 3}:1" for label, k in rows],
        ".vw": [f"{ord(label)} |f n:{k + 1} w{k % 7}" for label, k in rows],
        ".jsonl": [f'{{"y": "{label}", "n": {k}' + (f', "z": "v{k % 5}"' if k % 3 else "") + "}" for label, k in rows],
        ".txt": [f"{label}\tnumber {k} of {k % 7}" for label, k in rows],
    }[suffix]
    path.write_text("\n".join(lines) + "\n")
    return path


def visited(files, **options):
    """The lines of the rows in the order in which they are learned, pass by pass, and what was observed."""
    files = [files] if not isinstance(files, list) else files
    model, observer = StreamModel(Learner()), Recorder()
    lines = []
    for block in FilePasses(model, list(map(str, files)), observer=observer, **options):
        lines += block.lines.tolist()
        model.learn(block)
    return lines, model, observer


class Recorder(PassObserver):
    def __init__(self):
        self.orders, self.ends, self.sorted = [], [], []

    def on_order(self, order):
        self.orders.append(order)

    def on_sorted(self, runs):
        self.sorted.append(runs.n_rows)

    def on_pass_end(self, k):
        self.ends.append(k)


@pytest.fixture(params=FORMATS)
def suffix(request):
    return request.param


class TestFirstPass:
    def test_a_sorted_file_is_shuffled(self, tmp_path, suffix):
        path = write(tmp_path / f"t.{suffix}", rows_of(200))
        lines, model, observer = visited(path)
        in_order, _, _ = visited(path, policy=ShufflePolicy("never"))
        assert sorted(lines) == in_order
        assert lines != in_order
        assert observer.orders == [model.run_order]
        assert model.run_order.is_first_shuffled
        assert model.rows_read == {str(path): 200}

    def test_every_row_keeps_its_label_and_features(self, tmp_path, suffix):
        """Each row is recognised by its line, and encodes as in the file."""
        path = write(tmp_path / f"t.{suffix}", rows_of(120, "abc"))
        model = StreamModel(Learner())
        shuffled = [block for block in FilePasses(model, [str(path)]) for _ in [model.learn(block)]]
        with open_stream(path, **({"target": "y"} if suffix == "jsonl" else {})) as reader:
            [whole] = reader
        expected, at = model.rows_of(whole).matrix, {line: i for i, line in enumerate(whole.lines.tolist())}
        dense = expected.toarray() if hasattr(expected, "toarray") else expected
        for block in shuffled:
            rows = model.rows_of(block).matrix
            found = rows.toarray() if hasattr(rows, "toarray") else rows
            where = [at[line] for line in block.lines.tolist()]
            np.testing.assert_allclose(found, dense[where], rtol=0, atol=1e-12)
            assert block.labels.tolist() == [whole.labels[i] for i in where]

    def test_an_unsorted_file_keeps_its_order(self, tmp_path, suffix):
        path = write(tmp_path / f"t.{suffix}", rows_of(200, is_sorted=False))
        lines, model, observer = visited(path)
        assert lines == sorted(lines)
        assert (model.run_order, observer.orders) == (None, [])

    def test_labels_that_merely_cluster_keep_their_order(self, tmp_path):
        clustered = [("ab"[k // 20 % 2], k) for k in range(400)]  # ten runs of each label
        lines, _, _ = visited(write(tmp_path / "t.csv", clustered))
        assert lines == sorted(lines)

    def test_a_rare_label_is_not_a_sorted_file(self, tmp_path):
        rare = [("b" if k == 57 else "a", k) for k in range(200)]
        assert visited(write(tmp_path / "t.csv", rare))[1].run_order is None

    def test_one_file_for_each_class_is_shuffled_together(self, tmp_path):
        files = [write(tmp_path / f"{label}.csv", [(label, k) for k in range(100)]) for label in "ab"]
        lines, model, _ = visited(files)
        assert len(lines) == 200
        assert model.run_order.rows == 200
        assert model.labels == ["a", "b"]
        assert model.rows_read == {f"{files[0]} and 1 more": 200}

    def test_later_files_have_the_kinds_of_the_first(self, tmp_path):
        """The second file would be sniffed as numbers by itself; nothing has been learned when it is opened."""
        first, second = tmp_path / "a.csv", tmp_path / "b.csv"
        first.write_text("zip,y\n" + "".join(f"z{k % 3},a\n" for k in range(60)))
        second.write_text("zip,y\n" + "".join(f"{k % 3},b\n" for k in range(60)))
        _, model, _ = visited([first, second])
        assert model.kinds == {"zip": "word"}
        assert {"zip=z0", "zip=0"} <= set(model.names)

    def test_the_seed_decides(self, tmp_path):
        path = write(tmp_path / "t.csv", rows_of(100))
        orders = [visited(path, policy=ShufflePolicy(seed=seed))[0] for seed in (0, 0, 1)]
        assert orders[0] == orders[1] != orders[2]

    def test_always_and_never(self, tmp_path):
        path = write(tmp_path / "t.csv", rows_of(100, is_sorted=False))
        assert visited(path, policy=ShufflePolicy("always"))[0] != visited(path)[0]
        sorted_path = write(tmp_path / "s.csv", rows_of(300))
        lines, _, observer = visited(sorted_path, policy=ShufflePolicy("never"))
        assert lines == sorted(lines)
        assert observer.sorted == [300]

    def test_the_order_is_uniform(self, tmp_path):
        """The mean position of the rows of one class is that of a random order, within five standard deviations."""
        path = write(tmp_path / "t.csv", rows_of(2000))
        lines, _, _ = visited(path)
        positions = np.flatnonzero(np.array(lines) <= 1000)
        assert abs(positions.mean() - 1000) < 5 * 2000 / np.sqrt(12 * 1000)


class TestLaterPasses:
    def test_each_has_a_new_order(self, tmp_path, suffix):
        path = write(tmp_path / f"t.{suffix}", rows_of(60, is_sorted=False))
        lines, model, observer = visited(path, passes=3)
        passes = [lines[k : k + 60] for k in (0, 60, 120)]
        assert passes[0] == sorted(passes[0])
        assert [sorted(each) for each in passes] == [passes[0]] * 3
        assert len({tuple(each) for each in passes}) == 3
        assert observer.ends == [0, 1, 2]
        assert model.rows_read == {str(path): 180}

    def test_never_keeps_the_order(self, tmp_path):
        path = write(tmp_path / "t.csv", rows_of(60, is_sorted=False))
        lines, _, _ = visited(path, passes=2, policy=ShufflePolicy("never"))
        assert lines[:60] == lines[60:] == sorted(lines[:60])


class TestLargeFiles:
    """A tiny budget stands for a large file; blocks are of one chunk of text each."""

    def test_a_sorted_file_is_shuffled_in_parts(self, tmp_path):
        path = write(tmp_path / "t.csv", rows_of(3000))
        lines, model, _ = visited(path, policy=ShufflePolicy(memory=20_000))
        assert model.run_order.parts > 2
        assert sorted(lines) == list(range(2, 3002))
        size = 3000 // model.run_order.parts
        classes = np.array([line > 1500 for line in lines])
        for start in range(0, 3000 - size, size):  # every part has both classes, about half each
            assert 0.4 < classes[start : start + size].mean() < 0.6

    def test_later_passes_of_an_unsorted_file_are_shuffled_in_windows(self, tmp_path):
        path = write(tmp_path / "t.csv", rows_of(3000, is_sorted=False))
        lines, model, _ = visited(path, passes=2, policy=ShufflePolicy(memory=20_000))
        parts = model.run_order.parts
        assert parts > 2
        assert not model.run_order.is_first_shuffled
        second, size = lines[3000:], -(-3000 // parts)
        for start in range(0, 3000, size):
            window = second[start : start + size]
            assert sorted(window) == list(range(2 + start, 2 + start + len(window)))
            assert window != sorted(window)

    def test_a_file_that_proves_unsorted_late_is_read_again(self, tmp_path):
        rows = rows_of(2000) + [("ab"[k % 2], 2000 + k) for k in range(200)]
        path = tmp_path / "t.csv"
        write(path, rows)
        lines, model, _ = visited(path, policy=ShufflePolicy(memory=100))
        assert lines == list(range(2, 2202))
        assert model.run_order is None

    @pytest.mark.parametrize("size", [1, 3, 7, 100])
    def test_windows(self, tmp_path, size):
        path = write(tmp_path / "t.csv", rows_of(20))
        with open_stream(path) as reader:
            [block] = reader
        found = [
            [line for part in window for line in part.lines.tolist()]
            for window in windows([block[:5], block[5:6], block[6:]], size)
        ]
        assert [line for window in found for line in window] == block.lines.tolist()
        assert all(len(window) == size for window in found[:-1])


class TestRejects:
    @pytest.mark.parametrize("memory", [1 << 20, 4000])
    @pytest.mark.parametrize("is_sorted", [True, False])
    def test_each_is_reported_once(self, tmp_path, memory, is_sorted):
        path = write(tmp_path / "t.csv", rows_of(500, is_sorted=is_sorted))
        lines = path.read_text().splitlines()
        path.write_text("\n".join([*lines[:100], "oops", *lines[100:400], "again", *lines[400:]]) + "\n")
        model, rejects, n = StreamModel(Learner()), [], 0
        options = {"bad_rows": "skip"}
        for block in FilePasses(model, [str(path)], passes=2, options=options, policy=ShufflePolicy(memory=memory)):
            rejects += [reject.line for reject in block.rejects]
            n += len(block)
            if len(block):
                model.learn(block)
        assert (sorted(rejects), n) == ([101, 402], 1000)


# A process that learns, and kills itself instead of writing one more checkpoint than it was told.
KILLED = """
    import os, signal, sys
    import novikoff as nk
    from novikoff.streaming import learning
    from novikoff.streaming.checkpoints import Checkpointer
    from novikoff.streaming.row_order import ShufflePolicy

    path, checkpoint, passes, n_checkpoints, memory = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    learning.ShufflePolicy = lambda when, seed: ShufflePolicy(when, seed, memory)
    save = Checkpointer.save

    def save_then_die(self):
        global n_checkpoints
        if not n_checkpoints:
            os.kill(os.getpid(), signal.SIGKILL)
        n_checkpoints -= 1
        save(self)

    Checkpointer.save = save_then_die
    nk.learn(path, target="y", passes=passes, seed=3, checkpoint=checkpoint, checkpoint_every=0.0, resume=True)
"""


class TestResuming:
    @pytest.mark.parametrize("is_sorted", [True, False])
    @pytest.mark.parametrize("memory", [1 << 30, 400_000])
    def test_killed_and_resumed_equals_uninterrupted(self, tmp_path, is_sorted, memory, monkeypatch):
        n, checkpoint = 20_000, tmp_path / "m.nk"
        path = write(tmp_path / "t.csv", rows_of(n, is_sorted=is_sorted))
        words = [sys.executable, "-c", textwrap.dedent(KILLED), path, checkpoint, 2]
        examples = [0]
        for n_checkpoints in (1, 1, 1):
            done = subprocess.run(list(map(str, [*words, n_checkpoints, memory])), env=os.environ)
            assert done.returncode == -signal.SIGKILL
            examples.append(nk.load(checkpoint).ledger.examples)
        assert sorted(set(examples)) == examples
        assert examples[-1] < 2 * n
        subprocess.run(list(map(str, [*words, -1, memory])), env=os.environ, check=True)
        monkeypatch.setattr(
            "novikoff.streaming.learning.ShufflePolicy", lambda when, seed: ShufflePolicy(when, seed, memory)
        )
        straight = nk.learn(path, target="y", passes=2, seed=3)
        straight.save(tmp_path / "straight.nk")
        assert (tmp_path / "straight.nk").read_bytes() == checkpoint.read_bytes()

    def test_another_seed_is_refused(self, tmp_path):
        path, checkpoint = write(tmp_path / "t.csv", rows_of(100)), tmp_path / "m.nk"
        nk.learn(path, checkpoint=checkpoint)
        with pytest.raises(DataError, match="seed 0, not 5"):
            nk.learn(path, checkpoint=checkpoint, resume=True, seed=5)

    def test_a_shuffled_file_that_has_grown_is_refused(self, tmp_path):
        path, checkpoint = write(tmp_path / "t.csv", rows_of(100)), tmp_path / "m.nk"
        nk.learn(path, passes=2, checkpoint=checkpoint)
        before = checkpoint.read_bytes()
        path.write_text(path.read_text() + "7,w1,b\n")
        with pytest.raises(DataError, match=r"has 101 rows; it had 100"):
            nk.learn(path, passes=3, checkpoint=checkpoint, resume=True)
        assert checkpoint.read_bytes() == before

    def test_a_complete_run_is_not_repeated(self, tmp_path):
        path, checkpoint = write(tmp_path / "t.csv", rows_of(100)), tmp_path / "m.nk"
        for _ in range(2):
            assert nk.learn(path, passes=2, checkpoint=checkpoint, resume=True).ledger.examples == 200


class TestHoldout:
    @pytest.mark.parametrize("is_sorted", [True, False])
    def test_held_out_rows_are_never_learned(self, tmp_path, is_sorted):
        path = write(tmp_path / "t.csv", rows_of(1000, is_sorted=is_sorted))
        holdout = Holdout(0.2, seed=4)
        lines, _, _ = visited(path, passes=2, holdout=holdout)
        with open_stream(path) as reader:
            held_out = [line for block in holdout.held_out_rows(reader) for line in block.lines.tolist()]
        assert 150 < len(held_out) < 250
        assert sorted(lines) == sorted(2 * list(set(range(2, 1002)) - set(held_out)))

    def test_the_choice_does_not_depend_on_blocks(self, tmp_path):
        path = write(tmp_path / "t.csv", rows_of(50))
        with open_stream(path) as reader:
            [block] = reader
        chosen = [
            [line for part in Holdout(0.3).held_out_rows(parts) for line in part.lines.tolist()]
            for parts in ([block], [block[:7], block[7:8], block[8:]])
        ]
        assert chosen[0] == chosen[1] != []

    @pytest.mark.parametrize("share", [-0.1, 1.0])
    def test_shares_that_make_no_sense(self, share):
        with pytest.raises(DataError, match="holdout must be"):
            Holdout(share)


class TestLabelRuns:
    def test_against_a_count_by_hand(self):
        rng = np.random.default_rng(1)
        labels = rng.choice(list("abc"), size=300)
        runs = LabelRuns()
        for start in range(0, 300, 37):
            runs.add(_Labelled(labels[start : start + 37]))
        assert runs.n_runs == 1 + sum(a != b for a, b in zip(labels[1:], labels[:-1], strict=True))
        shuffles = [rng.permutation(labels) for _ in range(2000)]
        mean = np.mean([1 + (each[1:] != each[:-1]).sum() for each in shuffles])
        assert runs.expected_runs == pytest.approx(mean, rel=0.01)
        assert not runs.may_be_sorted


class _Labelled:
    def __init__(self, labels):
        self.labels = labels

    def __len__(self):
        return len(self.labels)

    def encode_labels(self):
        return np.unique(self.labels, return_inverse=True)


class TestTargetRuns:
    @pytest.mark.parametrize("step", [1, 7, 300])
    def test_against_a_count_by_hand(self, step):
        rng = np.random.default_rng(2)
        numbers = rng.integers(5, size=300).astype(float)  # with ties, which belong to the run that they are in
        runs = TargetRuns()
        for start in range(0, 300, step):
            runs.add(_Labelled(numbers[start : start + step]))
        moves = [b - a for a, b in itertools.pairwise(numbers.tolist()) if a != b]
        assert runs.n_runs == 1 + sum((a > 0) != (b > 0) for a, b in itertools.pairwise(moves))

    def test_expected_runs(self):
        rng = np.random.default_rng(3)
        found = []
        for _ in range(500):
            runs = TargetRuns()
            runs.add(_Labelled(rng.normal(size=100)))
            found.append(runs.n_runs)
        assert np.mean(found) == pytest.approx(runs.expected_runs, rel=0.02)

    def test_sorted_up_or_down(self):
        for numbers in (np.arange(50.0), -np.arange(50.0)):
            runs = TargetRuns()
            runs.add(_Labelled(numbers))
            assert runs.is_sorted

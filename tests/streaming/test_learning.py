"""nk.learn: paths and blocks, passes, checkpoints; a run that was killed and resumed equals one that was not."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import novikoff as nk
from novikoff.errors import DataError, ModelFileError

ROWS = 30_000  # some blocks of CSV


def table(path, n=ROWS, seed=0):
    """Write a table with a number, a categorical column, a text and a label."""
    rng = np.random.default_rng(seed)
    numbers, colours = rng.normal(size=n), rng.choice(["red", "green", "blue"], size=n)
    words = rng.choice(["ship", "sea", "wind", "sail", "rope"], size=(n, 12))
    lines = ["a,colour,note,y"]
    for number, colour, text in zip(numbers.tolist(), colours.tolist(), words.tolist(), strict=True):
        lines.append(f"{number:.6f},{colour},{' '.join(text)},{'yes' if number + (colour == 'red') > 0.3 else 'no'}")
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return table(tmp_path_factory.mktemp("data") / "train.csv")


def saved(model, path):
    model.save(path)
    return path.read_bytes()


# -- what can be learned from


def test_a_path_equals_its_blocks(data, tmp_path):
    expected = saved(nk.learn(nk.open_stream(data, target="y", drop=["note"]), scale=False), tmp_path / "a.nk")
    assert saved(nk.learn(data, target="y", drop=["note"], scale=False), tmp_path / "b.nk") == expected
    assert saved(nk.learn(str(data), target="y", drop=["note"], scale=False), tmp_path / "c.nk") == expected


def test_several_paths_are_learned_in_order(tmp_path):
    parts = [table(tmp_path / name, 50, seed) for seed, name in enumerate(["b.csv", "a.csv"])]
    model = nk.learn(parts, target="y")
    assert model.rows_read == {str(parts[0]): 50, str(parts[1]): 50}
    assert list(model.rows_read) == list(map(str, parts))


def test_passes(tmp_path):
    path = table(tmp_path / "t.csv", 50)
    model = nk.learn(path, passes=3, shuffle="never")
    assert model.ledger.examples == 150
    in_a_row = nk.learn([path, path, path])
    assert saved(model, tmp_path / "a.nk") == saved(in_a_row, tmp_path / "b.nk")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"passes": 0}, DataError, "passes must be 1 or more"),
        ({"resume": True}, DataError, "needs the checkpoint"),
        ({"checkpoint_every": -1.0, "checkpoint": "m.nk"}, DataError, "seconds >= 0"),
        ({"checkpoint_every": float("nan"), "checkpoint": "m.nk"}, DataError, "seconds >= 0"),
        ({"checkpoint": "notes.txt"}, ModelFileError, "is not a model file"),
        ({"checkpoint": "no/such/folder/m.nk"}, OSError, "No such file"),
        ({"hash_bitz": 3}, TypeError, "hash_bitz"),
    ],
)
def test_arguments_that_make_no_sense(arguments, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = table(tmp_path / "t.csv", 10)
    (tmp_path / "notes.txt").write_text("precious")
    with pytest.raises(error, match=message):
        nk.learn(path, **arguments)
    assert (tmp_path / "notes.txt").read_text() == "precious"
    assert not (tmp_path / "m.nk").exists()


@pytest.mark.parametrize(("arguments", "error"), [({"passes": 2}, DataError), ({"target": "y"}, TypeError)])
def test_blocks_have_neither_passes_nor_reading_options(arguments, error, tmp_path):
    with nk.open_stream(table(tmp_path / "t.csv", 10)) as reader, pytest.raises(error):
        nk.learn(reader, **arguments)


@pytest.mark.parametrize("arguments", [{"passes": 2}, {"resume": True, "checkpoint": "m.nk"}])
def test_a_pipe_is_read_once(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match="pipe"):
        nk.learn("-", **arguments)


# -- checkpoints


def test_the_checkpoint_is_the_model_in_the_end(data, tmp_path):
    model = nk.learn(data, target="y", checkpoint=tmp_path / "m.nk")
    assert (tmp_path / "m.nk").read_bytes() == saved(model, tmp_path / "same.nk")
    assert nk.load(tmp_path / "m.nk").ledger.examples == ROWS


def test_a_complete_run_is_not_repeated(tmp_path):
    path, checkpoint = table(tmp_path / "t.csv", 100), tmp_path / "m.nk"
    for _ in range(3):
        model = nk.learn(path, passes=2, checkpoint=checkpoint, resume=True)
        assert model.ledger.examples == 200
    assert nk.learn(path, passes=2, checkpoint=checkpoint).ledger.examples == 200  # without resume: anew


def test_only_new_rows_of_a_file_that_has_grown_are_learned(tmp_path):
    path, checkpoint = tmp_path / "t.csv", tmp_path / "m.nk"
    lines = table(path, 100).read_text().splitlines(keepends=True)
    expected = saved(nk.learn(path), tmp_path / "straight.nk")
    path.write_text("".join(lines[:61]))
    nk.learn(path, checkpoint=checkpoint)
    path.write_text("".join(lines))
    nk.learn(path, checkpoint=checkpoint, resume=True)
    assert checkpoint.read_bytes() == expected


def test_other_parameters_cannot_resume(tmp_path):
    path, checkpoint = table(tmp_path / "t.csv", 20), tmp_path / "m.nk"
    nk.learn(path, checkpoint=checkpoint)
    before = checkpoint.read_bytes()
    for other in ({"rule": "passive-aggressive"}, {"hypothesis": "last"}, {"scale": False}):
        with pytest.raises(DataError, match="cannot be continued"):
            nk.learn(path, checkpoint=checkpoint, resume=True, **other)
    assert checkpoint.read_bytes() == before


def test_a_checkpoint_of_other_files_is_reported(tmp_path):
    nk.learn(table(tmp_path / "a.csv", 20), checkpoint=tmp_path / "m.nk")
    with pytest.warns(UserWarning, match="has read none of these files"):
        model = nk.learn(table(tmp_path / "b.csv", 20), checkpoint=tmp_path / "m.nk", resume=True)
    assert model.ledger.examples == 40


def test_nothing_to_learn_from_leaves_the_old_checkpoint(tmp_path):
    (tmp_path / "t.svm").write_text("1 x\n")
    nk.learn(table(tmp_path / "t.csv", 20), checkpoint=tmp_path / "m.nk")
    before = (tmp_path / "m.nk").read_bytes()
    with pytest.raises(DataError, match="nothing to learn from"):
        nk.learn(tmp_path / "t.svm", bad_rows="skip", checkpoint=tmp_path / "m.nk")
    assert (tmp_path / "m.nk").read_bytes() == before


def test_bad_rows_end_a_run_that_can_be_resumed(tmp_path):
    path, checkpoint = table(tmp_path / "t.csv", 50), tmp_path / "m.nk"
    good = path.read_text()
    expected = saved(nk.learn(path), tmp_path / "straight.nk")
    path.write_text(good[: good.index("\n", 2000) + 1] + "oops\n")
    with pytest.raises(DataError, match=r"t\.csv:") as found:
        nk.learn(path, checkpoint=checkpoint, checkpoint_every=0.0)
    assert checkpoint.exists()
    assert any("resume=True" in note for note in found.value.__notes__)
    path.write_text(good)
    nk.learn(path, checkpoint=checkpoint, resume=True)
    assert checkpoint.read_bytes() == expected


def test_rejects_are_written_with_their_reasons(tmp_path):
    path = table(tmp_path / "t.csv", 30)
    path.write_text(path.read_text() + "oops\n")
    model = nk.learn(path, bad_rows="skip", rejects=tmp_path / "bad.txt", passes=2)
    assert model.ledger.examples == 60
    [line] = (tmp_path / "bad.txt").read_text().splitlines()
    assert line.startswith(f"{path}:32")
    assert line.endswith("\toops")


def test_keyboard_interrupts_leave_a_checkpoint(data, tmp_path):
    def blocks():
        for k, block in enumerate(nk.open_stream(data, target="y")):
            for start in range(0, len(block), 1000):
                yield block[start : start + 1000]
                if start >= 3000 or k:
                    raise KeyboardInterrupt

    checkpoint = tmp_path / "m.nk"
    with pytest.raises(KeyboardInterrupt):
        nk.learn(blocks(), checkpoint=checkpoint)
    assert 0 < nk.load(checkpoint).ledger.examples < ROWS
    nk.learn(nk.open_stream(data, target="y"), checkpoint=checkpoint, resume=True)
    assert checkpoint.read_bytes() == saved(nk.learn(data, target="y"), tmp_path / "straight.nk")


# -- killed and resumed

# A process that learns, and kills itself instead of writing one more checkpoint than it was told.
KILLED = """
    import os, signal, sys
    import novikoff as nk
    from novikoff.streaming.checkpoints import Checkpointer

    path, checkpoint, passes, n_checkpoints = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    save = Checkpointer.save

    def save_then_die(self):
        global n_checkpoints
        if not n_checkpoints:
            os.kill(os.getpid(), signal.SIGKILL)
        n_checkpoints -= 1
        save(self)

    Checkpointer.save = save_then_die
    nk.learn(path, target="y", passes=passes, checkpoint=checkpoint, checkpoint_every=0.0, resume=True)
"""


def learn_until_killed(path, checkpoint, passes, n_checkpoints):
    words = [sys.executable, "-c", textwrap.dedent(KILLED), path, checkpoint, passes, n_checkpoints]
    return subprocess.run(list(map(str, words)), env=os.environ).returncode


@pytest.mark.parametrize(("passes", "n_checkpoints"), [(1, 1), (3, 2)])
def test_killed_and_resumed_equals_uninterrupted(data, tmp_path, passes, n_checkpoints):
    checkpoint = tmp_path / "m.nk"
    examples = 0
    for _ in range(2):
        assert learn_until_killed(data, checkpoint, passes, n_checkpoints) == -signal.SIGKILL
        before, examples = examples, nk.load(checkpoint).ledger.examples
        assert before < examples < passes * ROWS
    nk.learn(data, target="y", passes=passes, checkpoint=checkpoint, resume=True)
    straight = nk.learn(data, target="y", passes=passes)
    assert checkpoint.read_bytes() == saved(straight, tmp_path / "straight.nk")
    assert straight.ledger.examples == passes * ROWS


def test_the_command_resumes_what_python_began(data, tmp_path):
    """Both write and resume the same files."""
    from click.testing import CliRunner

    from novikoff.cli import main

    checkpoint = tmp_path / "m.nk"
    assert learn_until_killed(data, checkpoint, 1, 1) == -signal.SIGKILL
    words = ["learn", data, "--target", "y", "--from", checkpoint, "-o", checkpoint, "--resume"]
    result = CliRunner().invoke(main, list(map(str, words)))
    assert result.exit_code == 0, result.output
    assert checkpoint.read_bytes() == saved(nk.learn(data, target="y"), tmp_path / "straight.nk")

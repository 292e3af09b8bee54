"""Small inputs: the first command on a machine where nothing is compiled yet does not wait for the compiler."""

import gzip
import os
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main, small_inputs
from novikoff.cli.small_inputs import run_small_inputs_uncompiled

WORDS = ["free", "lunch", "money", "today", "now", "prize", "see", "you", "win"]


def numbers(n=300):
    x = np.random.default_rng(0).normal(size=(n, 2))
    rows = [f"{a:.3f},{'ab'[k % 2]},{b:.3f},{'no' if a + b > 0 else 'yes'}" for k, (a, b) in enumerate(x.tolist())]
    return "\n".join(["a,word,b,y", *rows]) + "\n"


def texts(n=80):
    picks = np.random.default_rng(0).choice(WORDS, (n, 4)).tolist()
    return "".join(f"{'spam' if 'money' in words else 'ham'}\t{' '.join(words)}\n" for words in picks)


def svmlight(n=200):
    x = np.random.default_rng(0).normal(size=(n, 3))
    return "".join(f"{1 if a > c else -1} 1:{a:.3f} 4:{b:.3f} 9:{c:.3f}\n" for a, b, c in x.tolist())


def novikoff(folder, *arguments):
    """Run the command in a process of its own, where nothing is compiled yet; return it and the files of the cache."""
    cache = folder / "cache"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    environment.pop("NUMBA_DISABLE_JIT", None)
    command = [sys.executable, "-m", "novikoff", *map(str, arguments)]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
    return done, list(cache.rglob("*.nbc"))


@pytest.mark.parametrize(("name", "text"), [("t.csv", numbers()), ("t.txt", texts()), ("t.svm", svmlight())])
def test_nothing_is_compiled_and_the_numbers_are_those_of_compiled_code(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    learned, compiled = novikoff(tmp_path, "learn", path, "-o", "m.nk")
    assert not compiled
    assert "ompiling" not in learned.stderr
    assert "Warning" not in learned.stderr
    here = CliRunner().invoke(main, ["learn", str(path), "-o", str(tmp_path / "here.nk")])
    count = [line for line in here.stderr.splitlines() if line.startswith("Mistakes while learning")]
    assert count[0] in learned.stderr
    predicted, compiled = novikoff(tmp_path, "predict", "m.nk", path)
    assert not compiled
    assert predicted.stdout == CliRunner().invoke(main, ["predict", str(tmp_path / "here.nk"), str(path)]).stdout
    a, b = (nk.load(tmp_path / m).to_linear().decision_function(path) for m in ("m.nk", "here.nk"))
    np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


def test_a_second_run_writes_the_same_bytes(tmp_path):
    (tmp_path / "t.csv").write_text(numbers(100))
    for name in ("first.nk", "second.nk"):
        novikoff(tmp_path, "learn", "t.csv", "-o", name, "--passes", 2)
    assert (tmp_path / "first.nk").read_bytes() == (tmp_path / "second.nk").read_bytes()


class TestWhatIsSmall:
    @pytest.fixture
    def environment(self, monkeypatch):
        """Variables of a process that runs one command and has not imported numba."""
        environment = {}
        monkeypatch.setattr(small_inputs, "_is_own_process", True)
        monkeypatch.setattr(small_inputs, "os", SimpleNamespace(environ=environment))
        monkeypatch.delitem(sys.modules, "numba", raising=False)
        with warnings.catch_warnings():
            yield environment

    @pytest.fixture
    def small(self, tmp_path):
        path = tmp_path / "small.csv"
        path.write_text(numbers())
        return path

    def test_a_few_kilobytes(self, environment, small):
        run_small_inputs_uncompiled([str(small)])
        assert environment == {"NUMBA_DISABLE_JIT": "1"}

    @pytest.mark.parametrize("passes", [1, 5])
    def test_passes_count(self, environment, small, passes):
        run_small_inputs_uncompiled([small], passes)
        assert bool(environment) == (passes == 1)

    def test_files_add_up(self, environment, small):
        run_small_inputs_uncompiled([small] * 5)
        assert not environment

    @pytest.mark.parametrize("content", [gzip.compress(numbers(2000).encode(), mtime=0), b"PAR1\x15\x04", b"BZh9"])
    def test_compressed_files_may_be_large(self, environment, tmp_path, content):
        path = tmp_path / "t.data"
        path.write_bytes(content)
        run_small_inputs_uncompiled([path])
        assert not environment

    @pytest.mark.parametrize("name", ["-", "missing.csv", "."])
    def test_pipes_and_what_is_no_file(self, environment, name):
        run_small_inputs_uncompiled([name])
        assert not environment

    def test_a_large_model(self, environment, small, tmp_path):
        model = Path(tmp_path, "m.nk")
        model.write_bytes(bytes(2 << 20))
        run_small_inputs_uncompiled([small], model=model)
        assert not environment

    def test_a_process_with_other_work(self, environment, small, monkeypatch):
        monkeypatch.setattr(small_inputs, "_is_own_process", False)
        run_small_inputs_uncompiled([small])
        assert not environment

    def test_the_user_decides(self, environment, small):
        environment["NUMBA_DISABLE_JIT"] = "0"
        run_small_inputs_uncompiled([small])
        assert environment == {"NUMBA_DISABLE_JIT": "0"}

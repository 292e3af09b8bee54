"""WarmUp: another process compiles what learning needs, and nothing depends on it."""

import os
import subprocess
import sys
import textwrap
import time
from types import SimpleNamespace

import pytest

from novikoff._compiled import compile_seconds, is_compiling
from novikoff.streaming import warm_up
from novikoff.streaming.warm_up import WarmUp, compile_for

pytestmark = pytest.mark.skipif(not is_compiling, reason="nothing is compiled without the JIT")

TABLE = SimpleNamespace(names=("a", "b", "y"), kinds=("number", "word", "word"), target_name="y")

# Learns from a file with an empty cache, and prints which loops this process has compiled.
PROBE = """
    import sys
    from numba.core import event

    class Listener(event.Listener):
        def on_start(self, found):
            names.append(found.data["dispatcher"].py_func.__name__)

        def on_end(self, found):
            pass

    names = []
    event.register("numba:compile", Listener())
    from novikoff.cli import main
    main(sys.argv[1:], standalone_mode=False)
    print(" ".join(names))
"""


def test_this_process_compiles_the_reader_and_the_other_one_the_rest(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "".join(f"{k % 7},{k % 3},{'no' if k % 5 else 'yes'}\n" for k in range(100)))
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [
        sys.executable,
        "-c",
        textwrap.dedent(PROBE),
        "learn",
        path,
        "-o",
        tmp_path / "m.nk",
        "--rule",
        "perceptron",
    ]
    done = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=True)
    compiled = done.stdout.split()
    assert "table_rows" in compiled
    assert "learn_binary" not in compiled
    assert "of compiling" in done.stderr
    again = subprocess.run(list(map(str, command)), env=environment, capture_output=True, text=True, check=True)
    assert again.stdout.split() == []
    assert "compiling" not in again.stderr


@pytest.mark.parametrize(
    ("kinds", "format"), [(["number", "word", "text"], "TableReader"), (None, "SvmlightReader"), (None, "VwReader")]
)
@pytest.mark.parametrize("hats", [False, True])
@pytest.mark.parametrize("rule", ["perceptron", "arow"])
def test_every_kind_of_rows_can_be_learned_ahead(kinds, format, hats, rule):
    compile_for({"kinds": kinds, "format": format, "hats": hats, "rule": rule})


def started_with(monkeypatch, command):
    """A WarmUp whose process runs this command, and which has been told of a table after something was compiled."""
    warm = WarmUp()
    real = subprocess.Popen
    monkeypatch.setattr(warm_up.subprocess, "Popen", lambda _, **streams: real(command, **streams))
    monkeypatch.setattr(warm_up, "compile_seconds", lambda: compile_seconds() + 1.0)
    warm.expect(TABLE)
    return warm


def test_a_process_that_fails_does_no_harm(monkeypatch):
    warm = started_with(monkeypatch, [sys.executable, "-c", "raise SystemExit(3)"])
    assert list(warm.before_first(["block", "block"])) == ["block", "block"]


def test_a_process_that_hangs_is_ended(monkeypatch):
    warm = started_with(monkeypatch, [sys.executable, "-c", "import time; time.sleep(60)"])
    process, began = warm._process, time.perf_counter()
    warm.wait(0.2)
    assert process.poll() is not None
    assert time.perf_counter() - began < 30


def test_it_is_ended_if_reading_fails(monkeypatch):
    def blocks():
        raise ValueError("bad row")
        yield

    warm = started_with(monkeypatch, [sys.executable, "-c", "import time; time.sleep(60)"])
    process = warm._process
    with pytest.raises(ValueError, match="bad row"):
        list(warm.before_first(blocks()))
    assert process.poll() is not None


def test_none_is_started_where_nothing_is_compiled():
    warm = WarmUp()
    warm.expect(TABLE)
    assert warm._process is None
    warm.wait()


def test_waiting_counts_as_compiling(monkeypatch):
    warm = started_with(monkeypatch, [sys.executable, "-c", "import time; time.sleep(0.3)"])
    before = compile_seconds()
    warm.wait()
    assert compile_seconds() - before > 0.1

"""novikoff learn, predict and test: patterns, kinds of columns, checkpoints, progress, plots and scores."""

import gzip
import json
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

import novikoff as nk
from novikoff.cli import main
from novikoff.cli.columns_report import describe_columns
from novikoff.cli.progress import ByteCounter
from novikoff.data.formats import open_source, open_stream
from novikoff.streaming.model import StreamModel

NOVIKOFF = [sys.executable, "-m", "novikoff"]
PATIENCE = 120  # seconds, for a first run that compiles


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    assert result.exit_code == code, result.output
    return result


def facts(*arguments):
    return json.loads(run("test", *arguments, "--json").stdout)


def svmlight(path, n, seed=0, labels=(-1, 1)):
    """Rows in the plane, labelled by the sector they are in, with some noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    sector = (np.arctan2(X[:, 0], X[:, 1]) + np.pi) / (2 * np.pi) * len(labels)
    at = np.where(rng.random(n) < 0.1, rng.integers(len(labels), size=n), sector.astype(int) % len(labels))
    path.write_text("".join(f"{labels[k]} 1:{a:.6g} 2:{b:.6g}\n" for k, (a, b) in zip(at, X, strict=True)))
    return path


@pytest.fixture
def svm(tmp_path):
    return svmlight(tmp_path / "train.svm", 300)


@pytest.fixture
def sectors(tmp_path):
    return svmlight(tmp_path / "sectors.svm", 300, labels=(1, 2, 3))


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    rows = [f"{20 + k % 50},{8000 + k % 3},{'abc'[k % 3]},{'yes' if k % 3 else 'no'}" for k in range(60)]
    path.write_text("age,zip,town,votes\n" + "\n".join(rows) + "\n")
    return path


class TestScaling:
    @pytest.fixture
    def dense(self, tmp_path):
        """A table of numbers of very different scales, far from 0."""
        rng = np.random.default_rng(0)
        X = rng.normal(size=(500, 4))
        y = (X @ [1.0, -1.0, 0.5, 2.0] > 0).astype(int)
        X = X * [100.0, 0.01, 3.0, 1.0] + [5000.0, 2.0, -700.0, 40.0]
        path = tmp_path / "dense.csv"
        path.write_text(
            "a,b,c,d,y\n"
            + "".join(f"{','.join(map(repr, x))},{label}\n" for x, label in zip(X.tolist(), y, strict=True))
        )
        return path

    @pytest.mark.parametrize("suffix", ["svm", "vw"])
    def test_a_file_that_was_converted_gives_what_the_table_gave(self, suffix, dense, tmp_path):
        converted, model = tmp_path / f"dense.{suffix}", tmp_path / "m.nk"
        run("convert", dense, converted)
        run("learn", dense, "-o", model)
        expected = StreamModel.load(model).ledger.mistakes
        wrong_on_table = facts(model, dense)["errors"]
        run("learn", converted, "-o", model)
        assert StreamModel.load(model).ledger.mistakes == expected
        assert facts(model, converted)["errors"] == wrong_on_table
        run("learn", converted, "--no-scale", "-o", model)
        assert StreamModel.load(model).ledger.mistakes > 2 * expected

    @pytest.mark.parametrize("suffix", ["svm", "vw"])
    def test_no_scale_takes_the_numbers_as_they_are(self, suffix, dense, tmp_path):
        converted, model = tmp_path / f"dense.{suffix}", tmp_path / "m.nk"
        run("convert", dense, converted)
        run("learn", converted, "--no-scale", "-o", model)
        [block] = open_stream(converted)
        rows = StreamModel.load(model).rows_of(block)
        [table] = open_stream(dense)
        assert rows.data.reshape(-1, 4).tolist() == np.column_stack([table.columns[name] for name in "abcd"]).tolist()

    def test_the_scaling_goes_on_with_from(self, dense, tmp_path):
        converted, whole, parts = tmp_path / "dense.svm", tmp_path / "whole.nk", tmp_path / "parts.nk"
        run("convert", dense, converted)
        run("learn", converted, "-o", whole)
        lines = converted.read_text().splitlines(keepends=True)
        for k, part in enumerate([lines[:123], lines[123:]]):
            (tmp_path / "part.svm").write_text("".join(part))
            run("learn", tmp_path / "part.svm", "-o", parts, *(["--from", parts] if k else []))
        one, other = (StreamModel.load(path) for path in (whole, parts))
        assert one.model.state.raw.coef.tobytes() == other.model.state.raw.coef.tobytes()
        assert one.ledger.mistakes == other.ledger.mistakes


class TestPatterns:
    def test_a_pattern_learns_all_matching_files_in_order(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        for k, name in enumerate(["c.svm", "a.svm", "b.svm"]):
            svmlight(tmp_path / name, 50, seed=k)
        run("learn", "a.svm", "b.svm", "c.svm", "-o", "named.nk")
        run("learn", "*.svm", "-o", "matched.nk")
        assert (tmp_path / "matched.nk").read_bytes() == (tmp_path / "named.nk").read_bytes()
        assert run("predict", "named.nk", "[ac].svm").stdout == run("predict", "named.nk", "a.svm", "c.svm").stdout
        assert facts("named.nk", "?.svm")["rows"] == 150

    def test_a_recursive_pattern_skips_folders(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "logs" / "old").mkdir(parents=True)
        svmlight(tmp_path / "logs" / "old" / "a.svm", 20)
        svmlight(tmp_path / "logs" / "b.svm", 20)
        run("learn", "logs/**", "-o", "m.nk")
        assert StreamModel.load("m.nk").rows_read == {"logs/b.svm": 20, "logs/old/a.svm": 20}

    def test_an_existing_file_is_not_expanded_as_a_pattern(self, svm, tmp_path):
        meant = svm.rename(tmp_path / "train[1].svm")
        (tmp_path / "train1.svm").write_text("+1 1:1\n")  # which the name as a pattern would match
        run("learn", meant, "-o", tmp_path / "m.nk")
        n_lines = len(meant.read_text().splitlines())
        assert StreamModel.load(tmp_path / "m.nk").rows_read == {str(meant): n_lines}

    @pytest.mark.parametrize("command", [["learn", "-o", "m.nk"], ["predict", "m.nk"], ["test", "m.nk"]])
    def test_a_pattern_without_matches_is_an_error(self, command):
        said = run(command[0], *command[1:], "nowhere/*.csv", code=1).output
        assert said.startswith("Error: nowhere/*.csv: no file matches")


class TestTypes:
    def test_the_kinds_of_columns_are_printed_first(self, people, tmp_path):
        said = run("learn", people, "-o", tmp_path / "m.nk").stderr.splitlines()
        assert said[0] == f"{people}: 2 numbers (age, zip), 1 word (town); target votes (the last column)"
        said = run("learn", people, "-o", tmp_path / "m.nk", "--types", "zip=word", "--drop", "age").stderr.splitlines()
        assert said[0] == f"{people}: 2 words (zip, town), 1 left out (age); target votes (the last column)"
        assert "zip=8001" in StreamModel.load(tmp_path / "m.nk").names

    def test_files_with_the_same_columns_are_described_once(self, people, tmp_path):
        said = run("learn", people, people, "--passes", 2, "-o", tmp_path / "m.nk").stderr
        assert said.count("target votes") == 1

    def test_formats_without_columns_are_not_described(self, svm, tmp_path):
        assert "target" not in run("learn", svm, "-o", tmp_path / "m.nk").stderr

    def test_long_lists_of_columns_are_cut(self, tmp_path):
        path = tmp_path / "wide.csv"
        path.write_text(",".join([f"x{k}" for k in range(50)] + ["\x1b[31m", "y"]) + "\n" + "1," * 51 + "a\n")
        said = run("learn", path, "-o", tmp_path / "m.nk").stderr.splitlines()[0]
        assert said.endswith("51 numbers (x0, x1, x2, x3, x4, x5, x6, x7, ... and 43 more); target y (by its name)")
        assert run("learn", path, "-o", tmp_path / "m.nk", *(w for k in range(50) for w in ("--drop", f"x{k}")))
        with open_stream(path, drop=[f"x{k}" for k in range(50)]) as reader:
            assert "(?[31m)" in describe_columns(reader)

    def test_types_may_be_repeated(self, people, tmp_path):
        said = run("learn", people, "-o", tmp_path / "m.nk", "--types", "zip=word,age=word", "--types", "zip=number")
        end = "1 number (zip), 2 words (age, town); target votes (the last column)"
        assert said.stderr.splitlines()[0].endswith(end)

    @pytest.mark.parametrize("types", ["zip", "zip=", "=word", "zip=color", "zip=word,", ""])
    def test_malformed_types_are_a_usage_error(self, people, tmp_path, types):
        said = run("learn", people, "-o", tmp_path / "m.nk", "--types", types, code=2).output
        assert "COLUMN=KIND" in said
        assert "number, word, text" in said

    def test_types_of_an_unknown_column_are_an_error(self, people, tmp_path):
        said = run("learn", people, "-o", tmp_path / "m.nk", "--types", "zipp=word", code=1).output
        assert "Did you mean 'zip'" in said


class TestCheckpoints:
    @pytest.mark.parametrize("text", ["60s", "5m", "90", "2h", "0.5", " 1.5h "])
    def test_valid_times(self, svm, tmp_path, text):
        run("learn", svm, "-o", tmp_path / "m.nk", "--checkpoint", text)

    @pytest.mark.parametrize("text", ["0", "0s", "-5", "5 minutes", "nan", "inf", "", "1e3", "m"])
    def test_invalid_times(self, svm, tmp_path, text):
        assert "is no time above 0" in run("learn", svm, "-o", tmp_path / "m.nk", "--checkpoint", text, code=2).output

    def test_the_model_is_written_while_learning(self, svm, tmp_path):
        model = tmp_path / "m.nk"
        with Learning("-", "-o", model, "--checkpoint", "0.000001", stderr=subprocess.DEVNULL) as learning:
            learning.give(svm.read_bytes())
            wait_for(model.exists)
            assert StreamModel.load(model).ledger.examples > 0


class Learning(subprocess.Popen):
    """novikoff learn in a process of its own, fed by a pipe."""

    def __init__(self, *arguments, **streams):
        words = [*NOVIKOFF, "learn", *map(str, arguments)]
        environment = {**os.environ, "COLUMNS": "120", "TERM": "xterm"}
        super().__init__(words, stdin=subprocess.PIPE, env=environment, **streams)

    def give(self, content):
        self.stdin.write(content)
        self.stdin.flush()

    def __exit__(self, *error):
        self.stdin.close()
        return super().__exit__(*error)


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.01)


def read_until(handle, words):
    """The output of a process up to some bytes or its end."""
    seen, deadline = b"", time.monotonic() + PATIENCE
    while words not in seen:
        assert select.select([handle], [], [], max(0.0, deadline - time.monotonic()))[0], f"timed out, saw {seen!r}"
        try:
            more = os.read(handle, 4096)
        except OSError:  # how a terminal ends on Linux
            more = b""
        if not more:
            break
        seen += more
    return seen


class TestInterrupts:
    def test_the_printed_command_continues_the_run(self, svm, tmp_path):
        first, model, picture = svm.read_bytes().splitlines(keepends=True)[:64], tmp_path / "my model.nk", "run.svg"
        command = ["-", "-o", model, "--format", "svmlight", "--plot", tmp_path / picture]
        with Learning(*command, stderr=subprocess.PIPE) as learning:
            learning.give(b"".join(first))
            read_until(learning.stderr.fileno(), b"\n          64 ")
            learning.send_signal(signal.SIGINT)
            said = learning.stderr.read().decode()
        assert learning.returncode == 130
        assert StreamModel.load(model).ledger.examples == 64
        assert b"</svg>" in (tmp_path / picture).read_bytes()
        again = shlex.split(said.splitlines()[-1])
        assert again[:2] == ["novikoff", "learn"]
        whole = svm.read_bytes()
        subprocess.run(
            [*NOVIKOFF, *again[1:]], input=whole[len(b"".join(first)) :], check=True, stderr=subprocess.DEVNULL
        )
        run("learn", "-", "-o", tmp_path / "straight.nk", "--format", "svmlight", stdin=whole)
        assert model.read_bytes() == (tmp_path / "straight.nk").read_bytes()

    def test_an_interrupt_before_the_first_row_writes_nothing(self, svm, tmp_path, monkeypatch):
        def interrupted(*given):
            raise KeyboardInterrupt
            yield

        monkeypatch.setattr("novikoff.streaming.passes.FilePasses.__iter__", interrupted)
        result = run("learn", svm, "-o", tmp_path / "m.nk", code=130)
        assert result.stderr.endswith(f"Stopped. Nothing was learned, and {tmp_path / 'm.nk'} was not written.\n")
        assert not (tmp_path / "m.nk").exists()

    def test_resume_counts_rows_over_all_passes(self, svm, sectors, tmp_path):
        """After 1 of 2 passes the second one remains."""
        run("learn", svm, "-o", tmp_path / "straight.nk", "--passes", 2)
        run("learn", svm, "-o", tmp_path / "m.nk")
        run("learn", svm, "--from", tmp_path / "m.nk", "-o", tmp_path / "m.nk", "--passes", 2, "--resume")
        assert (tmp_path / "m.nk").read_bytes() == (tmp_path / "straight.nk").read_bytes()


class TestBadRows:
    def test_each_reject_is_written_once(self, svm, tmp_path):
        good = svm.read_text().splitlines(keepends=True)
        model, kept = tmp_path / "m.nk", tmp_path / "m.nk.rejects"
        svm.write_text("".join(["one bad\n", *good[:100], "two bad\n"]))
        run("learn", svm, "-o", model, "--bad-rows", "skip", "--passes", 2)
        assert [line.split("\t")[1] for line in kept.read_text().splitlines()] == ["one bad", "two bad"]
        run("learn", svm, "-o", model, "--bad-rows", "skip")
        svm.write_text("".join(["one bad\n", *good[:100], "two bad\n", *good[100:], "three bad\n"]))
        said = run("learn", svm, "--from", model, "-o", model, "--bad-rows", "skip", "--resume").stderr
        assert "two bad" not in said.replace("'two'", "")
        assert [line.split("\t")[1] for line in kept.read_text().splitlines()] == ["one bad", "two bad", "three bad"]

    def test_a_pipe_that_begins_with_rejects(self, svm, tmp_path):
        command = ["-", "-o", tmp_path / "m.nk", "--format", "svmlight", "--bad-rows", "skip"]
        with Learning(*command, stderr=subprocess.PIPE) as learning:
            learning.give(b"bad\n")
            assert b"rejected" in read_until(learning.stderr.fileno(), b"rejected")  # after a line on compiling, once
            learning.give(svm.read_bytes())
            learning.stdin.close()
            assert b"1 row rejected" in learning.stderr.read()
        assert learning.returncode == 0

    def test_predict_and_test_report_rejects(self, svm, tmp_path):
        run("learn", svm, "-o", tmp_path / "m.nk")
        svm.write_text("oops 1:1\n" + svm.read_text())
        for command in ("predict", "test"):
            said = run(command, tmp_path / "m.nk", svm, "--bad-rows", "skip").stderr
            assert "rejected: " in said
            assert "1 row rejected." in said


class TestPlots:
    def test_a_plot_is_written_as_png(self, svm, tmp_path):
        said = run("learn", svm, "-o", tmp_path / "m.nk", "--plot", tmp_path / "run.png").stderr
        assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert "Drawn in" in said

    @pytest.mark.parametrize(
        ("picture", "words", "code"), [("run.xyz", "'xyz' is not supported", 2), ("nowhere/run.png", "no folder", 2)]
    )
    def test_a_plot_that_cannot_be_written_is_refused_before_learning(self, svm, tmp_path, picture, words, code):
        said = run("learn", svm, "-o", tmp_path / "m.nk", "--plot", tmp_path / picture, code=code).output
        assert words in said
        assert not (tmp_path / "m.nk").exists()

    def test_a_plot_without_matplotlib_names_the_extra(self, svm, tmp_path, monkeypatch):
        monkeypatch.setattr("novikoff.cli.ledger_plot.find_spec", lambda name: None)
        said = run("learn", svm, "-o", tmp_path / "m.nk", "--plot", tmp_path / "run.png", code=1).output
        assert 'Install the extra "plot"' in said
        assert not (tmp_path / "m.nk").exists()


class TestProgress:
    def output_on_a_terminal(self, *arguments, give=None):
        ours, theirs = pty.openpty()
        with Learning(*arguments, stderr=theirs) as learning:
            os.close(theirs)
            if give is not None:
                learning.give(give)
            learning.stdin.close()
            seen = read_until(ours, b"never said")
        os.close(ours)
        assert learning.returncode == 0, seen
        return seen.decode()

    def test_files_have_a_bar(self, svm, tmp_path):
        seen = self.output_on_a_terminal(svm, svm, "-o", tmp_path / "m.nk", "--passes", 2)
        size = svm.stat().st_size
        assert f"{2 * size / 1000:.1f} kB" in seen  # 2 files, which are read once for both passes
        assert "1,200 rows" in seen
        assert "100%" in seen
        assert "left" in seen

    def test_the_table_is_printed_above_the_bar(self, svm, tmp_path):
        """Each line of the table begins where the bar was erased, and is complete."""
        seen = self.output_on_a_terminal(svm, "-o", tmp_path / "m.nk")
        lines = [line.rpartition("\x1b[2K")[2] for line in seen.split("\r\n")]
        first = lines.index(f"{'rows':>12} {'mistakes':>11} {'since last':>11} {'rate':>8} {'norm |w|':>10}")
        rows = [line.split() for line in lines[first:] if len(line.split()) == 5 and line.split()[0].isdigit()]
        assert [row[0] for row in rows] == ["1", "2", "4", "8", "16", "32", "64", "128", "256", "300"]

    def test_a_pipe_has_no_percentage(self, svm, tmp_path):
        seen = self.output_on_a_terminal("-", "-o", tmp_path / "m.nk", "--format", "svmlight", give=svm.read_bytes())
        assert "300 rows" in seen
        assert "rows/s" in seen
        assert not re.search(r"(?<![\d.])\d+%", seen)  # the shares of mistakes have decimals

    def test_there_is_no_bar_outside_a_terminal(self, svm, tmp_path):
        code = "import sys; from novikoff.cli import main; main(sys.argv[1:], standalone_mode=False); "
        code += "sys.exit('rich' in sys.modules)"
        command = [sys.executable, "-c", code, "learn", str(svm), "-o", str(tmp_path / "m.nk")]
        said = subprocess.run(command, stderr=subprocess.PIPE, check=True).stderr
        assert b"\x1b" not in said
        assert b"\r" not in said

    def test_bytes_are_counted_as_they_are_in_the_file(self, svm, tmp_path):
        packed = tmp_path / "train.svm.gz"
        packed.write_bytes(gzip.compress(svm.read_bytes()))
        size, whole = packed.stat().st_size, svm.stat().st_size
        counter = ByteCounter([str(packed), str(svm)], passes=3)
        assert counter.total == 3 * (size + whole)
        for path, end in ((packed, size), (svm, size + whole)):
            with open_source(path) as source:
                assert (source.size, source.bytes_read) == (path.stat().st_size, 0)
                counter.follow(source)
                while source.read():
                    pass
            assert counter.bytes_read == end

    def test_pipes_have_no_total(self, svm, tmp_path):
        os.mkfifo(tmp_path / "pipe")
        assert ByteCounter([str(svm), str(tmp_path / "pipe")], passes=1).total is None
        assert ByteCounter([str(svm), "-"], passes=1).total is None


class TestTest:
    @pytest.mark.parametrize("data", ["svm", "sectors"])
    def test_counts_equal_those_of_scikit_learn(self, data, request, tmp_path):
        path, model = request.getfixturevalue(data), tmp_path / "m.nk"
        run("learn", path, "-o", model)
        true = [int(line.split()[0]) for line in path.read_text().splitlines()]
        guessed = list(map(int, run("predict", model, path).stdout.split()))
        found, labels = facts(model, path), sorted(set(true))
        precision, recall, f1, support = precision_recall_fscore_support(true, guessed, labels=labels, zero_division=0)
        assert [row["label"] for row in found["labels"]] == labels
        for name, expected in (("precision", precision), ("recall", recall), ("f1", f1), ("support", support)):
            np.testing.assert_allclose([row[name] for row in found["labels"]], expected, rtol=1e-12)
        counts = {(row["label"], row["prediction"]): row["rows"] for row in found["confusion"]}
        matrix = confusion_matrix(true, guessed, labels=labels)
        assert [[counts.get((a, b), 0) for b in labels] for a in labels] == matrix.tolist()
        assert found["errors"] == 300 - matrix.trace()
        said = run("test", model, path).stdout
        assert f"{found['errors']} errors on 300 rows" in said
        for row in matrix.tolist():
            assert "  ".join(f"{count:,}" for count in row).split() in [line.split()[1:] for line in said.splitlines()]

    @pytest.mark.parametrize("data", ["svm", "sectors"])
    def test_errors_by_hypothesis(self, data, request, tmp_path):
        """The errors by hypothesis of one model equal those of models that learned with each of them."""
        path, found = request.getfixturevalue(data), {}
        for hypothesis in ("last", "averaged", "voted", "pocket"):
            run("learn", path, "-o", tmp_path / f"{hypothesis}.nk", "--hypothesis", hypothesis, "--passes", 2)
            found[hypothesis] = facts(tmp_path / f"{hypothesis}.nk", path)
            assert found[hypothesis]["errors"] == found[hypothesis]["errors_by_hypothesis"][hypothesis]
        own = {hypothesis: one["errors"] for hypothesis, one in found.items()}
        for hypothesis, others in (
            ("last", []),
            ("averaged", ["last"]),
            ("pocket", ["last"]),
            ("voted", ["last", "averaged"]),
        ):
            assert found[hypothesis]["errors_by_hypothesis"] == {name: own[name] for name in [*others, hypothesis]}
        assert len(set(own.values())) > 1, "the data cannot tell them apart"

    def test_rows_with_unknown_labels_are_errors(self, svm, tmp_path):
        run("learn", svm, "-o", tmp_path / "m.nk")
        before = facts(tmp_path / "m.nk", svm)
        svm.write_text(svm.read_text() + "7 1:1\n7 2:1\n2.5 1:1\n")
        after = facts(tmp_path / "m.nk", svm)
        assert (after["rows"], after["errors"]) == (303, before["errors"] + 3)
        assert after["unknown_labels"] == [2.5, 7]
        seven = next(row for row in after["labels"] if row["label"] == 7)
        assert (seven["support"], seven["precision"], seven["recall"]) == (2, None, 0.0)
        assert "3 of them have labels that the model has never met" in run("test", tmp_path / "m.nk", svm).stdout

    def test_a_string_among_numeric_labels(self, tmp_path):
        train, test = tmp_path / "train.csv", tmp_path / "test.csv"
        train.write_text("x,y\n" + "1,1\n-1,2\n" * 20)
        test.write_text("x,y\n1,1\n-1,2.0\n1,what\n")
        run("learn", train, "-o", tmp_path / "m.nk")
        assert (facts(tmp_path / "m.nk", test)["errors"], facts(tmp_path / "m.nk", train)["errors"]) == (1, 0)

    def test_numeric_labels_for_a_model_with_string_labels(self, tmp_path):
        train, test = tmp_path / "train.csv", tmp_path / "test.csv"
        train.write_text("x,y\n" + "1,17\n-1,a1\n" * 20)
        test.write_text("x,y\n1,17\n2,17\n")
        run("learn", train, "-o", tmp_path / "m.nk")
        assert facts(tmp_path / "m.nk", test)["errors"] == 0
        run("learn", test, "--from", tmp_path / "m.nk", "-o", tmp_path / "m.nk")
        assert StreamModel.load(tmp_path / "m.nk").labels == ["17", "a1"]

    def test_numbers_in_a_categorical_column(self, tmp_path):
        train, test = tmp_path / "train.csv", tmp_path / "test.csv"
        train.write_text("zip,y\n" + "17,yes\na1,no\n" * 20)
        test.write_text("zip,y\n17,yes\n17,yes\n")
        run("learn", train, "-o", tmp_path / "m.nk")
        assert facts(tmp_path / "m.nk", test)["errors"] == 0
        assert run("predict", tmp_path / "m.nk", test).stdout.split() == ["yes", "yes"]

    def test_many_labels_are_printed_as_pairs(self, tmp_path):
        path = svmlight(tmp_path / "many.svm", 400, labels=range(20))
        run("learn", path, "-o", tmp_path / "m.nk")
        said = run("test", tmp_path / "m.nk", path).stdout
        found = facts(tmp_path / "m.nk", path)
        wrong = [row for row in found["confusion"] if row["label"] != row["prediction"]]
        assert f"the 10 most frequent of {len(wrong)} pairs" in said
        most = max(wrong, key=lambda row: row["rows"])["rows"]
        table = said.split("prediction")[1].split("\n\n")[0].splitlines()[1:]
        assert len(table) == 10
        assert table[0].split()[-1] == str(most)
        assert max(map(len, said.splitlines())) < 80

    def test_markup_in_labels_is_printed_as_text(self, tmp_path):
        path = tmp_path / "odd.csv"
        path.write_text("x,y\n" + "1,[red]\n-1,[/red]\n" * 10)
        run("learn", path, "-o", tmp_path / "m.nk")
        said = run("test", tmp_path / "m.nk", path).stdout
        assert "[red]" in said
        assert "[/red]" in said


class TestScores:
    def test_scores_of_two_labels(self, svm, tmp_path):
        run("learn", svm, "--rule", "perceptron", "--no-scale", "-o", tmp_path / "m.nk")
        head, *lines = run("predict", tmp_path / "m.nk", svm, "--scores").stdout.splitlines()
        assert head == "label\tscore of 1"
        assert [line.split("\t")[0] for line in lines] == run("predict", tmp_path / "m.nk", svm).stdout.split()
        assert all((label == "1") == (float(score) >= 0) for label, score in (line.split("\t") for line in lines))
        model = StreamModel.load(tmp_path / "m.nk").model
        weights = model.learner.hypothesis.weights(model.state)
        X = [[float(word.split(":")[1]) for word in line.split()[1:]] for line in svm.read_text().splitlines()]
        expected = np.array(X) @ weights.coef[0, 1:] + weights.bias  # column 0: indices count from 1
        np.testing.assert_allclose([float(line.split("\t")[1]) for line in lines], expected, rtol=1e-12)

    def test_scores_of_many_labels(self, sectors, tmp_path):
        run("learn", sectors, "-o", tmp_path / "m.nk")
        run("predict", tmp_path / "m.nk", sectors, "--scores", "-o", tmp_path / "out.tsv")
        head, *lines = (line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines())
        assert head == ["label", "score of 1", "score of 2", "score of 3"]
        assert len(lines) == 300
        for label, *scores in lines:
            assert label == str(1 + int(np.argmax(list(map(float, scores)))))

    def test_scores_of_a_single_label(self, tmp_path):
        path = tmp_path / "one.svm"
        for label, head in ((3, "score of 3"), (-1, "score of not -1")):
            path.write_text(f"{label} 1:1\n" * 5)
            run("learn", path, "-o", tmp_path / "m.nk")
            lines = run("predict", tmp_path / "m.nk", path, "--scores").stdout.splitlines()
            assert lines[0] == f"label\t{head}"
            assert {line.split("\t")[0] for line in lines[1:]} == {str(label)}


class TestPredict:
    @pytest.mark.parametrize("options", [(), ("--scores",)])
    def test_rows_are_predicted_as_they_arrive(self, svm, tmp_path, options):
        run("learn", svm, "-o", tmp_path / "m.nk")
        expected = run("predict", tmp_path / "m.nk", svm, *options).stdout.splitlines()
        command, rows = (
            [*NOVIKOFF, "predict", str(tmp_path / "m.nk"), "-", *options],
            svm.read_bytes().splitlines(True)[:3],
        )
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            for line, answer in zip([b"", *rows] if options else rows, expected, strict=False):
                process.stdin.write(line)
                process.stdin.flush()
                assert read_until(process.stdout.fileno(), b"\n").decode().rstrip("\n") == answer

    def test_an_error_leaves_the_old_output(self, svm, tmp_path):
        run("learn", svm, "-o", tmp_path / "m.nk")
        (tmp_path / "out.txt").write_text("old\n")
        svm.write_text(svm.read_text() + "oops\n")
        run("predict", tmp_path / "m.nk", svm, "-o", tmp_path / "out.txt", code=1)
        assert (tmp_path / "out.txt").read_text() == "old\n"
        assert not list(tmp_path.glob(".out*"))


def test_the_next_steps_of_the_demo_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said = run("demo", "--csv", "my digits.csv").stdout
    steps = [shlex.split(line) for line in said.splitlines() if line.startswith("  novikoff ")]
    assert [step[1] for step in steps] == ["learn", "certify"]
    for step in steps:
        run(*step[1:])
    assert (tmp_path / "my digits.nk").exists()


def test_a_second_run_over_a_file_can_be_resumed(tmp_path):
    """The rows of the last run are skipped, not those of the run before it."""
    rows = "".join(f"{k % 7},{k % 5},{'ab'[k % 2]}\n" for k in range(50))
    (tmp_path / "a.csv").write_text(rows)
    run("learn", tmp_path / "a.csv", "-o", tmp_path / "m.nk")
    run("learn", tmp_path / "a.csv", "--from", tmp_path / "m.nk", "-o", tmp_path / "m.nk")
    (tmp_path / "a.csv").write_text(rows + "1,2,a\n")
    run("learn", tmp_path / "a.csv", "--from", tmp_path / "m.nk", "-o", tmp_path / "m.nk", "--resume")
    assert StreamModel.load(tmp_path / "m.nk").ledger.examples == 101


def test_rejects_become_empty_lines(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n-1,b\n2,a\n-3,b\n")
    run("learn", tmp_path / "a.csv", "-o", tmp_path / "m.nk")
    (tmp_path / "new.csv").write_text("x,y\n1,a\noops,b\n-3,b\n")
    run(
        "predict",
        tmp_path / "m.nk",
        tmp_path / "new.csv",
        "--bad-rows",
        "skip",
        "--rejects",
        tmp_path / "bad.txt",
        "-o",
        tmp_path / "out.txt",
    )
    assert (tmp_path / "out.txt").read_text() == "a\n\nb\n"
    assert (tmp_path / "bad.txt").read_text().count("oops") == 2


@pytest.mark.parametrize(
    ("name", "train", "new"),
    [
        ("t.vw", "1 | a b\n-1 | c d:2\n", "| a\n| c d\n"),
        ("t.svm", "1 1:1 2:1\n-1 3:1 4:2\n", "1:1\n3:1 4:1\n"),
    ],
)
def test_rows_without_labels_are_predicted(tmp_path, name, train, new):
    (tmp_path / name).write_text(train)
    run("learn", tmp_path / name, "--passes", 3, "-o", tmp_path / "m.nk")
    assert run("predict", tmp_path / "m.nk", "-", stdin=new.encode()).stdout == "1\n-1\n"


def test_a_file_of_another_kind_is_an_error(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,a\n-1,b\n")
    (tmp_path / "b.svm").write_text("1 1:2\n-1 2:1\n")
    run("learn", tmp_path / "a.csv", "-o", tmp_path / "m.nk")
    said = run("learn", tmp_path / "b.svm", "--from", tmp_path / "m.nk", "-o", tmp_path / "n.nk", code=1).output
    assert "the model has learned from a table with named columns" in said


@pytest.mark.parametrize(
    "words",
    [
        ["learn", "a.csv", "-o", "a.csv"],
        ["learn", "a.csv", "-o", "notes.txt"],
        ["learn", "a.csv", "--bad-rows", "skip", "--rejects", "./a.csv", "-o", "n.nk"],
        ["learn", "a.csv", "--rejects", "n.nk", "-o", "n.nk"],
        ["predict", "m.nk", "a.csv", "-o", "a.csv"],
        ["predict", "m.nk", "a.csv", "-o", "m.nk"],
        ["export", "m.nk", "-o", "m.nk", "--to", "json"],
    ],
)
def test_inputs_and_other_files_are_not_overwritten(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("x,y\n1,a\n-1,b\n")
    Path("notes.txt").write_text("precious")
    run("learn", "a.csv", "-o", "m.nk")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    run(*words, code=2)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_estimators_are_inspected(tmp_path):
    """Models saved in Python show weights by name, support vectors and passes, as far as they have them."""
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5], [0.5, 2.0]]), np.array(["up", "down", "down", "up"])
    nk.Perceptron().learn_one({"rain": 1.0}, "stay").learn_one({"sun": 1.0}, "go").save(tmp_path / "named.nk")
    said = run("inspect", tmp_path / "named.nk").stdout
    assert "labels: go, stay" in said
    assert "rain" in said
    nk.LinearClassifier("logistic", "newton").fit(X, y).save(tmp_path / "linear.nk")
    found = json.loads(run("inspect", tmp_path / "linear.nk", "--json").stdout)
    assert found["converged"]
    assert set(found["heaviest"][0]["weights"]) == {"column 0", "column 1"}
    nk.KernelPerceptron(kernel="rbf", max_iter=5).fit(X, y).save(tmp_path / "kernel.nk")
    assert "support vectors:" in run("inspect", tmp_path / "kernel.nk").stdout

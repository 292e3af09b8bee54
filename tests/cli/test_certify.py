"""novikoff certify: the verdict as text and as JSON, errors, and exit codes."""

import gzip
import json
import os
import select
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_iris

from novikoff.cli import certify as command
from novikoff.cli import main

OR = "a,b,out\n0,0,no\n0,1,yes\n1,0,yes\n1,1,yes\n"
XOR = "a,b,out\n0,0,no\n0,1,yes\n1,0,yes\n1,1,no\n"
IDENTICAL = "x,y,out\n3,5,0\n1,2,0\n4,4,1\n1,2,1\n1,2,1\n7,7,0\n7,7,1\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Certify some text, written to a file of some name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def certify(text, *arguments, name="t.csv", code=0):
        if text is not None:
            (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        result = CliRunner().invoke(main, ["certify", name, *arguments])
        assert result.exit_code == code, result.output
        return result

    return certify


def prose(result):
    """Without line breaks and the blanks of tables."""
    return " ".join(result.stdout.split())


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    rows = zip(data.data.tolist(), data.target_names[data.target], strict=True)
    return "".join(f"{','.join(map(str, x))},{name}\n" for x, name in rows)


def test_separable(run):
    output = prose(run(OR))
    assert "t.csv: 4 rows, 2 columns. The target is 'out', the last column" in output
    assert "Labels: no (1) and yes (3)." in output
    assert "SEPARABLE. One linear rule gets all 4 rows right." in output
    assert "margin 0.333333" in output
    assert "radius 1.73205" in output
    assert "mistakes 27 at most" in output
    assert (
        "say yes where this sum is above 0, no where it is below. +0.666667 x a +0.666667 x b -0.333333 intercept"
        in output
    )
    assert "2 3 yes 0.222 0 1" in output  # row, line, label, share, a, b
    assert "checked again in exact arithmetic" in output


def test_not_separable(run):
    output = prose(run(XOR))
    assert "NOT SEPARABLE. Rows 1, 2, 3 and 4 prove it: every linear rule gets at least one of them wrong." in output
    assert "those labelled yes come to exactly the same point as those labelled no" in output
    assert "row line label share a b 2 3 yes 0.25 0 1 3 4 yes 0.25 1 0 1 2 no 0.25 0 0 4 5 no 0.25 1 1" in output
    assert "The best linear rule errs on 1 of 4 rows. One that errs on 1 gets row" in output


def test_identical_rows_are_named(run):
    output = prose(run(IDENTICAL))
    assert "are identical in double precision, but one is labelled" in output
    assert "no rule on these numbers, linear or not, can get both right." in output
    assert (
        "There are 2 such sets of rows with different labels that are identical in double precision; any rule on these "
        "numbers errs on at least 2 rows." in output
    )


def test_integers_that_doubles_cannot_tell_apart_are_not_called_identical(run):
    first, second = 2**53, 2**54
    output = prose(run(f"a,label\n{first},x\n{first + 1},y\n{second},x\n{second + 1},y\n"))
    assert "are identical in double precision, but one is labelled" in output
    assert "identical rows" not in output
    assert "whatever the rule" not in output
    assert "that are identical in double precision; any rule on these numbers errs on at least 2 rows." in output


def test_without_an_intercept(run):
    output = prose(run("0,0,a\n1,2,b\n", "--no-intercept"))
    assert "Row 1 proves it: it is all zeros" in output
    output = prose(run("1,1,a\n2,2,b\n", "--no-intercept", "--no-errors"))
    assert "Rows 1 and 2 prove it" in output
    assert "those labelled b less those labelled a come to exactly 0" in output
    assert "best linear rule" not in output
    assert "intercept" not in prose(run("1,-1,a\n2,2,b\n", "--no-intercept")).partition("The rule")[2]


def test_one_label(run):
    output = prose(run("1,a\n-1,a\n"))
    assert "SEPARABLE. All rows are labelled a: there is nothing to tell apart." in output
    output = prose(run("1,a\n-1,a\n", "--no-intercept"))
    assert "NOT SEPARABLE. Rows 1 and 2 prove it" in output
    assert "they come to exactly 0" in output


def test_many_labels(run, iris):
    output = prose(run(iris))
    assert "Linearly separable: 1 of 3 classes from the rest, 2 of 3 pairs from each other." in output
    assert "setosa against the rest separable 0.7491 3 support rows" in output
    assert "virginica against versicolor not separable rows 84, 107, 124, 132, 134 and 1 more" in output
    output = prose(run(iris, "--positive", "virginica"))
    assert "NOT SEPARABLE (virginica against the rest)." in output
    assert "The best linear rule errs on 1 of 150 rows. One that errs on 1 gets row 84 wrong." in output
    assert "SEPARABLE (setosa against the rest)." in prose(run(iris, "--positive", "setosa"))


def test_dropped_rows_and_wide_tables(run):
    lines = [*(f"c{k}" for k in range(20)), "y"], [*[""] * 20, "u"], *([f"{k}"] * 20 + ["uv"[k % 2]] for k in range(4))
    output = prose(run("\n".join(map(",".join, lines)), "--drop-missing"))
    assert "1 row with missing cells left out." in output
    assert "2 3 u" in output  # the first row that is used is row 2, on line 3
    assert "15 columns not shown" in output


def test_words_in_rows_are_printed_as_words(run):
    output = prose(run("sky,wind,sail\nsun,3,yes\nrain,9,no\nsun,3,no\n"))
    assert "1 column of words became 2 columns of 0 and 1, such as 'sky=rain'." in output
    assert "yes 0.5 sun 3" in output


def test_compressed_svmlight(run):
    output = prose(run(gzip.compress(b"+1 1:1 3:2\n-1 3:1\n"), name="t.gz"))
    assert "t.gz: 2 rows, 2 columns. Labels: -1 (1) and 1 (1)." in output
    assert "x feature 3" in output


def test_standard_input(monkeypatch):
    result = CliRunner().invoke(main, ["certify", "-"], input=XOR)
    assert "standard input: 4 rows" in prose(result)


def test_json_proof_of_inseparability_can_be_checked(run, iris):
    found = json.loads(run(iris, "--positive", "virginica", "--json").stdout)
    X, rows = load_iris().data, found["rows"]
    assert found["verdict"] == "inseparable"
    assert all(row["line"] == row["row"] + 1 for row in rows)
    sums = [0] * 5
    for row in rows:
        sign = 1 if row["label"] == found["positive"] else -1
        for k, value in enumerate([1.0, *X[row["row"]].tolist()]):
            sums[k] += sign * int(row["multiplier"]) * Fraction(value)
    assert not any(sums)
    assert all(int(row["multiplier"]) > 0 for row in rows)
    fewest = found["fewest_errors"]
    assert (fewest["lower"], fewest["upper"], fewest["rows_wrong"][0]["row"]) == (1, 1, 83)
    assert fewest["witnesses"][0]["rows"]
    scores = fewest["intercept"] + sum(w * X[:, int(name[-1]) - 1] for name, w in fewest["separator"].items())
    assert np.flatnonzero((scores > 0) != (load_iris().target == 2)).tolist() == [83]


def test_json_of_separable_and_of_many(run, iris):
    found = json.loads(run(OR, "--json").stdout)
    assert found["verdict"] == "separable"
    assert found["margin_lower"] <= 1 / 3 <= found["margin_upper"]
    assert set(found["separator"]) == {"a", "b"}
    assert [(row["row"], row["line"], row["label"]) for row in found["rows"]] == [
        (0, 2, "no"),
        (1, 3, "yes"),
        (2, 4, "yes"),
    ]
    assert found["labels"] == [{"label": "no", "rows": 1}, {"label": "yes", "rows": 3}]
    many = json.loads(run(iris, "--json", "--no-verify").stdout)
    assert [verdict["verdict"][:2] for verdict in many["verdicts"]] == ["se", "in", "in", "se", "se", "in"]
    assert many["verified"] is False


def test_exit_code(run):
    run(XOR, "--exit-code", "--no-errors", code=3)
    run(OR, "--exit-code")
    run(XOR, "--no-errors")


@pytest.mark.parametrize(("name", "start"), [("p.png", b"\x89PNG"), ("p.svg", b"<?xml"), ("p.PDF", b"%PDF")])
def test_plot(run, tmp_path, name, start):
    pytest.importorskip("matplotlib")
    result = run(XOR, "--plot", name, "--no-errors")
    assert (tmp_path / name).read_bytes().startswith(start)
    assert result.stderr == f"Drawn in {name}.\n"


def test_plot_is_refused_before_work_starts(run, iris, monkeypatch):
    assert ".png, .svg or .pdf" in run(None, "--plot", "p.gif", code=2).stderr
    assert "there is no folder" in run(None, "--plot", "nowhere/p.png", code=1).stderr
    assert "choose one with --positive" in run(iris, "--plot", "p.png", code=1).stderr
    monkeypatch.setattr(sys.modules[command.callback.__module__], "find_spec", lambda name: None)
    assert 'Install the extra "plot"' in run(None, "--plot", "p.png", code=1).stderr


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        (None, [], "t.csv: there is no such file."),
        ("", [], "t.csv: the file is empty."),
        ("1,2,a\n1,2\n", [], "t.csv:2: found 2 cells"),
        (
            "a,y\n1,u\n?,v\n",
            [],
            "t.csv:3:1: 'a' is missing; cells are missing in 1 row. Leave these rows out with --drop",
        ),
        ("a,y\n1,u\n2,?\n", [], "Leave such rows out with --drop-missing, or name another column with --target."),
        (OR, ["--target", "aus"], "there is no column 'aus'"),
        (OR, ["--positive", "Yes"], "'Yes' (--positive). Did you mean 'yes'? The labels are 'no' and 'yes'."),
        ("".join(f"0,{k}\n" for k in range(101)), [], "Found 101 different labels in 101 rows"),
        (OR, ["--format", "svmlight"], "t.csv:1:1: expected a number as label"),
    ],
)
def test_errors_are_one_line(run, text, arguments, message):
    result = run(text, *arguments, code=1)
    assert result.stdout == ""
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_folders_and_usage_errors(run, tmp_path):
    (tmp_path / "folder").mkdir()
    assert "folder: is a folder" in run(None, name="folder", code=1).stderr
    run(OR, "--time-limit", "-1", code=2)
    run(OR, "--format", "xls", code=2)


def test_ctrl_c(run, monkeypatch):
    def interrupt(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("novikoff.data.whole_table.read_whole_table", interrupt)
    assert run(OR, code=130).stderr == "Stopped. No file was written.\n"


def test_cells_cannot_control_the_terminal(run):
    output = run("name,y\n\x1b[31mred,[bold]a[/bold]\nblue,b\n").stdout
    assert "\x1b" not in output
    assert "[bold]a[/bold]" in output


def test_positive_may_be_written_as_another_number(run):
    assert "(1 against the rest)" in run("0,0\n1,1\n2,2\n", "--positive", "1.0").stdout


def test_help_imports_nothing_large():
    code = "from novikoff.cli import main\ntry: main(['certify', '--help'])\nexcept SystemExit: pass\n"
    code += "import sys; print([name for name in ('numpy', 'scipy', 'numba', 'rich') if name in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "[]"
    assert "Examples:" in shown
    assert "certify" in CliRunner().invoke(main, ["--help"]).output


def test_long_rules_are_shortened(run):
    text = "".join(f"{','.join(str(k * j) for j in range(1, 14))},{k > 0}\n" for k in (-2, -1, 1, 2))
    output = prose(run(text))
    assert output.count(" x column ") == 10
    assert "and 3 smaller ones (--json has them all)" in output


def test_progress_on_a_terminal(tmp_path):
    pty = pytest.importorskip("pty")
    (tmp_path / "t.csv").write_text(XOR)
    screen, terminal = pty.openpty()
    process = [sys.executable, "-m", "novikoff", "certify", str(tmp_path / "t.csv"), "--json"]
    done = subprocess.run(process, stdout=subprocess.PIPE, stderr=terminal, text=True, check=True)
    shown = ""
    while select.select([screen], [], [], 0)[0]:  # a terminal gives a few kilobytes at a time
        shown += os.read(screen, 100_000).decode(errors="replace")
    os.close(screen)
    os.close(terminal)
    assert "Looking for the fewest errors, 10 s or until Ctrl-C" in shown
    assert json.loads(done.stdout)["verdict"] == "inseparable"


def test_both_margins_are_named(run):
    """Two walls at a distance of 2, far from 0."""
    table = "1000,0,a\n1000,1,a\n1002,0,b\n1002,1,b\n"
    output = prose(run(table))
    assert "geometric 1 as a support vector machine has it, its bias free" in output
    assert "Novikoff's: for weights of length 1, with the intercept as one more weight" in output
    assert json.loads(run(table, "--json").stdout)["geometric_margin"]["margin_upper"] == pytest.approx(1.0)
    assert "geometric" not in prose(run("1,-1,a\n2,2,b\n3,9,b\n", "--no-intercept"))


def test_no_verdict_in_time(run):
    output = run("1,0,a\n2,1,b\n3,5,a\n", "--verdict-limit", "0", code=1).output
    assert "Undecided after 0 s: b against a, 3 rows." in output

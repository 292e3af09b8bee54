"""novikoff select and novikoff compare."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from novikoff.cli import main
from novikoff.streaming.model import StreamModel


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    assert result.exit_code == code, result.output
    return result


def table(path, n, seed, *, noise=0.1):
    """Two numbers and a word; the label is a linear function of the numbers, with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    label = X[:, 0] + 0.5 * X[:, 1] + noise * rng.normal(size=n) > 0
    words = rng.choice(["red", "green"], size=n)
    lines = [
        f"{a:.4f},{b:.4f},{word},{'yes' if own else 'no'}" for (a, b), word, own in zip(X, words, label, strict=True)
    ]
    path.write_text("\n".join(["a,b,colour,buys", *lines]) + "\n")
    return path


@pytest.fixture
def train(tmp_path):
    return table(tmp_path / "train.csv", 400, 0)


@pytest.fixture
def test(tmp_path):
    return table(tmp_path / "test.csv", 200, 1)


GRID = ["--grid", "rule=perceptron,passive-aggressive-I", "--grid", "hypothesis=last,averaged", "--grid", "passes=1,3"]


def test_all_candidates_are_tried_and_the_winner_is_tested(tmp_path, train, test):
    best = tmp_path / "best.nk"
    found = json.loads(run("select", train, *GRID, "--test", test, "-o", best, "--json").stdout)
    assert len(found["candidates"]) == 8
    assert found["rows"] == 400
    assert found["test_rows"] == 200
    errors = [each["validation_error"] for each in found["candidates"]]
    assert errors == sorted(errors)
    assert errors[0] == found["validation_error"]
    assert all(each["trouble"] == "" for each in found["candidates"])
    tested = json.loads(run("test", best, test, "--json").stdout)
    assert tested["error_rate"] == found["test_error"]


def test_auto_is_tried_with_its_one_hypothesis(tmp_path, train):
    to = ["-o", tmp_path / "best.nk"]
    grid = ["--grid", "rule=arow,auto", "--grid", "hypothesis=averaged,last", "--grid", "passes=1"]
    found = json.loads(run("select", train, *grid, *to, "--json").stdout)
    tried = sorted((each["rule"], each["hypothesis"]) for each in found["candidates"])
    assert tried == [("arow", "averaged"), ("arow", "last"), ("auto", "last")]
    said = run("select", train, "--grid", "rule=auto", "--grid", "hypothesis=averaged", *to, code=1).stderr
    assert "'auto' has no hypothesis 'averaged'" in said


def test_the_winner_equals_learn_on_all_rows(tmp_path, train):
    best, learned = tmp_path / "best.nk", tmp_path / "learned.nk"
    found = json.loads(run("select", train, *GRID, "-o", best, "--json").stdout)["best"]
    run("learn", train, *(word for name, value in found.items() for word in (f"--{name}", value)), "-o", learned)
    assert numbers_of(best) == numbers_of(learned)
    assert run("inspect", best, "--json").stdout == run("inspect", learned, "--json").stdout


def numbers_of(path):
    """All arrays of a model file. The header, before them, also says in which order `learn` can be resumed."""
    content = path.read_bytes()
    return content[8 + int.from_bytes(content[:8], "little") :]


@pytest.mark.parametrize("how", [["--validation", "0.3"], ["--cv", "4"]])
def test_the_result_does_not_depend_on_the_number_of_jobs(tmp_path, train, how):
    def outcome(jobs):
        found = json.loads(run("select", train, *GRID, *how, "--jobs", jobs, "-o", tmp_path / "m.nk", "--json").stdout)
        for each in found["candidates"]:
            del each["seconds"]
        return found, (tmp_path / "m.nk").read_bytes()

    assert outcome(1) == outcome(2)


def test_select_prints_a_table(tmp_path, train, test):
    said = run("select", train, "--grid", "passes=1,2", "--test", test, "-o", tmp_path / "m.nk").stdout
    assert "2 candidates, tried on 80 rows held out" in said
    assert "← best" in said
    assert "learned again from all 400 rows" in said
    assert "Test:" in said


def test_unknown_labels_of_test_rows_are_reported(tmp_path, train):
    other = tmp_path / "other.csv"
    other.write_text("a,b,colour,buys\n1,2,red,maybe\n1,1,red,yes\n")
    said = run("select", train, "--grid", "passes=1", "--test", other, "-o", tmp_path / "m.nk").stderr
    assert "labels that the others do not: 'maybe'" in said
    assert "'maybe'" in run("compare", train, "--test", other).stderr


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ("pases=1", "a name of rule, hypothesis, passes"),
        ("passes=0", "not in the range"),
        ("passes=", "expected NAME=VALUE"),
        ("rule=novikoff", "is not one of"),
        ("ngrams=9-1", "no range from 1 to 8"),
    ],
)
def test_malformed_grids_are_usage_errors(tmp_path, train, grid, message):
    assert message in run("select", train, "--grid", grid, "-o", tmp_path / "m.nk", code=2).output
    assert not (tmp_path / "m.nk").exists()


def test_too_few_rows_or_labels_are_an_error(tmp_path):
    said = run("select", "-", "-o", tmp_path / "m.nk", "--cv", 5, stdin="a,y\n1,p\n2,q\n", code=1).output
    assert "too few to hold some of them out 5 times" in said
    said = run("select", "-", "-o", tmp_path / "m.nk", stdin="a,y\n1,p\n2,p\n", code=1).output
    assert "every row has the label 'p'" in said
    assert not (tmp_path / "m.nk").exists()


@pytest.mark.parametrize("command", ["select", "compare"])
def test_a_target_with_a_label_per_row_is_refused(tmp_path, command):
    path = tmp_path / "mail.csv"
    path.write_text("kind,mail\n" + "".join(f"ham,see you {k}\nspam,win {k}\n" for k in range(200)))
    output = ["-o", tmp_path / "m.nk"] if command == "select" else []
    said = run(command, path, "--target", "mail", *output, code=1).output
    assert "nearly every row has a label of its own" in said
    assert "--target names another" in said


def test_an_output_that_is_read_is_refused(tmp_path, train, test):
    before = test.read_bytes()
    run("select", train, "--test", test, "-o", test, code=2)
    assert test.read_bytes() == before


def test_compare_counts_errors_of_all_methods(train, test):
    found = json.loads(run("compare", train, "--test", test, "--json").stdout)
    by_name = {each["name"]: each for each in found}
    assert {each["rows"] for each in found} == {200}
    assert {"perceptron", "naive Bayes", "logistic regression", "linear support vector machine"} <= set(by_name)
    labels = [line.rsplit(",", 1)[1] for line in test.read_text().splitlines()[1:]]
    commonest = max(set(labels), key=[line.rsplit(",", 1)[1] for line in train.read_text().splitlines()[1:]].count)
    assert by_name["always the commonest label"]["errors"] == sum(label != commonest for label in labels)
    assert by_name["hinge, by sgd"]["errors"] <= 20  # of 200, with a tenth of noise
    assert "Learned from 400 rows, tried on 200" in run("compare", train, "--test", test).stdout


def test_compare_finds_the_target_of_test_files_by_name(tmp_path, train, test):
    """The last column of the test file need not be the target."""
    turned = tmp_path / "turned.csv"
    turned.write_text("".join(",".join(reversed(line.split(","))) + "\n" for line in test.read_text().splitlines()))
    found, same = (json.loads(run("compare", train, "--test", each, "--json").stdout) for each in (turned, test))
    assert [each["errors"] for each in found] == [each["errors"] for each in same]


def test_compare_holds_out_sparse_rows(tmp_path):
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(300):
        x = rng.normal(size=4).round(3)
        lines.append(f"{1 if x[0] + x[1] > 0 else -1} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)))
    path = tmp_path / "t.svm"
    path.write_text("\n".join(lines) + "\n")
    found = json.loads(run("compare", path, "--json", "--validation", "0.25").stdout)
    assert {each["rows"] for each in found} == {75}
    assert next(each for each in found if each["name"] == "naive Bayes")["by"] == "BernoulliNB"


def test_test_files_are_read_before_candidates_are_tried(tmp_path, train):
    said = run("select", train, "--test", tmp_path / "none.csv", "-o", tmp_path / "m.nk", code=1).output
    assert "there is no such file" in said
    (tmp_path / "other.csv").write_text("other,y\n1,p\n")
    said = run("select", train, "--test", tmp_path / "other.csv", "-o", tmp_path / "m.nk", code=1).output
    assert "other.csv" in said
    said = run("select", "-", "--test", "-", "-o", tmp_path / "m.nk", stdin="a,y\n1,p\n2,q\n", code=2).output
    assert "A pipe can be read once" in said
    assert not (tmp_path / "m.nk").exists()


def test_test_rows_may_come_from_a_pipe(tmp_path, train, test):
    given = ["select", train, "--grid", "passes=1", "--json"]
    from_file = run(*given, "--test", test, "-o", tmp_path / "m.nk").stdout
    piped = run(*given, "--test", "-", "-o", tmp_path / "p.nk", stdin=test.read_text()).stdout
    assert json.loads(piped)["test_error"] == json.loads(from_file)["test_error"]
    assert json.loads(piped)["test_rows"] == json.loads(from_file)["test_rows"]


@pytest.mark.parametrize("passes", [1, 3])
def test_the_winner_has_learned_in_the_order_of_novikoff_learn(tmp_path, train, passes):
    """A file sorted by label is shuffled, and so are later passes."""
    header, *lines = train.read_text().splitlines()
    path = tmp_path / "sorted.csv"
    path.write_text("\n".join([header, *sorted(lines, key=lambda line: line[-2:])]) + "\n")
    run("select", path, "--grid", f"passes={passes}", "-o", tmp_path / "best.nk")
    run("learn", path, "--passes", passes, "-o", tmp_path / "m.nk")
    best, learned = (StreamModel.load(tmp_path / name).model.state.raw for name in ("best.nk", "m.nk"))
    np.testing.assert_array_equal(best.coef, learned.coef)
    assert best.bias == learned.bias


def test_compare_takes_floats_as_labels(tmp_path):
    (tmp_path / "t.csv").write_text("x,y\n" + "".join(f"{k},{0.5 + (k > 20)}\n" for k in range(40)))
    found = json.loads(run("compare", tmp_path / "t.csv", "--json").stdout)
    assert {each["rows"] for each in found} == {8}


def test_columns_without_names_must_have_the_known_number(tmp_path):
    (tmp_path / "t.csv").write_text("".join(f"{k},{k % 3},{'ab'[k % 2]}\n" for k in range(30)))
    run("learn", tmp_path / "t.csv", "-o", tmp_path / "m.nk")
    (tmp_path / "wide.csv").write_text("1,2,3,4,5\n6,7,8,9,0\n")
    assert "5 columns without names" in run("predict", tmp_path / "m.nk", tmp_path / "wide.csv", code=1).output
    (tmp_path / "bare.csv").write_text("1,2\n6,7\n")
    assert len(run("predict", tmp_path / "m.nk", tmp_path / "bare.csv").stdout.split()) == 2


def test_test_files_are_read_with_the_columns_of_all_files(tmp_path):
    """A categorical column of the second file has only numbers in the test file."""

    def write(name, n, more):
        lines = [json.dumps({"a": k % 7, "y": "pq"[k % 2], **more(k)}) for k in range(n)]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        return tmp_path / name

    first, second = write("a.jsonl", 60, lambda k: {}), write("b.jsonl", 60, lambda k: {"zip": ["a1", "17"][k % 2]})
    test = write("t.jsonl", 40, lambda k: {"zip": 17})
    said = run("select", first, second, "--target", "y", "--grid", "passes=1", "--test", test, "-o", tmp_path / "m.nk")
    assert "errors on 40 rows" in said.stdout

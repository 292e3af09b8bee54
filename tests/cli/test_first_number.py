"""The first numbers of novikoff learn: what they count, on which rows, and what is said where they mean nothing."""

import re
import shlex
import time

import numpy as np
import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    assert result.exit_code == code, result.output
    return result


def blobs(n, seed=0, distance=1.5):
    """Two overlapping clouds in the plane, sorted by class."""
    rng = np.random.default_rng(seed)
    y = np.sort(rng.integers(2, size=n))
    return rng.normal(size=(n, 2)) + distance * y[:, None], y


def table(path, n=3000, seed=0):
    X, y = blobs(n, seed)
    lines = [f"{a:.6f},{b:.6f},{'yes' if label else 'no'}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(["a,b,y", *lines]) + "\n")
    return path


def count(said, pattern):
    """The errors and rows in a line such as `...: 12 of 300 rows, 4.00%`."""
    match = re.search(pattern + r".*?: ([\d,]+) of ([\d,]+) rows, ([\d.]+)%", said)
    assert match, said
    errors, rows = (int(group.replace(",", "")) for group in match.groups()[:2])
    assert float(match[3]) == pytest.approx(100 * errors / rows, abs=0.005)
    return errors, rows


class TestSortedRows:
    def test_a_sorted_file_gives_an_honest_number_and_a_good_model(self, tmp_path):
        """The clouds overlap: no linear rule errs on less than about 14 % of the rows."""
        path, other = table(tmp_path / "t.csv"), table(tmp_path / "other.csv", seed=1)
        said = run("learn", path, "-o", tmp_path / "m.nk").stderr
        assert "The rows come sorted by label, and are learned in a random order, with seed 0" in said
        assert "--shuffle never" in said
        errors, rows = count(said, "Mistakes while learning")
        assert rows == 3000
        assert errors / rows > 0.12
        test = run("test", tmp_path / "m.nk", other).stdout
        assert float(re.search(r"rows, ([\d.]+)%", test)[1]) < 18

    def test_always_does_not_claim_that_they_are_sorted(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a,y\n" + "1,u\n2,v\n" * 100)
        said = run("learn", path, "-o", tmp_path / "m.nk", "--shuffle", "always").stderr
        assert "The rows are learned in a random order, with seed 0" in said
        assert "sorted" not in said

    def test_without_shuffling_the_number_is_called_meaningless(self, tmp_path):
        path = table(tmp_path / "t.csv")
        said = run("learn", path, "-o", tmp_path / "m.nk", "--shuffle", "never").stderr
        errors, rows = count(said, "Mistakes while learning")
        assert errors / rows < 0.1  # lower than any honest rate
        assert "these rates say nothing about other rows" in said.splitlines()[-2]

    def test_a_sorted_pipe_is_told_at_once(self, tmp_path):
        path = table(tmp_path / "t.csv")
        said = run("learn", "-", "-o", tmp_path / "m.nk", stdin=path.read_text()).stderr.splitlines()
        at = next(k for k, line in enumerate(said) if "the rates below mean nothing" in line)
        assert at < next(k for k, line in enumerate(said) if line.split()[:1] == ["rows"])  # above the table
        assert "these rates say nothing about other rows" in said[-2]

    def test_an_unsorted_pipe_is_not(self, tmp_path):
        lines = table(tmp_path / "t.csv").read_text().splitlines(keepends=True)
        mixed = [lines[0], *np.random.default_rng(0).permutation(lines[1:]).tolist()]
        said = run("learn", "-", "-o", tmp_path / "m.nk", stdin="".join(mixed)).stderr
        assert "mean nothing" not in said
        assert "say nothing" not in said

    @pytest.mark.parametrize("labels", ["uv" * 4, "uvw" * 3])
    def test_long_runs_of_labels_are_given_a_word(self, tmp_path, labels):
        """Sorted files that were joined: a learner errs little by repeating the label before."""
        path = tmp_path / "t.csv"
        path.write_text("a,y\n" + "".join(f"{k * 37 % 101},{label}\n" for label in labels for k in range(200)))
        said = run("learn", path, "-o", tmp_path / "m.nk").stderr
        assert f"The labels came in {len(labels)} runs; in a random order there would be about" in said
        assert "--shuffle always" in said
        said = run("learn", path, "-o", tmp_path / "m.nk", "--shuffle", "always").stderr
        assert "The labels came in" not in said

    def test_a_stream_whose_labels_cluster_is_not_shuffled(self, tmp_path):
        """Three rows of a label on average, then another."""
        path, rng = tmp_path / "t.csv", np.random.default_rng(0)
        labels = np.cumsum(rng.random(2000) < 1 / 3) % 2
        path.write_text("a,y\n" + "".join(f"{k * 37 % 101},{'uv'[label]}\n" for k, label in enumerate(labels.tolist())))
        said = run("learn", path, "-o", tmp_path / "m.nk").stderr
        assert "random order" not in said

    def test_later_passes_are_said_to_be_shuffled(self, tmp_path):
        lines = table(tmp_path / "t.csv", 300).read_text().splitlines(keepends=True)
        (tmp_path / "t.csv").write_text(lines[0] + "".join(np.random.default_rng(0).permutation(lines[1:]).tolist()))
        said = run("learn", tmp_path / "t.csv", "--passes", 3, "-o", tmp_path / "m.nk").stderr
        assert "Passes after the first are learned in a random order" in said
        assert count(said, "Mistakes while learning")[1] == 300  # those of the first pass


class TestNumbers:
    def test_mistakes_are_those_of_the_ledger(self, tmp_path):
        said = run("learn", table(tmp_path / "t.csv"), "-o", tmp_path / "m.nk").stderr
        ledger = nk.load(tmp_path / "m.nk").ledger
        assert count(said, "Mistakes while learning") == (ledger.mistakes, ledger.examples)

    @pytest.mark.parametrize("hypothesis", ["averaged", "last", "pocket"])
    def test_the_last_tenth_is_predicted_by_what_answers(self, tmp_path, hypothesis):
        said = run("learn", table(tmp_path / "t.csv"), "-o", tmp_path / "m.nk", "--hypothesis", hypothesis).stderr
        errors, rows = count(said, f"Mistakes of the {hypothesis} weights, which answer")
        assert 300 <= rows < 450
        assert 0.08 < errors / rows < 0.4
        if hypothesis == "averaged":  # the average errs less often than the weights that move
            assert errors / rows < count(said, "Mistakes while learning")[0] / 3000

    def test_texts_too(self, tmp_path):
        """All rows are one block, whose n-grams are counted ahead."""
        rng = np.random.default_rng(0)
        words = np.array(["call", "now", "see", "you", "free", "lunch"])
        rows = [(k, " ".join(words[rng.integers(k, k + 5, 4)])) for k in rng.integers(2, size=2000).tolist()]
        (tmp_path / "t.tsv").write_text("".join(f"{'spam' if k else 'ham'}\t{text}\n" for k, text in rows))
        said = run("learn", tmp_path / "t.tsv", "-o", tmp_path / "m.nk", "--hypothesis", "averaged").stderr
        errors, rows = count(said, "Mistakes of the averaged weights, which answer")
        assert 200 <= rows < 300
        assert 0 < errors / rows < 0.4  # by the four words both labels share, 2 of 5 texts could be of either

    def test_votes_are_not_counted_while_learning(self, tmp_path):
        said = run("learn", table(tmp_path / "t.csv", 300), "-o", tmp_path / "m.nk", "--hypothesis", "voted").stderr
        assert "which answer" not in said

    def test_held_out_rows_and_test_files(self, tmp_path):
        path, other = table(tmp_path / "t.csv"), table(tmp_path / "other.csv", 500, seed=1)
        said = run("learn", path, "-o", tmp_path / "m.nk", "--holdout", 0.2, "--test", other).stderr
        errors, rows = count(said, "Held-out rows, never learned from")
        assert 500 < rows < 700
        assert count(said, "Mistakes while learning")[1] == 3000 - rows
        assert 0.08 < errors / rows < 0.2
        test = run("test", tmp_path / "m.nk", other).stdout
        assert test.startswith(f"{count(said, 'other.csv, never learned from')[0]} errors on 500 rows")

    def test_a_pipe_cannot_hold_out_rows(self, tmp_path):
        assert "--holdout need files" in run("learn", "-", "-o", tmp_path / "m.nk", "--holdout", 0.1, code=2).output


class TestLabelsAndColumns:
    def test_a_target_with_a_label_per_row_is_refused_early(self, tmp_path):
        """As a file of (label, path, text), whose last column is the text."""
        path = tmp_path / "mail.tsv"
        text = "lorem ipsum dolor sit amet " * 40
        path.write_text("".join(f"spam\tmail/{k}\t{k} {text}\n" for k in range(20_000)))  # 21 MB
        run("learn", path, "-o", tmp_path / "m.nk", "--no-header", "--target", 3, code=1)  # compiles
        began = time.perf_counter()
        result = run("learn", path, "-o", tmp_path / "m.nk", "--no-header", "--target", 3, code=1)
        assert "nearly every row has a label of its own" in result.stderr
        assert "--target names another" in result.stderr
        assert not (tmp_path / "m.nk").exists()
        assert time.perf_counter() - began < 30  # generous: it takes a fraction of a second, not minutes

    def test_another_target_is_proposed(self, tmp_path):
        """A mail file of label, path and text without a header."""
        path, model = tmp_path / "mail.csv", tmp_path / "m.nk"
        path.write_text("".join(f"{'ham' if k % 3 else 'spam'},m/{k}.txt,lunch {k}\n" for k in range(1000)))
        said = run("learn", path, "-o", model, code=1).stderr
        assert "--target names another, such as --target 'column 1'." in said
        run("learn", path, "-o", model, "--target", "column 1")
        assert list(nk.load(model).labels) == ["ham", "spam"]

    def test_distinct_numbers_may_be_what_is_to_be_predicted(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a,price\n" + "".join(f"{k % 7},{k * 37 % 1009 + 0.5}\n" for k in range(1000)))
        assert "--loss squared predicts numbers" in run("learn", path, "-o", tmp_path / "m.nk", code=1).stderr
        path.write_text("a,name\n" + "".join(f"{k % 7},n{k}\n" for k in range(1000)))
        assert "--loss squared" not in run("learn", path, "-o", tmp_path / "m.nk", code=1).stderr

    def test_in_python_too(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a,y\n" + "".join(f"1,label {k}\n" for k in range(300)))
        with pytest.raises(nk.errors.DataError, match="300 different labels in the first 300 rows"):
            nk.learn(path)

    def test_many_classes_are_not_refused(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a,y\n" + "".join(f"{k % 100},label {k % 100}\n" for k in range(300)))
        assert len(nk.learn(path).labels) == 100

    def test_one_label_only(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("a,y\n" + "1,same\n2,same\n" * 20)
        assert "Every row has the label 'same'" in run("learn", path, "-o", tmp_path / "m.nk").stderr

    def test_columns_that_number_or_name_the_rows(self, tmp_path):
        path = tmp_path / "t.csv"
        rows = [f"{k + 1},user{k}x,{k % 7},{'yes' if k % 3 else 'no'}" for k in range(400)]
        path.write_text("\n".join(["id,user,day,y", *rows]) + "\n")
        said = run("learn", path, "-o", tmp_path / "m.nk").stderr
        assert 'Column "id" numbers the rows: leave it out with --drop id' in said
        assert 'Column "user" has a new word in nearly every row' in said
        assert '"day"' not in said
        said = run("learn", path, "-o", tmp_path / "m.nk", "--drop", "id", "--drop", "user").stderr
        assert "Column" not in said

    @pytest.mark.parametrize("name", ["id", "ID", "customer_id", "Patient ID", "userId", "index"])
    def test_ids_that_do_not_count_the_rows(self, tmp_path, name):
        path = tmp_path / "t.csv"
        rows = [f"{1_000_025 + 37 * k},{k % 7},{'yes' if k % 3 else 'no'}" for k in range(400)]
        path.write_text("\n".join([f"{name},day,y", *rows]) + "\n")
        said = run("learn", path, "-o", tmp_path / "m.nk").stderr
        assert f'Column "{name}" has a number of its own for nearly every row' in said
        assert f"--drop {shlex.quote(name)}" in said

    @pytest.mark.parametrize("name", ["size", "paid", "humid", "income"])
    def test_other_columns_of_distinct_numbers_are_not_ids(self, tmp_path, name):
        path = tmp_path / "t.csv"
        rows = [f"{1_000_025 + 37 * k},{k % 7},{'yes' if k % 3 else 'no'}" for k in range(400)]
        path.write_text("\n".join([f"{name},day,y", *rows]) + "\n")
        assert "Column" not in run("learn", path, "-o", tmp_path / "m.nk").stderr

    def test_a_test_file_is_looked_for_before_learning(self, tmp_path):
        said = run(
            "learn", table(tmp_path / "t.csv", 300), "-o", tmp_path / "m.nk", "--test", "none.csv", code=2
        ).output
        assert "'none.csv' does not exist" in " ".join(said.split())
        assert not (tmp_path / "m.nk").exists()


class TestOldModelsAreKept:
    """A run that fails or stops early leaves a model that existed as it was."""

    @pytest.fixture
    def model(self, tmp_path):
        run("learn", table(tmp_path / "t.csv"), "-o", tmp_path / "good.nk")
        return tmp_path / "good.nk"

    def test_bad_data_writes_beside_it(self, tmp_path, model):
        before = model.read_bytes()
        bad = tmp_path / "bad.csv"
        lines = table(bad, 100_000, seed=2).read_text().splitlines(keepends=True)
        mixed = np.random.default_rng(0).permutation(lines[1:]).tolist()  # learned as it is read
        bad.write_text("".join([lines[0], *mixed[:60_000], "oops\n", *mixed[60_000:]]))
        result = run("learn", bad, "-o", model, code=1)
        assert model.read_bytes() == before
        partial = tmp_path / "good.nk.partial"
        assert f"{partial} has what was learned so far. {model} is as it was. To continue then:" in result.stderr
        assert 0 < nk.load(partial).ledger.examples < 100_000
        bad.write_text("".join([lines[0], *mixed]))
        command = result.stderr.splitlines()[-1].split()[2:]
        run("learn", *command)
        assert nk.load(model).ledger.examples == 100_000
        assert not partial.exists()
        run("learn", bad, "-o", tmp_path / "straight.nk")
        assert model.read_bytes() == (tmp_path / "straight.nk").read_bytes()

    def test_a_complete_run_replaces_it(self, tmp_path, model):
        before = model.read_bytes()
        run("learn", table(tmp_path / "more.csv", seed=3), "--from", model, "-o", model)
        assert model.read_bytes() != before
        assert nk.load(model).ledger.examples == 6000
        assert not (tmp_path / "good.nk.partial").exists()


class TestNumbersAsTargets:
    @staticmethod
    def houses(path, *, is_sorted):
        rng = np.random.default_rng(0)
        area = rng.uniform(30, 200, size=2000)
        price = 1000 + 20 * area + rng.normal(scale=100, size=2000)
        order = np.argsort(price) if is_sorted else np.arange(2000)
        rows = [f"{area[i]:.3f},{price[i]:.2f}" for i in order.tolist()]
        path.write_text("\n".join(["area,price", *rows]) + "\n")
        return path

    def test_a_table_sorted_by_its_target_is_shuffled(self, tmp_path):
        """The noise has a standard deviation of 100: no rule has a smaller RMSE."""
        path = self.houses(tmp_path / "t.csv", is_sorted=True)
        command = ["learn", path, "--target", "price", "--loss", "squared", "-o", tmp_path / "m.nk"]
        said = run(*command, "--holdout", 0.2).stderr
        assert "learned in a random order" in said
        match = re.search(r"Held-out rows, never learned from: RMSE ([\d.]+) on (\d+) rows", said)
        assert 90 < float(match[1]) < 130
        assert 350 < int(match[2]) < 450

    def test_other_tables_keep_their_order(self, tmp_path):
        path = self.houses(tmp_path / "t.csv", is_sorted=False)
        said = run("learn", path, "--target", "price", "--loss", "squared", "-o", tmp_path / "m.nk").stderr
        assert "random order" not in said
        assert nk.load(tmp_path / "m.nk").run_order is None


class TestProbabilities:
    def test_held_out_rows_calibrate_them(self, tmp_path):
        path, other = table(tmp_path / "t.csv"), table(tmp_path / "other.csv", 4000, seed=5)
        run("learn", path, "-o", tmp_path / "m.nk", "--holdout", 0.2, "--rule", "perceptron")
        lines = run("predict", tmp_path / "m.nk", other, "--proba").stdout.splitlines()
        columns = lines[0].split("\t")
        at = next(k for k, name in enumerate(columns) if name.endswith("yes"))
        p = np.array([float(line.split("\t")[at]) for line in lines[1:]])
        y = np.array([line.endswith("yes") for line in other.read_text().splitlines()[1:]])
        for low in (0.1, 0.4, 0.7):  # of rows with a probability near p, about that share has the label
            chosen = (p >= low) & (p < low + 0.2)
            assert abs(p[chosen].mean() - y[chosen].mean()) < 0.12

    def test_without_them_there_are_none(self, tmp_path):
        path = table(tmp_path / "t.csv", 300)
        run("learn", path, "-o", tmp_path / "m.nk")
        assert "--holdout" in run("predict", tmp_path / "m.nk", path, "--proba", code=1).stderr

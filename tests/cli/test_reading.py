"""How commands read tables as people have them: what they print about them, and which options their messages name."""

import json
import random

import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main
from novikoff.streaming.model import StreamModel


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    assert result.exit_code == code, result.output
    return result


def report(*arguments):
    """The lines about columns that `learn` prints before it learns."""
    said = run("learn", *arguments).stderr.splitlines()
    first = next(k for k, line in enumerate(said) if line.split()[:2] == ["rows", "mistakes"])
    return said[:first]


@pytest.fixture
def german(tmp_path):
    """A table with decimal commas; the label depends on the price."""
    rng = random.Random(7)
    lines = ["preis;rate;wann;flag;sorte"]
    for k in range(300):
        price = rng.choice([20, 60]) + rng.random()
        cells = f"{price:.2f}".replace(".", ","), f"{k % 90} %", f"{1 + k % 28}.2.2024", ["true", "false"][k % 2]
        lines.append(";".join([*cells, "teuer" if price > 50 else "billig"]))
    path = tmp_path / "de.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_numbers_in_disguise_are_printed_and_learned(german, tmp_path):
    said = report(german, "-o", tmp_path / "m.nk")
    assert said[0] == f"{german}: 4 numbers (preis, rate, wann, flag); target sorte (the last column)"
    assert said[1].startswith("  preis: numbers with a decimal comma: ")
    assert said[2] == "  rate: percentages: 0 % is 0"
    assert (
        said[3] == "  wann: dates, as seconds since 1970: 1.2.2024 is 2024-02-01 (--dates word or drop to change that)"
    )
    assert said[4] == "  flag: true and false, as 1 and 0"
    assert json.loads(run("test", tmp_path / "m.nk", german, "--json").stdout)["errors"] == 0


def test_an_ambiguous_number_names_the_option(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a;b;sort\n51,257;x;u\n7;y;v\n")
    said = report(path, "-o", tmp_path / "m.nk")
    assert said[1] == "  a: numbers with a decimal comma: 51,257 is 51.257 (otherwise say --decimal .)"
    said = report(path, "-o", tmp_path / "m.nk", "--decimal", ".")
    assert said[1] == "  a: numbers with digits in groups: 51,257 is 51257 (otherwise say --decimal ,)"


def test_ambiguous_dates_name_the_option(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("when,sort\n1/2/2024,u\n3/4/2024,v\n")
    said = report(path, "-o", tmp_path / "m.nk")
    assert said[0] == f"{path}: 1 word (when); target sort (the last column)"
    assert "--dates day-first or month-first" in said[1]
    assert "1 number (when)" in report(path, "-o", tmp_path / "m.nk", "--dates", "day-first")[0]


@pytest.mark.parametrize("text", ["a|y\n1|u\n2|v\n", "a\ty\n1\tu\n2\tv\n"])
def test_the_delimiter_can_be_given(tmp_path, text):
    path = tmp_path / "t.csv"
    path.write_text(text)
    run("learn", path, "--sep", "tab" if "\t" in text else "|", "-o", tmp_path / "m.nk")
    assert "found 1 column" in run("learn", path, "--sep", ";", "-o", tmp_path / "m.nk", code=1).output
    assert "expected one character" in run("learn", path, "--sep", ";;", "-o", tmp_path / "m.nk", code=2).output


def test_a_model_remembers_how_numbers_are_written(german, tmp_path):
    """A file whose own rows are ambiguous, or plain, is read as those that it was learned from."""
    run("learn", german, "-o", tmp_path / "m.nk")
    model = StreamModel.load(tmp_path / "m.nk")
    assert model.form.notations == {
        "preis": "decimal-comma",
        "rate": "decimal-comma",
        "wann": "day-first",
        "flag": "boolean",
    }
    few = tmp_path / "few.csv"
    few.write_text('preis,rate,wann,flag\n"20,125",1 %,1.2.2024,true\n"60,125",1 %,2.2.2024,true\n')
    assert run("predict", tmp_path / "m.nk", few).stdout == "billig\nteuer\n"
    few.write_text("preis,rate,wann,flag,sorte\n60.5,1,2.2.2024,true,teuer\n")
    said = run("test", tmp_path / "m.nk", few, code=1).output
    assert 'expected a number in column "preis", found "60.5"' in said
    assert "--decimal , or ." in said
    assert json.loads(run("test", tmp_path / "m.nk", few, "--decimal", ".", "--json").stdout)["errors"] == 0


class TestTargets:
    @pytest.fixture
    def path(self, tmp_path):
        path = tmp_path / "t.csv"
        path.write_text("Class,a,b\n" + "u,1,7\nv,-1,8\n" * 10)
        return path

    @pytest.mark.parametrize(
        ("arguments", "target"),
        [
            ([], "target Class (by its name)"),
            (["--target", "first"], "target Class"),
            (["--target", "1"], "target Class"),
            (["--target", "-1"], "target b"),
            (["--target", "last"], "target b"),
            (["--target", "-2"], "target a"),
            (["--drop", "1"], "target b (the last column)"),
        ],
    )
    def test_targets(self, path, tmp_path, arguments, target):
        assert report(path, "-o", tmp_path / "m.nk", *arguments)[0].endswith(f"; {target}")

    @pytest.mark.parametrize(
        "name", ["class", "LABEL", "Target", "Y", "ClassName", "Class Name", "class_label", "Labels", "target.variable"]
    )
    @pytest.mark.parametrize("at", [0, 1])
    def test_names_of_targets(self, tmp_path, name, at):
        path = tmp_path / "t.csv"
        cells = [["a", "b"], *(["1", "7"], ["-1", "8"]) * 10]
        labels = [name, *["u", "v"] * 10]
        rows = [[*row[:at], label, *row[at:]] for row, label in zip(cells, labels, strict=True)]
        path.write_text("".join(",".join(row) + "\n" for row in rows))
        assert report(path, "-o", tmp_path / "m.nk")[0].endswith(f"; target {name} (by its name)")

    @pytest.mark.parametrize("name", ["workclass", "Pclass", "class weight", "target price", "first_class", "labelled"])
    def test_names_of_other_columns(self, tmp_path, name):
        path = tmp_path / "t.csv"
        path.write_text(f"a,{name},kind\n" + "1,7,u\n-1,8,v\n" * 10)
        assert report(path, "-o", tmp_path / "m.nk")[0].endswith("; target kind (the last column)")

    @pytest.mark.parametrize("target", ["first", "1", "label"])
    def test_the_label_before_a_text(self, tmp_path, target):
        path = tmp_path / "t.txt"
        path.write_text("".join(f"{'ham' if k % 3 else 'spam'}\tsee you at lunch {k}, then\n" for k in range(30)))
        run("learn", path, "--target", target, "-o", tmp_path / "m.nk")
        assert list(nk.load(tmp_path / "m.nk").labels) == ["ham", "spam"]

    def test_certify_says_why(self, path):
        said = " ".join(run("certify", path).stdout.split())
        assert "The target is 'Class', by its name (name another with --target)." in said


class TestColumnsWithoutNames:
    """Tables without a header, of which a column is dropped: the model knows columns by their numbers."""

    @staticmethod
    def rows(label_at):
        rng = random.Random(5)
        for k in range(200):
            a, b = rng.uniform(0.1, 1) * rng.choice([-1, 1]), rng.random()
            cells = [f"id{k}", f"{a:.3f}", f"{b:.3f}"]
            cells.insert(label_at, "up" if a > 0 else "down")
            yield cells

    @pytest.mark.parametrize(("label_at", "dropped"), [(3, 1), (0, 2), (1, 1), (3, -4)])
    def test_every_command_accepts_the_model(self, tmp_path, label_at, dropped):
        rows = list(self.rows(label_at))
        full, bare, model = tmp_path / "full.csv", tmp_path / "bare.csv", tmp_path / "m.nk"
        full.write_text("".join(",".join(row) + "\n" for row in rows))
        bare.write_text("".join(",".join(row[:label_at] + row[label_at + 1 :]) + "\n" for row in rows))
        options = "--target", label_at + 1, "--drop", dropped
        run("learn", full, *options, "--passes", 3, "-o", model)
        predicted = run("predict", model, full).stdout
        assert run("predict", model, bare).stdout == predicted
        errors = json.loads(run("test", model, full, "--json").stdout)["errors"]
        assert errors == sum(a != row[label_at] for a, row in zip(predicted.split(), rows, strict=True))
        assert errors < 20
        run("learn", full, "--from", model, "-o", tmp_path / "more.nk")
        assert StreamModel.load(tmp_path / "more.nk").ledger.examples == 800
        assert "SEPARABLE" in run("certify", full, *options, "--no-errors").stdout
        best = tmp_path / "best.nk"
        run("select", full, *options, "--grid", "passes=1", "--test", full, "-o", best)
        assert run("predict", best, bare).stdout == run("predict", best, full).stdout

    def test_a_column_that_was_dropped_may_hold_anything(self, tmp_path):
        """Among its first rows it looks like numbers, and the model does not read it."""
        path, model = tmp_path / "t.csv", tmp_path / "m.nk"
        path.write_text("".join(f"{k},{k % 2},{'ab'[k % 2]}\n" for k in range(100)))
        run("learn", path, "--drop", 1, "-o", model)
        path.write_text(path.read_text() + "A7,1,b\n")
        assert json.loads(run("test", model, path, "--json").stdout)["rows"] == 101

    def test_another_width_is_an_error(self, tmp_path):
        path, model = tmp_path / "t.csv", tmp_path / "m.nk"
        path.write_text("x,1,2,a\ny,2,1,b\n" * 5)
        run("learn", path, "--drop", 1, "--no-header", "-o", model)
        path.write_text("1,2\n2,1\n")
        said = run("predict", model, path, code=1).output
        assert "has 2 columns without names; the model has learned from tables with 4" in said
        assert "--header says" in said


@pytest.mark.parametrize(
    ("text", "arguments", "advice"),
    [
        ("age,b,y\n" + "1,2,u\n" * 20 + "old,2,v\n", [], "--bad-rows skip leaves such rows out; --types age=word"),
        ("my age,b,y\n" + "1,2,u\n" * 20 + "old,2,v\n", [], "--types 'my age=word' reads the column as words"),
        ("a,b,y\n1,2,u\n1,2\n", [], "--bad-rows skip leaves such rows out; --sep CHAR"),
        ("a,b,y\n1,2,u\n1,2,\n", [], "--bad-rows skip leaves such rows out; --target COLUMN"),
        ("1,1,u\n2,2,v\n", ["--header"], "--no-header says that the first line is data"),
        ("a,b,y\n", [], "--no-header says that the first line is data"),
        ("1,2,u\n3,4,v\n", ["--target", "y"], "--header says that the first line names the columns"),
        ("1 1:2\n-1 2:3\n", ["--drop", "a"], "--format csv reads it as a table"),
        ('{"a": 1, "b": 2}\n', [], "--target NAME names it"),
        (
            "".join(f"ham\tsee you at lunch {k}, then\n" for k in range(30)),
            ["--target", "2"],
            "--format tsv reads it as a table",
        ),
        ('{"rows": [{"a": 1, "y": "u"}]}\n', [], "jq -c '.rows[]'"),
        ("# made by a tool\n# in 2024\na,b,y\n1,2,u\n2,1,v\n", [], "Its first line is a comment, with #: remove such"),
        ("sep=;\na;b;y\n1;2;u\n2;1;v\n", [], "a line for Excel that says what separates cells, which is no row"),
        ("@relation t\n@attribute a numeric\n@data\n1\n", [], "this is an ARFF file, of Weka"),
        ("<!DOCTYPE html><html><body>404</body></html>\n", [], "this is a web page, not a table"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n", [], "git lfs pull"),
        ("a,day,y\n" + "1,1,u\n" * 20 + "2,2024-05-01,v\n", [], "--dates day-first or month-first"),
    ],
)
def test_messages_name_the_option_that_helps(tmp_path, text, arguments, advice):
    path = tmp_path / "t.data"
    path.write_text(text)
    assert advice in run("learn", path, *arguments, "-o", tmp_path / "m.nk", code=1).output


def test_a_message_names_only_options_of_its_command(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,y\n" + "1,u\n" * 20 + "old,v\n")
    said = run("certify", path, code=1).stderr
    assert 'found "old"' in said
    assert "--bad-rows" not in said


def test_other_encodings(tmp_path):
    path, model = tmp_path / "t.csv", tmp_path / "m.nk"
    text = "stadt,y\n" + "Köln,u\nBonn,v\n" * 5
    path.write_bytes(text.encode("utf-16"))
    run("learn", path, "-o", model)
    assert StreamModel.load(model).names == ["stadt=Köln", "stadt=Bonn"]
    path.write_bytes(text.encode("latin-1"))
    said = run("learn", path, "-o", model, code=1).output
    assert "byte 0xf6 is not UTF-8" in said
    assert "--encoding NAME" in said
    run("learn", path, "--encoding", "latin-1", "-o", model)
    assert StreamModel.load(model).names == ["stadt=Köln", "stadt=Bonn"]
    assert run("predict", model, path, "--encoding", "cp1252").stdout == "u\nv\n" * 5


def test_convert_writes_plain_numbers(german, tmp_path):
    said = run("convert", german, tmp_path / "t.csv").stderr
    assert "numbers with a decimal comma" in said
    header, first = (tmp_path / "t.csv").read_text().splitlines()[:2]
    price = german.read_text().splitlines()[1].split(";")[0].replace(",", ".")
    assert header == "preis,rate,wann,flag,sorte"
    assert first.split(",")[:4] == [f"{float(price):g}", "0", "1706745600", "1"]  # date -u -d 2024-02-01 +%s

"""read_whole_table: files as people have them, and errors with a location for broken ones."""

import bz2
import gzip
import pickle
import tempfile
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from novikoff.data import whole_table
from novikoff.data.formats import sniffing
from novikoff.data.whole_table import TableError, TableRemedy, read_whole_table
from novikoff.errors import DataError


def read(text, name="t.csv", **options):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        try:
            return read_whole_table(str(path), **options)
        except TableError as error:
            raise TableError(error.problem.replace(f"{folder}/", ""), error.remedy) from error
        except DataError as error:
            raise DataError(str(error).replace(f"{folder}/", "")) from error


IRIS = "5.1,3.5,setosa\n4.9,3.0,setosa\n6.1,2.8,virginica\n"
VOTES = "party,water,budget\nrep,n,y\nrep,y,n\ndem,n,n\n"


@pytest.mark.parametrize(
    ("text", "name", "names", "X", "y", "lines"),
    [
        (
            IRIS,
            "iris.csv",
            ["column 1", "column 2"],
            [[5.1, 3.5], [4.9, 3.0], [6.1, 2.8]],
            ["setosa", "setosa", "virginica"],
            [1, 2, 3],
        ),
        ("a,b,y\n1,2,no\n\n3,4,yes\n", "t.csv", ["a", "b"], [[1, 2], [3, 4]], ["no", "yes"], [2, 4]),
        ("a\tb\n1\t0\n2\t1\n", "t.tsv", ["a"], [[1], [2]], [0, 1], [2, 3]),
        ("a;b;c\n1;2;0\n3;4;1\n", "t.csv", ["a", "b"], [[1, 2], [3, 4]], [0, 1], [2, 3]),
        ("1|2|x\n3|4|y\n", "t.txt", ["column 1", "column 2"], [[1, 2], [3, 4]], ["x", "y"], [1, 2]),
        ("  1   2  0\n-3  .5  1  \n", "t.data", ["column 1", "column 2"], [[1, 2], [-3, 0.5]], [0, 1], [1, 2]),
        ("1, 2,  x\r\n3,4 , y\r\n", "t.csv", ["column 1", "column 2"], [[1, 2], [3, 4]], ["x", "y"], [1, 2]),
        ('"a, b",c,y\n1,"2",x\n"3",4,"y ""z"""\n', "t.csv", ["a, b", "c"], [[1, 2], [3, 4]], ["x", 'y "z"'], [2, 3]),
        ("1,'2','u,v'\n3,'4','w'\n", "t.csv", ["column 1", "column 2"], [[1, 2], [3, 4]], ["u,v", "w"], [1, 2]),
        ('1,"two\nlines"\n2,x\n', "t.csv", ["column 1"], [[1], [2]], ["two\nlines", "x"], [1, 3]),
        ("\ufeffa,y\n1,0\n2,1\n", "t.csv", ["a"], [[1], [2]], [0, 1], [2, 3]),
        ("a,y\n1e3,+1\n-2E-3,-1\n", "t.csv", ["a"], [[1000], [-0.002]], [1, -1], [2, 3]),
    ],
)
def test_csv(text, name, names, X, y, lines):
    table = read(text, name)
    assert table.feature_names == names
    assert table.X.tolist() == X
    assert table.y.tolist() == y
    assert table.lines.tolist() == lines
    assert table.row_numbers.tolist() == list(range(len(y)))
    assert table.format == "csv"


@pytest.mark.parametrize(
    ("text", "has_header"),
    [
        (IRIS, False),  # words in the first line only where words are below
        ("x,y,class\n" + IRIS, True),
        (VOTES, True),  # words only, none of which recurs
        (VOTES.partition("\n")[2], False),
        ("?,1,a\n2,1,b\n", False),  # a missing cell is no name
        ("age,?\n1,a\n2,b\n", True),
        ("1,2\n3,4\n", False),
    ],
)
def test_header_is_sniffed(text, has_header):
    rows = [line.split(",") for line in text.splitlines()]
    assert sniffing.begins_with_header(rows) == has_header


def test_header_can_be_given():
    assert read("2019,2020\n1,0\n2,1\n", header=True).feature_names == ["2019"]
    table = read("p,a\nq,b\n", header=False)
    assert table.feature_names == ["column 1=p", "column 1=q"]
    assert table.lines.tolist() == [1, 2]


def test_words_are_one_hot_encoded():
    table = read("sky,wind,sail\nsun,3,yes\nrain,9,no\nfog,1,no\n")
    assert table.feature_names == ["sky=fog", "sky=rain", "sky=sun", "wind"]
    assert table.X.tolist() == [[0, 0, 1, 3], [0, 1, 0, 9], [1, 0, 0, 1]]
    assert [(column.name, column.first) for column in table.columns] == [("sky", 0), ("wind", 3)]
    assert table.notes == ("1 column of words became 3 columns of 0 and 1, such as 'sky=fog'.",)


def test_large_tables_of_words_are_sparse(monkeypatch):
    text = "word,number,y\n" + "".join(f"w{k % 40},{k % 3},{k % 2}\n" for k in range(100))
    dense = read(text)
    monkeypatch.setattr(whole_table, "_MOST_DENSE", 0)
    sparse = read(text)
    assert sp.issparse(sparse.X)
    assert isinstance(dense.X, np.ndarray)
    assert sparse.X.toarray().tolist() == dense.X.tolist()


def test_target_and_drop():
    assert read(VOTES).target == "budget"
    for target in ("party", "1"):
        table = read(VOTES, target=target, drop=["2"])
        assert table.target == "party"
        assert table.y.tolist() == ["rep", "rep", "dem"]
        assert table.feature_names == ["budget=n", "budget=y"]
    assert read("2,1\n5,6\n7,8\nx,y\n".replace("x,y", "9,9"), header=True, target="1").target == "1"  # names come first


@pytest.mark.parametrize("cell", ["", "?", "NA", "n/a", "NaN", "null"])
def test_missing_cells(cell):
    text = f"a,b,y\n1,2,u\n1,{cell},u\n{cell},4,v\n5,6,v\n"
    with pytest.raises(DataError, match=r"t.csv:3:2: 'b' is missing.*2 rows.*drop_missing=True"):
        read(text)
    table = read(text, drop_missing=True)
    assert table.X.tolist() == [[1, 2], [5, 6]]
    assert table.lines.tolist() == [2, 5]
    assert table.row_numbers.tolist() == [0, 3]  # as they are counted in the file
    assert table.notes == ("2 rows with missing cells left out.",)
    assert read(text, drop=["a"], drop_missing=True).row_numbers.tolist() == [0, 2, 3]


def test_empty_columns_are_left_out():
    table = read("a,y,\n1,u,\n2,v,\n")  # a delimiter at the end of each line
    assert (table.feature_names, table.target) == (["a"], "y")
    assert read(",a,y\n0,4,u\n1,5,v\n").feature_names == ["a"]  # as pandas writes its index
    table = read("a,b,y\n1,,u\n2,,v\n")
    assert table.feature_names == ["a"]
    assert table.notes == ("Column 'b' is empty and left out.",)


def test_labels_are_integers_floats_or_strings():
    for cells, labels in (
        (["0", "1"], [0, 1]),
        (["1.0", "2.0"], [1, 2]),
        (["1.5", "2"], [1.5, 2.0]),
        (["2", "x"], ["2", "x"]),
        (["False", "True"], ["False", "True"]),
    ):
        assert read(f"7,{cells[0]}\n8,{cells[1]}\n").y.tolist() == labels


SVM = "# comment\n+1 1:0.5 3:-2 # note\n\n-1 qid:4 3:1e-2\n-1\n"


@pytest.mark.parametrize(("name", "options"), [("a.svm", {}), ("a", {}), ("a.csv", {"format": "svmlight"})])
def test_svmlight(name, options):
    table = read(SVM, name, **options)
    assert table.format == "svmlight"
    assert table.X.toarray().tolist() == [[0.5, -2], [0, 0.01], [0, 0]]
    assert table.feature_names == ["feature 1", "feature 3"]
    assert table.y.tolist() == [1, -1, -1]
    assert table.lines.tolist() == [2, 4, 5]
    assert table.target is None


def test_svmlight_indices_may_be_large_or_out_of_order():
    table = read("1 2000000000:1 0:2\n2 5:1\n", "a.svm")
    assert table.feature_names == ["feature 0", "feature 5", "feature 2000000000"]
    assert table.X.toarray().tolist() == [[2, 0, 1], [0, 1, 0]]


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_compressed_files(pack):
    assert read(pack(IRIS.encode()), "iris.csv.gz").X.shape == (3, 2)
    assert read(pack(SVM.encode()), "a.gz").format == "svmlight"


NUMBERS = "".join(f"{k},{k % 2}\n" for k in range(40))


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (b"''", {}, "t.csv: found no rows"),
        ("", {}, "t.csv: the file is empty."),
        (" \n\n", {}, "t.csv: found no rows, only blank lines."),
        ("a,b,y\n", {}, "t.csv: found a header line but no rows"),
        (b"\x89PNG\r\n\x00\x00", {}, "t.csv:1:1: byte 0x89 is not UTF-8"),
        (gzip.compress(NUMBERS.encode(), mtime=0)[:-12], {}, "t.csv: the compressed file is cut short"),
        (bz2.compress(NUMBERS.encode())[:-12], {}, "t.csv: the compressed file is cut short"),
        (b"1,a\n2,caf\xe9\n", {}, "t.csv:2:6: byte 0xe9 is not UTF-8"),
        ("1,2,a\n1,2\n", {}, "t.csv:2: found 2 cells, line 1 has 3."),
        ('1,a\n2,"b\n', {}, "t.csv:2: this row cannot be read as CSV"),
        ("a,y\n" + NUMBERS + "oops,1\n", {}, 't.csv:42:1: expected a number in column "a", found "oops"'),
        ("a,y\n" + NUMBERS + "1_000,1\n", {}, 't.csv:42:1: expected a number in column "a", found "1_000"'),
        ("a,y\n1,0\n-inf,1\n", {}, 't.csv:3:1: "-inf" in column "a" is not a finite number'),
        ("a,y\n1,0\n1e999,1\n", {}, 't.csv:3:1: "1e999" in column "a" is not a finite number'),
        ("a,b,a\n1,2,3\n", {}, "t.csv:1:3: columns 1 and 3 are both called 'a'"),
        ("a=b,a,y\n1,b,2\n2,c,3\n", {}, "t.csv: two columns would both be called 'a=b'"),
        (VOTES, {"target": "partei"}, "t.csv: there is no column 'partei' (target). Did you mean 'party'?"),
        (VOTES, {"target": "xyz"}, "The columns are 'party', 'water', 'budget'."),
        (VOTES, {"target": "4"}, "there is no column '4'"),
        (VOTES, {"target": "0"}, "there is no column '0'"),
        (VOTES, {"drop": ["xyz"]}, "there is no column 'xyz' (drop)"),
        (VOTES, {"drop": ["1", "2", "3"]}, "none is left besides the target"),
        ("1\n2\n", {}, "t.csv: found 1 column, and none is left besides the target."),
        ("a,y\n?,1\n2,?\n", {"drop_missing": True}, "t.csv: every row has a missing cell"),
        (
            "".join(f"mail {k},{k % 2}\n" for k in range(60)),
            {},
            "'column 1' holds text, 60 different values in 60",
        ),
        ("".join(f"{k},mail {k}\n" for k in range(60)), {}, "Name the column of the labels with target."),
    ],
)
def test_bad_csv(content, options, message):
    with pytest.raises(DataError) as caught:
        read(content, **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1 1:2\n1 2:x\n", "t.svm:2:2: expected index:value, such as 3:0.5, found '2:x'."),
        ("1 1:2 3\n", "t.svm:1:3: expected index:value"),
        ("1 1:2:3\n", "t.svm:1:2: expected index:value"),
        ("1 -1:2\n", "t.svm:1:2: expected index:value"),
        ("1 99999999999999999999:2\n", "t.svm:1:2: the index 99999999999999999999 is larger than"),
        ("1 2:1 2:1\n", "t.svm:1:3: feature 2 is there twice"),
        ("1:2 2:1\n", "t.svm:1:1: expected a number as label, found '1:2'."),
        ("1 1:1\n\n2 1:1 7:nan\n", "t.svm:3:3: feature 7 is nan, not a finite number."),
        ("# only\n", "t.svm: found no rows"),
        ("1\n2\n", "t.svm: no row has any feature."),
    ],
)
def test_bad_svmlight(content, message):
    with pytest.raises(DataError) as caught:
        read(content, "t.svm")
    assert message in str(caught.value)


def test_svmlight_has_no_target_column():
    with pytest.raises(DataError, match="takes no target"):
        read(SVM, "t.svm", target="1")


@given(st.binary(max_size=60) | st.text("1,;\t a?\"'\n:#.-e", max_size=60).map(str.encode))
def test_any_bytes_give_a_table_or_a_data_error(content):
    try:
        table = read(content, "t.txt")
    except DataError:
        return
    assert table.X.shape == (len(table.y), len(table.feature_names))
    assert len(table.lines) == len(table.row_numbers) == len(table.y) > 0


@given(st.lists(st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9), st.sampled_from("ab")), min_size=1))
def test_numbers_are_read_to_the_last_bit(rows):
    text = "".join(f"{a!r},{b!r},{label}\n" for a, b, label in rows)
    table = read(text)
    assert table.X.tolist() == [[a, b] for a, b, _ in rows]
    lines = "".join(f"{'ab'.index(label)} 1:{a!r} 2:{b!r}\n" for a, b, label in rows)
    assert (read(lines, "t.svm").X.toarray() == table.X).all()


def test_errors_name_the_remedy():
    """A command builds its own advice from the problem and the remedy."""
    with pytest.raises(TableError) as caught:
        read("a,y\n1,u\n?,v\n")
    assert caught.value.remedy is TableRemedy.DROP_ROWS_OR_COLUMN
    assert caught.value.problem == "t.csv:3:1: 'a' is missing; cells are missing in 1 row."
    with pytest.raises(TableError) as caught:
        read("a,y\n1,u\n2,?\n")
    assert caught.value.remedy is TableRemedy.DROP_ROWS
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.remedy) == (str(caught.value), caught.value.remedy)

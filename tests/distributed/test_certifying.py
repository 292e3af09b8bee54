"""The distributed certificate is true of all rows, and says what a certificate of one machine says."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
from novikoff.distributed import certifying
from novikoff.errors import CertificateError, DataError
from novikoff.theory.certificates import Inseparable, Separable


def write(folder, parts):
    """Write each array, whose last column is the label, to a CSV file; return a pattern for all."""
    for k, part in enumerate(parts):
        text = "".join(",".join(map(repr, row)) + "\n" for row in part.tolist())
        header = ",".join([*(f"x{j}" for j in range(part.shape[1] - 1)), "y"])
        (folder / f"part{k:02}.csv").write_text(f"{header}\n{text}")
    return str(folder / "part*.csv")


def separable_parts(seed, n_files, n, d, gap=0.3):
    rng = np.random.default_rng(seed)
    u, parts = rng.normal(size=d), []
    for _ in range(n_files):
        X = rng.normal(size=(4 * n, d)).round(3)
        scores = X @ u + 0.2
        X, scores = X[abs(scores) > gap][:n], scores[abs(scores) > gap][:n]
        parts.append(np.column_stack([X, np.sign(scores)]))
    return parts


def assert_is_right(proof, parts):
    """The proof holds for all rows together, by the checkers of one machine, and names rows by their lines."""
    whole = np.vstack(parts)
    proof.verdict.verify(whole[:, :-1], whole[:, -1])
    expected = nk.certify(whole[:, :-1], whole[:, -1])
    assert bool(proof) == bool(expected)
    if expected:
        assert proof.verdict.margin == pytest.approx(expected.margin, rel=1e-9)
        assert proof.verdict.radius == expected.radius
    starts = np.cumsum([0, *map(len, parts)])
    for row, location in proof.locations.items():
        file = int(np.searchsorted(starts, row, side="right")) - 1
        assert location.file.endswith(f"part{file:02}.csv")
        assert location.line == row - starts[file] + 2


def test_separable(tmp_path, cluster):
    parts = separable_parts(1, 4, 300, 5)
    pattern = write(tmp_path, parts)
    for where in (None, cluster):
        proof = nk.distributed.certify(pattern, target="y", cluster=where)
        assert isinstance(proof.verdict, Separable)
        assert_is_right(proof, parts)
        assert proof.passes <= 10


def test_inseparable_by_one_row_in_the_last_file(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr(certifying, "_FIRST_ROWS", 40)  # so that the row is not among the first
    parts = separable_parts(2, 5, 200, 3)
    parts[-1][-1, -1] *= -1
    pattern = write(tmp_path, parts)
    proof = nk.distributed.certify(pattern, target="y", cluster=cluster)
    assert isinstance(proof.verdict, Inseparable)
    assert_is_right(proof, parts)
    last = max(proof.verdict.rows)
    assert last == sum(map(len, parts)) - 1
    assert str(proof.locations[last]).endswith("part04.csv:201")


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_small_integers(tmp_path_factory, seed, n_files, fit_intercept):
    """Ties, identical rows, rows of zeros and files without one of the labels."""
    rng = np.random.default_rng(seed)
    parts = [
        np.column_stack([rng.integers(-2, 3, (n, 2)), rng.choice([-1, 1], n)]).astype(float)
        for n in rng.integers(1, 6, n_files)
    ]
    whole = np.vstack(parts)
    pattern = write(tmp_path_factory.mktemp("parts"), parts)
    proof = nk.distributed.certify(pattern, target="y", types={"y": "number"}, fit_intercept=fit_intercept)
    proof.verdict.verify(whole[:, :-1], whole[:, -1])
    assert bool(proof) == bool(nk.certify(whole[:, :-1], whole[:, -1], fit_intercept=fit_intercept))


def test_many_rows_are_priced_in_few_passes(tmp_path, monkeypatch):
    monkeypatch.setattr(certifying, "_FIRST_ROWS", 30)
    parts = separable_parts(3, 3, 2000, 8, gap=0.05)
    proof = nk.distributed.certify(write(tmp_path, parts), target="y", persist=True)
    assert_is_right(proof, parts)
    assert proof.passes <= 10


def test_many_labels_and_one_against_the_rest(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 2)).round(2)
    y = np.where(X[:, 0] > 0.5, 2.0, np.where(X[:, 1] > 0.0, 1.0, 0.0))
    parts = np.array_split(np.column_stack([X, y]), 3)
    pattern = write(tmp_path, parts)
    proof = nk.distributed.certify(pattern, target="y")
    expected = nk.certify(X, y)
    assert {key: bool(each) for key, each in proof.verdict.items()} == {k: bool(v) for k, v in expected.items()}
    proof.verdict.verify(X, y)
    assert proof.named_rows(proof.verdict[2.0])
    with pytest.raises(DataError, match="several questions"):
        proof.named_rows()
    one = nk.distributed.certify(pattern, target="y", positive=2)
    assert bool(one) == bool(expected[2.0])
    with pytest.raises(DataError, match="not in y"):
        nk.distributed.certify(pattern, target="y", positive=7)


def test_svmlight_and_words(tmp_path):
    for k in range(2):
        (tmp_path / f"p{k}.svm").write_text(f"1 1:2 {k + 5}:1\n-1 1:-1\n1 2:{k + 1}\n")
    proof = nk.distributed.certify(str(tmp_path / "*.svm"))
    assert proof
    assert proof.verdict.n_features == 7
    for k, rows in enumerate(("sun,yes\nrain,no\n", "snow,yes\nrain,no\n")):
        (tmp_path / f"w{k}.csv").write_text("sky,sail\n" + rows)
    proof = nk.distributed.certify(str(tmp_path / "w*.csv"), target="sail")
    assert proof
    assert proof.feature_names == ["sky=sun", "sky=rain", "sky=snow"]


def test_a_tiny_margin_is_decided_exactly(tmp_path):
    """Doubles cannot tell these rows from the separator; exact arithmetic can."""
    parts = [np.array([[1.0, 1e-17, 1.0], [-1.0, 1e-17, 1.0]]), np.array([[1.0, -1e-17, -1.0], [-1.0, -2e-17, -1.0]])]
    proof = nk.distributed.certify(write(tmp_path, parts), target="y")
    assert_is_right(proof, parts)
    assert proof


def test_missing_cells_and_texts_are_refused_with_their_line(tmp_path):
    (tmp_path / "a.csv").write_text("u,v,y\n1,2,no\n1,,yes\n")
    with pytest.raises(DataError, match=r"a\.csv:3: 'v' is missing"):
        nk.distributed.certify(tmp_path / "a.csv", target="y")


def test_a_file_that_lies_is_found_by_the_check(tmp_path):
    """The checker reads the files again: what they hold then must be what was certified."""
    parts = separable_parts(5, 2, 50, 2)
    pattern = write(tmp_path, parts)
    state = {"done": False}

    def report(what):
        if "exact" in what and not state["done"]:
            state["done"] = True
            for k in range(2):
                path = tmp_path / f"part{k:02}.csv"
                lines = path.read_text().splitlines()
                path.write_text("\n".join([lines[0], *(line.replace(".", ".9", 1) for line in lines[1:])]) + "\n")

    with pytest.raises(CertificateError):
        nk.distributed.certify(pattern, target="y", progress=report)

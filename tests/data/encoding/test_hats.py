"""Numbers as hats: by definition, however the rows are cut, stopped and gone on with."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff import _compiled
from novikoff._compiled.loops import hats as loops
from novikoff.cli import main
from novikoff.data.encoding import Features, IndexEncoding, NameEncoding, TableEncoding
from novikoff.data.formats.block import CategoricalColumn, TableBlock, TextColumn
from novikoff.errors import DataError, ModelFileError
from novikoff.model_files import Section
from tests.data.encoding.test_sparse_scaling import CUTS, MATRICES, pieces, svmlight, vw
from tests.reference import hats as reference

HATS = Features(hats=True)
NUMBERS = st.sampled_from([None, 0.0, 1.0, 2.0, -1.0, 0.5, 7.25, 1000.0])
TABLES = st.integers(1, 3).flatmap(
    lambda width: st.lists(st.lists(NUMBERS, min_size=width, max_size=width), min_size=1)
)


@_compiled.loop
def find_all(values, lefts, weights):
    for i in range(values.size):
        lefts[i], weights[i] = loops.find_hats(values[i])


def hats_of(values):
    """The weights of all knots for each value, as the compiled code computes them."""
    values = np.asarray(values, float)
    lefts, weights = np.empty(len(values), np.int64), np.empty(len(values))
    find_all(values, lefts, weights)
    found = np.zeros((len(values), loops.N_KNOTS))
    rows = np.arange(len(values))
    found[rows, lefts], found[rows, lefts + 1] = 1.0 - weights, weights
    return found


def numbers(rows, extra=None):
    columns = {
        name: np.array([np.nan if row[j] is None else row[j] for row in rows])
        for j, name in enumerate("abc"[: len(rows[0])])
    }
    return TableBlock("t.csv", np.arange(len(rows)), np.arange(len(rows)) % 2.0, columns | (extra or {}))


def mixed(n, seed=0):
    """Rows of numbers, words and texts, some of each missing."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, 2)) < 0.2, np.nan, rng.normal(5.0, 2.0, (n, 2)))
    words = [None if k == 0 else f"w{k}" for k in rng.integers(0, 4, n)]
    texts = [" ".join(f"t{k}" for k in rng.integers(0, 9, 3)) for _ in range(n)]
    columns = {"a": X[:, 0].copy(), "w": CategoricalColumn.from_cells(words), "b": X[:, 1].copy()}
    labels = (np.nan_to_num(X[:, 0]) > 4.0).astype(float)
    return TableBlock("t.csv", np.arange(n), labels, columns | {"text": TextColumn.from_cells(texts)})


def dicts_of(encoding, parts):
    """Each row as a dict of its features by name."""
    parts = list(parts)  # now, for `learn` brings new names
    names = encoding.names
    return [
        {names[j]: v for j, v in zip(part.indices[lo:hi].tolist(), part.data[lo:hi].tolist(), strict=True)}
        for part in parts
        for lo, hi in zip(part.indptr[:-1], part.indptr[1:], strict=True)
    ]


# -- what they are


@given(st.lists(st.floats(-4.0, 4.0) | st.sampled_from([*loops.KNOTS, -1e-20, 1e300]), min_size=1))
def test_hats_are_the_weights_of_interpolation(values):
    found = hats_of(values)
    for row, z in zip(found, values, strict=True):
        assert row == pytest.approx(reference.hats(z), abs=1e-15)
        assert np.count_nonzero(row) <= 2
        assert row.sum() == pytest.approx(1.0, abs=1e-15)
        assert row @ loops.KNOTS == pytest.approx(min(max(z, -3.0), 3.0), abs=1e-15)
    curve = np.random.default_rng(0).normal(size=loops.N_KNOTS)
    np.testing.assert_allclose(found @ curve, np.interp(values, loops.KNOTS, curve), atol=1e-14)


@given(TABLES)
def test_numbers_of_a_table_have_the_hats_of_their_standardised_values(rows):
    encoding = TableEncoding(HATS)
    columns = "abc"[: len(rows[0])]
    found = dicts_of(encoding, encoding.learn(numbers(rows)))
    for i, features in enumerate(found):
        expected = reference.table_features(rows, i, columns)
        for name in {*features, *expected}:
            assert features.get(name, 0.0) == pytest.approx(expected.get(name, 0.0), rel=1e-6, abs=1e-6)


def test_words_texts_and_missing_numbers_are_as_without_hats():
    block = mixed(80)
    plain, hats = TableEncoding(Features(hats=False)), TableEncoding(HATS)
    expected = [dict(found) for found in dicts_of(plain, list(plain.learn(block))[-1:])]
    found = dicts_of(hats, list(hats.learn(block)))
    for row, features in zip(expected, found[-len(expected) :], strict=True):
        assert {name: v for name, v in features.items() if " near " not in name} == row


def test_rows_say_which_features_are_hats():
    encoding = TableEncoding(HATS)
    for rows in encoding.learn(mixed(50)):
        assert rows.is_sparse
        assert rows.is_hat.dtype == np.uint8
        assert rows.is_hat.tolist() == [" near " in name for name in encoding.names[: rows.n_features]]
    kept = rows[3:9], rows.narrow(20), type(rows).concatenate([rows, rows]), encoding.encode(mixed(5, seed=1))
    assert [part.is_hat.tolist() for part in kept] == [rows.is_hat[: part.n_features].tolist() for part in kept]


def test_without_scaling_there_are_no_hats():
    encoding = TableEncoding(Features(scale=False, hats=True))
    [rows] = encoding.learn(numbers([[1.0, 5.0], [2.0, 7.0]]))
    assert not encoding.has_hats
    assert rows.is_hat is None
    assert rows.data.tolist() == [[1.0, 5.0], [2.0, 7.0]]


@pytest.mark.parametrize("bits", [1, 3, 4, 5])
def test_hats_share_indices_when_names_run_out(bits):
    encoding = TableEncoding(Features(hash_bits=bits, hats=True))
    parts = [rows for part in pieces(mixed(60), [7]) for rows in encoding.learn(part)]
    own = {name.removesuffix(", and others") for name in encoding.names}
    assert len(own) == 2**bits
    for rows in parts:
        assert rows.is_hat.tolist() == [" near " in name for name in encoding.names]
    z = dicts_of(encoding, parts)
    assert all(sum(row.values()) == sum(row.values()) for row in z)


def learn_all(encoding, blocks):
    return [rows for block in blocks for rows in encoding.learn(block)]


@given(MATRICES)
def test_dense_numbers_of_sparse_rows_have_hats(X):
    for block, name in ((svmlight(X), "{}"), (vw(X), "f{}")):
        encoding = empty_for(block)
        found = dicts_of(encoding, learn_all(encoding, [block]))
        for i, features in enumerate(found):
            expected = reference.sparse_features(X, i)
            names = {key: name_of(name, *key) for key in expected}
            assert {name for name, value in features.items() if value} <= set(names.values())
            for key, value in expected.items():
                if value is not None:
                    assert features.get(names[key], 0.0) == pytest.approx(value, rel=1e-6, abs=1e-6)


def name_of(name, column, knot):
    return name.format(column) + ("" if knot is None else f" near {loops.KNOTS[knot]:g}")


def empty_for(block):
    if block.source == "t.svm":
        return IndexEncoding.empty(scale=True, hats=True)
    return NameEncoding.empty(9, scale=True, hats=True)


def test_dense_rows_have_the_hats_of_a_table():
    X = np.random.default_rng(0).normal([5000.0, -3.0, 0.02], [100.0, 1.0, 0.01], (300, 3))
    expected = TableEncoding(HATS)
    wanted = dicts_of(expected, expected.learn(numbers(X.tolist())))
    for block, names in ((svmlight(X), "012"), (vw(X.tolist()), ["f0", "f1", "f2"])):
        encoding = empty_for(block)
        found = dicts_of(encoding, learn_all(encoding, [block]))
        rename = {f"{old}{rest}": f"{new}{rest}" for old, new in zip(names, "abc", strict=True) for rest in RESTS}
        for row, other in zip(found, wanted, strict=True):
            row = {rename[name]: value for name, value in row.items() if abs(value) > 1e-12}
            assert row == pytest.approx({name: v for name, v in other.items() if abs(v) > 1e-12}, abs=1e-12)


RESTS = ["", *(f" near {knot:g}" for knot in loops.KNOTS)]


def test_rows_of_words_have_no_hats():
    X = (np.random.default_rng(2).random((200, 30)) < 0.5).astype(float)
    for block in (svmlight(X), vw(X.tolist())):
        encoding = empty_for(block)
        plain, hats = learned([block], Features(hats=False)), learned([block])
        assert hats.names == plain.names
        assert hats.rows_of(block).is_hat is None
        assert hats.model.state.raw.coef.tobytes() == plain.model.state.raw.coef.tobytes()
        assert sum(map(len, learn_all(encoding, [block]))) == 200


@given(MATRICES)
def test_sparse_rows_say_which_features_are_hats(X):
    block = svmlight(X)
    encoding = empty_for(block)
    parts = learn_all(encoding, [block])
    for rows in [*parts, encoding.encode(block)]:
        is_hat = np.zeros(rows.n_features) if rows.is_hat is None else rows.is_hat
        assert is_hat.tolist() == [" near " in name for name in encoding.names[: rows.n_features]]


# -- however it is cut, stopped and gone on with


def learned(parts, features=HATS):
    model = nk.StreamModel(nk.Learner(), features)
    for part in parts:
        model.learn(part)
    return model


@given(CUTS)
@pytest.mark.parametrize("bits", [4, 20])
def test_results_do_not_depend_on_blocks(bits, cuts):
    block, features = mixed(40), Features(hats=True, hash_bits=bits)
    whole = learned([block], features)
    for parts in (pieces(block, cuts), pieces(block, range(len(block)))):
        cut = learned(parts, features)
        assert cut.names == whole.names
        assert cut.model.state.raw.coef.tobytes() == whole.model.state.raw.coef.tobytes()
        assert cut.rows_of(block).is_hat.tobytes() == whole.rows_of(block).is_hat.tobytes()


def test_rows_are_encoded_by_what_was_learned():
    rows = [[1.0, 5.0], [2.0, None], [4.0, 7.0], [None, 6.0]]
    encoding = TableEncoding(HATS)
    list(encoding.learn(numbers(rows)))
    for new in rows:
        # A row that is learned changes the moments; one that is encoded does not, so the reference gets those of `rows`
        expected = {}
        for j, column in enumerate("ab"):
            if new[j] is None:
                expected[f"{column} is missing"] = 1.0
                continue
            z = reference.standardise([row[j] for row in rows], new[j])
            expected[column] = z
            expected |= {
                f"{column} near {float(knot):g}": weight
                for knot, weight in zip(reference.KNOTS, reference.hats(z), strict=True)
            }
        [found] = dicts_of(encoding, [encoding.encode(numbers([new]))])
        expected = {name: value for name, value in expected.items() if value and name in encoding.names}
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("bits", [4, 20])
def test_a_saved_model_goes_on_to_the_last_bit(tmp_path, bits):
    block, features = mixed(60), Features(hats=True, hash_bits=bits)
    whole, part = learned([block], features), learned([block[:30]], features)
    part.save(tmp_path / "m.nk")
    resumed = nk.StreamModel.load(tmp_path / "m.nk")
    assert resumed.features == part.features
    assert resumed.predict(block).tolist() == part.predict(block).tolist()
    resumed.learn(block[30:])
    for model, name in ((whole, "a.nk"), (resumed, "b.nk")):
        model.save(tmp_path / name)
    assert (tmp_path / "a.nk").read_bytes() == (tmp_path / "b.nk").read_bytes()


@pytest.mark.parametrize("bits", [4, 20])
def test_what_was_learned_since_a_snapshot_can_be_forgotten(bits):
    block, features = mixed(40), Features(hats=True, hash_bits=bits)
    encoding, expected = TableEncoding(features), TableEncoding(features)
    mark = encoding.snapshot()
    list(encoding.learn(mixed(10, seed=3)))
    for _ in range(2):
        encoding.restore(mark)
    [found], [wanted] = list(encoding.learn(block)), list(expected.learn(block))
    assert encoding.names == expected.names
    for name in ("data", "indices", "is_hat"):
        assert getattr(found, name).tobytes() == getattr(wanted, name).tobytes()


@given(MATRICES, CUTS)
def test_results_of_sparse_rows_do_not_depend_on_blocks(X, cuts):
    for block in (svmlight(X), vw(X)):
        whole = learned([block])
        for parts in (pieces(block, cuts), pieces(block, range(len(X)))):
            cut = learned(parts)
            assert cut.names == whole.names
            assert cut.model.state.raw.coef.tobytes() == whole.model.state.raw.coef.tobytes()
            assert cut.rows_of(block).data.tobytes() == whole.rows_of(block).data.tobytes()
            assert cut.rows_of(block).indices.tobytes() == whole.rows_of(block).indices.tobytes()


@given(MATRICES, MATRICES)
def test_encoding_sparse_rows_leaves_out_what_is_new(X, Z):
    for make in (svmlight, vw):
        model = learned([make(X)])
        encoding, names = model.encoding, model.names
        mark = encoding.scaler.hats.snapshot()
        for row in dicts_of(encoding, [encoding.encode(make(Z))]):
            assert set(row) <= set(names)
        assert encoding.scaler.hats.snapshot() == mark


@given(MATRICES, CUTS)
def test_a_saved_encoding_of_sparse_rows_goes_on_to_the_last_bit(X, cuts):
    for block in (svmlight(X), vw(X)):
        whole, resumed = learned([block]), nk.StreamModel(nk.Learner(), HATS)
        for part in pieces(block, cuts):
            resumed.learn(part)
            section = Section("").add_part("encoding")
            resumed.encoding.write_to(section)
            resumed.encoding = type(resumed.encoding).read_from(section)
        assert resumed.names == whole.names
        assert resumed.model.state.raw.coef.tobytes() == whole.model.state.raw.coef.tobytes()


@given(MATRICES, MATRICES, MATRICES)
def test_what_sparse_rows_brought_since_a_snapshot_can_be_forgotten(X, others, more):
    for make in (svmlight, vw):
        encoding, expected = empty_for(make(X)), empty_for(make(X))
        for each in (encoding, expected):
            learn_all(each, [make(X)])
        mark = encoding.snapshot()
        learn_all(encoding, [make(others), make(more)])
        for _ in range(2):
            encoding.restore(mark)
        found, wanted = learn_all(encoding, [make(more)]), learn_all(expected, [make(more)])
        assert encoding.names == expected.names
        for part, other in zip(found, wanted, strict=True):
            assert part.data.tobytes() == other.data.tobytes()
            assert part.indices.tobytes() == other.indices.tobytes()
            assert np.array_equal(part.is_hat, other.is_hat)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_block_with_a_bad_value_changes_nothing(bad):
    X = np.random.default_rng(5).normal(3.0, 2.0, (40, 4))
    model, expected = learned([svmlight(X[:20])]), learned([svmlight(X[:20])])
    wrong = X[20:].copy()
    wrong[7, 2] = bad
    with pytest.raises(DataError):
        model.learn(svmlight(wrong))
    for each in (model, expected):
        each.learn(svmlight(X[20:]))
    assert model.model.state.raw.coef.tobytes() == expected.model.state.raw.coef.tobytes()


# -- model files and runs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda root: root.tensors["encoding.scaling.hats.having"].__setitem__(0, 7), "points outside"),
        (lambda root: root.tensors["encoding.scaling.hats.having"].__setitem__(1, 0), "hats twice"),
        (lambda root: root.tensors["encoding.scaling.hats.first"].__setitem__(1, 3), "overlap"),
        (lambda root: root.tensors["encoding.scaling.hats.first"].__setitem__(1, 99), "points outside"),
        (lambda root: root.facts["encoding"]["scaling"]["hats"].__setitem__("features", 9), "more features"),
    ],
)
def test_invalid_sparse_hats_are_refused(change, message):
    encoding, root = IndexEncoding.empty(scale=True, hats=True), Section("m.nk holds no valid model")
    learn_all(encoding, [svmlight([[2.5, 3.5], [3.0, 5.0], [4.0, 1.0]])])
    encoding.write_to(root.add_part("encoding"))
    IndexEncoding.read_from(root.part("encoding"))
    change(root)
    with pytest.raises(ModelFileError, match=message):
        IndexEncoding.read_from(root.part("encoding"))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda root: root.tensors["encoding.hats.indices"].__setitem__((0, 0), 99), "points outside"),
        (lambda root: root.tensors["encoding.hats.own"].__setitem__(0, 99), "points outside"),
        (lambda root: root.tensors["encoding.hats.own"].__setitem__(0, 0), "hats of no column"),
        (lambda root: root.facts["encoding"].__setitem__("scale", False), "not standardised"),
        (lambda root: root.facts["encoding"].__setitem__("is_dense", True), "cannot be dense"),
    ],
)
def test_invalid_hats_of_a_table_are_refused(change, message):
    encoding, root = TableEncoding(HATS), Section("m.nk holds no valid model")
    learn_all(encoding, [numbers([[1.0, 2.0], [3.0, 1.0]])])
    encoding.write_to(root.add_part("encoding"))
    TableEncoding.read_from(root.part("encoding"))
    change(root)
    with pytest.raises(ModelFileError, match=message):
        TableEncoding.read_from(root.part("encoding"))


@pytest.mark.parametrize(("suffix", "text"), [("svm", "1 1:500 2:3\n-1 1:400 2:2\n"), ("csv", "a,y\n1.5,0\n2,1\n")])
def test_a_run_is_not_resumed_with_other_hats(tmp_path, suffix, text):
    path, checkpoint = tmp_path / f"t.{suffix}", tmp_path / "m.nk"
    path.write_text(text)
    assert nk.learn(path, checkpoint=checkpoint, hats=True).encoding.has_hats
    with pytest.raises(DataError, match=r"hats=True and cannot be continued with hats=False"):
        nk.learn(path, checkpoint=checkpoint, resume=True, hats=False)
    assert nk.learn(path, checkpoint=checkpoint, resume=True, hats=True).ledger.examples == 2
    checkpoint.unlink()
    for _ in range(2):  # hats of numbers that are not standardised are none
        assert not nk.learn(path, checkpoint=checkpoint, resume=True, scale=False, hats=True).encoding.has_hats


def test_files_are_learned_shuffled_held_out_and_predicted_with_hats(tmp_path):
    a = np.random.default_rng(0).normal(50.0, 10.0, 600).round(3)
    lines = [f"{v},{'far' if abs(v - 50.0) > 8.0 else 'near'}" for v in a.tolist()]
    (tmp_path / "t.csv").write_text("a,y\n" + "\n".join(sorted(lines, key=lambda line: line[-3:])) + "\n")

    def run(*arguments):
        found = CliRunner().invoke(main, list(map(str, arguments)), catch_exceptions=False)
        assert found.exit_code == 0, found.output
        return found.output

    def errors(*arguments):
        run("learn", tmp_path / "t.csv", "-o", tmp_path / "m.nk", "--passes", 3, "--holdout", 0.3, *arguments)
        return json.loads(run("test", tmp_path / "m.nk", tmp_path / "t.csv", "--json"))["error_rate"]

    assert errors("--hats") < 0.1 < 0.2 < errors("--plain-numbers")
    errors("--hats")
    run("learn", tmp_path / "t.csv", "--from", tmp_path / "m.nk", "-o", tmp_path / "more.nk")
    assert nk.load(tmp_path / "more.nk").encoding.has_hats
    arguments = ["learn", tmp_path / "t.csv", "--from", tmp_path / "m.nk", "-o", tmp_path / "m.nk", "--plain-numbers"]
    found = CliRunner().invoke(main, list(map(str, arguments)))
    assert found.exit_code == 2
    assert "--plain-numbers is for a new model" in found.output


def test_a_regression_draws_curves():
    x = np.random.default_rng(0).normal(0.0, 1.0, 4000)
    block = TableBlock("t.csv", np.arange(4000), np.abs(x), {"x": x})
    r2 = []
    for hats in (False, True):
        model = nk.StreamRegressor(Features(hats=hats))
        model.learn(block)
        r2.append(model.ledger.r2)
    assert r2[0] < 0.2 < 0.8 < r2[1]
    ((_, weights),) = model.heaviest()
    assert [name for name, _ in weights] == ["x"]

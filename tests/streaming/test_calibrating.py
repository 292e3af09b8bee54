"""nk.calibrate: probabilities of a StreamModel, in its file and until it learns again."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.calibration import _SigmoidCalibration

import novikoff as nk
from novikoff.errors import DataError, ModelFileError
from novikoff.model_files import read, write
from novikoff.selection.calibration import fit_calibration
from novikoff.streaming.calibrating import _Sample
from novikoff.streaming.model import StreamModel


@pytest.fixture
def files(tmp_path):
    """Two tables of the same kind, with noisy labels of two or three classes."""

    def make(labels=("no", "yes"), n=300):
        rng, paths = np.random.default_rng(0), []
        for name in ("train.csv", "held_out.csv"):
            x = rng.normal(size=(n, 2))
            noisy = x[:, 0] + 0.5 * x[:, 1] + rng.normal(0.0, 0.7, n)
            codes = np.digitize(noisy, np.linspace(-1.0, 1.0, len(labels) + 1)[1:-1])
            lines = [f"{a:.4f},{b:.4f},{labels[k]}" for (a, b), k in zip(x.tolist(), codes.tolist(), strict=True)]
            paths.append(tmp_path / name)
            paths[-1].write_text("a,b,y\n" + "\n".join(lines) + "\n")
        return paths

    return make


def blocks_of(path, rows=None):
    """All rows of a table, in one block or in blocks of some rows."""
    for block in nk.open_stream(path, target="y"):
        for start in range(0, len(block), rows or len(block)):
            yield block[start : start + (rows or len(block))]


@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted", "pocket"])
def test_probabilities_of_two_labels_are_those_of_scikit_learn(files, hypothesis):
    train, held_out = files()
    model = nk.learn(train, target="y", hypothesis=hypothesis)
    (block,) = blocks_of(held_out)
    calibration = nk.calibrate(model, blocks_of(held_out, rows=7))
    assert calibration is model.calibration
    assert (calibration.kind, calibration.rows) == ("sigmoid", 300)
    scores = model.model.scores(model.rows_of(block))
    theirs = _SigmoidCalibration().fit(scores, block.labels == "yes").predict(scores)
    assert model.predict_proba(block)[:, 1] == pytest.approx(theirs, abs=1e-4)


@pytest.mark.parametrize("hypothesis", ["averaged", "voted"])
def test_probabilities_of_many_labels(files, hypothesis):
    train, held_out = files(("high", "low", "mid"))
    model = nk.learn(train, target="y", hypothesis=hypothesis)
    nk.calibrate(model, blocks_of(held_out))
    (block,) = blocks_of(held_out)
    p = model.predict_proba(block)
    assert p.shape == (300, 3)
    assert p.sum(axis=1) == pytest.approx(1.0)
    most_probable = p == p.max(axis=1, keepdims=True)
    chosen = np.array([model.labels.index(label) for label in model.predict(block)])
    assert most_probable[np.arange(300), chosen].all()
    # One temperature cannot match every class, but the average log loss must beat that of a constant guess.
    codes = np.array([model.labels.index(label) for label in block.labels])
    shares = np.bincount(codes) / 300
    assert -np.log(p[np.arange(300), codes]).mean() < -(shares * np.log(shares)).sum()


def test_a_file_has_the_calibration_until_the_model_learns_again(files, tmp_path):
    train, held_out = files()
    model = nk.learn(train, target="y")
    model.save(tmp_path / "without.nk")
    assert nk.load(tmp_path / "without.nk").calibration is None
    nk.calibrate(model, blocks_of(held_out))
    model.save(tmp_path / "with.nk")
    again = nk.load(tmp_path / "with.nk")
    (block,) = blocks_of(held_out)
    assert again.calibration == model.calibration
    assert (again.predict_proba(block) == model.predict_proba(block)).all()
    for other in (again, copy.copy(model), pickle.loads(pickle.dumps(model))):
        assert other.calibration == model.calibration
        other.learn(block)
        assert other.calibration is None
        with pytest.raises(DataError, match=r"nk\.calibrate"):
            other.predict_proba(block)
    again.save(tmp_path / "learned.nk")
    model.learn(block)
    model.save(tmp_path / "never saved before.nk")
    assert (tmp_path / "learned.nk").read_bytes() == (tmp_path / "never saved before.nk").read_bytes()


def test_a_file_whose_calibration_does_not_fit_its_labels_is_refused(files, tmp_path):
    train, held_out = files(("high", "low", "mid"))
    model = nk.learn(train, target="y")
    nk.calibrate(model, blocks_of(held_out))
    model.save(tmp_path / "m.nk")
    kind, root = read(tmp_path / "m.nk")
    root.facts["calibration"]["kind"] = "sigmoid"
    write(tmp_path / "m.nk", kind, root, lambda found: None)
    with pytest.raises(ModelFileError, match=r"calibration is .* for 3 classes"):
        StreamModel.load(tmp_path / "m.nk")


def test_rows_with_unknown_labels_are_left_out(files):
    train, held_out = files()
    model = nk.learn(train, target="y")
    held_out.write_text(held_out.read_text() + "0.5,0.5,perhaps\n" * 20)
    assert nk.calibrate(model, blocks_of(held_out)).rows == 300
    held_out.write_text("a,b,y\n" + "0.5,0.5,perhaps\n" * 20)
    with pytest.raises(DataError, match="No held-out row has a label that the model knows"):
        nk.calibrate(model, blocks_of(held_out))


def test_what_cannot_be_calibrated(files):
    train, held_out = files()
    model = nk.learn(train, target="y")
    before = nk.calibrate(model, blocks_of(held_out))
    (block,) = nk.open_stream(held_out, target=False)
    with pytest.raises(DataError, match="rows without labels"):
        nk.calibrate(model, [block])
    with pytest.raises(DataError, match="No held-out row"):
        nk.calibrate(model, [])
    assert model.calibration == before
    train.write_text("a,b,y\n1,2,yes\n")
    with pytest.raises(DataError, match="fewer than two labels"):
        nk.calibrate(nk.learn(train, target="y"), blocks_of(held_out))


@pytest.mark.parametrize("size", [1, 3, 64, 1000])
def test_a_sample_has_every_stride_th_row_however_it_is_cut(size):
    rng = np.random.default_rng(1)
    scores, codes = rng.normal(size=(1000, 3)), np.tile([0, 1, 2, 1], 250)
    sample = _Sample(most_scores=400)
    for start in range(0, 1000, size):
        sample.add(scores[start : start + size], codes[start : start + size])
    assert sample.n_rows == 1000
    kept = sample.arrays()
    assert (kept[0] == scores[::8]).all()  # 125 rows x 3 <= 400 < 250 x 3
    assert (kept[1] == codes[::8]).all()
    assert fit_calibration(*kept).rows == 125

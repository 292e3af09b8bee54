"""novikoff learn --class-weight."""

import numpy as np
import pytest
from click.testing import CliRunner

import novikoff as nk
from novikoff.cli import main


def run(*arguments, code=0):
    result = CliRunner().invoke(main, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def mail(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.1
    X = rng.normal(size=(400, 2)) + y[:, None]
    path = tmp_path / "mail.csv"
    rows = (f"{a:.4f},{b:.4f},{'spam' if k else 'ham'}" for (a, b), k in zip(X, y, strict=True))
    path.write_text("\n".join(["a,b,y", *rows]) + "\n")
    return path


def weights_of(model):
    return np.append(model.model.state.raw.coef, model.model.state.raw.bias)


@pytest.mark.parametrize(
    ("options", "class_weight"),
    [
        (["--class-weight", "spam=5,ham=1"], {"spam": 5.0, "ham": 1.0}),
        (["--class-weight", "spam=5", "--class-weight", "ham=0.5"], {"spam": 5.0, "ham": 0.5}),
        (["--class-weight", "balanced"], "balanced"),
    ],
)
def test_class_weights(options, class_weight, mail, tmp_path):
    run("learn", mail, *options, "-o", tmp_path / "m.nk")
    found = nk.load(tmp_path / "m.nk")
    expected = nk.learn(mail, class_weight=class_weight)
    np.testing.assert_array_equal(weights_of(found), weights_of(expected))
    assert not np.array_equal(weights_of(found), weights_of(nk.learn(mail)))


def test_the_rare_label_is_found_more_often(mail, tmp_path):
    found = {}
    for name, options in {"plain": [], "balanced": ["--class-weight", "balanced"]}.items():
        run("learn", mail, *options, "--passes", 5, "-o", tmp_path / "m.nk")
        lines = run("predict", tmp_path / "m.nk", mail).splitlines()
        found[name] = lines.count("spam")
    assert found["balanced"] > found["plain"]


def test_a_model_keeps_its_class_weights(mail, tmp_path):
    run("learn", mail, mail, "--class-weight", "balanced", "-o", tmp_path / "twice.nk")
    run("learn", mail, "--class-weight", "balanced", "-o", tmp_path / "m.nk")
    run("learn", mail, "--from", tmp_path / "m.nk", "-o", tmp_path / "m.nk")
    twice, found = nk.load(tmp_path / "twice.nk"), nk.load(tmp_path / "m.nk")
    np.testing.assert_array_equal(weights_of(found), weights_of(twice))
    said = run("learn", mail, "--from", tmp_path / "m.nk", "--class-weight", "spam=2", "-o", tmp_path / "m.nk", code=2)
    assert "--class-weight is for a new model" in said


@pytest.mark.parametrize(
    "value", ["spam", "spam=", "=5", "spam=0", "spam=-1", "spam=nan", "spam=inf", "balanced,spam=2"]
)
def test_bad_class_weights(value, mail, tmp_path):
    said = run("learn", mail, "--class-weight", value, "-o", tmp_path / "m.nk", code=2)
    assert "expected LABEL=WEIGHT with a weight above 0" in said
    assert "--class-weight spam=5,ham=1" in said
    assert not (tmp_path / "m.nk").exists()


def test_a_label_that_no_row_has(mail, tmp_path):
    said = run("learn", mail, "--class-weight", "spma=5", "-o", tmp_path / "m.nk")
    assert "--class-weight: no row had the label 'spma'." in said


def test_numbers_as_labels(tmp_path):
    path = tmp_path / "t.svm"
    rng = np.random.default_rng(1)
    path.write_text("".join(f"{rng.choice([-1, 1])} 1:{rng.normal():.3f} 2:{rng.normal():.3f}\n" for _ in range(60)))
    run("learn", path, "--class-weight", "-1=3,1=0.5", "-o", tmp_path / "m.nk")
    np.testing.assert_array_equal(
        weights_of(nk.load(tmp_path / "m.nk")), weights_of(nk.learn(path, class_weight={-1: 3.0, 1: 0.5}))
    )

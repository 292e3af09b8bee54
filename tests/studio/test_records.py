"""Records: what they hold, that they repeat, and what is refused."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff.errors import DataError, NovikoffError
from novikoff.studio import Settings, make_record
from novikoff.studio.records import to_bytes
from novikoff.studio.settings import MOST_POINTS

XOR = [[0, 0, -1], [0, 1, 1], [1, 0, 1], [1, 1, -1]]

coordinates = st.integers(-4, 4)
points = st.lists(st.tuples(coordinates, coordinates, st.sampled_from([-1, 1])), min_size=1, max_size=8)


@given(points, st.booleans(), st.sampled_from(["given", "shuffled", "worst"]))
def test_theorems_hold_along_every_record(drawn, fit_intercept, order):
    record = make_record([list(p) for p in drawn], {"fit_intercept": fit_intercept, "order": order, "passes": 20})
    events, verdict, bound = record["events"], record["verdict"], record["bound"]
    radius = record["run"]["radius"]
    for k, norm, margin in zip(events["k"], events["norm"], events["margin"], strict=True):
        assert norm <= np.sqrt(k) * radius * (1 + 1e-9) + 1e-12
        if verdict is not None and verdict["separable"] and margin is not None:
            assert verdict["margin_lower"] <= margin
    if verdict is not None and verdict["separable"]:
        assert record["run"]["mistakes"] <= bound["mistakes"]
    assert sum(events["mistake"]) == record["run"]["mistakes"]


@given(points, st.sampled_from(["last", "averaged", "pocket"]), st.sampled_from(["mistake", "positive", "negative"]))
def test_weights_are_those_of_the_estimator(drawn, hypothesis, ties):
    if len({label for _, _, label in drawn}) < 2:
        return
    record = make_record([list(p) for p in drawn], {"hypothesis": hypothesis, "ties": ties, "passes": 1})
    X, y = [p[:2] for p in drawn], [p[2] for p in drawn]
    clf = nk.Perceptron(hypothesis=hypothesis, ties=ties).partial_fit(X, y, classes=[-1, 1])
    prefix = {"last": "", "averaged": "mean_", "pocket": "pocket_"}[hypothesis]
    if hypothesis != "pocket":  # whose ratchet is a part of passes
        assert record["events"][f"{prefix}w"][-1] == clf.coef_[0].tolist()
        assert record["events"][f"{prefix}b"][-1] == clf.intercept_[0]
    assert record["run"]["mistakes"] == clf.ledger_.mistakes


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"fit_intercept": False, "order": "worst"},
        {"rule": "margin", "beta": 2.0},
        {"rule": "passive-aggressive-I", "hypothesis": "averaged"},
        {"order": "shuffled", "seed": 5, "ties": "positive"},
        {"order": "random", "seed": 1},
        {"kernel": "poly", "degree": 2},
        {"kernel": "rbf", "gamma": 0.5, "hypothesis": "averaged"},
    ],
)
@pytest.mark.filterwarnings("ignore::UserWarning")  # of learners that did not converge
def test_its_python_makes_the_same_mistakes(settings, capsys):
    drawn = [[2, 1, 1], [1, 2, 1], [0, 0, -1], [1, 0, -1], [0.5, 0.25, -1]]
    record = make_record(drawn, settings | {"passes": 30})
    names = {}
    exec(record["python"], names)
    assert names["clf"].ledger_.mistakes == record["run"]["mistakes"]
    assert names["clf"].ledger_.examples == record["run"]["examples"]
    assert ("Inseparable" in capsys.readouterr().out) == (not record["verdict"]["separable"])


def test_equal_input_gives_equal_bytes():
    settings = {"order": "shuffled", "seed": 3, "passes": 7}
    assert to_bytes(make_record(XOR, settings)) == to_bytes(make_record(XOR, settings))


def test_a_long_run_is_thinned_and_says_so():
    scaled = [[0.01 * a, 0.01 * b, y] for a, b, y in [[2, 1, 1], [1, 2, 1], [0, 0, -1], [1, 0, -1]]]
    record = make_record(scaled, {"passes": 5000})
    events, run = record["events"], record["run"]
    assert run["mistakes"] == 4803
    assert not run["is_complete"]
    assert len(events["t"]) <= 2001
    assert events["k"][-1] == 4803
    assert sum(record["alpha"]) == 4803.0
    assert events["t"] == sorted(events["t"])


def test_no_points_and_one_label():
    empty = make_record([])
    assert empty["run"] is None
    assert empty["verdict"] is None
    one = make_record([[1, 1, 1], [2, 1, 1]])
    assert one["verdict"] is None
    assert one["run"]["converged"]


def test_json_cannot_end_a_script():
    assert b"<" not in to_bytes({"title": "</script><script>alert(1)</script>"})
    assert json.loads(to_bytes({"a": "</script>"})) == {"a": "</script>"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("xor", "Points are a list"),
        ([[1, 2]], "Point 1 should be"),
        ([[1, 2, 1], [1, 2, 3]], r"label of point 2.*found 3"),
        ([[1, float("nan"), 1]], "x2 of point 1 must be a number"),
        ([[1e300, 0, 1]], "x1 of point 1 must be a number"),
        ([[True, 0, 1]], "x1 of point 1"),
        ([[0, 0, 1]] * (MOST_POINTS + 1), "the plane takes"),
    ],
)
def test_points_that_are_refused(given, words):
    with pytest.raises(DataError, match=words):
        make_record(given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"rul": "perceptron"}, "There is no setting 'rul'"),
        ({"rule": "auto"}, "rule must be one of"),
        ({"passes": 0}, "passes must be an integer from 1"),
        ({"passes": 2.5}, "passes must be an integer"),
        ({"gamma": float("inf")}, "gamma must be a number"),
        ({"fit_intercept": 1}, "fit_intercept must be true or false"),
        ({"kernel": "rbf", "rule": "margin"}, "the rule is 'perceptron'"),
        ({"kernel": "rbf", "hypothesis": "pocket"}, "'pocket' is not for the kernel"),
        ([], "Settings are a JSON object"),
    ],
)
def test_settings_that_are_refused(given, words):
    with pytest.raises(NovikoffError, match=words):
        Settings.from_json(given)

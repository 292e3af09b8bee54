"""Every scene states facts; here they are, from the papers and by hand."""

import math
from fractions import Fraction
from functools import cache

import pytest

from novikoff.studio.scene import make_bundle
from novikoff.studio.scenes import SCENES, find_scene
from tests.reference import perceptron as reference


@cache
def records(name):
    return [variant["record"] for variant in make_bundle(SCENES[name])["variants"]]


def weights_after_mistakes(record):
    events = record["events"]
    return [(t, tuple(w)) for t, w, mistake in zip(events["t"], events["w"], events["mistake"], strict=True) if mistake]


def test_worked_example():
    (record,) = records("cmu")
    assert weights_after_mistakes(record) == [(1, (1.0, -2.0)), (3, (2.0, -1.0)), (5, (3.0, 1.0))]
    assert record["events"]["score"][4] == 0.0  # the third mistake is a tie
    assert record["verdict"]["separable"]
    assert record["verdict"]["margin_lower"] == pytest.approx(1.0, rel=1e-12)
    assert record["bound"]["radius"] ** 2 == pytest.approx(5.0, rel=1e-12)
    assert record["bound"]["mistakes"] == 5
    k3 = record["events"]["t"].index(5)
    lower, norm, upper = 3 * 1.0, record["events"]["norm"][k3], math.sqrt(3.0) * math.sqrt(5.0)
    assert (lower, round(norm, 3), round(upper, 3)) == (3.0, 3.162, 3.873)
    assert lower <= record["events"]["progress"][k3] * (1 + 1e-12) <= norm * (1 + 2e-12) <= upper * (1 + 3e-12)


def test_half_space():
    (record,) = records("halfspace")
    assert record["half_space"] == {"w": [2.0, 3.0], "b": 6.0}
    for x1, x2, label in record["points"]:
        assert label == (1 if 2 * x1 + 3 * x2 + 6 > 0 else -1)
    assert record["verdict"]["separable"]


def test_xor():
    line, curve = records("xor")
    assert not line["verdict"]["separable"]
    assert sorted(line["verdict"]["rows"]) == [0, 1, 2, 3]
    assert line["verdict"]["multipliers"] == ["1", "1", "1", "1"]
    assert line["verdict"]["meeting"] == [0.5, 0.5]
    assert not line["run"]["converged"]
    assert curve["verdict"]["separable"]
    assert curve["run"]["converged"]


def test_no_bias():
    without, having = records("nobias")
    multipliers = dict(zip(without["verdict"]["rows"], without["verdict"]["multipliers"], strict=True))
    assert multipliers == {0: "2", 1: "1"}  # 2 (1, 1) - (2, 2) = 0
    assert having["verdict"]["separable"]
    assert having["run"]["converged"]


def test_scaling():
    runs = [record["run"] for record in records("scaling")]
    assert [run["mistakes"] for run in runs[:3]] == [4803, 6, 4]
    assert all(run["converged"] for run in runs)
    assert runs[3]["mistakes"] == runs[4]["mistakes"]


def test_scaling_changes_nothing_without_a_bias():
    """By the reference: all four points, one of which no line through the origin gets right."""
    signs = [1, 1, -1, -1]
    counts = set()
    for factor in (0.01, 1.0, 100.0):
        w, mistakes = [0.0, 0.0], 0
        for _ in range(7):
            for (x1, x2), y in zip([(2, 1), (1, 2), (0, 0), (1, 0)], signs, strict=True):
                if y * factor * (w[0] * x1 + w[1] * x2) <= 0:
                    w, mistakes = [w[0] + y * factor * x1, w[1] + y * factor * x2], mistakes + 1
        counts.add(mistakes)
    assert len(counts) == 1


def test_radius_is_measured_from_the_origin():
    found = records("radius")
    radii = [record["bound"]["radius"] for record in found]
    # The longest of the diamond's points, moved by (c, c): (c + 1, c), and the constant coordinate.
    assert radii == pytest.approx([math.sqrt((c + 1) ** 2 + c**2 + 1) for c in (0, 2, 4)], rel=1e-12)
    assert [record["run"]["mistakes"] for record in found] == [4, 67, 660]


def test_nearly_inseparable():
    found = records("nearly")
    margins = [record["bound"]["margin"] for record in found]
    assert margins == sorted(margins, reverse=True)
    for record in found:
        assert record["run"]["converged"]
        assert record["run"]["mistakes"] <= record["bound"]["mistakes"]
    assert found[-1]["bound"]["value"] > 300 * found[0]["bound"]["value"]  # 20 times nearer


def test_outlier():
    with_it, without = records("outlier")
    assert without["verdict"]["separable"]
    assert not with_it["verdict"]["separable"]
    freund = with_it["bound"]["freund_schapire"]
    assert freund["D"] > 0.0
    radius = with_it["bound"]["radius"]
    assert freund["value"] == pytest.approx(((radius + freund["D"]) / freund["margin"]) ** 2, rel=1e-9)
    first_pass = sum(m for m, p in zip(with_it["events"]["mistake"], with_it["events"]["pass"], strict=True) if p == 1)
    assert first_pass <= freund["value"]


def test_noise_averaged_is_better_than_last():
    (record,) = records("noise")

    def wrong(w, b):
        return sum((1 if w[0] * x1 + w[1] * x2 + b >= 0 else -1) != y for x1, x2, y in record["points"])

    events = record["events"]
    assert not record["verdict"]["separable"]
    assert wrong(events["mean_w"][-1], events["mean_b"][-1]) < wrong(events["w"][-1], events["b"][-1])


@pytest.mark.parametrize("name", ["moons", "circles"])
def test_kernels_bend_the_boundary(name):
    curve, line = records(name)
    assert curve["verdict"]["separable"]
    assert curve["run"]["converged"]
    assert curve["run"]["mistakes"] <= curve["bound"]["mistakes"]
    assert not line["verdict"]["separable"]


def test_four_cases():
    found = records("cases")
    assert [record["verdict"]["separable"] for record in found] == [True, True, False, False]
    assert found[3]["verdict"]["meeting"] == [1.0, 0.0]


def test_descents_reach_the_minimum_of_the_mean_squared_error():
    (record,) = records("descent")
    # The normal equations, by hand: sum x x' w = sum y x.
    a = b = c = d = e = 0.0
    for x1, x2, y in record["points"]:
        a, b, c, d, e = a + x1 * x1, b + x1 * x2, c + x2 * x2, d + y * x1, e + y * x2
    minimum = [(c * d - b * e) / (a * c - b * b), (a * e - b * d) / (a * c - b * b)]
    descent = record["descent"]
    assert descent["minimum"] == pytest.approx(minimum, abs=1e-9)
    assert descent["paths"]["newton"][1] == pytest.approx(minimum, abs=1e-9)  # one step on a parabola
    distances = [math.dist(point, minimum) for point in descent["paths"]["gd"]]
    assert distances[-1] < 0.3 * distances[0]
    assert all(path[0] == [0.0, 0.0] for path in descent["paths"].values())


@pytest.mark.parametrize("name", SCENES)
def test_every_run_is_that_of_the_reference(name):
    """The perceptron as its paper prints it makes the mistakes that the events say, and has their weights."""
    for record in records(name):
        settings = record["settings"]
        if settings["kernel"] != "linear" or not record["run"]["is_complete"]:
            continue
        w, b = [0.0, 0.0], 0.0
        constant = 1.0 if settings["fit_intercept"] else 0.0
        events = record["events"]
        for at, row in enumerate(events["row"]):
            x1, x2, y = record["points"][row]
            score = w[0] * x1 + w[1] * x2 + b * constant
            assert events["score"][at] == pytest.approx(score, abs=1e-9)
            if events["mistake"][at]:
                tau = reference.perceptron(y * events["score"][at], 1.0, True)
                w, b = [w[0] + tau * y * x1, w[1] + tau * y * x2], b + tau * y * constant
            assert events["w"][at] == pytest.approx(w, abs=1e-9)
            assert events["b"][at] == pytest.approx(b, abs=1e-9)


@pytest.mark.parametrize("name", SCENES)
def test_witnesses_cancel(name):
    """Checked a third time here, with Fractions."""
    for record in records(name):
        verdict = record["verdict"]
        if verdict["separable"]:
            continue
        total = [Fraction(0)] * 3
        for row, multiplier in zip(verdict["rows"], verdict["multipliers"], strict=True):
            x1, x2, y = record["points"][row]
            factor = int(multiplier) * y
            total = [a + factor * Fraction(v) for a, v in zip(total, (x1, x2, verdict["constant"]), strict=True)]
            assert int(multiplier) > 0
        assert total == [0, 0, 0]


def test_unknown_scenes_are_errors_that_list_the_known():
    with pytest.raises(ValueError, match=r"There is no scene 'zor'.*xor"):
        find_scene("zor")

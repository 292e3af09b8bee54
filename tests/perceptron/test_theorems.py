"""Hypothesis searches for a run that violates a theorem.

Squares and products of small integers are exact; where a root is taken, SLACK allows for its rounding.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import novikoff as nk
from novikoff import rules
from tests.reference import perceptron as reference
from tests.support.strategies import HYPOTHESES, ORDERS, TIES, one_by_one, raw, separable, streams

SLACK = 1 + 1e-9

ties_of = st.sampled_from(TIES)
orders = st.sampled_from(ORDERS)
any_rule = st.sampled_from(
    [
        rules.Perceptron(),
        rules.Perceptron(learning_rate=0.3),
        rules.Margin(beta=0.0),
        rules.Margin(beta=5.0),
        rules.PassiveAggressive(),
        rules.PassiveAggressive(C=0.01),
        rules.PassiveAggressive(C=2.0),
        rules.PassiveAggressive(C=0.01, variant="II"),
        rules.PassiveAggressive(C=2.0, variant="II"),
    ]
)


def passes_for(bound, order):
    """Return the passes within which fit must end: each but the last makes a mistake. Random draws may miss those
    rows."""
    return 100_000 if order == "random" else math.floor(bound * SLACK) + 1


@given(problem=separable(max_classes=4), ties=ties_of, order=orders, seed=st.integers(0, 9))
def test_novikoff(problem, ties, order, seed):
    """At most (R / gamma)^2 mistakes in any order, so that fit ends within one more pass, without a warning."""
    passes = passes_for(problem.bound, order)
    clf = nk.Perceptron(ties=ties, order=order, max_iter=passes, random_state=seed, **problem.given)
    clf.fit(problem.X, problem.y)
    assert clf.converged_
    assert clf.ledger_.mistakes <= problem.bound * SLACK
    assert clf.predict(problem.X).tolist() == problem.y.tolist()


@given(problem=separable(), ties=ties_of)
def test_novikoff_without_rounding(problem, ties):
    clf = nk.Perceptron(ties=ties, max_iter=100_000, **problem.given).fit(problem.X, problem.y)
    u = np.roll(problem.u, -int(problem.intercept))
    inner = int((problem.vectors @ u).min())
    bound = Fraction(int(problem.squared_radius) * int(u @ u), inner**2)
    assert clf.ledger_.mistakes <= bound


def test_novikoff_is_tight():
    """Orthogonal unit vectors: gamma = 1 / sqrt(n), and all n of them are mistakes."""
    X, y = np.eye(9), np.tile([1, -1, -1], 3)
    clf = nk.Perceptron(fit_intercept=False).fit(X, y)
    assert clf.ledger_.mistakes == 9
    assert clf.ledger_.with_margin(1 / 3).mistake_bound == pytest.approx(9)
    assert clf.ledger_.with_margin(1 / 3).mistakes_left == 0
    assert clf.ledger_.margin_at_most == pytest.approx(1 / 3)


@given(problem=separable(max_classes=4), rule=any_rule, ties=ties_of, order=orders)
def test_every_rule_keeps_its_own_bound(problem, rule, ties, order):
    bound = rule.mistake_bound(math.sqrt(problem.squared_radius), problem.margin)
    clf = nk.Perceptron(
        rule, ties=ties, order=order, max_iter=passes_for(bound, order), random_state=0, **problem.given
    )
    clf.fit(problem.X, problem.y)
    assert clf.converged_
    assert clf.ledger_.mistakes <= bound * SLACK
    if isinstance(rule, rules.Margin):
        assert clf.ledger_.updates <= bound * SLACK


@pytest.mark.parametrize(
    ("rule", "bound"),
    [
        (rules.Perceptron(), 100),  # 25 / 0.25
        (rules.Perceptron(learning_rate=0.1), 100),
        (rules.Margin(beta=10.0), 180),  # (25 + 20) / 0.25
        (rules.PassiveAggressive(), 100),
        (rules.PassiveAggressive(C=1.0), 100),  # max(25, 1) / 0.25
        (rules.PassiveAggressive(C=0.01), 400),  # max(25, 100) / 0.25
        (rules.PassiveAggressive(C=0.01, variant="II"), 300),  # (25 + 50) / 0.25
        (rules.Custom(lambda margin, squared_norm: 1.0), None),  # no theorem for it
    ],
)
def test_bounds_by_hand(rule, bound):
    """R = 5, gamma = 1/2. Novikoff 1962, also with m <= beta in the proof; Crammer et al. 2006, theorems 2, 4 and 5."""
    assert rule.mistake_bound(radius=5.0, margin=0.5) == bound


@given(problem=separable(max_classes=4), ties=ties_of, order=orders)
def test_the_inequalities_of_the_proof_hold(problem, ties, order):
    """After k mistakes k gamma <= <w, u> <= |w| <= sqrt(k) R."""
    of = {
        "ties": ties,
        "order": order,
        "random_state": 1,
        "max_iter": passes_for(problem.bound, order),
        **problem.given,
    }
    ledger = nk.Perceptron(separator=problem.u, **of).fit(problem.X, problem.y).ledger_
    if order != "random":  # draws may miss the narrowest row
        assert ledger.margin == pytest.approx(problem.margin)
    assert ledger.margin >= problem.margin / SLACK
    assert ledger.radius**2 <= problem.squared_radius * SLACK
    assert ledger.mistake_bound == pytest.approx((ledger.radius / ledger.margin) ** 2)
    trace = ledger.trace
    k = trace.mistakes
    assert k.tolist() == list(range(1, ledger.mistakes + 1)) or ledger.mistakes > trace.capacity
    assert (k * ledger.margin <= trace.progress * SLACK).all()
    assert (trace.progress <= trace.norm * SLACK).all()
    assert (trace.norm <= np.sqrt(k) * ledger.radius * SLACK).all()


@given(problem=separable(max_classes=3))
def test_the_inequalities_of_the_proof_hold_one_at_a_time(problem):
    model = nk.Perceptron(separator=problem.u, **problem.given)
    u = np.roll(problem.u, -int(problem.intercept), axis=-1).ravel()
    u = u / np.linalg.norm(u)
    for x, y in zip(problem.X, problem.y, strict=True):
        model.learn_one(x, y)
        w = raw(model)[:, : problem.X.shape[1] + problem.intercept].ravel()
        k = model.ledger_.mistakes
        assert k * problem.margin <= w @ u * SLACK
        assert np.linalg.norm(w) <= math.sqrt(k) * model.ledger_.radius * SLACK
        if k:
            assert model.ledger_.trace.progress[-1] == pytest.approx(w @ u)
            assert model.ledger_.trace.norm[-1] == pytest.approx(np.linalg.norm(w))
    assert model.ledger_.margin == pytest.approx(problem.margin)
    assert model.ledger_.mistakes <= model.ledger_.mistake_bound * SLACK


@given(
    stream=streams(labels=(-1, 1)),
    direction=st.lists(st.integers(-3, 3), min_size=4, max_size=4),
    gamma=st.sampled_from([0.25, 1.0, 3.0]),
)
def test_freund_and_schapire_without_separability(stream, direction, gamma):
    """One pass over any data: mistakes <= ((R + D) / gamma)^2 for every unit u and gamma."""
    X, y = stream
    folded = reference.folded(X, True)
    u = np.array(direction[: folded.shape[1]], float)
    u = u / np.linalg.norm(u) if u.any() else np.eye(len(u))[0]
    missing = np.maximum(0.0, gamma - y * (folded @ u))
    R, D = np.linalg.norm(folded, axis=1).max(), np.linalg.norm(missing)
    model = nk.Perceptron().partial_fit(X, y, classes=[-1, 1])
    assert model.ledger_.mistakes <= ((R + D) / gamma) ** 2 * SLACK


@given(problem=separable(max_classes=4), rule=any_rule, passes=st.integers(1, 3))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_margin_at_most_is_at_least_the_margin(problem, rule, passes):
    ledger = nk.Perceptron(rule, max_iter=passes, **problem.given).fit(problem.X, problem.y).ledger_
    if not ledger.updates:
        assert ledger.margin_at_most is None
        return
    assert ledger.margin_at_most >= reference.largest_margin(problem.vectors) / SLACK
    if rule == rules.Perceptron():
        # and it says something: |w| <= sqrt(k) R
        assert ledger.margin_at_most <= ledger.radius / math.sqrt(ledger.mistakes) * SLACK


@given(problem=separable(max_classes=4), rule=any_rule)
def test_margin_at_most_holds_with_labels_met_along_the_way(problem, rule):
    """For the classes met so far, each against every other."""
    labels, codes = np.unique(problem.y, return_inverse=True)
    assume(len(labels) > 1)
    codes = 2 * codes - 1 if len(labels) == 2 else codes
    vectors = reference.differences(reference.folded(problem.X, problem.intercept), codes, len(labels))
    ledger = nk.Perceptron(rule, fit_intercept=problem.intercept).partial_fit(problem.X, problem.y).ledger_
    assert ledger.radius**2 == pytest.approx((vectors**2).sum(axis=1).max())
    assert ledger.margin_at_most >= reference.largest_margin(vectors) / SLACK


@pytest.mark.parametrize("rule", [rules.Perceptron(), rules.Perceptron(learning_rate=0.3), rules.Margin(beta=60.0)])
def test_margin_at_most_is_tight_for_one_example(rule):
    model = nk.Perceptron(rule, fit_intercept=False, classes=[-1, 1])
    one_by_one(model, [[3.0, 4.0]] * 5, [1] * 5)
    assert model.ledger_.margin_at_most == pytest.approx(5.0, rel=1e-12)
    assert model.ledger_.margin_at_most >= 5.0


def test_the_repr_of_the_ledger():
    X, y = [[3.0, 4.0], [-3.0, -4.0], [3.0, 4.0]], [1, -1, 1]
    ledger = nk.Perceptron(fit_intercept=False).partial_fit(X, y).ledger_
    assert ledger.error_rate == pytest.approx(1 / 3)
    text = repr(ledger.with_margin(2.5))
    for words in (
        "examples       3",
        "mistakes       1   (33.33% of examples)",
        "radius R       5",
        "at most 5",
        "mistake bound  4.0   (3 left)",
    ):
        assert words in text
    assert "<td" in ledger._repr_html_()
    for margin in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="margin must be a number > 0"):
            ledger.with_margin(margin)


def test_the_radius_counts_the_constant_coordinate():
    X, y = [[2.0, 2.0], [0.0, 1.0]], [0, 1]
    assert nk.Perceptron().fit(X, y).ledger_.radius == 3.0
    assert nk.Perceptron(fit_intercept=False).fit(X, y).ledger_.radius == pytest.approx(math.sqrt(8))
    assert nk.Perceptron(classes=[0, 1, 2]).fit(X, y).ledger_.radius == pytest.approx(math.sqrt(18))
    assert nk.Perceptron().learn_one({"a": 2, "b": 2}, 0).ledger_.radius == 3.0


@given(stream=streams(labels=(0, 1, 2)), power=st.integers(-6, 6), ties=ties_of, hypothesis=st.sampled_from(HYPOTHESES))
def test_scaling_all_points_changes_no_answer(stream, power, ties, hypothesis):
    """Without an intercept, as the constant coordinate would not be scaled. Powers of two are exact."""
    X, y = stream
    scale = 2.0**power
    one, other = (
        nk.Perceptron(hypothesis=hypothesis, ties=ties, fit_intercept=False).partial_fit(rows, y, classes=[0, 1, 2])
        for rows in (X, scale * X)
    )
    assert one.ledger_.mistakes == other.ledger_.mistakes
    assert one.ledger_.trace.examples.tolist() == other.ledger_.trace.examples.tolist()
    assert (raw(one) * scale == raw(other)).all()
    assert one.predict(X).tolist() == other.predict(scale * X).tolist()


@given(
    stream=streams(labels=(0, 1, 2)),
    eta=st.sampled_from([0.125, 3.0, 1024.0]),
    ties=ties_of,
    hypothesis=st.sampled_from(HYPOTHESES),
    n_classes=st.sampled_from([2, 3]),
)
def test_the_learning_rate_changes_no_answer(stream, eta, ties, hypothesis, n_classes):
    X, y = stream
    y = np.minimum(y, n_classes - 1)
    one, other = (
        nk.Perceptron(rule, hypothesis, ties=ties).partial_fit(X, y, classes=range(n_classes))
        for rule in (rules.Perceptron(), rules.Perceptron(learning_rate=eta))
    )
    assert one.ledger_.mistakes == other.ledger_.mistakes
    assert one.ledger_.trace.examples.tolist() == other.ledger_.trace.examples.tolist()
    assert (raw(one) * eta == raw(other)).all()


@given(stream=streams(labels=(-1, 1)), ties=ties_of, passes=st.integers(1, 3), intercept=st.booleans())
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_w_is_a_combination_of_the_examples(stream, ties, passes, intercept):
    """w = sum alpha_i y_i x_i, alpha_i the mistakes on row i: counted one at a time, and in the history of a voted
    one."""
    X, y = stream
    of = {"ties": ties, "fit_intercept": intercept, "classes": [-1, 1]}
    alpha = np.zeros(len(X))
    model = nk.Perceptron(**of)
    for i in list(range(len(X))) * passes:
        before = model.ledger_.mistakes if alpha.any() or i else 0
        alpha[i] += model.learn_one(X[i], y[i]).ledger_.mistakes - before
    w = alpha * y @ reference.folded(X, intercept)
    assert raw(model)[0, : len(w)].tolist() == w.tolist()
    assert model.ledger_.mistakes == alpha.sum()

    voted = nk.Perceptron(hypothesis="voted", max_iter=passes, **of).fit(X, y)
    (sequence,) = voted._model.state.history.sequences
    stored = np.vstack([np.empty((0, X.shape[1])), *sequence.blocks])
    slots = np.concatenate([np.empty(0, int), *sequence.row_indices])
    labels = np.concatenate([np.empty((0, 2), int), *sequence.classes])[:, 0] * 2 - 1
    remembered = labels @ reference.folded(stored[slots], intercept)
    assert raw(voted)[0, : len(w)].tolist() == remembered.tolist()
    if voted.n_iter_ == passes:
        # alpha tells equal rows apart by their index: count the mistakes on each distinct (x, y)
        counted = _by_example(X, y, alpha)
        assert _by_example(stored[slots], labels, np.ones(len(slots))) == {k: v for k, v in counted.items() if v}


def _by_example(X, y, counts):
    found = {}
    for x, label, count in zip(X.tolist(), np.asarray(y).tolist(), counts.tolist(), strict=True):
        found[(*x, label)] = found.get((*x, label), 0) + count
    return found


@given(stream=streams(labels=(0, 1, 2)), ties=ties_of)
def test_class_weights_are_combinations_of_the_examples(stream, ties):
    """An update adds to one class and subtracts from its rival: the rows of W add up to zero."""
    X, y = stream
    model = nk.Perceptron(hypothesis="voted", ties=ties).partial_fit(X, y, classes=[0, 1, 2])
    W = raw(model)
    assert (W.sum(axis=0) == 0).all()
    (sequence,) = model._model.state.history.sequences
    rebuilt = np.zeros_like(W)
    stored = reference.folded(np.vstack([np.empty((0, X.shape[1])), *sequence.blocks]), True)
    for slots, classes in zip(sequence.row_indices, sequence.classes, strict=True):
        for x, (true, rival) in zip(stored[slots], classes, strict=True):
            rebuilt[true] += x
            rebuilt[rival] -= x
    assert (rebuilt == W).all()

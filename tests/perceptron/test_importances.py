"""Importances of examples: steps compared with the reference, what the ledger may claim, and every way to learn."""

import copy
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff import Learner, Rows, hypotheses, rules
from novikoff.errors import DataError, RuleError
from tests.reference import perceptron as reference
from tests.support import strategies
from tests.support.strategies import FORMATS, HYPOTHESES, ORDERS, account, dicts, raw, separable

SLACK = 1 + 1e-9
RULES = {
    "perceptron": (rules.Perceptron(), reference.perceptron),
    "learning rate": (rules.Perceptron(0.5), lambda *of: 0.5 * reference.perceptron(*of)),
    "margin": (rules.Margin(beta=2.0), reference.margin_rule(2.0)),
    "passive-aggressive-I": (rules.PassiveAggressive(C=0.25), reference.pa_1(0.25)),
}
WEIGHTS = [0.25, 0.5, 1.0, 2.0, 3.0]  # sums and products with small integers are exact

two_or_many = pytest.mark.parametrize("n_classes", [2, 4], ids=["binary", "multiclass"])


def weighted_problem(n_classes, n=48, d=5):
    X, codes = strategies.integers(11, n, d, n_classes)
    return X, codes, np.random.default_rng(12).choice(WEIGHTS, n)


def signed(codes, n_classes):
    return 2 * codes - 1 if n_classes == 2 else codes


# -- steps


@two_or_many
@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("rule", RULES)
def test_stream_matches_reference(rule, hypothesis, form, n_classes):
    X, codes, c = weighted_problem(n_classes)
    ours, step = RULES[rule]
    folded = reference.folded(X, True)
    run = reference.start(folded.shape[1], n_classes)
    reference.learn(run, folded, signed(codes, n_classes), step, "mistake", c)

    learner = Learner(ours, hypotheses.resolve(hypothesis))
    state = learner.update(learner.init(5, n_classes), Rows.of(FORMATS[form](X)), codes, importances=c)

    np.testing.assert_allclose(
        np.column_stack([state.raw.coef, state.raw.bias]), np.atleast_2d(reference.last(run)), rtol=1e-9, atol=1e-12
    )
    ledger = learner.ledger(state)
    assert (ledger.examples, ledger.mistakes) == (len(X), sum(run.mistakes))
    assert ledger.step_sum == pytest.approx(sum(run.steps), rel=1e-12)
    assert ledger.importance_range == (c.min(), c.max())
    scores = learner.score(state, Rows.of(FORMATS[form](X)))
    if hypothesis == "voted":
        expected = np.array([reference.votes(run, x, "mistake") for x in folded])
    else:
        expected = folded @ getattr(reference, hypothesis)(run).T
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)


def test_by_hand():
    """One row of weight 3: a mistake at zero weights, so w = 3 x and b = 3; |w| / sum of steps is |(1, 2, 1)|."""
    clf = nk.Perceptron().partial_fit([[1.0, 2.0]], [1], classes=[0, 1], sample_weight=[3.0])
    assert (clf.coef_.tolist(), clf.intercept_.tolist()) == ([[3.0, 6.0]], [3.0])
    assert (clf.ledger_.mistakes, clf.ledger_.step_sum) == (1, 3.0)
    assert clf.ledger_.margin_at_most == pytest.approx(math.sqrt(6.0))


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_weights_of_one_change_nothing(hypothesis):
    X, y, _ = weighted_problem(2)
    plain = nk.Perceptron(hypothesis=hypothesis, max_iter=3)
    with pytest.warns(match="did not converge"):
        plain.fit(X, y)
    with pytest.warns(match="did not converge"):
        weighted = copy.deepcopy(plain).fit(X, y, sample_weight=np.ones(len(X)))
    strategies.assert_same(plain, weighted, X)
    assert weighted.ledger_.importance_range == (1.0, 1.0)


@two_or_many
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted"])
def test_rows_of_weight_zero_are_not_there(hypothesis, n_classes):
    X, y, c = weighted_problem(n_classes)
    c[::3] = 0.0
    kept = c > 0.0
    settings = {"hypothesis": hypothesis, "max_iter": 4, "classes": range(n_classes)}
    with pytest.warns(match="did not converge"):
        one = nk.Perceptron(**settings).fit(X, y, sample_weight=c)
    with pytest.warns(match=f"on {kept.sum()} rows"):
        other = nk.Perceptron(**settings).fit(X[kept], y[kept], sample_weight=c[kept])
    strategies.assert_same(one, other, X)
    assert one.ledger_.examples == 4 * kept.sum()
    stream = nk.Perceptron(**settings).partial_fit(X, y, sample_weight=c)
    strategies.assert_same(stream, nk.Perceptron(**settings).partial_fit(X[kept], y[kept], sample_weight=c[kept]), X)


# -- the same, however the rows come


@two_or_many
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("blocks", [1, 7, 48])
def test_blocks_and_single_examples_are_the_same(hypothesis, blocks, n_classes):
    X, y, c = weighted_problem(n_classes)
    settings = {"hypothesis": hypothesis, "classes": range(n_classes)}
    whole = nk.Perceptron(**settings).partial_fit(X, y, sample_weight=c)
    parts = nk.Perceptron(**settings)
    for rows in np.array_split(np.arange(len(X)), blocks):
        parts.partial_fit(X[rows], y[rows], sample_weight=c[rows])
    single, named = nk.Perceptron(**settings), nk.Perceptron(**settings)
    for x, features, label, weight in zip(X, dicts(X), y.tolist(), c.tolist(), strict=True):
        single.learn_one(x, label, sample_weight=weight)
        named.learn_one(features, label, sample_weight=weight)
    for other, rows in ((parts, X), (single, X), (named, dicts(X))):
        strategies.assert_same(whole, other, X, rows)
        assert other.ledger_.importance_range == whole.ledger_.importance_range


def test_examples_with_and_without_weights_may_alternate():
    """Also where plain dicts are learned in compiled code, which knows no weights."""
    X, y, c = weighted_problem(2)
    c[::2] = 1.0
    whole = nk.Perceptron(classes=[0, 1]).partial_fit(X, y, sample_weight=c)
    mixed = nk.Perceptron(classes=[0, 1])
    for row, (features, label, weight) in enumerate(zip(dicts(X), y.tolist(), c.tolist(), strict=True)):
        mixed.learn_one(features, label, **({} if row % 2 == 0 else {"sample_weight": weight}))
    strategies.assert_same(whole, mixed, X, dicts(X))
    assert mixed.ledger_.importance_range == whole.ledger_.importance_range


def test_class_weights_are_sample_weights():
    X, y, _ = weighted_problem(4)
    class_weight = {0: 2.0, 2: 0.5}
    c = np.array([2.0, 1.0, 0.5, 1.0])[y]
    expected = nk.Perceptron(classes=range(4)).partial_fit(X, y, sample_weight=c)
    block = nk.Perceptron(classes=range(4), class_weight=class_weight).partial_fit(X, y)
    single = strategies.one_by_one(nk.Perceptron(classes=range(4), class_weight=class_weight), X, y.tolist())
    for found in (block, single):
        assert account(found.ledger_) == account(expected.ledger_)
        np.testing.assert_array_equal(raw(found), raw(expected))
    both = nk.Perceptron(classes=range(4), class_weight=class_weight).partial_fit(X, y, sample_weight=c)
    squared = nk.Perceptron(classes=range(4)).partial_fit(X, y, sample_weight=c * c)
    np.testing.assert_array_equal(raw(both), raw(squared))


def test_a_new_class_comes_with_its_weight():
    """The third label arrives after weighted examples of two; the weights are split, and learning goes on."""
    X, y, c = weighted_problem(3)
    y = np.sort(y)
    whole = nk.Perceptron(classes=range(3)).partial_fit(X, y, sample_weight=c)
    stream = nk.Perceptron()
    for x, label, weight in zip(X, y.tolist(), c.tolist(), strict=True):
        stream.learn_one(x, label, sample_weight=weight)
    np.testing.assert_array_equal(raw(stream), raw(nk.Perceptron().partial_fit(X, y, sample_weight=c)))
    assert stream.ledger_.step_sum == nk.Perceptron().partial_fit(X, y, sample_weight=c).ledger_.step_sum
    assert whole.ledger_.examples == stream.ledger_.examples


# -- what the ledger may claim


any_rule = st.sampled_from(
    [rules.Perceptron(), rules.Perceptron(0.3), rules.Margin(5.0), rules.PassiveAggressive(C=2.0)]
)


@given(
    problem=separable(max_classes=4),
    rule=any_rule,
    order=st.sampled_from(ORDERS),
    seed=st.integers(0, 99),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_certified_margin_holds_for_all_weights(problem, rule, order, seed):
    """gamma * sum c tau <= <w, u> <= |w|, at every update."""
    c = np.random.default_rng(seed).choice([0.01, 0.3, 1.0, 7.0], len(problem.X))
    clf = nk.Perceptron(rule, order=order, random_state=0, max_iter=30, separator=problem.u, **problem.given)
    try:
        ledger = clf.fit(problem.X, problem.y, sample_weight=c).ledger_
    except DataError:  # one class only
        return
    if ledger.step_sum:
        assert ledger.margin_at_most >= problem.margin / SLACK
        trace = ledger.trace
        assert trace.progress[-1] >= problem.margin * ledger.step_sum / SLACK
        assert (trace.progress <= trace.norm * SLACK).all()


@given(problem=separable(max_classes=4), order=st.sampled_from(ORDERS), seed=st.integers(0, 99))
def test_at_most_the_ratio_of_weights_times_novikoff(problem, order, seed):
    """At most (c_max / c_min) (R / gamma)^2 mistakes, so that fit ends within one more pass, without a warning."""
    c = np.random.default_rng(seed).choice([0.5, 1.0, 4.0], len(problem.X))
    bound = c.max() / c.min() * problem.bound
    passes = 100_000 if order == "random" else math.floor(bound * SLACK) + 1
    clf = nk.Perceptron(order=order, random_state=0, max_iter=passes, separator=problem.u, **problem.given)
    if len(set(problem.y)) < 2:
        return
    ledger = clf.fit(problem.X, problem.y, sample_weight=c).ledger_
    assert clf.converged_
    assert ledger.mistakes <= bound * SLACK
    assert ledger.mistakes <= ledger.mistake_bound * SLACK
    smallest, largest = ledger.importance_range
    assert ledger.mistake_bound == pytest.approx((largest / smallest) * (ledger.radius / ledger.margin) ** 2)


def test_weights_can_exceed_novikoffs_own_bound():
    """Why the ratio of weights is needed: rows (-1, 0) of weight 1,000 and (1, 1) of weight 1.

    u = (-2, 3) / sqrt(13) separates them, with margins 2 / sqrt(13) and 1 / sqrt(13), and R^2 = 2: at most 26 mistakes
    without weights. The first step is (-1000, 0), and takes hundreds of mistakes on the other row to outweigh.
    """
    X, y = np.array([[-1.0, 0.0], [1.0, 1.0]]), [1, 1]
    clf = nk.Perceptron(fit_intercept=False, classes=[-1, 1], max_iter=10_000)
    for _ in range(3000):
        clf.partial_fit(X, y, sample_weight=[1000.0, 1.0])
    ledger = clf.ledger_.with_margin(1.0 / math.sqrt(13.0))
    assert ledger.mistakes > 26
    assert ledger.mistake_bound == pytest.approx(26_000.0)
    assert ledger.mistakes <= ledger.mistake_bound


@pytest.mark.parametrize("rule", [rules.Margin(1.0), rules.PassiveAggressive(), rules.PassiveAggressive(C=1.0)])
def test_no_bound_is_claimed_for_other_rules(rule):
    X, y, c = weighted_problem(2)
    clf = nk.Perceptron(rule).partial_fit(X, y)
    assert clf.ledger_.with_margin(0.1).mistake_bound is not None
    clf.partial_fit(X, y, sample_weight=c / 4.0)
    assert clf.ledger_.with_margin(0.1).mistake_bound is None
    assert clf.ledger_.margin_at_most is not None


def test_equal_weights_have_novikoffs_bound():
    X, y, _ = weighted_problem(2)
    clf = nk.Perceptron().partial_fit(X, y, sample_weight=np.full(len(X), 7.0))
    plain = nk.Perceptron().partial_fit(X, y)
    np.testing.assert_array_equal(raw(clf), 7.0 * raw(plain))
    assert clf.ledger_.with_margin(0.1).mistake_bound == plain.ledger_.with_margin(0.1).mistake_bound


def test_the_ledger_prints_the_range():
    X, y, c = weighted_problem(2)
    assert "weights c      0.25 to 3" in str(nk.Perceptron().partial_fit(X, y, sample_weight=c).ledger_)
    assert "weights c" not in str(nk.Perceptron().partial_fit(X, y).ledger_)


def test_merged_states_keep_the_widest_range():
    X, y, _ = weighted_problem(2)
    learner, rows = Learner(), Rows.of(X)
    plain = learner.update(learner.init(5), rows, y)
    weighted = learner.update(learner.init(5), rows, y, importances=np.full(len(X), 3.0))
    assert learner.ledger(learner.merge([plain, weighted])).importance_range == (1.0, 3.0)
    assert learner.ledger(learner.merge([plain, plain])).importance_range == (1.0, 1.0)


# -- pocket, files, errors


def test_the_pocket_compares_the_weights_of_errors():
    """Two rows that contradict each other: the pocket keeps the weights that get the heavier one right."""
    X, y = np.array([[1.0], [1.0]]), [0, 1]
    for heavier in (0, 1):
        clf = nk.Perceptron(hypothesis="pocket", fit_intercept=False, max_iter=8)
        with pytest.warns(match="did not converge"):
            clf.fit(X, y, sample_weight=[3.0, 1.0] if heavier == 0 else [1.0, 3.0])
        assert clf.predict([[1.0]]).tolist() == [heavier]


def test_files_keep_weights(tmp_path):
    X, y, c = weighted_problem(3)
    clf = nk.Perceptron(hypothesis="averaged", class_weight={0: 2.5, 1: 1}).partial_fit(X, y, sample_weight=c)
    clf.save(tmp_path / "m.nk")
    found = nk.load(tmp_path / "m.nk")
    assert found.class_weight == {0: 2.5, 1: 1.0}
    assert found.ledger_.importance_range == clf.ledger_.importance_range
    strategies.assert_same(clf.partial_fit(X, y), found.partial_fit(X, y), X)


def test_steps_that_grow_are_an_error():
    """A passive-aggressive step goes to margin 1; five times as far, it overshoots more each time."""
    X, y = np.array([[1.0], [2.0]]), [1, 0]
    clf = nk.Perceptron("passive-aggressive", fit_intercept=False, classes=[0, 1])

    def learn_blocks():
        for _ in range(500):
            clf.partial_fit(X, y, sample_weight=[5.0, 5.0])

    def learn_examples():
        for _ in range(500):
            clf.learn_one(X[0], 1, sample_weight=5.0).learn_one(X[1], 0, sample_weight=5.0)

    for learn in (learn_blocks, learn_examples):
        with pytest.raises(RuleError, match=r"times the weight 5 of this example, is too long.*rule='perceptron'"):
            learn()
        assert np.isfinite(raw(clf)).all()


@pytest.mark.parametrize("importances", [[1.0], [1.0, -1.0], [1.0, np.nan], [1.0, 0.0], [np.inf, 1.0], [[1.0, 1.0]]])
def test_the_learner_refuses_what_is_no_importance(importances):
    learner, rows = Learner(), Rows.of([[1.0], [2.0]])
    with pytest.raises(DataError, match="importances"):
        learner.update(learner.init(1), rows, np.array([0, 1]), importances=np.array(importances))

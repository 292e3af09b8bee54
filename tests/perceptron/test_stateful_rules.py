"""AROW, AdaGrad and coin betting: compared with the reference, in every form of rows, and with their theorems."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff import Learner, Rows, rules
from novikoff.errors import RuleError
from novikoff.hypotheses import Averaged
from tests.reference import stateful_rules as reference
from tests.support.strategies import FORMATS, csr, dicts, integers, one_by_one

RULES = {
    "adagrad": (rules.AdaGrad(0.5), lambda shape: reference.AdaGrad(shape, 0.5)),
    "arow": (rules.Arow(2.0), lambda shape: reference.Arow(shape, 2.0)),
    "coin": (rules.CoinBetting(), reference.Coin),
}
SLOTS = {"adagrad": ["G"], "arow": ["S"], "coin": ["W", "theta", "A", "M"]}  # after the sum over mistakes
each_rule = pytest.mark.parametrize("rule", RULES)
two_or_many = pytest.mark.parametrize("n_classes", [2, 4], ids=["binary", "multiclass"])


def signed(codes, n_classes):
    return 2 * codes - 1 if n_classes == 2 else codes


def weights_of(state):
    """The weights with the constant coordinate first, as the reference has them."""
    return np.column_stack([state.raw.bias, state.raw.coef])


def everything(model):
    state = model._model.state
    ledger = model.ledger_
    points = np.array(ledger.trace.points).reshape(-1, 5)[:, :4]
    sums = [state.sums.coef.tolist(), state.sums.bias.tolist()]
    counts = [ledger.examples, ledger.mistakes, ledger.updates, ledger.step_sum, ledger.mistake_norm]
    return weights_of(state).tolist(), state.slots.tolist(), state.memory.totals.tolist(), sums, points.tolist(), counts


@each_rule
@two_or_many
@pytest.mark.parametrize("form", ["float64", "csr32"])
@pytest.mark.parametrize("ties", ["mistake", "negative"])
@pytest.mark.parametrize("is_weighted", [False, True], ids=["plain", "weighted"])
def test_stream_matches_reference(rule, n_classes, form, ties, is_weighted):
    X, codes = integers(3, 60, 5, n_classes)
    importances = np.random.default_rng(1).choice([0.5, 1.0, 3.0], 60) if is_weighted else None
    intercept = ties == "mistake"
    ours, make = RULES[rule]
    theirs = make((1 if n_classes == 2 else n_classes, 5 + intercept))
    mistakes, theta = reference.run(theirs, reference.folded(X, intercept), signed(codes, n_classes), ties, importances)

    learner = Learner(ours, ties=ties, fit_intercept=intercept)
    rows = Rows.of(FORMATS[form](X))
    state = learner.update(learner.init(5, n_classes), rows, codes, importances=importances)

    first = 0 if intercept else 1
    np.testing.assert_allclose(weights_of(state)[:, first:], theirs.w, rtol=1e-9, atol=1e-12)
    slots = np.moveaxis(state.slots, -1, 0).transpose(0, 2, 1)[:, :, first:]
    np.testing.assert_array_equal(slots[0], theta)
    for slot, name in zip(slots[1:], SLOTS[rule], strict=True):
        np.testing.assert_allclose(slot, getattr(theirs, name), rtol=1e-9, atol=1e-12)
    ledger = learner.ledger(state)
    assert (ledger.examples, ledger.mistakes, ledger.step_sum) == (60, sum(mistakes), sum(mistakes))
    assert ledger.mistake_norm == pytest.approx(np.linalg.norm(theta))
    assert ledger.trace.norm[-1] == pytest.approx(np.linalg.norm(theta))
    assert ledger.norm == pytest.approx(np.linalg.norm(theirs.w))


@each_rule
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "pocket"])
def test_every_form_of_rows_gives_the_same_bits(rule, n_classes, hypothesis, tmp_path):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 6)) * (rng.random((60, 6)) < 0.6)
    y = rng.integers(0, n_classes, 60)
    X[0] = 1.0  # so that dicts meet the features in the order of the columns

    def fresh():
        return nk.Perceptron(RULES[rule][0], hypothesis)

    base = fresh().partial_fit(X, y)
    others = [
        fresh().partial_fit(csr(X), y),
        fresh().partial_fit(dicts(X), y),
        one_by_one(fresh(), X, y),
        one_by_one(fresh(), dicts(X, zeros=False), y),
    ]
    turned = [dict(reversed(x.items())) for x in dicts(X[1:], zeros=False)]
    others.append(one_by_one(one_by_one(fresh(), dicts(X[:1]), y[:1]), turned, y[1:]))
    blocks = fresh()
    for start in range(0, 60, 7):
        blocks.partial_fit(X[start : start + 7], y[start : start + 7])
    resumed = fresh().partial_fit(X[:25], y[:25])
    resumed.save(tmp_path / "m.nk")
    kept = copy.deepcopy(resumed), pickle.loads(pickle.dumps(resumed)), nk.load(tmp_path / "m.nk")
    others += [each.partial_fit(X[25:40], y[25:40]).partial_fit(X[40:], y[40:]) for each in kept]
    mixed = one_by_one(fresh().partial_fit(csr(X[:20]), y[:20]), X[20:40], y[20:40]).partial_fit(X[40:], y[40:])
    for other in [*others, blocks, mixed]:
        assert everything(other) == everything(base)
    assert fresh().partial_fit(X[:25], y[:25])._model.state.slots.tolist() == resumed._model.state.slots.tolist()
    if hypothesis == "last":
        assert base.decision_function(csr(X)).tolist() == base.decision_function(X).tolist()
        assert [base.predict_one(x) for x in X] == base.predict(X).tolist()


@each_rule
def test_new_features_start_as_if_they_had_been_there(rule):
    X, y = integers(5, 40, 6, 2)
    X[:20, 3:] = 0.0
    wide = nk.Perceptron(RULES[rule][0]).partial_fit(dicts(X), y)
    growing = one_by_one(nk.Perceptron(RULES[rule][0]), dicts(X, zeros=False), y)
    order = [list(wide._model.vocabulary).index(name) for name in growing._model.vocabulary]
    assert sorted(order) == list(range(6))
    np.testing.assert_allclose(growing.raw_coef_, wide.raw_coef_[:, order], rtol=1e-9)
    assert growing.ledger_.mistakes == wide.ledger_.mistakes


@each_rule
@pytest.mark.parametrize("third", [-5, 1, 9])
def test_a_third_class_keeps_scores_and_certificate(rule, third):
    X, codes = integers(6, 40, 4, 2)
    y = 2 * codes
    model = nk.Perceptron(RULES[rule][0]).partial_fit(X, y)
    before, ledger = model.decision_function(X), model.ledger_
    state = model._model._now.with_label(third).state
    learner = model._model.learner
    scores = np.delete(learner.score(state, Rows.of(X)), sorted([0, 2, third]).index(third), axis=1)
    np.testing.assert_allclose(scores[:, 1] - scores[:, 0], before, rtol=1e-12)
    after = learner.ledger(state)
    assert after.mistake_norm == pytest.approx(math.sqrt(2.0) * ledger.mistake_norm)
    assert (after.step_sum, after.mistakes) == (ledger.step_sum, ledger.mistakes)
    single, block = copy.deepcopy(model), copy.deepcopy(model)
    y_late = np.where(np.arange(40) % 3 == 1, third, y)
    assert everything(one_by_one(single, X, y_late)) == everything(block.partial_fit(X, y_late))


@each_rule
def test_exchanged_classes_exchange_signs(rule):
    """The label that comes first has code 0 until another sorts before it."""
    X, codes = integers(7, 40, 4, 2)
    y = np.where(codes == 0, "a", "b")
    known = nk.Perceptron(RULES[rule][0], classes=["a", "b"])
    X, y = X[np.argsort(y != "b", kind="stable")], y[np.argsort(y != "b", kind="stable")]
    met = one_by_one(nk.Perceptron(RULES[rule][0], ties="mistake"), X, y)
    assert met.classes_.tolist() == ["a", "b"]
    np.testing.assert_allclose(met.raw_coef_, one_by_one(known, X, y).raw_coef_, rtol=1e-9, atol=1e-12)


@st.composite
def examples(draw):
    """Draw rows of small integers, labels, and a vector u."""
    n, d = draw(st.integers(1, 25)), draw(st.integers(1, 3))
    numbers = st.integers(-3, 3).map(float)
    rows = draw(st.lists(st.lists(numbers, min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    u = draw(st.lists(st.floats(-3.0, 3.0), min_size=d, max_size=d))
    return np.array(rows), np.array(y), np.array(u)


def stepwise(rule, X, y):
    """Return the states before each example, and after the last, of a run without an intercept."""
    learner = Learner(rule, fit_intercept=False)
    state = learner.init(X.shape[1])
    states = [state.copy()]
    for x, label in zip(X, y, strict=True):
        state = learner.update(state, Rows.of(x[None]), np.array([(label + 1) // 2]))
        states.append(state.copy())
    return learner, states


def smoothed_hinge(margins):
    return np.where(margins >= 1.0, 0.0, np.where(margins >= 0.0, (1.0 - margins) ** 2 / 2.0, 0.5 - margins))


@given(examples(), st.sampled_from([0.1, 0.3, 1.0]))
def test_adagrad_keeps_its_mistake_bound(case, eta):
    X, y, u = case
    learner, states = stepwise(rules.AdaGrad(eta), X, y)
    mistakes = learner.ledger(states[-1]).mistakes
    largest = max(np.abs(state.raw.coef[0] - u).max() for state in states)
    roots = np.sqrt(states[-1].slots[1:, 0, 1]).sum()
    bound = 2.0 * (smoothed_hinge(y * (X @ u)).sum() + (largest**2 / (2.0 * eta) + eta) * roots)
    assert mistakes <= bound * (1.0 + 1e-9)


@given(examples())
def test_coin_betting_keeps_its_identity_and_mistake_bound(case):
    """The wealth at first, and the margins by which slopes are taken, are those of the reference."""
    X, y, u = case
    _, states = stepwise(rules.CoinBetting(), X, y)
    theirs = reference.Coin((1, X.shape[1]))
    reference.run(theirs, X, y, "mistake")
    wealth, theta = states[-1].slots[1:, 0, 1], states[-1].slots[1:, 0, 2]
    assert (wealth >= 0.0).all()
    margins = np.array(theirs.refreshed_margins)
    regret = theirs.first_W[0].sum() - wealth.sum() + u @ theta
    losses, of_u = np.logaddexp(0.0, -margins).sum(), np.logaddexp(0.0, -y * (X @ u)).sum()
    assert losses - of_u <= regret + 1e-7 * (1.0 + abs(regret))
    slopes = -1.0 / (1.0 + np.exp(margins))
    gained = float((slopes * margins).sum())
    assert gained == pytest.approx(theirs.first_W[0].sum() - wealth.sum(), rel=1e-6, abs=1e-7)
    assert (margins <= 0.0).sum() * math.log(2.0) <= of_u + regret + 1e-7 * (1.0 + abs(regret))


@each_rule
@given(case=examples())
def test_the_ledger_certifies_the_margin(rule, case):
    X, _, u = case
    length = np.linalg.norm(u)
    kept = np.abs(X @ u) > 1e-3
    if not length or not kept.any():
        return
    X, y = X[kept], np.sign(X[kept] @ u).astype(int)
    margin = np.abs(X @ u / length).min()
    model = nk.Perceptron(RULES[rule][0], fit_intercept=False, classes=[-1, 1])
    ledger = one_by_one(model, X, y).ledger_
    if ledger.mistakes:
        assert margin <= ledger.margin_at_most * (1.0 + 1e-12)
        assert ledger.margin_at_most == pytest.approx(ledger.mistake_norm / ledger.mistakes)
    assert ledger.with_margin(margin).mistake_bound is None


# -- merging


def merged_of(rule, n_parts, hypothesis="last"):
    learner = Learner(RULES[rule][0], hypothesis)
    parts = [integers(seed, 30, 4, 2) for seed in range(n_parts)]
    states = [learner.update(learner.init(4), Rows.of(X), codes) for X, codes in parts]
    return learner, states, learner.merge(states)


@each_rule
def test_merge_of_one_state_equals_it(rule):
    learner, (state,), merged = merged_of(rule, 1)
    for one, other in ((merged.raw.coef, state.raw.coef), (merged.slots, state.slots), (merged.counts, state.counts)):
        assert one.tolist() == other.tolist()
    X, codes = integers(9, 30, 4, 2)
    before = state.slots.tolist()
    learner.update(merged, Rows.of(X), codes)
    assert state.slots.tolist() == before


@each_rule
def test_merge_adds_up_theta_and_counts(rule):
    learner, states, merged = merged_of(rule, 3, Averaged())
    ledgers, ledger = [learner.ledger(state) for state in states], learner.ledger(merged)
    assert ledger.mistakes == ledger.step_sum == sum(each.mistakes for each in ledgers)
    theta = sum(state.slots[:, 0, 0] for state in states)
    np.testing.assert_array_equal(merged.slots[:, 0, 0], theta)
    assert ledger.mistake_norm == pytest.approx(np.linalg.norm(theta))
    means = [state.mean_weights().coef for state in states]
    np.testing.assert_allclose(merged.mean_weights().coef, np.mean(means, axis=0), rtol=1e-9, atol=1e-12)


def test_merge_of_arow_multiplies_the_distributions():
    _, states, merged = merged_of("arow", 2)
    precisions = [1.0 / state.slots[1:, 0, 1] for state in states]
    means = [state.raw.coef[0] for state in states]
    precision = 1.0 + sum(each - 1.0 for each in precisions)
    np.testing.assert_allclose(1.0 / merged.slots[1:, 0, 1], precision, rtol=1e-12)
    expected = sum(p * m for p, m in zip(precisions, means, strict=True)) / precision
    np.testing.assert_allclose(merged.raw.coef[0], expected, rtol=1e-12)


def test_merge_of_coin_betting_keeps_a_feature_that_one_has_met():
    learner = Learner(rules.CoinBetting(), fit_intercept=False)
    parts = [np.array([[1.0, 0.0], [2.0, 0.0]]), np.array([[0.0, 3.0], [0.0, 1.0]])]
    states = [learner.update(learner.init(2), Rows.of(X), np.array([1, 1])) for X in parts]
    merged = learner.merge(states)
    np.testing.assert_allclose(merged.raw.coef[0], [states[0].raw.coef[0, 0], states[1].raw.coef[0, 1]], rtol=1e-12)


# -- what is refused


@each_rule
def test_there_is_no_voted_hypothesis(rule):
    with pytest.raises(RuleError, match=r"has no hypothesis 'voted'.*Use 'last', 'averaged', 'pocket'"):
        nk.Perceptron(rule, "voted").partial_fit([[1.0]], [1])


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")  # without the JIT NumPy warns
@each_rule
@pytest.mark.parametrize("one", [True, False])
def test_a_weight_that_is_too_large_changes_nothing(rule, one):
    X, y = integers(4, 10, 3, 2)
    model = nk.Perceptron(rule).partial_fit(X, y)
    before = everything(model)
    learn = (
        (lambda: model.learn_one(X[0], y[0], sample_weight=1e200))
        if one
        else (lambda: model.partial_fit(X, y, sample_weight=np.full(10, 1e200)))
    )
    with pytest.raises(RuleError, match=r"weight 1e\+200 of this example, is too long"):
        learn()
    assert everything(model) == before


@pytest.mark.parametrize("bad", [{"a": math.nan}, {"a": "word"}, {"a": 1e200}, {"b": math.inf}, {"b": None}])
def test_bad_examples_change_nothing(bad):
    model = one_by_one(nk.Perceptron("arow"), [{"a": 1.0}, {"c": 2.0}], [0, 1])
    before = everything(model)
    with pytest.raises(nk.errors.DataError):
        model.learn_one(bad, 1)
    assert everything(model) == before
    assert list(model._model.vocabulary) == ["a", "c"]


@pytest.mark.parametrize(("one", "other"), [("perceptron", "arow"), ("arow", "coin"), ("coin", "margin")])
def test_the_rule_cannot_change_to_one_that_keeps_something_else(one, other):
    X, y = integers(4, 10, 3, 2)
    model = nk.Perceptron(one).partial_fit(X, y).set_params(rule=other)
    with pytest.raises(nk.errors.DataError, match="rule cannot change from"):
        model.partial_fit(X, y)


def test_parameters_of_a_rule_may_change():
    X, y = integers(4, 10, 3, 2)
    model = nk.Perceptron(rules.Arow(1.0)).partial_fit(X, y).set_params(rule=rules.Arow(5.0)).partial_fit(X, y)
    learner = Learner(rules.Arow(5.0))
    state = Learner(rules.Arow(1.0)).update(learner.init(3), Rows.of(X), y)
    assert model.raw_coef_.tolist() == learner.update(state, Rows.of(X), y).raw.coef.tolist()


@pytest.mark.parametrize("make", [lambda: rules.Arow(r=0.0), lambda: rules.AdaGrad(0.0), lambda: rules.Arow(r="1")])
def test_parameters_are_checked(make):
    with pytest.raises(RuleError, match="must be"):
        make()


def test_variance_stays_above_zero_on_large_values():
    """S - beta (S x)^2 is rounded to 0 or below where S x^2 is far larger than r."""
    X = np.array([[1e12, 1.0], [-1e12, 1.0], [3e11, -1.0]])
    state = nk.Perceptron("arow").partial_fit(X, [1, -1, 1])._model.state
    assert (state.slots[:, 0, 1] > 0.0).all()

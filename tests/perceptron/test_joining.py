"""Iterative parameter mixing: forks of a state learn apart and are joined, again and again."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novikoff import Learner, Rows, rules
from novikoff.errors import MergeError, ModelFileError, RuleError
from novikoff.perceptron.model import Model
from tests.reference import mixing
from tests.reference.perceptron import folded
from tests.support.strategies import TIES, csr, integers, separable

STATEFUL = {"arow": rules.Arow(), "adagrad": rules.AdaGrad(), "coin": rules.CoinBetting()}
each_stateful_rule = pytest.mark.parametrize("name", STATEFUL)


@st.composite
def convex(draw, n):
    """Draw n numbers >= 0 that sum to 1; some may be 0."""
    parts = np.array(draw(st.lists(st.integers(0, 9), min_size=n, max_size=n).filter(any)), float)
    return parts / parts.sum()


@st.composite
def rounds(draw):
    """Draw a learner, shards and the shares of some rounds; None stands for shares proportional to the examples."""
    d, n_shards, n_rounds = draw(st.integers(1, 3)), draw(st.integers(1, 4)), draw(st.integers(1, 4))
    learner = Learner(hypothesis=draw(st.sampled_from(["last", "averaged"])), ties=draw(st.sampled_from(TIES)))
    form = draw(st.sampled_from([np.array, csr]))
    shards = [integers(draw(st.integers(0, 999)), draw(st.integers(1, 9)), d, 2) for _ in range(n_shards)]
    shares = [draw(st.none() | convex(n_shards)) for _ in range(n_rounds)]
    return learner, d, form, shards, shares


def learn_rounds(learner, state, shards, shares_of_rounds):
    for shares in shares_of_rounds:
        forks = [learner.update(learner.fork(state), rows, codes) for rows, codes in shards]
        state = learner.join(state, forks, shares)
    return state


def arrays_of(state):
    arrays = [state.raw.coef, state.raw.bias, state.sums.coef, state.sums.bias, state.counts, state.measures]
    return [array.tolist() for array in (*arrays, state.slots)]


@given(rounds())
def test_rounds_are_those_of_the_paper(case):
    """Weights, averages over all examples, and counts are those of a literal run that writes every vector down."""
    learner, d, form, shards, shares = case
    state = learn_rounds(learner, learner.init(d), [(Rows.of(form(X)), codes) for X, codes in shards], shares)
    sizes = np.array([len(codes) for _, codes in shards])
    literal = mixing.run_rounds(
        [(folded(X, True), 2 * codes - 1) for X, codes in shards],
        [sizes / sizes.sum() if each is None else each for each in shares],
        d + 1,
        learner.ties,
    )
    np.testing.assert_allclose(np.append(state.raw.coef, state.raw.bias), literal.w, atol=1e-9)
    if learner.hypothesis.averages:
        mean = state.mean_weights()
        np.testing.assert_allclose(np.append(mean.coef, mean.bias), mixing.mean_vector(literal), atol=1e-9)
    ledger = learner.ledger(state)
    assert (ledger.examples, ledger.mistakes) == (len(literal.vectors), literal.mistakes)
    assert ledger.weighted_mistakes == pytest.approx(literal.weighted_mistakes)
    assert ledger.norm == pytest.approx(np.linalg.norm(literal.w))


def test_four_shards_in_five_rounds_count_every_example_once():
    learner = Learner(hypothesis="averaged")
    shards = [(Rows.of(X), codes) for X, codes in (integers(seed, 1000, 4, 2) for seed in range(4))]
    state = learn_rounds(learner, learner.init(4), shards, [None] * 5)
    assert learner.ledger(state).examples == 20_000


@given(problem=separable(max_classes=4), data=st.data())
def test_weighted_mistakes_are_bounded(problem, data):
    """sum over rounds and forks of mu k <= (R / gamma)^2, for any shares; and |w| / that sum bounds the margin."""
    n_shards = data.draw(st.integers(1, min(3, len(problem.X))))
    cut = np.array_split(np.arange(len(problem.X)), n_shards)
    learner = Learner(fit_intercept=problem.intercept)
    codes = np.searchsorted(problem.classes, problem.y)
    shards = [(Rows.of(problem.X[part]), codes[part]) for part in cut]
    state = learner.init(problem.X.shape[1], problem.n_classes)
    for _ in range(data.draw(st.integers(1, 12))):
        state = learn_rounds(learner, state, shards, [data.draw(st.none() | convex(n_shards))])
    ledger = learner.ledger(state)
    assert ledger.weighted_mistakes <= problem.bound * (1 + 1e-9)
    if ledger.margin_at_most is not None:
        assert problem.margin <= ledger.margin_at_most * (1 + 1e-9)
    assert ledger.mistake_bound is None


@given(st.integers(0, 99), st.sampled_from([2, 3]), st.sampled_from(["last", "averaged", "pocket"]))
def test_a_join_of_one_fork_is_the_run_itself(seed, n_classes, hypothesis):
    learner = Learner(hypothesis=hypothesis)
    parts = [(Rows.of(X), codes) for X, codes in (integers(seed + k, 12, 3, n_classes) for k in range(3))]
    plain, state = learner.init(3, n_classes), learner.init(3, n_classes)
    for rows, codes in parts:
        plain = learner.update(plain, rows, codes)
        state = learn_rounds(learner, state, [(rows, codes)], [None])
    assert state.raw.coef.tolist() == plain.raw.coef.tolist()
    assert state.sums.coef.tolist() == plain.sums.coef.tolist()  # of integers, without rounding
    assert state.counts[:3].tolist() == plain.counts[:3].tolist()
    np.testing.assert_allclose(state.measures, plain.measures, rtol=1e-12)


@given(st.integers(0, 99))
def test_a_join_of_forks_of_nothing_is_a_merge(seed):
    learner = Learner(hypothesis="averaged")
    parts = [(Rows.of(X), codes) for X, codes in (integers(seed + k, 9 + k, 3, 2) for k in range(3))]
    merged = learner.merge([learner.update(learner.init(3), *part) for part in parts])
    joined = learn_rounds(learner, learner.init(3), parts, [None])
    assert arrays_of(joined) == arrays_of(merged)


def test_importances_are_joined():
    learner, state = Learner(), Learner().init(1)
    forks = [learner.fork(state) for _ in range(2)]
    rows, codes = Rows.of([[1.0]]), np.array([1])
    forks = [
        learner.update(fork, rows, codes, importances=np.array([c])) for fork, c in zip(forks, (0.5, 4.0), strict=True)
    ]
    ledger = learner.ledger(learner.join(state, forks))
    assert ledger.importance_range == (0.5, 4.0)
    assert ledger.weighted_mistakes is None


# -- stateful rules


@each_stateful_rule
def test_theta_and_mistakes_of_stateful_rules_add_up(name):
    """So |theta| / mistakes goes on certifying the margin, and the averages stay those over all examples."""
    learner = Learner(STATEFUL[name], "averaged")
    shards = [(Rows.of(X), codes) for X, codes in (integers(seed, 30, 4, 2) for seed in range(3))]
    state, theta, mistakes = learner.init(4), 0.0, 0
    for _ in range(3):
        forks = [learner.update(learner.fork(state), *shard) for shard in shards]
        theta = theta + sum(fork.slots[..., 0] - state.slots[..., 0] for fork in forks)
        mistakes += sum(learner.ledger(fork).mistakes for fork in forks)
        state = learner.join(state, forks)
    ledger = learner.ledger(state)
    np.testing.assert_allclose(state.slots[..., 0], theta)
    assert ledger.mistakes == ledger.step_sum == mistakes
    assert ledger.mistake_norm == pytest.approx(np.linalg.norm(theta))
    assert ledger.examples == 270


@each_stateful_rule
def test_a_join_of_one_fork_of_a_stateful_rule_is_the_run_itself(name):
    learner = Learner(STATEFUL[name])
    X, codes = integers(1, 40, 3, 2)
    plain = learner.update(learner.update(learner.init(3), Rows.of(X), codes), Rows.of(X), codes)
    state = learn_rounds(learner, learner.init(3), [(Rows.of(X), codes)], [None, None])
    np.testing.assert_allclose(state.raw.coef, plain.raw.coef, rtol=1e-9)
    np.testing.assert_allclose(state.slots, plain.slots, rtol=1e-9)


def test_evidence_of_arow_is_counted_once():
    """Precisions: that before, and what every fork has added to it."""
    learner = Learner(rules.Arow())
    shards = [(Rows.of(X), codes) for X, codes in (integers(seed, 20, 2, 2) for seed in (1, 2))]
    state = learn_rounds(learner, learner.init(2), shards, [None])
    forks = [learner.update(learner.fork(state), *shard) for shard in shards]
    precisions = [1.0 / each.slots[..., 1] for each in (state, *forks)]
    joined = learner.join(state, forks)
    np.testing.assert_allclose(1.0 / joined.slots[..., 1], precisions[1] + precisions[2] - precisions[0], rtol=1e-12)


def test_auto_and_voted_are_refused():
    auto = Learner("auto")
    with pytest.raises(RuleError, match="'auto' cannot be forked"):
        auto.fork(auto.init(2))
    voted = Learner(hypothesis="voted")
    with pytest.raises(MergeError, match=r"'voted' cannot be forked.*Choose the hypothesis 'averaged'"):
        voted.fork(voted.init(2))


# -- states with a common past


def learned(learner, seed, state=None):
    X, codes = integers(seed, 9, 2, 2)
    return learner.update(learner.init(2) if state is None else state, Rows.of(X), codes)


@pytest.mark.parametrize("copy", [lambda state: state.copy(), lambda state: pickle.loads(pickle.dumps(state))])
def test_merge_refuses_states_with_a_common_past(copy):
    learner, start = Learner(), learned(Learner(), 1)
    states = [learned(learner, 2, copy(start)), learned(learner, 3, copy(start))]
    with pytest.raises(MergeError, match=r"go on from one and the same state.*learner\.fork\(state\)"):
        learner.merge(states)
    other = learner.merge([states[0], learned(learner, 4)])  # each of them may be merged with others
    with pytest.raises(MergeError, match="one and the same"):
        learner.merge([other, states[1]])


def test_copies_of_a_state_that_has_learned_nothing_may_be_merged():
    learner, start = Learner(), Learner().init(2)
    merged = learner.merge([learned(learner, seed, start.copy()) for seed in (1, 2)])
    assert learner.ledger(merged).examples == 18


def test_merge_refuses_the_content_of_one_file_twice(tmp_path):
    from novikoff import model_files

    learner, path = Learner(), tmp_path / "m.nk"
    saved = model_files.SavedPerceptron("perceptron", Model(learner, state=learned(learner, 1)))
    model_files.save(path, saved)
    states = [model_files.load(path).model.state for _ in range(2)]
    with pytest.raises(MergeError, match="one and the same"):
        learner.merge([learned(learner, k, state) for k, state in enumerate(states)])


def test_forks_can_only_be_joined_and_only_to_their_own_state():
    learner = Learner()
    state = learned(learner, 1)
    forks = [learned(learner, seed, learner.fork(state)) for seed in (2, 3)]
    with pytest.raises(MergeError, match="join"):
        learner.merge(forks)
    with pytest.raises(MergeError, match="cannot be forked"):
        learner.fork(forks[0])
    with pytest.raises(MergeError, match="nothing to join"):
        learner.join(state, [])
    with pytest.raises(MergeError, match="forks of one state"):
        learner.join(learned(learner, 5), forks)
    with pytest.raises(MergeError, match="forks of one state"):
        learner.join(state, [forks[0], learned(learner, 3)])
    after = learner.join(state, forks)
    with pytest.raises(MergeError, match="forks of one state"):
        learner.join(after, forks)


@pytest.mark.parametrize("shares", [[1.0], [0.5, 0.6], [-0.5, 1.5], [np.nan, 1.0], [[0.5, 0.5]]])
def test_shares_must_be_convex(shares):
    learner = Learner()
    state = learner.init(2)
    forks = [learned(learner, seed, learner.fork(state)) for seed in (1, 2)]
    with pytest.raises(MergeError, match="sum to 1"):
        learner.join(state, forks, shares)


def test_a_fork_is_not_saved(tmp_path):
    from novikoff import model_files

    learner = Learner()
    model = Model(learner, state=learner.fork(learned(learner, 1)))
    with pytest.raises(ModelFileError, match="fork"):
        model_files.save(tmp_path / "m.nk", model_files.SavedPerceptron("perceptron", model))


def test_forking_and_joining_change_nothing_else():
    learner = Learner(hypothesis="averaged")
    state = learned(learner, 1)
    before = arrays_of(state)
    forks = [learned(learner, seed, learner.fork(state)) for seed in (2, 3)]
    kept = [arrays_of(fork) for fork in forks]
    learned(learner, 4, learner.join(state, forks))
    assert arrays_of(state) == before
    assert [arrays_of(fork) for fork in forks] == kept

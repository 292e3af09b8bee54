"""The rule "auto" compared with its restatement in plain Python to the last bit, and its theorem."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
from novikoff import Learner, Rows, rules
from novikoff._compiled.loops.pool import COIN_COUNT, COIN_SUM, LENGTH, STRIDE
from novikoff.errors import DataError, ModelFileError, RuleError
from novikoff.perceptron.pool_slots import PoolSlots, pool_of
from tests.reference import pool as reference
from tests.reference.perceptron import differences, largest_margin
from tests.support.strategies import TIES

HATS = np.array([0, 0, 0, 1, 1, 1], np.uint8)
many_classes = pytest.mark.parametrize("n_classes", [2, 4], ids=["binary", "multiclass"])


def rows_and_codes(seed, n_classes, n=60, d=6):
    """Rows with zeros among them, features of very different sizes, and labels with much noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 3, d)
    X[rng.random((n, d)) < 0.4] = 0.0
    return X, rng.integers(0, n_classes, n)


def with_hats(rows, is_hat=HATS):
    object.__setattr__(rows, "is_hat", is_hat)
    return rows


def learn(X, codes, n_classes=2, ties="mistake", intercept=True, importances=None, is_hat=None):
    learner = Learner(rules.Auto(), ties=ties, fit_intercept=intercept)
    rows = Rows.of(sp.csr_array(X))
    if is_hat is not None:
        with_hats(rows, is_hat)
    return learner, learner.update(learner.init(X.shape[1], n_classes), rows, codes, importances=importances)


def learn_reference(X, codes, n_classes=2, ties="mistake", intercept=True, importances=None, is_hat=None):
    plain = [True] * (X.shape[1] + 1) if is_hat is None else [True, *(hat == 0 for hat in is_hat)]
    pool = reference.Pool(X.shape[1] + 1, n_classes, ties, plain)
    for i, (x, code) in enumerate(zip(fold(X, intercept), codes.tolist(), strict=True)):
        pool.learn(x, sign(code, n_classes), 1.0 if importances is None else float(importances[i]))
    return pool


def fold(X, intercept=True):
    return [[1.0 if intercept else 0.0, *x] for x in X.tolist()]


def sign(code, n_classes):
    return 2 * code - 1 if n_classes == 2 else code


def arrays_of(state):
    return {**pool_of(state).arrays(), "theta": state.raw.coef, "bias": state.raw.bias, "counts": state.counts}


def assert_same(state, other):
    for name, array in arrays_of(other).items():
        np.testing.assert_array_equal(arrays_of(state)[name], array, err_msg=name)


@many_classes
@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "origin"])
@pytest.mark.parametrize("is_hat", [None, HATS], ids=["plain", "hats"])
@pytest.mark.parametrize("is_weighted", [False, True], ids=["equal", "weighted"])
def test_everything_matches_the_reference_to_the_last_bit(n_classes, ties, intercept, is_hat, is_weighted):
    X, codes = rows_and_codes(1, n_classes)
    weights = np.random.default_rng(2).choice([0.25, 1.0, 3.5], len(X)) if is_weighted else None
    how = n_classes, ties, intercept, weights, is_hat
    pool = learn_reference(X, codes, *how)
    learner, state = learn(X, codes, *how)

    found = pool_of(state).arrays()
    ledger = learner.ledger(state)
    assert ledger.mistakes == pool.mistakes
    assert [candidate.mistakes for candidate in ledger.candidates] == pool.wrong
    assert [candidate.weight for candidate in ledger.candidates] == pool.h
    scored, kept = np.moveaxis(found["scored"], -1, 0), np.moveaxis(found["kept"], -1, 0)
    plain = pool.plain_pa if is_hat is not None else None
    expected = [pool.adagrad.w, pool.pa.w, pool.pa.sums, pool.arow.w, None]
    expected += [plain.w, plain.sums] if plain is not None else [None, None]
    for column, values in zip(scored, expected, strict=False):
        if values is not None:
            np.testing.assert_array_equal(column.T, values)
    np.testing.assert_array_equal(scored[-1][:, 0], pool.coin.M)
    coin = pool.coin
    for column, values in zip(kept, [pool.adagrad.G, pool.arow.S, coin.W, coin.theta, coin.A], strict=True):
        np.testing.assert_array_equal(column.T, values)
    for mixer, own in zip(found["mixers"], pool.mixers, strict=True):
        np.testing.assert_array_equal(mixer, [own.a, *own.P])
    np.testing.assert_array_equal(found["squares"], pool.squares)
    assert found["numbers"][COIN_COUNT] == len(X)
    assert found["numbers"][COIN_SUM] == sum(coin.squares)
    np.testing.assert_array_equal(np.hstack([state.raw.bias[:, None], state.raw.coef]), pool.theta)
    queries, _ = rows_and_codes(3, n_classes)
    scores = learner.score(state, Rows.of(sp.csr_array(queries)))
    np.testing.assert_array_equal(scores.reshape(len(queries), -1), [pool.score(x) for x in fold(queries, intercept)])


@many_classes
@pytest.mark.parametrize("ties", TIES)
def test_each_mistake_is_what_scoring_said_just_before(n_classes, ties):
    X, codes = rows_and_codes(4, n_classes)
    learner = Learner(rules.Auto(), ties=ties)
    state = learner.init(X.shape[1], n_classes)
    for i in range(len(X)):
        row = Rows.of(X[i : i + 1])
        scores = learner.score(state, row)
        is_wrong = reference.errs(np.ravel(scores).tolist(), sign(int(codes[i]), n_classes), ties)
        before = learner.ledger(state).mistakes
        state = learner.update(state, row, codes[i : i + 1])
        assert learner.ledger(state).mistakes - before == is_wrong
    assert 0 < learner.ledger(state).mistakes < len(X)


@many_classes
def test_dense_and_sparse_rows_blocks_and_single_examples_agree(n_classes):
    X, codes = rows_and_codes(5, n_classes, n=600)
    learner, whole = learn(X, codes, n_classes)
    in_order = np.arange(len(X))
    dense = learner.update(learner.init(X.shape[1], n_classes), Rows.of(X), codes, in_order)
    assert_same(dense, whole)
    parts = learner.init(X.shape[1], n_classes)
    for start in range(0, len(X), 7):
        parts = learner.update(parts, Rows.of(X[start : start + 7]), codes[start : start + 7])
    assert_same(parts, whole)
    assert len(pool_of(whole).trace) > 100


@many_classes
def test_examples_that_are_arrays_or_dicts_agree_with_blocks(n_classes):
    X, codes = rows_and_codes(6, n_classes)
    classes = list(range(n_classes))
    block = nk.Perceptron("auto").partial_fit(X, codes, classes=classes)
    arrays, dicts = nk.Perceptron("auto"), nk.Perceptron("auto")
    arrays.partial_fit(X[:1], codes[:1], classes=classes)
    for x, code in zip(X[1:], codes[1:].tolist(), strict=True):
        arrays.learn_one(x, code)
    assert arrays.ledger_.candidates == block.ledger_.candidates
    np.testing.assert_array_equal(arrays.decision_function(X), block.decision_function(X))
    names = [f"x{j}" for j in range(6)]
    for x, code in zip(X, codes.tolist(), strict=True):
        dicts.learn_one(dict(zip(names, x.tolist(), strict=True)), code)
    by_names = nk.Perceptron("auto")
    for x, code in zip(X, codes.tolist(), strict=True):
        by_names.partial_fit([dict(zip(names, x.tolist(), strict=True))], [code])
    assert dicts.ledger_.candidates == by_names.ledger_.candidates


# -- the theorem


@pytest.mark.parametrize("n_classes", [2, 3, 5])
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6), share=st.sampled_from([0.0, 0.5, 0.9, 1.0]), ties=st.sampled_from(list(TIES)))
def test_the_vote_errs_hardly_more_than_any_candidate(n_classes, seed, share, ties):
    """A share of the labels is chosen against the vote, the others by a linear function, which the candidates learn."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(4, n_classes))
    learner = Learner(rules.Auto(), ties=ties)
    state = learner.init(4, n_classes)
    for x in rng.integers(-2, 3, (80, 4)).astype(float):
        row = Rows.of(x[None])
        answer = int(learner.decide(learner.score(state, row))[0])
        code = (answer + 1) % n_classes if rng.random() < share else int(np.argmax(x @ u))
        state = learner.update(state, row, np.array([code]))
        ledger = learner.ledger(state)
        for candidate in ledger.candidates:
            assert ledger.mistakes <= reference.vote_bound(candidate.mistakes) * (1.0 + 1e-12)
        assert ledger.vote_bound == pytest.approx(min(reference.vote_bound(c.mistakes) for c in ledger.candidates))
    if share == 1.0:
        assert ledger.mistakes == 80


@many_classes
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_theta_certifies_the_margin(n_classes, seed):
    rng = np.random.default_rng(seed)
    X, u = rng.integers(-3, 4, (60, 4)).astype(float), rng.normal(size=(n_classes, 4))
    scores = X @ u.T
    codes = scores.argmax(axis=1) if n_classes > 2 else (scores[:, 1] > scores[:, 0]).astype(np.int64)
    learner, state = learn(X, codes, n_classes, intercept=False)
    signed = codes if n_classes > 2 else 2 * codes - 1
    V = differences(X, signed, n_classes)
    V = V[np.abs(V).sum(axis=1) > 0]
    at_most = learner.ledger(state).margin_at_most
    along = u.ravel() if n_classes > 2 else u[1] - u[0]
    margin = (V @ along).min() / np.linalg.norm(along)
    if at_most is not None and len(V) == len(differences(X, signed, n_classes)):
        assert margin <= at_most
        assert largest_margin(V) <= at_most * (1.0 + 1e-9) or not np.isfinite(largest_margin(V))


def test_the_bound_by_the_margin_holds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    u = np.array([1.0, -2.0, 0.5, 0.0, 1.0])
    u /= np.linalg.norm(u)
    X = X[np.abs(X @ u) > 0.3]
    learner, state = learn(X, (X @ u > 0).astype(np.int64), intercept=False)
    ledger = learner.ledger(state).with_margin(0.3)
    radius = np.linalg.norm(X, axis=1).max()
    of_pa = (radius**2 + 5.0) / 0.09
    assert ledger.mistake_bound == pytest.approx(reference.vote_bound(of_pa))
    assert ledger.candidates[1].mistakes <= of_pa
    assert 0 < ledger.mistakes <= ledger.mistake_bound


# -- classes, merging, files


def test_a_third_class_keeps_what_the_pool_says_about_two():
    X, codes = rows_and_codes(7, 2)
    learner, state = learn(X, codes)
    before = learner.score(state, Rows.of(X))
    after = learner.score(state.insert_class(2, scale=1.0), Rows.of(X))
    experts_agree = after[:, 1] - after[:, 0]
    np.testing.assert_allclose(experts_agree, before, atol=1e-9)
    assert not after[:, 2].any()
    assert learner.ledger(state.insert_class(2, scale=1.0)).candidates == learner.ledger(state).candidates


def test_exchanged_classes_are_the_labels_exchanged():
    X, codes = rows_and_codes(8, 2)
    learner, state = learn(X, codes)
    _, other = learn(X, 1 - codes)
    np.testing.assert_array_equal(learner.score(state.swap_classes(), Rows.of(X)), learner.score(other, Rows.of(X)))


def test_labels_may_come_in_any_order_and_number():
    X, codes = rows_and_codes(9, 4)
    words = np.array(["d", "b", "a", "c"])[codes]
    words[:10] = np.array(["d", "b"])[codes[:10] % 2]
    model, whole = nk.Perceptron("auto"), nk.Perceptron("auto")
    for x, word in zip(X, words.tolist(), strict=True):
        model.learn_one(x, word)
    whole.partial_fit(X, words, classes=None)
    assert model.classes_.tolist() == whole.classes_.tolist() == ["a", "b", "c", "d"]
    assert model.ledger_.candidates == whole.ledger_.candidates
    np.testing.assert_array_equal(model.decision_function(X), whole.decision_function(X))


@many_classes
def test_a_file_and_a_pickle_go_on_to_the_last_bit(n_classes, tmp_path):
    X, codes = rows_and_codes(10, n_classes)
    classes = list(range(n_classes))
    model = nk.Perceptron("auto").partial_fit(X[:30], codes[:30], classes=classes)
    model.save(tmp_path / "m.nk")
    for again in (nk.load(tmp_path / "m.nk"), pickle.loads(pickle.dumps(model))):
        again.partial_fit(X[30:], codes[30:])
        whole = nk.Perceptron("auto").partial_fit(X, codes, classes=classes)
        assert again.ledger_.candidates == whole.ledger_.candidates
        np.testing.assert_array_equal(again.decision_function(X), whole.decision_function(X))


@many_classes
def test_a_copy_does_not_learn(n_classes):
    X, codes = rows_and_codes(11, n_classes)
    learner, state = learn(X, codes, n_classes)
    kept = {name: array.copy() for name, array in arrays_of(state).items()}
    learner.update(state.copy(), Rows.of(X), codes)
    for name, array in arrays_of(state).items():
        np.testing.assert_array_equal(array, kept[name])


def test_merging_one_is_a_copy_and_merging_equals_keeps_the_weights():
    X, codes = rows_and_codes(12, 2)
    learner, state = learn(X, codes)
    assert_same(learner.merge([state]), state)
    _, same = learn(X, codes)
    merged = learner.merge([state, same])
    ledger, single = learner.ledger(merged), learner.ledger(state)
    assert ledger.examples == 2 * single.examples
    assert ledger.mistakes == 2 * single.mistakes
    assert [c.mistakes for c in ledger.candidates] == [2 * c.mistakes for c in single.candidates]
    assert [c.weight for c in ledger.candidates] == pytest.approx([c.weight for c in single.candidates])
    assert ledger.margin_at_most == pytest.approx(single.margin_at_most)
    assert ledger.mistake_bound is None


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n_pools=st.integers(2, 4))
def test_the_bound_of_merged_pools_holds(seed, n_pools):
    rng = np.random.default_rng(seed)
    learner, states = Learner(rules.Auto()), []
    for size in rng.integers(5, 60, n_pools):
        X = rng.integers(-2, 3, (size, 4)).astype(float)
        states.append(learner.update(learner.init(4), Rows.of(X), rng.integers(0, 2, size)))
    merged = learner.merge(states)
    for x in rng.integers(-2, 3, (40, 4)).astype(float):
        answer = int(learner.decide(learner.score(merged, Rows.of(x[None])))[0])
        merged = learner.update(merged, Rows.of(x[None]), np.array([1 - answer]))
    ledger = learner.ledger(merged)
    cost = n_pools * math.log(8.0) + math.log(n_pools)
    assert ledger.vote_cost == pytest.approx(cost)
    assert ledger.mistakes <= ledger.vote_bound


def test_late_hats_leave_the_plain_expert_what_it_was():
    X, codes = rows_and_codes(13, 2)
    early = X.copy()
    early[:30, 3:] = 0.0
    learner = Learner(rules.Auto())
    state = learner.update(learner.init(3), Rows.of(sp.csr_array(early[:30, :3])), codes[:30])
    state = learner.update(state.widen(6), with_hats(Rows.of(sp.csr_array(early[30:]))), codes[30:])
    _, whole = learn(early, codes, is_hat=HATS)
    assert_same(state, whole)


@many_classes
def test_the_blended_weights_score_as_the_log_mixer_does(n_classes):
    X, codes = rows_and_codes(14, n_classes)
    model = nk.Perceptron("auto").partial_fit(X, codes, classes=list(range(n_classes)))
    pool = learn_reference(X, codes, n_classes, ties=model.ties)
    weights = np.zeros((pool.n_vectors, 7))
    pa = np.array(pool.pa.w) - np.array(pool.pa.sums) / pool.n
    coin = [[pool.coin._weight(k, j, pool.coin.M[j]) for j in range(7)] for k in range(pool.n_vectors)]
    experts = pool.adagrad.w, pool.pa.w, pa, pa, pool.arow.w, coin
    for a, w, square in zip(pool.mixers[0].a, experts, pool.squares, strict=True):
        weights += a * np.array(w) / math.sqrt(square / pool.n)
    np.testing.assert_allclose(np.hstack([model.intercept_[:, None], model.coef_]), weights, rtol=1e-9, atol=1e-12)


def test_a_linear_model_of_a_stream_has_the_mixers_mistakes(tmp_path):
    X, codes = rows_and_codes(15, 2, n=200)
    path = tmp_path / "rows.csv"
    lines = [",".join([*map(repr, x), "ab"[code]]) for x, code in zip(X.tolist(), codes.tolist(), strict=True)]
    path.write_text("\n".join([",".join([*"uvwxyz", "label"]), *lines]) + "\n")
    model = nk.learn(path, rule="auto", target="label")
    linear = model.to_linear()
    assert linear.ledger.mistakes == next(c.mistakes for c in model.experts_ if c.name == "log mixer")
    assert linear.ledger.examples == model.ledger.examples == 200
    linear.save(tmp_path / "linear.nk")
    model.save(tmp_path / "model.nk")
    again = nk.load(tmp_path / "linear.nk")
    assert again.heaviest() == linear.heaviest() == model.heaviest() == nk.load(tmp_path / "model.nk").heaviest()
    assert nk.load(tmp_path / "model.nk").experts_ == model.experts_
    with pytest.raises(RuleError, match="'auto'"):
        linear.to_linear()


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_row_that_is_no_number_ends_a_pass_before_it(bad, form):
    X, codes = rows_and_codes(16, 2)
    X[30, 2] = bad
    learner = Learner(rules.Auto())
    state = learner.init(6)
    with pytest.raises(DataError, match="row 30, column 2"):
        learner.update(state, Rows.of(form(X)), codes)
    _, expected = learn(X[:30], codes[:30])
    assert_same(state, expected)


@pytest.mark.parametrize(("index", "value"), [(LENGTH, 257.0), (LENGTH, -1.0), (LENGTH, 0.5), (STRIDE, 0.0)])
def test_a_file_with_an_impossible_trace_is_refused(index, value):
    _, state = learn(*rows_and_codes(17, 2))
    arrays = pool_of(state).copy().arrays()
    arrays["numbers"][index] = value
    with pytest.raises(ModelFileError, match="trace"):
        PoolSlots.of_arrays(arrays)


def test_other_hypotheses_are_refused():
    for name in ("averaged", "voted", "pocket"):
        with pytest.raises(RuleError, match="hypothesis='last'"):
            nk.Perceptron("auto", name).fit([[1.0], [-1.0]], [0, 1])

"""The result does not depend on how rows come: dense, sparse, named, in blocks, one by one, resumed or merged."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import novikoff as nk
from novikoff import Learner, Rows, hypotheses, rules
from tests.reference import perceptron as reference
from tests.support.strategies import (
    FORMATS,
    HYPOTHESES,
    ORDERS,
    TIES,
    account,
    assert_same,
    assert_same_answers,
    csr,
    dicts,
    integers,
    one_by_one,
    raw,
    streams,
    tied,
)

WORDS = ("ham", "spam", "eggs")
label_sets = st.sampled_from([(0, 1), (-1, 1), (False, True), WORDS[:2], (0, 1, 2), WORDS, (3, -1, 2, 7)])
exact_rules = st.sampled_from([rules.Perceptron(), rules.Margin(beta=2.0)])


@st.composite
def runs(draw, classes_known=None):
    """Draw (X, y, a function that makes a new model for them); labels are known in advance or met along the way."""
    labels = draw(label_sets)
    X, y = draw(streams(labels))
    known = draw(st.booleans()) if classes_known is None else classes_known
    of = {
        "rule": draw(exact_rules),
        "hypothesis": draw(st.sampled_from(HYPOTHESES)),
        "ties": draw(st.sampled_from(TIES)),
        "fit_intercept": draw(st.booleans()),
        "classes": list(labels) if known else None,
    }
    return X, y.tolist(), lambda **others: nk.Perceptron(**{**of, **others})


@st.composite
def cuts(draw, n):
    """Draw consecutive pieces of range(n), as (start, stop)."""
    inner = draw(st.sets(st.integers(1, max(1, n - 1)), max_size=4))
    return list(pairwise(sorted({0, n, *(cut for cut in inner if cut < n)})))


# -- the form of the rows


@pytest.mark.parametrize("form", [*FORMATS, "dicts"])
@given(run=runs())
def test_blocks_in_every_form(form, run):
    X, y, fresh = run
    rows = dicts(X) if form == "dicts" else FORMATS[form](X)
    assert_same(fresh().partial_fit(X, y), fresh().partial_fit(rows, y), X, rows)


SINGLES = {
    "arrays": lambda X: list(X),
    "float32": lambda X: list(X.astype(np.float32)),
    "int8": lambda X: list(X.astype(np.int8)),
    "lists": lambda X: X.tolist(),
    "rows": lambda X: [x.reshape(1, -1) for x in X],
    "sparse": lambda X: [sp.csr_array(x.reshape(1, -1)) for x in X],
    "dicts": dicts,
}


@pytest.mark.parametrize("form", SINGLES)
@given(run=runs())
def test_one_at_a_time_in_every_form(form, run):
    X, y, fresh = run
    answers = dicts(X) if form == "dicts" else X
    assert_same(fresh().partial_fit(X, y), one_by_one(fresh(), SINGLES[form](X), y), X, answers)


@given(run=runs())
def test_names_may_come_in_any_order_and_zeros_may_be_left_out(run):
    X, y, fresh = run
    full, sparse = dicts(X), [dict(reversed(x.items())) for x in dicts(X, zeros=False)]
    model = fresh().partial_fit(full, y)
    for other in (fresh().partial_fit(sparse, y), one_by_one(fresh(), sparse, y)):
        assert_same_answers(model, other, full, sparse)
        assert account(model.ledger_) == account(other.ledger_)


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_rows_without_features_update_the_intercept(hypothesis):
    """All dicts may be empty; they still have the constant coordinate."""
    y = [0, 0, 1, 1, 1, 1, 0, 0]
    block, single = (nk.Perceptron(hypothesis=hypothesis, classes=[0, 1]) for _ in range(2))
    assert_same(block.partial_fit([{}] * 8, y), one_by_one(single, [{}] * 8, y), [{}])


@pytest.mark.parametrize("form", [*FORMATS, "dicts"])
@given(run=runs(classes_known=True))
def test_predict_one_is_predict(form, run):
    X, y, fresh = run
    singles, rows = (dicts(X), dicts(X)) if form == "dicts" else (X, FORMATS[form](X))
    model = fresh().partial_fit(rows, y)
    answers = list(zip([model.predict_one(x) for x in singles], model.predict(rows).tolist(), strict=True))
    unsure = tied(model.decision_function(rows)) if model.hypothesis == "averaged" else np.zeros(len(X), bool)
    assert all(one == block for (one, block), skip in zip(answers, unsure, strict=True) if not skip)


@pytest.mark.parametrize("rule", rules.NAMES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("hypothesis", HYPOTHESES)
def test_real_numbers_in_every_form(rule, n_classes, hypothesis):
    """The steps of passive-aggressive rules are rounded; on continuous data no decision depends on that."""
    if hypothesis == "voted" and isinstance(rules.resolve(rule), rules.StatefulRule):
        pytest.skip("stateful rules have no voted hypothesis")
    if hypothesis != "last" and rule == "auto":
        pytest.skip("auto answers by its vote")
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 4)), rng.integers(0, n_classes, 60)
    base = nk.Perceptron(rule, hypothesis).partial_fit(X, y)
    for feed, rows in [
        (nk.Perceptron.partial_fit, csr(X)),
        (nk.Perceptron.partial_fit, dicts(X)),
        (one_by_one, X),
        (one_by_one, dicts(X)),
    ]:
        assert_same(base, feed(nk.Perceptron(rule, hypothesis), rows, y), X, rows, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", [lambda X: X, csr])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 3, 16, 33, 100, 257])
def test_score_and_squared_norm_in_one_loop_equal_those_in_two(form, dtype, width):
    """To the last bit: the steps of this rule depend on every bit of margin and squared norm."""
    rng = np.random.default_rng(width)
    X, y = rng.normal(size=(200, width)).astype(dtype), rng.integers(0, 2, 200)
    learner = Learner(rules.PassiveAggressive())
    met, measured = Rows.of(form(X)), Rows.of(form(X))
    measured.require_numbers()
    states = [learner.update(learner.init(width), rows, y) for rows in (met, measured)]
    assert met.squared_norms.tolist() == measured.squared_norms.tolist()
    assert states[0].raw.coef.tolist() == states[1].raw.coef.tolist()


# -- blocks


@given(run=runs(), data=st.data())
def test_one_block_equals_many(run, data):
    X, y, fresh = run
    model = fresh()
    for start, stop in data.draw(cuts(len(X))):
        form = data.draw(st.sampled_from([*FORMATS, "one by one"]))
        if form == "one by one":
            one_by_one(model, X[start:stop], y[start:stop])
        else:
            model.partial_fit(FORMATS[form](X[start:stop]), y[start:stop])
    assert_same(fresh().partial_fit(X, y), model, X)


@given(run=runs(), data=st.data())
def test_named_features_may_be_added_later(run, data):
    X, y, fresh = run
    rows = dicts(X, zeros=False)
    model = fresh()
    for start, stop in data.draw(cuts(len(X))):
        feed = data.draw(st.sampled_from([nk.Perceptron.partial_fit, one_by_one]))
        feed(model, rows[start:stop], y[start:stop])
    assert_same(one_by_one(fresh(), rows, y), model, rows)


@given(run=runs(classes_known=True), passes=st.integers(1, 4))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_fit_is_one_partial_fit_for_each_pass(run, passes):
    X, y, fresh = run
    batch = fresh(max_iter=passes).fit(X, y)
    online = fresh()
    for _ in range(batch.n_iter_):
        online.partial_fit(X, y)
    if batch.hypothesis != "pocket" or passes == 1:  # over several passes the ratchet has a say
        assert_same(batch, online, X)
    assert raw(batch).tolist() == raw(online).tolist()


@given(run=runs(classes_known=True))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_learning_goes_on_after_fit(run):
    X, y, fresh = run
    assert_same(fresh().partial_fit(X, y).partial_fit(X, y), one_by_one(fresh(max_iter=1).fit(X, y), X, y), X)


def test_classes_may_be_given_at_the_first_partial_fit():
    X, y = integers(2, 30, 3, 3)
    assert_same(
        nk.Perceptron(classes=[0, 1, 2]).partial_fit(X, y), nk.Perceptron().partial_fit(X, y, classes=[0, 1, 2]), X
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_trace_does_not_depend_on_blocks(n_classes):
    X, y = integers(3, 4000, 3, n_classes)
    block = nk.Perceptron().partial_fit(X, y)
    blocks = nk.Perceptron()
    for start in range(0, 4000, 77):
        blocks.partial_fit(X[start : start + 77], y[start : start + 77])
    for other in (blocks, one_by_one(nk.Perceptron(), X, y)):
        assert_same(block, other, X)
    trace = block.ledger_.trace
    assert 256 <= len(trace) <= 512 < block.ledger_.updates
    assert set(np.diff(trace.updates)) == {trace.updates[0]}


# -- labels that turn up late


@pytest.mark.parametrize("ties", TIES)
@given(stream=streams(labels=(0, 2)), late=streams(labels=(0, 1, 2)), third=st.sampled_from([-5, 1, 9]))
def test_a_third_class_added_later_equals_one_known_from_the_start(ties, stream, late, third):
    """The perceptron's w becomes -w and w, as with one vector per class from the start, wherever the third class
    sorts."""
    X, y = stream
    model = nk.Perceptron(ties=ties, classes=[0, 2]).partial_fit(X, y)
    run = reference.Run([np.zeros((2, X.shape[1] + 1))])
    reference.learn(run, reference.folded(X, True), y // 2, reference.perceptron, ties)
    width = min(X.shape[1], late[0].shape[1])
    X_late = np.hstack([late[0][:, :width], np.zeros((len(late[0]), X.shape[1] - width))])
    y_late = np.where(late[1] == 1, third, late[1])
    if third not in y_late:
        y_late[0] = third
    model.partial_fit(X_late, y_late)

    labels = sorted([0, 2, third])
    # met when its first row is reached, and not before
    first = int(np.argmax(y_late == third))
    reference.learn(run, reference.folded(X_late[:first], True), y_late[:first] // 2, reference.perceptron, ties)
    run.weights[-1] = np.insert(run.weights[-1], labels.index(third), 0.0, axis=0)
    codes = [labels.index(label) for label in y_late[first:]]
    reference.learn(run, reference.folded(X_late[first:], True), codes, reference.perceptron, ties)
    assert model.classes_.tolist() == labels
    assert raw(model).tolist() == reference.last(run).tolist()
    assert model.ledger_.mistakes == sum(run.mistakes)
    norm = np.linalg.norm(reference.last(run))
    assert model.ledger_.norm == pytest.approx(norm)
    if model.ledger_.updates:
        assert model.ledger_.trace.norm[-1] == pytest.approx(norm)


# -- hypotheses, from the weights that one example after another left


def mean_votes(all_weights, X, ties):
    """Return the mean of one vote per vector on each row: (rows,) signed, or (rows, classes)."""
    found = []
    for x in reference.folded(X, True):
        votes = [reference.predict(w[0] @ x if len(w) == 1 else w @ x, ties) for w in all_weights]
        n_classes = len(all_weights[0])
        found.append(np.mean(votes) if n_classes == 1 else np.bincount(votes, minlength=n_classes) / len(votes))
    return np.array(found)


def assert_equal_to_definition(X, y, all_weights, **of):
    """Compare the averaged and the voted perceptron with the mean and the votes of the weights after each example."""
    averaged = nk.Perceptron(hypothesis="averaged", **of).partial_fit(X, y)
    mean = np.mean(all_weights, axis=0)
    np.testing.assert_allclose(np.column_stack([averaged.coef_, averaged.intercept_]), mean, rtol=1e-12, atol=1e-12)
    voted = nk.Perceptron(hypothesis="voted", **of).partial_fit(X, y)
    np.testing.assert_allclose(voted.decision_function(X), mean_votes(all_weights, X, of["ties"]), atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
@given(stream=streams(labels=(0, 1, 2)), ties=st.sampled_from(TIES))
def test_averages_and_votes_equal_their_definition(n_classes, stream, ties):
    X, y = stream[0], np.minimum(stream[1], n_classes - 1)
    of = {"ties": ties, "classes": range(n_classes)}
    stepped = nk.Perceptron(**of)
    assert_equal_to_definition(X, y, [raw(stepped.learn_one(x, label)) for x, label in zip(X, y, strict=True)], **of)


@given(stream=streams(labels=WORDS), ties=st.sampled_from(TIES))
def test_averages_and_votes_with_labels_met_along_the_way(stream, ties):
    X, y = stream
    model, known, past = nk.Perceptron(ties=ties), [], []
    for x, label in zip(X, y.tolist(), strict=True):
        model.learn_one(x, label)
        if label not in known:
            past = [as_if_known(w, known, label) for w in past]
            known = sorted([*known, label])
        past.append(raw(model))
    assert_equal_to_definition(X, y, past, ties=ties)


def as_if_known(w, known, new):
    """Return weights from before a label was known, for the labels after it. A single label is the positive one."""
    if len(known) == 1:
        return w if known[0] > new else -w
    vectors = np.vstack([-w, w]) if len(known) == 2 else w
    return np.insert(vectors, sorted([*known, new]).index(new), 0.0, axis=0)


# -- breaks


@given(run=runs(), data=st.data())
def test_resumed_equals_uninterrupted(run, data):
    X, y, fresh = run
    model = fresh()
    feed = data.draw(st.sampled_from([nk.Perceptron.partial_fit, one_by_one]))
    cut = data.draw(st.integers(0, len(X)))
    if cut:
        feed(model, X[:cut], y[:cut])
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        if cut < len(X):
            feed(copied, X[cut:], y[cut:])
        assert_same(fresh().partial_fit(X, y), copied, X)
    if cut > 0:
        assert_same(fresh().partial_fit(X[:cut], y[:cut]), model, X)  # what the copies learned it does not know


def read_everything(model, X):
    model.decision_function(X), model.predict(X), model.classes_, repr(model.ledger_), model.ledger_._repr_html_()
    model.predict_one(X[0])
    if model.hypothesis != "voted":
        model.coef_[:], model.intercept_[:] = 7.0, 7.0
    model.raw_coef_[:], model.raw_intercept_[:] = 7.0, 7.0
    model.ledger_.trace.points.clear()


@pytest.mark.parametrize("feed", [nk.Perceptron.partial_fit, one_by_one])
@given(run=runs())
def test_reading_does_not_change_the_model(feed, run):
    X, y, fresh = run
    model = fresh()
    for i in range(len(X)):
        feed(model, X[i : i + 1], y[i : i + 1])
        read_everything(model, X)
    assert_same(fresh().partial_fit(X, y), model, X)


# -- merging


@st.composite
def shards(draw):
    """Draw a learner, and shards (rows, codes) of two or three classes."""
    n_classes, d = draw(st.sampled_from([2, 3])), draw(st.integers(1, 3))
    name, rule = draw(st.sampled_from(HYPOTHESES)), draw(exact_rules)
    learner = Learner(rule, hypotheses.resolve(name), draw(st.sampled_from(TIES)), draw(st.booleans()))
    parts = []
    for seed in draw(st.lists(st.integers(0, 999), min_size=1, max_size=3)):
        X, codes = integers(seed, draw(st.integers(1, 9)), d, n_classes)
        parts.append((Rows.of(draw(st.sampled_from([np.array, csr]))(X)), codes))
    states = [learner.update(learner.init(d, n_classes), rows, codes) for rows, codes in parts]
    return learner, states, parts


def everything(state):
    arrays = [state.raw.coef, state.raw.bias, state.sums.coef, state.sums.bias, state.pocket.coef, state.pocket.bias]
    return [a.tolist() for a in (*arrays, state.counts, state.measures)]


@given(shards())
def test_merge_of_one_state_equals_it(case):
    learner, (state, *_), ((rows, codes), *_) = case
    merged = learner.merge([state])
    assert everything(merged) == everything(state)
    assert learner.score(merged, rows).tolist() == learner.score(state, rows).tolist()
    np.testing.assert_array_equal(learner.ledger(merged).trace.points, learner.ledger(state).trace.points)
    before = everything(state)
    learner.update(merged, rows, codes)
    assert everything(state) == before


@given(shards())
def test_merge_of_several_states(case):
    """Averages are weighted by examples, votes are kept, counts add up, and the merged states do not change."""
    learner, states, ((rows, codes), *_) = case
    before = [everything(state) for state in states]
    merged = learner.merge(states)
    ledger, ledgers = learner.ledger(merged), [learner.ledger(state) for state in states]
    n = np.array([part.examples for part in ledgers])
    shares = n / n.sum()
    for count in ("examples", "mistakes", "updates"):
        assert getattr(ledger, count) == sum(getattr(part, count) for part in ledgers)
    assert ledger.radius == max(part.radius for part in ledgers)
    mixed = sum(share * state.raw.coef for share, state in zip(shares, states, strict=True))
    np.testing.assert_allclose(merged.raw.coef, mixed, atol=1e-12)
    np.testing.assert_allclose(ledger.norm, merged.raw.norm)
    if learner.hypothesis in (hypotheses.Averaged(), hypotheses.Voted()):
        scores = sum(share * learner.score(state, rows) for share, state in zip(shares, states, strict=True))
        np.testing.assert_allclose(learner.score(merged, rows), scores, atol=1e-12)
    merged = learner.update(merged, rows, codes)
    assert learner.ledger(merged).examples == n.sum() + len(codes)
    assert [everything(state) for state in states] == before


@pytest.mark.parametrize("n_classes", [2, 3])
def test_learning_goes_on_after_a_merge(n_classes):
    """It goes on from the merged weights; averages and votes are still those of all weight vectors."""
    parts = [integers(seed, 16, 3, n_classes) for seed in (1, 2, 3)]
    scores = {}
    for name in ("averaged", "voted"):
        learner = Learner(hypothesis=hypotheses.resolve(name))
        states = [learner.update(learner.init(3, n_classes), Rows.of(X), codes) for X, codes in parts[:2]]
        merged = learner.merge(states)
        begin = np.column_stack([merged.raw.coef, merged.raw.bias])
        merged = learner.update(merged, Rows.of(parts[2][0]), parts[2][1])
        scores[name] = learner.score(merged, Rows.of(parts[0][0]))

    history = []
    for number, (X, codes) in enumerate(parts):
        run = reference.start(4, n_classes)
        if number == 2:
            run.weights[0] = begin[0] if n_classes == 2 else begin
        y = 2 * codes - 1 if n_classes == 2 else codes
        reference.learn(run, reference.folded(X, True), y, reference.perceptron, "mistake")
        history.append(run)
    queries = reference.folded(parts[0][0], True)
    mean = sum(reference.averaged(run) for run in history) / 3
    np.testing.assert_allclose(scores["averaged"], queries @ mean.T, atol=1e-12)
    votes = [sum(reference.votes(run, x, "mistake") for run in history) / 3 for x in queries]
    np.testing.assert_allclose(scores["voted"], votes, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_orders_do_not_depend_on_the_format(order):
    X, y = integers(4, 40, 4, 3)
    of = {"order": order, "max_iter": 3, "random_state": 5, "hypothesis": "averaged"}
    with pytest.warns(match="did not converge"):
        base = nk.Perceptron(**of).fit(X, y)
    for form in FORMATS.values():
        with pytest.warns(match="did not converge"):
            assert_same(base, nk.Perceptron(**of).fit(form(X), y), X)

"""The compiled passes compared with the reference, and with scikit-learn to the last bit."""

import math

import numpy as np
import pytest
from sklearn.linear_model import Perceptron as ScikitPerceptron

import novikoff as nk
from novikoff import Learner, Rows, hypotheses, rules
from novikoff._compiled.loops import additive
from novikoff.perceptron.compiled_rules import compile_rule
from tests.reference import perceptron as reference
from tests.support import strategies
from tests.support.strategies import FORMATS, HYPOTHESES, TIES

C = 1 / 8
RULES = {
    "perceptron": (rules.Perceptron(), reference.perceptron),
    "margin": (rules.Margin(beta=2.0), reference.margin_rule(2.0)),
    "passive-aggressive": (rules.PassiveAggressive(), reference.pa()),
    "passive-aggressive-I": (rules.PassiveAggressive(C=C, variant="I"), reference.pa_1(C)),
    "passive-aggressive-II": (rules.PassiveAggressive(C=C, variant="II"), reference.pa_2(C)),
}
EXACT = ("perceptron", "margin")  # steps are 0 or 1, so integer data stay exact however long the run is

intercepts = pytest.mark.parametrize("intercept", [True, False], ids=["intercept", "origin"])
many_ties = pytest.mark.parametrize("ties", TIES)
many_formats = pytest.mark.parametrize("form", FORMATS)
many_hypotheses = pytest.mark.parametrize("hypothesis", HYPOTHESES)
two_or_many = pytest.mark.parametrize("n_classes", [2, 4], ids=["binary", "multiclass"])


def problem(rule, n_classes, intercept, n=16, d=5):
    """Return rows and codes for which 16 steps of the rule are exact, and also averages, since 16 is a power of two."""
    if rule in EXACT:
        return strategies.integers(3, n, d, n_classes)
    return strategies.signs(3, n, d, n_classes, (4 if n_classes == 2 else 2) - intercept)


def signed(codes, n_classes):
    return 2 * codes - 1 if n_classes == 2 else codes


def reference_scores(run, name, X, ties):
    """Return the scores of the hypothesis of this name for rows."""
    if name == "voted":
        return np.array([reference.votes(run, x, ties) for x in X])
    weights = getattr(reference, name)(run)
    return X @ (run.weights[0] if weights is None else weights).T


def reference_labels(scores, ties):
    return [reference.predict(score, ties) for score in scores]


@two_or_many
@many_formats
@many_hypotheses
@pytest.mark.parametrize("rule", RULES)
@many_ties
@intercepts
def test_stream_matches_reference(rule, hypothesis, form, n_classes, ties, intercept):
    X, codes = problem(rule, n_classes, intercept)
    ours, step = RULES[rule]
    folded = reference.folded(X, intercept)
    run = reference.start(folded.shape[1], n_classes)
    reference.learn(run, folded, signed(codes, n_classes), step, ties)

    learner = Learner(ours, hypotheses.resolve(hypothesis), ties, intercept)
    state = learner.update(learner.init(X.shape[1], n_classes), Rows.of(FORMATS[form](X)), codes)

    weights = np.atleast_2d(reference.last(run))
    np.testing.assert_array_equal(state.raw.coef, weights[:, : X.shape[1]])
    np.testing.assert_array_equal(state.raw.bias, weights[:, -1] if intercept else np.zeros(len(weights)))
    ledger = learner.ledger(state)
    assert ledger.examples == len(X)
    assert ledger.mistakes == sum(run.mistakes)
    assert ledger.updates == sum(tau > 0 for tau in run.steps)
    assert ledger.step_sum == sum(run.steps)
    assert ledger.norm == pytest.approx(np.linalg.norm(weights))
    assert ledger.radius**2 == pytest.approx((folded**2).sum(axis=1).max() * (1 if n_classes == 2 else 2))

    queries, _ = strategies.integers(4, 40, X.shape[1], n_classes)
    expected = reference_scores(run, hypothesis, reference.folded(queries, intercept), ties)
    scores = learner.score(state, Rows.of(FORMATS[form](queries)))
    np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-12)
    assert signed(learner.decide(scores), n_classes).tolist() == reference_labels(scores, ties)
    if rule in EXACT:
        np.testing.assert_array_equal(scores, expected)


@two_or_many
@many_formats
@many_hypotheses
@pytest.mark.parametrize("rule", EXACT)
@pytest.mark.parametrize("passes", [1, 3, 1000])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_passes_match_reference(rule, hypothesis, form, n_classes, passes):
    ours, step = RULES[rule]
    # 1000 passes only on data where they converge: rows on different axes are separable for any labels
    X, codes = strategies.integers(5, 16, 5, n_classes) if passes < 1000 else (np.eye(16), np.arange(16) % n_classes)
    folded = reference.folded(X, True)
    y = signed(codes, n_classes)
    run = reference.start(folded.shape[1], n_classes)
    clean = "steps" if rule == "margin" else "mistakes"
    reference.cycle(run, folded, y, step, "mistake", passes, clean=clean)

    clf = nk.Perceptron(ours, hypothesis, max_iter=passes).fit(FORMATS[form](X), y)

    np.testing.assert_array_equal(strategies.raw(clf), np.atleast_2d(reference.last(run)))
    assert (clf.n_iter_, clf.converged_) == (len(run.passes), run.converged)
    assert clf.converged_ == (passes == 1000)
    assert (clf.ledger_.mistakes, clf.ledger_.passes) == (sum(run.mistakes), len(run.passes))
    if hypothesis == "pocket":
        expected = folded @ reference.ratchet(run, folded, y, "mistake").T
    else:
        expected = reference_scores(run, hypothesis, folded, "mistake")
    np.testing.assert_allclose(clf.decision_function(FORMATS[form](X)), expected, rtol=1e-12, atol=1e-12)


@pytest.fixture
def passes(monkeypatch):
    """The weights at the start of each pass, and the order in which it visited the rows."""
    update, found = Learner.update_unchecked, []

    def spy(self, state, visits):
        order = [] if visits.order is None else visits.order.tolist()
        found.append((np.column_stack([state.raw.coef, state.raw.bias]), order))
        return update(self, state, visits)

    monkeypatch.setattr(Learner, "update_unchecked", spy)
    return found


@two_or_many
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_order_of_rows_in_a_pass(n_classes, passes):
    X, codes = strategies.integers(6, 30, 3, n_classes)
    orders = {}
    for name in ("given", "shuffled", "random", "worst"):
        nk.Perceptron(order=name, max_iter=3, random_state=1).fit(X, codes)
        orders[name] = [order for _, order in passes[-3:]]
    assert all(order in ([], list(range(30))) for order in orders["given"])
    assert all(sorted(order) == list(range(30)) for order in orders["shuffled"])
    assert len({tuple(order) for order in [range(30), *orders["shuffled"]]}) == 4
    assert all(len(order) == 30 and len(set(order)) < 30 for order in orders["random"])
    assert len({tuple(order) for order in orders["random"]}) == 3
    for weights, order in passes[-3:]:
        scores = reference.folded(X, True) @ weights.T
        if n_classes == 2:
            margins = signed(codes, 2) * scores[:, 0]
        else:
            margins = [s[y] - max(np.delete(s, y)) for s, y in zip(scores, codes, strict=True)]
        assert order == np.argsort(margins, kind="stable").tolist()


@two_or_many
@pytest.mark.parametrize("form", ["float64", "csr32"])
@pytest.mark.parametrize("rule", [name for name in RULES if name not in EXACT])
def test_passive_aggressive_over_many_examples(rule, form, n_classes):
    """Rows drawn from a continuous distribution have no ties, so rounding decides nothing."""
    rng = np.random.default_rng(7)
    X, codes = rng.normal(size=(300, 6)), rng.integers(0, n_classes, 300)
    ours, step = RULES[rule]
    run = reference.start(7, n_classes)
    reference.learn(run, reference.folded(X, True), signed(codes, n_classes), step, "mistake")
    clf = nk.Perceptron(ours, "averaged").partial_fit(FORMATS[form](X), codes, classes=range(n_classes))
    assert clf.ledger_.mistakes == sum(run.mistakes)
    np.testing.assert_allclose(strategies.raw(clf), np.atleast_2d(reference.last(run)), rtol=1e-9)
    np.testing.assert_allclose(
        np.column_stack([clf.coef_, clf.intercept_]), np.atleast_2d(reference.averaged(run)), rtol=1e-9, atol=1e-12
    )


def users_passive_aggressive(margin, squared_norm):
    return min(C, (1.0 - margin) / squared_norm) if margin < 1.0 else 0.0


@two_or_many
@pytest.mark.parametrize("form", ["float64", "csr32"])
def test_users_rule_equals_the_built_in_rule(form, n_classes):
    X, codes = strategies.integers(8, 40, 5, n_classes)
    X = FORMATS[form](X)
    of = {"hypothesis": "averaged", "classes": range(n_classes)}
    built_in = nk.Perceptron(RULES["passive-aggressive-I"][0], **of).partial_fit(X, codes)
    strategies.assert_same(nk.Perceptron(users_passive_aggressive, **of).partial_fit(X, codes), built_in, X)


@pytest.mark.parametrize(
    "rule",
    [
        rules.Perceptron(),
        rules.Perceptron(learning_rate=0.3),
        rules.Margin(beta=0.0),
        rules.Margin(beta=1.5),
        rules.PassiveAggressive(),
        rules.PassiveAggressive(variant="II"),
        rules.PassiveAggressive(C=0.3, variant="I"),
        rules.PassiveAggressive(C=0.3, variant="II"),
    ],
    ids=repr,
)
def test_rule_in_python_equals_the_compiled_rule(rule):
    code, parameter, _ = compile_rule(rule)
    for margin in (-7.5, -1.0, -0.0, 0.0, 0.3, 1.0, math.nextafter(1.0, 2.0), 1.5, 40.0):
        for squared_norm in (0.0, 1e-300, 0.7, 1.0, 12.0, 1e280):
            for mistake in (False, True):
                compiled = additive.step_size(code, parameter, margin, squared_norm, mistake)
                assert rule.step(margin, squared_norm, mistake) == compiled


@pytest.mark.parametrize(("form", "intercept"), [("float64", True), ("float64", False), ("csr32", False)])
@pytest.mark.parametrize("passes", [1, 2, 7])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_equal_those_of_scikit_learn(form, intercept, passes):
    """To the last bit. Sparse rows only without intercept, for which scikit-learn takes a smaller step on them."""
    rng = np.random.default_rng(9)
    X = rng.normal(size=(500, 12)) * (rng.random((500, 12)) < 0.5)
    y = np.where(X @ rng.normal(size=12) + rng.normal(size=500) > 0.3, "up", "down")
    X = FORMATS[form](X)
    theirs = ScikitPerceptron(shuffle=False, tol=None, max_iter=passes, fit_intercept=intercept).fit(X, y)
    ours = nk.Perceptron(max_iter=passes, fit_intercept=intercept).fit(X, y)
    assert not ours.converged_
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)

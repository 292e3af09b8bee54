"""Kernel perceptrons on a budget: compared with the reference, their bounds, and the errors they raise."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import novikoff as nk
from novikoff import kernel_methods
from novikoff.errors import DataError, RuleError
from novikoff.inputs.rows import Rows
from tests.reference import kernel_methods as reference
from tests.support import strategies

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KERNELS = {
    "linear": ({}, reference.linear),
    "poly": ({"degree": 2, "gamma": 1, "coef0": 1}, reference.poly(2, 1, 1)),
    "rbf": ({"gamma": 0.5}, reference.rbf(0.5)),
    "laplacian": ({"gamma": 0.5}, reference.laplacian(0.5)),
}
many_kernels = pytest.mark.parametrize("kernel", KERNELS)
many_classes = pytest.mark.parametrize("n_classes", [2, 3])


def problem(n_classes, n=80, seed=3):
    """Return rows that cause no ties, except for one of zeros, and class codes."""
    X, codes = strategies.integers(seed, n, 3, n_classes)
    X = X + np.random.default_rng(seed).standard_normal(X.shape)
    X[7] = 0.0
    return X, codes


def budgeted(kernel, budget, **given):
    return nk.KernelPerceptron(
        kernel, **KERNELS[kernel][0], budget=budget, hypothesis="last", multi_class="direct", **given
    )


def run_reference(kernel, budget, X, codes, n_classes, ties="mistake"):
    run = reference.Forgetron(KERNELS[kernel][1], ties, n_classes, budget)
    for at, (x, y) in enumerate(zip(X.tolist(), codes.tolist(), strict=True)):
        run.learn(at, x, y)
    return run


@many_kernels
@many_classes
@pytest.mark.parametrize("ties", strategies.TIES)
@pytest.mark.parametrize("budget", [1, 5, 1000])
def test_equals_the_reference(kernel, n_classes, ties, budget):
    X, codes = problem(n_classes)
    run = run_reference(kernel, budget, X, codes, n_classes, ties)
    clf = budgeted(kernel, budget, ties=ties, max_iter=1).fit(X, codes)
    ledger = clf.ledger_
    assert ledger.mistakes == run.mistakes
    assert clf.support_.tolist() == [at for _, at, *_ in run.terms]
    np.testing.assert_allclose(clf._model.state.alpha, [weight for weight, *_ in run.terms], rtol=1e-9)
    assert ledger.deviation == pytest.approx(run.Q)
    assert ledger.shrinkage == pytest.approx(run.shrinkage, abs=1e-9)
    assert ledger.norm**2 == pytest.approx(run.squared_norm(), abs=1e-9)
    queries, _ = problem(n_classes, 20, seed=4)
    K = KERNELS[kernel][1]
    lengths = np.array([math.sqrt(K(x, x)) for x in queries.tolist()])
    expected = np.array([run.scores(x) if K(x, x) else [0.0] * n_classes for x in queries.tolist()])
    found = clf.decision_function(queries)
    if n_classes == 2:
        np.testing.assert_allclose(found, expected[:, 1] * lengths, atol=1e-9)
    else:
        np.testing.assert_allclose(found, expected * lengths[:, None] / math.sqrt(2), atol=1e-9)


@pytest.mark.parametrize("form", ["sparse", "function", "precomputed", "objects"])
def test_other_forms_of_input_give_the_same_model(form):
    X, codes = strategies.integers(5, 90, 3, 2)
    dense = budgeted("poly", 8, max_iter=3).fit(X, codes)
    K = (X @ X.T + 1.0) ** 2
    given = {"budget": 8, "hypothesis": "last", "max_iter": 3}
    if form == "sparse":
        other = budgeted("poly", 8, max_iter=3).fit(sp.csr_array(X), codes)
    elif form == "function":
        other = nk.KernelPerceptron(lambda x, z: ((x * z).sum() + 1.0) ** 2, **given).fit(X, codes)
    elif form == "precomputed":
        other = nk.KernelPerceptron("precomputed", **given).fit(K, codes)
    else:
        function = KERNELS["poly"][1]
        other = nk.KernelPerceptron(lambda x, z: function(x["row"], z["row"]), **given)
        other.fit([{"row": row} for row in X.tolist()], codes)
    np.testing.assert_array_equal(other.support_, dense.support_)
    np.testing.assert_array_equal(other.dual_coef_, dense.dual_coef_)
    queries = {"sparse": sp.csr_array(X), "precomputed": K}.get(form, X)
    if form != "objects":
        np.testing.assert_array_equal(other.decision_function(queries), dense.decision_function(X))


@many_kernels
@many_classes
def test_result_does_not_depend_on_the_block_size(kernel, n_classes):
    X, codes = problem(n_classes, 150)
    points = kernel_methods.Points.of(Rows.of(X))
    states = []
    for block in (1, 7, 1000):
        learner = kernel_methods.BudgetLearner(
            kernel_methods.Kernel(kernel, **KERNELS[kernel][0]), "direct", block=block, budget=6
        )
        states.append(learner.update(learner.init(n_classes), points, codes))
    for other in states[1:]:
        np.testing.assert_array_equal(other.counts, states[0].counts)
        np.testing.assert_array_equal(other.origins.values, states[0].origins.values)
        np.testing.assert_allclose(other.alpha, states[0].alpha, rtol=1e-9)
        np.testing.assert_allclose(other.measures, states[0].measures, rtol=1e-9)
        np.testing.assert_allclose(np.array(other.trace.points)[:, :4], np.array(states[0].trace.points)[:, :4])


@pytest.mark.parametrize("order", strategies.ORDERS)
def test_budget_of_all_rows_gives_the_perceptron(order):
    """Under a Gaussian kernel all rows have length 1: nothing is scaled, and no row is removed."""
    X, codes = problem(2)
    given = {"kernel": "rbf", "gamma": 0.5, "hypothesis": "last", "max_iter": 1, "order": order, "random_state": 0}
    plain = nk.KernelPerceptron(**given).fit(X, codes)
    budgeted_clf = nk.KernelPerceptron(**given, budget=len(X)).fit(X, codes)
    assert budgeted_clf.ledger_.mistakes == plain.ledger_.mistakes
    assert (budgeted_clf.ledger_.deviation, budgeted_clf.ledger_.shrinkage) == (0.0, 0.0)
    np.testing.assert_allclose(budgeted_clf.decision_function(X), plain.decision_function(X), rtol=1e-9, atol=1e-12)
    assert budgeted_clf.ledger_.margin_at_most == pytest.approx(plain.ledger_.margin_at_most)


def test_converges_if_the_budget_suffices():
    X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])
    for order in strategies.ORDERS:
        clf = budgeted("rbf", 50, order=order, max_iter=100, random_state=0).fit(X, y)
        assert clf.converged_
        assert clf.predict(X).tolist() == y.tolist()


# -- theorems


def unit_kernel_matrix(kernel, X):
    """Return the kernel matrix of rows scaled to length 1."""
    K = np.array([[KERNELS[kernel][1](x, z) for z in X.tolist()] for x in X.tolist()])
    lengths = np.sqrt(K.diagonal())
    return K / np.outer(lengths, lengths)


@many_kernels
@pytest.mark.parametrize("budget", [1, 3, 10, 40])
def test_mistakes_stay_within_the_bound(kernel, budget):
    """For many functions g = sum c_i K(x_i, .), good ones among them; the losses are summed over all rows."""
    for seed in range(4):
        X, codes = problem(2, 150, seed)
        X[7] = 1.0  # a row of length 0 has no unit vector
        codes = np.where(np.random.default_rng(seed).random(150) < 0.9, X[:, 0] * X[:, 1] > 0, codes).astype(int)
        signs = 2.0 * codes - 1.0
        ledger = budgeted(kernel, budget, max_iter=1).fit(X, codes).ledger_
        assert ledger.deviation <= 15 / 32 * ledger.mistakes + 1e-9
        K = unit_kernel_matrix(kernel, X)
        for ridge in (0.1, 1.0, 10.0):
            c = np.linalg.solve(K + ridge * np.eye(len(K)), signs)
            for scale in (0.01, 0.3, 1.0, 3.0):
                loss = np.maximum(0.0, 1.0 - scale * signs * (K @ c)).sum()
                norm = scale * math.sqrt(max(0.0, c @ K @ c))
                assert ledger.mistakes <= ledger.mistakes_against(norm, loss) * (1 + 1e-9)
        # gamma of any separator of the rows seen is at most |f| / sum of the weights; here the kept rows' own
        assert ledger.margin_at_most > 0.0


def test_mistakes_stay_within_the_theorem_of_the_paper():
    """B >= 84 and |g| <= U: M <= 2 |g|^2 + 4 sum of losses, here on rows around two means, with label noise."""
    budget = 100
    largest = math.sqrt((budget + 1) / math.log(budget + 1)) / 4
    rng = np.random.default_rng(0)
    for noise in (0.0, 0.1, 0.3, 0.5):
        y = rng.integers(0, 2, 1500)
        X = np.column_stack([2 * y - 1, rng.standard_normal((1500, 3)) * 0.3])
        y = np.where(rng.random(1500) < noise, 1 - y, y)
        mistakes = budgeted("linear", budget, max_iter=1).fit(X, y).ledger_.mistakes
        units = X / np.linalg.norm(X, axis=1)[:, None]
        for norm in np.linspace(0.0, largest, 10):
            loss = np.maximum(0.0, 1.0 - norm * (2 * y - 1) * units[:, 0]).sum()
            assert mistakes <= 2 * norm**2 + 4 * loss


@settings(max_examples=60, deadline=None)
@given(strategies.streams(labels=(0, 1, 2), max_rows=30), st.integers(1, 4))
def test_support_stays_within_the_budget(stream, budget):
    X, y = stream
    clf = budgeted("poly", budget, classes=[0, 1, 2])
    for x, label in zip(X, y.tolist(), strict=True):
        clf.learn_one(x, label)
        assert len(clf.support_) <= budget
        state, ledger = clf._model.state, clf.ledger_
        assert len(state.support) == len(state.alpha) == len(clf.support_)
        assert ((state.alpha > 0) & (state.alpha <= 1)).all()
        assert ledger.deviation <= 15 / 32 * ledger.mistakes + 1e-9


def test_mistake_bound_on_separable_rows():
    ledger = budgeted("rbf", 10).partial_fit([[0.0], [3.0]], [0, 1]).ledger_
    assert ledger.with_margin(0.5).mistake_bound == 4.0  # within the budget: no row is ever removed
    assert ledger.with_margin(0.1).mistake_bound is None
    assert "10 rows" in repr(ledger)


# -- streams and files


@many_classes
def test_stream_in_any_blocks_equals_one_pass(n_classes, tmp_path):
    X, codes = strategies.integers(6, 120, 3, n_classes)
    whole = budgeted("poly", 7, classes=range(n_classes), max_iter=1).fit(X, codes)
    blocks = budgeted("poly", 7, classes=range(n_classes)).partial_fit(X[:50], codes[:50])
    blocks.save(tmp_path / "m.nk")
    single = strategies.one_by_one(budgeted("poly", 7, classes=range(n_classes)), X, codes.tolist())
    resumed = nk.load(tmp_path / "m.nk")
    copied = pickle.loads(pickle.dumps(blocks))
    for each in (blocks, resumed, copied):
        each.partial_fit(sp.csr_array(X[50:]), codes[50:])
    for other in (blocks, single, resumed, copied):
        np.testing.assert_array_equal(other.support_, whole.support_)
        np.testing.assert_array_equal(other.dual_coef_, whole.dual_coef_)
        assert strategies.account(other.ledger_) == strategies.account(whole.ledger_)
    resumed.save(tmp_path / "a.nk")
    blocks.save(tmp_path / "b.nk")
    assert (tmp_path / "a.nk").read_bytes() == (tmp_path / "b.nk").read_bytes()
    assert resumed.get_params()["budget"] == 7


def test_new_labels_in_a_stream():
    X, codes = strategies.integers(7, 60, 3, 2)
    codes = np.concatenate([codes, strategies.integers(8, 60, 3, 3)[1]])
    X = np.concatenate([X, strategies.integers(8, 60, 3, 3)[0]])
    names = np.array(["b", "c", "a"])[codes]
    stream = budgeted("poly", 9).partial_fit(X, names)
    single = strategies.one_by_one(budgeted("poly", 9), X, names.tolist())
    assert stream.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(stream.dual_coef_, single.dual_coef_)
    np.testing.assert_array_equal(stream.decision_function(X), single.decision_function(X))


def test_invalid_parameters_raise():
    X, codes = problem(2)
    for budget in (0, -3, 1.5):
        with pytest.raises(ValueError, match="The 'budget' parameter of KernelPerceptron must be an int in the range"):
            nk.KernelPerceptron(budget=budget, hypothesis="last").fit(X, codes)
    for hypothesis in ("voted", "averaged"):
        with pytest.raises(RuleError, match=r"needs every row ever erred on.*pass hypothesis='last'"):
            nk.KernelPerceptron(budget=5, hypothesis=hypothesis).fit(X, codes)
    clf = nk.KernelPerceptron(budget=5, hypothesis="last").partial_fit(X, codes)
    before = clf.dual_coef_
    with pytest.raises(DataError, match="multi_class='direct'"):
        clf.partial_fit(X, np.arange(len(X)) % 3)
    np.testing.assert_array_equal(clf.dual_coef_, before)
    assert clf.classes_.tolist() == [0, 1]
    with pytest.raises(DataError, match="multi_class='direct'"):
        nk.KernelPerceptron(budget=5, hypothesis="last").fit(X, np.arange(len(X)) % 3)
    with pytest.raises(DataError, match="budget cannot change"):
        clf.set_params(budget=6).partial_fit(X, codes)
    with pytest.raises(RuleError, match="hypothesis='voted'"):
        clf.set_params(budget=5, hypothesis="voted").predict(X)
    with pytest.raises(DataError, match=r"K\(x, x\) = -.* at row 3"):
        nk.KernelPerceptron(saddle, budget=5, hypothesis="last").fit([[1, 1], [2, 0.5], [0, 0], [1, -1]], [0, 1, 0, 1])


def saddle(A, B):
    """Not positive: K(x, x) = 2 x_1 x_2."""
    return A[:, :1] @ B[:, 1:].T + A[:, 1:] @ B[:, :1].T

"""The kernel perceptron in blocks against tests/reference/kernel_methods.py, one example at a time."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_circles, make_moons

import novikoff as nk
from novikoff import kernel_methods
from novikoff.inputs.rows import Rows
from novikoff.kernel_methods.model import cycle
from tests.reference import kernel_methods as reference
from tests.support import strategies

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

KERNELS = {
    "linear": ({}, reference.linear),
    "poly": ({"degree": 3, "gamma": 1, "coef0": 1}, reference.poly(3, 1, 1)),
    "rbf": ({"gamma": 0.5}, reference.rbf(0.5)),
    "laplacian": ({"gamma": 0.5}, reference.laplacian(0.5)),
    "sigmoid": ({"gamma": 0.25, "coef0": 0.5}, reference.sigmoid(0.25, 0.5)),
    "hamming": ({"gamma": 0.75}, reference.hamming(0.75)),
}
EXACT = ("linear", "poly")  # integer values on integer rows: ties are exact
HYPOTHESES = ("last", "averaged", "voted")
FORMATS = {"dense": np.asarray, "sparse": sp.csr_array}

many_kernels = pytest.mark.parametrize("kernel", KERNELS)
many_ties = pytest.mark.parametrize("ties", strategies.TIES)
classes_and_multi_class = pytest.mark.parametrize(("n_classes", "multi_class"), [(2, "ovr"), (3, "ovr"), (3, "direct")])


def problem(kernel, n_classes, n=40, seed=3):
    """Return small integers where kernel values of integers are integers; otherwise floats, whose scores never tie."""
    X, codes = strategies.integers(seed, n, 3, n_classes)
    if kernel not in (*EXACT, "hamming"):
        X = X + np.random.default_rng(seed).standard_normal(X.shape)
    return X, codes


def reference_run(kernel, ties, n_classes, multi_class, X, codes, passes=3.0):
    run = reference.start(KERNELS[kernel][1], ties, n_classes, multi_class)
    y = 2 * codes - 1 if n_classes == 2 else codes
    support = reference.cycle(run, X.tolist(), y, list(range(len(X))), round(passes * len(X)))
    return run, support


def decide(score, ties):
    return (reference.sign(score, ties) + 1) // 2 if np.ndim(score) == 0 else reference.highest(score, ties)


@many_kernels
@classes_and_multi_class
@many_ties
@pytest.mark.parametrize("form", FORMATS)
def test_same_mistakes_support_and_predictions(kernel, n_classes, multi_class, ties, form):
    X, codes = problem(kernel, n_classes)
    run, support = reference_run(kernel, ties, n_classes, multi_class, X, codes)
    clf = nk.KernelPerceptron(kernel, **KERNELS[kernel][0], multi_class=multi_class, ties=ties, max_iter=3)
    clf.fit(FORMATS[form](X), codes)

    assert clf.ledger_.mistakes == run.mistakes
    assert clf.support_.tolist() == support
    expected = np.array([run.coefficient(at) for at in support]).reshape(len(support), -1).T
    np.testing.assert_array_equal(clf.raw_dual_coef_, expected)
    K = KERNELS[kernel][1]
    assert clf.ledger_.radius**2 == pytest.approx(
        max(0.0, *(K(x, x) for x in X.tolist())) * (2 if multi_class == "direct" else 1)
    )
    assert clf.ledger_.norm**2 == pytest.approx(max(0.0, run.squared_norm()), abs=1e-6)

    queries, _ = problem(kernel, n_classes, 25, seed=4)
    for hypothesis in HYPOTHESES:
        clf.set_params(hypothesis=hypothesis)
        found = clf.decision_function(FORMATS[form](queries))
        scores = np.array([run.score(x, hypothesis) for x in queries.tolist()])
        np.testing.assert_allclose(found, scores, rtol=1e-9, atol=1e-9)
        sure = ~strategies.tied(scores) if hypothesis == "averaged" else np.full(len(scores), True)
        labels = np.array([decide(score, ties) for score in scores])
        assert clf.predict(FORMATS[form](queries))[sure].tolist() == labels[sure].tolist()


@many_kernels
@pytest.mark.parametrize("passes", [0.3, 1, 1.5])
def test_fractional_passes(kernel, passes):
    X, codes = problem(kernel, 2)
    run, support = reference_run(kernel, "mistake", 2, "ovr", X, codes, passes)
    clf = nk.KernelPerceptron(kernel, **KERNELS[kernel][0], max_iter=passes).fit(X, codes)
    assert (clf.ledger_.mistakes, clf.support_.tolist()) == (run.mistakes, support)
    assert clf.ledger_.examples == round(passes * len(X))


def learn_in_blocks(block, kernel, multi_class, X, codes, order):
    learner = kernel_methods.DualLearner(kernel, multi_class, block=block)
    state = learner.init(int(codes.max()) + 1)
    points = kernel_methods.Points.of(Rows.of(X))
    cycle(learner, state, points, codes, order=order, max_iter=4, rng=np.random.default_rng(0))
    return learner, state, points


@many_kernels
@classes_and_multi_class
@pytest.mark.parametrize("order", strategies.ORDERS)
def test_results_do_not_depend_on_the_block_size(kernel, n_classes, multi_class, order, monkeypatch):
    monkeypatch.setattr("novikoff.kernel_methods.dual._AHEAD", 16)
    X, codes = problem(kernel, n_classes, 60)
    function = kernel_methods.Kernel(kernel, **KERNELS[kernel][0])
    learner, one, points = learn_in_blocks(1, function, multi_class, X, codes, order)
    for block in (7, 1000):
        _, other, _ = learn_in_blocks(block, function, multi_class, X, codes, order)
        for name in ("origins", "slots", "vectors", "signs", "examples"):
            np.testing.assert_array_equal(getattr(one, name).values, getattr(other, name).values)
        np.testing.assert_array_equal(one.counts, other.counts)
        np.testing.assert_allclose(one.measures, other.measures, rtol=1e-9)
        for hypothesis in HYPOTHESES:
            scores = learner.score(one, points, hypothesis)
            np.testing.assert_allclose(scores, learner.score(other, points, hypothesis), rtol=1e-9, atol=1e-9)


@classes_and_multi_class
@pytest.mark.parametrize("form", ["dense", "sparse", "objects"])
def test_results_do_not_depend_on_the_cache(n_classes, multi_class, form):
    X, codes = problem("poly", n_classes, 80)
    given = {"multi_class": multi_class, "max_iter": 4}
    if form == "objects":
        rows = [{"row": tuple(row)} for row in X.tolist()]
        kernel = {"kernel": lambda x, z: KERNELS["poly"][1](x["row"], z["row"])}
    else:
        rows, kernel = FORMATS[form](X), {"kernel": "poly", **KERNELS["poly"][0]}
    with_cache, without = (
        nk.KernelPerceptron(**kernel, **given, cache_size=size).fit(rows, codes) for size in (200, 0)
    )
    np.testing.assert_array_equal(with_cache.support_, without.support_)
    np.testing.assert_array_equal(with_cache.raw_dual_coef_, without.raw_dual_coef_)
    np.testing.assert_array_equal(with_cache.decision_function(rows), without.decision_function(rows))
    assert strategies.account(with_cache.ledger_) == strategies.account(without.ledger_)
    for each in (with_cache, without):
        each.partial_fit(rows, codes)
    np.testing.assert_array_equal(with_cache.raw_dual_coef_, without.raw_dual_coef_)


def test_products_in_pieces(monkeypatch):
    """Products are computed for some of the kept rows, and some of the queries, at a time."""
    X, codes = problem("poly", 3, 80)
    whole = nk.KernelPerceptron("poly").fit(X, codes)
    monkeypatch.setattr("novikoff.kernel_methods.dual._AHEAD", 16)
    monkeypatch.setattr("novikoff.kernel_methods.dual._UPDATES", 5)
    monkeypatch.setattr("novikoff.kernel_methods.voting._PRODUCT_CELLS", 64)
    pieces = nk.KernelPerceptron("poly").fit(X, codes)
    np.testing.assert_array_equal(whole.raw_dual_coef_, pieces.raw_dual_coef_)
    np.testing.assert_array_equal(whole.decision_function(X), pieces.decision_function(X))


@classes_and_multi_class
def test_results_do_not_depend_on_the_number_of_threads(n_classes, multi_class, monkeypatch):
    """Each thread updates the scores of some rows."""
    X, codes = problem("rbf", n_classes, 80)
    monkeypatch.setattr("novikoff.kernel_methods.dual._AHEAD", 32)
    monkeypatch.setattr("novikoff.kernel_methods.dual._COLUMNS", 1)
    found = []
    for processors in (1, 3):
        monkeypatch.setattr("novikoff.system.threads.n_processors", lambda n=processors: n)
        found.append(nk.KernelPerceptron("rbf", multi_class=multi_class, max_iter=3).fit(X, codes))
    np.testing.assert_array_equal(found[0].raw_dual_coef_, found[1].raw_dual_coef_)
    np.testing.assert_array_equal(found[0].decision_function(X), found[1].decision_function(X))


# -- other ways to the same run


@pytest.mark.parametrize("hypothesis", HYPOTHESES)
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("order", strategies.ORDERS)
def test_linear_kernel_equals_the_perceptron(hypothesis, n_classes, fit_intercept, order):
    X, codes = strategies.integers(5, 64, 5, n_classes)
    given = {"hypothesis": hypothesis, "fit_intercept": fit_intercept, "order": order, "max_iter": 4, "random_state": 0}
    plain = nk.Perceptron(**given).fit(X, codes)
    clf = nk.KernelPerceptron("linear", multi_class="direct", **given).fit(X, codes)
    np.testing.assert_array_equal(clf.raw_dual_coef_ @ clf.support_vectors_, plain.raw_coef_)
    np.testing.assert_allclose(strategies.account(clf.ledger_), strategies.account(plain.ledger_), rtol=1e-12)
    np.testing.assert_allclose(np.array(clf.ledger_.trace.points), np.array(plain.ledger_.trace.points), rtol=1e-12)
    np.testing.assert_allclose(clf.decision_function(X), plain.decision_function(X), rtol=1e-12, atol=1e-12)
    if hypothesis != "averaged":
        assert clf.predict(X).tolist() == plain.predict(X).tolist()
    assert (clf.n_iter_, clf.converged_) == (plain.n_iter_, plain.converged_)


@classes_and_multi_class
def test_streams_equal_one_pass(n_classes, multi_class):
    X, codes = strategies.integers(6, 30, 3, n_classes)
    given = {"kernel": "poly", "gamma": 1, "multi_class": multi_class, "classes": range(n_classes)}
    whole = nk.KernelPerceptron(**given, max_iter=1).fit(X, codes)
    blocks = nk.KernelPerceptron(**given).partial_fit(X[:11], codes[:11]).partial_fit(sp.csr_array(X[11:]), codes[11:])
    single = strategies.one_by_one(nk.KernelPerceptron(**given), X, codes.tolist())
    named = strategies.one_by_one(nk.KernelPerceptron(**given), strategies.dicts(X, zeros=False), codes.tolist())
    for other in (blocks, single, named):
        np.testing.assert_array_equal(other.support_, whole.support_)
        np.testing.assert_array_equal(other.raw_dual_coef_, whole.raw_dual_coef_)
        assert strategies.account(other.ledger_) == strategies.account(whole.ledger_)
    assert [single.predict_one(x) for x in X] == whole.predict(X).tolist()
    assert [named.predict_one(x) for x in strategies.dicts(X)] == whole.predict(X).tolist()


@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_new_labels_in_a_stream(multi_class):
    """Two classes share a vector until a third is met; with "ovr" each class then has a vector with its own history."""
    X, codes = strategies.integers(7, 60, 3, 2)
    codes = np.concatenate([codes, strategies.integers(8, 60, 3, 3)[1]])
    X = np.concatenate([X, strategies.integers(8, 60, 3, 3)[0]])
    names = np.array(["b", "c", "a"])[codes]
    stream = nk.KernelPerceptron("poly", gamma=1, multi_class=multi_class).partial_fit(X, names)
    single = strategies.one_by_one(nk.KernelPerceptron("poly", gamma=1, multi_class=multi_class), X, names.tolist())
    assert stream.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_array_equal(stream.raw_dual_coef_, single.raw_dual_coef_)
    np.testing.assert_array_equal(stream.decision_function(X), single.decision_function(X))
    state = stream._model.state
    K = stream._model.learner.kernel.block(state.support.points, state.support.points)
    w = stream.raw_dual_coef_
    assert stream.ledger_.norm**2 == pytest.approx(np.einsum("vs,st,vt->", w, K, w))
    assert stream.ledger_.updates == np.abs(state.signs.values).sum() / (2 if multi_class == "direct" else 1)


def test_precomputed_and_custom_kernels_agree():
    X, codes = strategies.integers(9, 50, 4, 3)
    named = nk.KernelPerceptron("poly", gamma=1, degree=2).fit(X, codes)
    K = (X @ X.T + 1.0) ** 2
    ready = nk.KernelPerceptron("precomputed").fit(K, codes)
    rows = nk.KernelPerceptron(lambda x, z: ((x * z).sum() + 1.0) ** 2).fit(X, codes)
    blocks = nk.KernelPerceptron(lambda A, B: (A @ B.T + 1.0) ** 2).fit(X, codes)
    python = nk.KernelPerceptron(lambda x, z: float(sum(map(float.__mul__, x.tolist(), z.tolist())) + 1) ** 2)
    python.fit(X, codes)
    objects = nk.KernelPerceptron(lambda x, z: (sum(x[k] * z[k] for k in x) + 1.0) ** 2).fit(strategies.dicts(X), codes)
    assert rows._model.learner.kernel._compiled["pairs"] is not None
    assert blocks._model.learner.kernel._compiled["takes_blocks"]
    assert python._model.learner.kernel._compiled["pairs"] is None
    for other, queries in ((ready, K), (rows, X), (blocks, X), (python, X), (objects, strategies.dicts(X))):
        np.testing.assert_array_equal(other.raw_dual_coef_, named.raw_dual_coef_)
        np.testing.assert_array_equal(other.decision_function(queries), named.decision_function(X))


def test_single_precision_is_exact_where_it_is_used():
    """Products of raw pixels reach 5e7, which float32 does not represent exactly; products of pieces are exact."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 256, (40, 784)).astype(float)
    points = kernel_methods.Points.of(Rows.of(X))
    assert points.data.dtype == np.float32
    assert 0 < points.exact_columns < 784
    exact = X.astype(np.int64) @ X.astype(np.int64).T
    np.testing.assert_array_equal(kernel_methods.Kernel("linear").block(points, points), exact)
    assert (X.astype(np.float32) @ X.astype(np.float32).T != exact).any()
    for other in (X + 0.5, X * 1000.0):
        assert kernel_methods.Points.of(Rows.of(other)).data.dtype == np.float64


def test_signs_that_need_double_precision():
    """Two rows that differ by one grey level have scores of 1e28, whose difference float32 cannot represent."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 256, 784)
    z = x.copy()
    z[0] += 1 if z[0] < 255 else -1
    X, y = np.array([x, z], float), np.array([0, 1])
    clf = nk.KernelPerceptron("poly", degree=4, gamma=1, hypothesis="last", max_iter=100).fit(X, y)
    integers = [[(1 + int(a @ b)) ** 4 for b in (x, z)] for a in (x, z)]
    for query in range(2):
        exact = sum(int(c) * integers[s][query] for c, s in zip(clf.raw_dual_coef_[0], clf.support_, strict=True))
        assert clf.predict(X[[query]])[0] == (1 if exact >= 0 else 0)
    single = np.float32(1.0) + X.astype(np.float32) @ X.astype(np.float32).T
    assert len(np.unique(single**4)) < 3 or not np.array_equal(np.sign(single[0] - single[1]), [1, -1])


# -- theorems, determinism, files


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("moons", make_moons(200, noise=0.1, random_state=0)),
        ("circles", make_circles(200, noise=0.05, factor=0.5, random_state=0)),
        ("xor", (np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0]))),
    ],
)
def test_kernels_separate_what_no_line_does(name, data):
    X, y = data
    clf = nk.KernelPerceptron("rbf", gamma=5.0, max_iter=1000).fit(X, y)
    assert clf.converged_
    assert clf.set_params(hypothesis="last").score(X, y) == 1.0
    # the weights at the end separate, so their own margin in feature space is a gamma for Novikoff
    ledger = clf.ledger_
    margin = np.abs(clf.decision_function(X)).min() / ledger.norm
    assert ledger.mistakes <= (ledger.radius / margin) ** 2
    assert ledger.with_margin(margin).mistakes_left >= 0
    assert margin <= ledger.margin_at_most


@many_kernels
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_mistake_bound_holds_at_every_update(kernel, multi_class):
    """At every update, any separator's margin is at most |w| / mistakes, and |w|^2 <= mistakes R^2."""
    for seed in range(5):
        X, _ = strategies.integers(seed, 60, 3, 2)
        y = (np.abs(X).sum(axis=1) + X[:, 0] * X[:, 1]).astype(int) % 3
        clf = nk.KernelPerceptron(kernel, **KERNELS[kernel][0], multi_class=multi_class, max_iter=30).fit(X, y)
        ledger = clf.ledger_
        if kernel == "sigmoid":
            assert ledger.margin_at_most is None
            assert ledger.with_margin(1.0).mistake_bound is None
            continue
        trace = ledger.trace
        assert (trace.norm <= np.sqrt(trace.updates) * ledger.radius * (1 + 1e-9)).all()
        if clf.converged_:
            scores = clf.set_params(hypothesis="last").decision_function(X)
            margins = clf._model.learner.margins(scores.T, y)
            gamma = margins.min() / ledger.norm
            assert 0.0 < gamma <= ledger.margin_at_most
            assert ledger.mistakes <= (ledger.radius / gamma) ** 2 * (1 + 1e-9)


def test_learning_is_deterministic():
    X, codes = problem("rbf", 3)
    for order in strategies.ORDERS:
        one, other = (nk.KernelPerceptron(order=order, random_state=3).fit(X, codes) for _ in range(2))
        np.testing.assert_array_equal(one.raw_dual_coef_, other.raw_dual_coef_)
        np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


def shared_letters(x, z):
    return float(len(set(x) & set(z)))


CASES = {
    "dense": ("rbf", lambda X: X + 0.5, None),
    "whole": ("poly", lambda X: X, None),
    "sparse": ("poly", sp.csr_array, None),
    "dicts": ("linear", strategies.dicts, None),
    "precomputed": ("precomputed", lambda X: X @ X.T, None),
    "strings": (shared_letters, lambda X: ["".join("abcdefgh"[int(v) + 3] for v in row) for row in X], shared_letters),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("multi_class", ["ovr", "direct"])
def test_saved_model_is_equal(case, multi_class, tmp_path):
    kernel, form, function = CASES[case]
    X, codes = strategies.integers(10, 40, 5, 3)
    X, y = form(X), np.array(["x", "y", "z"])[codes]
    clf = nk.KernelPerceptron(kernel, multi_class=multi_class, random_state=1, max_iter=2.5).fit(X, y)
    clf.save(tmp_path / "m.nk")
    found = nk.load(tmp_path / "m.nk", kernel=function)
    for other in (found, pickle.loads(pickle.dumps(clf))):
        assert other.get_params() == clf.get_params()
        assert (other.n_iter_, other.converged_, other.classes_.tolist()) == (2 + 1, False, ["x", "y", "z"])
        if case != "precomputed":
            other.partial_fit(X, y)
        np.testing.assert_array_equal(other.support_[: len(clf.support_)], clf.support_)
    if case != "precomputed":
        clf.partial_fit(X, y)
    np.testing.assert_array_equal(found.decision_function(X), clf.decision_function(X))
    np.testing.assert_array_equal(found.raw_dual_coef_, clf.raw_dual_coef_)
    assert strategies.account(found.ledger_) == strategies.account(clf.ledger_)
    found.save(tmp_path / "n.nk")
    clf.save(tmp_path / "m.nk")
    assert (tmp_path / "n.nk").read_bytes() == (tmp_path / "m.nk").read_bytes()

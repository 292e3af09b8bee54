"""Kernel regression: against tests/reference/kernel_methods.py, its loss bound, and scikit-learn's checks."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.utils.estimator_checks import check_param_validation, parametrize_with_checks

import novikoff as nk
from novikoff import kernel_methods
from novikoff.errors import DataError
from novikoff.inputs.rows import Rows
from novikoff.kernel_methods.regression import ResidualLearner
from tests.reference import kernel_methods as reference

KERNELS = {
    "linear": ({}, reference.linear),
    "poly": ({"degree": 2, "gamma": 0.2, "coef0": 1}, reference.poly(2, 0.2, 1)),
    "rbf": ({"gamma": 0.5}, reference.rbf(0.5)),
    "laplacian": ({"gamma": 0.5}, reference.laplacian(0.5)),
    "hamming": ({"gamma": 0.75}, reference.hamming(0.75)),
}
STEP = 0.01

many_kernels = pytest.mark.parametrize("kernel", KERNELS)


def problem(seed=0, n=30):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, 3)).astype(float)
    return X, X[:, 0] * X[:, 1] + 0.1 * rng.standard_normal(n)


def reference_run(kernel, X, y, passes):
    run = reference.Regression(KERNELS[kernel][1], STEP)
    for _ in range(passes):
        for at, (x, target) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            run.learn(at, x, target)
    return run


@many_kernels
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_same_function_and_losses(kernel, form):
    X, y = problem()
    run = reference_run(kernel, X, y, 2)
    reg = nk.KernelRegressor(kernel, **KERNELS[kernel][0], step=STEP, max_iter=2).fit(form(X), y)
    assert (reg.ledger_.examples, reg.ledger_.passes, reg.n_iter_) == (60, 2, 2)
    assert reg.ledger_.squared_loss == pytest.approx(sum(run.losses))
    assert reg.ledger_.norm**2 == pytest.approx(run.squared_norm())
    assert reg.support_.tolist() == list(range(30))
    queries, _ = problem(seed=1)
    for hypothesis in ("last", "averaged"):
        expected = [run.predict(x, hypothesis) for x in queries.tolist()]
        np.testing.assert_allclose(reg.set_params(hypothesis=hypothesis).predict(form(queries)), expected, rtol=1e-9)
        np.testing.assert_allclose([reg.predict_one(x) for x in queries], expected, rtol=1e-9)


@many_kernels
def test_blocks_and_streams_agree(kernel):
    X, y = problem(n=40)
    given = KERNELS[kernel][0]
    whole = nk.KernelRegressor(kernel, **given, step=STEP, max_iter=1).fit(X, y)
    parts = nk.KernelRegressor(kernel, **given, step=STEP).partial_fit(X[:13], y[:13]).partial_fit(X[13:], y[13:])
    single = nk.KernelRegressor(kernel, **given, step=STEP)
    for x, target in zip(X, y, strict=True):
        single.learn_one(x, target)
    for other in (parts, single):
        np.testing.assert_allclose(other.raw_dual_coef_, whole.raw_dual_coef_, rtol=1e-9)
        assert other.ledger_.squared_loss == pytest.approx(whole.ledger_.squared_loss)
    for block in (1, 7, 1000):
        learner = ResidualLearner(kernel_methods.Kernel(kernel, **given), step=STEP, block=block)
        state = learner.update(learner.init(), kernel_methods.Points.of(Rows.of(X)), y)
        np.testing.assert_allclose(state.signs.values, whole.raw_dual_coef_[0], rtol=1e-9)


@many_kernels
def test_loss_bound(kernel):
    """The bound holds against many functions u = sum a_i K(x_i, .), among them that of least squares."""
    for seed in range(10):
        X, y = problem(seed)
        function = kernel_methods.Kernel(kernel, **KERNELS[kernel][0])
        points = kernel_methods.Points.of(Rows.of(X))
        K = function.gram(points, np.arange(len(X)))
        step = 1.0 / K.diagonal().max()
        reg = nk.KernelRegressor(kernel, **KERNELS[kernel][0], step=step, max_iter=1).fit(X, y)
        for ridge in (1e-3, 0.1, 1.0, 10.0, 1e6):
            a = np.linalg.solve(K + ridge * np.eye(len(X)), y)
            loss, norm = float(((y - K @ a) ** 2).sum()), float(np.sqrt(max(0.0, a @ K @ a)))
            assert reg.ledger_.squared_loss <= reg.ledger_.loss_bound(norm, loss) * (1 + 1e-9)


def test_fit_ends_at_tol():
    X = np.eye(4)
    reg = nk.KernelRegressor("linear", step=1.0, max_iter=50).fit(X, np.arange(4.0))
    assert reg.n_iter_ == 2
    np.testing.assert_array_equal(reg.predict(X), np.arange(4.0))
    assert "squared loss" in repr(reg.ledger_)


def test_objects_and_kernel_matrices():
    words, y = ["ab", "bc", "cd", "abcd"], np.arange(4.0)

    def shared(x, z):
        return len(set(x) & set(z)) / 4

    K = np.array([[shared(x, z) for z in words] for x in words])
    one = nk.KernelRegressor(shared, max_iter=3).fit(words, y)
    other = nk.KernelRegressor("precomputed", max_iter=3).fit(K, y)
    np.testing.assert_array_equal(one.predict(words), other.predict(K))
    assert one.predict_one("ab") == other.predict(K)[0]


@pytest.mark.parametrize("form", ["dense", "sparse", "objects", "precomputed"])
def test_saved_model_continues_alike(form, tmp_path):
    X, y = problem()
    rows = {"dense": X + 0.5, "sparse": sp.csr_array(X), "precomputed": np.exp(-np.abs(X[:, :1] - X[:, 0]))}.get(form)
    kernel = {"objects": shared_letters, "precomputed": "precomputed"}.get(form, "rbf")
    rows = ["abcdefgh"[: int(2 + x[0])] for x in X] if form == "objects" else rows
    reg = nk.KernelRegressor(kernel, step=STEP, hypothesis="averaged", max_iter=2.5).fit(rows, y)
    reg.save(tmp_path / "m.nk")
    found = nk.load(tmp_path / "m.nk", kernel=kernel if callable(kernel) else None)
    assert type(found) is nk.KernelRegressor
    assert found.get_params() == reg.get_params()
    assert found.n_iter_ == reg.n_iter_ == 3
    if form != "precomputed":
        for each in (reg, found):
            each.partial_fit(rows, y)
    np.testing.assert_array_equal(found.predict(rows), reg.predict(rows))
    assert vars(found.ledger_) == vars(reg.ledger_)
    found.save(tmp_path / "n.nk")
    reg.save(tmp_path / "m.nk")
    assert (tmp_path / "n.nk").read_bytes() == (tmp_path / "m.nk").read_bytes()


def shared_letters(x, z):
    return len(set(x) & set(z)) / 8


def test_bad_input():
    X, y = problem()
    with pytest.raises(DataError, match=r"step=0.5 is too long for K\(x, x\) = .* Choose a step below"):
        nk.KernelRegressor("poly", gamma=1.0).fit(X, y)
    with pytest.raises(DataError, match="takes no dicts"):
        nk.KernelRegressor("linear").learn_one({"a": 1.0}, 1.0)
    with pytest.raises(DataError, match="y must be a finite number, found nan"):
        nk.KernelRegressor().learn_one([1.0], float("nan"))
    reg = nk.KernelRegressor().partial_fit(X, y)
    with pytest.raises(DataError, match="cannot change once learning has begun"):
        reg.set_params(step=0.1).partial_fit(X, y)
    assert nk.KernelRegressor().predict_one([1.0]) == 0.0
    before = nk.KernelRegressor("linear", step=0.1).partial_fit(X, y)
    loss = before.ledger_.squared_loss
    with pytest.raises(DataError, match="too long"):
        before.partial_fit(np.concatenate([X] * 30 + [X * 100]), np.concatenate([y] * 31))
    assert (before.ledger_.squared_loss, len(before.support_)) == (loss, 30)
    assert nk.KernelRegressor("sigmoid").fit(X, y).ledger_.loss_bound(1.0, 0.0) is None


@parametrize_with_checks(
    [
        nk.KernelRegressor(),
        nk.KernelRegressor(hypothesis="averaged", order="shuffled", random_state=0),
        nk.KernelRegressor("laplacian", order="random", random_state=0, fit_intercept=True),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_parameters_are_checked():
    check_param_validation("KernelRegressor", nk.KernelRegressor())

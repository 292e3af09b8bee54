"""Calls that fail or are interrupted leave an estimator unchanged, and so does learning with a copy of it."""

import copy
import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import novikoff as nk
from novikoff.data.formats import CategoricalColumn, TableBlock
from novikoff.losses import Custom
from novikoff.perceptron.learner import Learner
from novikoff.perceptron.model import Model
from novikoff.streaming.model import StreamModel
from tests.support.bytecode_interrupts import Interrupt, count_bytecodes

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
X = RNG.integers(-4, 5, (30, 3)).astype(float)
LABELS = np.array(["no", "yes", "perhaps"])[X.argmax(axis=1)]
NUMBERS = X @ [1.0, -2.0, 0.5]


def half(margin, squared_norm):
    return 0.5 if margin <= 0.0 else 0.0


def dot(x, z):
    return float(sum(a * b for a, b in zip(x, z)))  # noqa: B905 - numba knows no strict


def gap(s, y):
    return (s - y) ** 2


def slope(s, y):
    return 2.0 * (s - y)


CLASSIFIERS = [
    nk.Perceptron(max_iter=3),
    nk.Perceptron(hypothesis="voted", order="shuffled", random_state=np.random.RandomState(3), max_iter=3),
    nk.Perceptron(half, "averaged", max_iter=3),
    nk.Perceptron("margin", "pocket", max_iter=3),
    nk.LinearClassifier(max_iter=3, random_state=0),
    nk.LinearClassifier("logistic", "newton"),
    nk.KernelPerceptron(max_iter=3),
    nk.KernelPerceptron(dot, multi_class="direct", order="random", random_state=1, max_iter=3),
    nk.KernelPerceptron("poly", hypothesis="last", multi_class="direct", budget=5, max_iter=3),
]
REGRESSORS = [
    nk.LinearRegressor(),
    nk.LinearRegressor(Custom(gap, slope), "sgd", average=False, max_iter=3, random_state=0),
    nk.KernelRegressor(max_iter=3),
    nk.KernelRegressor(dot, step=0.01, hypothesis="averaged", max_iter=3),
]


def names_of(cases):
    """Return test ids without addresses of functions, which differ between processes."""
    return [re.sub(r"<function (\w+) at \w+>", r"\1", str(each)).replace("\n", "")[:60] for each, *_ in cases]


ESTIMATORS = [*((each, LABELS) for each in CLASSIFIERS), *((each, NUMBERS) for each in REGRESSORS)]
each_estimator = pytest.mark.parametrize(("estimator", "y"), ESTIMATORS, ids=names_of(ESTIMATORS))


def named(rows):
    return [dict(zip("abc", row, strict=True)) for row in rows.tolist()]


FORMS = {"arrays": np.array, "sparse": sp.csr_array, "frames": lambda rows: pd.DataFrame(rows, columns=list("abc"))}
FORMS_OF_PERCEPTRONS = FORMS | {"dicts": named}


def forms_for(estimator):
    return FORMS_OF_PERCEPTRONS if isinstance(estimator, nk.Perceptron) else FORMS


def visible_state(estimator, rows):
    """Return all attributes and predictions of an estimator as text."""
    names = [name for name in dir(estimator) if name.endswith("_") and not name.startswith("_")]
    found = {name: getattr(estimator, name, None) for name in names}
    found |= estimator.get_params() | {name: value for name, value in vars(estimator).items() if name != "_fitted"}
    if isinstance(found.get("random_state"), np.random.RandomState):
        found["random_state"] = None  # a user may share it among estimators: a rejected fit may have drawn from it
    return to_text({**found, "predictions": estimator.predict(rows)})


def to_text(value):
    """Return a value with everything in it as text."""
    if isinstance(value, dict):
        return "".join(f"{name}: {to_text(value[name])}\n" for name in sorted(value))
    if isinstance(value, list):
        return "".join(map(to_text, value))
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape} {value.tolist()}"
    if sp.issparse(value):
        return to_text(value.toarray())
    if hasattr(value, "objective"):  # the trace of a descent, whose seconds differ each time
        return f"{value.objective.tolist()}"
    if hasattr(value, "points"):
        return f"{value.stride} {value.points}"
    if hasattr(value, "trace"):  # a ledger
        return to_text(vars(value))
    return repr(value)


def bad_training_data(form):
    """Yield data that no estimator can be fitted to, in the given form or another."""
    one = X.copy()
    one[7, 1] = np.nan
    yield form(one), None
    yield form(X), LABELS[:-1]
    yield form(X), None
    yield form(X), np.array([*NUMBERS[:-1], np.nan])
    yield np.full((4, 5), np.inf), LABELS[:4]
    yield [{"other": 1.0}, {"other": "text"}], LABELS[:2]
    yield [{"other": 1.0}, {"more": 2.0}], np.array(["no", "no"])
    yield pd.DataFrame({"x": [1.0, np.inf], "y": [2.0, 3.0]}), LABELS[:2]
    yield sp.csr_array(np.full((2, 9), np.nan)), LABELS[:2]


@each_estimator
@pytest.mark.filterwarnings("ignore:X .* feature names")
@pytest.mark.parametrize("verb", ["fit", "partial_fit", "learn_one"])
def test_rejected_data_changes_nothing(estimator, y, verb):
    for form in forms_for(estimator).values():
        fitted = clone(estimator).fit(form(X), y)
        before, failed = visible_state(fitted, form(X)), 0
        for bad, targets in bad_training_data(form):
            trial = copy.copy(fitted)
            if verb == "learn_one":
                bad = bad[-1] if isinstance(bad, list) else np.full(3, np.nan)
                targets = y[0]
            try:
                getattr(trial, verb, missing_method)(bad, targets)
            except (ValueError, TypeError):
                failed += 1
                assert visible_state(trial, form(X)) == before
            else:
                assert verb != "fit"
        assert failed >= (7 if verb == "fit" else 2)


def missing_method(*args):
    raise TypeError


@each_estimator
@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_rejected_first_call_sets_no_attributes(estimator, y, verb):
    failed = 0
    for bad, targets in bad_training_data(np.array):
        fresh = clone(estimator)
        before = dict(vars(fresh))
        try:
            getattr(fresh, verb, missing_method)(bad, targets)
        except (ValueError, TypeError):
            failed += 1
            assert vars(fresh) == before
    assert failed >= 5


@each_estimator
def test_interrupted_fit_is_all_or_nothing(estimator, y):
    """Interrupted before any bytecode, the estimator is as before the call, or as after it."""
    for form in forms_for(estimator).values():
        one = clone(estimator).fit(form(X[:20, :]), y[:20])
        done = copy.copy(one).fit(form(X), y)
        either = [visible_state(one, form(X)), visible_state(done, form(X))]
        n = count_bytecodes(lambda one=one, form=form: copy.copy(one).fit(form(X), y))
        for number in np.random.default_rng(n).choice(n, 12, replace=False).tolist():
            again, interrupt = copy.copy(one), Interrupt(number)
            interrupt(lambda again=again, form=form: again.fit(form(X), y))
            assert visible_state(again, form(X)) in either
            assert visible_state(again.fit(form(X), y), form(X)) == either[1] or again.random_state is not None


KERNELS_AND_DESCENTS = [each for each in ESTIMATORS if not isinstance(each[0], nk.Perceptron)]


@pytest.mark.parametrize(("estimator", "y"), KERNELS_AND_DESCENTS, ids=names_of(KERNELS_AND_DESCENTS))
def test_interrupted_partial_fit_is_all_or_nothing(estimator, y):
    one = clone(estimator).fit(X[:20], y[:20])
    if not hasattr(one, "partial_fit"):
        return
    done = copy.copy(one).partial_fit(X[20:], y[20:])
    either = [visible_state(one, X), visible_state(done, X)]
    onwards = [visible_state(copy.copy(each).partial_fit(X, y), X) for each in (one, done)]
    trial = copy.copy(one)
    n = count_bytecodes(lambda: trial.partial_fit(X[20:], y[20:]))
    for number in {*np.random.default_rng(n).choice(n, 30).tolist(), *range(n - 30, n)}:
        again = copy.copy(one)
        Interrupt(number)(lambda again=again: again.partial_fit(X[20:], y[20:]))
        found = either.index(visible_state(again, X))
        assert visible_state(again.partial_fit(X, y), X) == onwards[found]


COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda model: pickle.loads(pickle.dumps(model))}


@each_estimator
@pytest.mark.parametrize("copied", COPIES.values(), ids=list(COPIES))
def test_copies_are_independent(estimator, y, copied):
    for form in forms_for(estimator).values():
        one = clone(estimator).fit(form(X[:20]), y[:20])
        other = copied(one)
        before = visible_state(one, form(X))
        assert visible_state(other, form(X)) == before
        _learn_more(other, form, y)
        assert visible_state(one, form(X)) == before
        after = visible_state(other, form(X))
        _learn_more(one, form, y)
        assert visible_state(other, form(X)) == after
        state = vars(one).get("random_state")
        assert not isinstance(state, np.random.RandomState) or state is not other.random_state
        assert not clone(one).__sklearn_is_fitted__()


def _learn_more(estimator, form, y):
    """Call every method that learns."""
    if hasattr(estimator, "partial_fit") and estimator.__class__.__name__ != "LinearClassifier":
        estimator.partial_fit(form(X[20:]), y[20:])
    if hasattr(estimator, "learn_one") and form is not FORMS["frames"]:
        example = form(X[-1:])
        estimator.learn_one(example[0] if form is not FORMS["sparse"] else X[-1], y[-1])
    elif not hasattr(estimator, "partial_fit"):
        estimator.fit(form(X[10:]), y[10:])


@pytest.mark.parametrize("copied", COPIES.values(), ids=list(COPIES))
def test_copies_of_a_model_of_dicts_are_independent(copied):
    """The vocabulary of a model grows in place."""
    one = nk.Perceptron().learn_one({"a": 1.0}, "no").learn_one({"b": 1.0}, "yes")
    other = copied(one)
    other.learn_one({"c": 5.0, "a": 1.0}, "perhaps").learn_one({"a": 3.0}, "yes")
    assert (one.ledger_.examples, one.classes_.tolist(), one.coef_.shape) == (2, ["no", "yes"], (1, 2))
    one.learn_one({"d": 1.0}, "no")
    assert (other.ledger_.examples, len(other.classes_), other.coef_.shape) == (4, 3, (3, 3))
    assert other.predict_one({"d": 1.0}) is not None


@pytest.mark.parametrize("copied", COPIES.values(), ids=list(COPIES))
def test_copies_of_models_and_states_are_independent(copied):
    def block(sky, label):
        return TableBlock(
            "sky.csv", np.array([2]), np.array([label], object), {"sky": CategoricalColumn.from_cells([sky])}
        )

    stream = StreamModel(Learner())
    stream.learn(block("sun", "stay"))
    other = copied(stream)
    other.learn(block("rain", "go"))
    assert (stream.ledger.examples, stream.names, stream.labels) == (1, ["sky=sun"], ["stay"])
    assert (other.ledger.examples, other.names, other.labels) == (2, ["sky=sun", "sky=rain"], ["go", "stay"])
    model = Model(Learner())
    model.learn_one({"a": 1.0}, "no")
    apart = copied(model)
    apart.learn_one({"b": 1.0}, "yes")
    assert (model.ledger.examples, model.n_features, apart.n_features) == (1, 1, 2)
    learner, rows = Learner(hypothesis="voted"), nk.Rows.of(X)
    state = learner.update(learner.init(3, 2), rows, (X[:, 0] > 0).astype(int))
    kept, scores = copied(state), learner.score(state, rows)
    learner.update(kept, rows, (X[:, 1] > 0).astype(int))
    np.testing.assert_array_equal(learner.score(state, rows), scores)
    assert (state.counts[0], kept.counts[0]) == (30, 60)


@pytest.mark.parametrize(
    "estimator", [nk.Perceptron(max_iter=1), nk.KernelPerceptron("linear", max_iter=1), nk.LinearClassifier(max_iter=1)]
)
def test_convergence_warning_points_to_the_call_of_fit(estimator):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        estimator.fit(X, LABELS)
    assert [each.filename for each in found if each.category is ConvergenceWarning] == [__file__]

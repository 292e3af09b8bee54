"""Bad input is refused with a message that says what to do, and a refusal changes nothing."""

from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError

import novikoff as nk
from novikoff.errors import DataError, MergeError, NovikoffError, RuleError
from novikoff.inputs.rows import Rows
from novikoff.perceptron.learner import Learner
from tests.support.strategies import account, assert_same, csr, dicts, raw

NAN, INF = float("nan"), float("inf")
X = np.array([[1.0, -2.0], [2.0, 1.0], [-1.0, 3.0], [0.5, 0.5]])
y = ["no", "yes", "no", "yes"]


def array_model(**of):
    return nk.Perceptron(**of).partial_fit(X, y)


def dict_model(**of):
    return nk.Perceptron(**of).partial_fit(dicts(X), y)


def snapshot(model):
    """Return everything visible of a model as a string, in which NaN equals NaN."""
    ledger = model.ledger_
    parts = (model.classes_, raw(model), account(ledger), ledger.margin, ledger.trace.points, model._model.vocabulary)
    return repr(parts)


@contextmanager
def refusal(model, match, error=ValueError):
    """Check that a block raises, and leaves the model as it was."""
    before = snapshot(model)
    with pytest.raises(error, match=f"(?s){match}"):
        yield
    assert snapshot(model) == before


# -- blocks of rows

ROWS = {
    "nan": ([[1.0, 2.0], [3.0, NAN]], "NaN.*row 1, column 1"),
    "infinite": ([[1.0, 2.0], [-INF, 3.0]], "infinity.*row 1, column 0"),
    "nan in sparse": (csr([[1.0, 2.0], [0.0, NAN]]), "NaN.*row 1, column 1"),
    "infinite in sparse": (csr([[1.0, 2.0], [0.0, INF]]), "infinity.*row 1, column 1"),
    "nan in float32": (np.array([[1.0, NAN], [3.0, 4.0]], np.float32), "NaN.*row 0, column 1"),
    "squares overflow": ([[1.0, 2.0], [1.0, 1e200]], "too large.*row 1, column 1.*1e.200"),
    "squares overflow in sparse": (csr([[1.0, 2.0], [1e200, 0.0]]), "too large.*row 1, column 0"),
    "their sum overflows": ([[1e145, 1e145], [1.0, 1.0]], "too large.*row 0"),
    "missing": ([[None, 1.0], [1.0, 1.0]], "NaN.*row 0, column 0"),
    "no rows": (np.empty((0, 2)), "0 sample"),
    "no columns": (np.empty((2, 0)), "0 feature"),
    "one dimension": (np.ones(2), "Expected 2D array"),
    "three dimensions": (np.ones((2, 2, 1)), "dim 3|3.?D|2D array"),
    "ragged": ([[1.0, 2.0], [3.0]], "inhomogeneous"),
    "complex": (np.eye(2) * 1j, "Complex data not supported"),
    "complex in sparse": (sp.csr_array(np.eye(2) * 1j), "Complex data not supported"),
    "words": ([["red", "blue"], ["blue", "red"]], "could not convert string to float|Expected numbers"),
    "objects": (np.array([["red", 1.0], [2.0, 3.0]], object), "could not convert string to float|Expected numbers"),
}
rows_refused = pytest.mark.parametrize(("rows", "match"), ROWS.values(), ids=ROWS)


def labels_for(rows, labels):
    n = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    return [labels[i % 2] for i in range(n)]


@rows_refused
@pytest.mark.parametrize("verb", ["fit", "partial_fit"])
def test_rows_refused_at_first(rows, match, verb):
    model = nk.Perceptron()
    with pytest.raises(ValueError, match=f"(?s){match}"):
        getattr(model, verb)(rows, labels_for(rows, ("no", "yes")))
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert_same(getattr(model, verb)(X, y), getattr(nk.Perceptron(), verb)(X, y), X)


@rows_refused
@pytest.mark.parametrize("labels", [("no", "yes"), ("maybe", "never")], ids=["known labels", "new labels"])
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted", "pocket"])
def test_rows_refused_later(rows, match, labels, hypothesis):
    model = array_model(hypothesis=hypothesis)
    with refusal(model, match):
        model.partial_fit(rows, labels_for(rows, labels))
    with refusal(model, match):
        model.fit(rows, labels_for(rows, labels))
    with refusal(model, match):
        model.predict(rows)
    with refusal(model, match):
        model.decision_function(rows)
    assert_same(model.partial_fit(X, y), array_model(hypothesis=hypothesis).partial_fit(X, y), X)


@pytest.mark.parametrize("order", ["given", "shuffled", "random", "worst"])
def test_a_bad_row_is_found_in_any_order(order):
    with pytest.raises(DataError, match="NaN in row 3, column 1"):
        nk.Perceptron(order=order, random_state=0).fit(np.vstack([X[:3], [1.0, NAN]]), y)


@pytest.mark.parametrize("kind", [array_model, lambda: nk.Perceptron().learn_one(X[0], "no").learn_one(X[1], "yes")])
@pytest.mark.parametrize("width", [1, 3])
def test_features_missing_or_added(kind, width):
    model, rows = kind(), np.ones((2, width))
    for form in (np.asarray, csr):
        for call in (model.predict, model.decision_function, lambda rows: model.partial_fit(rows, ["no", "maybe"])):
            with refusal(model, f"{width} features.*expecting 2"):
                call(form(rows))
    for row in (rows[0], rows[:1], rows[0].tolist()):
        with refusal(model, f"{width} features.*expecting 2"):
            model.predict_one(row)
        for label in ("no", "maybe"):
            with refusal(model, f"{width} features.*expecting 2"):
                model.learn_one(row, label)


def test_columns_missing_or_added():
    frame = pd.DataFrame(X, columns=["width", "height"])
    model = nk.Perceptron().partial_fit(frame, y)
    for other in (frame[["width"]], frame.assign(depth=1.0), frame.rename(columns={"width": "depth"})):
        with refusal(model, "feature names should match"):
            model.predict(other)
        with refusal(model, "feature names should match"):
            model.partial_fit(other, ["no", "yes", "maybe", "no"])


# -- labels

LABELS = {
    "too few": (["no", "yes"], "inconsistent numbers of samples"),
    "too many": ([*y, "no"], "inconsistent numbers of samples"),
    "none at all": (None, "y"),
    "missing": (["no", None, "yes", "no"], "NaN|None|sorted|Unknown label type"),
    "nan": ([0.0, NAN, 1.0, 0.0], "NaN"),
    "two columns": ([[0, 1]] * 4, "1d array"),
    "continuous": ([0.5, 1.5, 2.25, 0.5], "Unknown label type: continuous"),
    "unsortable": (np.array([0, "a", 1, "b"], object), "sorted|Unknown label type"),
}


@pytest.mark.parametrize(("labels", "match"), LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("form", [np.asarray, csr, dicts])
def test_labels_refused(labels, match, form):
    model = nk.Perceptron().partial_fit(form(X), y)
    for verb in (model.fit, model.partial_fit, nk.Perceptron().fit, nk.Perceptron().partial_fit):
        with refusal(model, match):
            verb(form(X), labels)


@pytest.mark.parametrize("labels", [[0, 1, 2, 3], [0.0, 1.0, 0.0, 1.0], [True, False, True, True]])
def test_labels_that_do_not_sort_with_those_known(labels):
    model = array_model()
    with refusal(model, "cannot be sorted"):
        model.partial_fit(X, labels)
    with refusal(model, "cannot be sorted"):
        model.learn_one(X[0], labels[0])


@pytest.mark.parametrize("kind", [array_model, dict_model])
@pytest.mark.parametrize(
    ("label", "match"),
    [
        (None, "None"),
        (NAN, "NaN"),
        (3, "sorted"),
        (["no"], "single"),
        (np.array(["no", "yes"]), "single"),
    ],
    ids=["none", "nan", "unsortable", "list", "array"],
)
def test_one_label_refused(kind, label, match):
    model = kind()
    with refusal(model, match):
        model.learn_one(X[0] if kind is array_model else dicts(X)[0], label)


def test_one_class_is_not_enough_for_fit():
    for labels in (["yes"] * 4, [1, 1, 1, 1]):
        with pytest.raises(DataError, match=r"classes has to be greater than one.*only one class"):
            nk.Perceptron().fit(X, labels)
    with pytest.raises(DataError, match="classes has to be greater than one"):
        nk.Perceptron(classes=["yes"]).fit(X, ["yes"] * 4)


@pytest.mark.parametrize("classes", [["no", "maybe"], ["no", "maybe", "never"], [0, 1]])
def test_a_label_that_is_not_one_of_the_classes(classes):
    with pytest.raises(DataError, match="not one of the classes"):
        nk.Perceptron(classes=classes).fit(X, y)


# -- one example

EXAMPLES = {
    "nan": ([1.0, NAN], "NaN.*column 1"),
    "infinite": ([-INF, 1.0], "infinity.*column 0"),
    "square overflows": ([1.0, 1e200], "too large.*column 1"),
    "their sum overflows": ([1e145, 1e145], "too large"),
    "a number": (3.0, "1-D array"),
    "a word": ("red", "1-D array"),
    "nothing": (None, "1-D array"),
    "rows": (X, "1-D array"),
    "complex": ([1j, 1.0], "Complex data not supported"),
    "words": (["red", "blue"], "Expected numbers"),
    "ragged": ([1.0, [2.0]], "inhomogeneous|sequence"),
}
# once learning goes one by one, arrays take a path of their own
EXAMPLES |= {
    f"{name} in an array": (np.array(EXAMPLES[name][0]), EXAMPLES[name][1])
    for name in ("nan", "infinite", "square overflows", "their sum overflows", "complex", "words")
}
examples_refused = pytest.mark.parametrize(("x", "match"), EXAMPLES.values(), ids=EXAMPLES)


@examples_refused
@pytest.mark.parametrize("label", ["no", "maybe"])
@pytest.mark.parametrize("before", ["block", "one by one"])
def test_one_example_refused(x, match, label, before):
    model = array_model() if before == "block" else array_model().learn_one(X[0], "yes")
    with refusal(model, match):
        model.learn_one(x, label)
    if "large" not in match:  # a prediction needs no square
        with refusal(model, match):
            model.predict_one(x)


@examples_refused
def test_a_first_example_refused(x, match):
    model = nk.Perceptron()
    with pytest.raises(ValueError, match=f"(?s){match}"):
        model.learn_one(x, "no")
    assert not hasattr(model, "classes_")
    assert model.learn_one({"any": 1.0}, "yes").classes_.tolist() == ["yes"]  # not even the kind of x has stuck


NAMED = {
    "a word": ({"f0": 1.0, "colour": "red"}, "'colour' is 'red', not a number.*'colour=red'"),
    "nothing": ({"f0": None}, "'f0' is None, not a number"),
    "nan": ({"f1": NAN}, "NaN.*'f1'"),
    "infinite": ({"f1": INF}, "infinity.*'f1'"),
    "square overflows": ({"new": 1e200}, "too large.*'new'"),
    "beyond floats": ({"f0": 10**400}, "too large.*'f0'"),
    "complex": ({"f0": 1j}, "'f0'.*not a number"),
    "a list": ({"f0": [1.0]}, "'f0'.*not a number"),
    "an array": ({"f0": np.ones(2)}, "'f0'.*not a number"),
    "an array instead": ([1.0, 2.0], "named features.*dict"),
}
named_refused = pytest.mark.parametrize(("x", "match"), NAMED.values(), ids=NAMED)


@named_refused
@pytest.mark.parametrize("label", ["no", "maybe"])
@pytest.mark.parametrize("before", ["block", "one by one"])
def test_one_named_example_refused(x, match, label, before):
    model = dict_model() if before == "block" else dict_model().learn_one({"f0": 1.0}, "yes")
    with refusal(model, match):
        model.learn_one(x, label)
    if "large" not in match:
        with refusal(model, match):
            model.predict_one(x)


@named_refused
@pytest.mark.parametrize("label", ["no", "maybe"])
def test_named_rows_refused(x, match, label):
    model = dict_model()
    rows = [{"other": 1.0}, x]
    match = match if isinstance(x, dict) else "dict"
    # a block says which row; NaN and inf are found in columns, but those have names too
    with refusal(model, f"row 1.*{match}" if "not a number" in match else "NaN|infinity|too large|dict"):
        model.partial_fit(rows, ["no", label])
    if isinstance(x, dict) and "new" not in x:  # predictions leave out names without a weight
        with refusal(model, "not a number|NaN|infinity|too large"):
            model.predict([{"f0": 1.0}, x])


def test_messages_name_the_column():
    frame = pd.DataFrame({"width": [1.0, 2.0], "height": [1.0, NAN]})
    for rows in (frame, frame.to_dict("records")):
        for call in (nk.Perceptron().fit, nk.Perceptron().partial_fit):
            with pytest.raises(DataError, match=r"NaN.*row 1.*'height'"):
                call(rows, [0, 1])


def test_dicts_and_arrays_do_not_mix():
    by_place, by_name = array_model(), dict_model()
    for model, rows, match in ((by_place, dicts(X), "without names.*arrays"), (by_name, X, "named features.*dict")):
        for call in (model.predict, model.decision_function, lambda rows, model=model: model.partial_fit(rows, y)):
            with refusal(model, match):
                call(rows)
        for label in ("no", "maybe"):
            with refusal(model, match):
                model.learn_one(rows[0], label)
        with refusal(model, match):
            model.predict_one(rows[0])


# -- sparse matrices that are not what they seem


@pytest.mark.parametrize("index", [2, -1])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_column_index_outside_the_matrix(index, n_classes):
    rows = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 3.0]]))
    rows.indices[1] = index
    labels = ["no", "yes", "maybe" if n_classes == 3 else "no"]
    model = array_model()
    for call in (model.predict, lambda rows: model.partial_fit(rows, labels), lambda rows: model.fit(rows, labels)):
        with refusal(model, f"corrupt.*row 1.*index {index}"):
            call(rows)


def test_one_sparse_example_with_an_index_outside_the_matrix():
    one = sp.csr_array(np.array([[1.0, 2.0]]))
    one.indices[1] = 2
    model = array_model()
    with refusal(model, "corrupt"):
        model.learn_one(one, "no")


def test_row_pointers_that_decrease():
    rows = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 3.0]]))
    rows.indptr[1] = -1
    with pytest.raises(ValueError, match=r"(?i)corrupt|index pointer|indptr"):
        nk.Perceptron().fit(rows, ["no", "yes", "no"])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("hypothesis", ["last", "averaged", "voted"])
def test_duplicate_and_unsorted_entries_are_added_up(n_classes, hypothesis):
    """A cell may be stored twice, in any order; its value is the sum, and the matrix is not changed."""
    data = np.array([1.0, 2.0, -1.0, 3.0, 1.0, 4.0, -4.0])
    indices = np.array([2, 0, 0, 1, 1, 1, 1])
    odd = sp.csr_array((data, indices.copy(), np.array([0, 3, 5, 7])), shape=(3, 3))
    plain = np.array([[1.0, 0.0, 1.0], [0.0, 4.0, 0.0], [0.0, 0.0, 0.0]])
    labels = np.arange(3) % n_classes
    model = nk.Perceptron(hypothesis=hypothesis).partial_fit(odd, labels)
    assert_same(model, nk.Perceptron(hypothesis=hypothesis).partial_fit(plain, labels), odd, plain)
    assert odd.indices.tolist() == indices.tolist()
    assert odd.data.tolist() == data.tolist()


def test_small_integer_types_do_not_wrap():
    """200 * 200 is 64 in uint8."""
    rows = np.array([[1, 1], [200, 100], [100, 200]], np.uint8)
    model = nk.Perceptron("passive-aggressive", fit_intercept=False)
    for x, label in zip(rows, [0, 1, 0], strict=True):
        model.learn_one(x, label)
    assert model.ledger_.radius == pytest.approx(np.sqrt(50_000))
    expected = nk.Perceptron("passive-aggressive", fit_intercept=False).partial_fit(rows.astype(float), [0, 1, 0])
    np.testing.assert_allclose(raw(model), raw(expected))


# -- rules of one's own


def faulty(margin, squared_norm):
    """A perceptron rule that fails on long vectors, in a different way for each length."""
    if squared_norm > 30_000:
        return NAN
    if squared_norm > 3_000:
        return INF
    if squared_norm > 300:
        return -1.0
    return 1.0 if margin <= 0 else 0.0


@pytest.mark.parametrize("form", [np.asarray, dicts], ids=["arrays", "dicts"])
def test_an_invalid_step(form):
    """All in one test, with at most two classes: a user's own rule is compiled in every process."""
    model = nk.Perceptron(faulty, "averaged").partial_fit(form(X), ["no"] * 4)
    for length, step in [(20.0, "-1.0"), (70.0, "inf"), (200.0, "nan")]:
        good_then_bad = form(np.array([[1.0, 2.0], [0.0, length]]))
        for new in ("maybe", "yes"):  # the one sorts before "no", the other after
            for call in (model.partial_fit, model.fit):
                with refusal(model, f"step of {step} .*finite number >= 0", RuleError):
                    call(good_then_bad, [new, "no"])
            for label in ("no", new):
                with refusal(model, f"step of {step} ", RuleError):
                    model.learn_one(good_then_bad[1], label)


@pytest.mark.parametrize("label", ["no", "maybe"])
def test_an_invalid_step_adds_no_new_names(label):
    model = nk.Perceptron(faulty)
    for x, known in zip(dicts(X), y, strict=True):
        model.learn_one(x, known)
    with refusal(model, "step of -1.0", RuleError):
        model.learn_one({"new": 20.0}, label)


@pytest.mark.parametrize("one_by_one", [False, True])
def test_a_separator_that_does_not_fit_the_classes(one_by_one):
    """Two classes have one separator; a third label does not fit it, and is refused like any bad row."""
    model = nk.Perceptron(separator=[0.0, 1.0, 1.0], classes=["no", "yes"]).partial_fit(X, y)
    with refusal(model, "separator"):
        if one_by_one:
            model.learn_one(X[0], "maybe")
        else:
            model.partial_fit(X, ["no", "yes", "maybe", "no"])


@pytest.mark.parametrize("separator", [[1.0], [1.0, 2.0], [0.0, 0.0, 0.0], [1.0, NAN, 1.0], [[1.0, 2.0, 3.0]] * 3])
def test_a_separator_that_separates_nothing(separator):
    with pytest.raises(DataError, match="separator"):
        nk.Perceptron(separator=separator).fit(X, y)


# -- before anything was learned


@pytest.mark.parametrize("rows", [X, csr(X), dicts(X)], ids=["dense", "sparse", "dicts"])
def test_unfitted(rows):
    for call in (nk.Perceptron().predict, nk.Perceptron().decision_function):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            call(rows)
    for name in ("coef_", "intercept_", "classes_", "ledger_", "raw_coef_"):
        assert not hasattr(nk.Perceptron(), name)


@pytest.mark.parametrize(
    "parameter",
    [
        {"rule": "newton"},
        {"hypothesis": "best"},
        {"ties": 0},
        {"order": "sorted"},
        {"max_iter": 0},
        {"fit_intercept": "y"},
    ],
    ids=str,
)
def test_parameters_are_checked_by_every_method(parameter):
    (name,) = parameter
    model = nk.Perceptron(**parameter)
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match=name):
            call(X, y)
    with pytest.raises(ValueError, match=name):
        model.learn_one(X[0], "no")
    with pytest.raises(ValueError, match=name):
        model.predict_one(X[0])


def test_states_that_cannot_be_merged():
    learner = Learner()
    with pytest.raises(MergeError, match="nothing to merge"):
        learner.merge([])
    with pytest.raises(MergeError, match="different shapes"):
        learner.merge([learner.init(2), learner.init(3)])
    with pytest.raises(MergeError, match="different shapes"):
        learner.merge([learner.init(2), learner.init(2, 3)])


def test_a_learner_checks_what_compiled_code_does_not():
    learner, rows = Learner(), Rows.of(X)
    for codes in ([0, 1], [0, 1, 2, 0], [0, 1, -1, 0]):
        with pytest.raises(DataError, match="codes"):
            learner.update(learner.init(2), rows, np.array(codes))
    with pytest.raises(DataError, match="order"):
        learner.update(learner.init(2), rows, np.array([0, 1, 0, 1]), np.array([4]))
    with pytest.raises(DataError, match="3 features"):
        learner.score(learner.init(2), Rows.of(np.ones((1, 3))))


def test_every_error_is_ours_and_a_value_error():
    for error in (DataError, RuleError, MergeError):
        assert issubclass(error, NovikoffError)
        assert issubclass(error, ValueError)


def test_labels_that_are_tuples_are_refused():
    y = np.empty(4, object)
    y[:] = [(1, 2), (3, 4), (1, 2), (3, 4)]
    with pytest.raises(ValueError, match="The labels cannot be sorted"):
        nk.Perceptron().fit(np.eye(4), y)

"""Parameters of constructors: names from scikit-learn that are not ours, and choices with a type."""

import copy
import inspect
import pickle
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from sklearn.base import clone
from sklearn.linear_model import Perceptron, SGDClassifier, SGDRegressor
from sklearn.utils._param_validation import StrOptions

import novikoff as nk
from novikoff import hypotheses, losses, rules
from novikoff.estimators.foreign_parameters import OF_LINEAR, OF_PERCEPTRON
from novikoff.perceptron.learner import TIES, Ties
from novikoff.structured.constraints import SCHEMES, Scheme

OURS = {nk.Perceptron: OF_PERCEPTRON, nk.LinearClassifier: OF_LINEAR, nk.LinearRegressor: OF_LINEAR}
ESTIMATORS = [*OURS, nk.KernelPerceptron, nk.KernelRegressor]


def names_of(estimator):
    return set(inspect.signature(estimator).parameters)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (nk.Perceptron, Perceptron),
        (nk.Perceptron, SGDClassifier),
        (nk.LinearClassifier, Perceptron),
        (nk.LinearClassifier, SGDClassifier),
        (nk.LinearRegressor, SGDRegressor),
    ],
)
def test_every_parameter_of_scikit_learn_is_ours_or_explained(ours, theirs):
    for name in names_of(theirs) - names_of(ours):
        with pytest.raises(TypeError, match=rf"^{ours.__name__} has no parameter '{name}': .*\.$"):
            ours(**{name: 1})


@pytest.mark.parametrize("estimator", OURS)
def test_explanations_name_what_exists(estimator):
    """A hint that begins an argument with a name and an equals sign names a parameter, here or of what it calls."""
    elsewhere = {"learning_rate", "C", "loss", "alpha", "penalty", "l1_ratio", "power_t"}
    for hint in OURS[estimator].values():
        for word in hint.replace("(", " ").replace(",", " ").split():
            name, equals, _ = word.partition("=")
            if equals:
                assert name in names_of(estimator) | elsewhere, hint


def test_unknown_names_are_still_pythons_error():
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        nk.Perceptron(nonsense=1)


def test_a_sentence():
    with pytest.raises(TypeError) as caught:
        nk.Perceptron("perceptron", average=True)
    assert str(caught.value) == "Perceptron has no parameter 'average': use hypothesis='averaged'."


@pytest.mark.parametrize("estimator", OURS)
def test_signature_parameters_clones_and_copies(estimator):
    model = estimator(fit_intercept=False, max_iter=7)
    assert set(model.get_params()) == names_of(estimator)
    assert not {"args", "kwargs", "self"} & names_of(estimator)
    for other in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert other.get_params() == model.get_params()


def test_subclasses_have_parameters_of_their_own():
    class Own(nk.Perceptron):
        def __init__(self, alpha=1.0, rule="perceptron"):
            super().__init__(rule)
            self.alpha = alpha

    assert Own(alpha=2.0).get_params() == {"alpha": 2.0, "rule": "perceptron"}


# -- choices


def choices(annotation):
    """The strings that an annotation allows: those of its Literals."""
    if get_origin(annotation) is Literal:
        return {value for value in get_args(annotation) if isinstance(value, str)}
    return {value for part in get_args(annotation) for value in choices(part)}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_choices_of_estimators_are_literals(estimator):
    hints = get_type_hints(inspect.unwrap(estimator.__init__))
    for name, constraints in estimator._parameter_constraints.items():
        options = {option for each in constraints if isinstance(each, StrOptions) for option in each.options}
        assert choices(hints[name]) == options, name


@pytest.mark.parametrize("function", [nk.SequenceTagger.__init__, nk.StructuredPerceptron.__init__, nk.learn])
def test_other_choices_are_literals(function):
    hints = get_type_hints(function)
    assert choices(hints["hypothesis"]) >= {"averaged", "last"}
    for name in {"order", "ties", "rule", "constraints", "class_weight"} & set(hints):
        assert choices(hints[name]), name


def test_literals_are_the_names():
    assert get_args(rules.RuleName) == rules.NAMES
    assert get_args(hypotheses.HypothesisName) == hypotheses.NAMES
    assert get_args(losses.LossName) == losses.NAMES
    assert set(get_args(Ties)) == set(TIES)
    assert get_args(Scheme) == SCHEMES

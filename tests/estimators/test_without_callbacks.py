"""The estimators with a scikit-learn that has no callbacks, as before 1.9."""

import json
import subprocess
import sys

import novikoff as nk
from tests.support.strategies import integers

PROGRAM = """
import json, pickle, sys
import novikoff as nk
from sklearn.base import clone

nk.Perceptron  # loads all of scikit-learn that is needed, which uses callbacks itself
if "sklearn.callback" in sys.modules:
    del sys.modules["sklearn.callback"].CallbackSupportMixin
    for name in [name for name in sys.modules if name.startswith("novikoff")]:
        del sys.modules[name]
    import novikoff as nk

X, y = json.load(sys.stdin)
found = {}
for model in (nk.Perceptron(), nk.KernelPerceptron("linear", max_iter=100)):
    copy = pickle.loads(pickle.dumps(clone(model).fit(X, y)))
    found[type(model).__name__] = [copy.n_iter_, copy.score(X, y), copy.decision_function(X).tolist()]
    assert not hasattr(copy, "set_callbacks")
    try:
        copy.set_callbacks(object())
    except AttributeError as error:
        found["message"] = str(error)
print(json.dumps(found))
"""


def test_estimators_fit_alike_and_say_what_callbacks_need():
    X, y = integers(2, 30, 4, 3)
    y = (X[:, 0] + 2 * X[:, 1] > 0).astype(int)
    given = json.dumps([X.tolist(), y.tolist()])
    run = subprocess.run([sys.executable, "-c", PROGRAM], input=given, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    for model in (nk.Perceptron().fit(X, y), nk.KernelPerceptron("linear", max_iter=100).fit(X, y)):
        expected = [model.n_iter_, model.score(X, y), model.decision_function(X).tolist()]
        assert found[type(model).__name__] == expected
    assert found["message"].startswith("Callbacks need scikit-learn 1.9 or newer, and ")

"""novikoff: linear learning that predicts while it learns, and proves what it can and cannot do.

>>> import novikoff as nk
>>> model = nk.Perceptron()
>>> for x, y in [({"free": 1, "money": 1}, "spam"), ({"lunch": 1}, "ham"), ({"free": 1, "lunch": 1}, "ham")]:
...     guess = model.predict_one(x)
...     model = model.learn_one(x, y)
>>> model.predict_one({"money": 1})
'spam'

Names are resolved when they are first used: `import novikoff` loads neither numba nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "KernelPerceptron": "novikoff.estimators",
    "KernelRegressor": "novikoff.estimators",
    "LinearClassifier": "novikoff.estimators",
    "LinearRegressor": "novikoff.estimators",
    "Perceptron": "novikoff.estimators",
    "DescentDisplay": "novikoff.plots",
    "EnsembleDisplay": "novikoff.plots",
    "FewestErrors": "novikoff.theory.fewest_errors",
    "GeometricMargin": "novikoff.theory.geometric_margin",
    "ClosedSeparable": "novikoff.theory.certificates",
    "Inseparable": "novikoff.theory.certificates",
    "Ledger": "novikoff.perceptron.ledger",
    "LedgerDisplay": "novikoff.plots",
    "MistakeBound": "novikoff.theory.bounds",
    "PlaneDisplay": "novikoff.plots",
    "Separable": "novikoff.theory.certificates",
    "SequenceTagger": "novikoff.structured",
    "Verdicts": "novikoff.theory.certificates",
    "calibrate": "novikoff.streaming.calibrating",
    "certify": "novikoff.theory.separability",
    "fewest_errors": "novikoff.theory.fewest_errors",
    "geometric_margin": "novikoff.theory.geometric_margin",
    "learn": "novikoff.streaming.learning",
    "load": "novikoff.model_files.loading",
    "margin": "novikoff.theory.margins",
    "margins": "novikoff.theory.margins",
    "mistake_bound": "novikoff.theory.bounds",
    "compare_bounds": "novikoff.theory.bound_comparison",
    "BoundComparison": "novikoff.theory.bound_comparison",
    "open_stream": "novikoff.data.formats.opening",
    "select": "novikoff.estimators",
    "show_versions": "novikoff._compiled.versions",
    "Selection": "novikoff.selection.choosing",
    "Learner": "novikoff.perceptron.learner",
    "Rows": "novikoff.inputs.rows",
    "State": "novikoff.perceptron.state",
    "StreamClassifier": "novikoff.estimators",
    "StreamModel": "novikoff.streaming.model",
    "StreamRegressor": "novikoff.streaming.regressor",
    "StructuredPerceptron": "novikoff.structured",
    "distributed": "",
    "errors": "",
    "hypotheses": "",
    "losses": "",
    "rules": "",
}

__all__ = [
    "BoundComparison",
    "ClosedSeparable",
    "DescentDisplay",
    "EnsembleDisplay",
    "FewestErrors",
    "GeometricMargin",
    "Inseparable",
    "KernelPerceptron",
    "KernelRegressor",
    "Learner",
    "Ledger",
    "LedgerDisplay",
    "LinearClassifier",
    "LinearRegressor",
    "MistakeBound",
    "Perceptron",
    "PlaneDisplay",
    "Rows",
    "Selection",
    "Separable",
    "SequenceTagger",
    "State",
    "StreamClassifier",
    "StreamModel",
    "StreamRegressor",
    "StructuredPerceptron",
    "Verdicts",
    "__version__",
    "calibrate",
    "certify",
    "compare_bounds",
    "distributed",
    "errors",
    "fewest_errors",
    "geometric_margin",
    "hypotheses",
    "learn",
    "load",
    "losses",
    "margin",
    "margins",
    "mistake_bound",
    "open_stream",
    "rules",
    "select",
    "show_versions",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'novikoff' has no attribute {name!r}")
    home = _HOMES[name]
    found = getattr(import_module(home), name) if home else import_module(f"novikoff.{name}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from novikoff import distributed, errors, hypotheses, losses, rules
    from novikoff._compiled.versions import show_versions
    from novikoff.data.formats.opening import open_stream
    from novikoff.estimators import (
        KernelPerceptron,
        KernelRegressor,
        LinearClassifier,
        LinearRegressor,
        Perceptron,
        StreamClassifier,
        select,
    )
    from novikoff.inputs.rows import Rows
    from novikoff.model_files.loading import load
    from novikoff.perceptron.learner import Learner
    from novikoff.perceptron.ledger import Ledger
    from novikoff.perceptron.state import State
    from novikoff.plots import DescentDisplay, EnsembleDisplay, LedgerDisplay, PlaneDisplay
    from novikoff.selection.choosing import Selection
    from novikoff.streaming.calibrating import calibrate
    from novikoff.streaming.learning import learn
    from novikoff.streaming.model import StreamModel
    from novikoff.streaming.regressor import StreamRegressor
    from novikoff.structured import SequenceTagger, StructuredPerceptron
    from novikoff.theory.bound_comparison import BoundComparison, compare_bounds
    from novikoff.theory.bounds import MistakeBound, mistake_bound
    from novikoff.theory.certificates import ClosedSeparable, Inseparable, Separable, Verdicts
    from novikoff.theory.fewest_errors import FewestErrors, fewest_errors
    from novikoff.theory.geometric_margin import GeometricMargin, geometric_margin
    from novikoff.theory.margins import margin, margins
    from novikoff.theory.separability import certify

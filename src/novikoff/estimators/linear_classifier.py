"""nk.LinearClassifier: any loss by any solver, as a scikit-learn estimator."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_y, check_consistent_length

from novikoff import losses, rules
from novikoff._compiled.loops.descent import EXAMPLES, MISTAKES, SQUARED_RADIUS, STEP_SUM, UPDATES
from novikoff.descent.objective import adds_up
from novikoff.descent.saving import KINDS
from novikoff.descent.stochastic import LOST, Run
from novikoff.errors import DataError
from novikoff.estimators.atomic_fit import all_or_nothing
from novikoff.estimators.linear_base import Descending, goes_on
from novikoff.inputs.labels import as_given, encode
from novikoff.perceptron.ledger import Ledger
from novikoff.perceptron.ledger import Trace as LedgerTrace

__all__ = ["LinearClassifier"]


def _gives_probabilities(estimator: LinearClassifier) -> bool:
    if not isinstance(losses.resolve(estimator.loss), losses.Logistic):
        raise AttributeError("Only loss='logistic' gives probabilities; decision_function gives scores.")
    return True


class LinearClassifier(ClassifierMixin, Descending):
    """A linear classifier that makes the mean of a loss small, plus a penalty on long weights.

    F(w, b) = 1/n sum_i loss(<w, x_i> + b, y_i) + alpha/2 |w|^2 with y = -1 or +1; the intercept b pays no penalty. More
    than two classes are one problem each, against the rest.

    Parameters
    ----------
    loss : {"hinge-at-zero", "hinge", "squared-hinge", "logistic", "squared"} or a value of `novikoff.losses`, \
default="hinge"
        "hinge" is the linear support vector machine, "logistic" logistic regression. "hinge-at-zero" with
        solver="sgd", learning_rate="constant", eta0=1, alpha=0, average=False is the perceptron, step for step. One's
        own is ``losses.Custom(function, derivative)``.
    solver : {"sgd", "gd", "newton", "stochastic-newton"}, default="sgd"
        "sgd" looks at one example at a time, and is the only one for streams and for many rows. "newton" needs a loss
        with a curvature and few steps; from 2,000 columns on it goes by conjugate gradients. "gd" goes down the
        gradient of all rows. "stochastic-newton" [1]_ is sgd with the inverse of the Hessian, for few columns.
    alpha : float, default=1e-4
        Of the penalty. LIBLINEAR's C is 1 / (alpha * n_samples).
    fit_intercept : bool, default=True
    learning_rate : {"auto", "constant", "invscaling", "optimal", "line-search"}, default="auto"
        How long steps are. "auto" fits them to the rows: a line search for "gd" and "newton" where the loss is smooth
        ("newton" makes its first steps on a tenth of the rows, if there are many; "line-search" makes all on all);
        for "sgd" from 1 / (steepness * max |x|^2) on, falling like 1 / sqrt(t) and in the end like 1 / (alpha t).
        "constant" is eta0, "invscaling" eta0 / sqrt(t), "optimal" 1 / (alpha (t0 + t)) as in SGDClassifier.
    eta0 : float, default=None
        The first step of "constant" and "invscaling", and of "auto" for "sgd"; None finds one that cannot overshoot.
        "gd" and "newton" begin their line searches with it; "optimal" and "stochastic-newton" make nothing of it.
    average : bool, default=True
        Let sgd answer with the average of its weights, where the t-th weigh t [2]_: less noise for nothing.
    shuffle : bool, default=True
        A new order of the rows for every pass of sgd.
    max_iter : int, default=1000
        The most passes.
    tol : float or None, default=1e-3
        When to stop. "gd" and "newton": when the gradient is tol times as long as at zero weights. "sgd": when as
        many passes again have lowered F by less than tol of what zero weights cost. None makes all passes, and
        reports of sgd only at both ends unless `verbose`: a report takes as long as a pass.
    random_state : int, RandomState instance or None, default=None
        For shuffling.
    verbose : int, default=0
        Print a line for each report.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    trace_ : Trace, or a list of them if there are more than two classes
        passes, objective, gradient_norm, seconds at each report. `DescentDisplay` draws it.
    n_iter_ : int
        Passes of the last `fit`.
    converged_ : bool
        Whether `tol` was reached; if it is None, whether all passes were made.
    ledger_ : Ledger
        Mistakes along the way, each counted before its step; of sgd with two classes.

    References
    ----------
    .. [1] A. Bordes, L. Bottou and P. Gallinari, "SGD-QN: Careful quasi-Newton stochastic gradient descent", 2009.
    .. [2] S. Lacoste-Julien, M. Schmidt and F. Bach, "A simpler approach to obtaining an O(1/t) convergence rate for
       the projected stochastic subgradient method", 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import StandardScaler
    >>> import novikoff as nk
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> X = StandardScaler().fit_transform(X)
    >>> clf = nk.LinearClassifier(loss="logistic", solver="newton").fit(X, y)
    >>> clf.converged_, round(clf.score(X, y), 3)
    (True, 0.991)
    """

    _kind = KINDS[0]

    def __init__(
        self,
        loss: Any = "hinge",
        solver: str = "sgd",
        *,
        alpha: float = 1e-4,
        fit_intercept: bool = True,
        learning_rate: str = "auto",
        eta0: float | None = None,
        average: bool = True,
        shuffle: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.loss = loss
        self.solver = solver
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.learning_rate = learning_rate
        self.eta0 = eta0
        self.average = average
        self.shuffle = shuffle
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state
        self.verbose = verbose

    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any) -> LinearClassifier:
        """Solve the problem, from zero weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            float32 and float64 arrays in C order and CSR matrices are not copied.
        y : array-like of shape (n_samples,)
            Labels of any sortable type.

        Returns
        -------
        self
        """
        y = _labels(y)
        rows = self._rows(X, reset=True)
        check_consistent_length(rows, y)
        classes, codes = encode(y)
        if len(classes) < 2:
            raise DataError(
                "The number of classes has to be greater than one; the data contains only one class: "
                f"{classes.tolist()[0]!r}."
            )
        self._fit_targets(rows, _signs(codes, len(classes)), classes_=classes)
        return self

    @available_if(goes_on)
    @all_or_nothing
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> LinearClassifier:
        """Take one step of sgd for each row of a block, in the order given. Blocks of any size have the same result.

        A block is learned whole or not at all, if it is rejected or interrupted as well as if several threads share the
        estimator.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, default=None
            All labels there will be. Needed at the first call, unless its block has them all.

        Returns
        -------
        self
        """
        first = not self.__sklearn_is_fitted__()
        y = _labels(y)
        rows = self._rows(X, reset=first)
        check_consistent_length(rows, y)
        known = np.unique(np.asarray(as_given(y if classes is None else classes))) if first else self.classes_
        if len(known) < 2:
            raise DataError("The first block has only one class: pass classes=, all the labels there will be.")
        self._go_on(rows, _signs(encode(y, known)[1], len(known)), classes_=known)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """The score of each row, <w, x> + b.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for classes_[1].
        """
        return self._scores(X)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        scores = self._scores(X)
        return self.classes_[(scores >= 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each label, 1 / (1 + e^-score); of more than two classes they are made to add up to 1.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        scores = self._scores(X)
        chances = expit(scores)
        if chances.ndim == 1:
            return np.column_stack([expit(-scores), chances])
        total = chances.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, chances / np.where(total > 0.0, total, 1.0), 1.0 / chances.shape[1])

    @property
    def ledger_(self) -> Ledger:
        model = self._fitted("ledger_")
        if len(model.runs) != 1:
            raise AttributeError("ledger_ counts the mistakes of solver='sgd' with two classes.")
        run = model.runs[0]
        steps, updates, rule = float(run.measures[STEP_SUM]), int(run.counts[UPDATES]), self._rule_of(run)
        return Ledger(
            examples=int(run.counts[EXAMPLES]),
            mistakes=int(run.counts[MISTAKES]),
            updates=updates,
            passes=model.passes,
            radius=float(np.sqrt(run.measures[SQUARED_RADIUS])),
            norm=float(np.linalg.norm(run.last())),
            step_sum=steps if steps < LOST and adds_up(losses.resolve(self.loss), self.alpha) else 0.0,
            trace=LedgerTrace(),
            rule=rule or rules.Perceptron(),
            n_weights=model.n_features + 1,
            is_bounded=rule is not None,
        )

    def _rule_of(self, run: Run) -> rules.Perceptron | None:
        """The perceptron's rule, if that is what the run has followed: whatever the parameters were on the way, all of
        its steps were as long as they are now, and one was made for each mistake."""
        if (
            not isinstance(losses.resolve(self.loss), losses.HingeAtZero)
            or self.alpha
            or self.learning_rate != "constant"
        ):
            return None
        steps, updates = float(run.measures[STEP_SUM]), int(run.counts[UPDATES])
        if self.eta0 is None or steps >= LOST or updates != run.counts[MISTAKES]:
            return None
        return rules.Perceptron(self.eta0) if math.isclose(steps, self.eta0 * updates, rel_tol=1e-6) else None


def _labels(y: Any) -> np.ndarray:
    if y is None:
        raise DataError("requires y to be passed, but the target y is None")
    y = _check_y(as_given(y), multi_output=False, y_numeric=False)
    if y.dtype.kind == "f" and (y != np.floor(y)).any():
        raise DataError(
            "Unknown label type: continuous. A classifier expects discrete classes; for numbers use LinearRegressor."
        )
    return y


def _signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Targets -1 and +1: one row for two classes, else one for each against the rest."""
    mine = codes == 1 if n_classes == 2 else codes == np.arange(n_classes)[:, None]
    return 2.0 * np.atleast_2d(mine) - 1.0

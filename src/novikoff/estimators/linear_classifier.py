"""nk.LinearClassifier: any loss, minimized by any solver, as a scikit-learn classifier."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_consistent_length

from novikoff import losses, rules
from novikoff._compiled.loops.descent import (
    EXAMPLES,
    MISTAKES,
    SQUARED_RADIUS,
    STEP_SUM,
    UPDATES,
    WEIGHTED_RADIUS,
)
from novikoff.descent.objective import is_sum_of_examples
from novikoff.descent.options import LearningRate, Solver
from novikoff.descent.saving import KINDS
from novikoff.descent.stochastic import UNKNOWN_STEP_SUM, SgdState
from novikoff.errors import DataError
from novikoff.estimators.foreign_parameters import OF_LINEAR, explain_foreign
from novikoff.estimators.inputs import validate_first_rows, validate_labels, validate_rows
from novikoff.estimators.linear_base import LinearEstimator, supports_partial_fit
from novikoff.estimators.weighting import CONSTRAINTS, ClassWeight, weigh_all, weigh_block
from novikoff.inputs.labels import encode_labels, protect_null_bytes
from novikoff.perceptron.ledger import Ledger, LedgerTrace

__all__ = ["LinearClassifier"]


def _gives_probabilities(estimator: LinearClassifier) -> bool:
    """Return True if scores are log-odds; scikit-learn hides methods for which this raises an error."""
    if not isinstance(losses.resolve(estimator.loss), losses.Logistic):
        raise AttributeError("Only loss='logistic' gives probabilities; decision_function gives scores.")
    return True


class LinearClassifier(ClassifierMixin, LinearEstimator):
    """A linear classifier that minimizes a mean loss with a penalty on the norm of the weights.

    F(w, b) = 1/n sum_i loss(<w, x_i> + b, y_i) + alpha/2 |w|^2 with y = -1 or +1; the intercept b has no penalty. With
    three classes or more, one such function for each class against the rest is minimized. If rows have weights c_i, the
    mean loss is sum_i c_i loss_i / sum_i c_i: a weight of 2 is the same as two copies of a row.

    Parameters
    ----------
    loss : {"hinge-at-zero", "hinge", "squared-hinge", "logistic", "squared"} or a value of `novikoff.losses`, \
default="hinge"
        "hinge" is the linear support vector machine, "logistic" logistic regression. "hinge-at-zero" with
        solver="sgd", learning_rate="constant", eta0=1, alpha=0, average=False is the perceptron, step for step. A loss
        of your own is ``losses.Custom(function, derivative)``.
    solver : {"sgd", "dual", "gd", "newton", "stochastic-newton"}, default="sgd"
        "sgd" takes one example at a time, and is the only one for streams. "dual" is dual coordinate ascent as in
        LIBLINEAR [3]_ [4]_, for "hinge", "squared-hinge" and "logistic" with alpha > 0: it needs no step size, and
        finds the minimum to any accuracy. "newton" needs a loss with a second derivative, and few steps; from 2,000
        columns on it uses conjugate gradients. "gd" follows the gradient over all rows. "stochastic-newton" [1]_ is
        sgd with the inverse of the Hessian, for few columns.
    alpha : float, default=1e-4
        Strength of the penalty. LIBLINEAR's C is 1 / (alpha * n_samples).
    fit_intercept : bool, default=True
    learning_rate : {"auto", "constant", "invscaling", "optimal", "line-search"}, default="auto"
        The length of steps. "auto" fits them to the rows. For "gd" and "newton" it is a line search where the loss is
        smooth ("newton" makes its first steps on a tenth of the rows, if there are many; with "line-search" it uses
        all rows for all steps). For "sgd" steps start at 1 / (steepness * (mean |x|)^2), fall like 1 / sqrt(t) and in
        the end like 1 / (alpha t), and are never longer than 1 / (steepness * |x|^2) on a row x, which no row
        overshoots.
        "constant" is eta0, "invscaling" eta0 / sqrt(t), "optimal" 1 / (alpha (t0 + t)) as in SGDClassifier.
    eta0 : float, default=None
        The first step of "constant" and "invscaling", and of "auto" for "sgd"; None finds one that cannot overshoot.
        "gd" and "newton" begin their line searches with it; "optimal", "dual" and "stochastic-newton" do not use it.
    average : bool, default=True
        Let sgd return the average of its weights, where the t-th weigh t [2]_, which is less noisy at no cost.
    shuffle : bool, default=True
        Permute the rows anew for every pass of sgd.
    max_iter : int, default=1000
        The largest number of passes.
    tol : float or None, default=1e-3
        Convergence criterion: F is proved to be at most tol times its value at zero weights above its minimum, by a
        duality gap; "gd" and "newton" also need a gradient that is tol times as long as at zero weights. Without a
        penalty, and for losses without a dual problem, that gradient is their only criterion, and that of "sgd" is that
        as many passes again have lowered F by less than tol times its value at zero weights, which proves nothing. None
        makes all passes; "sgd" and "dual" then report only at both ends unless `verbose`, since a report takes two
        passes.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling.
    verbose : int, default=0
        Print a line for each report.
    class_weight : dict {label: weight} or "balanced", default=None
        The weight of a row is sample_weight * class_weight[label], where a label that is not in the dict has 1;
        "balanced" is n_samples / (n_classes * count of the label), only for `fit`. With three classes or more a row has
        the weight of its own label for every class against the rest.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
    intercept_ : ndarray of shape (1,) or (n_classes,)
    trace_ : DescentTrace, or a list of them if there are more than two classes
        passes, objective, gradient_norm, seconds and gap (the duality gap) at each report. `DescentDisplay` draws it.
    n_iter_ : int
        Passes of the last `fit`.
    converged_ : bool
        Whether `tol` was reached; if it is None, whether all passes were made. False if there is no minimum.
    lacks_minimum_ : bool
        Whether it is proved that there is no minimum: of the logistic loss with alpha=0 on classes that can be
        separated, or that one column tells apart wherever it is not 0.
    ledger_ : Ledger
        Mistakes along the run, each counted before its step; only for sgd with two classes.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the rows came with names.

    Notes
    -----
    A row of weight 0 is left out: neither counted nor learned. `fit` divides weights by their mean, so that all solvers
    minimize the same function and only the ratios of weights matter. `partial_fit` cannot know the mean, and multiplies
    losses by the weights as they are, as SGDClassifier does. The default steps of sgd cannot overshoot for any weights:
    the length of a row is sqrt(c) |x|.

    References
    ----------
    .. [1] A. Bordes, L. Bottou and P. Gallinari, "SGD-QN: Careful quasi-Newton stochastic gradient descent", 2009.
    .. [2] S. Lacoste-Julien, M. Schmidt and F. Bach, "A simpler approach to obtaining an O(1/t) convergence rate for
       the projected stochastic subgradient method", 2012.
    .. [3] C.-J. Hsieh, K.-W. Chang, C.-J. Lin, S. S. Keerthi and S. Sundararajan, "A dual coordinate descent method for
       large-scale linear SVM", 2008.
    .. [4] H.-F. Yu, F.-L. Huang and C.-J. Lin, "Dual coordinate descent methods for logistic regression and maximum
       entropy models", 2011.

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
    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012 - scikit-learn's convention
        **LinearEstimator._parameter_constraints,
        "class_weight": CONSTRAINTS,
    }

    @explain_foreign(OF_LINEAR)
    def __init__(
        self,
        loss: losses.LossName | losses.Loss = "hinge",
        solver: Solver = "sgd",
        *,
        alpha: float = 1e-4,
        fit_intercept: bool = True,
        learning_rate: LearningRate = "auto",
        eta0: float | None = None,
        average: bool = True,
        shuffle: bool = True,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        random_state: Any = None,
        verbose: int = 0,
        class_weight: ClassWeight = None,
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
        self.class_weight = class_weight

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> LinearClassifier:
        """Minimize the loss, from zero weights.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            float32 and float64 arrays in C order and CSR matrices are not copied.
        y : array-like of shape (n_samples,)
            Labels of any sortable type.
        sample_weight : array-like of shape (n_samples,), default=None
            The weight >= 0 of each row. A row of weight 0 is left out; its label is still one of `classes_`.

        Returns
        -------
        self
        """
        y = _validate_labels(y)
        rows, attributes = validate_first_rows(self, X)
        check_consistent_length(rows, y)
        classes, codes = encode_labels(y)
        if len(classes) < 2:
            raise DataError(
                "The number of classes has to be greater than one; the data contains only one class: "
                f"{classes.tolist()[0]!r}."
            )
        rows, codes, importances = weigh_all(rows, classes, codes, self.class_weight, sample_weight)
        self._fit_targets(rows, _signs(codes, len(classes)), {**attributes, "classes_": classes}, importances)
        return self

    @available_if(supports_partial_fit)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> LinearClassifier:
        """Take one step of sgd for each row of a block, in the order given. Blocks of any size have the same result.

        A block is learned whole or not at all, if it is rejected or interrupted as well as if several threads share the
        estimator.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like, default=None
            All labels there will be. Needed at the first call, unless its block has them all.
        sample_weight : array-like of shape (n_samples,), default=None
            The factor >= 0 of the loss of each row. A row of weight 0 is left out.

        Returns
        -------
        self
        """
        now, labels = self._snapshot(), _validate_labels(y)
        if now.__sklearn_is_fitted__():
            rows = validate_rows(now, X)
            check_consistent_length(rows, labels)
            rows, labels, importances = weigh_block(rows, labels, now.class_weight, sample_weight)
            now._learn_next(rows, _signs(encode_labels(labels, now.classes_)[1], len(now.classes_)), importances)
            return self
        rows, attributes = validate_first_rows(now, X)
        check_consistent_length(rows, labels)
        known = np.unique(np.asarray(protect_null_bytes(labels if classes is None else classes)))
        if len(known) < 2:
            raise DataError("The first block has only one class: pass classes=, all the labels there will be.")
        rows, labels, importances = weigh_block(rows, labels, now.class_weight, sample_weight)
        signs = _signs(encode_labels(labels, known)[1], len(known))
        if self._publish_first(now._learn_first(rows, signs, {**attributes, "classes_": known}, importances)):
            return self
        # The block belongs into the model of another thread, which was the first.
        return self.partial_fit(X, y, sample_weight=sample_weight)

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row, <w, x> + b.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Two classes: positive for classes_[1].
        """
        return self._snapshot()._scores(X)

    def predict(self, X: Any) -> np.ndarray:
        """Predict the label of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of shape (n_samples,)
        """
        now = self._snapshot()
        scores = now._scores(X)
        return now.classes_[(scores >= 0.0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)]

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each label, 1 / (1 + e^-score); of more than two classes divided by their sum.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
        """
        scores = self._snapshot()._scores(X)
        probabilities = expit(scores)
        if probabilities.ndim == 1:
            return np.column_stack([expit(-scores), probabilities])
        total = probabilities.sum(axis=1, keepdims=True)
        return np.where(total > 0.0, probabilities / np.where(total > 0.0, total, 1.0), 1.0 / probabilities.shape[1])

    @property
    def classes_(self) -> np.ndarray:
        return self._fitted_attribute("classes_")

    @property
    def ledger_(self) -> Ledger:
        model = self._require_model("ledger_")
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
            step_sum=steps
            if steps < UNKNOWN_STEP_SUM and is_sum_of_examples(losses.resolve(self.loss), self.alpha)
            else 0.0,
            trace=LedgerTrace(),
            rule=rule or rules.Perceptron(),
            n_weights=model.n_features + 1,
            is_bounded=rule is not None,
            importance_range=(0.0, math.inf) if run.measures[WEIGHTED_RADIUS] else (1.0, 1.0),
        )

    def _rule_of(self, run: SgdState) -> rules.Perceptron | None:
        """Return the perceptron's rule if the run has followed it, else None.

        The parameters may have changed along the way; the run has followed the rule if it made one step for each
        mistake, and all of them had the length that steps have now. A run with weights has other steps.
        """
        if (
            run.measures[WEIGHTED_RADIUS]
            or not isinstance(losses.resolve(self.loss), losses.HingeAtZero)
            or self.alpha
            or self.learning_rate != "constant"
        ):
            return None
        steps, updates = float(run.measures[STEP_SUM]), int(run.counts[UPDATES])
        if self.eta0 is None or steps >= UNKNOWN_STEP_SUM or updates != run.counts[MISTAKES]:
            return None
        return rules.Perceptron(self.eta0) if math.isclose(steps, self.eta0 * updates, rel_tol=1e-6) else None


def _validate_labels(y: Any) -> np.ndarray:
    return validate_labels(y, "for numbers use LinearRegressor.")


def _signs(codes: np.ndarray, n_classes: int) -> np.ndarray:
    """Return targets of -1 and +1: one row for two classes, otherwise one row for each class against the rest."""
    is_positive = codes == 1 if n_classes == 2 else codes == np.arange(n_classes)[:, None]
    return 2.0 * np.atleast_2d(is_positive) - 1.0

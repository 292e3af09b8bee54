"""EnsembleDisplay: the weights of the learners that vote under the rule "auto", along a run."""

from __future__ import annotations

from typing import Any

from novikoff.errors import DataError
from novikoff.perceptron.candidates import CandidateTrace
from novikoff.perceptron.ledger import Ledger
from novikoff.plots.style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, new_axes

__all__ = ["EnsembleDisplay"]

_STYLES = (
    (BLUE, "-"),
    (ORANGE, "-"),
    (VERMILION, "-"),
    (VERMILION, ":"),
    (GREEN, "-"),
    (GREY, "-"),
    (BLACK, "-"),
    (BLACK, "--"),
)
_NOT_DRAWN: Any = None


class EnsembleDisplay:
    """The vote of the rule "auto" as a picture, in two panels.

    1. The weight of each candidate in the vote, against examples: who leads, and when that changes.
    2. The share of mistakes so far, of each candidate and of the vote.

    Parameters
    ----------
    ledger : Ledger
        Of a model with the rule "auto".

    Attributes
    ----------
    trace : CandidateTrace
        The numbers that are drawn, after every so many examples; 128 to 256 points of a long run.
    ax_, figure_ : ndarray of two matplotlib Axes, matplotlib Figure
    weights_, rates_ : list of matplotlib lines, one for each candidate
    vote_ : matplotlib line
        The share of mistakes of the vote.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> import novikoff as nk
    >>> model = nk.Perceptron("auto").partial_fit([[1.0, 0.0], [0.0, 1.0]] * 20, [1, -1] * 20)
    >>> display = nk.EnsembleDisplay.from_model(model, ax=Figure().subplots(1, 2))
    >>> len(display.weights_), int(display.trace.mistakes_of_vote[-1])
    (8, 1)
    """

    def __init__(self, ledger: Ledger) -> None:
        trace = ledger.candidate_trace
        if trace is None:
            raise DataError(f"Only the rule 'auto' has candidates that vote; this run had {ledger.rule!r}.")
        if not len(trace.examples):
            raise DataError("There is nothing to draw: no example has been learned from since the start or a merge.")
        self.ledger: Ledger = ledger
        self.trace: CandidateTrace = trace
        self.ax_ = self.figure_ = self.vote_ = _NOT_DRAWN
        self.weights_: list[Any] = []
        self.rates_: list[Any] = []

    @classmethod
    def from_model(cls, model: Any, *, ax: Any = None) -> EnsembleDisplay:
        """Draw the candidates of a model.

        Parameters
        ----------
        model : StreamModel or estimator
            With a `ledger` or a `ledger_`.
        ax : sequence of two matplotlib Axes, default=None
            Where to draw; a new figure by default.

        Returns
        -------
        EnsembleDisplay
        """
        ledger = model.ledger_ if hasattr(model, "ledger_") else model.ledger
        return cls(ledger).plot(ax)

    def plot(self, ax: Any = None) -> EnsembleDisplay:
        """Draw both panels; in a new figure by default."""
        left, right = self.ax_ = new_axes(2, (10.4, 4.0)) if ax is None else ax
        self.figure_ = left.figure
        trace = self.trace
        self.weights_, self.rates_ = [], []
        for k, (candidate, (color, style)) in enumerate(zip(self.ledger.candidates, _STYLES, strict=True)):
            look = {"color": color, "ls": style, "lw": 1.4, "label": candidate.name}
            self.weights_ += left.plot(trace.examples, trace.weights[:, k], **look)
            self.rates_ += right.plot(trace.examples, trace.mistakes[:, k] / trace.examples, **look)
        rate = trace.mistakes_of_vote / trace.examples
        (self.vote_,) = right.plot(trace.examples, rate, color=BLACK, lw=2.6, alpha=0.5, label="the vote")
        left.set(title="Weight in the vote", xlabel="examples", ylabel="weight", ylim=(0.0, None))
        right.set(title="Share of mistakes so far", xlabel="examples", ylabel="mistakes / examples", ylim=(0.0, None))
        right.legend(loc="best", fontsize="small")
        return self

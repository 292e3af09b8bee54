"""The claims about mistakes: what is asked for, and what was measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.mistakes import held_out
from benchmarks.mistakes.means import geometric_mean
from benchmarks.mistakes.results import SLACK, Result

__all__ = ["Claim", "check"]

_FEWER = 0.88  # of the best peer's mistakes, as a geometric mean
_MANY_CLASSES = {"news20": 0.190, "mnist": 0.088}
_HELD_OUT = ("adult", "spambase", "phishing")
_HELD_OUT_SLACK = 0.003


@dataclass(frozen=True)
class Claim:
    """A claim, its target, what was measured, and whether the target is met."""

    text: str
    target: str
    got: str
    is_met: bool

    @property
    def verdict(self) -> str:
        return "met" if self.is_met else "missed"


def check(results: Sequence[Result]) -> list[Claim]:
    """Compare what `novikoff learn` does by default with what is asked of it."""
    generated = [result for result in results if result.stream.is_generated and result.best_peer]
    results = [result for result in results if not result.stream.is_generated]
    two_classes = [result for result in results if not result.stream.has_many_classes and result.best_peer]
    claims = []
    if two_classes:
        claims += [_against_best(two_classes), _on_average(two_classes)]
    if generated:
        claims.append(_against_best(generated, "no more than that on the generated streams"))
    if any(result.vw_default for result in results):
        claims.append(_against_default([result for result in results if result.vw_default]))
    claims += [_of_many_classes(result) for result in results if result.stream.name in _MANY_CLASSES]
    claims += [_on_held_out_rows(result) for result in results if result.stream.name in _HELD_OUT]
    return claims


def _against_best(
    results: Sequence[Result], text: str = "no more mistakes than the best peer in hindsight + 0.1 points"
) -> Claim:
    worse = [
        f"{result.stream.name} +{100 * (result.default - result.best_peer.error):.2f}"
        for result in results
        if result.best_peer is not None and result.default > result.best_peer.error + SLACK
    ]
    got = f"{len(results) - len(worse)} of {len(results)}" + (f"; not {', '.join(worse)}" if worse else "")
    target = f"all of {len(results)}"
    return Claim(text, target, got, not worse)


def _on_average(results: Sequence[Result]) -> Claim:
    ratio = geometric_mean((result.default, result.best_peer and result.best_peer.error) for result in results) or 0.0
    text = "mistakes as a multiple of the best peer's in hindsight, geometric mean, two classes"
    return Claim(text, f"≤ {_FEWER}", f"{ratio:.3f}", ratio <= _FEWER)


def _against_default(results: Sequence[Result]) -> Claim:
    more = [r.stream.name for r in results if r.vw_default is not None and r.default >= r.vw_default.error]
    got = f"{len(results) - len(more)} of {len(results)}" + (f"; not {', '.join(more)}" if more else "")
    return Claim("fewer mistakes than Vowpal Wabbit's default", f"all of {len(results)}", got, not more)


def _of_many_classes(result: Result) -> Claim:
    target, best = _MANY_CLASSES[result.stream.name], result.peers.best("vowpalwabbit")
    beside = f" (Vowpal Wabbit {100 * best.error:.2f} %)" if best else ""
    got = f"{100 * result.default:.2f} %{beside}"
    return Claim(f"mistakes on {result.stream.name}", f"≤ {100 * target:.1f} %", got, result.default <= target)


def _on_held_out_rows(result: Result) -> Claim:
    block = result.stream.read()
    assert block is not None
    ours, theirs = held_out.errors(block)
    text = f"error on held-out rows of {result.stream.name}, 80/20, after `learn`"
    target = f"≤ {100 * (theirs + _HELD_OUT_SLACK):.2f} % (LogisticRegression + 0.3 points)"
    return Claim(text, target, f"{100 * ours:.2f} %", ours <= theirs + _HELD_OUT_SLACK)

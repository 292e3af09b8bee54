"""Metrics: the text format of Prometheus, written by hand: it is few lines, and needs no package."""

from __future__ import annotations

import bisect
import itertools
import platform
from collections import defaultdict
from collections.abc import Iterable, Mapping

from novikoff import __version__
from novikoff.service.accounts import LedgerReport

__all__ = ["RequestCounts", "write_metrics"]

_BUCKETS = 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5


class RequestCounts:
    """How many requests have been answered, by operation and status, and how long they took."""

    def __init__(self) -> None:
        self.statuses: dict[tuple[str, int], int] = defaultdict(int)
        self.buckets: dict[str, list[int]] = defaultdict(lambda: [0] * (len(_BUCKETS) + 1))
        self.seconds: dict[str, float] = defaultdict(float)

    def add(self, operation: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self.statuses[operation, status] += 1
        self.buckets[operation][bisect.bisect_left(_BUCKETS, seconds)] += 1
        self.seconds[operation] += seconds


def write_metrics(counts: RequestCounts, reports: Mapping[str, LedgerReport], waiting: Mapping[str, int]) -> str:
    """Return all metrics in the text format."""
    lines: list[str] = []

    def add(name: str, kind: str, text: str, values: Iterable[tuple[dict[str, str], float]], suffix: str = "") -> None:
        lines.extend([f"# HELP {name} {text}", f"# TYPE {name} {kind}"])
        lines.extend(f"{name}{suffix}{_labels(labels)} {value:.17g}" for labels, value in values)

    info = {"version": __version__, "python": platform.python_version()}
    add("novikoff_build_info", "gauge", "The version of novikoff.", [(info, 1)])
    by_model = [({"model": name}, report) for name, report in reports.items()]
    for name, kind, text, attribute in (
        ("labels_learned_total", "counter", "Labels learned from the log.", "seq"),
        ("predictions_labelled_total", "counter", "Labels of predictions that were answered.", "served"),
        ("mistakes_served_total", "counter", "Predictions whose label was another one.", "mistakes_served"),
        ("updates_total", "counter", "Labels that the ledger counts as updates.", "updates"),
        ("labels_refused_total", "counter", "Labels whose row could not be learned.", "refused"),
        ("predictions_pending", "gauge", "Predictions that wait for their label.", "pending"),
    ):
        add(f"novikoff_{name}", kind, text, [(own, getattr(report, attribute)) for own, report in by_model])
    queues = [({"model": name}, float(n)) for name, n in waiting.items()]
    add("novikoff_requests_waiting", "gauge", "Requests that wait for the writer.", queues)
    answered = [({"operation": o, "status": str(s)}, float(n)) for (o, s), n in sorted(counts.statuses.items())]
    add("novikoff_http_requests_total", "counter", "Requests answered.", answered)
    name = "novikoff_http_request_duration_seconds"
    lines.extend([f"# HELP {name} How long requests took.", f"# TYPE {name} histogram"])
    for operation, own in sorted(counts.buckets.items()):
        edges = [*(f"{edge:g}" for edge in _BUCKETS), "+Inf"]
        for edge, total in zip(edges, itertools.accumulate(own), strict=True):
            lines.append(f"{name}_bucket{_labels({'operation': operation, 'le': edge})} {total}")
        lines.append(f"{name}_sum{_labels({'operation': operation})} {counts.seconds[operation]:.9g}")
        lines.append(f"{name}_count{_labels({'operation': operation})} {sum(own)}")
    return "\n".join(lines) + "\n"


def _labels(labels: Mapping[str, str]) -> str:
    """Write labels of a metric; their values are names of models and operations, or texts without quotes."""
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items()) + "}" if labels else ""

"""Evaluation of taggers: accuracy on tokens, unknown words and sentences; F1 of spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from novikoff.structured.spans import SpanCounts, are_spans

__all__ = ["TaggingEvaluation", "evaluate_tagger"]


@dataclass
class TaggingEvaluation:
    """Counts of right and wrong predictions on sentences whose tags are known.

    Attributes
    ----------
    counts : Counter
        Tokens by true tag and predicted tag.
    sentences, sentences_right : int
        All sentences, and those without a wrong tag.
    unknown : Counter
        Tokens whose words were not seen while learning: unknown[True] got the right tag, unknown[False] a wrong one.
    spans : SpanCounts or None
        If the tags are of a scheme for spans.
    """

    counts: Counter[tuple[Any, Any]] = field(default_factory=Counter)
    sentences: int = 0
    sentences_right: int = 0
    unknown: Counter[bool] = field(default_factory=Counter)
    spans: SpanCounts | None = None

    @property
    def tokens(self) -> int:
        return sum(self.counts.values())

    @property
    def right(self) -> int:
        return sum(count for (tag, prediction), count in self.counts.items() if tag == prediction)

    @property
    def accuracy(self) -> float:
        return self.right / self.tokens

    @property
    def unknown_accuracy(self) -> float | None:
        total = sum(self.unknown.values())
        return self.unknown[True] / total if total else None

    @property
    def f1(self) -> float | None:
        return None if self.spans is None else self.spans.scores()[2]

    def per_tag(self) -> list[dict[str, Any]]:
        """Return support, precision, recall and F1 of each tag; None where the denominator is 0."""
        support, predicted = Counter[Any](), Counter[Any]()
        for (tag, prediction), count in self.counts.items():
            support[tag] += count
            predicted[prediction] += count
        return [self._score_tag(tag, support[tag], predicted[tag]) for tag in sorted({*support, *predicted}, key=str)]

    def _score_tag(self, tag: Any, support: int, predicted: int) -> dict[str, Any]:
        right = self.counts[tag, tag]
        return {
            "tag": tag,
            "support": support,
            "precision": right / predicted if predicted else None,
            "recall": right / support if support else None,
            "f1": 2 * right / (support + predicted),
        }

    def per_type(self) -> list[dict[str, Any]]:
        """Return support, precision, recall and F1 of each type of span; None where the denominator is 0."""
        if self.spans is None:
            return []
        kinds = sorted({*self.spans.support, *self.spans.predicted})
        table = [(kind, self.spans.support[kind], *self.spans.scores(kind)) for kind in kinds]
        return [dict(zip(("type", "support", "precision", "recall", "f1"), each, strict=True)) for each in table]

    def facts(self) -> dict[str, Any]:
        """Return all figures, for JSON."""
        unknown = sum(self.unknown.values())
        facts = {
            "tokens": self.tokens,
            "accuracy": self.accuracy,
            "unknown_words": unknown,
            "unknown_accuracy": self.unknown_accuracy,
            "sentences": self.sentences,
            "sentences_right": self.sentences_right,
            "tags": self.per_tag(),
        }
        if self.spans is not None:
            precision, recall, f1 = self.spans.scores()
            facts |= {"span_precision": precision, "span_recall": recall, "span_f1": f1, "spans": self.per_type()}
        return facts

    def add(
        self,
        sentences: Iterable[Sequence[Any]],
        tags: Iterable[Sequence[Any]],
        predictions: Iterable[Sequence[Any]],
        is_known: Callable[[str], bool] | None,
    ) -> None:
        """Count some sentences. `is_known` returns whether a word was seen while learning; without it, unknown words
        are not counted."""
        for sentence, true, predicted in zip(sentences, tags, predictions, strict=True):
            self.counts.update(zip(true, predicted, strict=True))
            self.sentences += 1
            self.sentences_right += list(true) == list(predicted)
            if self.spans is not None:
                self.spans.add(true, predicted)
            if is_known is not None:
                for token, tag, prediction in zip(sentence, true, predicted, strict=True):
                    if not is_known(token if isinstance(token, str) else token[0]):
                        self.unknown[tag == prediction] += 1


def evaluate_tagger(
    tagger: Any, sentences: Iterable[Sequence[Any]], tags: Iterable[Sequence[Any]]
) -> TaggingEvaluation:
    """Tag sentences and compare with their true tags.

    >>> import novikoff as nk
    >>> from novikoff.structured.evaluation import evaluate_tagger
    >>> tagger = nk.SequenceTagger(["word[0]"]).fit([["a", "b"]], [["B-X", "O"]])
    >>> found = evaluate_tagger(tagger, [["b", "a", "c"]], [["O", "B-X", "I-X"]])
    >>> found.right, found.tokens, sum(found.unknown.values()), found.f1
    (2, 3, 1, 0.0)
    """
    sentences, tags = list(sentences), list(tags)
    tagset = {*tagger.tags_, *(tag for own in tags for tag in own)}
    evaluation = TaggingEvaluation(spans=SpanCounts() if are_spans(tagset) else None)
    known = tagger.known_words()
    evaluation.add(sentences, tags, tagger.predict(sentences), None if known is None else known.__contains__)
    return evaluation

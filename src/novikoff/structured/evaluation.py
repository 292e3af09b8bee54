"""How good a tagger is: tokens, words it has never met, whole sentences, and spans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from novikoff.structured.spans import SpanCounts, are_spans

__all__ = ["Outcome", "outcome_of"]


@dataclass
class Outcome:
    """What came of tagging sentences whose tags are known.

    Attributes
    ----------
    counts : Counter
        Tokens by tag and guess.
    unknown : Counter
        Of words never met while learning: True counts those that got the right tag.
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
        return sum(count for (tag, guess), count in self.counts.items() if tag == guess)

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
        """Support, precision, recall and F1 of each tag; None where there is nothing to divide by."""
        there, guessed = Counter[Any](), Counter[Any]()
        for (tag, guess), count in self.counts.items():
            there[tag] += count
            guessed[guess] += count
        return [self._scores(tag, there[tag], guessed[tag]) for tag in sorted({*there, *guessed}, key=str)]

    def _scores(self, tag: Any, there: int, guessed: int) -> dict[str, Any]:
        right = self.counts[tag, tag]
        return {
            "tag": tag,
            "support": there,
            "precision": right / guessed if guessed else None,
            "recall": right / there if there else None,
            "f1": 2 * right / (there + guessed),
        }

    def per_type(self) -> list[dict[str, Any]]:
        """The same for each type of span."""
        if self.spans is None:
            return []
        kinds = sorted({*self.spans.there, *self.spans.guessed})
        found = [(kind, self.spans.there[kind], *self.spans.scores(kind)) for kind in kinds]
        return [dict(zip(("type", "support", "precision", "recall", "f1"), each, strict=True)) for each in found]

    def facts(self) -> dict[str, Any]:
        """All of it, for JSON."""
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
        guesses: Iterable[Sequence[Any]],
        is_known: Callable[[str], bool] | None,
    ) -> None:
        """Count some sentences. `is_known` tells whether a word was met before, None if nobody knows."""
        for sentence, own, guessed in zip(sentences, tags, guesses, strict=True):
            self.counts.update(zip(own, guessed, strict=True))
            self.sentences += 1
            self.sentences_right += list(own) == list(guessed)
            if self.spans is not None:
                self.spans.add(own, guessed)
            if is_known is not None:
                for token, tag, guess in zip(sentence, own, guessed, strict=True):
                    if not is_known(token if isinstance(token, str) else token[0]):
                        self.unknown[tag == guess] += 1


def outcome_of(tagger: Any, sentences: Iterable[Sequence[Any]], tags: Iterable[Sequence[Any]]) -> Outcome:
    """Tag sentences and compare.

    >>> import novikoff as nk
    >>> from novikoff.structured.evaluation import outcome_of
    >>> tagger = nk.SequenceTagger(["word[0]"]).fit([["a", "b"]], [["B-X", "O"]])
    >>> found = outcome_of(tagger, [["b", "a", "c"]], [["O", "B-X", "I-X"]])
    >>> found.right, found.tokens, sum(found.unknown.values()), found.f1
    (2, 3, 1, 0.0)
    """
    sentences, tags = list(sentences), list(tags)
    kinds = {*tagger.tags_, *(tag for own in tags for tag in own)}
    found = Outcome(spans=SpanCounts() if are_spans(kinds) else None)
    known = tagger.known_words()
    found.add(sentences, tags, tagger.predict(sentences), None if known is None else known.__contains__)
    return found

"""Structured prediction: answers that are chains of tags, trees, or whatever else can be scored and searched.

generic.py     StructuredPerceptron: any problem with features(x, y) and best(weights, x), in plain Python
tagger.py      SequenceTagger: chains of tags, compiled
  templates.py   which features a token has: a small language, and CRF++'s
  words.py       words as numbers, their attributes computed once
  features.py    from sentences to features
  table.py       places for them
  constraints.py which chains are allowed
  chain.py       the weights, and what is counted
  knowledge.py   all of it, at one moment
  answering.py   from tokens to chains of tags
  tagging.py     what a tagger can do once it has learned
columns.py     CoNLL columns and CoNLL-U
spans.py       what BIO, IOB1, IOE and BILOU tags stand for
outcome.py     how good a tagger is
saved.py       model files
"""

from __future__ import annotations

from novikoff.structured.generic import Problem, StructuredPerceptron
from novikoff.structured.tagger import SequenceTagger

__all__ = ["Problem", "SequenceTagger", "StructuredPerceptron"]

"""Structured prediction: answers that are chains of tags, trees, or whatever else can be scored and searched.

generic.py     StructuredPerceptron: any problem with features(x, y) and best(weights, x), in plain Python
tagger.py      SequenceTagger: chains of tags, compiled
  templates.py   which features a token has: a small language, and CRF++'s
  word_table.py       words as numbers, their attributes computed once
  features.py    from sentences to features
  hash_table.py       places for them
  constraints.py which chains are allowed
  chain.py       the weights, and what is counted
  snapshot.py   all of it, at one moment
  inference.py   from tokens to chains of tags
  tagging.py     what a tagger can do once it has learned
sentence_files.py     CoNLL columns and CoNLL-U
spans.py       what BIO, IOB1, IOE and BILOU tags stand for
evaluation.py     how good a tagger is
saving.py       model files
"""

from __future__ import annotations

from novikoff.structured.generic import Problem, StructuredPerceptron
from novikoff.structured.tagger import SequenceTagger

__all__ = ["Problem", "SequenceTagger", "StructuredPerceptron"]

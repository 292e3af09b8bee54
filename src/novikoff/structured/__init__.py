"""Structured prediction: chains of tags, trees, and other structures with features.

Here belong the learners whose predictions are structures, `SequenceTagger` (tagger.py) for chains of tags, compiled,
and `StructuredPerceptron` (generic.py) for any problem, in plain Python; and what only these two need: templates,
features, constraints, sentence files, evaluation and saving. Learners with one label per example are in `perceptron`.

How a tagger works, in the order of the data:

    tokenizing.py      lines of text -> words
    sentence_files.py  files -> sentences                    templates.py   text -> templates
    sentences.py       sentences -> tokens                   attributes.py  what templates can use of a word
    word_table.py      words -> ids and attribute hashes     constraints.py which chains a span scheme allows
    features.py        tokens -> features                    hash_table.py  hashes -> indices
    chain.py           the weights, and learning them        snapshot.py    what a tagger has learned at one moment
    inference.py       tokens -> chains of tags              evaluation.py, spans.py  how good they are
"""

from __future__ import annotations

from novikoff.structured.generic import Problem, StructuredPerceptron
from novikoff.structured.tagger import SequenceTagger
from novikoff.structured.tokenizing import tokenize

__all__ = ["Problem", "SequenceTagger", "StructuredPerceptron", "tokenize"]

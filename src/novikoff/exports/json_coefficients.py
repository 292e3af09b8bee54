"""Coefficients as JSON, with everything needed to score a row by hand.

    format, version    "novikoff-coef", 1
    rule, hypothesis   how the model learned, and which of its weights these are
    classes            the labels, sorted
    ties               "last" or "first": the class that is predicted if scores are equal or, of two classes, 0
    features           what rows are: "array" or "index" (coef by index, from 0; in svmlight files the index itself),
                       "names" (coef by name; Vowpal Wabbit's are namespace^name), or "table". The values of "index"
                       and "names" are those in the file: what the model scales them by is part of the weights
    log_counts         whether counts are logarithms: see below
    linear             only of "index" and "names" with log_counts: the features whose values enter as they are. Of all
                       others a value above 1 becomes 1 + ln value, and one below -1 becomes -1 - ln -value
    columns            of a table: the kind of each column, and its mean and deviation, or its n-grams
    hash_bits          only if names share weights: there were more than 2**hash_bits of them, and those that came late
                       are not in this file
    vectors            one vector for two classes, for the second against the first; otherwise one for each class:
                       the intercept, and the nonzero weights by feature
    knots, curved      only if numbers are interpolated between knots: the knots, and for each such number its mean and
                       deviation. Each vector then has "curves": for each number a weight per knot
    text_length, zero  only if there are text columns: see below; the features with weight 0

The score of a row is the intercept plus the sum of weight * value over its features. The class with the highest score
is predicted or, of two classes, the second if the score is above 0. The features of a row of a table are

    number   `column`, with value (value - mean) / deviation, or 0 if the deviation is 0; the value itself if no
             deviation is given. If the cell is missing: "column is missing", with value 1
    word     "column=word", with value 1; if the cell is missing: "column=?", with value 1
    text     The text in lower case, with every ASCII character but letters, digits and _ replaced by a blank:
             "column:some words" for each word n-gram (words are runs of letters, digits and _) of a length in
             `ngrams`; "column~characters" for each character n-gram of a length in `char_ngrams`, of the text with one
             blank at either end and between words, if its blanks are only at its ends. The value of one that occurs
             n times is n, or with log_counts 1 + ln n. The values of all n-grams of a row that are in this file, in
             `zero` too, are multiplied by `text_length` and divided by the root of the sum of their squares

If there are curves, the score also gets for each number in `curved`, unless it is a missing cell of a table,
z = (value - mean) / deviation, or 0 if the deviation is 0, is clipped to the first and the last knot; the weights of
the knots to its left and right, at a and b, are added times (b - z) / (b - a) and (z - a) / (b - a).

Features that are not in the file have weight 0. Names are cut to 100 bytes; if two are then equal, the second ends in
(2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff._compiled.loops.hats import KNOTS
from novikoff.data.encoding import NameEncoding, TableEncoding
from novikoff.data.encoding.curves import Curves
from novikoff.data.feature_names import ngram_prefixes
from novikoff.exports.linear_function import LinearFunction, extract_linear_function

if TYPE_CHECKING:
    from novikoff.estimators import Perceptron
    from novikoff.streaming.model import StreamModel

__all__ = ["to_json"]

_WORD = re.compile(r"[a-z0-9_\x80-\U0010ffff]+")


def to_json(model: Perceptron | StreamModel) -> str:
    """Return the weights of a model by the names of its features, and all that is needed to score a row by hand.

    The format is described in the module's docstring and by `novikoff export --help`. Numbers are written
    such that they are read back exactly.

    Parameters
    ----------
    model : Perceptron or StreamModel

    Returns
    -------
    str

    Examples
    --------
    >>> import json
    >>> import novikoff as nk
    >>> from novikoff.exports import to_json
    >>> model = nk.Perceptron().learn_one({"free": 1, "money": 2}, "spam").learn_one({"lunch": 1}, "ham")
    >>> json.loads(to_json(model))["vectors"]
    [{'class': 'spam', 'intercept': 0.0, 'coef': {'free': 1.0, 'money': 2.0, 'lunch': -1.0}}]
    """
    linear = extract_linear_function(model)
    names = _names(linear)
    facts: dict[str, Any] = {
        "format": "novikoff-coef",
        "version": 1,
        "rule": linear.rule,
        "hypothesis": linear.hypothesis,
        "fit_intercept": linear.fit_intercept,
        "classes": [_json_label(label) for label in linear.classes],
        "ties": "last" if linear.prefers_last else "first",
        "features": _features(linear),
    }
    if linear.encoding is not None:
        facts["log_counts"] = linear.encoding.log_counts
        if linear.encoding.log_counts and not isinstance(linear.encoding, TableEncoding):
            facts["linear"] = [names[j] for j in np.flatnonzero(linear.is_linear).tolist()]
    if isinstance(linear.encoding, TableEncoding):
        facts["columns"] = _columns(linear.encoding)
    if isinstance(linear.encoding, (TableEncoding, NameEncoding)) and linear.encoding.vocabulary.is_full:
        facts["hash_bits"] = linear.encoding.vocabulary.hash_bits
    if linear.curves is not None:
        facts |= {"knots": KNOTS, "curved": _moments(linear.curves, curved := _curved(linear, names))}
    is_shown = np.ones(linear.coef.shape[1], bool)
    if linear.curves is not None and isinstance(linear.encoding, TableEncoding):
        is_shown = linear.curves.is_hat == 0
    scored = facts["classes"] if len(linear.bias) > 1 else facts["classes"][-1:]
    facts["vectors"] = [
        {
            "class": label,
            "intercept": float(bias),
            "coef": {names[j]: float(w[j]) for j in np.flatnonzero(w * is_shown).tolist()},
        }
        for label, bias, w in zip(scored, linear.bias, linear.coef, strict=True)
    ]
    if linear.curves is not None:
        for vector, weights in zip(facts["vectors"], linear.curve_weights.tolist(), strict=True):
            vector["curves"] = {name: own for name, own in zip(curved, weights, strict=True) if any(own)}
    if isinstance(linear.encoding, TableEncoding) and linear.encoding.columns("text"):
        facts["text_length"] = linear.encoding.features.text_length
        facts["zero"] = [names[j] for j in np.flatnonzero(~linear.coef.any(axis=0) & is_shown).tolist()]
    return json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _features(linear: LinearFunction) -> str:
    if linear.encoding is not None:
        return linear.encoding.kind
    return "array" if linear.names is None else "names"


def _names(linear: LinearFunction) -> list[str]:
    """Return a distinct name for each feature."""
    names = [str(j) for j in range(linear.coef.shape[1])] if linear.names is None else linear.names
    if isinstance(linear.encoding, TableEncoding):
        names = _normalize_ngrams(names, linear.encoding.columns("text"))
    seen: dict[str, int] = {}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def _normalize_ngrams(names: list[str], texts: Sequence[str]) -> list[str]:
    """Return names with one blank between words; the vocabulary has n-grams as they were first met in a text."""
    for column in texts:
        head = ngram_prefixes(column)[0]
        names = [head + " ".join(_WORD.findall(name[len(head) :])) if name.startswith(head) else name for name in names]
    return names


def _columns(encoding: TableEncoding) -> dict[str, Any]:
    """Return the kind of each column, and how its cells become features."""
    columns: dict[str, Any] = {name: {"kind": kind} for name, kind in encoding.kinds.items()}
    for name in encoding.columns("text"):
        columns[name] |= {"ngrams": encoding.features.ngrams, "char_ngrams": encoding.features.char_ngrams}
    if encoding.features.scale:
        counts, means, squares = encoding.moments
        deviations = np.sqrt(squares / np.maximum(counts, 1.0))
        for name, mean, deviation in zip(encoding.columns("number"), means.tolist(), deviations.tolist(), strict=True):
            columns[name] |= {"mean": mean, "deviation": deviation}
    return columns


def _curved(linear: LinearFunction, names: list[str]) -> list[str]:
    """Return the names of the numbers that have curves, as `coef` has them, or those of the columns of a table."""
    assert linear.curves is not None
    if isinstance(linear.encoding, TableEncoding):
        return linear.curves.names
    return [names[j] for j in linear.curves.columns.tolist()]


def _moments(curves: Curves, names: list[str]) -> dict[str, dict[str, float]]:
    rows = zip(names, curves.means.tolist(), curves.deviations.tolist(), strict=True)
    return {name: {"mean": mean, "deviation": deviation} for name, mean, deviation in rows}


def _json_label(label: Any) -> Any:
    if isinstance(label, float) and label.is_integer():
        return int(label)
    return label if isinstance(label, (str, bool, int, float)) else str(label)

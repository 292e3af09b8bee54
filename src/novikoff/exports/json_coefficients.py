"""Coefficients as JSON, from which a row can be scored by hand.

    format, version    "novikoff-coef", 1
    rule, hypothesis   how it learned, and which weights these are
    classes            the labels, sorted
    ties               "last" or "first": which class has equal scores, or, of two classes, a score of 0
    features           what rows are: "array" or "index" (coef by number, from 0; in svmlight files the index itself),
                       "names" (coef by name; Vowpal Wabbit's are namespace^name), or "table"
    columns            of a table: for each column its kind, and what there is to know about it
    hash_bits          only if names share weights: there were more of them than 2**hash_bits, and those that came late
                       cannot be found here
    vectors            one for two classes, for the second against the first; or one for each class:
                       intercept, and the weights that are not 0 by feature
    text_length, zero  only if there are columns of text: see there; the other features, with weights of 0

The score of a row is the intercept and the sum of weight * value over its features; the class with the highest score
wins, or of two the second if the score is above 0. The features of a row of a table are

    number   `column`, (value - mean) / deviation, or 0 if the deviation is 0; the value itself if there is no deviation
             "column is missing", 1, if the cell is
    word     "column=word", 1; "column=?", 1, if the cell is missing
    text     in small letters, with blanks for what is neither ASCII nor a letter, digit or _:
             "column:some words" for every run of words (letters, digits and _), within the numbers of
             `ngrams`; "column~characters" for every run of characters within `char_ngrams`, of the text with one blank
             at either end and between, with blanks only at the ends of the run. The value is how often it is there;
             and the values of all texts of a row that are found here, in `zero` too, are multiplied by `text_length`
             and divided by the root of the sum of their squares

Features that are not there have weight 0. Names are kept to 100 bytes; of two that are alike then, the second ends
in (2).
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from novikoff.data.encoding import NameEncoding, TableEncoding
from novikoff.exports.linear_function import Linear, linear_of

if TYPE_CHECKING:
    from novikoff.estimators import Perceptron
    from novikoff.streaming.model import StreamModel

__all__ = ["to_json"]

_WORD = re.compile(r"[a-z0-9_\x80-\U0010ffff]+")


def to_json(model: Perceptron | StreamModel) -> str:
    """The weights of a model by the names of its features, and all it takes to score a row by hand.

    The format is described in the module's docstring and by `novikoff export --help`. Numbers are read back as the
    same doubles.

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
    linear = linear_of(model)
    names = _names(linear)
    facts: dict[str, Any] = {
        "format": "novikoff-coef",
        "version": 1,
        "rule": linear.rule,
        "hypothesis": linear.hypothesis,
        "fit_intercept": linear.fit_intercept,
        "classes": [_json_label(label) for label in linear.classes],
        "ties": "last" if linear.takes_last else "first",
        "features": _features(linear),
    }
    if isinstance(linear.encoding, TableEncoding):
        facts["columns"] = _columns(linear.encoding)
    if isinstance(linear.encoding, (TableEncoding, NameEncoding)) and linear.encoding.vocabulary.is_full:
        facts["hash_bits"] = linear.encoding.vocabulary.hash_bits
    of = facts["classes"] if len(linear.bias) > 1 else facts["classes"][-1:]
    facts["vectors"] = [
        {"class": label, "intercept": float(bias), "coef": {names[j]: float(w[j]) for j in np.flatnonzero(w).tolist()}}
        for label, bias, w in zip(of, linear.bias, linear.coef, strict=True)
    ]
    if isinstance(linear.encoding, TableEncoding) and linear.encoding.columns("text"):
        facts["text_length"] = linear.encoding.features.text_length
        facts["zero"] = [names[j] for j in np.flatnonzero(~linear.coef.any(axis=0)).tolist()]
    return json.dumps(facts, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _features(linear: Linear) -> str:
    if linear.encoding is not None:
        return linear.encoding.kind
    return "array" if linear.names is None else "names"


def _names(linear: Linear) -> list[str]:
    """No two alike."""
    names = [str(j) for j in range(linear.coef.shape[1])] if linear.names is None else linear.names
    if isinstance(linear.encoding, TableEncoding):
        names = _as_looked_up(names, linear.encoding.columns("text"))
    seen: dict[str, int] = {}
    found = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


def _as_looked_up(names: list[str], texts: Sequence[str]) -> list[str]:
    """Runs of words with one blank between: the vocabulary shows them as a text first had them, commas and all."""
    for column in texts:
        head = f"{column}:"
        names = [head + " ".join(_WORD.findall(name[len(head) :])) if name.startswith(head) else name for name in names]
    return names


def _columns(encoding: TableEncoding) -> dict[str, Any]:
    """What a row of the table must have, and how it becomes features."""
    columns: dict[str, Any] = {name: {"kind": kind} for name, kind in encoding.kinds.items()}
    for name in encoding.columns("text"):
        columns[name] |= {"ngrams": encoding.features.ngrams, "char_ngrams": encoding.features.char_ngrams}
    if encoding.features.scale:
        counts, means, squares = encoding.moments
        deviations = np.sqrt(squares / np.maximum(counts, 1.0))
        for name, mean, deviation in zip(encoding.columns("number"), means.tolist(), deviations.tolist(), strict=True):
            columns[name] |= {"mean": mean, "deviation": deviation}
    return columns


def _json_label(label: Any) -> Any:
    if isinstance(label, float) and label.is_integer():
        return int(label)
    return label if isinstance(label, (str, bool, int, float)) else str(label)

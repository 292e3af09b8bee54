"""How features are named: `column=value`, `column is missing`, `column near 1.5`, n-grams, `namespace^name`.

    a number of a table           column                the column is the whole name
    that a number is missing      column is missing     prefix `column`, then ` is missing`
    a hat of a number             column near 1.5       prefix `column`, then ` near 1.5`
    a value of a category         column=value          prefix `column=`, then the value, `?` if it is missing
    an n-gram of words            column:call now       prefix `column:`
    an n-gram of characters       column~ll n           prefix `column~`
    Vowpal Wabbit's text          namespace^name        prefix `namespace`; ^ is written between the two, but not hashed

A vocabulary compares prefixes and the rest separately. So a column that is called "age is missing" is not confused with
a number of column "age" that is missing, though both are shown as the same name.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = [
    "HATS_BY_DEFAULT",
    "MISSING_VALUE",
    "NAMESPACE_SEPARATOR",
    "category_name",
    "category_prefix",
    "hat_name",
    "hat_name_parts",
    "missing_name",
    "missing_name_parts",
    "name_in_namespace",
    "ngram_prefixes",
]

HATS_BY_DEFAULT = True  # whether numbers have hats unless the user says
NAMESPACE_SEPARATOR = "^"
MISSING_VALUE = "?"  # in a categorical column
_IS_MISSING = " is missing"
_IS_NEAR = " near "


def category_prefix(column: str) -> str:
    """Return the prefix of the names of a categorical column's values.

    >>> from novikoff.data.feature_names import category_prefix
    >>> category_prefix("sky")
    'sky='
    """
    return f"{column}="


def category_name(column: str, value: str) -> str:
    """Return the name of the feature that a categorical column has a value.

    >>> from novikoff.data.feature_names import MISSING_VALUE, category_name
    >>> category_name("sky", "sun"), category_name("sky", MISSING_VALUE)
    ('sky=sun', 'sky=?')
    """
    return category_prefix(column) + value


def missing_name(column: str) -> str:
    """Return the name of the feature that a number is missing.

    >>> from novikoff.data.feature_names import missing_name
    >>> missing_name("wind")
    'wind is missing'
    """
    return column + _IS_MISSING


def missing_name_parts(column: str) -> tuple[str, str]:
    """Return the prefix and the rest of `missing_name`."""
    return column, _IS_MISSING


def hat_name(name: str, knot: float) -> str:
    """Return the name of the hat of a number around a knot: its weight where the number is interpolated.

    >>> from novikoff.data.feature_names import hat_name
    >>> hat_name("age", -1.5), hat_name("age", 2.0)
    ('age near -1.5', 'age near 2')
    """
    return f"{name}{_IS_NEAR}{knot:g}"


def hat_name_parts(column: str, knots: Iterable[float]) -> tuple[str, list[str]]:
    """Return the prefix of the names of all hats of a column, and the rest of each."""
    return column, [hat_name("", knot) for knot in knots]


def ngram_prefixes(column: str) -> tuple[str, str]:
    """Return the prefixes of the names of n-grams of words, and of characters.

    >>> from novikoff.data.feature_names import ngram_prefixes
    >>> ngram_prefixes("sms")
    ('sms:', 'sms~')
    """
    return f"{column}:", f"{column}~"


def name_in_namespace(namespace: str, name: str) -> str:
    """Return the name of a feature of Vowpal Wabbit's text; the default namespace is empty.

    >>> from novikoff.data.feature_names import name_in_namespace
    >>> name_in_namespace("user", "old"), name_in_namespace("", "old")
    ('user^old', 'old')
    """
    return f"{namespace}{NAMESPACE_SEPARATOR}{name}" if namespace else name

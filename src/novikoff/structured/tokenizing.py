"""tokenize: split a line of plain text into words, numbers and punctuation.

One small rule for all languages that write blanks between words. A token is the first of these that matches:

    an address      http://..., https://..., www...., or name@host, up to its last letter, digit or slash
    initials        single letters, each with a point: U.S., e.g.
    a word          letters, digits and marks, with apostrophes and hyphens between them: O'Neill, well-known, 3rd;
                    between two digits also a point, comma, colon or slash: 1,003.5, 10:30, 9/11
    anything else   one character, with its repetitions and marks: ( ... !! --

White space separates tokens and is in none. From the end of a word, English clitics are split off as in the Penn
Treebank: n't, 's, 'm, 'd, 're, 've, 'll. The point after an abbreviation such as Mr. is a token of its own.

Nothing is changed or lost: the tokens joined are the text without white space.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache

__all__ = ["tokenize"]

_CLITIC = re.compile(r"(?<=.)(?:n['’]t|['’](?:s|m|d|re|ve|ll))\Z", re.IGNORECASE)


def tokenize(text: str) -> list[str]:
    """Split text into tokens; see the docstring of the module for the rule.

    Parameters
    ----------
    text : str
        A line of plain text.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from novikoff.structured import tokenize
    >>> tokenize("She didn't pay $1,003.50 (in the U.S.), O'Neill's well-known friend said...")
    ['She', 'did', "n't", 'pay', '$', '1,003.50', '(', 'in', 'the', 'U.S.', ')', ',', "O'Neill", "'s", 'well-known',
    'friend', 'said', '...']
    """
    tokens: list[str] = []
    for found in _token_pattern().finditer(text):
        word, clitics = found.group(), []
        while clitic := _CLITIC.search(word):
            clitics.append(clitic.group())
            word = word[: clitic.start()]
        tokens += [word, *reversed(clitics)]
    return tokens


@cache
def _token_pattern() -> re.Pattern[str]:
    r"""Return the pattern of a token. Python's \w has no combining marks, without which many scripts cannot be read."""
    categories = ((chr(code), unicodedata.category(chr(code))) for code in range(sys.maxunicode + 1))
    marks = "".join(character for character, category in categories if category[0] == "M")
    joiners = "\u00ad\u200c\u200d"  # the soft hyphen; joiners within words of Persian and of scripts of India
    part = f"[\\w{marks}{joiners}]"
    return re.compile(
        rf"""
          (?:https?://|www\.)\S*[\w/]
        | \w[\w.+-]*@\w[\w.-]*\w
        | (?:[^\W\d_]\.){{2,}}
        | {part}+(?:(?:['’-](?={part})|(?<=\d)[.,:/](?=\d)){part}+)*
        | (\S)(?:\1|[{marks}{joiners}])*
        """,
        re.VERBOSE,
    )

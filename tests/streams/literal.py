"""The formats again, read as their definitions say, slowly. Imports nothing of novikoff."""

import math
import re

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
BLANKS = b" \t\r"


def number(word):
    if not NUMBER.fullmatch(word):
        raise ValueError(word)
    value = float(word)
    if not math.fabs(value) < 1e150:
        raise ValueError(word)
    return value


def svmlight_row(line):
    """(label, {index: value}) of a line without its end, None if it has no row, ValueError if it is wrong."""
    line.decode()
    if b"\0" in line:
        raise ValueError(line)
    words = line.split(b"#")[0].translate(bytes.maketrans(BLANKS, b"   ")).split(b" ")
    words = [word for word in words if word]
    if not words:
        return None
    row = {}
    for place, word in enumerate(words[1:]):
        if place == 0 and word.startswith(b"qid:"):
            continue
        index, _, value = word.partition(b":")
        if not re.fullmatch(rb"[0-9]+", index) or int(index) > 2**31 - 2 or int(index) in row:
            raise ValueError(word)
        row[int(index)] = number(value)
    return number(words[0]), row


def svmlight(text):
    """Rows [(line, label, {index: value})], and the lines that are wrong [(line, text)]."""
    rows, wrong = [], []
    text = text.removeprefix(b"\xef\xbb\xbf")
    for n, line in enumerate(text.split(b"\n"), start=1):
        try:
            found = svmlight_row(line)
            if found is not None:
                rows.append((n, *found))
        except ValueError:
            wrong.append((n, line))
    return rows, wrong

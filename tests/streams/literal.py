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


def blank_parted(text):
    return [word for word in re.split(rb"[ \t\r]+", text) if word]


def vw_row(line):
    """(label or None, {(namespace, name): value}) of a line without its end, None if it is blank, ValueError if it is
    wrong."""
    line.decode()
    if b"\0" in line:
        raise ValueError(line)
    if not blank_parted(line):
        return None
    before, *groups = line.split(b"|")
    if not groups:
        raise ValueError(line)
    words = blank_parted(before)
    if len(words) == 1 and before.endswith(words[0]) and NUMBER.fullmatch(words[0]):
        raise ValueError(line)
    if words and (before.endswith(words[-1]) or words[-1].startswith(b"'")):
        words.pop()  # a tag
    if len(words) > 2 or (len(words) == 2 and number(words[1]) != 1.0):
        raise ValueError(line)
    row = {}
    for group in groups:
        space, weight, words_of_group = b"", 1.0, blank_parted(group)
        if words_of_group and group.startswith(words_of_group[0]):
            space, colon, scale = words_of_group.pop(0).partition(b":")
            weight = scaled(colon, scale)
        for word in words_of_group:
            name, colon, value = word.partition(b":")
            found = weight * scaled(colon, value)
            if not name or not abs(found) < 1e150:
                raise ValueError(word)
            row[space, name] = row.get((space, name), 0.0) + found
    return (number(words[0]) if words else None), row


def scaled(colon, value):
    if not colon:
        return 1.0
    if not NUMBER.fullmatch(value):
        raise ValueError(value)
    return float(value)


def vw(text):
    """Rows [(line, label, {(namespace, name): value})], and the lines that are wrong [(line, text)]."""
    rows, wrong = [], []
    for n, line in enumerate(text.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            found = vw_row(line)
            if found is not None:
                rows.append((n, *found))
        except ValueError:
            wrong.append((n, line))
    return rows, wrong

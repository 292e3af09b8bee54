"""The text formats once more, read as their definitions say, slowly. Imports nothing of novikoff."""

import math
import re

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
BLANKS = b" \t"
LINE_END = re.compile(rb"\r\n|\r|\n")


def lines(text):
    """The lines of a text without their ends."""
    return LINE_END.split(text.removeprefix(b"\xef\xbb\xbf"))


def parse_number(word):
    if not NUMBER.fullmatch(word):
        raise ValueError(word)
    value = float(word)
    if not math.fabs(value) < 1e150:
        raise ValueError(word)
    return value


def parse_svmlight_line(line):
    """(label, {index: value}) of a line without its end, None if it has no row, ValueError if it is wrong."""
    line.decode()
    if b"\0" in line:
        raise ValueError(line)
    words = line.split(b"#")[0].translate(bytes.maketrans(BLANKS, b"  ")).split(b" ")
    words = [word for word in words if word]
    if not words:
        return None
    row = {}
    for k, word in enumerate(words[1:]):
        if k == 0 and word.startswith(b"qid:"):
            continue
        index, _, value = word.partition(b":")
        if not re.fullmatch(rb"[0-9]+", index) or int(index) > 2**31 - 2 or int(index) in row:
            raise ValueError(word)
        row[int(index)] = parse_number(value)
    return parse_number(words[0]), row


def svmlight(text):
    """Rows [(line, label, {index: value})], and the lines that are wrong [(line, text)]."""
    rows, wrong = [], []
    for n, line in enumerate(lines(text), start=1):
        try:
            found = parse_svmlight_line(line)
            if found is not None:
                rows.append((n, *found))
        except ValueError:
            wrong.append((n, line))
    return rows, wrong


def split_at_blanks(text):
    return [word for word in re.split(rb"[ \t]+", text) if word]


def parse_vw_line(line):
    """(label or None, {(namespace, name): value}) of a line without its end, None if it is blank, ValueError if it is
    wrong."""
    line.decode()
    if b"\0" in line:
        raise ValueError(line)
    if not split_at_blanks(line):
        return None
    before, *groups = line.split(b"|")
    if not groups:
        raise ValueError(line)
    words = split_at_blanks(before)
    if len(words) == 1 and before.endswith(words[0]) and NUMBER.fullmatch(words[0]):
        raise ValueError(line)
    if words and (before.endswith(words[-1]) or words[-1].startswith(b"'")):
        words.pop()  # a tag
    if len(words) > 2 or (len(words) == 2 and parse_number(words[1]) != 1.0):
        raise ValueError(line)
    row = {}
    for group in groups:
        space, weight, words_of_group = b"", 1.0, split_at_blanks(group)
        if words_of_group and group.startswith(words_of_group[0]):
            space, colon, scale = words_of_group.pop(0).partition(b":")
            weight = parse_value(colon, scale)
        for word in words_of_group:
            name, colon, value = word.partition(b":")
            found = weight * parse_value(colon, value)
            if not name or not abs(found) < 1e150:
                raise ValueError(word)
            row[space, name] = row.get((space, name), 0.0) + found
    return (parse_number(words[0]) if words else None), row


def parse_value(colon, value):
    if not colon:
        return 1.0
    if not NUMBER.fullmatch(value):
        raise ValueError(value)
    return float(value)


def vw(text):
    """Rows [(line, label, {(namespace, name): value})], and the lines that are wrong [(line, text)]."""
    rows, wrong = [], []
    for n, line in enumerate(lines(text), start=1):
        try:
            found = parse_vw_line(line)
            if found is not None:
                rows.append((n, *found))
        except ValueError:
            wrong.append((n, line))
    return rows, wrong


def labelled_text(text):
    """Rows [(line, label, text)], and the lines that are wrong [(line, text)]."""
    rows, wrong = [], []
    for n, line in enumerate(lines(text), start=1):
        label, tab, rest = line.partition(b"\t")
        if not line.strip(BLANKS):
            continue
        try:
            if b"\0" in line or not tab or not label.strip(b" "):
                raise ValueError
            rows.append((n, label.decode().strip(" "), rest.decode()))
        except ValueError:
            wrong.append((n, line))
    return rows, wrong


MISSING = ("", "?", "na", "n/a", "nan", "null")


PLACEHOLDERS = (
    "unknown",
    "none",
    "-",
    "--",
    "---",
    ".",
    "..",
    "...",
    "*",
    "n.a.",
    "n.a",
    "#n/a",
)  # some of those there are
SIGNS = "$€£%"  # some of those there are
GROUP_MARKS = " '\u2019\u00a0\u202f"


def parse_notation(cell, decimal):
    """The number in a cell with this decimal mark, as people write it: -$1,003.5 or 12 %; ValueError if it is none."""
    sign, front = "", ""
    while cell[:1] in ("+", "-", *SIGNS) and cell[:1]:
        character, cell = cell[0], cell[1:]
        if character in SIGNS:
            if front:
                raise ValueError(cell)
            front, cell = character, cell.removeprefix(" ")
        elif sign:
            raise ValueError(cell)
        else:
            sign = character
    if cell[-1:] in tuple(SIGNS):
        cell = cell[:-1]
        cell = cell[:-1] if cell[-1:] in tuple(" \u00a0\u202f") else cell
    mantissa, e, exponent = cell.lower().partition("e")
    whole, mark, fraction = mantissa.partition(decimal)
    marks = {character for character in whole if not character.isdigit()}
    if len(marks) == 1 and marks < {"." if decimal == "," else ",", *GROUP_MARKS}:
        first, *groups = whole.split(marks.pop())
        if not 1 <= len(first) <= 3 or first[0] == "0" or any(len(group) != 3 for group in groups):
            raise ValueError(cell)
        whole = "".join([first, *groups])
    elif marks:
        raise ValueError(cell)
    return parse_number(f"{sign}{whole}{'.' if mark else ''}{fraction}{e}{exponent}".encode())


def parse_table_number(cell, notation):
    """The number in a cell of a column of this notation: plain, decimal-point or decimal-comma. Among plain numbers,
    others are read with a decimal point, unless semicolons separate cells. None if it is a placeholder."""
    if cell.lower() in PLACEHOLDERS:
        return None
    if notation == "plain" and NUMBER.fullmatch(cell.encode()):
        return parse_number(cell.encode())
    return parse_notation(cell, "," if notation == "decimal-comma" else ".")


def table(text, delimiter, quote, kinds):
    """Rows [(line, cells...)] of delimited text, missing cells as None, and what is wrong [(line, text)]: RFC 4180 with
    blanks around cells, character by character. `quote` is None if there are no quotes. The last column is required. A
    kind is "word" or the notation of numbers.

    Of a row that cannot be cut into as many cells as there are kinds, the first line is wrong, and the next row begins
    after it.
    """
    rows, wrong, line = [], [], 1
    text = text.removeprefix(b"\xef\xbb\xbf").decode("latin-1")  # a character for every byte
    while text:
        end = re.search("\r\n|\r|\n|\\Z", text).end()
        if text[:end].strip(" \r\n" if delimiter == "\t" else " \t\r\n"):
            cells, size = split_table_row(text, delimiter, quote)
            raw = text[: size or end].encode("latin-1")
            try:
                raw.decode()
                if cells is None or len(cells) != len(kinds) or b"\0" in raw:
                    raise ValueError(raw)
                end = size
                rows.append((line, *parse_cells(cells, kinds)))
            except ValueError:
                wrong.append((line, text[:end].encode("latin-1")))
        line += len(re.findall("\r\n|\r|\n", text[:end]))
        text = text[end:]
    return rows, wrong


def parse_cells(cells, kinds):
    found = [cell.encode("latin-1").decode() for cell in cells]
    if found[-1].lower() in (*MISSING, *PLACEHOLDERS):
        raise ValueError(found)
    return [
        None if cell.lower() in MISSING else cell if kind == "word" else parse_table_number(cell, kind)
        for cell, kind in zip(found, kinds, strict=True)
    ]


def split_table_row(text, delimiter, quote):
    """(cells, size) of the row that a text begins with, its end included; (None, None) if its quotes are wrong."""
    cells, at = [], 0
    while True:
        while text[at : at + 1] == " ":
            at += 1
        cell = ""
        if quote is not None and text[at : at + 1] == quote:
            at += 1
            while text[at : at + 2] == 2 * quote or text[at : at + 1] not in (quote, ""):
                cell += text[at]
                at += 2 if text[at : at + 2] == 2 * quote else 1
            at += 1
            if at > len(text) or text[at : at + 1] not in (delimiter, "\r", "\n", ""):
                return None, None
        else:
            while text[at : at + 1] not in (delimiter, "\r", "\n", ""):
                cell += text[at]
                at += 1
        cells.append(cell.strip(" \t\r\n"))
        if text[at : at + 1] != delimiter or at >= len(text):
            return cells, min(len(text), at + 2 if text[at : at + 2] == "\r\n" else at + 1)
        at += 1

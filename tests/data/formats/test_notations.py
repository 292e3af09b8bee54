"""Numbers in disguise: how cells are read in each notation, and which notation a column has."""

import math
import random
from datetime import UTC, datetime

import numpy as np
import pytest

from novikoff.data.formats import TableReader, open_stream
from novikoff.data.formats.notations import Notation, parse_cell, parse_cells
from novikoff.data.formats.rejects import RejectCode, RowError
from novikoff.errors import DataError
from tests.data.formats.test_delimited import read, source_of
from tests.reference.formats import parse_notation

POINT, COMMA = Notation.DECIMAL_POINT, Notation.DECIMAL_COMMA


def seconds(*when):
    return datetime(*when, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("cell", "point", "comma"),
    [
        ("51,257", 51257.0, 51.257),
        ("$51.257", 51.257, 51257.0),
        ("1,003.5", 1003.5, math.inf),
        ("1.003,5", math.inf, 1003.5),
        ("1,234,567", 1234567.0, math.inf),
        ("1.234.567,8", math.inf, 1234567.8),
        ("0,123", math.inf, 0.123),
        ("1 234", 1234.0, 1234.0),
        ("1\u202f234,5 €", math.inf, 1234.5),
        ("1'234.5", 1234.5, math.inf),
        ("-$5", -5.0, -5.0),
        ("€ -5", -5.0, -5.0),
        ("12 %", 12.0, 12.0),
        ("1,5e3", math.inf, 1500.0),
        ("12,34", math.inf, 12.34),
        ("1,23,456", math.inf, math.inf),
        ("1,234 567", math.inf, math.inf),
        ("12 kg", math.inf, math.inf),
        ("--5", math.inf, math.inf),
        ("1e400", math.inf, math.inf),
    ],
)
def test_decimals(cell, point, comma):
    assert (parse_cell(cell, POINT), parse_cell(cell, COMMA)) == (point, comma)


@pytest.mark.parametrize("notation", [POINT, COMMA])
def test_decimals_agree_with_a_literal_reader(notation):
    """One by one and all at once."""
    rng, decimal = random.Random(4), "." if notation is POINT else ","
    cells = ["".join(rng.choices("0123456789.,' -+$%e", k=rng.randint(1, 7))) for _ in range(20_000)]
    cells = [cell for cell in cells if cell.strip() == cell]
    for cell in cells:
        try:
            expected = parse_notation(cell, decimal)
        except ValueError:
            expected = math.inf
        if not math.isnan(parse_cell(cell, notation)):  # a placeholder
            assert parse_cell(cell, notation) == expected, cell
    numbers = [cell for cell in cells if parse_cell(cell, notation) < math.inf]
    assert len(numbers) > 1000
    assert parse_cells(numbers, notation).tolist() == [parse_cell(cell, notation) for cell in numbers]
    mixed = parse_cells(["7", "unknown", "NA", "x", "1e200"], notation)
    np.testing.assert_array_equal(mixed, [7.0, math.nan, math.nan, math.inf, math.inf])


@pytest.mark.parametrize(
    ("cell", "notation", "expected"),
    [
        ("2024-03-01", Notation.YEAR_FIRST, seconds(2024, 3, 1)),
        ("1969/12/31", Notation.YEAR_FIRST, -86400.0),
        ("2024-03-01T12:30:15.5Z", Notation.YEAR_FIRST, seconds(2024, 3, 1, 12, 30, 15, 500_000)),
        ("2024-03-01 12:30+02:00", Notation.YEAR_FIRST, seconds(2024, 3, 1, 10, 30)),
        ("1.3.2024", Notation.DAY_FIRST, seconds(2024, 3, 1)),
        ("01/03/2024", Notation.DAY_FIRST, seconds(2024, 3, 1)),
        ("1 Mar 2024", Notation.DAY_FIRST, seconds(2024, 3, 1)),
        ("01-September-2024", Notation.DAY_FIRST, seconds(2024, 9, 1)),
        ("3/1/24 5:30 PM", Notation.MONTH_FIRST, seconds(2024, 3, 1, 17, 30)),
        ("12/31/69", Notation.MONTH_FIRST, -86400.0),
        ("March 1, 2024 12:05 am", Notation.MONTH_FIRST, seconds(2024, 3, 1, 0, 5)),
        ("31.02.2024", Notation.DAY_FIRST, math.inf),
        ("1.3.2024", Notation.MONTH_FIRST, math.inf),
        ("13/1/2024", Notation.MONTH_FIRST, math.inf),
        ("1/3-2024", Notation.DAY_FIRST, math.inf),
        ("2024-03-01 25:00", Notation.YEAR_FIRST, math.inf),
        ("1 Marc 2024", Notation.DAY_FIRST, math.inf),
        ("TRUE", Notation.BOOLEAN, 1.0),
        ("false", Notation.BOOLEAN, 0.0),
        ("yes", Notation.BOOLEAN, math.inf),
    ],
)
def test_dates_and_booleans(cell, notation, expected):
    assert parse_cell(cell, notation) == expected
    assert parse_cells([cell], notation).tolist() == [expected]


def test_many_dates_at_once():
    cells = ["2024-02-29", "1900-01-01 00:00:01", "2024-03-01T12:30"]
    expected = [seconds(2024, 2, 29), seconds(1900, 1, 1, 0, 0, 1), seconds(2024, 3, 1, 12, 30)]
    assert parse_cells(cells, Notation.YEAR_FIRST).tolist() == expected
    assert parse_cells([*cells, "2023-02-29"], Notation.YEAR_FIRST).tolist() == [*expected, math.inf]


def notations(text, **options):
    reader = TableReader(source_of(text.encode()), **options)
    reader.close()
    return {
        name: (column.kind, str(column.notation))
        for name, column in zip(reader.names, reader.layout.columns, strict=True)
    }


def column(*cells, delimiter=";", **options):
    """The kind and notation of a column beside one of letters."""
    rows = "".join(f"{cell}{delimiter}{'uv'[k % 2]}\n" for k, cell in enumerate(cells))
    return notations(f"a{delimiter}sort\n{rows}", **options)["a"]


class TestRules:
    """The rules of `column_kinds`, one by one."""

    def test_the_column_decides_first(self):
        assert column("1,234", "1,5") == ("number", "decimal-comma")
        assert column("1,234", "1,234,567", decimal=",") == ("number", "decimal-point")
        assert column('"1,234"', '"0,5"', delimiter=",", decimal=".") == ("number", "decimal-comma")

    def test_then_the_caller(self):
        assert column("51,257", "7", decimal=".") == ("number", "decimal-point")
        assert column('"51,257"', "7", delimiter=",", decimal=",") == ("number", "decimal-comma")
        assert column("1.234", "7", decimal=",") == ("number", "decimal-comma")

    def test_then_the_file(self):
        found = notations('a,b,c,y\n"51,257","1,5",7,u\n"1,234",2,1.234,v\n')
        assert found["a"] == found["b"] == found["c"] == ("number", "decimal-comma")
        found = notations("a;b;y\n51,257;1.5;u\n1,234;2;v\n")
        assert found == {"a": ("number", "decimal-point"), "b": ("number", "plain"), "y": ("word", "plain")}

    def test_then_the_delimiter(self):
        assert column("51,257", "7") == ("number", "decimal-comma")
        assert column('"51,257"', "7", delimiter=",") == ("number", "decimal-point")
        assert column("51,257", "7", delimiter="\t") == ("number", "decimal-point")

    def test_a_point_is_a_decimal_point(self):
        assert column("1.234", "7") == ("number", "plain")
        assert column("$51.257", "$7") == ("number", "decimal-point")
        assert column("1.234", "1.234.567") == ("number", "decimal-comma")

    def test_different_signs_make_no_number(self):
        assert column("$5", "€6") == ("word", "plain")

    def test_booleans_are_numbers_among_features_only(self):
        assert column("true", "FALSE", "true") == ("number", "boolean")
        assert column("yes", "no", "yes") == ("word", "plain")
        found = notations("a,b\n1,true\n2,false\n")
        assert found["b"] == ("word", "plain")

    def test_orders_of_dates(self):
        assert column("2024-03-01", "NA") == ("number", "year-first")
        assert column("13/1/2024", "1/2/2024") == ("number", "day-first")
        assert column("1/13/2024", "1/2/2024") == ("number", "month-first")
        assert column("1.2.2024", "2.2.2024") == ("number", "day-first")
        assert column("1/2/2024", "3/4/2024") == ("word", "plain")
        assert column("1/2/2024", "3/4/2024", dates="month-first") == ("number", "month-first")
        assert column("2024-03-01", "2024-03-02", dates="word") == ("word", "plain")
        assert notations("a,b,y\n2024-03-01,1,u\n2024-03-02,2,v\n", dates="drop")["a"] == ("word", "plain")

    def test_placeholders_are_missing_among_numbers_only(self):
        assert column("1", "unknown", "-", "2") == ("number", "decimal-point")
        assert column("unknown", "none", "known") == ("word", "plain")
        assert column("unknown", "none", "unknown") == ("word", "plain")
        assert read(b"a,b,y\n1,none,u\n-,red,v\n")[0] == [(2, 1.0, "none", "u"), (3, None, "red", "v")]

    def test_words_stay_words(self):
        for cells in (("1.2.3", "1.2.4"), ("555-1234", "555-9876"), ("12:30", "13:45"), ("A-1", "B-2"), ("3-4", "4-5")):
            assert column(*cells) == ("word", "plain")

    def test_a_header_above_disguised_numbers(self):
        with open_stream(source_of(b"price;y\n51,257;9,5\n7,5;1,5\n")) as reader:
            assert reader.names == ("price", "y")
        with open_stream(source_of(b"51,257;9,5\n7,5;1,5\n")) as reader:
            assert not reader.has_header

    def test_wrong_options(self):
        for options in ({"decimal": ";"}, {"dates": "weekday"}, {"delimiter": ";;"}, {"notations": {"a": "roman"}}):
            with pytest.raises(DataError, match=next(iter(options)).rstrip("s")):
                TableReader(source_of(b"a,y\n1,u\n"), **options)


TABLE = "n;price;rate;day;flag;town;y\n1;51,257;12 %;3.1.2024;true;Bonn;1,5\n2;1.003,5;unknown;14.1.2024;FALSE;Ulm;2\n"


def test_a_table_of_disguised_numbers():
    with open_stream(source_of(TABLE.encode())) as reader:
        [block] = reader
    assert {name: column.tolist() for name, column in block.columns.items() if name not in ("rate", "town")} == {
        "n": [1.0, 2.0],
        "price": [51.257, 1003.5],
        "day": [seconds(2024, 1, 3), seconds(2024, 1, 14)],
        "flag": [1.0, 0.0],
    }
    np.testing.assert_array_equal(block.columns["rate"], [12.0, np.nan])
    assert block.labels.tolist() == [1.5, 2.0]
    assert block.numbers.names == ["n", "price", "rate", "day", "flag"]


@pytest.mark.parametrize("chunk", [7, 1 << 20])
def test_rows_that_are_wrong(chunk):
    """A cell that does not fit stops the reader after the rows before it, or is rejected with its line."""
    good = "".join(f"{k},5;w{k};u\n" for k in range(50))
    text = f'a;b;y\n{good}5.5;x;u\n"x";"two\nlines";v\n7,25;z;v\n'.encode()
    rows, rejects = read(text, chunk, bad_rows="skip")
    assert [row[1] for row in rows] == [k + 0.5 for k in range(50)] + [7.25]
    assert rejects == [(52, b"5.5;x;u\n"), (53, b'"x";"two\nlines";v\n')]
    delivered = []

    def read_on():
        for block in TableReader(source_of(text, chunk)):
            delivered.extend(block.columns["a"].tolist())

    with pytest.raises(RowError, match=r't\.csv:52:1: expected a number in column "a", found "5\.5"') as info:
        read_on()
    assert delivered == [k + 0.5 for k in range(50)]
    assert (info.value.code, info.value.column) == (RejectCode.OTHER_DECIMAL, "a")


def test_labels_are_never_placeholders():
    text = ("a;y\n" + "1;2,5\n" * 20 + "2;unknown\n").encode()
    assert read(text, bad_rows="skip", types={"y": "number"})[1] == [(22, b"2;unknown\n")]
    text = ("a,y\n" + "1,2\n" * 20 + "2,unknown\n").encode()
    with pytest.raises(RowError, match='expected a number in column "y", found "unknown"'):
        read(text + b"1,2\n" * 70_000, types={"y": "number"})


def test_late_cells_are_accepted_and_noted():
    """Far behind the sample that decides what columns hold."""
    said = []
    text = b"a,b,y\n" + b"1,2.5,u\n" * 60_000 + b'unknown,"1,003",v\n-,$7,v\n'
    with TableReader(source_of(text)) as reader:
        reader.notify = said.append
        blocks = list(reader)
    assert math.isnan(blocks[-1].columns["a"][-2])
    assert blocks[-1].columns["b"][-2:].tolist() == [1003.0, 7.0]
    assert said == [
        't.csv:60002:1: "unknown" in column "a" is taken as missing.',
        't.csv:60002:2: "1,003" in column "b" is read as 1003.',
    ]
    text = b"a;y\n" + b"1;u\n" * 120_000 + b"1,003;v\n"  # 1.003, perhaps
    with pytest.raises(RowError, match='found "1,003"'):
        read(text)


def test_a_notation_that_is_known_is_not_sniffed():
    [row] = read(b'a,b,y\n"1,234",1/2/2024,u\n', notations={"a": "decimal-comma", "b": "day-first"})[0]
    assert row == (2, 1.234, seconds(2024, 2, 1), "u")

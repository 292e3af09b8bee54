"""Excel files are read as tables, if the extra is there; otherwise the message names it."""

import datetime
import math
import subprocess
import sys
import zipfile

import pytest

from novikoff.data.formats import open_stream
from novikoff.errors import DataError

CELLS = {  # in row 2 to 5; row 4 is empty
    "A2": "size", "B2": "when", "C2": "flag", "D2": "town", "E2": "sort",
    "A3": 3, "B3": 45294.5, "C3": True, "D3": 'a "b", c', "E3": "u",
    "A5": 4.25, "B5": 45295, "C5": False, "D5": "x & y", "E5": "v",
}  # fmt: skip


def write_xlsx(path, cells=CELLS):
    """A workbook by its definition (ECMA-376), with strings inline; style 1 shows a number as a date."""
    rows = {}
    for name, cell in cells.items():
        text = str(cell).replace("&", "&amp;").replace("<", "&lt;")
        if isinstance(cell, bool):
            xml = f'<c r="{name}" t="b"><v>{int(cell)}</v></c>'
        elif isinstance(cell, str):
            xml = f'<c r="{name}" t="inlineStr"><is><t>{text}</t></is></c>'
        else:
            xml = f'<c r="{name}" s="{int(name[0] == "B")}"><v>{text}</v></c>'
        rows.setdefault(name[1:], []).append(xml)
    sheet = "".join(f'<row r="{row}">{"".join(found)}</row>' for row, found in rows.items())
    main, office = "http://schemas.openxmlformats.org/spreadsheetml/2006/main", "http://schemas.openxmlformats.org"
    relation = f"{office}/officeDocument/2006/relationships"
    package = f'xmlns="{office}/package/2006/relationships"'
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{office}/package/2006/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        '<Default Extension="xml" ContentType="application/xml"/></Types>',
        "_rels/.rels": f'<Relationships {package}><Relationship Id="r1" Type="{relation}/officeDocument" '
        'Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{relation}"><sheets>'
        '<sheet name="Empty" sheetId="1" r:id="r1"/><sheet name="Data" sheetId="2" r:id="r2"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships {package}>"
        f'<Relationship Id="r1" Type="{relation}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="r2" Type="{relation}/worksheet" Target="worksheets/sheet2.xml"/>'
        f'<Relationship Id="r3" Type="{relation}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": f'<styleSheet xmlns="{main}"><cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="22"/>'
        "</cellXfs></styleSheet>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData/></worksheet>',
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, f'<?xml version="1.0" encoding="UTF-8"?>{content}')
    return path


@pytest.mark.parametrize("name", ["t.xlsx", "t.data"])
def test_the_first_sheet_with_rows_is_a_table(tmp_path, name):
    pytest.importorskip("python_calamine")
    with open_stream(write_xlsx(tmp_path / name)) as reader:
        [block] = reader
    noon = datetime.datetime(2024, 1, 3, 12, tzinfo=datetime.UTC).timestamp()  # 45294 days after 30 December 1899
    assert (reader.names, reader.kinds) == (
        ("size", "when", "flag", "town", "sort"),
        ("number", "number", "number", "word", "word"),
    )
    assert block.lines.tolist() == [3, 5]  # as Excel numbers the rows
    assert block.columns["size"].tolist() == [3.0, 4.25]
    assert block.columns["when"].tolist() == [noon, noon + 43200.0]
    assert block.columns["flag"].tolist() == [1.0, 0.0]
    assert block.columns["town"].tolist() == ['a "b", c', "x & y"]
    assert block.labels.tolist() == ["u", "v"]


def test_options_of_tables_apply(tmp_path):
    pytest.importorskip("python_calamine")
    path = write_xlsx(tmp_path / "t.xlsx")
    with open_stream(path, target="first", drop=["town"], dates="drop", types={"flag": "word"}) as reader:
        [block] = reader
    assert (block.labels.tolist(), list(block.columns)) == ([3.0, 4.25], ["flag", "sort"])
    with pytest.raises(DataError, match="takes no delimiter"):
        open_stream(path, delimiter=";")
    with pytest.raises(DataError, match="takes no encoding"):
        open_stream(path, encoding="latin-1")


def test_rows_from_a_pipe(tmp_path):
    pytest.importorskip("python_calamine")
    code = "import novikoff as nk; print(nk.learn('-').ledger.examples)"
    content = write_xlsx(tmp_path / "t.xlsx").read_bytes()
    done = subprocess.run([sys.executable, "-c", code], input=content, capture_output=True, check=True)
    assert done.stdout == b"2\n"


def test_without_the_extra_the_message_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    path = write_xlsx(tmp_path / "t.data")
    with pytest.raises(DataError, match=r'is an Excel file.*Install the extra "excel".*pip install.*\[excel\]'):
        open_stream(path)
    path = tmp_path / "old.data"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(DataError, match="is an Excel file"):
        open_stream(path)


def test_damaged_files_and_other_archives(tmp_path):
    pytest.importorskip("python_calamine")
    content = write_xlsx(tmp_path / "t.xlsx").read_bytes()
    (tmp_path / "cut.xlsx").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match="the Excel file cannot be read"):
        open_stream(tmp_path / "cut.xlsx")
    with pytest.raises(DataError, match="none of its sheets has any rows"):
        open_stream(write_xlsx(tmp_path / "empty.xlsx", {}))
    with zipfile.ZipFile(tmp_path / "t.zip", "w") as file:
        file.writestr("t.csv", "a,y\n1,2\n")
    with pytest.raises(DataError, match="is a ZIP archive"):
        open_stream(tmp_path / "t.zip")


def test_missing_cells(tmp_path):
    pytest.importorskip("python_calamine")
    cells = {name: cell for name, cell in CELLS.items() if name != "A5"} | {"A6": 7, "E6": "u"}
    with open_stream(write_xlsx(tmp_path / "t.xlsx", cells)) as reader:
        [block] = reader
    sizes = block.columns["size"].tolist()
    assert (sizes[0], math.isnan(sizes[1]), sizes[2]) == (3.0, True, 7.0)
    assert block.columns["town"].tolist() == ['a "b", c', "x & y", None]

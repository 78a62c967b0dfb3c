from pathlib import Path

import pytest

from catsofa.data.files import BadInput, csv_files, faults

COLUMNS = ("item", "text")


def rows_of(content: bytes, tmp_path: Path, max_line: int = 1000) -> list[tuple[int, dict[str, str]]]:
    """Returns the rows of a file with this content."""
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    return list(csv_files.rows(path, COLUMNS, "a table", max_line))


@pytest.mark.parametrize(
    "content",
    [
        b"item,text\n1,tea\n",
        b"item\ttext\n1\ttea\n",
        b"item,text\r\n1,tea\r\n",
        b"\xef\xbb\xbfitem,text\n1,tea",
        b'"item","text"\n"1","tea"\n\n',
        b"\n\nitem,text\n\n1,tea\n",
    ],
)
def test_commas_and_tabs_quotes_line_ends_and_blank_lines_do_not_matter(content: bytes, tmp_path: Path) -> None:
    """Tables of spreadsheets, R and pandas read the same, with a byte-order mark or without a last line end."""
    assert [row for _, row in rows_of(content, tmp_path)] == [{"item": "1", "text": "tea"}]


def test_a_row_has_the_line_it_begins_on(tmp_path: Path) -> None:
    """Line breaks in a quoted cell are kept, and later rows have their true line numbers."""
    content = b'\n\nitem,text\n1,"two\r\nlines"\n\n2,"say ""tea"""\n'
    assert rows_of(content, tmp_path) == [
        (4, {"item": "1", "text": "two\r\nlines"}),
        (7, {"item": "2", "text": 'say "tea"'}),
    ]


def test_between_tabs_a_cell_may_begin_with_a_quote_that_closes_early(tmp_path: Path) -> None:
    """Such a cell is read unchanged. Quoted cells, also over two lines, are read as usual with true line numbers."""
    content = b'item\ttext\n1\t"zorb"-like\n2\t"two\nlines"\n"zorb" cooks\t"say ""tea"""\n'
    assert rows_of(content, tmp_path) == [
        (2, {"item": "1", "text": '"zorb"-like'}),
        (3, {"item": "2", "text": "two\nlines"}),
        (5, {"item": '"zorb" cooks', "text": '"say ""tea"""'}),
    ]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "table.csv: found an empty file; expected a table"),
        (b"\n \n", "table.csv: found nothing but blank lines"),
        (b"item,text\n", "table.csv: found a header and no rows"),
        (
            b"item;text\n1;tea\n",
            "table.csv:1: found semicolons between the columns; expected a table, with commas or tabs",
        ),
        (b"item|text\n1|tea\n", "table.csv:1: found bars between the columns"),
        (
            b"item\n1\n",
            "table.csv:1: found no column 'text' among 'item'; expected a table, with the columns item, text",
        ),
        (b"item,text,item\n1,2,3\n", "table.csv:1: found the column 'item' twice"),
        (b"item,text\n1,tea\n2\n", "table.csv:3: found 1 cell; expected 2, one for each column of the header"),
        (b"item,text\n1,tea,milk\n", "table.csv:2: found 3 cells; expected 2"),
        (b"item,text\n1,te\0a\n", "table.csv:2: found a NUL byte"),
        ("item,text\n1,tea\n".encode("utf-16"), "found text in UTF-16; expected a table in UTF-8; convert it with"),
        (b"PAR1\0\0", "table.csv: found Parquet; expected a table as text; write the table as CSV"),
        (
            b'{"item": "1"}\n',
            "table.csv:1: found JSON lines; expected a table as CSV or TSV, with the columns item, text",
        ),
        (b"item,text\n1,caf\xe9\n", "table.csv:2: found byte 0xe9, which is not UTF-8; expected a table in UTF-8"),
        (b'item,text\n1,tea\n2,"never closed\n3,tea\n', "table.csv:3: found the end of the file inside a quoted cell"),
        (b'item\ttext\n1\ttea\n2\t"never closed\n3\ttea\n', "table.csv:3: found the end of the file inside a quoted"),
        (b'item\ttext\n1\t"' + b"a\n" * 100_000, "table.csv:2: found a cell of over 131,072 characters"),
        (b'item,text\n1,"tea" time\n', "table.csv:2: found a cell that is quoted wrongly"),
        (b"item,text\r1,tea\r", "found no column 'item'"),
        (b"item,text\n1,tea\r2,tea\n", "table.csv:2: found a carriage return inside an unquoted cell"),
        (b'item,text\n1,"' + b"a\n" * 100_000, "table.csv:2: found a cell of over 131,072 characters"),
        (b"item,text\n1," + b"a" * 2000 + b"\n", "table.csv:2: found a line of over 1,000 bytes"),
    ],
)
def test_what_is_wrong_with_a_table_is_one_sentence(content: bytes, said: str, tmp_path: Path) -> None:
    """The error has the file, the line, the finding and the expectation."""
    with pytest.raises(BadInput) as caught:
        rows_of(content, tmp_path)
    assert said in str(caught.value)


@pytest.mark.parametrize("tab", [",", "\t"])
def test_a_quote_that_nobody_closed_is_the_fault_of_its_line_alone(tab: str, tmp_path: Path) -> None:
    """The error names the line of the open quote. When faulty lines are left out, all other rows are read."""
    lines = ["item,text", '1,"two', 'lines"', '2,"open', "3,milk", "4,a,b", '5,"tea"', '"6,x', "7,last"]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines).replace(",", tab))
    with pytest.raises(BadInput, match=r"table\.csv:4: "):
        list(csv_files.rows(path, COLUMNS, "a table"))
    with faults.leaving_out() as noted:
        rows = [(line, row["item"]) for line, row in csv_files.rows(path, COLUMNS, "a table")]
    assert rows == [(2, "1"), (5, "3"), (7, "5"), (9, "7")]
    assert [(fault.line, "inside a quoted cell" in fault.found) for fault in noted] == [
        (4, False),
        (6, False),
        (8, True),
    ]


def test_the_line_of_an_open_quote_is_that_of_the_cell_not_of_the_row(tmp_path: Path) -> None:
    """The row begins in line 2, its second cell in line 3; the error names line 3."""
    with pytest.raises(BadInput, match=r"table\.csv:3: .*quoted cell"):
        rows_of(b'item,text\n"two\nlines","open\n3,milk\n', tmp_path)


def test_rows_come_before_the_file_is_read_to_its_end(tmp_path: Path) -> None:
    """Rows are yielded before the whole file is read, so memory is that of one row."""
    path = tmp_path / "table.csv"
    path.write_bytes(b"item,text\n1,tea\n" + b"\xff\n")
    rows = csv_files.rows(path, COLUMNS, "a table")
    assert next(rows) == (2, {"item": "1", "text": "tea"})
    with pytest.raises(BadInput, match="0xff"):
        next(rows)


def test_every_row_gets_the_columns_that_came_last(tmp_path: Path) -> None:
    """A column may first appear in any row; earlier rows have an empty cell there."""
    path = tmp_path / "table.csv"
    table = [{"item": "1"}, {"item": "2", "text": "a\rb", "new": "x"}, {"item": "", "newer": ","}]
    assert csv_files.write(table, path, COLUMNS) == 3
    assert path.read_bytes() == b'item,text,new,newer\n1,,,\n2,"a\rb",x,\n,,,","\n'
    assert [row["newer"] for _, row in csv_files.rows(path, COLUMNS, "a table")] == ["", "", ","]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"item": "a\0b"}, "row 2: 'a.*' holds a NUL"),
        ({"item": "a" * 131_073}, "row 2: .* too long"),
        ({"item": "\ud800"}, "surrogates not allowed"),
    ],
)
def test_a_cell_that_could_not_be_read_again_is_not_written(row: dict[str, str], said: str, tmp_path: Path) -> None:
    """The existing file does not change, and no partial file is left."""
    path = tmp_path / "table.csv"
    path.write_text("before")
    with pytest.raises(ValueError, match=said):
        csv_files.write([{"item": "1"}, row], path, COLUMNS)
    with pytest.raises(ValueError, match="nothing to write"):
        csv_files.write([], path, COLUMNS)
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_cells_that_a_spreadsheet_would_run_are_counted(tmp_path: Path) -> None:
    """Formula cells are counted and written unchanged. -1.5 is a number; a lone - is no formula."""
    (tmp_path / "a.csv").write_text('a,b\n=1+1,-1.5\n@x,+3e4\n-," =1"\n')
    assert csv_files.formulas(tmp_path / "a.csv") == 3

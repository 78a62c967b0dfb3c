"""Tests that a user's table gives the same records as a file and as a data frame."""

from pathlib import Path
from typing import Any

import pytest
from helpers.samples import TABLE

import catsofa
from catsofa.data import formats, sources
from catsofa.data.files import BadInput

PAIRS = """id,more,less,bias_type,language
a,Zorbs hum.,Blickets hum.,place,en
b,Zorbs zingen.,Blickets zingen.,place,nl
"""
PROBES = """category,identity,stereotype
people,Zorbs,hum
people,Blickets,hum
"""


def written(folder: Path, text: str, form: str) -> Path:
    """Writes the table as a CSV, TSV, pandas CSV with index, JSONL or Parquet file and returns its path."""
    path = folder / f"mine.{form.split('-')[0]}"
    if form in ("csv", "tsv"):
        path.write_text(text.replace(",", "\t") if form == "tsv" else text)
        return path
    frame = in_memory(text)
    if form == "csv-of-pandas":
        frame.to_csv(path)
    elif form == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_parquet(path)
    return path


def in_memory(text: str) -> Any:
    """Returns the table as a pandas data frame."""
    from io import StringIO

    return pytest.importorskip("pandas").read_csv(StringIO(text))


@pytest.mark.parametrize("form", ["csv", "tsv", "csv-of-pandas", "jsonl", "parquet"])
@pytest.mark.parametrize("text", [TABLE, PAIRS, PROBES])
def test_a_file_holds_the_records_of_its_data_frame(text: str, form: str, tmp_path: Path) -> None:
    """A file and its data frame give the same ids, texts, languages and domains in every file type."""
    records = list(catsofa.read(written(tmp_path, text, form)))
    assert [{**vars_of(record), "extra": None} for record in records] == [
        {**vars_of(record), "extra": None} for record in catsofa.read(in_memory(text))
    ]


def vars_of(record: Any) -> dict[str, Any]:
    """Returns the fields of a record."""
    return {name: getattr(record, name) for name in record.__slots__}


def test_other_columns_become_extra(tmp_path: Path) -> None:
    """Other columns go to extra; an empty cell is left out."""
    first, second = formats.read(written(tmp_path, TABLE, "csv"))
    assert (first.extra, second.extra) == ({"tone": "mild"}, {})
    assert (first.kind, second.kind) == ("intrasentence", "intersentence")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tidy", "", ":2: found nothing in the column 'stereotype'"),
        ("\nb,", "\na,", ":3: found id 'a' a second time"),
        ("wooden,mild", "wooden", ":2: found 7 cells; expected 8"),
        ("zorb is BLANK", "BLANK is BLANK", ":2: found a faulty cell: 'The BLANK is BLANK.' has more than one BLANK"),
    ],
)
def test_what_is_wrong_with_a_row_is_said_with_its_line(old: str, new: str, said: str, tmp_path: Path) -> None:
    """A required empty cell, a repeated id and a missing cell are refused with the line."""
    with pytest.raises(BadInput) as caught:
        list(formats.read(written(tmp_path, TABLE.replace(old, new, 1), "csv")))
    assert said in str(caught.value)


def test_a_file_of_unknown_columns_names_the_columns_of_tables(tmp_path: Path) -> None:
    """The error lists the columns that each kind of table needs."""
    path = tmp_path / "mine.csv"
    path.write_text("id,sentence,stereotype\n1,The zorb is BLANK.,tidy\n")
    with pytest.raises(BadInput, match=r"more, less, bias_type") as caught:
        list(formats.read(path))
    assert "context, target, bias_type, stereotype, anti-stereotype, unrelated" in str(caught.value)


MISSPELT = [
    ("more,less,bias_typ", "a,b,c", "pairs with the columns more, less, bias_type: rename bias_typ to bias_type"),
    ("Category;Identity;stereotyp", "c;i;s", "rename Category to category, .*rename stereotyp to stereotype"),
    (
        "context,target,bias_type,stereotype,antistereotype",
        "a,b,c,d,e",
        "antistereotype to anti-stereotype, add unrelated",
    ),
]


@pytest.mark.parametrize(("header", "row", "said"), MISSPELT)
def test_a_misspelt_column_is_named_with_its_right_name(header: str, row: str, said: str, tmp_path: Path) -> None:
    """In a file as in a data frame, the error names the columns, those of the likeliest kind, and what to rename."""
    import pandas

    (tmp_path / "mine.csv").write_text(f"{header}\n{row}\n")
    separator = ";" if ";" in header else ","
    names = header.split(separator)
    frame = pandas.DataFrame([dict(zip(names, row.split(separator), strict=True))])
    for data, place in ((tmp_path / "mine.csv", "mine.csv"), (frame, "DataFrame")):
        with pytest.raises(BadInput, match=f"found a table with the columns {', '.join(names)}; .*{said}") as caught:
            list(sources.read(data))
        assert caught.value.path.name == place
        assert " file" not in str(caught.value)

"""Tests that files of other benchmarks are refused when they resemble a known format."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from helpers.samples import CROWS
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.formats.pairs import SkippedRows, crows_pairs

PROMPTS = {
    "zorb_actors": {"Pim_Zorbson": ["Pim Zorbson is a zorbish actor whose ", "Zorbson began on "]},
    "zorb_singers": {"Tilda_Marn": ["Tilda Marn sings in "]},
}
FOREIGN: dict[str, Any] = {
    "prompts by person (BOLD).json": PROMPTS,
    "prompts, one short.json": {"zorb_actors": {"Pim_Zorbson": ["Pim ", "Zorbson is "]}},
    "articles by person.json": {"zorb_actors": {"Pim_Zorbson": ["Pim Zorbson is a zorbish actor of stage and film."]}},
    "pairs of sentences (WinoQueer, misspelt).csv": "sent_more,sent_less,stereo_antistero,bias_type\na,b,stereo,c\n",
    "pairs with one id (like WinoQueer).csv": ",Gender_ID,sent_x,sent_y\n0,zorb,They sing.,They cook.\n",
    "pairs in one language (like IndiBias).csv": (
        "index,modified_eng_sent_more,modified_eng_sent_less,stereo_antistereo,bias_type\n0,a,b,stereo,region\n"
    ),
    "numbered sentences (like WinoBias).txt": "1 [The zorb] thanked the florin.\n2 It rained.\n",
    "numbered sentences (half of WinoBias).txt": "1 [The zorb] thanked the florin because [he] sang.\n",
    "comments (RedditBias).csv": "id,attribute_in_comment,comment_processed,phrase,bias_sent\n1,a,b,c,1\n",
    "questions (BBQ).jsonl": json.dumps(
        {"example_id": 0, "question_polarity": "neg", "category": "Zorbs", "context": "c", "ans0": "a", "label": 1}
    ),
    "templates (BEC-Pro).tsv": "\tSentence\tSent_TM\tSent_AM\tPerson\tGender\tProfession\n0\ta\tb\tc\td\te\tf\n",
    "sentences by id (Winogender).tsv": "sentid\tsentence\nzorb.florin.1\tThe zorb told the florin that it rained.\n",
    "sentiment.csv": "Sentence,Labels\nThe zorb sings well.,positive\nFlorins cook badly.,negative\n",
    "groups of sentences.csv": "Group,Category,Sentence\nzorbs,food,They eat.\n",
    "a glossary.csv": "TERM,DEFINITION\nzorb,somebody from Zorbia\n",
    "phrases.json": {"body": [["zorb", "zorbs"]]},
}


def foreign(folder: Path, name: str) -> Path:
    """Writes a file with the structure of another benchmark and invented content."""
    path = folder / name
    content = FOREIGN[name]
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return path


@pytest.mark.parametrize("name", FOREIGN)
def test_the_shape_of_another_benchmark_is_refused(name: str, tmp_path: Path) -> None:
    """A file that shares a header or a nesting with a known format is not read as records."""
    with pytest.raises(BadInput):
        list(formats.read(foreign(tmp_path, name)))


@pytest.mark.parametrize("number", range(2))
def test_one_prompt_among_descriptors_makes_the_file_unknown(number: int, tmp_path: Path) -> None:
    """Every descriptor is checked: a prompt at either end of a thousand makes the format unknown."""
    words = [f"zorb{n}" for n in range(1000)]
    words[-number] = "The zorb was known for its "
    (tmp_path / "d.json").write_text(json.dumps({"axis": {"bucket": words}}, indent=1))
    with pytest.raises(BadInput, match="no known format"):
        formats.format_of(tmp_path / "d.json")
    words[-number] = "hard of hearing"
    (tmp_path / "d.json").write_text(json.dumps({"axis": {"bucket": words}}, indent=1))
    assert formats.format_of(tmp_path / "d.json").name == "holisticbias"


def pairs(path: Path, empty: dict[int, str], rows: int = 60) -> Path:
    """Writes CrowS-Pairs with the named cell empty in these rows (counted from 0)."""
    columns = ("", *crows_pairs.NEEDED)
    with path.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(columns)
        for n in range(rows):
            row = {"": str(n), "sent_more": f"Zorb {n} sings.", "sent_less": f"Florin {n} sings.",
                   "stereo_antistereo": "stereo", "bias_type": "music"}  # fmt: skip
            out.writerow(["" if empty.get(n) == name else row[name] for name in columns])
    return path


def test_a_row_with_an_empty_cell_is_left_out_and_said(tmp_path: Path) -> None:
    """Two of 60 rows lack a cell: 58 pairs are read, with a warning that gives count and lines. The command lists both
    lines."""
    path = pairs(tmp_path / "p.csv", {3: "sent_less", 9: "bias_type"})
    with pytest.warns(SkippedRows, match=r"p\.csv: 2 of 60.*lack.*line 5, 11"):
        records = list(formats.read(path))
    assert [int(pair.id) for pair in records] == [n for n in range(60) if n not in (3, 9)]
    done = CliRunner().invoke(app, ["convert", str(path), str(tmp_path / "out.jsonl"), "--json"])
    assert done.exit_code == 0
    assert [line["line"] for line in json.loads(done.stdout)["left_out"]] == [5, 11]


def test_a_file_in_which_many_rows_lack_a_cell_is_refused(tmp_path: Path) -> None:
    """Four of 60 incomplete rows exceed one in twenty, so the file is refused at the first. One of two in a small file
    is too many as well."""
    path = pairs(tmp_path / "p.csv", dict.fromkeys(range(5, 9), "sent_more"))
    with pytest.raises(BadInput, match=r"p\.csv:7: .*nothing.*'sent_more'"):
        list(formats.read(path))
    (tmp_path / "small.csv").write_text(CROWS.replace("stereo,nationality", "stereo,", 1))
    with pytest.raises(BadInput, match=r"small\.csv:2"):
        list(formats.read(tmp_path / "small.csv"))


def test_text_in_windows_1252_is_refused_with_what_to_do(tmp_path: Path) -> None:
    """The error names the byte, the line, the likely encoding and the option that converts the file."""
    path = pairs(tmp_path / "p.csv", {})
    path.write_bytes(path.read_bytes().replace(b"Zorb 7", b"\x91Zorb\x92 7"))
    with pytest.raises(
        BadInput,
        match=r"p\.csv:9: .*0x91.*‘Zorb’.*cp1252.*ëZorbí.*mac_roman",
    ):
        list(formats.read(path))


def test_french_crows_pairs_are_read_but_for_the_row_that_lacks_a_sentence(shared: Path) -> None:
    """The released French file has one empty cell, on line 129. The Dutch file is in Mac Roman and is refused with a
    hint."""
    with pytest.warns(SkippedRows, match=r"1 of 1,463 rows .* \(line 129\)"):
        assert len(list(formats.read(shared / "data/crows_multilingual/crows_french.csv"))) == 1462
    with pytest.raises(BadInput, match=r"'siësta'.*mac_roman.*--encoding"):
        list(formats.read(shared / "data/crows_multilingual/crows_dutch.csv"))

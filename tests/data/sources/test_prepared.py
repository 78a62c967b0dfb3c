"""Released sets in another encoding or language, by their name."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import catsofa
from catsofa.data import formats, sources
from catsofa.data.sources import released
from catsofa.data.sources.prepared import prepared

TABLE = """id,sent_more,sent_less,stereo_antistereo,bias_type
1,Zorbs eten ijs in België.,Florins eten ijs in België.,stereo,food
"""


def test_a_file_in_another_encoding_is_read_as_utf8_with_its_language(tmp_path: Path) -> None:
    """The table of sources names both; the released file stays as it is, and the copy is made once."""
    file = tmp_path / "pairs.csv"
    file.write_bytes(TABLE.encode("mac_roman"))
    source = replace(released.named("crows-pairs:nl"), encoding="mac_roman", language="nl")
    copy = prepared(source, file)
    (pair,) = formats.read(copy)
    assert (pair.more, pair.language) == ("Zorbs eten ijs in België.", "nl")
    assert file.read_bytes() == TABLE.encode("mac_roman")
    written = os.stat(copy).st_mtime_ns
    assert (prepared(source, file), os.stat(copy).st_mtime_ns) == (copy, written)
    copy.write_text("broken")
    assert [pair.more for pair in formats.read(prepared(source, file))] == ["Zorbs eten ijs in België."]


def test_an_english_set_in_utf8_is_read_as_it_is(tmp_path: Path) -> None:
    """Nothing is copied."""
    assert prepared(released.named("crows-pairs"), tmp_path / "pairs.csv") == tmp_path / "pairs.csv"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "file", "language", "encoding"),
    [("crows-pairs:nl", "crows_dutch.csv", "nl", "mac_roman"), ("crows-pairs:fr", "crows_french.csv", "fr", "utf-8")],
)
@pytest.mark.filterwarnings("ignore::catsofa.data.formats.pairs.SkippedRows")
def test_released_pairs_by_name_are_those_that_convert_writes(
    name: str, file: str, language: str, encoding: str, shared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The set by its name holds the same records as the conversion with both options."""
    given = shared / "data/crows_multilingual" / file
    below = released.named(name).below(tmp_path / "data")
    below.parent.mkdir(parents=True)
    shutil.copyfile(given, below)
    monkeypatch.setenv("CATSOFA_DATA", str(tmp_path / "data"))
    formats.convert(given, tmp_path / "pairs.jsonl", encoding=encoding, language=language)
    assert list(sources.read(name)) == list(catsofa.read(tmp_path / "pairs.jsonl"))
    assert {pair.language for pair in catsofa.read(name)} == {language}

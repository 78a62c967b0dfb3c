"""Tests released sets in another encoding or language, by name."""

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import catsofa
from catsofa.data import formats, sources
from catsofa.data.files.encodings import in_utf8
from catsofa.data.sources import released
from catsofa.data.sources.prepared import prepared

TABLE = """id,sent_more,sent_less,stereo_antistereo,bias_type
1,Zorbs eten ijs in België.,Florins eten ijs in België.,stereo,food
"""


def test_a_file_in_another_encoding_is_read_as_utf8_with_its_language(tmp_path: Path) -> None:
    """The table of sources gives encoding and language. The released file does not change, and the copy is written
    once."""
    file = tmp_path / "pairs.csv"
    file.write_bytes(TABLE.encode("mac_roman"))
    source = replace(released.named("crows-pairs:nl"), encoding="mac_roman", language="nl")
    copy = prepared(source, file)
    (pair,) = formats.read(copy)
    assert (pair.more, pair.language) == ("Zorbs eten ijs in België.", "nl")
    assert file.read_bytes() == TABLE.encode("mac_roman")
    modified = os.stat(copy).st_mtime_ns
    assert (prepared(source, file), os.stat(copy).st_mtime_ns) == (copy, modified)
    assert (
        subprocess.run(["sha256sum", "--check", f"{copy.name}.sha256"], cwd=tmp_path, capture_output=True).returncode
        == 0
    )
    copy.write_text("broken")
    assert [pair.more for pair in formats.read(prepared(source, file))] == ["Zorbs eten ijs in België."]


def test_a_copy_is_made_once_for_each_released_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The copy's note has the checksums of both files, so only a changed released file is converted again."""
    file, converted = tmp_path / "pairs.csv", list[Path]()
    module = sys.modules[prepared.__module__]
    monkeypatch.setattr(module, "in_utf8", lambda path, encoding: converted.append(path) or in_utf8(path, encoding))
    source = released.named("crows-pairs:nl")
    for table in (TABLE, TABLE, TABLE.replace("ijs", "soep"), TABLE.replace("ijs", "soep")):
        file.write_bytes(table.encode("mac_roman"))
        prepared(source, file)
    assert converted == [file, file]


def test_an_english_set_in_utf8_is_read_as_it_is(tmp_path: Path) -> None:
    """An English set in UTF-8 is not copied."""
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
    """A set read by name equals the conversion with both options."""
    original = shared / "data/crows_multilingual" / file
    below = released.named(name).below(tmp_path / "data")
    below.parent.mkdir(parents=True)
    shutil.copyfile(original, below)
    monkeypatch.setenv("CATSOFA_DATA", str(tmp_path / "data"))
    formats.convert(original, tmp_path / "pairs.jsonl", encoding=encoding, language=language)
    assert list(sources.read(name)) == list(catsofa.read(tmp_path / "pairs.jsonl"))
    assert {pair.language for pair in catsofa.read(name)} == {language}

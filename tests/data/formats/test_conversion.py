"""Tests conversions of users' files: other columns, other encodings, packed files, faulty lines."""

import gzip
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.samples import CROWS, JSONL, write_sample

import catsofa
from catsofa.data import formats
from catsofa.data.files import BadInput
from catsofa.data.formats.pairs.columns import UNSPECIFIED, PairColumns
from catsofa.data.records import Pair

TABLE = """number,biased,fair,topic,way
1,Les Dravians crient.,Les Pellorans crient.,place,stereo
2,"Les Dravians, oui.","Les Pellorans, oui.",place,antistereo
"""


def table(folder: Path, text: str = TABLE) -> Path:
    """Writes a table of pairs with custom columns and returns its path."""
    (folder / "table.csv").write_text(text)
    return folder / "table.csv"


def test_the_columns_of_pairs_can_be_named(tmp_path: Path) -> None:
    """Named columns give sentences, domain and direction; other columns go to extra, and every record has the given
    language."""
    columns = PairColumns(more="biased", less="fair", bias_type="topic", direction="way")
    done = formats.convert(table(tmp_path), tmp_path / "p.jsonl", columns=columns, language="fr")
    assert (done.source, done.records, done.left_out) == ("named columns", 2, ())
    one, two = catsofa.read(tmp_path / "p.jsonl")
    assert one == Pair(
        more="Les Dravians crient.",
        less="Les Pellorans crient.",
        direction="stereo",
        bias_type="place",
        language="fr",
        extra={"number": "1"},
    )
    assert two.direction == "antistereo"


def test_two_columns_of_sentences_are_enough(tmp_path: Path) -> None:
    """The first column then has the more stereotyping sentences, and the domain is unspecified. A column id gives the
    ids."""
    path = table(tmp_path, TABLE.replace("number", "id"))
    formats.convert(path, tmp_path / "p.jsonl", columns=PairColumns(more="biased", less="fair"))
    assert [(p.id, p.direction, p.bias_type) for p in catsofa.read(tmp_path / "p.jsonl")] == [
        *(("1", "stereo", UNSPECIFIED), ("2", "stereo", UNSPECIFIED)),
    ]


def test_a_column_that_is_missing_or_named_twice_is_said(tmp_path: Path) -> None:
    """The error lists the table's columns."""
    path = table(tmp_path)
    with pytest.raises(BadInput, match=r"table\.csv:1: .*'unfair'.*biased, fair"):
        formats.convert(path, tmp_path / "p.jsonl", columns=PairColumns(more="biased", less="unfair"))
    with pytest.raises(ValueError, match=r"'fair'.*twice"):
        PairColumns(more="fair", less="fair")


FAULTY: dict[str, tuple[str, str, Callable[[str], str], dict[int, str]]] = {
    "an empty cell": ("p.csv", CROWS, lambda text: text.replace("The painter overslept.", ""), {3: "nothing in"}),
    "too many cells": ("p.csv", CROWS, lambda text: text + "2,a,b\n", {4: "3 cells"}),
    "an id twice": ("p.csv", CROWS, lambda text: text.replace("\n1,", "\n0,"), {3: "id '0' a second time"}),
    "a direction": ("p.csv", CROWS, lambda text: text.replace(",antistereo,", ",both,"), {3: "the direction 'both'"}),
    "a line that is no JSON": ("p.jsonl", JSONL, lambda text: text + "{\nmore\n", {3: "a line that is", 4: "a line"}),
}


@pytest.mark.parametrize("name", FAULTY)
def test_faulty_lines_are_left_out_with_their_reason(name: str, tmp_path: Path) -> None:
    """The other lines are written. With strict, and in reading itself, a faulty line is an error."""
    file, text, spoil, reasons = FAULTY[name]
    path = tmp_path / file
    path.write_text(text)
    whole = len(list(formats.read(path)))
    path.write_text(spoil(text))
    done = formats.convert(path, tmp_path / "out.jsonl")
    assert [(fault.line, reasons[fault.line or 0] in fault.found) for fault in done.left_out] == [
        (line, True) for line in reasons
    ]
    assert (
        done.records
        == len(list(formats.read(tmp_path / "out.jsonl")))
        == spoil(text).count("\n") - len(reasons) - (file == "p.csv")
    )
    assert done.records in (whole, whole - 1)
    (tmp_path / "out.jsonl").unlink()
    for refused in (
        lambda: formats.convert(path, tmp_path / "out.jsonl", strict=True),
        lambda: list(formats.read(path)),
    ):
        with pytest.raises(BadInput, match=next(iter(reasons.values()))):
            refused()
    assert not (tmp_path / "out.jsonl").exists()


def test_a_file_without_a_good_line_is_refused(tmp_path: Path) -> None:
    """The error describes the first faulty line."""
    path = tmp_path / "p.csv"
    path.write_text(CROWS.replace(",stereo,", ",x,").replace(",antistereo,", ",y,"))
    with pytest.raises(BadInput, match=r"p\.csv:2: .*direction 'x'"):
        formats.convert(path, tmp_path / "out.jsonl")


@pytest.mark.parametrize("name", ["crows-pairs", "jsonl", "stereoset", "sofa", "bbq", "identities"])
def test_a_packed_file_is_read_as_the_file_in_it(name: str, tmp_path: Path) -> None:
    """A gzip file is read like its content: same format, same line numbers, and a category without the .gz suffix."""
    path = write_sample(tmp_path, name)
    packed = tmp_path / f"{path.name}.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert formats.format_of(packed).name == name
    assert list(formats.read(packed)) == list(formats.read(path))


def test_a_damaged_pack_is_one_sentence(tmp_path: Path) -> None:
    """A truncated and a corrupted gzip file are refused with one sentence."""
    packed = gzip.compress(CROWS.encode())
    for name, damaged in {"cut": packed[:-20], "spoilt": packed[:40] + b"x" * 40 + packed[80:]}.items():
        path = tmp_path / f"{name}.csv.gz"
        path.write_bytes(damaged)
        with pytest.raises(BadInput, match=r"damaged gzip.*fetch"):
            list(formats.read(path, "crows-pairs"))


def test_nothing_is_written_packed(tmp_path: Path) -> None:
    """A .gz target is refused, because the output would not be packed."""
    with pytest.raises(ValueError, match=r"out\.jsonl\.gz.*packed"):
        formats.convert(write_sample(tmp_path, "sofa"), tmp_path / "out.jsonl.gz", target_format="jsonl")


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman", "utf-16", "utf-16-le", "gb18030"])
def test_an_encoding_that_is_named_is_read(encoding: str, tmp_path: Path) -> None:
    """With a named encoding, the records equal those of the UTF-8 file."""
    text = CROWS.replace("Islanders", "Îslandérs") if encoding != "gb18030" else CROWS.replace("tea", "茶")
    (tmp_path / "utf8.csv").write_text(text, encoding="utf-8")
    (tmp_path / "p.csv").write_bytes(text.encode(encoding))
    done = formats.convert(tmp_path / "p.csv", tmp_path / "out.jsonl", encoding=encoding)
    assert (done.source, done.utf8_lines, done.left_out) == ("crows-pairs", 0, ())
    formats.convert(tmp_path / "utf8.csv", tmp_path / "same.jsonl")
    assert (tmp_path / "out.jsonl").read_bytes() == (tmp_path / "same.jsonl").read_bytes()


def test_lines_in_utf8_among_others_stay_as_they_are(tmp_path: Path) -> None:
    """UTF-8 lines in a file of another encoding are counted and decoded as UTF-8."""
    first, second = CROWS.replace("baker", "boulangère").replace("tea", "thé").rsplit("\n1,")
    path = tmp_path / "p.csv"
    path.write_bytes(first.encode("cp1252") + b"\n1," + second.encode())
    done = formats.convert(path, tmp_path / "out.jsonl", encoding="cp1252")
    assert done.utf8_lines == 1
    one, two = catsofa.read(tmp_path / "out.jsonl")
    assert (one.more, two.more) == ("Islanders, as ever, drink thé.", "The boulangère overslept.")


def test_a_wrong_encoding_is_said_of_the_file_itself(tmp_path: Path) -> None:
    """An unknown encoding, an undefined byte and a fault of the content are reported for the original file."""
    path = tmp_path / "p.csv"
    path.write_bytes(CROWS.replace("tea", "th\x81").encode("latin-1"))
    with pytest.raises(ValueError, match=r"'klingon'.*cp1252, latin-1"):
        formats.convert(path, tmp_path / "out.jsonl", encoding="klingon")
    with pytest.raises(BadInput, match=r"p\.csv:2: .*0x81.*cp1252"):
        formats.convert(path, tmp_path / "out.jsonl", encoding="cp1252")
    with pytest.raises(BadInput) as caught:
        formats.convert(path, tmp_path / "out.jsonl", encoding="latin-1", source_format="sofa")
    assert str(caught.value).startswith(f"{path}:1: found no column")


def test_only_the_language_that_is_asked_for_is_kept_where_the_file_says_it(tmp_path: Path) -> None:
    """In a file with several languages, only the requested one is kept. A file without language gets the requested
    one."""
    done = formats.convert(write_sample(tmp_path, "indibias"), tmp_path / "hi.jsonl", language="hi")
    assert (done.records, done.other_languages) == (2, 2)
    assert [pair.id for pair in catsofa.read(tmp_path / "hi.jsonl")] == ["0-hi", "1-hi"]
    with pytest.raises(BadInput, match=r"no record.*'nl'"):
        formats.convert(write_sample(tmp_path, "indibias"), tmp_path / "nl.jsonl", language="nl")
    formats.convert(write_sample(tmp_path, "winoqueer"), tmp_path / "nl.jsonl", language="nl")
    assert {pair.language for pair in catsofa.read(tmp_path / "nl.jsonl")} == {"nl"}
    with pytest.raises(ValueError, match=r"probes.*--language"):
        formats.convert(write_sample(tmp_path, "sofa"), tmp_path / "x.jsonl", language="nl")


def test_the_dutch_pairs_become_utf8(shared: Path, tmp_path: Path) -> None:
    """The Dutch file has 1,463 pairs in Mac Roman, with one line in UTF-8."""
    path = shared / "data/crows_multilingual/crows_dutch.csv"
    done = formats.convert(path, tmp_path / "nl.jsonl", encoding="mac_roman", language="nl")
    assert (done.records, done.utf8_lines, done.left_out) == (1463, 1, ())
    pairs = list(catsofa.read(tmp_path / "nl.jsonl"))
    assert {pair.language for pair in pairs} == {"nl"}
    assert not any(mark in pair.more + pair.less for pair in pairs for mark in ("√", "©", "�"))

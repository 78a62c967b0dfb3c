import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.commands import run_catsofa
from helpers.samples import FILES, write_sample

from catsofa.cli import main
from catsofa.data.files import MAX_LINE, BadInput
from catsofa.data.formats import format_of

Spoil = Callable[[bytes], bytes]
CSVS = [name for name, (file, _) in FILES.items() if file.endswith(".csv")]
JSONS = ["stereoset", "predictions", "seat", "holisticbias"]


def convert(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str]:
    """The exit code of `catsofa convert` and what it said on stderr."""
    monkeypatch.setattr("sys.argv", ["catsofa", "convert", *arguments, "--strict"])
    with pytest.raises(SystemExit) as left:
        main()
    return int(left.value.code or 0), capsys.readouterr().err


def assert_refused(
    source: Path, format_name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """The one sentence with which a file is refused: exit code 2, the file's name in it, nothing written anywhere."""
    before = sorted(source.parent.rglob("*"))
    target = source.parent / "out" / "new.jsonl"
    code, said = convert([str(source), str(target), "--from", format_name], monkeypatch, capsys)
    assert code == 2
    assert said.count("\n") == 1
    assert said.startswith("catsofa: ")
    assert source.name in said
    assert ": found " in said
    assert "; expected " in said
    assert len(said) < 600
    assert sorted(source.parent.rglob("*")) == before
    return said


SPOILS: dict[str, tuple[Spoil, str]] = {
    "empty": (lambda raw: b"", "an empty file"),
    "blank": (lambda raw: b"\n  \n\n", "nothing but blank"),
    "not UTF-8": (lambda raw: raw[:-9] + "é".encode("latin-1") + raw[-9:], ", which is not UTF-8"),
    "half": (lambda raw: raw[: len(raw) * 2 // 3], ""),
    "binary": (lambda raw: b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)), ""),
}


@pytest.mark.parametrize("spoil", SPOILS)
@pytest.mark.parametrize("name", FILES)
def test_a_spoilt_file_of_any_format_is_one_sentence_and_leaves_nothing(
    name: str, spoil: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Empty, blank, in Latin-1, cut in two, of another world: exit code 2, and no file or part of one is left."""
    path = write_sample(tmp_path, name)
    edit, said = SPOILS[spoil]
    spoilt = edit(path.read_bytes())
    if spoil == "half" and name in CSVS:
        spoilt = spoilt[: spoilt.rindex(b"\n") + 2]  # a cell of the last row is all there is of it
    path.write_bytes(spoilt)
    assert said in assert_refused(path, name.split()[0], monkeypatch, capsys)


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_is_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong path, a folder with nothing in it, links in a circle, a pipe that would wait forever."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for place, said in {"missing": "no such file", "loop": "", "pipe": "a pipe", "folder": ""}.items():
        assert said in assert_refused(tmp_path / place, name.split()[0], monkeypatch, capsys)


@pytest.mark.parametrize("name", CSVS)
def test_another_separator_is_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Semicolons are what spreadsheets write in half of Europe: known by its columns, and refused by its separator."""
    path = write_sample(tmp_path, name)
    text = path.read_text()
    path.write_text(text.replace("\t" if "\t" in text else ",", ";"))
    said = assert_refused(path, name.split()[0], monkeypatch, capsys)
    if ";" in path.read_text().split("\n", 1)[0].strip(";") and name != "identities":
        assert ":1: found semicolons between the columns" in said
        code, unnamed = convert([str(path), str(tmp_path / "out.jsonl")], monkeypatch, capsys)
        assert (code, unnamed) == (2, said)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_field_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Under another name, the field that every record needs is missed."""
    field = {
        "stereoset": "gold_label",
        "predictions": "score",
        "crows-pairs": "sent_less",
        "crows-pairs revised": "sent_less",
        "crows-pairs in French": "sent_less",
        "crows-pairs of WinoQueer's first version": "sent_less",
        "winoqueer": "sent_y",
        "indibias": "sent_more_hindi",
        "redditbias": "comments_processed",
        "bhed": "Sentence",
        "winobias": "[",
        "seat": "attr2",
        "sofa": "Probe",
        "sbic": "targetStereotype",
        "biasasker": "Sentence",
        "identities": "TERM",
        "holisticbias": "descriptor",
        "table": "target",
        "bbq": "question_polarity",
        "kobbq": "choices",
        "seegull": "region_unsure",
        "seegull states": "region_unsure",
        "annotations": "label",
        "jsonl": "category",
    }[name]
    path = write_sample(tmp_path, name)
    path.write_text(path.read_text().replace(field, f"{field}X"))
    said = assert_refused(path, name.split()[0], monkeypatch, capsys)
    assert (
        f"no field '{field}'" in said
        or f"no column '{field}'" in said
        or f"the fields 'id, {field}X" in said
        or field == "["
    )


def test_a_gigantic_line_is_refused_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """1 GB without a line end, which the disk does not hold: whatever the format, what is read of it is bounded."""
    for name in FILES:
        path = write_sample(tmp_path, name)
        with path.open("ab") as file:
            file.truncate(1024**3)
        said = assert_refused(path, name.split()[0], monkeypatch, capsys)
        assert "of over" in said
        path.unlink()


@pytest.mark.slow
def test_a_real_line_of_a_gigabyte_is_refused_in_less_memory(tmp_path: Path) -> None:
    """The command in a process of its own, under a limit of memory that the line alone would break."""
    path = tmp_path / "probes.jsonl"
    with path.open("wb") as file:
        file.write(FILES["jsonl"][1].encode() + b'{"id":"p3","category":"')
        for _ in range(1024):
            file.write(b"a" * 1024**2)
        file.write(b'","identity":"x","stereotype":"y"}\n')
    limited = run_catsofa_in_memory(["convert", str(path), str(tmp_path / "out.csv"), "--to", "sofa"], 768 * 1024**2)
    assert limited[0] == 2
    assert f"probes.jsonl:3: found a line of over {MAX_LINE:,} bytes" in limited[1]
    assert [file.name for file in tmp_path.iterdir()] == ["probes.jsonl"]


def run_catsofa_in_memory(arguments: list[str], limit: int) -> tuple[int, str]:
    """Exit code and stderr of catsofa in a process whose address space is limited."""
    done = subprocess.run(
        [Path(sys.executable).with_name("catsofa"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    return done.returncode, done.stderr


def test_the_command_itself_says_it_in_a_sentence(tmp_path: Path) -> None:
    """In a process of its own, from another folder: a half line, a wrong path, formats that do not fit."""
    path = write_sample(tmp_path, "jsonl")
    path.write_text(path.read_text()[:-20])
    for arguments, said in (
        (
            ("probes.jsonl", "out.csv", "--to", "sofa"),
            "probes.jsonl:2: found a line that is not JSON (EOF while parsing",
        ),
        (("probs.jsonl", "out.csv"), "probs.jsonl: found no such file; expected a file"),
        (("probes.jsonl", "out.csv", "--to", "soffa"), "no format 'soffa'; the formats are stereoset, predictions"),
        (("probes.jsonl", "probes.jsonl", "--to", "jsonl"), "is the file to read; name another one to write"),
    ):
        done = run_catsofa("convert", *arguments, "--strict", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert said in done.stderr
        assert done.stderr.count("\n") == 1
    assert [file.name for file in tmp_path.iterdir()] == ["probes.jsonl"]


@pytest.mark.parametrize(
    ("header", "missing"),
    [
        ("item,annotator,value", "'label'"),
        ("ID,Category,Identity,Stereotype", "'Probe'"),
        ("sent_more,sent_less,bias_type", "'stereo_antistereo'"),
        ("post,targetMinority,targetStereotype", "'targetCategory'"),
    ],
)
def test_a_table_that_lacks_a_column_is_told_which(tmp_path: Path, header: str, missing: str) -> None:
    """The format with the most of its columns says what is missing; a table with few of any is in no format."""
    path = tmp_path / "TABLE.CSV"
    path.write_text(f"{header}\n{','.join('abcd'[: header.count(',') + 1])}\n")
    with pytest.raises(BadInput, match=f"no column {missing}"):
        format_of(path)


def test_a_file_in_no_format_is_shown_by_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that one sees at once what was taken for data."""
    path = tmp_path / "page.html"
    path.write_text("<html><body>404 Not Found")
    code, said = convert([str(path), str(tmp_path / "out.jsonl")], monkeypatch, capsys)
    assert code == 2
    assert "found a file in no known format that starts with '<html><body>404 Not Found'" in said


@pytest.mark.parametrize(
    ("start", "found"),
    [
        (b"PK\x03\x04\x14", "a zip archive or a spreadsheet; expected the file in it, unpacked, or the sheet"),
        ("text,label\n".encode("utf-16"), "UTF-16 text; expected text in UTF-8"),
    ],
)
def test_packed_files_and_foreign_encodings_are_named(
    tmp_path: Path, start: bytes, found: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytes that nobody can read say less than what they are, whatever the file is called."""
    path = tmp_path / "data.jsonl"
    path.write_bytes(start)
    code, said = convert([str(path), str(tmp_path / "out.jsonl")], monkeypatch, capsys)
    assert (code, [file.name for file in tmp_path.iterdir()]) == (2, ["data.jsonl"])
    assert f"data.jsonl: found {found}" in said


def test_an_interrupted_conversion_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C in the middle: exit code 130, and neither file nor part of one."""
    path = write_sample(tmp_path, "jsonl")

    def interrupted(record: object) -> bytes:
        raise KeyboardInterrupt

    monkeypatch.setattr("catsofa.data.files.jsonl.dumps", interrupted)
    code, _ = convert([str(path), str(tmp_path / "out.jsonl")], monkeypatch, capsys)
    assert code == 130
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_the_json_of_a_good_conversion_names_what_is_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The other half of the rule: what goes through says what did not."""
    path = write_sample(tmp_path, "jsonl")
    monkeypatch.setattr("sys.argv", ["catsofa", "convert", str(path), str(tmp_path / "out.csv"), "--json"])
    with pytest.raises(SystemExit) as left:
        main()
    assert not left.value.code
    done = json.loads(capsys.readouterr().out)
    assert (done["from"], done["to"], done["records"]) == ("jsonl", "sofa", 2)
    assert done["lost"] == {"extra: n (kept as text)": 1}

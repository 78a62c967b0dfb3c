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
    """Returns the exit code of `catsofa convert` and its stderr."""
    monkeypatch.setattr("sys.argv", ["catsofa", "convert", *arguments, "--strict"])
    with pytest.raises(SystemExit) as exit_info:
        main()
    return int(exit_info.value.code or 0), capsys.readouterr().err


def assert_refused(
    source: Path, format_name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """Asserts that a file is refused with exit code 2 and one sentence that names it, and nothing is written. Returns
    the sentence."""
    before = sorted(source.parent.rglob("*"))
    target = source.parent / "out" / "new.jsonl"
    code, stderr = convert([str(source), str(target), "--from", format_name], monkeypatch, capsys)
    assert code == 2
    assert stderr.count("\n") == 1
    assert stderr.startswith("catsofa: ")
    assert source.name in stderr
    assert ": found " in stderr
    assert "; expected " in stderr
    assert len(stderr) < 600
    assert sorted(source.parent.rglob("*")) == before
    return stderr


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
    """An empty, blank, Latin-1, truncated or binary file gives exit code 2 and leaves no file or partial file."""
    path = write_sample(tmp_path, name)
    edit, message = SPOILS[spoil]
    spoilt = edit(path.read_bytes())
    if spoil == "half" and name in CSVS:
        spoilt = spoilt[: spoilt.rindex(b"\n") + 2]  # the last row has only a part of one cell
    path.write_bytes(spoilt)
    assert message in assert_refused(path, name.split()[0], monkeypatch, capsys)


@pytest.mark.parametrize("name", FILES)
def test_what_is_no_file_is_one_sentence(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A wrong path, an empty folder, a circular link and a pipe are each refused with one sentence."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for place, message in {"missing": "no such file", "loop": "", "pipe": "a pipe", "folder": ""}.items():
        assert message in assert_refused(tmp_path / place, name.split()[0], monkeypatch, capsys)


@pytest.mark.parametrize("name", CSVS)
def test_another_separator_is_said(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Semicolons, common in European spreadsheets, are recognised by the column names and refused."""
    path = write_sample(tmp_path, name)
    text = path.read_text()
    path.write_text(text.replace("\t" if "\t" in text else ",", ";"))
    stderr = assert_refused(path, name.split()[0], monkeypatch, capsys)
    if ";" in path.read_text().split("\n", 1)[0].strip(";") and name != "identities":
        assert ":1: found semicolons between the columns" in stderr
        code, unnamed = convert([str(path), str(tmp_path / "out.jsonl")], monkeypatch, capsys)
        assert (code, unnamed) == (2, stderr)


@pytest.mark.parametrize("name", FILES)
def test_a_missing_field_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A renamed required field is reported as missing."""
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
    stderr = assert_refused(path, name.split()[0], monkeypatch, capsys)
    assert (
        f"no field '{field}'" in stderr
        or f"no column '{field}'" in stderr
        or f"the fields 'id, {field}X" in stderr
        or field == "["
    )


def test_a_gigantic_line_is_refused_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A line of 1 GB (a sparse file) is refused in every format, with bounded reading."""
    for name in FILES:
        path = write_sample(tmp_path, name)
        with path.open("ab") as file:
            file.truncate(1024**3)
        stderr = assert_refused(path, name.split()[0], monkeypatch, capsys)
        assert "of over" in stderr
        path.unlink()


@pytest.mark.slow
def test_a_real_line_of_a_gigabyte_is_refused_in_less_memory(tmp_path: Path) -> None:
    """A subprocess refuses a line of 1 GB under a memory limit smaller than the line."""
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
    """Returns the exit code and stderr of catsofa in a process with limited address space."""
    done = subprocess.run(
        [Path(sys.executable).with_name("catsofa"), *arguments],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    return done.returncode, done.stderr


def test_the_command_itself_says_it_in_a_sentence(tmp_path: Path) -> None:
    """A subprocess in another folder gives one sentence for half a line, a wrong path and wrong formats."""
    path = write_sample(tmp_path, "jsonl")
    path.write_text(path.read_text()[:-20])
    for arguments, message in (
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
        assert message in done.stderr
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
    """The format that shares most columns names the missing one."""
    path = tmp_path / "TABLE.CSV"
    path.write_text(f"{header}\n{','.join('abcd'[: header.count(',') + 1])}\n")
    with pytest.raises(BadInput, match=f"no column {missing}"):
        format_of(path)


def test_a_file_in_no_format_is_shown_by_its_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error shows the start of a file in no known format."""
    path = tmp_path / "page.html"
    path.write_text("<html><body>404 Not Found")
    code, stderr = convert([str(path), str(tmp_path / "out.jsonl")], monkeypatch, capsys)
    assert code == 2
    assert "found a file in no known format that starts with '<html><body>404 Not Found'" in stderr


@pytest.mark.parametrize(
    ("start", "found"),
    [
        (b"PK\x03\x04\x14", "a zip archive or a spreadsheet; expected the file in it, unpacked, or the sheet"),
        ("text,label\n".encode("utf-16"), "UTF-16 text; expected text in UTF-8"),
        ("text,label\n".encode("utf-16-le"), "UTF-16 text without a byte order mark; expected text in UTF-8"),
        (
            "text,label\n".encode("utf-16-be"),
            "UTF-16 text without a byte order mark; expected text in UTF-8; convert it",
        ),
    ],
)
def test_packed_files_and_foreign_encodings_are_named(
    tmp_path: Path, start: bytes, found: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A packed file or a foreign encoding is named, whatever the file's suffix."""
    path = tmp_path / "data.jsonl"
    path.write_bytes(start)
    code, stderr = convert([str(path), str(tmp_path / "out.jsonl")], monkeypatch, capsys)
    assert (code, [file.name for file in tmp_path.iterdir()]) == (2, ["data.jsonl"])
    assert f"data.jsonl: found {found}" in stderr


def test_an_interrupted_conversion_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Ctrl-C during a conversion gives exit code 130 and leaves no file or partial file."""
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
    """The JSON of a successful conversion names the fields that the target format loses."""
    path = write_sample(tmp_path, "jsonl")
    monkeypatch.setattr("sys.argv", ["catsofa", "convert", str(path), str(tmp_path / "out.csv"), "--json"])
    with pytest.raises(SystemExit) as exit_info:
        main()
    assert not exit_info.value.code
    done = json.loads(capsys.readouterr().out)
    assert (done["from"], done["to"], done["records"]) == ("jsonl", "sofa", 2)
    assert done["lost"] == {"extra: n (kept as text)": 1}

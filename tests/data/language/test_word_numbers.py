"""Tests counts, Zipf values and running text: each has its own option, and another kind of file is refused."""

import json
from pathlib import Path

import pytest
from helpers.records import a_cat
from typer.testing import CliRunner

from catsofa.cli import app
from catsofa.data.files import BadInput, jsonl
from catsofa.data.language.word_numbers import corpus_lines, read_counts, read_zipf

FILES = {
    "counts": "tidy\t900000\nmessy\t12\nthe\t7\n",
    "zipf": "tidy\t5.5\nmessy\t4.25\nthe\t7.7\n",
    "text": "The zorb was late.\nRoses grow.\tQuietly, in 1999.\n",
    "small counts": "".join(f"word{n}\t{n % 9 + 1}\n" for n in range(12)),
    "logarithms": "tidy\t-3.5\nmessy\t-9.1\n",
    "nothing": "tidy\tnan\nmessy\tinf\n",
}
READ = {"--word-counts": read_counts, "--zipf": read_zipf, "--corpus": lambda path: list(corpus_lines(path))}
TAKES = {"--word-counts": {"counts", "small counts"}, "--zipf": {"zipf"}, "--corpus": {"text"}}
COMMANDS = {
    "--word-counts": ["baseline", "unigram", "--on", "z.jsonl", "--out", "p.json"],
    "--zipf": ["build", "cats", "--associations", "a.csv", "--out", "c.jsonl"],
    "--corpus": ["validate", "stats", "z.jsonl", "--json"],
}


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("option", READ)
def test_a_file_of_another_kind_is_refused(option: str, kind: str, tmp_path: Path) -> None:
    """Of eighteen pairs of a reader and a file, four are read; a file of non-numbers or logarithms is always
    refused."""
    file = tmp_path / "file.tsv"
    file.write_text(FILES[kind])
    if kind in TAKES[option]:
        assert READ[option](file)
    else:
        with pytest.raises(BadInput):
            READ[option](file)


def test_the_sentence_names_the_right_option(tmp_path: Path) -> None:
    """The error names the option that accepts the file."""
    for kind in ("counts", "zipf"):
        (tmp_path / kind).write_text(FILES[kind])
    with pytest.raises(BadInput, match=r"counts:1: .*'900000'.*Zipf.*--word-counts"):
        read_zipf(tmp_path / "counts")
    with pytest.raises(BadInput, match=r"zipf:1: .*'5\.5'.*count.*--zipf"):
        read_counts(tmp_path / "zipf")
    with pytest.raises(BadInput, match=r"3 of 3 lines.*--word-counts.*--zipf"):
        list(corpus_lines(tmp_path / "counts"))


def test_words_that_differ_by_case_are_one(tmp_path: Path) -> None:
    """Counts of words that differ only in case are added."""
    (tmp_path / "c").write_text("Tidy\t3\ntidy\t4\nice cream\t2\n")
    assert read_counts(tmp_path / "c") == {"tidy": 7, "ice cream": 2}
    (tmp_path / "c").write_text("tidy\t3\nuntidy 4\n")
    with pytest.raises(BadInput, match=r"c:2: .*'untidy 4'.*word counts"):
        read_counts(tmp_path / "c")


@pytest.mark.parametrize("option", COMMANDS)
def test_the_old_name_works_with_a_note(option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """--frequencies works like the new option, with a note on stderr, and is refused together with the new one."""
    monkeypatch.chdir(tmp_path)
    jsonl.write([a_cat()], tmp_path / "z.jsonl")
    row = "tailor,profession,tidy,messy,the\n"
    (tmp_path / "a.csv").write_text(f"target,bias_type,stereotype,anti-stereotype,unrelated\n{row}")
    file = next(iter(sorted(TAKES[option])))
    (tmp_path / "f").write_text(FILES[file])
    new, old = (CliRunner().invoke(app, [*COMMANDS[option], name, "f"]) for name in (option, "--frequencies"))
    assert new.exit_code == old.exit_code < 2, old.output
    assert new.stdout == old.stdout
    assert f"--frequencies is now {option}" in old.stderr
    assert "--frequencies" not in new.stderr
    both = CliRunner().invoke(app, [*COMMANDS[option], option, "f", "--frequencies", "f"])
    assert f"is the old name of {option}" in str(both.exception)


def test_lint_refuses_counts_as_a_corpus(tmp_path: Path) -> None:
    """L16 once missed words 75,000 times as frequent, because counts were read as running text. Counts are now
    refused."""
    jsonl.write([a_cat(stereotype="tidy", anti="messy")], tmp_path / "z.jsonl")
    (tmp_path / "counts").write_text(FILES["counts"])
    command = ["validate", "lint", str(tmp_path / "z.jsonl"), "--select", "L16", "--json"]
    done = CliRunner().invoke(app, [*command, "--frequencies", str(tmp_path / "counts")])
    assert isinstance(done.exception, BadInput)
    text = " ".join(["tidy"] * 500 + ["messy", "the", "zorb", "was"])
    (tmp_path / "text").write_text(text)
    done = CliRunner().invoke(app, [*command, "--corpus", str(tmp_path / "text")])
    assert [finding["rule"] for finding in json.loads(done.stdout)["findings"]] == ["L16"]

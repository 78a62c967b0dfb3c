import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.edits import replaced_in
from typer.testing import CliRunner

from catsofa.builders.languages import checkers
from catsofa.builders.languages.check import check, write_sheet
from catsofa.builders.languages.gold import left_out
from catsofa.cli import app
from catsofa.data.languages import codes, find
from catsofa.data.languages.language import Language


@pytest.fixture
def spanish(tmp_path: Path) -> Path:
    """Returns a copy of the Spanish folder."""
    return Path(shutil.copytree(find("es").folder, tmp_path / "es"))


BROKEN = [
    ("terms.csv", "vecino,vecina,vecinos,vecinas", "vecino,vecina,vecinos,", "f_pl"),
    ("templates.toml", "{el target} de al lado", "{el target@dat} de al lado", "dat"),
    ("templates.toml", "{BLANK~target}", "{BLANK_target}", "BLANK_target"),
    ("templates.toml", 'blank = "verb"', 'blank = "vreb"', "vreb"),
    ("templates.toml", "{un target} suele ser", "{un BLANK target} no es", "2 BLANKs"),
    ("words.csv", "abierto,adjective,", "abierto,adjektive,", "adjektive"),
    ("bleached.toml", "Parece {target}.", "Parece.", "no {target}"),
    ("gold.csv", "feminine,bueno,,buena", "feminine,bueno,,buona", "bueno"),
]


@pytest.mark.parametrize(("name", "before", "after", "said"), BROKEN)
def test_every_fault_says_where_what_and_what_to_do(
    spanish: Path, name: str, before: str, after: str, said: str
) -> None:
    """A broken table, template or gold row is reported with place and advice."""
    replaced_in(spanish / name, before, after)
    faults = check(Language(spanish)).faults
    assert any(said in fault.what for fault in faults)
    assert all(fault.where and fault.advice for fault in faults)


@pytest.mark.parametrize(
    ("name", "break_it"),
    [
        ("rules.toml", lambda text: text.replace("'z$'", "'(z$'", 1)),
        ("rules.toml", lambda text: text + "\n[["),
        ("language.toml", lambda text: text.replace('code = "es"', "")),
        ("terms.csv", lambda text: text.replace("term,", "word,", 1)),
    ],
)
def test_a_file_that_cannot_be_read_is_one_sentence(spanish: Path, name: str, break_it: Callable[[str], str]) -> None:
    """The error is one sentence that names the file, not a traceback."""
    text = (spanish / name).read_text("utf-8")
    (spanish / name).write_text(break_it(text), encoding="utf-8")
    with pytest.raises(ValueError, match=name):
        check(Language(spanish))


def test_a_pattern_that_cannot_be_read_is_named(spanish: Path) -> None:
    """The error names the invalid pattern, because a rules file has hundreds of them."""
    rules = spanish / "rules.toml"
    rules.write_text(rules.read_text("utf-8").replace("'z$'", "'(z$'", 1), encoding="utf-8")
    with pytest.raises(ValueError, match=r"'\(z\$'"):
        check(Language(spanish))


def test_the_command_ends_with_1_where_there_are_faults(spanish: Path) -> None:
    """The exit code is 0 without faults."""
    assert CliRunner().invoke(app, ["build", "language-check", str(spanish), "--quiet"]).exit_code == 0
    table = spanish / "terms.csv"
    table.write_text(table.read_text("utf-8").replace(",vecinas", ","), encoding="utf-8")
    assert CliRunner().invoke(app, ["build", "language-check", str(spanish), "--json"]).exit_code == 1


def test_a_checker_that_is_not_installed_is_named_not_passed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing checker is reported as unavailable and gives no opinion."""
    monkeypatch.setattr(checkers.shutil, "which", lambda name: None)
    checked, opinions = checkers.second_opinion(find("es"))
    assert opinions == []
    assert all(one.unavailable and not one.words for one in checked)
    assert len(checked) == 2


def test_a_sheet_has_fifty_different_sentences(tmp_path: Path) -> None:
    """The sheet for native speakers has fifty different sentences in each language."""
    for code in set(codes()) - {"en"}:
        assert write_sheet(find(code), tmp_path / "sheet.csv") == 50


def test_each_written_form_is_made_by_rule_alone() -> None:
    """An exception that a rule also produces is counted as right; a wrong one is named with its form."""
    plurals = next(one for one in left_out(find("es")) if one.table == "exceptions.csv, plural")
    assert "país" in plurals.right
    assert "joven: jovenes (written jóvenes)" in plurals.wrong
    assert {one.table for one in left_out(find("zh"))} == set()


def test_texts_of_open_studies_that_stay_english_are_named(spanish: Path) -> None:
    """An untranslated text is no fault, because the page shows the English text."""
    path = spanish / "interface.toml"
    path.write_text(path.read_text("utf-8").replace('"Open the study" = "Abrir el estudio"\n', ""), encoding="utf-8")
    report = check(Language(spanish))
    assert (report.english, report.faults) == (("Open the study",), ())
    shown = CliRunner().invoke(app, ["build", "language-check", str(spanish)])
    assert "in English on the pages of open studies: 'Open the study'" in " ".join(shown.output.split())


def test_questions_without_a_translation_are_named(spanish: Path) -> None:
    """An untranslated answer stays English; an untranslated question of the study is reported as missing."""
    path = spanish / "interface.toml"
    lines = [line for line in path.read_text("utf-8").splitlines() if not line.startswith(('"Fiji"', '"unrelated"'))]
    path.write_text("\n".join(lines), encoding="utf-8")
    report = check(Language(spanish))
    assert (report.english, report.missing) == (("Fiji",), ("interface.toml: [texts] 'unrelated'",))

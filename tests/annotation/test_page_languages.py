from pathlib import Path

import pytest

from catsofa.annotation.study import Settings, Study, create
from catsofa.annotation.study.interface import answers, result_of
from catsofa.annotation.study.kinds import KINDS
from catsofa.data.languages import codes
from catsofa.data.records import Probe

TABLES = sorted(set(codes()) - {"en"})
PROBES = [Probe(category="x", identity="Los panaderos", stereotype="son vagos")]


def a_study(folder: Path, language: str, kind: str = "judge-probes") -> Study:
    """A study in a language."""
    return create(folder / "study", kind=kind, items=PROBES, language=language)


@pytest.mark.parametrize("language", TABLES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_page_is_translated_and_answers_stay_in_english(language: str, kind: str, tmp_path: Path) -> None:
    """Each text has a translation; what comes back is the English choice, so that votes of all languages join."""
    settings = Settings(kind=kind, title="Study", url="", secret="x", overlap=1, seconds=9, pay=1, language=language)
    study = Study(tmp_path, settings)
    asked, shown = study.kind.interface, study.interface
    assert [part.labels != () for part in shown.questions.values()] == [
        part.choices != () for part in asked.questions.values()
    ]
    for name, question in shown.questions.items():
        assert question.choices == asked.questions[name].choices
        assert len(question.labels) == len(question.choices)
    assert all(f'alias="{choice}"' in shown.xml for part in asked.questions.values() for choice in part.choices)
    assert "Please" not in shown.xml
    assert "sentences" not in study.instructions()
    given = {name: part.choices[0] if part.choices else "x" for name, part in asked.questions.items()}
    assert answers(asked, result_of(shown, given)).wrong == ()


def test_a_language_in_words_has_english_pages(tmp_path: Path) -> None:
    """Klingon items may be judged on English pages, as before."""
    study = a_study(tmp_path, "Klingon")
    assert study.interface == study.kind.interface
    assert "The sentences are in Klingon" in study.instructions()


def test_buttons_are_translated_and_nothing_else_is(tmp_path: Path) -> None:
    """Text between tags that has a translation."""
    study = a_study(tmp_path, "es")
    assert study.page('<html lang="en"><button>Skip</button><p>Skip it</p>') == (
        '<html lang="es"><button>Saltar</button><p>Skip it</p>'
    )


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    """The sentence names the file that is missing."""
    folder = tmp_path / "xx"
    folder.mkdir()
    (folder / "language.toml").write_text('code = "xx"\nname = "X"\nstatus = "draft"\nspaces = true\n')
    with pytest.raises(ValueError, match=r"'xx'.*interface\.toml"):
        a_study(tmp_path, str(folder)).instructions()

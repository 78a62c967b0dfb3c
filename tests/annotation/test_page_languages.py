import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from catsofa.annotation.crowd.people import questionnaire
from catsofa.annotation.crowd.settings import Questionnaire
from catsofa.annotation.study import Settings, Study, create, page_language
from catsofa.annotation.study.interface import FOLDER, answers, result_of
from catsofa.annotation.study.kinds import KINDS
from catsofa.data.files import BadInput, toml_files
from catsofa.data.languages import codes, find
from catsofa.data.records import Probe

TABLES = sorted(set(codes()) - {"en"})
BUNDLED = ("age_band", "gender", "country", "first_language", "relation_to_target")
PROBES = [Probe(category="x", identity="Los panaderos", stereotype="son vagos")]


def a_study(folder: Path, language: str, kind: str = "judge-probes") -> Study:
    """Returns a study in a language."""
    return create(folder / "study", kind=kind, items=PROBES, language=language)


@pytest.mark.parametrize("language", TABLES)
@pytest.mark.parametrize("kind", KINDS)
def test_every_page_is_translated_and_answers_stay_in_english(language: str, kind: str, tmp_path: Path) -> None:
    """Each text has a translation; the stored answer is the English choice, so that votes of all languages join."""
    settings = Settings(kind=kind, title="Study", url="", secret="x", overlap=1, seconds=9, pay=1, language=language)
    study = Study(tmp_path, settings)
    english, shown = study.kind.interface, study.interface
    assert [part.labels != () for part in shown.questions.values()] == [
        part.choices != () for part in english.questions.values()
    ]
    for name, question in shown.questions.items():
        assert question.choices == english.questions[name].choices
        assert len(question.labels) == len(question.choices)
    assert all(f'alias="{choice}"' in shown.xml for part in english.questions.values() for choice in part.choices)
    assert "Please" not in shown.xml
    assert "sentences" not in study.instructions()
    reply = {name: part.choices[0] if part.choices else "x" for name, part in english.questions.items()}
    assert answers(english, result_of(shown, reply)).wrong == ()


def test_a_language_in_words_has_english_pages(tmp_path: Path) -> None:
    """Klingon items may be judged on English pages."""
    study = a_study(tmp_path, "Klingon")
    assert study.interface == study.kind.interface
    assert "The sentences are in Klingon" in study.instructions()


def test_buttons_are_translated_and_nothing_else_is(tmp_path: Path) -> None:
    """Only whole texts between tags that have a translation are translated."""
    study = a_study(tmp_path, "es")
    assert study.page('<html lang="en"><button>Skip</button><p>Skip it</p>') == (
        '<html lang="es"><button>Saltar</button><p>Skip it</p>'
    )


def test_a_folder_without_pages_is_refused(tmp_path: Path) -> None:
    """The error names the missing file."""
    folder = tmp_path / "xx"
    folder.mkdir()
    (folder / "language.toml").write_text('code = "xx"\nname = "X"\nstatus = "draft"\nspaces = true\n')
    with pytest.raises(ValueError, match=r"'xx'.*interface\.toml"):
        a_study(tmp_path, str(folder)).instructions()


def test_a_study_finds_its_language_folder_from_every_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative folder is stored by its whole path; a study whose language folder is gone does not turn English."""
    shutil.copytree(find("es").folder, tmp_path / "own")
    monkeypatch.chdir(tmp_path)
    study = a_study(tmp_path, "own")
    monkeypatch.chdir(tmp_path.parent)
    assert '<html lang="es">' in study.page('<html lang="en">')
    shutil.rmtree(tmp_path / "own")
    with pytest.raises(BadInput, match="own"):
        Study(study.folder, study.settings).page("")


LISTED = toml_files.read(find("en").folder / "interface.toml", "texts")
ENGLISH = [*LISTED["pages"], *LISTED["about"]]
SCRIPTS = ("work.js", "crowd.js")


@pytest.mark.parametrize("language", TABLES)
def test_every_text_of_an_open_study_is_translated(language: str) -> None:
    """Each text has its slots in both languages; bundled languages leave no text in English."""
    texts, _ = page_language.texts_of(find(language))
    for text in ENGLISH:
        assert sorted(re.findall(r"\{\w+\}", texts[text])) == sorted(re.findall(r"\{\w+\}", text)), text


def test_the_list_of_texts_holds_what_the_pages_show() -> None:
    """The list contains each text between tags of the pages, and each text that their scripts show."""
    shown = [text for name in SCRIPTS for text in re.findall(r'inLanguage\(\s*"([^"]+)"', (FOLDER / name).read_text())]
    assert len(shown) == 19
    for name in ("work.html", "crowd.html"):
        page = re.sub(r"<(script|style).*?</\1>|\{%.*?%\}", "", (FOLDER / name).read_text(), flags=re.DOTALL)
        shown += [text.strip() for text in re.findall(r">([^<>{}]+)<", page) if re.search(r"\w\w\w", text)]
    assert set(shown) <= {*ENGLISH}


def test_the_lists_hold_what_is_asked_of_people(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lists contain bundled questions and answers about people, and titles, questions and instructions of all
    kinds.
    """
    requested, real = list[str](), page_language.said

    def noted(text: str, *more: Any) -> str:
        requested.append(text)
        return real(text, *more)

    monkeypatch.setattr(page_language, "said", noted)
    for kind in KINDS.values():
        page_language.translated(kind.interface, find("es"))
        page_language.title(kind.title, "es")
    assert {text for text in requested if re.search(r"\w\w", re.sub(r"\$\w+", "", text))} == {*LISTED["questions"]}
    assert {*LISTED["instructions"]} == {"instructions", *KINDS}
    about = questionnaire.questions(Study(Path(), None), Questionnaire(bundled=BUNDLED)).values()  # type: ignore[arg-type]
    assert {*LISTED["about"]} == {text for each in about for text in (each.text, *each.wider)}


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("open the link of the study again.", "abra de nuevo el enlace del estudio."),
        ("You answered 5 tasks.", "Ha respondido 5 tareas."),
        (
            "the sentence has 2 BLANK, not exactly one as a separate word; anti_stereotype has 3 words",
            "la oración tiene 2 BLANK, y no uno solo y separado; el antiestereotipo tiene 3 palabras",
        ),
        ("send application/json", "send application/json"),
    ],
)
def test_sentences_of_the_server_are_translated(sentence: str, told: str, tmp_path: Path) -> None:
    """Variable parts are kept; a sentence without a translation stays English."""
    assert a_study(tmp_path, "es").said(sentence) == told
    assert a_study(tmp_path / "other", "en").said(sentence) == sentence


@pytest.mark.parametrize("language", TABLES)
def test_what_an_owner_writes_at_length_leaves_no_sentence_in_english(language: str) -> None:
    """Long inputs are translated: a legal basis of two articles, a long institution, and many questions."""
    texts, _ = page_language.texts_of(find(language))  # type: ignore[arg-type]
    basis, place = "Art. 6 (1) (a) GDPR; Art. 9 (2) (a) GDPR", "Institute of Baking; " + "University of Pellora " * 5
    for sentence in (
        f"Your data are processed on this legal basis: {basis}.",
        f"The study is run by {place}.",
        f"The study is run by {place} (ethics protocol 7; 8).",
        "The study is run by {Pellora} (ethics protocol {7}).",
        f"Then you are asked about yourself: {', '.join(['gender', *['flour or sugar'] * 9])}. "
        "You may leave out each question.",
    ):
        translation = page_language.in_language(sentence, texts)
        assert not {"legal", "study", "ethics", "asked"} & set(re.findall(r"\w+", translation)), translation


def test_a_page_keeps_its_scripts_and_what_people_wrote(tmp_path: Path) -> None:
    """Only texts between tags are translated; the script gets the translations as data."""
    page = a_study(tmp_path, "de").page(
        '<html lang="en"><script>if (a > "Skip" < b) {}</script><p>I am 18 or older</p><p>Be kind &amp; calm.</p>'
        "<style>p > b {Skip}</style><p>Your data are processed on this legal basis: consent {Art. 6}.</p>"
        '<script type="application/json" id="texts">{}</script>'
    )
    assert (
        '<script>if (a > "Skip" < b) {}</script><p>Ich bin 18 Jahre alt oder älter</p><p>Be kind &amp; calm.</p>'
        "<style>p > b {Skip}</style><p>Ihre Daten werden auf dieser Rechtsgrundlage verarbeitet: consent {Art. 6}.</p>"
        in page
    )
    assert json.loads(page.rpartition('id="texts">')[2].removesuffix("</script>"))["Skip"] == "Überspringen"


@pytest.mark.parametrize(
    ("language", "names"),
    [
        ("en", ["Colombia", "Côte d’Ivoire", "Zimbabwe", "other"]),
        ("de", ["Côte d’Ivoire", "Kolumbien", "Simbabwe", "other"]),
        ("es", ["Colombia", "Côte d’Ivoire", "Zimbabue", "other"]),
        ("zh", ["哥伦比亚", "津巴布韦", "科特迪瓦", "other"]),
    ],
)
def test_lists_are_in_the_order_of_the_names_that_are_shown(language: str, names: list[str]) -> None:
    """Accents are ignored, Chinese is ordered by sound (ge, jin, ke), and answers that are no names come last."""
    texts, _ = page_language.texts_of(find(language)) if language != "en" else ({}, {})
    answers_in_order = ["prefer not to say", "Zimbabwe", "other", "Côte d’Ivoire", "Colombia"]
    options = "".join(f'<option value="{answer}">{answer}</option>\n' for answer in answers_in_order)
    page = page_language.page(f"<select>\n{options}</select>", find(language) if language != "en" else None, texts)
    options_shown = re.findall(">([^<>]+)</option>", page)
    translated = {texts.get(name, name) for name in ("Colombia", "Zimbabwe", "Côte d’Ivoire")}
    assert (options_shown[0], translated) == (texts.get("prefer not to say", "prefer not to say"), {*names[:3]})
    assert options_shown[1:] == names

"""Tests of questions about people: asked after consent, stored apart from judgements, and erased with the person."""

import json
import re
import stat
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.asked import asked_study
from helpers.records import bakers
from helpers.servers.crowd_server import Visitor, opened, shown_truth
from typer.testing import CliRunner

from catsofa.annotation.crowd import home, settings
from catsofa.annotation.crowd.http import site
from catsofa.annotation.crowd.people.background import Background, published
from catsofa.annotation.crowd.people.questionnaire import BUNDLED, SILENT, questions
from catsofa.annotation.results.data_statement import Validated, data_statement, work_of
from catsofa.annotation.study import Study, create, page_language
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.data.files import BadInput, jsonl, toml_files

TOML = """
[platform]
name = "prolific"
codes = { completed = "DONE1" }
[questionnaire]
bundled = ["age_band", "country"]
own = "own.toml"
"""
OWN = """
[dialect]
text = "Which dialect do you speak at home?"
groups = { Pelloran = ["Upper Pelloran", "Lower Pelloran"], Dravian = ["Dravian"] }
"""
SAID = {"age_band": "25–34", "country": "Fiji", "dialect": "Upper Pelloran"}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Returns a study of two CATs for one person each, and three questions about people."""
    monkeypatch.setattr(site, "BY_SESSION", (1000.0, 1000.0))
    study_ = create(tmp_path / "s", kind="validate-cats", items=bakers(2), overlap=1, contact="a@example.org")
    (study_.folder / "study.toml").write_text(TOML)
    (study_.folder / "own.toml").write_text(OWN)
    return study_


def told(study: Study, person: str) -> dict[str, dict[str, str]]:
    """Returns a visitor's answers, under their pseudonym."""
    log = (study.folder / "identity.jsonl").read_text().splitlines()
    name = next(row["name"] for row in map(json.loads, log) if row["person"] == person)
    return Background(study).said([name])


def test_every_bundled_question_can_be_asked(study: Study) -> None:
    """The bundled file contains the five designed questions; their answers differ, and every country has
    a wider group.
    """
    bundled = questions(study, settings.Questionnaire(bundled=tuple(toml_files.read(BUNDLED, "questions"))))
    assert [*bundled] == ["age_band", "gender", "country", "first_language", "relation_to_target"]
    assert bundled["country"].wider["Fiji"] == "Oceania"
    assert bundled["gender"].wider["woman"] == ""
    assert len(bundled["country"].wider) > 190


@pytest.mark.parametrize("code", ["de", "es", "fr", "zh"])
def test_the_bundled_questions_are_translated_and_their_answers_stay_english(code: str, study: Study) -> None:
    """Every question, answer and name has a translation; the page shows it, and the form sends the English answer."""
    bundled = questions(study, settings.Questionnaire(bundled=tuple(toml_files.read(BUNDLED, "questions"))))
    language = page_language.language_of(code)
    assert language
    texts, _ = page_language.texts_of(language)
    wanted = {name.replace("_", " ") for name in bundled} | {SILENT}
    wanted |= {text for each in bundled.values() for text in (each.text, *each.wider)}
    assert wanted <= texts.keys()
    assert len({texts[answer] for answer in bundled["country"].wider}) == len(bundled["country"].wider)
    page = page_language.page('<label><input type="radio" value="woman"> woman</label>', language, texts)
    assert page == f'<label><input type="radio" value="woman"> {texts["woman"]}</label>'
    sentence = page_language.in_language(
        "Then you are asked about yourself: gender, country. You may leave out each question.", texts
    )
    assert "gender" not in sentence


def test_questions_come_after_consent_and_before_work(study: Study) -> None:
    """The consent page names the questions; each has "prefer not to say"; afterwards they are not asked again."""
    with opened(study) as address:
        ana = Visitor(address)
        assert "age band, country, dialect" in ana.browser.get("/", params=ana.names).text
        assert Visitor(address, "EVE").browser.get("/about-you").status_code == 401
        ana.come()
        assert ana.browser.get("/work").headers["location"] == "about-you"
        page = ana.browser.get("/about-you").text
        assert page.count(f'value="{SILENT}"') == 3
        assert ana.browser.post("/about-you", data=SAID).headers["location"] == "work"
        assert ana.browser.get("/work").status_code == 200
        assert told(study, "PID1") == {next(iter(told(study, "PID1"))): SAID}
        assert not re.search("checked|selected", ana.browser.get("/about-you").text)


def test_what_is_left_out_is_preferred_not_to_say_and_what_is_not_offered_is_refused(study: Study) -> None:
    """An empty form is accepted; an answer that no question offers is refused with a page."""
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        refused = ana.browser.post("/about-you", data={"country": "Atlantis"})
        assert (refused.status_code, "country: choose one" in refused.text.casefold()) == (422, True)
        assert told(study, "PID1") == {}
        ana.browser.post("/about-you", data={"unknown": "x"})
        assert [*told(study, "PID1").values()] == [dict.fromkeys(SAID, SILENT)]


def test_what_people_say_stands_in_one_file_under_a_name_of_its_own(study: Study, caplog: Any, capfd: Any) -> None:
    """No other file and no log contains an answer; the file contains no name of another file, and only its owner may
    read it.
    """
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        ana.browser.post("/about-you", data=SAID)
        ana.work(shown_truth(study))
        ana.browser.post("/about-you", data={"country": "Atlantis"})
    home.pull(study)
    (name,) = told(study, "PID1")
    files = {path.name: path.read_bytes() for path in study.folder.iterdir() if path.is_file()}
    assert [file for file, held in files.items() if b"Fiji" in held] == ["background.db"]
    assert not any(word.encode() in files["background.db"] for word in (name, "PID1", "S-PID1"))
    modes = {stat.S_IMODE((study.folder / file).stat().st_mode) for file in ("background.db", "background.key")}
    assert modes == {0o600}
    assert "Fiji" not in caplog.text + "".join(capfd.readouterr())


def test_what_is_said_while_somebody_withdraws_goes_too(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a person withdraws on another device while their form is being stored, no answer stays."""
    begun, keep = threading.Event(), Background.keep

    def slow(self: Background, person: str, said: Mapping[str, str]) -> None:
        begun.set()
        time.sleep(0.5)
        keep(self, person, said)

    monkeypatch.setattr(Background, "keep", slow)
    with opened(study) as address:
        ana = Visitor(address, "ANA")
        ana.come()
        other = threading.Thread(target=lambda: ana.browser.post("/about-you", data=SAID))
        other.start()
        assert begun.wait(60)
        ana.browser.post("/withdraw", data={"sure": "yes"})
        other.join()
    assert told(study, "ANA") == {}


def test_who_withdraws_takes_it_along(study: Study) -> None:
    """After a withdrawal no file contains an answer, and a form sent later is not stored."""
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        ana.browser.post("/about-you", data=SAID)
        ana.browser.post("/withdraw", data={"sure": "yes"})
        assert ana.browser.post("/about-you", data=SAID).status_code == 303
        assert told(study, "PID1") == {}
        assert not [path for path in study.folder.iterdir() if path.is_file() and b"Fiji" in path.read_bytes()]


def test_without_a_questionnaire_nothing_is_asked_or_kept(study: Study) -> None:
    """Work begins after consent, and no file is created."""
    (study.folder / "study.toml").write_text(TOML.partition("[questionnaire]")[0])
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        assert ana.browser.get("/work").status_code == 200
    assert not (study.folder / "background.db").exists()


def test_a_lost_key_is_refused_and_a_changed_row_is_found(study: Study) -> None:
    """A new key would separate everybody from their answers, so a lost key is refused; `verify` names the file of a
    changed row.
    """
    import sqlite3

    store = Background(study)
    store.keep("p1", SAID)
    assert store.said(["p1", "p2"]) == {"p1": SAID}
    assert check_study(study.folder).right  # type: ignore[union-attr]
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE person SET said = replace(said, 'Fiji', 'Peru')")
    assert {fault.path.name for fault in check_study(study.folder).faults} == {"background.db"}  # type: ignore[union-attr]
    with pytest.raises(BadInput, match="checksum"):
        store.said(["p1"])
    (study.folder / "background.key").unlink()
    with pytest.raises(BadInput, match="copy it back"):
        store.said(["p1"])


@pytest.mark.parametrize(
    ("toml", "own", "found"),
    [
        ('bundled = ["shoe_size"]', OWN, "'shoe_size'"),
        ("k = 2", OWN, "questionnaire.k = 2"),
        ("ask = 1", OWN, "an unknown key questionnaire.ask"),
        ('own = "own.toml"', "[Dialect]\ntext = 'x'\nchoices = ['a', 'b']", "a question named 'Dialect'"),
        ('own = "own.toml"', "[label]\ntext = 'x'\nchoices = ['a', 'b']", "a question named 'label'"),
        ('own = "own.toml"', "[a]\ntext = 'x'\nchoices = ['a', 'a']", "the answers a, a"),
        ('own = "own.toml"', "[a]\ntext = 'x'", "the answers to 'a'"),
        ('own = "own.toml"', "[a]\ntext = ''\nchoices = ['a', 'b']", "an empty text"),
        ('own = "own.toml"', f"[a]\ntext = 'x'\nchoices = ['a', '{SILENT}']", "prefer not to say"),
        ('own = "own.toml"', "[a]\ntext = 'x'\nanswers = ['a']", "an unknown key a.answers"),
        ('own = "own.toml"\nbundled = ["gender"]', "[gender]\ntext = 'x'\nchoices = ['a', 'b']", "bundled and asked"),
    ],
)
def test_questions_that_cannot_be_asked_are_refused(toml: str, own: str, found: str, study: Study) -> None:
    """Invalid questions are refused by name before anybody can arrive."""
    (study.folder / "study.toml").write_text(f"[questionnaire]\n{toml}\n")
    (study.folder / "own.toml").write_text(own)
    with pytest.raises(BadInput, match=re.escape(found)), opened(study):
        pass


@pytest.fixture
def answered(tmp_path: Path) -> Study:
    """Returns a study of fifteen people who said where they live."""
    return asked_study(tmp_path / "a")


def test_what_is_published_of_one_question_is_shared_by_k_people(answered: Study) -> None:
    """Five of Fiji stay; Samoa and Tonga become Oceania; people of Peru or without an answer are withheld."""
    answers_ = published(answered, [f"p{n}" for n in range(15)])
    assert Counter(row["country"] for row in answers_.values()) == {"Fiji": 5, "Oceania": 5, "withheld": 5}
    assert Counter(row["gender"] for row in answers_.values()) == {"woman": 10, "man": 5}
    assert published(answered, ["p0", "p1"], ["country"]) == {f"p{n}": {"country": "withheld"} for n in (0, 1)}


def test_agreement_by_what_people_said(answered: Study) -> None:
    """Each group of the planted study agrees only with itself; no answer of few people is in the output."""
    judged = answered.folder / "annotations.jsonl"
    call = ["validate", "agreement", "--on", str(judged), "--by", "country", "--resamples", "0"]
    report = json.loads(CliRunner().invoke(app, [*call, "--json"]).output)
    groups = report["by"]["country"]
    assert {name: (part["percent"], part["annotations"]) for name, part in groups.items()} == {
        "Fiji": (1.0, 30), "Oceania": (1.0, 30), "withheld": (1.0, 30)
    }  # fmt: skip
    assert report["percent"] < 0.6
    assert report["differences"]["country"]["within"] == 1.0
    shown = CliRunner().invoke(app, call).output
    assert "permutations of 15 people" in " ".join(shown.split())
    assert not re.search("Samoa|Tonga|Peru", shown + json.dumps(report))
    assert "Fiji" not in judged.read_text()


def test_votes_by_what_people_said(answered: Study) -> None:
    """Five of Fiji and five of Oceania decide each of six items differently; no other group is visible."""
    call = ["validate", "votes", "--on", str(answered.folder / "annotations.jsonl"), "--of", "15", "--by", "country"]
    report = json.loads(CliRunner().invoke(app, [*call, "--json"]).output)
    part = report["by"]["country"]
    assert {name: group["people"] for name, group in part["groups"].items()} == {
        "Fiji": 5, "Oceania": 5, "withheld": 5
    }  # fmt: skip
    assert (part["k"], part["differ"], len(part["differing"]), part["hidden"]) == (5, 6, 6, 0)
    assert part["difference"]["p"] <= 0.05
    shown = CliRunner().invoke(app, call).output
    assert "6 items with another label in another country" in shown
    assert not re.search("Samoa|Tonga|Peru", shown + json.dumps(report))


def test_a_study_opened_without_settings_states_the_defaults_that_people_met(tmp_path: Path) -> None:
    """The data statement has the default recruitment and age, as with an empty study.toml."""
    made = create(tmp_path / "s", kind="validate-cats", items=bakers(2), contact="a@example.org")
    assert (work_of(made).recruited, work_of(made).minimum_age) == ("", 0)
    home.open_store(made).close()
    assert (work_of(made).recruited, work_of(made).minimum_age) == ("invitation", 18)


VALIDATED = Validated(
    items=2, kept=2, need=3, of=5, judgements=10, labels=30, counted=[(5, 2)], missing=0, judges=15,
    agreement=0.5, domains=[("profession", 2)], targets=1, words=5.0,
)  # fmt: skip


def test_the_data_statement_says_what_was_asked(answered: Study) -> None:
    """The statement has counts of answers that k people share, per field, and the fields that were not asked about."""
    text = data_statement(VALIDATED, [work_of(answered)], ["en"])
    annotators = text.partition("### Annotator demographic")[2].partition("###")[0]
    assert "Origin: Fiji 5, Oceania 5, withheld 5 (15 people asked)." in annotators
    assert "Gender: man 5, woman 10 (15 people asked)." in annotators
    assert "Not asked: age, race or ethnicity, native language, socioeconomic status, training, member" in annotators
    assert "Recruitment: invitation, 18 years or older." in annotators
    speakers = text.partition("### Speaker demographic")[2].partition("###")[0]
    assert "Not asked: age, gender, race or ethnicity, origin, native language, socioeconomic status" in speakers
    assert "Samoa" not in text


def test_the_data_statement_says_what_the_settings_tell_and_who_was_left_out(tmp_path: Path) -> None:
    """The statement has variety, purpose, curators, practice, and the people who failed checks or gold items or
    declined.
    """
    made = create(
        tmp_path / "s", kind="validate-cats", items=bakers(2), gold=bakers(1, "florist"), checks=bakers(1, "miller"),
        overlap=5, contact="a@example.org",
    )  # fmt: skip
    toml = '[platform]\nname = "prolific"\ncodes = { completed = "C" }\n[quality]\nfirst = 2\nfail_after = 1\n'
    toml += (
        '[practice]\nfile = "practice.jsonl"\n[statement]\nvariety = "British English."\npurpose = "Origin, gender"\n'
    )
    (made.folder / "study.toml").write_text(toml + 'curators = ["A. Researcher", "B. Researcher"]\n')
    taught = replace(bakers(1, "weaver")[0], extra={"reason": "Cubic is no trait."})
    jsonl.write([taught], made.folder / "practice.jsonl")
    (lesson,) = settings.read(made).lessons
    with opened(made) as address:
        for person, kinds in (("ANA", "item gold check"), ("BEN", "item gold"), ("CEM", "item check")):
            visitor, truth = Visitor(address, person), shown_truth(made, kinds)
            visitor.come()
            nonce = visitor.next()["nonce"]
            visitor.post("/answer", {"nonce": nonce, "answers": dict(lesson.right)})
            visitor.work(truth)
        Visitor(address, "DAN").come(agree="no")
    work = work_of(made)
    assert work.left_out == {"failed the checks": 1, "failed the gold items": 1, "did not agree": 1}
    text = data_statement(VALIDATED, [work], ["en"])
    assert "en. Varieties: British English.\n" in text
    assert "Purpose: Origin, gender. Curated by: A. Researcher; B. Researcher.\n" in text
    assert "Before the work came 1 practice item with known answers; 1 had to be right." in text
    assert "not counted: did not agree 1, failed the checks 1, failed the gold items 1." in text

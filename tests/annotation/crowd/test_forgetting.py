"""Tests that a person is erased from every file of a study, even if the command is killed at any point."""

import json
import os
import shutil
import signal
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from helpers.records import bakers, terms
from helpers.servers.crowd_server import Visitor, opened, shown_truth
from typer.testing import CliRunner

from catsofa.annotation.crowd import home, money
from catsofa.annotation.crowd.http import site
from catsofa.annotation.crowd.owner.facts import facts
from catsofa.annotation.crowd.people import arrivals, forgetting
from catsofa.annotation.crowd.people.background import Background
from catsofa.annotation.crowd.people.forgetting import erase_identities, forget
from catsofa.annotation.crowd.store import Rows
from catsofa.annotation.label_studio import people
from catsofa.annotation.prolific.journal import Entry, Journal
from catsofa.annotation.results.answers import FORGETTING, FORGOTTEN, Raw, Tombstone
from catsofa.annotation.study import Study, create, open_study, rows
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app

TOML = """
[platform]
name = "prolific"
codes = { completed = "DONE1" }
[questionnaire]
bundled = ["country", "gender"]
"""
SAID = {"ANNA": {"country": "Fiji", "gender": "woman"}, "BERT": {"country": "Peru", "gender": "man"}}


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    """Returns a study of four CATs for two people each."""
    monkeypatch.setattr(site, "BY_SESSION", (1000.0, 1000.0))
    study_ = create(tmp_path / "s", kind="validate-cats", items=bakers(4), overlap=2, contact="a@example.org")
    (study_.folder / "study.toml").write_text(TOML)
    return study_


def visit(study: Study, address: str, person: str) -> Visitor:
    """Somebody arrives, answers the questions about themselves, and answers three of four tasks."""
    visitor = Visitor(address, person)
    visitor.come()
    visitor.browser.post("/about-you", data=SAID[person])
    visitor.work(shown_truth(study), at_most=3)
    visitor.post("/draft", {"nonce": visitor.next()["nonce"], "answers": {"label_1": "unrelated"}})
    return visitor


def worked(study: Study) -> dict[str, str]:
    """Two people arrive and work, and their answers are pulled. Returns the pseudonym of each."""
    with opened(study) as address:
        for person in SAID:
            visit(study, address, person)
    home.pull(study)
    names = [row.name for row in rows.read(study.folder / arrivals.LOG, arrivals.Arrival)]
    Journal(study).note(Entry(step="pay", id="bonus-1", owed=dict.fromkeys(names, 50)))
    return {row.person: row.name for row in rows.read(study.folder / arrivals.LOG, arrivals.Arrival)}


def holding(study: Study, *words: str) -> list[str]:
    """Returns the files of the study, including database files, that contain one of these words."""
    files = sorted(path for path in study.folder.rglob("*") if path.is_file())
    return [path.name for path in files if any(word.encode() in path.read_bytes() for word in words)]


def state(study: Study) -> dict[str, Any]:
    """Returns the content of a study in a fixed order."""
    with home.reading(study.folder, home.identity(study.settings.secret)) as held:
        tables = {
            name: held.all(f"SELECT * FROM {name} ORDER BY 1, 2") for name in ("person", "seat", "answer", "draft")
        }
    logs = {name: (study.folder / name).read_text() for name in ("raw.jsonl", "identity.jsonl", "annotations.jsonl")}
    stones = [stone.answers for stone in rows.read(study.folder / FORGOTTEN, Tombstone)]
    return {**tables, **logs, "stones": stones, "files": sorted(path.name for path in study.folder.iterdir())}


@pytest.mark.parametrize("called", ["pseudonym", "id", "code"])
def test_nothing_of_the_person_is_in_any_file(called: str, study: Study) -> None:
    """A person is erased by pseudonym, platform id or code; the other person is untouched, and the folder valid."""
    names = worked(study)
    other = Background(study).said([names["BERT"]])
    nonces = [row["nonce"] for row in _seats(study, names["ANNA"])]
    handles = {"pseudonym": names["ANNA"], "id": "ANNA", "code": arrivals.code_of(study.settings.secret, names["ANNA"])}
    done = forget(study, handles[called])
    assert done
    assert (done.answers, len(done.short), done.left) == (3, 3, ())
    assert {have for have, _ in done.short.values()} <= {0, 1}
    assert holding(study, "ANNA", names["ANNA"], "Fiji", *nonces) == []
    assert {row.annotator for row in rows.read(study.folder / "raw.jsonl", Raw)} == {names["BERT"]}
    assert Background(study).said(names.values()) == other
    assert [stone.answers for stone in rows.read(study.folder / FORGOTTEN, Tombstone)] == [3]
    assert check_study(study.folder).right  # type: ignore[union-attr]
    assert forget(study, handles[called]) is None


def _seats(study: Study, name: str) -> list[dict[str, Any]]:
    """Returns a person's seats."""
    with home.reading(study.folder, home.identity(study.settings.secret)) as held:
        return held.all("SELECT * FROM seat WHERE person = ?", name)


def test_a_server_goes_on_and_gives_the_items_out_again(study: Study) -> None:
    """After an erasure the running server has a clean -wal file, an invalid session, and gives the items to others."""
    with opened(study) as address:
        anna = visit(study, address, "ANNA")
        assert forget(study, "ANNA")
        assert holding(study, "ANNA", "Fiji") == []
        assert anna.post("/next").status_code == 401
        bert, cleo = visit(study, address, "BERT"), Visitor(address, "CLEO")
        cleo.come()
        assert bert.work(shown_truth(study)) + cleo.work(shown_truth(study)) == 5
    home.pull(study)
    assert check_study(study.folder).right  # type: ignore[union-attr]


def test_who_was_forgotten_and_comes_again_is_noted_for_pay(study: Study) -> None:
    """The same server runs all the time; the second visit counts as another person with another line."""
    with opened(study) as address:
        Visitor(address, "ANA").come()
        assert forget(study, "ANA")
        Visitor(address, "ANA").come()
    assert [due.person for due in money.dues(study)] == ["ANA"]


@pytest.mark.slow
def test_killed_anywhere_and_run_again_it_ends_the_same(study: Study, tmp_path: Path) -> None:
    """After SIGKILL at each change of a row or file, a second run leaves the same state as one whole run."""
    names = worked(study)
    whole = _copy(study, tmp_path / "whole")
    forget(whole, "ANNA")
    wanted = state(whole)
    place = 0
    for place in range(200):
        tried = _copy(study, tmp_path / f"killed-{place}")
        if not _forget_killed_at(tried, place):
            break
        if (tried.folder / FORGETTING).exists():
            assert not check_study(tried.folder).right  # type: ignore[union-attr]
        forget(tried, "ANNA")
        assert holding(tried, "ANNA", names["ANNA"], "Fiji") == [], place
        assert state(tried) == wanted, place
        assert check_study(tried.folder).right  # type: ignore[union-attr]
        shutil.rmtree(tried.folder)
    assert place > 12


def _copy(study: Study, folder: Path) -> Study:
    """Returns a copy of a study."""
    shutil.copytree(study.folder, folder)
    return open_study(folder)


def _forget_killed_at(study: Study, place: int) -> bool:
    """Forks a process that erases somebody and kills itself at one change. Returns True if it was killed."""
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    remaining = iter(range(place, -1, -1))

    def counting(real: Any) -> Any:
        def change(*arguments: Any, **named: Any) -> Any:
            if next(remaining) == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **named)

        return change

    try:
        for owner, name in ((os, "replace"), (Path, "unlink"), (Rows, "run"), (Rows, "put"), (rows, "append")):
            setattr(owner, name, counting(getattr(owner, name)))
        forget(study, "ANNA")
    finally:
        os._exit(0)


def test_the_items_of_a_closed_study_are_named_and_stay_closed(study: Study) -> None:
    """The command names the items that lack judgements and the money owed, and says that no one is asked any more."""
    worked(study)
    home.close(study)
    shown = CliRunner().invoke(app, ["annotate", "forget", str(study.folder), "ANNA"])
    assert shown.exit_code == 0
    assert "1 person and 3 answers erased" in shown.output
    assert "3 items short of judgements, nobody is asked any more" in " ".join(shown.output.split())
    assert "ANNA" not in shown.output
    again = CliRunner().invoke(app, ["annotate", "forget", str(study.folder), "ANNA", "--json"])
    assert (again.exit_code, json.loads(again.output)) == (1, {"found": False})


def test_files_that_still_name_the_person_are_named(study: Study) -> None:
    """A copy of the data in the folder is listed for the researcher to delete."""
    names = worked(study)
    shutil.copy(study.folder / "identity.jsonl", study.folder / "copy.txt")
    shown = CliRunner().invoke(app, ["annotate", "forget", str(study.folder), names["ANNA"]])
    assert (shown.exit_code, "copy.txt" in shown.output) == (1, True)


def test_who_was_invited_and_never_came_is_erased_by_address(study: Study) -> None:
    """The person's line in people.jsonl is erased; the links of others still work."""
    links = people.invite(study, ["ana@example.org", "ben@example.org"])
    done = forget(study, "Ana@example.org")
    assert done
    assert (done.answers, holding(study, "ana@example.org")) == (0, [])
    assert people.expected(study, links["ben@example.org"]).email == "ben@example.org"


def test_texts_that_a_person_wrote_are_erased(tmp_path: Path) -> None:
    """The person's sentence is in no file, and the term waits for another writer."""
    made = create(tmp_path / "w", kind="write-intrasentence", items=terms(1), overlap=1, contact="a@example.org")
    (made.folder / "study.toml").write_text(TOML)
    reply = {"context": "The baker is BLANK.", "stereotype": "zorbish", "anti_stereotype": "late", "unrelated": "cubic"}
    with opened(made) as address:
        anna = Visitor(address, "ANNA")
        anna.come()
        anna.post("/answer", {"nonce": anna.next()["nonce"], "answers": reply})
    assert home.pull(made).records == 1
    done = forget(made, "ANNA")
    assert done
    assert [*done.short.values()] == [(0, 1)]
    assert holding(made, "zorbish", "ANNA") == []


def test_a_study_without_a_store_erases_a_worker(tmp_path: Path) -> None:
    """Answers from a platform's CSV are erased by the platform's names; a study on Label Studio is refused."""
    made = create(tmp_path / "m", kind="validate-cats", items=bakers(1), overlap=2)
    (token,) = made.keys
    answers = [Raw(annotation=f"A{n}/{token}", updated="1", token=token, annotator=f"W{n}", at="1") for n in (1, 2)]
    rows.append(answers, made.folder / "raw.jsonl")
    done = forget(made, "W1")
    assert done
    assert (done.answers, [*done.short.values()], holding(made, "W1")) == (1, [(1, 2)], [])
    with pytest.raises(ValueError, match="Label Studio"):
        forget(made.saved(project=3), "W2")


def test_identities_are_erased_and_answers_stay(study: Study, tmp_path: Path) -> None:
    """Ids and key are erased; answers, background and pseudonyms stay; the withdrawal code still erases a person."""
    names = worked(study)
    with pytest.raises(ValueError, match="not closed"):
        erase_identities(study)
    Journal(study).note(Entry(step="paid", id="bonus-1"))
    before = (study.folder / "raw.jsonl").read_bytes()
    for _ in range(2):  # a second time changes nothing
        done = CliRunner().invoke(app, ["annotate", "close", str(study.folder), "--erase-identities", "--yes"])
        assert done.exit_code == 0, done.output
        assert "2 pseudonyms" in done.output
    closed = open_study(study.folder)
    assert holding(closed, "ANNA", "BERT", "S-ANNA") == []
    assert not (study.folder / arrivals.KEY).exists()
    assert (study.folder / "raw.jsonl").read_bytes() == before
    assert check_study(study.folder).right  # type: ignore[union-attr]
    paid = CliRunner().invoke(app, ["annotate", "pay", str(study.folder), "--out", str(tmp_path / "pay")])
    assert paid.exit_code != 0
    assert "erase-identities" in str(paid.exception)
    assert forget(closed, "ANNA") is None
    done_ = forget(closed, arrivals.code_of(study.settings.secret, names["ANNA"]))
    assert done_
    assert (done_.answers, done_.left) == (3, ())
    assert not (study.folder / arrivals.KEY).exists()


def test_what_people_were_promised_to_be_erased_is_told_until_it_is(study: Study) -> None:
    """After closing, `close` and `status` name the day by which identities must be erased, until they are erased."""
    worked(study)
    with (study.folder / "study.toml").open("a") as toml:
        toml.write("[ethics]\nretention_days = 90\n")
    assert facts(study).erase_by == ""
    command, status = (["annotate", act, str(study.folder)] for act in ("close", "status"))
    assert "erased by" in CliRunner().invoke(app, command).output
    day = (date.fromisoformat(open_study(study.folder).settings.closed[:10]) + timedelta(days=90)).isoformat()
    assert facts(open_study(study.folder)).erase_by == day
    assert f"erased by {day}" in " ".join(CliRunner().invoke(app, status).output.split())
    Journal(study).note(Entry(step="paid", id="bonus-1"))
    erase_identities(open_study(study.folder))
    assert facts(open_study(study.folder)).erase_by == ""


def test_identities_are_not_erased_while_people_are_owed_money(study: Study) -> None:
    """The error gives the sum and the command that lists the people to pay; paid bonuses are no longer included."""
    worked(study)
    Journal(study).note(Entry(step="unpaid", id="bonus-1"))
    owed = facts(study).money.owed
    assert forgetting.unpaid(study) == (2, owed)
    before = (study.folder / arrivals.LOG).read_bytes()
    done = CliRunner().invoke(app, ["annotate", "close", str(study.folder), "--erase-identities"])
    assert isinstance(done.exception, ValueError)
    for each in (money.decimal(owed), "catsofa annotate pay", "prolific settle", "--yes"):
        assert each in str(done.exception)
    assert (study.folder / arrivals.LOG).read_bytes() == before
    for due in money.dues(study):
        Journal(study).note(Entry(step="pay", id=due.name, owed={due.name: due.due}))
        Journal(study).note(Entry(step="paid", id=due.name))
    assert forgetting.unpaid(study) == (0, 0)
    done = CliRunner().invoke(app, ["annotate", "close", str(study.folder), "--erase-identities"])
    assert done.exit_code == 0, done.output


def test_what_was_owed_is_still_in_the_status_without_identities(study: Study) -> None:
    """Sums need no names; only payment lists do."""
    worked(study)
    before = facts(study).money.owed
    home.close(study)
    Journal(study).note(Entry(step="paid", id="bonus-1"))
    erase_identities(open_study(study.folder))
    assert facts(open_study(study.folder)).money.owed == before > 0
    done = CliRunner().invoke(app, ["annotate", "status", str(study.folder)])
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception


def test_identities_are_not_erased_while_a_server_notes_them(study: Study) -> None:
    """A running server would record whoever opens the link afterwards."""
    with opened(study) as address:
        visit(study, address, "ANNA")
        home.close(study)
        with pytest.raises(ValueError, match="server"):
            erase_identities(open_study(study.folder))
    assert erase_identities(open_study(study.folder)) == (1, ())


def test_what_still_leads_to_people_is_named_when_identities_are_erased(study: Study, tmp_path: Path) -> None:
    """The command names a payment list in the folder and the key of the study whose pseudonyms are shared."""
    worked(study)
    second = create(tmp_path / "t", kind="validate-cats", items=bakers(4), overlap=1, contact="a@example.org")
    (second.folder / "study.toml").write_text(TOML + '[people]\nsame_as = "../s"\n')
    with opened(second) as address:
        visit(second, address, "ANNA")
    money.write([*money.dues(second)], second.folder / "paid")
    done = CliRunner().invoke(app, ["annotate", "close", str(second.folder), "--erase-identities", "--yes"])
    assert done.exit_code == 1
    for each in ("paid/payments.csv", "identity.key"):
        assert each in done.output
    assert "study.db" not in done.output


def test_identities_stay_while_a_payment_may_be_lost(study: Study) -> None:
    """Identities stay while a payment may be lost, because afterwards its recipient could not be found."""
    worked(study)
    home.close(study)
    with pytest.raises(ValueError, match="may be lost"):
        erase_identities(open_study(study.folder))

"""Tests of the server of an open study over HTTP, from a person's entry to the completion code."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from helpers.records import a_cat, bakers, terms
from helpers.servers.crowd_server import CONTACT, PROLIFIC, Visitor, opened, shown_truth, study_in
from helpers.servers.postgres_server import BOTH
from typer.testing import CliRunner

from catsofa.annotation.crowd import home, seats
from catsofa.annotation.results import answers as judged
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.study import Study, create, rows
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.data.files.jsonl import read
from catsofa.data.records import Cat
from catsofa.validation.judgements import Rule, count

pytestmark = pytest.mark.usefixtures("quick")


def test_somebody_from_prolific_consents_works_and_gets_the_code(study: Study, address: str) -> None:
    """The warning comes first, no task comes before consent, and the last page shows the code of the outcome."""
    ana = Visitor(address)
    first = ana.browser.get("/", params=ana.names).text
    warning, consent, skip, box = (first.index(w) for w in ("Content warning", "Your consent", "Opting out", "I am 18"))
    assert warning < consent < skip < box
    assert CONTACT in first
    assert ana.post("/next").status_code == 401
    assert ana.come().headers["location"] == "work"
    page = ana.browser.get("/work").text
    assert "Our neighbour, the baker, is up" not in page
    assert ana.browser.get("/done").headers["location"] == "work"
    assert ana.work(shown_truth(study)) == 6
    end = ana.browser.get("/done").text
    assert "https://app.prolific.com/submissions/complete?cc=DONE1" in end
    assert home.pull(study).new == 6
    assert {row.annotator[:1] for row in rows.read(study.folder / "raw.jsonl", Raw)} == {"p"}
    for file in ("raw.jsonl", "annotations.jsonl"):
        assert "PID1" not in (study.folder / file).read_text()
    assert "PID1" in (study.folder / "identity.jsonl").read_text()


@BOTH
def test_twenty_at_once_give_each_item_exactly_what_was_asked(tmp_path: Path, store: str) -> None:
    """Ten items for five people, twenty people: 50 judgements count, in the store, by the vote rule and in `status`."""
    study = study_in(tmp_path, items=bakers(10), overlap=5)
    with opened(study, store=store) as address:
        truth = shown_truth(study)

        def visit(n: int) -> Visitor:
            visitor = Visitor(address, f"PID{n}")
            visitor.come()
            visitor.work(truth)
            return visitor

        with ThreadPoolExecutor(20) as pool:
            people = list(pool.map(visit, range(20)))
        assert "503" not in {page.browser.get("/done").status_code for page in people}
    home.pull(study)
    counts = count(judged.annotations(study), Rule(need=1, of=5), lambda a: str(a.extra["task"]))
    assert {seat.taken for seat in counts.seats.values()} == {5}
    report = json.loads(CliRunner().invoke(app, ["annotate", "status", str(study.folder), "--json"]).output)
    assert (report["counted"], report["wanted"], report["over"], report["repeats"]) == (50, 50, 0, 0)
    assert len(list(rows.read(study.folder / "raw.jsonl", Raw))) == sum(len(v.acknowledged) for v in people)
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.right


def test_who_does_not_agree_leaves_nothing(study: Study, address: str) -> None:
    """Such people get the code for it, but no name is recorded and no task given. Without the age box
    nobody can start.
    """
    ben = Visitor(address, "BEN")
    assert ben.come(agree="no").headers["location"] == "done"
    assert "cc=NOPE2" in ben.browser.get("/done").text
    assert ben.next() == {"done": True}
    assert "BEN" not in (study.folder / "identity.jsonl").read_text()
    assert Visitor(address, "EVE").come(age="").status_code == 400


def test_a_browser_asks_for_the_missing_tick_and_never_for_it_from_who_declines(address: str) -> None:
    """The age box is required, but not for the button that declines."""
    form = Visitor(address, "EVE").browser.get("/", params={"PROLIFIC_PID": "EVE", "SESSION_ID": "S"}).text
    assert ' id="age" required>' in form
    assert '<button name="agree" value="no" formnovalidate>' in form


def test_who_declines_and_then_agrees_is_not_noted(study: Study, address: str) -> None:
    """The first decision holds, and no file contains their name."""
    eve = Visitor(address, "EVE-OF-PROLIFIC")
    assert eve.come(agree="no").headers["location"] == "done"
    assert eve.come().headers["location"] == "done"
    assert [path for path in study.folder.iterdir() if b"EVE-OF-PROLIFIC" in path.read_bytes()] == []


def test_a_choice_is_named_once(study: Study, address: str) -> None:
    """For a question with several choices, a choice named twice is refused, and the task stays."""
    eve = Visitor(address, "EVE")
    eve.come()
    task, labels = eve.next(), {f"label_{k}": "unrelated" for k in (1, 2, 3)}
    answer = eve.post("/answer", {"nonce": task["nonce"], "answers": {**labels, "issues": ["ungrammatical"] * 2}})
    assert (answer.status_code, "issues" in answer.json()["error"]) == (422, True)
    assert eve.next()["nonce"] == task["nonce"]


def test_another_device_and_a_reload_show_the_same_task_with_what_was_filled_in(study: Study, address: str) -> None:
    """The link opened on a second device leads to the same task; another submission is refused."""
    phone, laptop = Visitor(address), Visitor(address)
    phone.come()
    task = phone.next()
    phone.post("/draft", {"nonce": task["nonce"], "answers": {"label_2": "unrelated"}})
    laptop.come()
    again = laptop.next()
    assert (again["nonce"], again["draft"]) == (task["nonce"], {"label_2": "unrelated"})
    sent = {"nonce": task["nonce"], "answers": shown_truth(study)(task["task"])}
    assert [device.post("/answer", sent).status_code for device in (phone, laptop)] == [200, 200]
    assert len(list(rows.read(study.folder / "raw.jsonl", Raw))) == 0
    assert home.pull(study).new == 1
    other = Visitor(address, submission="S-other")
    assert other.come().status_code == 403
    assert "S-other" not in (study.folder / "identity.jsonl").read_text()


def test_the_first_page_is_the_same_for_everybody(study: Study, address: str) -> None:
    """The page differs only by the names in the link for new, working and finished people."""
    for name in ("AT1", "END"):
        Visitor(address, name).come()
    done = Visitor(address, "END")
    done.come()
    done.browser.post("/stop", data={"sure": "yes"})
    pages = {Visitor(address, n).browser.get("/", params=Visitor(address, n).names).text.replace(n, "X") for n in
             ("NEW", "AT1", "END")}  # fmt: skip
    assert len(pages) == 1


def test_who_fails_the_checks_ends_with_that_code_and_counts_for_nothing(tmp_path: Path) -> None:
    """After two wrong checks, despite right gold items, the study ends for the person; others take their places."""
    toml = PROLIFIC + "checks_every = 3\n"
    study = study_in(tmp_path, toml, items=bakers(8), checks=bakers(9, "miller"), overlap=1)
    with opened(study) as address:
        bad = Visitor(address, "BAD")
        bad.come()
        assert bad.work(shown_truth(study, "item gold")) < 10
        assert "cc=FAIL3" in bad.browser.get("/done").text
        good = Visitor(address, "GOOD")
        good.come()
        good.work(shown_truth(study))
    home.pull(study)
    counts = count(judged.annotations(study), Rule(need=1, of=1), lambda a: str(a.extra["task"]))
    assert {seat.taken for seat in counts.seats.values()} == {1}
    assert len({a.annotator for a in judged.annotations(study) if a.extra.get("invalid")}) == 1


def test_who_withdraws_is_erased_and_keeps_the_code(study: Study, address: str) -> None:
    """A withdrawn person's answers are in no file, and their items are open again."""
    ana = Visitor(address)
    ana.come()
    ana.work(shown_truth(study), at_most=3)
    home.pull(study)
    ana.browser.post("/stop", data={"sure": "yes"})
    ana.browser.post("/withdraw", data={"sure": "yes"})
    end = ana.browser.get("/done").text
    assert "deleted" in end
    assert "DONE1" in end
    home.pull(study)
    assert list(rows.read(study.folder / "raw.jsonl", Raw)) == []
    with home.reading(study.folder, home.identity(study.settings.secret)) as held:
        assert set(seats.counted(held).values()) == {0}


def test_texts_are_checked_while_they_are_written_by_the_rules_of_pull(tmp_path: Path) -> None:
    """A draft gets its current problems; the server refuses what pull would refuse; an accepted text becomes a CAT."""
    study_ = create(tmp_path / "w", kind="write-intrasentence", items=terms(1), overlap=1, contact=CONTACT)
    (study_.folder / "study.toml").write_text(PROLIFIC)
    with opened(study_) as address:
        ana = Visitor(address)
        ana.come()
        nonce = ana.next()["nonce"]
        draft = {"nonce": nonce, "answers": {"context": "They are BLANK.", "stereotype": "up early"}}
        reply = ana.post("/draft", draft).json()
        assert reply == {
            "problems": ["the sentence does not name the target 'baker'"],
            "warnings": ["stereotype has 2 words"],
            "hold": 20 * study_.settings.seconds,
        }
        bad = {"context": "no gap here", "stereotype": "same", "anti_stereotype": "same", "unrelated": "same"}
        refused = ana.post("/answer", {"nonce": nonce, "answers": bad})
        assert refused.status_code == 422
        assert "0 BLANK" in refused.json()["error"]
        good = {
            "context": "The baker is BLANK.",
            "stereotype": "early",
            "anti_stereotype": "late",
            "unrelated": "cubic",
        }
        assert ana.post("/answer", {"nonce": nonce, "answers": good}).status_code == 200
    pulled = home.pull(study_)
    assert (pulled.records, pulled.refused) == (1, 0)
    (cat,) = read(study_.folder / "drafts.jsonl", Cat)
    assert cat.context == "The baker is BLANK."


def test_nobody_judges_what_they_wrote_in_an_earlier_study(tmp_path: Path) -> None:
    """`people.same_as` gives a person the same pseudonym in both studies."""
    writing = create(tmp_path / "w", kind="write-intrasentence", items=terms(1), overlap=1, contact=CONTACT)
    (writing.folder / "study.toml").write_text(PROLIFIC)
    good = {"context": "The baker is BLANK.", "stereotype": "early", "anti_stereotype": "late", "unrelated": "cubic"}
    with opened(writing) as address:
        ana = Visitor(address, "ANA")
        ana.come()
        ana.post("/answer", {"nonce": ana.next()["nonce"], "answers": good})
    home.pull(writing)
    toml = PROLIFIC + '[people]\nsame_as = "../w"\n'
    study = study_in(
        tmp_path, toml, items=[*read(writing.folder / "drafts.jsonl", Cat), *bakers(1)], gold=(), checks=()
    )
    with opened(study) as address:
        done = {}
        for name in ("ANA", "BEN"):
            visitor = Visitor(address, name)
            visitor.come()
            done[name] = visitor.work(shown_truth(study))
    assert done == {"ANA": 1, "BEN": 2}


def test_words_that_look_like_html_stay_words(tmp_path: Path) -> None:
    """No text of the data is in a page; the title and the names in the link are escaped."""
    evil = a_cat("The zorb is BLANK.", target="<script>alert(1)</script>", id="")
    study = study_in(tmp_path, items=[evil], gold=(), checks=(), title="<b>Bold</b> & more", overlap=1)
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        pages = [ana.browser.get(path, params=ana.names).text for path in ("/", "/work")]
        assert not any("<script>alert" in page or "<b>Bold" in page for page in pages)
        assert ana.next()["task"]["target"] == evil.target
        assert ana.browser.get("/", params={**ana.names, "PROLIFIC_PID": '"><script>'}).status_code == 400


def test_a_full_disk_acknowledges_nothing_and_the_server_goes_on(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is refused with 503 while the store cannot grow; sent again later, it is stored once."""
    stores: list[Any] = []
    real = home.Store.__init__
    monkeypatch.setattr(home.Store, "__init__", lambda self, *a: stores.append(self) or real(self, *a))
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        task = ana.next()
        sent = {"nonce": task["nonce"], "answers": shown_truth(study)(task["task"])}
        connection = stores[-1]._connection
        stores[-1].do(lambda held: held.run("PRAGMA max_page_count = 1"))
        big = stores[-1].submit(lambda held: held.run("INSERT INTO draft VALUES ('x', ?)", "x" * 2_000_000))
        with pytest.raises(ValueError, match="cannot be written"):
            big.result()
        stores[-1].do(lambda held: held.run("PRAGMA max_page_count = 100000"))
        assert connection is stores[-1]._connection
        assert ana.post("/answer", sent).status_code == 200
    assert home.pull(study).new == 1

"""Tests of people at an open study whom a simulated Prolific does not know."""

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from helpers.records import bakers
from helpers.servers.crowd_server import Visitor, opened, shown_truth
from helpers.servers.prolific_server import TOKEN, Prolific, serving

from catsofa.annotation.crowd import home, money
from catsofa.annotation.crowd.http import watching
from catsofa.annotation.crowd.owner.decisions import decide
from catsofa.annotation.crowd.people.forgetting import erase_identities, forget
from catsofa.annotation.crowd.store import Rows, identity, reading
from catsofa.annotation.prolific import client, settle, watch
from catsofa.annotation.prolific.journal import Entry, Journal
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.checks import check_study

LATER = 4e9
"""A time long after all arrivals."""


@pytest.fixture
def prolific(monkeypatch: pytest.MonkeyPatch) -> Iterator[Prolific]:
    """Starts a Prolific that accepts the token in the environment."""
    with serving() as server:
        monkeypatch.setattr(client, "API", server.url)
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        yield server


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of two CATs for one person each, created on Prolific."""
    study_ = create(
        tmp_path / "s", kind="validate-cats", items=bakers(2), overlap=1, contact="a@example.org", language="English"
    )
    (study_.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "C" }\n')
    Journal(study_).note(Entry(step="study", id="STUDY1"))
    return study_


def states(study: Study) -> dict[str, str]:
    """Returns the state of each person, by submission."""
    with reading(study.folder, identity(study.settings.secret)) as held:
        return {row["submission"]: row["state"] for row in held.all("SELECT * FROM person ORDER BY number")}


def look(study: Study, now: float) -> None:
    """Compares with Prolific once."""
    with home.open_store(study) as store:
        store.do(watch.compared(study, forget, now))


def known(study: Study, prolific: Prolific) -> None:
    """Lets a person whom Prolific knows arrive and leave at once."""
    with opened(study) as address:
        visitor = Visitor(address, "KNOWN")
        visitor.come()
        visitor.browser.post("/stop", data={"sure": "yes"})
    prolific.hand_in("S-KNOWN", "KNOWN")


def until(true: Callable[[], bool]) -> None:
    """Waits until the condition is true, a minute at most."""
    end = time.monotonic() + 60
    while not true():
        assert time.monotonic() < end, "it did not come to be so"
        time.sleep(0.05)


def worked(study: Study, *people: str) -> None:
    """People arrive and do all remaining tasks."""
    with opened(study) as address:
        for name in people:
            visitor = Visitor(address, name)
            visitor.come()
            visitor.work(shown_truth(study))


def test_judgements_of_somebody_prolific_does_not_know_do_not_count(study: Study, prolific: Prolific) -> None:
    """The items are open again; a person whom Prolific knows judges them, and those judgements stay."""
    known(study, prolific)
    worked(study, "FORGED")
    look(study, LATER)
    assert [*states(study).values()] == ["finished", "voided"]
    with home.open_store(study) as store:
        assert store.do(home.missing) == 2
    worked(study, "REAL")
    prolific.hand_in("S-REAL", "REAL")
    look(study, LATER)
    assert [*states(study).values()] == ["finished", "voided", "finished"]
    with home.open_store(study) as store:
        assert store.do(home.missing) == 0


@pytest.mark.parametrize("agrees", [True, False])
def test_a_real_name_with_an_invented_submission_does_not_lock_the_person_out(
    agrees: bool, study: Study, prolific: Prolific
) -> None:
    """A forger works or declines as ANA: their data is erased once Prolific lists ANA's own submission."""
    known(study, prolific)
    with opened(study) as address:
        forger = Visitor(address, "ANA", "S-INVENTED")
        forger.come(agree="yes" if agrees else "no")
        if agrees:
            forger.work(shown_truth(study))
        ana = Visitor(address, "ANA")
        assert ana.come().status_code == 403
        look(study, 0.0)
        assert ana.come().status_code == 403  # Prolific lists no submission of ANA yet
        prolific.hand_in("S-ANA", "ANA", "ACTIVE")
        look(study, 0.0)
        assert ana.come().headers["location"] == "work"
        assert forger.browser.post("/next", json={}).status_code == 401
        ana.work(shown_truth(study))
    look(study, LATER)
    assert [*states(study).values()][-1] == "finished"
    assert [due.submission for due in money.dues(study) if due.person == "ANA"] == ["S-ANA"]
    with home.open_store(study) as store:
        assert store.do(home.missing) == 0


def test_nobody_makes_room_for_a_person_where_prolific_lists_nobody_who_came(study: Study, prolific: Prolific) -> None:
    """If Prolific's ids differed from those of the link, everybody's work would be erased."""
    worked(study, "ANA")
    prolific.hand_in("S-OTHER", "ANA", "ACTIVE")
    look(study, 0.0)
    assert [*states(study).values()] == ["finished"]


def test_judgements_of_a_rejected_submission_do_not_count_as_long_as_it_is_rejected(
    study: Study, prolific: Prolific
) -> None:
    """The items open again, and close when the rejection is withdrawn; a restore by the owner stays."""
    worked(study, "ANA")
    for status, state, missing in (("REJECTED", "voided", 2), ("APPROVED", "finished", 0), ("REJECTED", "voided", 2)):
        prolific.hand_in("S-ANA", "ANA", status)
        for _ in range(2):
            look(study, 0.0)
            assert [*states(study).values()] == [state]
            with home.open_store(study) as store:
                assert store.do(home.missing) == missing
    (name,) = [due.name for due in money.dues(study)]
    with home.open_store(study) as store:
        store.do(lambda held: decide(held, name, "restore", "rejected by mistake", "2027-01-02T00:00:00Z"))
    look(study, 0.0)
    assert [*states(study).values()] == ["finished"]


def test_the_same_submission_with_another_person_is_unknown(study: Study, prolific: Prolific) -> None:
    """A copied SESSION_ID does not make a person known."""
    known(study, prolific)
    worked(study, "FORGED")
    prolific.hand_in("S-FORGED", "SOMEBODY-ELSE")
    look(study, LATER)
    assert [*states(study).values()] == ["finished", "voided"]


def test_nobody_is_set_aside_where_prolific_lists_nobody_who_came(study: Study, prolific: Prolific) -> None:
    """An empty list, or the list of another study, is treated as a fault of the list."""
    known(study, prolific)
    worked(study, "BEN")
    prolific.submissions.clear()
    for _ in range(2):
        with pytest.raises(ValueError, match="none of the 2"):
            look(study, LATER)
        assert [*states(study).values()] == ["finished"] * 2
        prolific.hand_in("S-STRANGER", "STRANGER")
    prolific.hand_in("S-KNOWN", "KNOWN")
    look(study, LATER)
    assert [*states(study).values()] == ["finished", "voided"]


def test_nobody_is_set_aside_whose_name_was_erased(study: Study, prolific: Prolific) -> None:
    """A server that was still running used to set everybody aside."""
    known(study, prolific)
    worked(study, "ANA")
    prolific.hand_in("S-ANA", "ANA")
    home.close(study)
    erase_identities(open_study(study.folder))
    look(study, LATER)
    assert [*states(study).values()] == ["finished"] * 2


def test_nobody_is_set_aside_before_prolific_lists_them(study: Study, prolific: Prolific) -> None:
    """Within ten minutes of arrival nobody is set aside; a submission that is listed late is restored automatically."""
    known(study, prolific)
    worked(study, "REAL")
    look(study, time.time())
    assert [*states(study).values()] == ["finished"] * 2
    look(study, LATER)
    assert [*states(study).values()] == ["finished", "voided"]
    prolific.hand_in("S-REAL", "REAL")
    for _ in range(2):
        look(study, LATER)
        assert [*states(study).values()] == ["finished"] * 2


def test_what_the_owner_restored_stays(study: Study, prolific: Prolific) -> None:
    """A person is set aside only once."""
    known(study, prolific)
    worked(study, "TESTER")
    look(study, LATER)
    with home.open_store(study) as store:
        name = store.do(lambda held: held.all("SELECT name FROM person WHERE state = 'voided'"))[0]["name"]
        store.do(lambda held: decide(held, name, "restore", "a colleague who tried it", "2027-01-01T00:00:00Z"))
    look(study, LATER)
    assert [*states(study).values()] == ["finished"] * 2


def at_work(study: Study, prolific: Prolific, name: str = "ANA") -> None:
    """A person answers one of two tasks and holds the other."""
    with opened(study) as address:
        visitor = Visitor(address, name)
        visitor.come()
        visitor.work(shown_truth(study), at_most=1)
        visitor.next()
    prolific.hand_in(f"S-{name}", name, "ACTIVE")


def held(study: Study) -> int:
    """Returns the number of held tasks."""
    with reading(study.folder, identity(study.settings.secret)) as rows:
        return len(rows.all("SELECT * FROM seat WHERE state = 'held'"))


@pytest.mark.parametrize(("status", "outcome"), [("RETURNED", "returned"), ("TIMED-OUT", "timed_out")])
def test_a_submission_that_is_returned_or_timed_out_frees_the_task_in_hand_at_once(
    study: Study, prolific: Prolific, status: str, outcome: str
) -> None:
    """The answer counts; another person gets the other task; one task is owed, and the owner decides."""
    at_work(study, prolific)
    look(study, time.time())
    assert (held(study), [*states(study).values()]) == (1, ["working"])
    prolific.submissions["S-ANA"]["status"] = status
    for _ in range(2):
        look(study, time.time())
        assert (held(study), [*states(study).values()]) == (0, ["finished"])
    with home.open_store(study) as store:
        assert store.do(home.missing) == 1
    worked(study, "BEN")
    prolific.hand_in("S-BEN", "BEN")
    (ana, ben) = money.payable(study)
    assert (ana.outcome, ana.tasks, ana.due, ben.tasks) == (outcome, 1, study.settings.cents(1), 1)
    todo = settle.plan(study, [*client.Prolific().submissions("STUDY1")], Journal(study))
    assert [due.submission for due in todo.approve] == ["S-BEN"]
    assert dict(todo.left)["S-ANA"] == f"{outcome.replace('_', ' ')} here after 1 task, and {status} on Prolific"
    assert check_study(study.folder).right  # type: ignore[union-attr]


def test_a_submission_that_is_open_again_goes_on(study: Study, prolific: Prolific) -> None:
    """Prolific lets researchers withdraw a return."""
    at_work(study, prolific)
    for status, state in (("RETURNED", "finished"), ("ACTIVE", "working")):
        prolific.submissions["S-ANA"]["status"] = status
        look(study, time.time())
        assert [*states(study).values()] == [state]
    worked(study, "ANA")
    with home.open_store(study) as store:
        assert store.do(home.missing) == 0


def test_a_submission_that_was_approved_ends_with_the_completion_code(study: Study, prolific: Prolific) -> None:
    """The held task is free, and no further pay is due."""
    at_work(study, prolific)
    prolific.submissions["S-ANA"]["status"] = "APPROVED"
    look(study, time.time())
    (ana,) = money.payable(study)
    assert (held(study), ana.outcome, ana.paid_by) == (0, "completed", "approval")
    todo = settle.plan(study, [*client.Prolific().submissions("STUDY1")], Journal(study))
    assert (todo.calls, todo.left) == (0, [])


def test_the_page_of_somebody_whose_submission_timed_out_says_that_their_part_has_ended(
    study: Study, prolific: Prolific
) -> None:
    """The page asks for no return, and shows no code."""
    at_work(study, prolific)
    prolific.submissions["S-ANA"]["status"] = "TIMED-OUT"
    look(study, time.time())
    with opened(study) as address:
        visitor = Visitor(address, "ANA")
        assert visitor.come().headers["location"] == "done"
        page = visitor.browser.get("/done").text
    assert "Your part has ended" in page
    assert "return your submission" not in page
    assert 'id="code"' not in page


def test_the_server_looks_by_itself_and_goes_on_where_prolific_fails(
    study: Study, prolific: Prolific, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """With no grace period the forged person is set aside while the server runs; an error is one line without the
    token.
    """
    monkeypatch.setattr(watching, "EVERY", 0.2)
    monkeypatch.setattr(watch, "GRACE", -1.0)
    known(study, prolific)
    worked(study, "FORGED")
    monkeypatch.setattr(client, "WAITS", (0.01,))
    monkeypatch.setattr(client, "API", "http://127.0.0.1:9")
    with opened(study, watch=watch.watching(study, forget)) as address:
        until(lambda: "not compared" in caplog.text)
        monkeypatch.setattr(client, "API", prolific.url)
        until(lambda: [*states(study).values()] == ["finished", "voided"])
        assert Visitor(address, "NEXT").come().headers["location"] == "work"
    assert TOKEN not in caplog.text


def test_a_server_stops_while_prolific_does_not_answer(study: Study) -> None:
    """A comparison in progress does not delay the stop."""
    called = threading.Event()

    def silent(_: float) -> Callable[[Rows], None]:
        called.set()
        time.sleep(60)
        raise ValueError("no answer")

    with opened(study, watch=silent):
        assert called.wait(60)
        began = time.monotonic()
    assert time.monotonic() - began < 30


def test_a_study_without_token_says_that_nobody_compares(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The notice also appears for studies created by hand."""
    monkeypatch.delenv("PROLIFIC_TOKEN", raising=False)
    assert watch.watching(study, forget) is None
    says: list[str] = []
    with opened(study, says=says):
        pass
    assert any("PROLIFIC_TOKEN" in line for line in says)

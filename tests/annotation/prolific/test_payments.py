"""Tests of submissions on a simulated Prolific: approval, return, rejection, and payments that are made once."""

import json
from pathlib import Path

import pytest
from helpers.annotation.prolific_commands import published, run, said
from helpers.crowds import come
from helpers.servers import prolific_server

from catsofa.annotation.crowd.backups import backup
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.prolific.client import Prolific
from catsofa.annotation.study import Study, open_study
from catsofa.annotation.study.checks import check_study


def worked(study: Study, there: prolific_server.Prolific) -> None:
    """One person did all, one failed two checks, one is at work, one is unknown, one used a foreign name."""
    people = {"all": (10, 3, True), "fails": (10, 0, False), "works": (2, 3, False), "forged": (10, 3, True)}
    come(study, Rules(session=10, first=3, check_every=4), people)
    for name, status in (("all", "AWAITING REVIEW"), ("fails", "AWAITING REVIEW"), ("works", "ACTIVE")):
        there.hand_in(f"S-{name}", f"PID-{name}", status)
    there.hand_in("S-nowhere", "PID-nowhere")
    there.hand_in("S-forged", "PID-another")


def test_submissions_are_settled_by_what_people_did_here(there: prolific_server.Prolific, study: Study) -> None:
    """Complete work is approved; failed checks lead to a return request and pay for the work; mismatches are left."""
    published(study)
    worked(study, there)
    shown = json.loads(run("settle", study, "--json").output)
    assert (shown["approve"], shown["ask_return"], shown["reject"], shown["bonus"]) == (["S-all"], ["S-fails"], [], {})
    assert set(shown["left"]) == {"S-nowhere", "S-forged"}
    assert not there.messages
    done = run("settle", study, "--yes")
    assert done.exit_code == 0, said(done)
    assert there.messages[0][0] == "S-fails"
    assert json.loads(run("state", study, "--json").output)["submissions"]["APPROVED"] == 1
    assert json.loads(run("settle", study, "--json").output)["ask_return"] == []  # one request is enough
    there.submissions["S-fails"]["status"] = "RETURNED"
    done = run("settle", study, "--yes")
    assert done.exit_code == 0, said(done)
    assert there.paid["S-fails"] in range(10, 100, 10)
    assert json.loads(run("settle", study, "--json").output)["bonus"] == {}
    assert [name for name, times in there.times.items() if times != 1] == []
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.right


def test_only_who_failed_the_checks_and_was_asked_before_is_rejected(
    there: prolific_server.Prolific, study: Study
) -> None:
    """Prolific requires 100 characters and a category; a message of 99 is not sent."""
    published(study)
    worked(study, there)
    assert json.loads(run("settle", study, "--reject", "--json").output)["reject"] == []
    run("settle", study, "--yes")
    assert json.loads(run("settle", study, "--reject", "--json").output)["reject"] == ["S-fails"]
    assert run("settle", study, "--reject", "--yes").exit_code == 0
    assert there.submissions["S-fails"]["status"] == "REJECTED"
    with Prolific() as direct, pytest.raises(ValueError, match="99 characters"):
        direct.reject("S-fails", "x" * 99)


def test_one_failed_check_in_a_long_study_is_left_to_the_owner(there: prolific_server.Prolific, study: Study) -> None:
    """For studies of five minutes or more Prolific requires two failed checks, whatever study.toml says."""
    published(study)
    come(study, Rules(session=10, first=3, check_every=4, fail_after=1), {"fails": (10, 0, False)})
    there.hand_in("S-fails", "PID-fails")
    shown = json.loads(run("settle", study, "--json").output)
    assert shown["ask_return"] == []
    assert "2" in shown["left"]["S-fails"]


@pytest.mark.parametrize(
    "rules", [Rules(fast=9.0, fast_limit=2), Rules(session=10, first=3, check_every=4, pause=True)]
)
def test_who_was_paused_is_never_asked_for_a_return_and_is_paid_once_returned(
    rules: Rules, there: prolific_server.Prolific, study: Study
) -> None:
    """Paused people are left to the owner while the submission awaits review, then get a bonus for their tasks."""
    published(study)
    come(study, rules, {"paused": (10, 0, False)})
    there.hand_in("S-paused", "PID-paused")
    shown = json.loads(run("settle", study, "--reject", "--json").output)
    assert (shown["approve"], shown["ask_return"], shown["reject"], shown["bonus"]) == ([], [], [], {})
    assert "paused" in shown["left"]["S-paused"]
    there.submissions["S-paused"]["status"] = "RETURNED"
    assert json.loads(run("settle", study, "--json").output)["bonus"]["S-paused"] > 0


def test_what_changed_meanwhile_does_not_stop_the_rest(
    there: prolific_server.Prolific, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When a person returns between the list and the request, the others are still settled."""
    published(study)
    come(study, Rules(session=10, first=3, check_every=4), {"one": (10, 0, False), "two": (10, 0, False)})
    for name in ("one", "two"):
        there.hand_in(f"S-{name}", f"PID-{name}")
    act = Prolific.ask_return

    def late(self: Prolific, submission: str, reason: str) -> None:
        there.submissions["S-one"]["status"] = "RETURNED"
        act(self, submission, reason)

    monkeypatch.setattr(Prolific, "ask_return", late)
    done = run("settle", study, "--yes")
    assert done.exit_code == 0, said(done)
    assert [submission for submission, _ in there.messages] == ["S-two"]


def returned(there: prolific_server.Prolific, study: Study, count: int) -> dict[str, int]:
    """So many people fail the checks and return. Returns the cents owed to each."""
    published(study)
    names = [f"p{n:03}" for n in range(count)]
    come(study, Rules(session=10, first=3, check_every=4), dict.fromkeys(names, (10, 0, False)))
    for name in names:
        there.hand_in(f"S-{name}", f"PID-{name}", "RETURNED")
    owed: dict[str, int] = json.loads(run("settle", study, "--json").output)["bonus"]
    assert len(owed) == count
    return owed


def test_a_study_and_its_copy_pay_a_bonus_once(there: prolific_server.Prolific, study: Study, tmp_path: Path) -> None:
    """The copy was made before the payment; Prolific's record of the submission shows the paid bonus."""
    owed = returned(there, study, 3)
    backup(study, tmp_path / "copy")
    for folder in (study.folder, tmp_path / "copy"):
        done = run("settle", open_study(folder), "--yes")
        assert done.exit_code == 0, said(done)
    assert there.paid == owed
    assert set(there.times.values()) == {1}
    shown = json.loads(run("settle", open_study(tmp_path / "copy"), "--json").output)
    assert shown["bonus"] == {}
    assert {why.split(" for ")[0] for why in shown["left"].values()} == {"Prolific has paid bonuses"}


def test_no_bonus_is_paid_where_prolific_does_not_say_what_it_paid(
    there: prolific_server.Prolific, study: Study
) -> None:
    """Without the field it is unknown whether a copy of the study has paid."""
    returned(there, study, 1)
    there.alters["/submissions/S-p000/"] = {"bonus_payments": None}
    done = run("settle", study, "--yes")
    assert done.exit_code
    assert "another form than documented" in said(done)
    assert not there.paid


@pytest.mark.parametrize("where", ["", "-"])
def test_a_payment_whose_reply_was_lost_is_made_once(there: prolific_server.Prolific, study: Study, where: str) -> None:
    """200 people are owed a bonus. After a lost reply the second run asks the owner; then each is paid once."""
    owed = returned(there, study, 200)
    there.lose = f"{where}/bulk-bonus-payments/bonus1/pay/"
    assert "lost" in said(run("settle", study, "--yes"))
    for _ in range(2):
        again = run("settle", study, "--yes")
        assert again.exit_code
        assert "--lost-payment" in said(again)
    assert sum(path.endswith("/pay/") for _, path in there.asked) == 1
    done = run("settle", study, "--yes", "--lost-payment", "unpaid" if where else "paid")
    assert done.exit_code == 0, said(done)
    run("settle", study, "--yes")
    assert there.paid == owed
    assert set(there.times.values()) == {1}


def test_a_kill_between_the_note_and_the_payment_asks_the_owner(
    there: prolific_server.Prolific, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A payment that was recorded but never sent is not sent by the next run either."""
    returned(there, study, 2)

    def killed(self: Prolific, payment: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Prolific, "pay_bonuses", killed)
        run("settle", study, "--yes")
    assert "--lost-payment" in said(run("settle", study, "--yes"))
    assert not there.paid


def test_a_payment_that_prolific_refuses_or_misreads_is_not_made(there: prolific_server.Prolific, study: Study) -> None:
    """Bonuses set up with another sum than owed are not paid; the next run retries a refused payment."""
    owed = returned(there, study, 2)
    set_up = "/submissions/bonus-payments/"
    there.alters[set_up] = {"id": "bonus1", "amount": 100.0 * sum(owed.values())}
    assert "none was paid" in said(run("settle", study, "--yes"))
    there.alters[set_up] = {"id": "nowhere", "amount": float(sum(owed.values()))}
    assert "404" in said(run("settle", study, "--yes"))
    assert not there.paid
    there.alters.clear()
    assert run("settle", study, "--yes").exit_code == 0
    assert there.paid == owed

"""Tests of the server of an open study for people of other platforms and for invited people."""

import re
from pathlib import Path

import httpx
import pytest
from helpers.servers.crowd_server import Visitor, opened, shown_truth, study_in

from catsofa.annotation.crowd import money
from catsofa.annotation.label_studio import people

pytestmark = pytest.mark.usefixtures("quick")


def test_people_of_mechanical_turk_preview_work_in_a_tab_and_bring_a_code(tmp_path: Path) -> None:
    """A preview has no form; the framed page sends only to Mechanical Turk, and each person has their own code."""
    study = study_in(tmp_path, '[platform]\nname = "mturk"\n[quality]\nfirst = 3\n')
    with opened(study) as address:
        browser = httpx.Client(base_url=address, trust_env=False, headers={"Origin": address})
        names = {"workerId": "W1", "assignmentId": "A1", "hitId": "H1", "turkSubmitTo": "https://www.mturk.com"}
        preview = browser.get("/", params={**names, "assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})
        assert "Content warning" in preview.text
        assert "<form" not in preview.text
        framed = browser.get("/", params=names)
        assert 'action="https://www.mturk.com/mturk/externalSubmit"' in framed.text
        assert "frame-ancestors https://*.mturk.com" in framed.headers["content-security-policy"]
        assert browser.get("/", params={**names, "turkSubmitTo": "https://evil.example.org"}).status_code == 400
        codes = set()
        for worker in ("W1", "W2"):
            form = {"workerId": worker, "assignmentId": f"A-{worker}", "agree": "yes", "age": "yes"}
            assert browser.post("/consent", data=form).headers["location"] == "work"
            assert browser.post("/stop", data={"sure": "yes"}).status_code == 303
            codes |= set(re.findall(r'id="code">(\w{8})<', browser.get("/done").text))
        assert len(codes) == 2
        assert browser.get("/", params={"PROLIFIC_PID": "P", "SESSION_ID": "S"}).status_code == 400


def test_people_of_connect_get_the_code_of_their_outcome_and_no_link_elsewhere(tmp_path: Path) -> None:
    """Connect sends participant, assignment and project; codes come from the study, and payment is by assignment."""
    codes = 'codes = { completed = "DONE1", no_consent = "NOPE2" }'
    study = study_in(tmp_path, f'[platform]\nname = "connect"\n{codes}\n[quality]\nfirst = 3\n', overlap=1)
    says = list[str]()
    with opened(study, says=says) as address:
        assert any("participantId and assignmentId" in line for line in says)
        for number, agree in enumerate(("yes", "no", "yes")):
            names = {"participantId": f"P{number}", "assignmentId": f"A{number}", "projectId": "J1"}
            visitor = Visitor(address)
            first = visitor.browser.get("/", params=names)
            assert (first.status_code, "P1" in first.text, "J1" in first.text) == (200, number == 1, False)
            visitor.browser.post("/consent", data={**names, "agree": agree, "age": "yes"})
            if number == 0:
                visitor.work(shown_truth(study))
            end = visitor.browser.get("/done").text
            assert ("DONE1" in end, "NOPE2" in end, "prolific" in end) == (number == 0, number == 1, False)
            assert ("return your submission" in end) == (number == 2)  # no work is left, and no code for this outcome
        for missing in ("participantId", "assignmentId"):
            incomplete = {name: value for name, value in names.items() if name != missing}
            assert httpx.get(address, params=incomplete, trust_env=False).status_code == 400
    dues = [*money.dues(study)]
    assert [(due.person, due.submission, due.paid_by) for due in dues] == [("P0", "A0", "approval"), ("P2", "A2", "")]
    assert money.write(dues, tmp_path / "out")["approve.txt"] == 1
    assert (tmp_path / "out" / "approve.txt").read_text() == "A0\n"


def test_invited_people_come_by_their_own_link(tmp_path: Path) -> None:
    """A link is for one person and any number of devices; an invented link is refused after the same first page."""
    study = study_in(tmp_path, "[quality]\nfirst = 3\n")
    links = people.invite(study, ["ana@example.org", "ben@example.org"])
    with opened(study) as address:
        for code, status in ((links["ana@example.org"], 303), (links["ana@example.org"], 303), ("made-up", 403)):
            browser = httpx.Client(base_url=address, trust_env=False, headers={"Origin": address})
            assert "I have read this" in browser.get(f"/i/{code}").text
            answer = browser.post("/consent", data={"invitation": code, "agree": "yes", "age": "yes"})
            assert answer.status_code == status
    assert (study.folder / "identity.jsonl").read_text().count("ana@example.org") == 2  # one line, two fields


@pytest.mark.parametrize("end", ["stop", "decline"])
def test_who_was_invited_beside_prolific_gets_a_code_of_their_own(tmp_path: Path, end: str) -> None:
    """The last page has no code and no link of Prolific, and asks nobody to return a submission."""
    study = study_in(tmp_path)
    codes = list(people.invite(study, ["ana@example.org", "ben@example.org"]).values())
    with opened(study) as address:
        shown_codes = set()
        for code in codes:
            browser = httpx.Client(base_url=address, trust_env=False, headers={"Origin": address})
            agree = "no" if end == "decline" else "yes"
            browser.post("/consent", data={"invitation": code, "agree": agree, "age": "yes"})
            browser.post("/stop", data={"sure": "yes"})
            last = browser.get("/done").text
            assert "Prolific" not in last
            assert "return your submission" not in last
            shown_codes |= set(re.findall(r'id="code">(\w{8})<', last))
    assert len(shown_codes) == 2

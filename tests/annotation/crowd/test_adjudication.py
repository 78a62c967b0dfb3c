"""The owner decides what votes leave undecided: stored beside the votes, shown and released apart from them."""

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from helpers.records import bakers
from helpers.servers.crowd_owner import Owner, served
from helpers.servers.crowd_server import Visitor, shown_truth
from typer.testing import CliRunner

from catsofa.annotation.crowd import home
from catsofa.annotation.crowd.http import site
from catsofa.annotation.results import adjudications
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.judging.adjudicated import Adjudicated
from catsofa.data.records import Term


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """People of these tests work faster than people do, and the owner looks again at once."""
    monkeypatch.setattr(site, "BY_SESSION", (1000.0, 1000.0))
    monkeypatch.setattr(site, "BY_ADDRESS", (1000.0, 1000.0))
    monkeypatch.setattr("catsofa.annotation.crowd.owner.desk.FRESH", -1.0)


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Four CATs for two people."""
    made = create(tmp_path / "study", kind="validate-cats", items=bakers(4), overlap=2, contact="a@example.org")
    codes = '[platform]\nname = "prolific"\ncodes = { completed = "DONE1" }\n'
    (made.folder / "study.toml").write_text(codes)
    return made


def all_but(study: Study, item: str) -> Callable[[Mapping[str, str]], dict[str, str]]:
    """What is right about every task; of this CAT each label is wrong."""
    truth, turned = shown_truth(study), shown_truth(study, "none")
    context = study.items[item].candidates[0].text
    return lambda shown: (turned if context in shown.values() else truth)(shown)


def judged(study: Study, owner: Owner) -> str:
    """Two people judge everything and disagree about the first CAT alone; the name of its task."""
    item = next(iter(study.items))
    for n, judge in enumerate((shown_truth(study), all_but(study, item))):
        visitor = Visitor(owner.address, f"PID{n}")
        visitor.come()
        visitor.work(judge)
    owner.enter()
    home.pull(study)
    return next(token for token, key in study.keys.items() if key.item == item)


def said(*arguments: Any) -> dict[str, Any]:
    """What a command prints for machines."""
    found = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert found.exit_code == 0, found.output
    answer: dict[str, Any] = json.loads(found.output)
    return answer


def votes_of(study: Study) -> dict[str, Any]:
    """The votes, without their signature."""
    found = said("validate", "votes", "--in", study.folder / "annotations.jsonl", "--need", 2, "--of", 2)
    return {name: value for name, value in found.items() if name != "signature"}


def sent(study: Study, owner: Owner, label: str = "right", reason: str = "most of us know it") -> list[dict[str, str]]:
    """The forms that decide each question about the first CAT: its written label, or another."""
    cat = next(iter(study.items.values()))
    labels = {each.id: each.label if label == "right" else label for each in cat.candidates}
    return [{"token": owner.token(), "item": name, "label": each, "reason": reason} for name, each in labels.items()]


def test_an_undecided_item_has_its_votes_and_no_names_and_its_text_is_folded_away(study: Study) -> None:
    """One of four CATs is on the owner's page, with counts; its text is inside a closed element with the warning."""
    with served(study) as owner:
        assert owner.browser.get("/owner/item/x").headers["location"] == "/owner"
        task = judged(study, owner)
        assert re.findall(r'href="/owner/item/(\w+)"', owner.page()) == [task]
        page = owner.page(f"/owner/item/{task}")
        folded = re.search(r"<details><summary><b>Content warning.*?</details>", page, re.S)
        assert folded is not None
        texts = [candidate.text for candidate in next(iter(study.items.values())).candidates]
        apart = page.replace(folded[0], "")
        for text in texts:
            assert (text in folded[0], text in apart, text in owner.page()) == (True, False, False)
        assert apart.count("Votes that count: ") == 3
        names = [each["name"] for each in said("annotate", "status", study.folder)["people"]]
        assert len(names) == 2
        assert not any(name in page for name in names)
        decided = next(token for token in study.keys if token != task)
        assert owner.browser.get(f"/owner/item/{decided}").status_code == 404


def test_a_decision_needs_a_session_a_reason_and_an_answer_that_is_shown(study: Study) -> None:
    """Refused decisions leave no file; of two that are taken both are kept, and the later one counts."""
    log = study.folder / "adjudicated.jsonl"
    with served(study) as owner:
        path = f"/owner/item/{judged(study, owner)}"
        form = sent(study, owner)[0]
        refused: list[tuple[dict[str, str], dict[str, str], int]] = [
            ({"token": "0"}, {}, 403),
            ({}, {"Origin": "https://elsewhere.example"}, 403),
            ({"reason": " "}, {}, 422),
            ({"label": "yes"}, {}, 422),
            ({"item": "nothing"}, {}, 422),
        ]
        for change, headers, status in refused:
            assert owner.browser.post(path, data={**form, **change}, headers=headers).status_code == status
        assert owner.browser.post("/owner/item/x", data=form).status_code == 422
        assert not log.exists()
        assert owner.browser.post(path, data=form).status_code == 303
        assert (
            owner.browser.post(path, data={**form, "label": "undecided", "reason": "<b>not sure</b>"}).status_code
            == 303
        )
        page = owner.page(path)
        assert f"you decided {form['label']}. most of us know it" in page
        assert "you left it undecided. &lt;b&gt;not sure&lt;/b&gt;" in page
        assert adjudications.adjudicated(study) == {}
        owner.browser.post(path, data=form)
    assert [row["label"] for row in map(json.loads, log.read_text().splitlines())] == [form["label"], "", form["label"]]
    assert adjudications.adjudicated(study)[form["item"]].label == form["label"]
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.right
    log.write_text(log.read_text().replace("not sure", "so sure"))
    verdict = check_study(study.folder)
    assert verdict
    assert [fault.path for fault in verdict.faults] == [log]


def test_a_decision_is_beside_the_votes_and_changes_none_of_them(study: Study) -> None:
    """`validate votes` says the same but for the decisions, and `validate agreement` the same."""
    agreement = ("validate", "agreement", "--in", study.folder / "annotations.jsonl", "--resamples", 10)
    with served(study) as owner:
        task = judged(study, owner)
        before, agreed = votes_of(study), said(*agreement)
        for form in sent(study, owner):
            assert owner.browser.post(f"/owner/item/{task}", data=form).status_code == 303
        assert f"you decided {form['label']}" in owner.page()
    after = votes_of(study)
    rulings = after.pop("adjudicated")
    assert (after, said(*agreement)) == (before, agreed)
    assert {item: each["label"] for item, each in rulings.items()} == {
        each.id: each.label for each in next(iter(study.items.values())).candidates
    }
    assert {each["reason"] for each in rulings.values()} == {"most of us know it"}
    assert all(each["by_votes"].startswith("split: ") for each in rulings.values())


def test_a_release_has_the_item_with_the_decisions_their_reasons_and_the_votes(study: Study, tmp_path: Path) -> None:
    """Without a decision three CATs are released, with them four; what else the release says of votes is the same."""
    with served(study) as owner:
        task = judged(study, owner)
        release = ("release", study.folder / "items.jsonl", "--study", study.folder, "--need", 2, "--of", 2)
        release = (*release, "--name", "Bakers", "--out")
        before = said(*release, tmp_path / "before")
        for form in sent(study, owner):
            owner.browser.post(f"/owner/item/{task}", data=form)
    after = said(*release, tmp_path / "after")
    assert (before["kept"], after["kept"], before["adjudicated"], after["adjudicated"]) == (3, 4, 0, 1)
    assert before["agreement"] == after["agreement"] == 1.0
    cats = {cat.id: cat for cat in formats.read(tmp_path / "after")}
    for name, cat in cats.items():
        for candidate in cat.candidates:
            ruling = candidate.extra.get("adjudicated")
            expected = {"label": candidate.label, "reason": "most of us know it"}
            assert ruling == (expected if name == next(iter(study.items)) else None)
            assert len(candidate.votes) == 2
    card = (tmp_path / "after" / "README.md").read_text()
    assert "1 of them were confirmed by decisions of the study" in card


def test_decisions_about_a_text_go_with_its_writer(tmp_path: Path) -> None:
    """Where somebody withdraws whose text the owner decided about, the decision and its reason are erased."""
    targets = [Term(category="nationality", term=name, region="Pellora") for name in ("Dravians", "Zorbs")]
    kind = "write-and-judge-associations"
    study = create(tmp_path / "s", kind=kind, items=targets, overlap=1, texts=1, contact="a@example.org")
    (study.folder / "study.toml").write_text('[platform]\nname = "prolific"\ncodes = { completed = "DONE1" }\n')
    with served(study) as owner:
        ana = Visitor(owner.address, "ANA")
        ana.come()
        ana.post("/answer", {"nonce": ana.next()["nonce"], "answers": {"attribute": "tidy"}})
        home.pull(study)
        (token,) = open_study(study.folder).keys.keys() - study.keys.keys()
        about = {"item": f"text-{token}/association", "label": "yes", "reason": "they say so"}
        adjudications.note(study, Adjudicated(at="2027-01-01T00:00:00Z", token=token, **about))
        home.pull(study)
        assert len(adjudications.noted(study)) == 1
        assert ana.browser.post("/withdraw", data={"sure": "yes"}).status_code == 303
        home.pull(study)
    assert adjudications.noted(study) == {}
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.right

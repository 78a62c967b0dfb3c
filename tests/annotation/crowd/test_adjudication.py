"""Tests of adjudication: the owner's decisions on undecided items are stored, shown and released apart
from the votes.
"""

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
from catsofa.annotation.results import adjudications
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.data import formats
from catsofa.data.judging.adjudicated import Adjudicated
from catsofa.data.records import Term

pytestmark = pytest.mark.usefixtures("watched")


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of four CATs for two people."""
    study_ = create(tmp_path / "study", kind="validate-cats", items=bakers(4), overlap=2, contact="a@example.org")
    codes = '[platform]\nname = "prolific"\ncodes = { completed = "DONE1" }\n'
    (study_.folder / "study.toml").write_text(codes)
    return study_


def all_but(study: Study, item: str) -> Callable[[Mapping[str, str]], dict[str, str]]:
    """Returns a judge that answers every task rightly, except that each label of this CAT is wrong."""
    truth, turned = shown_truth(study), shown_truth(study, "none")
    context = study.items[item].candidates[0].text
    return lambda shown: (turned if context in shown.values() else truth)(shown)


def judged(study: Study, owner: Owner) -> str:
    """Two people judge everything and disagree about the first CAT only. Returns the token of its task."""
    item = next(iter(study.items))
    for n, judge in enumerate((shown_truth(study), all_but(study, item))):
        visitor = Visitor(owner.address, f"PID{n}")
        visitor.come()
        visitor.work(judge)
    owner.enter()
    home.pull(study)
    return next(token for token, key in study.keys.items() if key.item == item)


def said(*arguments: Any) -> dict[str, Any]:
    """Returns the JSON output of a command."""
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    assert result.exit_code == 0, result.output
    answer: dict[str, Any] = json.loads(result.output)
    return answer


def votes_of(study: Study) -> dict[str, Any]:
    """Returns the votes without their signature."""
    votes = said("validate", "votes", "--on", study.folder / "annotations.jsonl", "--need", 2, "--of", 2)
    return {name: value for name, value in votes.items() if name != "signature"}


def sent(
    study: Study, owner: Owner, label: str = "right", reason: str = "most of us know it", by: str = "Ana"
) -> list[dict[str, str]]:
    """Returns the forms that decide each question about the first CAT: its written label, or another."""
    cat = next(iter(study.items.values()))
    labels = {each.id: each.label if label == "right" else label for each in cat.candidates}
    fields = {"token": owner.token(), "cause": "people disagree", "reason": reason, "by": by}
    return [{**fields, "item": name, "label": each} for name, each in labels.items()]


def test_an_undecided_item_shows_each_sentence_with_who_said_what_behind_the_warning(study: Study) -> None:
    """The owner's page lists one of four CATs; sentences and answers are folded behind the warning, sentence by
    sentence.
    """
    with served(study) as owner:
        assert owner.browser.get("/owner/item/x").headers["location"] == "/owner"
        task = judged(study, owner)
        overview = owner.page()
        assert re.findall(r'href="/owner/item/(\w+)">Item \w+</a> <span class="state">(.*?)<', overview) == [
            (task, "3 undecided")
        ]
        page = owner.page(f"/owner/item/{task}")
        folded = re.search(r"<details><summary><b>Content warning.*</details>", page, re.S)
        assert folded is not None
        item = next(iter(study.items.values()))
        for text in (item.context, *(candidate.text for candidate in item.candidates)):
            assert (text in folded[0], text in page.replace(folded[0], ""), text in overview) == (True, False, False)
        names = {each["name"] for each in said("annotate", "status", study.folder)["people"]}
        order = study.keys[task].order
        for place, candidate in enumerate(order, start=1):
            beside = re.search(
                rf'<p class="shown" id="(part-\d+)">([^<]*)</p>\s*<section class="asked" id="label_{place}" '
                r'aria-labelledby="\1">(.*?)</section>',
                page,
                re.S,
            )
            assert beside is not None
            assert beside[2] == next(each.text for each in item.candidates if each.id == candidate)
            assert f'name="item" value="{candidate}"' in beside[3]
            assert {*re.findall(r'href="/owner/person/([^"]+)"', beside[3])} == names
            counts = dict(re.findall(r"<li><b>(\d)</b> ([\w-]+)", beside[3]))
            assert sorted(re.findall(r"<li><b>(\d)</b>", beside[3])) == ["0", "1", "1"], counts
        decided = next(token for token in study.keys if token != task)
        assert owner.browser.get(f"/owner/item/{decided}").status_code == 404


def test_remarks_have_their_authors_and_sentences_that_votes_decide_have_no_form(study: Study) -> None:
    """Two of three sentences are disputed: the third shows its label and no form, and a remark names its author."""
    item = next(iter(study.items.values()))
    truth = shown_truth(study)

    def judge(shown: Mapping[str, str], swap: bool) -> dict[str, Any]:
        right = truth(shown)
        if shown["context"] != item.context or shown["option_1"] not in {each.text for each in item.candidates}:
            return right
        names = sorted(right)
        turned = {names[0]: right[names[1]], names[1]: right[names[0]]} if swap else {}
        return {**right, **turned, **({"issues": ["ungrammatical"]} if swap else {})}

    with served(study) as owner:
        for n in range(2):
            visitor = Visitor(owner.address, f"PID{n}")
            visitor.come()
            visitor.work(lambda shown, swap=bool(n): judge(shown, swap))
        owner.enter()
        (task,) = re.findall(r'href="/owner/item/(\w+)">', owner.page())
        page = owner.page(f"/owner/item/{task}")
    assert "2 of 3 answers are undecided" in page
    assert page.count("<button>Decide</button>") == 2
    assert page.count("The votes decide: ") == 1
    remarks = re.search(r'<div class="notes">(.*?)</div>', page, re.S)
    assert remarks is not None
    assert re.findall(r"<b>(\d)</b> ([a-z ]+?) <a", remarks[1]) == [("1", "ungrammatical")]


def test_a_decision_needs_a_session_a_reason_and_an_answer_that_is_shown(study: Study) -> None:
    """Refused decisions leave no file; both accepted decisions are kept, and the later one counts."""
    log = study.folder / "adjudicated.jsonl"
    with served(study) as owner:
        path = f"/owner/item/{judged(study, owner)}"
        form = sent(study, owner)[0]
        refused: list[tuple[dict[str, str], dict[str, str], int]] = [
            ({"token": "0"}, {}, 403),
            ({}, {"Origin": "https://elsewhere.example"}, 403),
            ({"reason": " "}, {}, 422),
            ({"label": "yes"}, {}, 422),
            ({"by": " "}, {}, 422),
            ({"cause": "a whim"}, {}, 422),
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
        assert f"Ana: {form['label']}. people disagree: most of us know it" in page
        assert "Ana: left undecided. people disagree: &lt;b&gt;not sure&lt;/b&gt;" in page
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
    """`validate votes` differs only in the decisions, and `validate agreement` does not change."""
    agreement = ("validate", "agreement", "--on", study.folder / "annotations.jsonl", "--resamples", 10)
    with served(study) as owner:
        task = judged(study, owner)
        before, agreed = votes_of(study), said(*agreement)
        for form in sent(study, owner):
            assert owner.browser.post(f"/owner/item/{task}", data=form).status_code == 303
        assert "3 undecided, 3 of them decided here" in owner.page()
    status = CliRunner().invoke(app, ["annotate", "status", str(study.folder)]).output
    assert "1 undecided item, 1 decided by hand" in status
    assert (
        "owed so far USD 1.00, expected in all USD 1.00, at worst USD 1.00" in status
    )  # two people, four tasks of 30 s
    assert "owner's page" not in status
    after = votes_of(study)
    rulings = after.pop("adjudicated")
    assert (after, said(*agreement)) == (before, agreed)
    assert {item: each["label"] for item, each in rulings.items()} == {
        each.id: each.label for each in next(iter(study.items.values())).candidates
    }
    assert {(each["reason"], each["cause"], each["by"]) for each in rulings.values()} == {
        ("most of us know it", "people disagree", "Ana")
    }
    assert all(each["by_votes"].startswith("split: ") for each in rulings.values())


def test_of_two_people_who_decide_differently_both_are_kept_and_no_label_counts_until_they_agree(study: Study) -> None:
    """A different label from Ben leaves no decision; the same label from Ben, also as `BEN`, restores the decision."""
    with served(study) as owner:
        task = judged(study, owner)
        form = sent(study, owner)[0]
        other = next(label for label in ("stereotype", "unrelated") if label != form["label"])
        counted = []
        for change in ({}, {"by": "Ben", "label": other}, {"by": "BEN"}, {"label": "undecided"}):
            owner.browser.post(f"/owner/item/{task}", data={**form, **change})
            decisions = adjudications.adjudicated(study)
            counted.append((form["item"] in decisions, decisions[form["item"]].by if decisions else ""))
        assert counted == [(True, "Ana"), (False, ""), (True, "BEN"), (False, "")]
        page = owner.page(f"/owner/item/{task}")
        shown = said("annotate", "status", study.folder)["undecided"]
    assert {name: shown[name] for name in ("items", "decided", "differ", "pages")} == {
        "items": 1,
        "decided": 0,
        "differ": 1,
        "pages": [f"/owner/item/{task}"],
    }
    assert "owner's page" in shown["todo"]
    assert [each.by for each in adjudications.noted(study)[form["item"]]] == ["Ana", "Ben", "BEN", "Ana"]
    assert "4 decisions so far" in page
    assert "those who decided name no label, or different ones" in page


def test_decisions_of_earlier_versions_are_read_as_those_of_one_person(study: Study) -> None:
    """Of decisions without cause and name, the last one counts."""
    for label in ("stereotype", "unrelated"):
        adjudications.note(study, Adjudicated(at="2027-01-01T00:00:00Z", token="t", item="x", label=label, reason="r"))
    assert adjudications.adjudicated(study)["x"].label == "unrelated"


def test_a_release_has_the_item_with_the_decisions_their_reasons_and_the_votes(study: Study, tmp_path: Path) -> None:
    """The release contains three CATs without decisions and four with them; its figures about votes are the same."""
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
            expected = {"label": candidate.label, "cause": "people disagree", "reason": "most of us know it"}
            assert ruling == (expected if name == next(iter(study.items)) else None)
            assert len(candidate.votes) == 2
    card = (tmp_path / "after" / "README.md").read_text()
    assert "1 of them were confirmed by decisions of the study" in card


def test_decisions_about_a_text_go_with_its_writer(tmp_path: Path) -> None:
    """When a writer withdraws, the owner's decision about the text and its reason are erased."""
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

"""Tests of what people see and what their answers become: blinding, order, labels, instructions."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.annotation.pulled_answers import answered
from helpers.records import bakers, paraphrased, probes, terms

from catsofa.annotation.results import answers as judged
from catsofa.annotation.results.status import status
from catsofa.annotation.study import create, rows
from catsofa.annotation.study.interface import answers, instructions, interface
from catsofa.annotation.study.kinds import KINDS, blind
from catsofa.data.records import LABELS, Association


def test_what_people_see_holds_no_label_and_no_id(tmp_path: Path) -> None:
    """The shown data contain no label, bias type, writer or internal id."""
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(20, writer="ls-7"), gold=bakers(2, "florist"))
    shown = json.dumps([task.data for task in study.tasks()])
    ids = [cat.id for cat in study.items.values()] + [c.id for cat in study.items.values() for c in cat.candidates]
    assert not any(word in shown for word in (*ids, *LABELS, "gold", "profession", "ls-7", "writer"))


def test_the_order_is_random_for_each_item_and_the_same_on_every_machine(tmp_path: Path) -> None:
    """Over 600 items each label comes first in about a third; the same secret gives the same order."""
    one, two, three = (
        create(tmp_path / name, kind="validate-cats", items=bakers(600), secret=secret)
        for name, secret in (("a", "x"), ("b", "x"), ("c", "y"))
    )
    first = Counter(
        next(c.label for c in one.items[key.item].candidates if c.id == key.order[0]) for key in one.keys.values()
    )
    assert all(160 < first[label] < 240 for label in LABELS)
    assert one.keys == two.keys
    assert one.keys != three.keys


def test_gold_has_no_place_of_its_own(tmp_path: Path) -> None:
    """Gold items are mixed with the others: tasks are in the order of their names, which are hashes."""
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(50), gold=bakers(10, "florist"))
    places = [place for place, task in enumerate(study.tasks()) if task.key.gold]
    assert places != list(range(10))
    assert places != list(range(50, 60))


def test_an_answer_becomes_the_label_of_what_stood_there(tmp_path: Path) -> None:
    """`label_2` judges the second shown sentence, whichever it was; time is shared, the optional answer is kept."""
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(1, writer="ls-7"))
    key = next(iter(study.keys.values()))
    reply = {"label_1": "unrelated", "label_2": "stereotype", "label_3": "unrelated", "issues": "ungrammatical"}
    rows.append([answered(study, key.token, "ls-1", reply, seconds=9.0)], study.folder / "raw.jsonl")
    by_item = {a.item: a for a in judged.annotations(study)}
    assert by_item[key.order[1]].label == "stereotype"
    assert by_item[key.order[0]].label == by_item[key.order[2]].label == "unrelated"
    assert by_item[key.order[0]].extra == {
        "cat": key.item, "bias_type": "profession", "target": "baker", "writer": "ls-7", "task": key.token,
        "annotation": f"ls-1/{key.token}", "issues": "ungrammatical", "seconds": 3.0,
    }  # fmt: skip


def test_of_an_answer_that_was_changed_the_last_version_counts(tmp_path: Path) -> None:
    """raw.jsonl contains both versions; a row cut by a kill is skipped, and removed before the next row is added."""
    study = create(tmp_path / "s", kind="judge-probes", items=probes(1))
    token, path = next(iter(study.keys)), study.folder / "raw.jsonl"
    for severity, updated in (("much", "2026-01-02T03:04:05Z"), ("a little", "2026-01-02T03:04:09Z")):
        reply = {"plausible": "plausible", "severity": severity}
        rows.append([answered(study, token, "ls-1", reply, updated=updated)], path)
    with path.open("ab") as file:
        file.write(b'{"annotation":"ls-1/half')
    assert [a.label for a in judged.annotations(study)] == ["plausible", "a little"]
    rows.append([answered(study, token, "ls-2", {"plausible": "plausible", "severity": "much"})], path)
    assert [a.label for a in judged.annotations(study)] == ["plausible", "a little", "plausible", "much"]
    assert path.read_bytes().count(b"\n") == 3


def test_an_association_is_judged_by_what_people_say_and_nothing_tells_who_proposed_it(tmp_path: Path) -> None:
    """Two questions refer to the association by `of`; the page names only group, attribute and region."""
    proposed = Association(
        identity="Zorbs",
        attribute="tidy",
        region="Zorbia",
        extra={"jury": {"jury": "no"}, "gold": {"association": "yes"}},
    )
    study = create(tmp_path / "s", kind="judge-associations", items=[replace(proposed, extra={})])
    (task,) = blind([proposed], KINDS["judge-associations"], "secret")
    assert task.data.items() >= {"identity": "Zorbs", "text": "tidy", "people": "people in Zorbia"}.items()
    assert set(task.data) == {"item", "identity", "text", "people"}
    token = next(iter(study.keys))
    rows.append(
        [answered(study, token, "ls-1", {"association": "yes", "severity": "a little"})], study.folder / "raw.jsonl"
    )
    judgements = [(a.item, a.label, a.extra["of"], a.extra["region"]) for a in judged.annotations(study)]
    assert judgements == [
        (f"{proposed.id}/association", "yes", proposed.id, "Zorbia"),
        (f"{proposed.id}/severity", "a little", proposed.id, "Zorbia"),
    ]


def test_each_question_about_a_paraphrase_is_an_item_of_its_own(tmp_path: Path) -> None:
    """Three questions are three items that refer to the paraphrase by `of`; a CAT without its original is refused."""
    study = create(tmp_path / "s", kind="review-paraphrases", items=paraphrased(1))
    token = next(iter(study.keys))
    reply = {"same_meaning": "same", "grammatical": "incorrect", "about_target": "about it"}
    rows.append([answered(study, token, "ls-1", reply)], study.folder / "raw.jsonl")
    item = next(iter(study.items))
    judgements = [(a.item, a.label, a.extra["of"]) for a in judged.annotations(study)]
    assert judgements == [(f"{item}/{name}", label, item) for name, label in reply.items()]
    with pytest.raises(ValueError, match="no paraphrase"):
        create(tmp_path / "t", kind="review-paraphrases", items=bakers(1))


def test_gold_needs_answers_that_can_be_given(tmp_path: Path) -> None:
    """A gold probe has the right answers in its extra; a missing or impossible right answer is refused."""
    good = replace(probes(1)[0], extra={"gold": {"plausible": "plausible", "severity": "not at all"}})
    study = create(tmp_path / "s", kind="judge-probes", items=probes(3)[1:], gold=[good])
    token = next(token for token, key in study.keys.items() if key.gold)
    rows.append([answered(study, token, "ls-1", {"plausible": "implausible", "severity": "not at all"})],
                study.folder / "raw.jsonl")  # fmt: skip
    assert [(a.label, a.extra["gold"]) for a in judged.annotations(study)] == [
        ("implausible", "plausible"),
        ("not at all", "not at all"),
    ]
    person = status(study).people[0]
    assert (person.gold_right, person.gold_answers) == (1, 2)
    with pytest.raises(ValueError, match=r"right answer.*'severity'"):
        create(
            tmp_path / "t",
            kind="judge-probes",
            items=probes(1),
            gold=[replace(good, extra={"gold": {"plausible": "plausible"}})],
        )
    with pytest.raises(ValueError, match="no gold items"):
        create(tmp_path / "u", kind="write-intrasentence", items=terms(1), gold=terms(2)[1:])
    with pytest.raises(ValueError, match="gold item too"):
        create(tmp_path / "v", kind="validate-cats", items=bakers(2), gold=bakers(1))


@pytest.mark.parametrize("kind", KINDS)
def test_people_read_the_warning_first(kind: str) -> None:
    """Warning, consent, opting out, the task, time and pay come in this order."""
    text = instructions(
        kind, language="English", seconds=30, pay="USD 15.00", piece="USD 0.13", contact="me@example.org"
    )
    places = [
        text.index(w) for w in ("Content warning", "Your consent", "Opting out", "What to do", "USD 15.00", "me@")
    ]
    assert places == sorted(places)


@pytest.mark.parametrize("language", ["English", "es", "de", "fr", "zh"])
def test_people_who_write_are_told_that_programs_may_not(language: str, tmp_path: Path) -> None:
    """The instructions for writers have a paragraph on it, in each language; those for judges do not."""
    phrases = {"English": "language model or", "es": "ni de otro programa", "de": "anderen Programm"}
    phrases |= {"fr": "d'un autre programme", "zh": "其他程序"}
    writing = create(tmp_path / "w", kind="write-intrasentence", items=terms(1), language=language)
    judging = create(tmp_path / "j", kind="validate-cats", items=bakers(1), language=language)
    assert phrases[language] in " ".join(writing.instructions().split())
    assert phrases[language] not in " ".join(judging.instructions().split())


def test_what_one_pays_is_never_below_the_hour(tmp_path: Path) -> None:
    """30 of 3,600 seconds at 15.00 are 0.125, promised as 0.13; 36 seconds are exactly 0.15."""
    study = create(tmp_path / "s", kind="write-intrasentence", items=terms(1), pay=15, seconds=30)
    assert "USD 0.13 for each" in " ".join(study.instructions().split())
    study = create(tmp_path / "t", kind="write-intrasentence", items=terms(1), pay=15, seconds=36)
    assert "USD 0.15 for each" in " ".join(study.instructions().split())


@pytest.mark.parametrize(
    ("result", "wrong"),
    [
        (None, "plausible not answered; severity not answered"),
        ([5], "an answer to 'nothing', which was not asked; plausible not answered; severity not answered"),
        ([{"from_name": "plausible", "value": {"choices": ["plausible", "implausible"]}}],
         "plausible has 2 answers; severity not answered"),
        ([{"from_name": "severity", "value": {"choices": ["much"]}}] * 2,
         "severity answered twice; plausible not answered"),
        ([{"from_name": "severity", "value": {"choices": [None]}}], "severity is empty; plausible not answered"),
    ],
)  # fmt: skip
def test_an_answer_that_is_none_says_why(result: Any, wrong: str) -> None:
    """Every malformed answer that the API accepted is reported with its reasons."""
    assert "; ".join(answers(interface("judge-probes"), result).wrong) == wrong

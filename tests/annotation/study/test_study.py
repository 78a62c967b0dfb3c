"""Tests of studies without a server: blinding, questions, drafts, incomplete rows after a kill."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from helpers.records import bakers, neutral, paraphrased, probes, terms

from catsofa.annotation.results import answers as judged
from catsofa.annotation.results import drafts
from catsofa.annotation.results.answers import Raw
from catsofa.annotation.results.status import status
from catsofa.annotation.study import Study, create, open_study, read_items, rows
from catsofa.annotation.study.checks import check_study
from catsofa.annotation.study.interface import answers, instructions, interface, result_of
from catsofa.annotation.study.kinds import KINDS, blind
from catsofa.data.files import BadInput, jsonl
from catsofa.data.records import LABELS, Association, Cat, Refused
from catsofa.validation.annotation_files import collect
from catsofa.validation.decide.confirmed import confirm


def answered(study: Study, token: str, person: str, given: dict[str, str], **more: Any) -> Raw:
    """Returns an answer as a pull would bring it."""
    time = more.pop("at", "2026-01-02T03:04:05Z")
    return Raw(
        annotation=f"{person}/{token}",
        updated=more.pop("updated", time),
        token=token,
        annotator=person,
        at=time,
        result=result_of(interface(study.kind.name), given),
        **more,
    )


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


TEXTS = {
    "context": "Our neighbour, the baker, is very BLANK.",
    "stereotype": "early",
    "anti_stereotype": "late",
    "unrelated": "cubic",
}


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, ""),
        ({"context": "The baker is early."}, "the sentence has 0 BLANK, not exactly one as a separate word"),
        ({"context": "The baker is BLANK and BLANK."}, "the sentence has 2 BLANK, not exactly one as a separate word"),
        ({"context": "The baker is BLANKish."}, "the sentence has 1 BLANK, not exactly one as a separate word"),
        ({"context": "The florist is BLANK."}, "the sentence does not name the target 'baker'"),
        ({"context": "The bakery is BLANK, as bakers are."}, ""),
        ({"unrelated": "Early"}, "two of the three answers are the same"),
        ({"unrelated": "a BLANK"}, "an answer has a BLANK"),
    ],
)
def test_texts_make_a_cat_or_are_refused_with_the_reason(changed: dict[str, str], reason: str, tmp_path: Path) -> None:
    """Label Studio does not check that BLANK occurs once and alone, the target is named, and the answers differ."""
    study = create(tmp_path / "s", kind="write-intrasentence", items=terms(1))
    token = next(iter(study.keys))
    rows.append([answered(study, token, "ls-1", TEXTS | changed)], study.folder / "raw.jsonl")
    ((_, draft),) = drafts.drafts(study)
    if reason:
        assert isinstance(draft, Refused)
        assert draft.reason == reason
    else:
        assert isinstance(draft, Cat)
        assert draft["stereotype"].fill == "early"
        assert draft.source["writer"] == "ls-1"


def test_long_words_are_kept_with_a_warning_and_copies_are_refused(tmp_path: Path) -> None:
    """Several words for a BLANK give a warning; the same CAT by a second writer is refused."""
    study = create(tmp_path / "s", kind="write-intrasentence", items=terms(1), overlap=3)
    token = next(iter(study.keys))
    duplicates = [answered(study, token, f"ls-{n}", TEXTS | {"unrelated": "very cubic indeed"}) for n in (1, 2)]
    rows.append([*duplicates, answered(study, token, "ls-3", {}, skipped=True)], study.folder / "raw.jsonl")
    assert drafts.write_drafts(study) == (1, 1)
    (first, _) = drafts.drafts(study)
    assert isinstance(first[1], Cat)
    assert first[1].extra == {"warnings": ["unrelated has 3 words"]}


@pytest.mark.parametrize(
    ("text", "reason"),
    [("tall", ""), ("a BLANK", "an answer has a BLANK"), ("Cubic.", "somebody wrote 'Cubic.' already")],
)
def test_a_neutral_text_stands_beside_its_cat_or_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    """The writer sees only the context; the three candidates and their ids do not change."""
    (cat,) = bakers(1)
    study = create(tmp_path / "s", kind="write-neutral", items=[cat])
    ((token, key),) = study.keys.items()
    (task,) = study.tasks()
    assert (key.item, task.data.keys()) == (cat.id, {"item", "target", "context"})
    rows.append([answered(study, token, "ls-1", {"neutral": text})], study.folder / "raw.jsonl")
    ((_, draft),) = drafts.drafts(study)
    if reason:
        assert isinstance(draft, Refused)
        assert draft.reason == reason
        return
    assert isinstance(draft, Cat)
    assert draft.extra["neutral"] == {"text": cat.context.replace("BLANK", text), "fill": text, "cat": cat.id}
    assert (draft.candidates, draft.id != cat.id, draft.source["writer"]) == (cat.candidates, True, "ls-1")


def test_four_sentences_are_judged_by_what_they_were_written_as(tmp_path: Path) -> None:
    """Order is blind and random; each annotation has the written label of its sentence, and votes need
    no CAT of four.
    """
    study = create(tmp_path / "s", kind="validate-neutral", items=neutral(40))
    tasks = list(study.tasks())
    assert {*tasks[0].data} == {"item", "target", "context", *(f"option_{k}" for k in (1, 2, 3, 4))}
    assert not any(word in json.dumps([task.data for task in tasks]) for word in (*LABELS, "neutral"))
    places = Counter(task.key.order.index(f"{task.key.item}/neutral") for task in tasks)
    assert all(places[place] for place in range(4))
    for task in tasks:
        reply = {f"label_{k}": item.rpartition("/")[2] for k, item in enumerate(task.key.order, start=1)}
        rows.append([answered(study, task.key.token, "ls-1", reply)], study.folder / "raw.jsonl")
    judgements = list(judged.annotations(study))
    assert len(judgements) == 160
    assert all(a.label == a.extra["written"] == a.item.rpartition("/")[2] for a in judgements)
    assert not confirm(collect(judgements)).cats
    assert judged.tokens_of(study, [judgements[0].item]) == [judgements[0].extra["task"]]


def test_a_study_of_neutral_sentences_takes_the_drafts_of_one_that_writes_them(tmp_path: Path) -> None:
    """A CAT without a neutral sentence is refused, and the error names the right file."""
    with pytest.raises(ValueError, match="write-neutral study"):
        create(tmp_path / "s", kind="validate-neutral", items=bakers(1))


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


def test_status_counts_people_time_and_pay(tmp_path: Path) -> None:
    """Two items for two people, three answers of 36 s, one a minute, at 10 an hour: 0.30 paid, 0.40 expected."""
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(2), overlap=2, pay=10)
    one, two = study.keys
    labels = {f"label_{k}": "unrelated" for k in (1, 2, 3)}
    seats = [(one, "ls-1", 0), (one, "ls-2", 1), (two, "ls-1", 2)]
    rows.append(
        [answered(study, token, who, labels, at=f"2026-01-02T03:0{n}:00Z", seconds=36.0) for token, who, n in seats],
        study.folder / "raw.jsonl",
    )
    report = status(study, lambda annotations: float(len(annotations)))
    assert (report.done, report.started, report.judgements, report.wanted, report.over) == (1, 1, 3, 4, 0)
    assert (round(report.cost, 2), round(report.expected_cost, 2), report.per_hour) == (0.3, 0.4, 60)
    assert (report.ends, report.agreement) == ("2026-01-02T03:03+00:00", 9)


def test_a_sixth_judgement_is_counted_and_set_aside(tmp_path: Path) -> None:
    """When the server gives the last seat twice, `status` reports it, and the vote rule counts the first
    five by time.
    """
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(2))
    labels = {f"label_{k}": "unrelated" for k in (1, 2, 3)}
    replies = [
        answered(study, token, f"ls-{n}", labels, at=f"2026-01-02T03:04:0{n}Z")
        for token, people in zip(study.keys, (6, 5), strict=True)
        for n in reversed(range(people))
    ]
    rows.append(replies, study.folder / "raw.jsonl")
    report = status(study)
    assert (report.over, report.done, report.judgements, report.wanted) == (1, 2, 11, 10)
    votes = confirm(collect(judged.annotations(study))).votes
    assert votes.set_aside == {"after the first 5": 3}
    assert {a.annotator for a in votes.counted.set_aside} == {"ls-5"}


def test_a_study_is_made_once_and_opened_with_a_reason(tmp_path: Path) -> None:
    """A wrong folder, an existing study, half a study.json and wrong items each give one error."""
    with pytest.raises(BadInput, match=r"no study\.json"):
        open_study(tmp_path)
    create(tmp_path / "s", kind="validate-cats", items=bakers(1))
    with pytest.raises(BadInput, match="a new folder"):
        create(tmp_path / "s", kind="validate-cats", items=bakers(1))
    (tmp_path / "s" / "study.json").write_text('{"kind": "valid')
    with pytest.raises(BadInput, match="not JSON"):
        open_study(tmp_path / "s")
    with pytest.raises(ValueError, match="terms, not cats"):
        create(tmp_path / "t", kind="write-intrasentence", items=bakers(1))
    with pytest.raises(ValueError, match=r"kinds.*write-intrasentence"):
        create(tmp_path / "t", kind="rating", items=bakers(1))
    with pytest.raises(ValueError, match="3 to 50 characters"):
        create(tmp_path / "t", kind="validate-cats", items=bakers(1), title="x")
    assert not (tmp_path / "t" / "study.json").exists()
    (tmp_path / "targets.txt").write_text("baker\n\nflorist\n")
    assert [term.term for term in read_items(tmp_path / "targets.txt", "write-intrasentence")] == ["baker", "florist"]


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("judge-probes", "catsofa build probes"),
        ("judge-associations", "catsofa build candidates"),
        ("review-paraphrases", "catsofa build paraphrases"),
        ("validate-cats", "catsofa build cats"),
        ("write-intersentence", "one target per line in a .txt file"),
    ],
)
def test_items_of_another_form_are_refused_with_what_makes_the_right_ones(
    tmp_path: Path, kind: str, named: str
) -> None:
    """A missing file, an unknown table and records of another type are refused; a faulty line keeps its own error."""
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    other = [Association(identity="Dravians", attribute="tidy")] if kind != "judge-associations" else bakers(1)
    jsonl.write(other, tmp_path / "other.jsonl")
    for name, problem in (
        ("nowhere.jsonl", "no such file"),
        ("table.csv", "in no known format"),
        ("other.jsonl", "found "),
    ):
        with pytest.raises(BadInput, match=f"{problem}.*{named}"):
            list(read_items(tmp_path / name, kind))
    jsonl.write(probes(1), tmp_path / "probes.jsonl")
    with (tmp_path / "probes.jsonl").open("a") as file:
        file.write('{"id": "p", "identity": 1}\n')
    with pytest.raises(BadInput, match=r"probes\.jsonl:2: "):
        list(read_items(tmp_path / "probes.jsonl", "judge-probes"))


def test_an_answer_that_was_changed_is_refused_with_its_line(tmp_path: Path) -> None:
    """Every appended line has a checksum: a changed label and a lost checksum are refused; older lines are read."""
    study = create(tmp_path / "s", kind="judge-probes", items=probes(1))
    token, path = next(iter(study.keys)), study.folder / "raw.jsonl"
    jsonl.write([answered(study, token, "ls-0", {})], path)
    rows.append([answered(study, token, f"ls-{number}", {}) for number in (1, 2)], path)
    assert [row.annotation.partition("/")[0] for row in rows.read(path, Raw)] == ["ls-0", "ls-1", "ls-2"]
    whole = path.read_text().splitlines()
    assert ["checksum" in json.loads(line) for line in whole] == [False, True, True]
    last = {name: value for name, value in json.loads(whole[2]).items() if name != "checksum"}
    for changed in (whole[2].replace("ls-2", "ls-3"), json.dumps(last)):
        path.write_text("\n".join([*whole[:2], changed, ""]))
        with pytest.raises(BadInput, match="checksum") as error:
            list(rows.read(path, Raw))
        assert error.value.line == 3


@pytest.mark.parametrize("name", ["study.json", "key.jsonl", "items.jsonl", "gold.jsonl"])
def test_a_changed_file_of_a_study_is_found(tmp_path: Path, name: str) -> None:
    """A changed byte, a lost or doubled line and an empty file are found; a study of an earlier version
    is unchecked.
    """
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(3), gold=bakers(2, "florist"))
    assert (verdict := check_study(study.folder))
    assert (verdict.right, verdict.checked, verdict.unchecked) == (
        True,
        ("study.json", "gold.jsonl", "items.jsonl", "key.jsonl"),
        (),
    )
    path, dice = study.folder / name, Random(name)
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    places = [dice.randrange(len(whole)) for _ in range(60)]
    changed = [whole[:at] + bytes([whole[at] ^ 1 << dice.randrange(8)]) + whole[at + 1 :] for at in places]
    for content in (*changed, b"".join(lines[1:]), b"".join([*lines, lines[-1]]), b""):
        path.write_bytes(content)
        same = name == "study.json" and content.split() == whole.split()
        assert (verdict := check_study(study.folder))
        assert same or [fault.path for fault in verdict.faults] == [path]
    path.unlink()
    assert (verdict := check_study(study.folder))
    assert not verdict.right
    path.write_bytes(whole)
    old = json.loads((study.folder / "study.json").read_text())
    (study.folder / "study.json").write_text(
        json.dumps({k: v for k, v in old.items() if k not in ("files", "checksum")})
    )
    assert (verdict := check_study(study.folder))
    assert (verdict.right, len(verdict.unchecked)) == (True, 1)

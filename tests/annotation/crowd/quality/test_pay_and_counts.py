"""Tests of quality control during a study over HTTP: practice and pauses in pay, status, votes and release."""

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.crowds import NOW
from helpers.records import bakers
from helpers.servers.crowd_server import Visitor, opened, shown_truth
from helpers.servers.label_studio_server import free_port

from catsofa.annotation.crowd import adaptive, home, money, seats, settings
from catsofa.annotation.crowd.faults import faults
from catsofa.annotation.crowd.http import answers, service, site
from catsofa.annotation.crowd.practice import lessons
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Store, identity, reading
from catsofa.annotation.results.answers import Raw, annotations
from catsofa.annotation.results.status import status
from catsofa.annotation.study import Study, create, rows
from catsofa.data.files import BadInput, jsonl
from catsofa.share.release import validated_items
from catsofa.validation.judgements import Rule, count

TOML = """
[platform]
name = "prolific"
codes = { completed = "DONE1", no_consent = "NOPE2", failed_practice = "PRAC3", paused = "PAUS4" }
[practice]
file = "practice.jsonl"
right = 2
pay = 0.5
"""


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raises the rate limits for fast test visitors."""
    monkeypatch.setattr(site, "BY_SESSION", (1000.0, 1000.0))


def study_in(folder: Path, more: str = "", **known: Any) -> Study:
    """Returns a study of four CATs for one person, with three practice items."""
    known = {"items": bakers(4), "overlap": 1, **known}
    study = create(folder / "study", kind="validate-cats", contact="a@example.org", **known)
    (study.folder / "study.toml").write_text(TOML + more)
    taught = [replace(cat, extra={"reason": f"Reason {n}."}) for n, cat in enumerate(bakers(3, "weaver"))]
    jsonl.write(taught, study.folder / "practice.jsonl")
    return study


def practised(study: Study, wrong: int) -> Any:
    """Returns a judge that answers so many practice items wrongly, and the tasks rightly."""
    truth, remaining = shown_truth(study), [wrong]
    lessons_ = lessons(study.folder / "practice.jsonl", study.kind, study.settings.secret)
    right = {lesson.task.data["context"]: dict(lesson.right) for lesson in lessons_}

    def judge(shown: dict[str, str]) -> dict[str, str]:
        if shown["context"] not in right:
            return truth(shown)
        reply = right[shown["context"]]
        if remaining[0]:
            remaining[0] -= 1
            reply = dict(zip(reply, [*list(reply.values())[1:], reply["label_1"]], strict=True))
        return reply

    return judge


def test_practice_is_marked_with_the_reason_and_never_becomes_a_judgement(tmp_path: Path) -> None:
    """The reply gives the right answer and the reason; raw.jsonl, status and payments have four tasks, and pay is for
    seven.
    """
    study = study_in(tmp_path)
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        task = ana.next()
        assert task["practice"]
        reply = ana.post("/answer", {"nonce": task["nonce"], "answers": practised(study, 1)(task["task"])}).json()
        assert reply["feedback"]["reason"] == "Reason 0."
        assert sorted(reply["feedback"]["right"]) == ["label_1", "label_2", "label_3"]
        assert ana.work(practised(study, 0)) == 6
        assert "DONE1" in ana.browser.get("/done").text
    home.pull(study)
    assert len(list(rows.read(study.folder / "raw.jsonl", Raw))) == 4
    report = status(study)
    assert (report.judgements, report.counted, report.people[0].answers) == (4, 4, 4)
    assert [due.due for due in money.dues(study)] == [study.settings.cents(7)]
    with home.open_store(study) as store:
        opening = settings.read(study)
        assert money.budget(study, settings.rules(study, opening), 4).tasks == 7
        assert store.do(home.missing) == 0


def test_who_stops_before_the_first_practice_item_is_owed_nothing(tmp_path: Path) -> None:
    """The pay of a failed practice covers only finished practice."""
    study = study_in(tmp_path)
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        ana.browser.post("/stop", data={"sure": "yes"})
    assert [(due.outcome, due.due, due.paid_by) for due in money.dues(study)] == [("failed_practice", 0, "")]


def test_who_fails_practice_ends_with_its_code_and_the_pay_of_the_settings(tmp_path: Path) -> None:
    """With two of three wrong, the code is PRAC3, a bonus pays 50 cents, and there is no judgement."""
    study = study_in(tmp_path)
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        assert ana.work(practised(study, 2)) == 3
        page = ana.browser.get("/done").text
    assert "PRAC3" in page
    assert "practice tasks were right" in page
    home.pull(study)
    assert not list(rows.read(study.folder / "raw.jsonl", Raw))
    assert [(due.outcome, due.due, due.paid_by) for due in money.dues(study)] == [("failed_practice", 50, "bonus")]


@pytest.mark.parametrize(("pay", "told"), [("pay = 0.5", "USD 0.50 more"), ("", "USD 0.38 more")])
def test_open_says_what_a_failed_practice_round_costs(pay: str, told: str, tmp_path: Path) -> None:
    """The cost is the pay in the settings, or three tasks of half a minute at 15 an hour."""
    study = study_in(tmp_path)
    (study.folder / "study.toml").write_text(TOML.replace("pay = 0.5", pay))
    port = free_port()
    with service.serving(study, "127.0.0.1", port, f"http://127.0.0.1:{port}") as ready:
        assert any(told in line for line in ready.says)


def test_who_is_paused_stands_in_status_with_the_reason(tmp_path: Path) -> None:
    """All answers are too fast: code PAUS4, pay for each task, no counted judgement, and no request for a return."""
    study = study_in(tmp_path, "[pace]\nseconds = 9999\nlimit = 1\n")
    with opened(study) as address:
        ana = Visitor(address)
        ana.come()
        assert ana.work(practised(study, 0)) == 5
        assert "PAUS4" in ana.browser.get("/done").text
    home.pull(study)
    report = status(study)
    assert (report.counted, report.people[0].standing) == (0, home.VOID["paused_for_pace"])
    (due,) = money.dues(study)
    assert (due.outcome, due.tasks, due.paid_by, due.reason) == ("paused_for_pace", 5, "bonus", "")


def passes(store: Store, study: Study, name: str, now: float, draw: random.Random) -> float:
    """Simulates a careful, hasty or careless person, who may skip, stop or sleep. Returns the time of their last
    action.
    """
    opening = settings.read(study)
    rules, taught = settings.rules(study, opening), {each.task.key.token: each for each in opening.lessons}
    right, quick = draw.choice([1, 1, 1, 0.6, 0]), draw.choice([0, 0, 0.3, 1])
    store.do(lambda held: seats.arrive(held, rules, name, f"s-{name}", "c", now))
    while isinstance(task := store.do(lambda held, at=now: seats.next_task(held, rules, name, at)), Given):
        token, nonce, event = task.token, task.nonce, draw.random()
        now += 1 if draw.random() < quick else 60
        if event < 0.05:
            store.do(lambda held, n=nonce: seats.skip(held, name, n))
            continue
        if event < 0.08:
            store.do(lambda held: draw.choice([seats.stop, seats.withdraw])(held, name))
            break
        if sleeps := event < 0.1:
            now += draw.choice([60, 2 * rules.hold])
        if token in taught:
            solution = taught[token].right
        else:
            assert study.kind.asks is not None
            key = study.keys[token]
            questions_ = study.kind.asks(study.items[key.item], key.order)
            solution = {question: about.right for question, about in questions_.items()}
        reply = {question: label if draw.random() < right else "unrelated" for question, label in solution.items()}
        mark = taught[token].mark(reply) if token in taught else answers.right(study, token, reply)
        store.do(lambda held, n=nonce, s=reply, m=mark, at=now: seats.answer(held, rules, name, n, s, m, at))
        if sleeps:
            break
    return now


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 60))])
def test_store_status_votes_and_release_count_the_same_judgements(seed: int, tmp_path: Path) -> None:
    """After any history, the counted judgements of each CAT are the same in store, votes, status and release."""
    study = study_in(
        tmp_path,
        "[pace]\nseconds = 3\nlimit = 2\n[quality]\nfirst = 3\nchecks_every = 4\ngold_every = 5\n"
        f"then = {random.Random(seed).choice(['fail', 'pause'])!r}\n[people]\nsession = 9\n",
        items=bakers(8),
        overlap=2,
        gold=bakers(3, "florist"),
        checks=bakers(3, "miller"),
    )
    draw, now = random.Random(seed), float(NOW)
    with home.open_store(study, settings.rules(study, settings.read(study)).practice) as store:
        for n in range(draw.randint(4, 9)):
            now = passes(store, study, f"p{n}", now, draw)
            if seed % 2:
                wanted = adaptive.widen(study, 5, 0.95)
                store.do(lambda held, wanted=wanted: adaptive.apply(held, wanted))
    with reading(study.folder, identity(study.settings.secret)) as held:
        by_store = seats.counted(held)
        assert [*faults(held, study.keys)] == []
    home.pull(study)
    judged = [*annotations(study)]
    rule = Rule(need=1, of=2)
    by_votes = {task: each.taken for task, each in count(judged, rule, lambda a: str(a.extra["task"])).seats.items()}
    assert {token: valid for token, valid in by_store.items() if valid} == {t: n for t, n in by_votes.items() if n}
    assert status(study, seats=lambda *_: by_votes).counted == sum(by_store.values())
    if judged:
        items = validated_items([*study.items.values()][:8], judged, rule)
        token = {key.item: key.token for key in study.keys.values()}
        assert all(each.taken == by_store[token[cat.id]] for cat, each in zip(items.kept, items.seats, strict=True))


@pytest.mark.parametrize(
    ("toml", "found"),
    [
        ("[practice]\nfile = 'none.jsonl'\n", "none.jsonl"),
        ("[practice]\nfile = 'practice.jsonl'\nright = 4\n", "practice.right = 4"),
        ("[practice]\nfile = 'practice.jsonl'\npay = -1.0\n", "practice.pay"),
        ("[practice]\nfile = 'bare.jsonl'\n", "without a reason"),
        ("[pace]\nshare = 0.2\n", "without a pilot"),
        ("[pace]\nshare = 0.2\nseconds = 2\n", "pace"),
    ],
)
def test_settings_that_cannot_be_are_refused(toml: str, found: str, tmp_path: Path) -> None:
    """The error names the key or the file."""
    study = study_in(tmp_path)
    jsonl.write(bakers(1, "tailor"), study.folder / "bare.jsonl")
    (study.folder / "study.toml").write_text(toml)
    with pytest.raises(BadInput, match=found):
        settings.read(study)

"""Tests of quality control during a study: the practice round and the pace of answers, in the store and over HTTP."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
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
from catsofa.annotation.crowd.owner.decisions import decide
from catsofa.annotation.crowd.practice import lessons
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Store, identity, reading
from catsofa.annotation.results.answers import Raw, annotations
from catsofa.annotation.results.status import status
from catsofa.annotation.study import Study, create, rows
from catsofa.data.files import BadInput, jsonl
from catsofa.share.release import validated_items
from catsofa.validation.judgements import Rule, count

RIGHT, WRONG, NONE = (3, 3), (2, 3), (0, 0)
PRACTISED = Rules(session=4, practice=("practice0", "practice1", "practice2"), practice_pass=2)
HASTE = Rules(session=20, fast=3.0, fast_limit=2)


@contextmanager
def stored(folder: Path, items: int = 8, checks: int = 0) -> Iterator[Store]:
    """Opens a store with items for two people and three practice items, and checks for faults at the end."""
    items_ = [(f"{kind}{n}", kind, "") for kind, most in (("item", items), ("check", checks)) for n in range(most)]
    practice = [(f"practice{n}", "practice", "") for n in range(3)]
    with Store(folder, "ab" * 16) as store:
        store.do(lambda held: seats.add(held, [*items_, *practice], 2, random.Random(1)))
        yield store
        assert store.do(lambda held: [*faults(held, [token for token, _, _ in items_])]) == []


def work(
    store: Store, rules: Rules, name: str, marks: list[tuple[int, int]], seconds: list[float], at_most: int = 99
) -> list[Given]:
    """Has a person answer with these marks and times, repeating the last ones. Returns the tasks that they got."""
    store.do(lambda held: seats.arrive(held, rules, name, f"s-{name}", "c", NOW))
    met, now = list[Given](), float(NOW)
    for _ in range(at_most):
        if not isinstance(task := store.do(lambda held, at=now: seats.next_task(held, rules, name, at)), Given):
            break
        mark = marks[min(len(met), len(marks) - 1)] if not task.token.startswith("item") else NONE
        now += seconds[min(len(met), len(seconds) - 1)]
        store.do(lambda held, n=task.nonce, m=mark, at=now: seats.answer(held, rules, name, n, {"q": "x"}, m, at))
        met.append(task)
    return met


def person(store: Store, name: str) -> dict[str, Any]:
    """Returns a person's row."""
    return store.do(lambda held: held.get("person", name)) or {}


def test_practice_comes_first_and_is_numbered_apart(tmp_path: Path) -> None:
    """Three practice items are numbered 1 to 3 of 3, then four tasks 1 to 4 of 4; all seven are paid."""
    with stored(tmp_path) as store:
        met = work(store, PRACTISED, "a", [RIGHT], [9])
        assert [(task.practice, task.place, task.quota) for task in met] == [
            *((True, n, 3) for n in (1, 2, 3)),
            *((False, n, 4) for n in (1, 2, 3, 4)),
        ]
        assert [task.token for task in met[:3]] == [*PRACTISED.practice]
        assert (person(store, "a")["outcome"], person(store, "a")["done"]) == ("completed", 7)
        assert sum(store.do(seats.counted).values()) == 4


@pytest.mark.parametrize(("marks", "state"), [([RIGHT, WRONG, WRONG], "screened"), ([WRONG, RIGHT, RIGHT], "finished")])
def test_who_has_too_few_practice_items_right_gets_no_task(
    marks: list[tuple[int, int]], state: str, tmp_path: Path
) -> None:
    """The threshold is two of three: one right answer ends with the outcome's code, two continue."""
    with stored(tmp_path) as store:
        met = work(store, PRACTISED, "a", marks, [9])
        assert person(store, "a")["state"] == state
        assert len(met) == (3 if state == "screened" else 7)
        assert sum(store.do(seats.counted).values()) == (0 if state == "screened" else 4)


def test_a_practice_item_that_is_skipped_is_not_right(tmp_path: Path) -> None:
    """With two of three items skipped, the threshold of two cannot be reached."""
    with stored(tmp_path) as store:
        store.do(lambda held: seats.arrive(held, PRACTISED, "a", "s", "c", NOW))
        for step in range(3):
            task = store.do(lambda held: seats.next_task(held, PRACTISED, "a", NOW))
            assert isinstance(task, Given)
            assert task.place == step + 1
            if step:
                store.do(lambda held, n=task.nonce: seats.skip(held, "a", n))
            else:
                store.do(lambda held, n=task.nonce: seats.answer(held, PRACTISED, "a", n, {}, RIGHT, NOW))
        assert store.do(lambda held: seats.next_task(held, PRACTISED, "a", NOW)) == "screened"


def test_who_stops_in_practice_has_not_completed(tmp_path: Path) -> None:
    """One finished practice item is paid, and the whole reward is not."""
    with stored(tmp_path) as store:
        store.do(lambda held: seats.arrive(held, PRACTISED, "a", "s", "c", NOW))
        task = store.do(lambda held: seats.next_task(held, PRACTISED, "a", NOW))
        assert isinstance(task, Given)
        store.do(lambda held: seats.answer(held, PRACTISED, "a", task.nonce, {}, RIGHT, NOW))
        assert store.do(lambda held: seats.stop(held, "a")) == "finished"
        assert person(store, "a")["outcome"] == "failed_practice"


@pytest.mark.parametrize(
    ("marks", "seconds", "outcome", "done"),
    [
        ([], [], "no_consent", 0),
        ([RIGHT], [9], "failed_practice", 1),
        ([RIGHT, WRONG, WRONG], [9], "failed_practice", 3),
        ([RIGHT] * 4, [9], "completed", 4),
        ([RIGHT] * 3, [9, 9, 9, 1, 1, 1, 1], "paused_for_pace", 7),
    ],
)
def test_a_withdrawal_changes_no_pay(
    marks: list[tuple[int, int]], seconds: list[float], outcome: str, done: int, tmp_path: Path
) -> None:
    """The outcome is that of stopping now, or the earlier one, and the finished tasks are still owed."""
    rules = replace(PRACTISED, session=20, fast=3.0, fast_limit=2)
    with stored(tmp_path, items=12) as store:
        work(store, rules, "a", marks or [RIGHT], seconds or [9], at_most=done)
        store.do(lambda held: seats.withdraw(held, "a"))
        store.do(lambda held: seats.withdraw(held, "a"))
        ended = person(store, "a")
        assert (ended["state"], ended["outcome"], ended["done"]) == ("withdrawn", outcome, done)


def test_other_practice_items_are_refused_while_people_are_at_theirs(tmp_path: Path) -> None:
    """New practice items are refused, because the open page could not show the old ones; people who finished theirs
    work on.
    """
    study = create(tmp_path / "s", kind="validate-cats", items=bakers(4), overlap=2, contact="a@example.org")
    rules = Rules(session=3, practice=("old0", "old1"), practice_pass=0)
    with home.open_store(study, rules.practice) as store:
        work(store, rules, "a", [RIGHT], [9], at_most=1)
        with pytest.raises(ValueError, match="practice items"):
            store.do(lambda held: home.refuse_other_practice(held, study, ["new0"]))
        work(store, rules, "a", [RIGHT], [9], at_most=1)
        store.do(lambda held: home.refuse_other_practice(held, study, ["new0"]))


def test_who_passed_practice_and_finds_no_work_is_paid_for_practice(tmp_path: Path) -> None:
    """When others took the last seats meanwhile, the outcome is that no work was left, not a failed practice."""
    with stored(tmp_path, items=1) as store:
        store.do(lambda held: seats.arrive(held, PRACTISED, "late", "s-late", "c", NOW))
        work(store, PRACTISED, "a", [RIGHT], [9])
        work(store, PRACTISED, "b", [RIGHT], [9])
        assert len(work(store, PRACTISED, "late", [RIGHT], [9])) == 3
        assert (person(store, "late")["outcome"], person(store, "late")["done"]) == ("screened_out", 3)


def test_who_answers_too_fast_is_warned_once_and_then_paused(tmp_path: Path) -> None:
    """Two fast answers warn, two more pause: the seats are free again, and none of the answers counts."""
    with stored(tmp_path) as store:
        met = work(store, HASTE, "a", [NONE], [1, 9, 1, 9, 9, 1, 1])
        assert [task.warn for task in met] == [False, False, False, True, False, False, False]
        assert (person(store, "a")["state"], person(store, "a")["outcome"]) == ("paused", "paused_for_pace")
        assert sum(store.do(seats.counted).values()) == 0
        assert store.do(lambda held: seats.next_task(held, HASTE, "a", NOW)) == "paused"
        work(store, HASTE, "b", [NONE], [9])
        work(store, HASTE, "c", [NONE], [9])
        assert set(store.do(seats.counted).values()) == {2}


def test_a_fast_answer_in_practice_is_not_counted(tmp_path: Path) -> None:
    """Practice may be clicked through; only right answers decide there."""
    rules = replace(PRACTISED, fast=3.0, fast_limit=2)
    with stored(tmp_path) as store:
        assert not any(task.warn for task in work(store, rules, "a", [RIGHT], [1, 1, 1, 9]))
        assert person(store, "a")["state"] == "finished"


def test_failed_checks_pause_where_the_settings_say_so(tmp_path: Path) -> None:
    """Two failed checks pause, without the outcome that asks for a return."""
    rules = Rules(session=8, first=2, check_every=4, pause=True)
    with stored(tmp_path, checks=4) as store:
        work(store, rules, "a", [WRONG], [9])
        assert (person(store, "a")["state"], person(store, "a")["outcome"]) == ("paused", "paused_for_checks")
        assert sum(store.do(seats.counted).values()) == 0


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


def test_who_is_taken_back_works_on_until_the_next_fast_answer(tmp_path: Path) -> None:
    """Four fast answers pause; after a restore, slow answers continue and a fifth fast answer pauses again."""
    with stored(tmp_path) as store:
        work(store, HASTE, "a", [NONE], [1.0])
        assert person(store, "a")["outcome"] == "paused_for_pace"
        store.do(lambda held: decide(held, "a", "restore", "they explained", "2027-01-01T00:00:00Z"))
        assert sum(store.do(seats.counted).values()) == 4
        assert len(work(store, HASTE, "a", [NONE], [9.0, 9.0, 1.0])) == 3
        assert (person(store, "a")["state"], person(store, "a")["done"]) == ("paused", 7)


def test_who_is_taken_back_works_on_until_the_next_failed_check(tmp_path: Path) -> None:
    """Two failed checks pause; after a restore, a rightly answered check changes nothing."""
    rules = Rules(session=9, first=2, check_every=2, fail_after=2, pause=True)
    with stored(tmp_path, checks=6) as store:
        met = len(work(store, rules, "a", [WRONG], [9]))
        assert person(store, "a")["outcome"] == "paused_for_checks"
        store.do(lambda held: decide(held, "a", "restore", "they explained", "2027-01-01T00:00:00Z"))
        work(store, rules, "a", [RIGHT], [9])
        assert (person(store, "a")["state"], person(store, "a")["done"] > met) == ("finished", True)

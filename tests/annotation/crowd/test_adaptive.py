"""Tests of the adaptive stop: which items get further judgements, what they cost, and their effect on the labels."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.crowds import NOW
from helpers.records import bakers, terms

from catsofa.annotation.crowd import adaptive, home, seats, settings
from catsofa.annotation.crowd.rules import Rules
from catsofa.annotation.crowd.seats import Given
from catsofa.annotation.crowd.store import Store, identity, reading
from catsofa.annotation.results.answers import annotations, reopened
from catsofa.annotation.results.data_statement import work_of
from catsofa.annotation.study import Study, create
from catsofa.data.files import BadInput
from catsofa.data.judging.dawid_skene import dawid_skene
from catsofa.data.records import LABELS, Annotation
from catsofa.validation.judgements import Rule, count

RULES = Rules(session=40)


def study_in(folder: Path, items: int = 12, overlap: int = 5, toml: str = "") -> Study:
    """Returns a study of CATs."""
    known: dict[str, Any] = {"items": bakers(items), "overlap": overlap, "contact": "a@example.org"}
    study = create(folder / "study", kind="validate-cats", **known)
    (study.folder / "study.toml").write_text(toml or "[people]\nsession = 40\n")
    return study


def judge(store: Store, study: Study, names: list[str], hard: set[str]) -> None:
    """People judge all their tasks: on hard items each next person gives the next label, on others the right label."""
    assert study.kind.asks is not None
    for turn, name in enumerate(names):
        store.do(lambda held, name=name: seats.arrive(held, RULES, name, f"s-{name}", "c", NOW))
        while isinstance(task := store.do(lambda held, name=name: seats.next_task(held, RULES, name, NOW)), Given):
            key = study.keys[task.token]
            questions = study.kind.asks(study.items[key.item], key.order)
            right = {question: about.right for question, about in questions.items()}
            reply = {q: LABELS[(turn + n) % 3] for n, q in enumerate(questions)} if task.token in hard else right
            store.do(lambda held, name=name, n=task.nonce, s=reply: seats.answer(held, RULES, name, n, s, (0, 0), NOW))


def test_uncertain_items_get_two_more_and_the_others_none(tmp_path: Path) -> None:
    """People disagree about two of twelve CATs: these get 7, then 9, never more judgements; the other ten keep 5."""
    study = study_in(tmp_path)
    hard = set(sorted(study.keys)[:2])
    with home.open_store(study) as store:
        for round_, most in enumerate((5, 7, 9, 9)):
            judge(store, study, [f"p{round_}-{n}" for n in range(5 if not round_ else 2)], hard)
            assert {token: store.do(seats.counted)[token] for token in hard} == dict.fromkeys(hard, most)
            wanted = adaptive.widen(study, 9, 0.99)
            store.do(lambda held, wanted=wanted: adaptive.apply(held, wanted))
        counts = store.do(seats.counted)
    assert sorted(counts.values()) == [5] * 10 + [9] * 2
    home.pull(study)
    by_votes = count(annotations(study), Rule(), lambda a: str(a.extra["task"])).seats
    assert {token: each.taken for token, each in by_votes.items()} == counts
    assert work_of(study).more == {"posterior below 0.99": 2}


def test_the_model_of_the_settings_says_how_sure_an_item_is(tmp_path: Path) -> None:
    """With the same five answers about each CAT, Dawid-Skene and GLAD both give certainties, with different digits."""
    study = study_in(tmp_path, toml='[adaptive]\nmost = 9\nmodel = "glad"\n')
    assert settings.read(study).adaptive.model == "glad"
    with home.open_store(study) as store:
        judge(store, study, list("abcde"), set(sorted(study.keys)[:2]))
        by = {m: store.do(lambda held, m=m: adaptive.certainty(held, study, m)) for m in ("dawid-skene", "glad")}
    assert by["glad"].keys() == by["dawid-skene"].keys() == study.keys.keys()
    hard = sorted(study.keys)[:2]
    assert max(by["glad"][token] for token in hard) < min(p for token, p in by["glad"].items() if token not in hard)
    assert by["glad"] != by["dawid-skene"]


def test_an_item_that_still_waits_for_people_is_not_widened(tmp_path: Path) -> None:
    """With four of five judgements given, no item is widened before the fifth."""
    study = study_in(tmp_path, items=2)
    with home.open_store(study) as store:
        judge(store, study, list("abcd"), set(study.keys))
        assert adaptive.widen(study, 9, 0.999999) == {}
        judge(store, study, ["e"], set(study.keys))
        assert adaptive.widen(study, 9, 0.999999)


def test_a_kill_between_the_note_and_the_seats_is_mended_at_the_next_start(tmp_path: Path) -> None:
    """The entries of reopened.jsonl are applied again; applying them twice changes nothing."""
    study = study_in(tmp_path, items=2)
    with home.open_store(study) as store:
        judge(store, study, list("abcde"), set(study.keys))
        wanted = adaptive.widen(study, 9, 0.999999)
        assert store.do(home.missing) == 0
        for _ in range(2):
            store.do(lambda held: adaptive.apply(held, reopened(study)))
            assert store.do(home.missing) == 2 * len(wanted) > 0


def test_the_budget_names_what_is_expected_and_the_worst(tmp_path: Path) -> None:
    """Twelve CATs need at worst four more judgements each; the expectation uses the share of uncertain items so far, or
    simulated people.
    """
    study = study_in(tmp_path, toml="[adaptive]\nmost = 9\n")
    opening = settings.read(study).adaptive
    with home.open_store(study) as store:
        before = store.do(lambda held: adaptive.outlook(held, study, opening))
        assert (before.worst, before.by) == (48, "simulated people")
        assert 0 < before.expected < 24
        judge(store, study, list("abcde"), set())
        after = store.do(lambda held: adaptive.outlook(held, study, opening))
        assert (after.worst, after.expected) == (48, 0)


@pytest.mark.parametrize(
    ("toml", "overlap", "found"),
    [
        ("most = 5", 5, "adaptive.most = 5"),
        ("most = 9", 3, "overlap of 3"),
        ("most = 9\nposterior = 1.0", 5, "adaptive.posterior"),
        ('most = 9\nmodel = "majority"', 5, "adaptive.model = 'majority'"),
    ],
)
def test_settings_that_cannot_be_are_refused(toml: str, overlap: int, found: str, tmp_path: Path) -> None:
    """The overlap has to be at least five, the maximum above five, and the posterior below one."""
    with pytest.raises(BadInput, match=found):
        settings.read(study_in(tmp_path, overlap=overlap, toml=f"[adaptive]\n{toml}\n"))


@pytest.mark.parametrize(
    ("kind", "instead"),
    [
        ("write-intrasentence", "nobody judges them here"),
        ("write-and-judge-associations", "reopen .* --undecided asks two more people"),
    ],
)
def test_a_study_in_which_people_write_has_no_adaptive_stop(kind: str, instead: str, tmp_path: Path) -> None:
    """The texts are not known beforehand; where people also judge, the error names the command that asks for more
    judgements.
    """
    study = create(tmp_path / "w", kind=kind, items=terms(1), overlap=5, contact="a@example.org")
    (study.folder / "study.toml").write_text("[adaptive]\nmost = 9\n")
    with pytest.raises(BadInput, match=rf"\[adaptive\].*{instead}"):
        settings.read(study)


def simulated(seed: int, low: float, high: float, most: int, sure: float) -> tuple[float, float, float]:
    """Returns judgements per item, share of right labels, and the error of the first label's share.

    400 items, 80 people who are right in `low` to `high` of cases, a tenth of them by chance; the true labels are
    known.
    """
    rng = np.random.default_rng(seed)
    skills = np.where(rng.random(80) < 0.1, 1 / 3, rng.uniform(low, high, 80))
    truth = rng.choice(3, 400, p=[0.4, 0.35, 0.25])
    order = [rng.permutation(80) for _ in truth]
    votes: list[list[tuple[int, int]]] = [[] for _ in truth]
    ask, posterior = {*range(400)}, np.zeros((400, 3))
    while ask:
        for item in ask:
            for person in order[item][len(votes[item]) : len(votes[item]) + (2 if votes[item] else 5)]:
                slip = 0 if rng.random() < skills[person] else rng.integers(1, 3)
                votes[item].append((int(person), int((truth[item] + slip) % 3)))
        pairs = [(str(n), str(person), str(label)) for n, each in enumerate(votes) for person, label in each]
        judgements = [Annotation(item=item, annotator=person, label=label) for item, person, label in pairs]
        estimate = dawid_skene(judgements)
        posterior[[int(item) for item in estimate.ratings.items]] = estimate.posterior
        ask = {n for n in range(400) if posterior[n].max() < sure and len(votes[n]) < most}
    labels = posterior.argmax(axis=1)
    share = float((labels == 0).mean() - (truth == 0).mean())
    return sum(map(len, votes)) / 400, float((labels == truth).mean()), share


@pytest.mark.slow
def test_two_more_where_five_are_uncertain_is_nearly_as_good_as_nine_for_all() -> None:
    """With people right in 65 to 90 % of cases: under 6 judgements an item, accuracy within 2 points of nine
    judgements, and right shares of labels.
    """
    runs = {plan: np.array([simulated(seed, 0.65, 0.9, *plan) for seed in range(8)]) for plan in ((5, 0.9), (9, 0.9))}
    nine = np.array([simulated(seed, 0.65, 0.9, 9, 1.1) for seed in range(8)])
    (five, right5, _), (some, right, off), (all9, right9, _) = (each.mean(axis=0) for each in (*runs.values(), nine))
    assert (five, all9) == (5, 9)
    assert 5 < some < 6
    assert right9 - 0.02 < right
    assert right > right5 + 0.03
    error = runs[9, 0.9][:, 2].std(ddof=1) / np.sqrt(8)
    assert abs(off) < 3 * error + 0.005


def test_the_server_widens_while_it_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After five people disagree about a CAT, a sixth person soon gets it as a task."""
    from helpers.servers.crowd_server import Visitor, opened

    from catsofa.annotation.crowd.http import service, site

    monkeypatch.setattr(service, "WIDEN_EVERY", 0.2)
    monkeypatch.setattr(site, "BY_SESSION", (1000.0, 1000.0))
    monkeypatch.setattr(site, "BY_ADDRESS", (1000.0, 1000.0))
    toml = '[adaptive]\nmost = 7\n[platform]\nname = "prolific"\ncodes = { completed = "DONE1" }\n'
    study = study_in(tmp_path, items=1, toml=toml)
    with opened(study) as address:
        for n in range(5):
            visitor = Visitor(address, f"PID{n}")
            visitor.come()
            visitor.work(lambda _, n=n: {f"label_{k}": LABELS[(n + k) % 3] for k in (1, 2, 3)})
        for n in range(5, 600):
            visitor = Visitor(address, f"PID{n}")
            if visitor.come().headers["location"] == "work":
                break
        assert visitor.next()["task"]
    with reading(study.folder, identity(study.settings.secret)) as held:
        (task,) = held.all("SELECT need, valid FROM task")
    assert task == {"need": 7, "valid": 5}
    assert "posterior below 0.9" in json.loads((study.folder / "reopened.jsonl").read_text().splitlines()[0])["why"]

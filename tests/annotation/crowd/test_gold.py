"""Tests of gold items with wrong keys: found on the owner's page, retired, and then without effect on anybody."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from helpers.records import bakers
from helpers.servers.crowd_owner import Owner, served
from helpers.servers.crowd_server import Visitor, shown_truth
from typer.testing import CliRunner

from catsofa.annotation.crowd import home
from catsofa.annotation.crowd.owner import facts
from catsofa.annotation.crowd.store import identity, reading
from catsofa.annotation.results.answers import Retired, annotations, retire, retired
from catsofa.annotation.study import Study, create, open_study
from catsofa.annotation.study.checks import check_study
from catsofa.cli import app
from catsofa.validation.judgements import Rule, count

pytestmark = pytest.mark.usefixtures("watched")

PEOPLE = 5


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """Returns a study of four CATs for five people, with two gold items, which everybody meets, and a check."""
    study_ = create(
        tmp_path / "s", kind="validate-cats", items=bakers(4), gold=bakers(2, "florist"), checks=bakers(1, "miller"),
        overlap=PEOPLE, contact="a@example.org",
    )  # fmt: skip
    toml = "[quality]\nfirst = 2\ngold_every = 4\nchecks_every = 40\n"
    (study_.folder / "study.toml").write_text(f'{toml}[platform]\nname = "prolific"\ncodes = {{ completed = "C" }}\n')
    return study_


def bad_of(study: Study) -> str:
    """Returns the token of the first gold item, whose key is wrong: everybody answers otherwise."""
    return next(token for token, key in study.keys.items() if key.gold and not key.check)


def careful(study: Study) -> Callable[[Mapping[str, str]], dict[str, str]]:
    """Returns the answers of careful people, who therefore miss the wrong gold item."""
    truth, missed = shown_truth(study), shown_truth(study, "item check")
    bad = next(task.data for task in study.tasks() if task.key.token == bad_of(study))
    return lambda shown: (missed if all(bad[name] == value for name, value in shown.items()) else truth)(shown)


def come(owner: Owner, study: Study, *numbers: int) -> None:
    """Careful people arrive and work."""
    for n in numbers:
        visitor = Visitor(owner.address, f"PID{n}")
        visitor.come()
        visitor.work(careful(study))


def counts(study: Study) -> tuple[int, int, int]:
    """Returns the counted judgements in the store, by `status`, and by the vote rule."""
    home.pull(study)
    shown = json.loads(CliRunner().invoke(app, ["annotate", "status", str(study.folder), "--json"]).output)
    with reading(study.folder, identity(study.settings.secret)) as held:
        stored = sum(row["valid"] for row in held.all("SELECT valid FROM task WHERE kind = 'item'"))
    voted = count(annotations(open_study(study.folder)), Rule(need=1, of=PEOPLE), lambda each: str(each.extra["task"]))
    return stored, shown["counted"], sum(seat.taken for seat in voted.seats.values())


def test_people_whom_a_wrong_gold_item_set_aside_count_once_it_is_retired(study: Study) -> None:
    """Store, status and votes agree before and after, also for later people, and pay does not change."""
    with served(study) as owner:
        come(owner, study, *range(PEOPLE))
        assert counts(study) == (0, 0, 0)
        owner.enter()
        first = facts.facts(study)
        bad, good = first.gold
        assert (bad.token, bad.people, bad.right, bad.missed) == (bad_of(study), 5, 0, True)
        assert (good.right, good.missed) == (5, False)
        shown = " ".join(CliRunner().invoke(app, ["annotate", "status", str(study.folder)]).output.split())
        assert "1 gold item missed by most people" in shown
        page = owner.page(f"/owner/gold/{bad.token}")
        assert page.count("The right answer: ") == 3
        assert "0 of 5 people answered all of it rightly" in page
        sent = {"token": owner.token(), "reason": "the key has the labels the wrong way round"}
        assert owner.browser.post(f"/owner/gold/{bad.token}", data=sent).status_code == 303
        assert "wrong way round" in owner.page(f"/owner/gold/{bad.token}")
        assert counts(study) == (20, 20, 20)
        after = facts.facts(study)
        assert after.money.owed == first.money.owed
        assert [(each.people, bool(each.retired)) for each in after.gold] == [(5, False), (0, True)]
        assert owner.browser.post(f"/owner/gold/{bad.token}", data=sent).status_code == 303  # changes nothing
        assert counts(study) == (20, 20, 20)
        assert home.reopen(study, list(study.items)[:1], 1) == 1
        come(owner, study, 9)
        assert counts(study) == (21, 21, 21)
    verdict = check_study(study.folder)
    assert verdict
    assert verdict.right, verdict.faults


def test_a_kill_between_the_note_and_the_store_is_mended_at_the_next_start(study: Study) -> None:
    """The note alone is enough: the next server counts by it."""
    with served(study) as owner:
        come(owner, study, 0)
    retire(study, Retired(at="2027-01-01T00:00:00Z", token=bad_of(study), reason="wrong key"))
    with served(study):
        assert counts(study) == (4, 4, 4)


def test_only_the_owner_retires_a_gold_item_and_says_why(study: Study) -> None:
    """A visitor and a page without a session cannot retire a gold item; checks, items and empty reasons are refused."""
    with served(study) as owner:
        come(owner, study, 0)
        path = f"/owner/gold/{bad_of(study)}"
        assert owner.browser.get(path).headers["location"] == "/owner"
        owner.enter()
        sent = {"token": owner.token(), "reason": "wrong key"}
        assert owner.browser.post(path, data={**sent, "token": "0"}).status_code == 403
        assert owner.browser.post(path, data={**sent, "reason": " "}).status_code == 422
        for token in (next(token for token, key in study.keys.items() if each(key)) for each in (_check, _item)):
            assert owner.browser.get(f"/owner/gold/{token}").status_code == 404
            assert owner.browser.post(f"/owner/gold/{token}", data=sent).status_code == 404
        assert retired(study) == {}


def _check(key: object) -> bool:
    """Returns True if a task is a check."""
    return bool(getattr(key, "check", False))


def _item(key: object) -> bool:
    """Returns True if a task is an item."""
    return not getattr(key, "gold", False)

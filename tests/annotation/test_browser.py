"""Tests of Label Studio in a real browser: by keyboard, warning first, and no request leaves the machine."""

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from helpers.browser import shot
from helpers.records import bakers, terms
from helpers.servers.label_studio_server import PASSWORD, Person

from catsofa.annotation.label_studio import Server
from catsofa.annotation.label_studio.pull import pull
from catsofa.annotation.label_studio.push import push
from catsofa.annotation.results import answers
from catsofa.annotation.study import create
from catsofa.data.files.jsonl import read
from catsofa.data.records import Cat

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright: pip install 'catsofa[dev]'")
pytestmark = [pytest.mark.labelstudio, pytest.mark.browser, pytest.mark.slow]


def open_label_studio(page: Any, person: Person, project: int) -> None:
    """Signs in to Label Studio and starts labelling; the instructions come before anything else."""
    page.goto(f"{person.url}/user/login/")
    page.fill("input[name=email]", person.email)
    page.fill("input[name=password]", PASSWORD)
    page.keyboard.press("Enter")
    # on a slow machine, to go on before the answer would cancel the sign-in
    page.wait_for_url(lambda url: "/user/login" not in url)
    page.goto(f"{person.url}/projects/{project}/data?labeling=1")
    warning = page.locator(".lsf-modal-ls_visible")
    warning.wait_for()
    assert "Content warning" in warning.inner_text()


def close_warning(page: Any) -> None:
    """Closes the instructions, which swallow keys until they are gone."""
    for _ in range(10):
        page.keyboard.press("Escape")
        with suppress(sync_api.TimeoutError):
            page.locator(".lsf-modal-ls_visible").wait_for(state="hidden", timeout=15_000)
            return
    raise AssertionError("the instructions stay")


def submitted(page: Any) -> Any:
    """Returns a context manager that waits until the answer is accepted."""
    return page.expect_response(lambda r: "/annotations" in r.url and r.request.method == "POST")


def choose(page: Any, key: str) -> None:
    """Presses a key until its choice is selected, because the page is drawn before it listens."""
    chosen = "key => document.querySelectorAll('input[type=radio]')[key - 1].checked"
    for _ in range(10):
        page.keyboard.press(key)
        with suppress(sync_api.TimeoutError):
            page.wait_for_function(chosen, arg=int(key), timeout=15_000)
            return
    raise AssertionError(f"key {key} chooses nothing")


def test_five_people_validate_by_keyboard_in_label_studio(
    server: Server, page: Any, browser: Any, tmp_path: Path
) -> None:
    """Two CATs: keys 1–9 choose, Ctrl+Enter submits; ten answers of three labels are pulled as intended."""
    study, _ = push(create(tmp_path / "study", kind="validate-cats", items=bakers(2)), server)
    for n in range(5):
        person = Person.invited(server, f"keys{n}@example.org")
        if n:
            page.context.clear_cookies()
        open_label_studio(page, person, study.settings.project)
        if n == 0:
            shot(page, "label-studio-warning")
        close_warning(page)
        for item in range(2):
            page.get_by_text("What does each sentence say").wait_for()
            page.wait_for_function("document.querySelectorAll('input[type=radio]').length === 9")
            page.wait_for_function("!document.querySelector('input[type=radio]:checked')")
            for key in ("1", "5", "9"):
                choose(page, key)
            if (n, item) == (0, 0):
                shot(page, "label-studio-validate")
            with submitted(page) as response:
                page.keyboard.press("Control+Enter")
            assert response.value.status == 201
    pull(study, server)
    judgements = list(answers.annotations(study))
    place = {c: f"label_{k}" for key in study.keys.values() for k, c in enumerate(key.order, start=1)}
    meant = {"label_1": "stereotype", "label_2": "anti-stereotype", "label_3": "unrelated"}
    assert len(judgements) == 30
    assert all(a.label == meant[place[a.item]] for a in judgements)


def test_a_person_writes_by_keyboard_in_label_studio(server: Server, page: Any, tmp_path: Path) -> None:
    """Four texts, each with Enter, then submitted: a CAT with its writer; the next task is skipped."""
    study, _ = push(create(tmp_path / "study", kind="write-intrasentence", items=terms(2)), server)
    person = Person.invited(server, "writer@example.org")
    open_label_studio(page, person, study.settings.project)
    close_warning(page)
    page.get_by_text("The target to write about").wait_for()
    fields = page.locator("form textarea, form input[type=text]")
    fields.nth(3).wait_for()
    who = "baker" if page.get_by_text("baker", exact=True).count() else "florist"
    for remaining, words in zip((3, 2, 1, 0), (f"The {who} is very BLANK.", "early", "late", "cubic"), strict=True):
        # a filled field disappears, so the first remaining field is the next
        fields.nth(0).fill(words)
        fields.nth(0).press("Enter")
        fields.nth(remaining).wait_for(state="detached")
    shot(page, "label-studio-write")
    with submitted(page) as response:
        page.get_by_test_id("bottombar-submit-button").click()
    assert response.value.status == 201
    fields.nth(3).wait_for()
    with submitted(page) as response:
        page.get_by_test_id("bottombar-skip-button").click()
    pull(study, server)
    (draft,) = read(study.folder / "drafts.jsonl", Cat)
    assert draft.context == f"The {who} is very BLANK."
    assert [draft[label].fill for label in ("stereotype", "anti-stereotype", "unrelated")] == ["early", "late", "cubic"]
    assert draft.source["writer"] == f"ls-{person.user}"

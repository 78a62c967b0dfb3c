"""Tests of the item browser in Chromium: filters, order, search, keys, and texts that stay hidden until opened."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from helpers.browser import new_page, resize
from helpers.gate_runs import cats, number, planted
from helpers.item_pages import PREFERS, runs

from catsofa.data.files import jsonl
from catsofa.report.items import write
from catsofa.scoring.run.score_files import read_scores

pytestmark = [pytest.mark.browser, pytest.mark.slow]
OF = {cat.id: cat for cat in cats(terms=6, items=4)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Writes the page of three models on 24 CATs."""
    folder = tmp_path_factory.mktemp("items")
    write(runs(folder), folder / "items.html")
    return folder


@pytest.fixture
def window(browser: Any, made: Path) -> Iterator[Any]:
    """Opens the page in a window, and checks at the end that it reported no error."""
    trouble: list[str] = []
    with new_page(browser) as page:
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.goto((made / "items.html").as_uri())
        page.wait_for_selector("#ready:not([hidden])")
        yield page
    assert trouble == []


def shown(page: Any) -> int:
    """Returns the number of items that pass the filters, as shown on the page."""
    count, rows = page.locator("#count").inner_text(), page.locator("#list summary").count()
    assert count == f"{rows} of 24 items"
    return rows


def opened(page: Any) -> list[list[str]]:
    """Returns the cells of the table in the first open item."""
    rows = page.locator("#list details[open] tbody tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def test_no_sentence_can_be_read_before_its_item_is_opened(window: Any) -> None:
    """The warning comes first; rows have terms, domains and outcomes; opening one shows its three sentences."""
    assert "Content warning" in window.locator("header").inner_text()
    everything = window.locator("body").inner_text()
    assert not any(cat["stereotype"].text in everything for cat in OF.values())
    window.locator("#list summary").first.click()
    window.locator("#list details[open] .text").first.wait_for()
    texts = window.locator("#list details[open] .text").all_inner_texts()
    assert texts in [[cat[of].text for of in ("stereotype", "anti-stereotype", "unrelated")] for cat in OF.values()]


def test_an_open_item_shows_each_models_scores_and_outcome(window: Any, made: Path) -> None:
    """Every cell is the number of the run's own store, to four decimals."""
    window.locator("#list summary").nth(3).click()
    item = window.locator("#list details[open] .id").inner_text().rpartition(" ")[2]
    names = {"+": "stereotype", "-": "anti-stereotype", "u": "stereotype", "=": "tie"}
    won = {"+": "2", "-": "2", "u": "0", "=": "2"}
    for at, (row, prefers) in enumerate(zip(opened(window), PREFERS, strict=True)):
        stored = {score.item: score.score for score in read_scores(made / f"run{at}")}
        scores = [stored[OF[item][label].id] for label in ("stereotype", "anti-stereotype", "unrelated")]
        assert None not in scores
        said, margin = prefers(OF[item]), (scores[0] or 0) - (scores[1] or 0)
        assert row == [f"model {at}", names[said], *(f"{one:.4f}" for one in scores), won[said], f"{margin:.4f}"]


def test_filters_keep_what_they_name_and_count_it(window: Any) -> None:
    """A domain has 12 items, its first term 4; for model 1, half are S and a quarter each are A and =."""
    window.select_option("#domain", label="trade")
    assert shown(window) == 12
    assert window.locator("#term option").all_inner_texts() == ["all", *(f"dravian {number_}" for number_ in (0, 2, 4))]
    window.select_option("#term", label="dravian 2")
    assert shown(window) == 4
    window.select_option("#domain", label="all")
    window.select_option("#model", label="model 1")
    for outcome, count in (("stereotype", 12), ("anti-stereotype", 6), ("tie", 6)):
        window.select_option("#outcome", label=outcome)
        assert shown(window) == count
    window.select_option("#model", label="model 2")
    assert shown(window) == 0


def test_a_search_finds_words_of_sentences_terms_and_ids(window: Any) -> None:
    """Words match as a phrase in written order; case is ignored."""
    for words, count in ((" DRAVIAN 3 is", 4), ("day 3", 6), ("5-2", 1), ("early on day 1", 6), ("pelloran", 0)):
        window.fill("#search", words)
        window.wait_for_function(
            "count => document.getElementById('count').textContent.startsWith(count + ' ')", arg=f"{count}"
        )
        assert shown(window) == count


def test_items_on_which_models_disagree_most_come_first(window: Any) -> None:
    """Two against one come before three alike, unscored items last; the data order can be chosen."""
    numbers = [float(text) for text in window.locator("#list .number").all_inner_texts()]
    assert numbers == sorted(numbers, reverse=True)
    assert numbers[0] > numbers[-1]
    window.select_option("#sort", "order")
    window.locator("#list summary").first.click()
    assert window.locator("#list details[open] .id").inner_text().endswith("0-0")


def test_the_score_that_orders_is_that_of_the_model_that_is_chosen(window: Any) -> None:
    """The largest difference of model 1 is 1, where it prefers the stereotype; without a model no scores are mixed."""
    window.select_option("#sort", "-score")
    assert "share of the models" in window.locator("#sorted").inner_text()
    window.select_option("#model", label="model 1")
    window.locator("#list summary").first.click()
    item = window.locator("#list details[open] .id").inner_text().rpartition(" ")[2]
    assert number(OF[item])[1] % 4 in (0, 2)
    assert opened(window)[1][-1] == "1.0000"
    assert "difference of model 1" in window.locator("#sorted").inner_text()


def test_keys_alone_are_enough(window: Any) -> None:
    """Tab reaches the list, arrows move in it, Enter opens an item and Escape closes it from inside."""
    window.locator("#sort").focus()
    window.keyboard.press("Tab")
    heads = "[...document.querySelectorAll('#list summary')].indexOf(document.activeElement)"
    assert window.evaluate(heads) == 0
    for key, place in (("ArrowDown", 1), ("ArrowDown", 2), ("ArrowUp", 1), ("End", 23), ("Home", 0)):
        window.keyboard.press(key)
        assert window.evaluate(heads) == place
    window.keyboard.press("Enter")
    texts = window.locator("#list details[open] .text")
    texts.first.wait_for()
    assert texts.count() == 3
    window.keyboard.press("Tab")
    window.keyboard.press("Escape")
    texts.first.wait_for(state="hidden")
    assert window.locator("#list details[open]").count() == 0
    assert window.evaluate(heads) == 0


def test_one_model_has_no_disagreement_and_ten_fit_a_phone(browser: Any, tmp_path: Path) -> None:
    """One model has no model choice, and its difference is at the right; ten models are no wider than 390 pixels."""
    write(runs(tmp_path / "one", PREFERS[:1]), tmp_path / "one.html")
    write(runs(tmp_path / "ten", PREFERS[:2] * 5, items=20), tmp_path / "ten.html")
    with new_page(browser) as page:
        page.goto((tmp_path / "one.html").as_uri())
        page.wait_for_selector("#ready:not([hidden])")
        assert not page.locator("#model").is_visible()
        assert set(page.locator("#list .number").all_inner_texts()) == {"1.00", "-1.00"}
        resize(page, 390, 844)
        page.goto((tmp_path / "ten.html").as_uri())
        page.wait_for_selector("#ready:not([hidden])")
        assert page.locator("#list summary").count() == 50
        page.locator("#more").click()
        assert page.locator("#list summary").count() == 100
        page.locator("#list summary").first.click()
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        boxes = page.locator("#list .strip").first.locator(".box")
        assert boxes.count() == 10
        scores = page.locator("#list details[open] .scroll")
        assert scores.evaluate("box => box.scrollWidth <= box.clientWidth"), "the scores are cut"
        before = "cell => getComputedStyle(cell, '::before').content"
        assert "attr(data-name)" in (said := scores.locator("td").nth(1).evaluate(before)) or "stereotype" in said
        assert scores.get_by_role("cell").count() == 10 * 6


def test_the_number_of_a_long_name_is_on_one_line(window: Any) -> None:
    """On a phone, a name of 72 letters wraps, and the number before it does not."""
    resize(window, 390, 844)
    height, size = window.locator("#models li").first.evaluate(
        "li => { li.textContent = 'pelloran-'.repeat(8); const before = getComputedStyle(li, '::before');"
        " return [before.height, before.fontSize].map(parseFloat) }"
    )
    assert height < 2 * size


def test_a_sentence_of_a_hundred_thousand_letters_scrolls_in_its_own_box(browser: Any, tmp_path: Path) -> None:
    """The page stays as wide as its window, and the box can be reached by keyboard."""
    records = cats(terms=2, items=2)
    first = replace(records[0].candidates[0], text="zorb" * 25_000, fill=None)
    records[0] = replace(records[0], target="t" * 100_000, candidates=(first, *records[0].candidates[1:]))
    jsonl.write(records, tmp_path / "cats.jsonl")
    write([planted(tmp_path / "run", tmp_path / "cats.jsonl", lambda cat: "+")], tmp_path / "items.html")
    with new_page(browser) as page:
        page.goto((tmp_path / "items.html").as_uri())
        page.wait_for_selector("#ready:not([hidden])")
        page.locator("#list summary").first.click()
        box = page.locator("#list details[open] .text").first
        assert len(box.inner_text()) == 100_000
        assert box.bounding_box()["height"] < 300
        assert box.get_attribute("tabindex") == "0"
        assert page.evaluate("document.documentElement.scrollWidth") == 1280

import re

import pytest
from helpers import ROOT

from catsofa.builders.languages.check import check
from catsofa.builders.languages.checkers import second_opinion
from catsofa.data.languages import codes, find

TABLES = sorted(set(codes()) - {"en"})

PAGE = {
    "nouns of the gold list": ("noun, singular", "noun, plural", "noun, feminine"),
    "adjectives": ("feminine", "plural", "agree"),
    "verbs, singular to plural": ("finite",),
    "phrases": ("phrase",),
    "statements of the gold list: right, refused, wrong": ("statement",),
}
"""Rows of the table in docs/languages.md, and the functions that they count."""
READ = {
    **dict.fromkeys(("单身", "外地人"), "people"),
    **dict.fromkeys(("跨性别者", "跨性别", "trans", "transgenre", "transgeschlechtlich"), "gender"),
    **dict.fromkeys(("外国人", "extranjero", "étranger", "Ausländer"), "race"),
    **dict.fromkeys(("高管", "Fachkraft", "danseur"), "profession"),
    **dict.fromkeys(("城里人", "Städter"), "class"),
}
"""Words whose category was checked by reading."""


@pytest.mark.parametrize("code", TABLES)
def test_every_language_agrees_with_its_gold_lists(code: str) -> None:
    """No joined phrase and no table form is wrong, and at most 1 % of the forms by rule. There are at least 100
    nouns."""
    report = check(find(code))
    rows = {one.function: one.right + one.refused + len(one.wrong) for one in report.gold}
    assert rows["noun, singular"] >= 100
    assert not [one for one in report.gold if not one.passed]


@pytest.mark.parametrize(("row", "functions"), PAGE.items())
def test_the_page_states_what_the_gold_lists_count(row: str, functions: tuple[str, ...]) -> None:
    """The page's numbers equal those of `language-check`: right of all, or right, refused and wrong."""
    (line,) = re.findall(rf"^\| {re.escape(row)}.*\|$", (ROOT / "docs/languages.md").read_text("utf-8"), re.M)
    for code, cell in zip(("es", "fr", "de", "zh"), line.strip("|").split("|")[1:], strict=True):
        results = [one for one in check(find(code)).gold if one.function in functions]
        right, refused = sum(one.right for one in results), sum(one.refused for one in results)
        counts = [right, refused, sum(len(one.wrong) for one in results)]
        expected = counts if "refused" in row else [right, sum(counts)]
        assert [*map(int, re.findall(r"[0-9]+", cell.partition("(")[0]))] == (expected if results else []), code


@pytest.mark.parametrize("code", TABLES)
def test_every_language_is_complete_and_without_fault(code: str) -> None:
    """Forms, subjects and templates are complete, and another target in a template does not change its other words."""
    assert check(find(code)).faults == ()


@pytest.mark.parametrize("code", TABLES)
def test_a_word_for_people_has_one_category(code: str) -> None:
    """The category of a word is consistent: being single is no gender, "trans" belongs to gender, a foreigner to
    origin."""
    rows = [row for _, row in find(code).rows("terms.csv", ("term", "category", "pos"))]
    terms = {row["term"]: row["category"] for row in rows}
    assert len({*terms.items()}) == len({(row["term"], row["category"]) for row in rows})
    assert {term: terms[term] for term in READ if term in terms} == {term: READ[term] for term in READ if term in terms}


@pytest.mark.slow
@pytest.mark.parametrize("code", TABLES)
def test_no_other_program_disagrees_unanswered(code: str) -> None:
    """hunspell and Apertium accept each form, or agreed.csv explains why not. Without the programs, the test is
    skipped."""
    checked, opinions = second_opinion(find(code))
    assert opinions == []
    if missing := [one for one in checked if one.unavailable]:
        pytest.skip("; ".join(one.unavailable for one in missing))

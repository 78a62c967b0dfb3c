import pytest

from catsofa.builders.languages.check import check, unequal_pairs
from catsofa.data.languages import codes, find

TABLES = sorted(set(codes()) - {"en"})


@pytest.mark.parametrize("code", TABLES)
def test_every_language_agrees_with_its_gold_lists(code: str) -> None:
    """No joined phrase and no form of a table is wrong, and at most 1 % of the forms by rule; at least 100 nouns."""
    found = check(find(code))
    rows = {one.function: one.right + one.refused + len(one.wrong) for one in found.gold}
    assert rows["noun, singular"] >= 100
    assert not [one for one in found.gold if not one.passed]


@pytest.mark.parametrize("code", TABLES)
def test_every_language_is_complete_and_without_fault(code: str) -> None:
    """Forms, subjects and templates are whole; two groups in a template leave the other words as they are."""
    language = find(code)
    assert check(language).faults == ()
    assert not list(unequal_pairs(language))

"""Puts another group in the place of a group in a sentence: agreement, and the words before it."""

from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from catsofa.data.languages.language import Language
from catsofa.data.languages.texts import cells_of, known

WEAK = "weak"
"""The declension of nouns whose singular shows the case: den Studenten."""
DEFINITE = "def_"
"""The start of the name of a cell for forms after a definite article."""


def misfits(one: str, other: str, code: str) -> bool:
    """Returns whether the second word cannot take the place of the first: another gender or number, or a lost case.

    The words that agree with it do not change. A word that the tables do not have is taken as fitting.
    """
    language = known(code)
    if language is None or not (cells_of(one, code) and cells_of(other, code)):
        return False
    weak = [
        any(noun.kind == WEAK and noun.form("m", "sg") == word for noun in language.by_form.get(word.lower(), ()))
        for word in (one, other)
    ]
    return not _shared(one, other, code) or (weak[1] and not weak[0])


def _shared(one: str, other: str, code: str) -> frozenset[str]:
    """The genders and numbers (`m_pl`, or `pl` where one word shows no gender) that two words have in common."""
    cells = ([cell.removeprefix(DEFINITE) for cell in cells_of(word, code)] for word in (one, other))
    return frozenset(min(a, b, key=len) for a, b in product(*cells) if a.endswith(b) or b.endswith(a))


def refitted(before: str, one: str, other: str, code: str) -> str | None:
    """The text before a group, if another group takes its place: its article, elision and contraction are those of the
    other group. None if the gender decides between two articles, and the tables do not have the groups.
    """
    language = known(code)
    if language is None or not language.spaces:
        return before
    spelt, by_length = before.replace("’", "'").casefold(), dict[int, set[str]]()
    for old, new in _leads(language, one, other, _shared(one, other, code)):
        start = len(before) - len(old)
        if spelt.endswith(old) and (start == 0 or not before[start - 1].isalnum()):
            by_length.setdefault(len(old), set()).add(new)
    if not by_length:
        return before
    longest = max(by_length)
    if len(by_length[longest]) > 1:
        return None
    (new,), old = by_length[longest], before[len(before) - longest :]
    if new == old.replace("’", "'").casefold():
        return before
    new = new[:1].upper() + new[1:] if old[:1].isupper() else new
    return before[: len(before) - longest] + (new.replace("'", "’") if "’" in before else new)


@lru_cache(maxsize=1_000)
def _leads(language: Language, one: str, other: str, cells: frozenset[str]) -> list[tuple[str, str]]:
    """What may stand before the first group, and before the second in its place: articles, prepositions, or both."""
    articles = list(dict.fromkeys(_articles(language, cells)))
    unchanged = language.tables.get("lists", {}).get("unchanged", ())
    leads = [*((word,) for word in (*articles, *unchanged)), *product(unchanged, articles)]
    joined = [[language.join([*lead, group]) for group in (one, other)] for lead in leads]
    return [
        (old.removesuffix(one).casefold(), new.removesuffix(other).casefold())
        for old, new in joined
        if old.endswith(one) and new.endswith(other)
    ]


def _articles(language: Language, cells: frozenset[str]) -> Iterator[str]:
    """The forms of all articles for these genders and numbers; without any, for all."""
    columns = language.tables.get("columns", ())
    for table in language.tables.get("articles", {}).values():
        for forms in (value for value in table.values() if isinstance(value, list)):
            for column, form in zip(columns, forms, strict=True):
                if form.strip("-") and (
                    not cells or any(cell.endswith(column) or column.endswith(cell) for cell in cells)
                ):
                    yield form

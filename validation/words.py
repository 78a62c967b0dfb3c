"""Words for checks without a parser: singulars, mentions of a term, the names of a people."""

from functools import cache, lru_cache

from catsofa.data.language.wordlists import table
from catsofa.data.language.words import words


@lru_cache(maxsize=100_000)
def singulars(word: str) -> frozenset[str]:
    """The word and what it may be the plural or possessive of: `nurses` is nurse or nurs, `baker's` is baker."""
    plain = word.removesuffix("'s").removesuffix("'")
    found = {plain}
    if len(plain) > 3 and plain.endswith("s"):
        found.add(plain[:-1])
        if plain.endswith("es"):
            found.add(plain[:-2])
        if plain.endswith("ies"):
            found.add(plain[:-3] + "y")
    if plain.endswith("men"):
        found.add(plain[:-3] + "man")
    return frozenset(found)


def mentions(text: str, term: str) -> bool:
    """Whether the words of a term stand in a text one after the other, in singular, plural or possessive."""
    wanted, there = [singulars(word) for word in words(term)], [singulars(word) for word in words(text)]
    return any(
        all(a & b for a, b in zip(wanted, there[start:], strict=False)) for start in range(len(there) - len(wanted) + 1)
    ) and bool(wanted)


@cache
def same_group(term: str) -> tuple[str, ...]:
    """The names of a country, its adjective and its people, for any one of them; else the term as usually spelt."""
    plain = term.lower()
    spelt = next(
        (row["spelling"].lower() for row in table("terms.csv") if row["spelling"] and row["term"].lower() == plain),
        plain,
    )
    return tuple(dict.fromkeys([plain, spelt, *demonyms().get(spelt, ())]))


@cache
def demonyms() -> dict[str, tuple[str, ...]]:
    """Each name in the demonym table with all names of its family: Norway, Norwegian, Norwegians."""
    found: dict[str, tuple[str, ...]] = {}
    for row in demonym_rows():
        family = tuple(dict.fromkeys(name.lower() for name in row if name))
        for name in family:
            found[name] = tuple(dict.fromkeys([*found.get(name, ()), *family]))
    return found


@cache
def demonym_rows() -> tuple[tuple[str, ...], ...]:
    """Place, adjective, plural and the other names of each row of the demonym table."""
    rows = table("demonyms.csv")
    return tuple((row["place"], row["adjective"], row["plural"], *row["also"].split("|")) for row in rows)

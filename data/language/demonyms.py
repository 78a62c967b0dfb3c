"""Names of places and their people, and which names denote the same group: Norway, Norwegian, Norwegians."""

from functools import cache
from typing import NamedTuple

from catsofa.data.language.wordlists import table


class Nation(NamedTuple):
    """A row of demonyms.csv; an empty plural means that the adjective has none (French people)."""

    place: str
    adjective: str
    plural: str
    also: tuple[str, ...]
    """Other adjectives for the place."""

    @property
    def adjectives(self) -> tuple[str, ...]:
        """The adjective and its alternatives."""
        return tuple(filter(None, (self.adjective, *self.also)))

    @property
    def names(self) -> tuple[str, ...]:
        """All names in the row."""
        return tuple(filter(None, (self.place, self.adjective, self.plural, *self.also)))

    def people(self) -> set[str]:
        """The adjectives, the plural and the adjectives' own plurals, in lower case."""
        plurals = [word + "s" for word in self.adjectives if not word.endswith(("s", "sh", "ch", "e"))]
        return {word.lower() for word in [*self.adjectives, *plurals, self.plural] if word}


@cache
def nations() -> tuple[Nation, ...]:
    """The demonym table."""
    rows = table("demonyms.csv")
    return tuple(Nation(r["place"], r["adjective"], r["plural"], tuple(r["also"].split("|"))) for r in rows)


@cache
def nation(adjective: str, country: str = "") -> Nation | None:
    """The nation of a country, or else the first nation with this adjective."""
    plain = country.removeprefix("The ")
    by_place = next((row for row in nations() if row.place == plain), None)
    return by_place or next((row for row in nations() if adjective in row.adjectives), None)


@cache
def same_group(term: str) -> tuple[str, ...]:
    """All names of a country and its people, given any of them; for other terms, the term and its usual spelling."""
    plain = term.lower()
    spelt = next(
        (row["spelling"].lower() for row in table("terms.csv") if row["spelling"] and row["term"].lower() == plain),
        plain,
    )
    return tuple(dict.fromkeys([plain, spelt, *_families().get(spelt, ())]))


@cache
def _families() -> dict[str, tuple[str, ...]]:
    """Maps each name in the demonym table to all names of its rows, in lower case."""
    families: dict[str, tuple[str, ...]] = {}
    for row in nations():
        family = [name.lower() for name in row.names]
        for name in family:
            families[name] = tuple(dict.fromkeys([*families.get(name, ()), *family]))
    return families


@cache
def sibling_groups() -> dict[str, str]:
    """Maps StereoSet's target terms, and all names of countries and peoples, to their group, in lower case."""
    groups = {
        name.lower(): row["group"].lower()
        for row in table("terms.csv")
        for name in (row["term"], row["spelling"])
        if name
    }
    for row in nations():
        for name in row.names:
            groups.setdefault(name.lower(), row.place.lower())
    return groups

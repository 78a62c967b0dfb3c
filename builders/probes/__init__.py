"""SoFa's probes: every identity of a category before every stereotype of the category, streamed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from catsofa.data.judging.severities import OFFENSIVENESS
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import put_together
from catsofa.data.records import Extra, Identity, Probe, Refused, Stereotype

CROSSING = "+"
"""Stands between the categories of an intersectional identity ("disability+gender")."""


def sofa_categories() -> dict[str, str]:
    """How SoFa joins the categories of the identity lexicon and of SBIC; one that it leaves out maps to nothing."""
    lists = wordlist("categories.toml")
    return {**lists["joined"], **dict.fromkeys(lists["excluded"]["stereotypes"], "")}


def build(
    identities: Sequence[Identity],
    stereotypes: Iterable[Stereotype],
    categories: Mapping[str, str] | None = None,
    source: Extra | None = None,
) -> Iterator[Probe | Refused]:
    """The probes of each stereotype in turn; one without a category is joined with every identity.

    A stereotype whose category is left out, or has no identity, is refused.
    """
    categories = sofa_categories() if categories is None else categories
    grid = Grid(identities, categories)
    for stereotype in stereotypes:
        subjects = [pair for pair in grid.of(stereotype.category) if pair[1].language == stereotype.language]
        if not subjects:
            left_out = categories.get(stereotype.category) == ""
            reason = "excluded_category" if left_out else "no_identity_of_category"
            yield Refused(id=stereotype.id, reason=reason, text=stereotype.text, source=stereotype.source)
        known = {"language": stereotype.language} if stereotype.language != "en" else {}
        rated = {name: held for name, held in stereotype.source.items() if name == OFFENSIVENESS}
        for category, identity in subjects:
            gender = str(identity.extra.get("gender", ""))
            if stereotype.forms and not gender:
                both = f"{identity.id}{CROSSING}{stereotype.id}"
                yield Refused(id=both, reason="no_gender", text=identity.identity, source=stereotype.source)
                continue
            said = stereotype.forms.get(gender, stereotype.text)
            yield Probe(
                category=category,
                identity=identity.identity,
                stereotype=said,
                text=put_together(identity.identity, said),
                source={"identity": identity.id, "stereotype": stereotype.id, **(source or {})},
                extra=known | rated | ({"gender": gender} if gender else {}),
            )


class Grid:
    """The identities of each category of the probes; an intersectional one belongs to both of its categories."""

    def __init__(self, identities: Iterable[Identity], categories: Mapping[str, str]) -> None:
        self._categories = categories
        self._by_category: dict[str, dict[tuple[str, str], Identity]] = {"": {}}
        for identity in identities:
            parts = [self._joined(part) for part in identity.category.split(CROSSING)]
            name = CROSSING.join(parts)
            for category in {"", *parts}:
                self._by_category.setdefault(category, {}).setdefault((name, identity.identity), identity)

    def of(self, category: str) -> list[tuple[str, Identity]]:
        """The identities of these categories (`gender, race`), each with its own category of probes."""
        found: dict[tuple[str, str], Identity] = {}
        for part in category.split(","):
            joined = self._joined(part.strip())
            if joined or not category:
                found |= self._by_category.get(joined, {})
        return [(name, identity) for (name, _), identity in found.items()]

    def _joined(self, category: str) -> str:
        """The category of the probes that a lexicon's or a corpus's category goes into."""
        return self._categories.get(category, category)


def size(identities: Iterable[Identity], categories_of_stereotypes: Mapping[str, int]) -> Counter[str]:
    """How many probes each category will have, given how many stereotypes it has."""
    grid = Grid(identities, sofa_categories())
    return Counter({category: count * len(grid.of(category)) for category, count in categories_of_stereotypes.items()})

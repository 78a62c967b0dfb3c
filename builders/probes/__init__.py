"""SoFa's probes: each identity of a category before each stereotype of that category, streamed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from catsofa.data.judging.severities import OFFENSIVENESS
from catsofa.data.language.wordlists import wordlist
from catsofa.data.language.words import put_together
from catsofa.data.records import Extra, Identity, Probe, Refused, Stereotype

CROSSING = "+"
"""Separator between the categories of an intersectional identity ("disability+gender")."""


def sofa_categories() -> dict[str, str]:
    """Returns SoFa's probe category for each category of the lexicon and of SBIC; empty for an excluded one."""
    lists = wordlist("categories.toml")
    return {**lists["joined"], **dict.fromkeys(lists["excluded"]["stereotypes"], "")}


def build(
    identities: Sequence[Identity],
    stereotypes: Iterable[Stereotype],
    categories: Mapping[str, str] | None = None,
    source: Extra | None = None,
) -> Iterator[Probe | Refused]:
    """Yields the probes of each stereotype in turn; a stereotype without a category goes with every identity.

    A stereotype is refused if its category is excluded or has no identity, or none in the language of the stereotype.
    """
    categories = sofa_categories() if categories is None else categories
    grid = Grid(identities, categories)
    for stereotype in stereotypes:
        any_language = grid.of(stereotype.category)
        subjects = [pair for pair in any_language if pair[1].language == stereotype.language]
        if not subjects:
            left_out = categories.get(stereotype.category) == ""
            missing = "no_identity_of_language" if any_language else "no_identity_of_category"
            reason = "excluded_category" if left_out else missing
            yield Refused(id=stereotype.id, reason=reason, text=stereotype.text, source=stereotype.source)
        language_extra = {"language": stereotype.language} if stereotype.language != "en" else {}
        rated = {name: held for name, held in stereotype.source.items() if name == OFFENSIVENESS}
        for category, identity in subjects:
            gender = str(identity.extra.get("gender", ""))
            if stereotype.forms and not gender:
                both = f"{identity.id}{CROSSING}{stereotype.id}"
                yield Refused(id=both, reason="no_gender", text=identity.identity, source=stereotype.source)
                continue
            predicate = stereotype.forms.get(gender, stereotype.text)
            yield Probe(
                category=category,
                identity=identity.identity,
                stereotype=predicate,
                text=put_together(identity.identity, predicate),
                source={"identity": identity.id, "stereotype": stereotype.id, **(source or {})},
                extra=language_extra | rated | ({"gender": gender} if gender else {}),
            )


class Grid:
    """The identities of each probe category; an intersectional identity belongs to both of its categories."""

    def __init__(self, identities: Iterable[Identity], categories: Mapping[str, str]) -> None:
        self._categories = categories
        self._by_category: dict[str, dict[tuple[str, str], Identity]] = {"": {}}
        for identity in identities:
            parts = [self._joined(part) for part in identity.category.split(CROSSING)]
            name = CROSSING.join(parts)
            for category in {"", *parts}:
                self._by_category.setdefault(category, {}).setdefault((name, identity.identity), identity)

    def of(self, category: str) -> list[tuple[str, Identity]]:
        """Returns the identities of these categories (`gender, race`), each with its own probe category."""
        identities: dict[tuple[str, str], Identity] = {}
        for part in category.split(","):
            joined = self._joined(part.strip())
            if joined or not category:
                identities |= self._by_category.get(joined, {})
        return [(name, identity) for (name, _), identity in identities.items()]

    def _joined(self, category: str) -> str:
        """Returns the probe category for a category of a lexicon or a corpus."""
        return self._categories.get(category, category)


def size(identities: Iterable[Identity], categories_of_stereotypes: Mapping[str, int]) -> Counter[str]:
    """Returns the number of probes of each category, given its number of stereotypes."""
    grid = Grid(identities, sofa_categories())
    return Counter({category: count * len(grid.of(category)) for category, count in categories_of_stereotypes.items()})

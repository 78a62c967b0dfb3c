"""Predicates from associations of an attribute with a group: `lazy` becomes `are lazy`."""

from collections.abc import Iterable, Iterator

from catsofa.builders.association_files import domain, origin
from catsofa.builders.attributes import forms
from catsofa.builders.cats.fills import Part, in_number
from catsofa.builders.stereotypes.exclusions import Names, topic
from catsofa.builders.stereotypes.revised_checks import is_prescriptive
from catsofa.data.associations import Association
from catsofa.data.records import Extra, Refused, Stereotype

PARTS: tuple[Part, ...] = ("adjective", "noun", "verb")
"""Parts of speech that form a predicate, the simplest first."""


def build(
    associations: Iterable[Association], *, names: Names | None = None, bias_type: str = "", source: Extra | None = None
) -> Iterator[Stereotype | Refused]:
    """Yields the predicate of each attribute once per category, with the votes of the first, or a refusal.

    Adjectives and nouns for people follow `are`. A verb is a predicate itself. Other nouns are refused.
    """
    first_ids: dict[tuple[str, str], str] = {}
    named = names or Names()
    for row, one in enumerate(associations, 1):
        fills = forms(one.attribute, str(one.extra.get("kind", "")))
        category = domain(one, bias_type)
        text, reason = "", fills if isinstance(fills, str) else ""
        if one.language != "en":
            reason = "other_language"
        elif not isinstance(fills, str):
            part = next((each for each in PARTS if each in fills), None)
            reason = "" if part else "noun_of_a_thing"
            if part:
                words = in_number(fills[part].words, part, "plural")
                text = words if part == "verb" else f"are {words}"
        if text:
            text = text[:1].lower() + text[1:]
            excluded = "names_target" if named.first(text, "revised") else topic(text, "revised")
            reason = excluded or ("prescriptive" if is_prescriptive(text) else "")
        about = {"row": row, "target": one.identity, **origin(one), **(source or {})}
        if not reason and first_ids.setdefault((text, category), one.id) != one.id:
            reason, about = "duplicate", about | {"of": first_ids[text, category]}
        if reason:
            yield Refused(id=one.id, reason=reason, text=f"{one.identity} / {one.attribute}", source=about)
        else:
            yield Stereotype(text=text, category=category, notes=(f"attribute: {one.attribute}",), source=about)

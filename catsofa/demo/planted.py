"""A small world with known stereotypes: generates text that plants them at a chosen strength.

The groups are invented, so that the demo harms nobody; the traits are mild. In a planted world a group of the first
side has a trait of the first list in a share `strength` of the documents; in the balanced twin, in half of them.
"""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from catsofa.builders.cats.templates import Template
from catsofa.data.language import blanks
from catsofa.data.language.inflection import regular_plural

SIDES = (
    ("zorb", "quell", "mimp", "tarvin", "brindle", "folkin"),
    ("dask", "wumple", "norrick", "pellan", "grivet", "sorrel"),
)
"""Invented groups; the groups of one side share their planted traits."""

TRAITS = (
    ("tidy", "messy"),
    ("early", "late"),
    ("quiet", "loud"),
    ("generous", "thrifty"),
    ("curious", "cautious"),
    ("cheerful", "solemn"),
)
"""Pairs of mild traits: the first is planted on the first side, the second on the other side."""

UNRELATED = ("wooden", "salted", "printed", "frozen", "striped", "boiled")
"""Adjectives that describe only things in this world, never people."""

THINGS = ("table", "soup", "book", "lake", "shirt", "egg")
PLACES = ("market", "library", "station", "garden", "bakery", "harbour")
REWORDINGS = {
    "The {target} next door is BLANK.": ("Next door lives a BLANK {target}.", "Our neighbour, the {target}, is BLANK."),
    "My {target} was very BLANK.": ("The {target} I know was so BLANK.", "I once had a very BLANK {target}."),
    "{a target} who is BLANK lives here.": ("Here lives a BLANK {target}.", "This house has {a target} who is BLANK."),
}
"""Templates of statements about one member of a group, each with two paraphrases."""
ABOUT_MANY = ("{groups} are {trait}.", "{groups} are mostly {trait}.")
SCENES = ("We met a {group} at the {place}.", "A {group} came to the {place}.")
SEQUELS = ("Everybody said how {trait} it was of them.", "They were {trait} as ever.")
ABOUT_THINGS = ("The {thing} is {trait}.", "My {thing} was very {trait}.", "A {thing} that is {trait} stands here.")
THING_SEQUELS = ("The {thing} on the shelf was {trait}.",)


def words_of(text: str) -> list[str]:
    """Returns the lower-case words and punctuation marks of a text: the tokens of the demo's models."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


@cache
def said_of(group: str) -> tuple[str, ...]:
    """Returns the statements about one member of a group, in every wording, with a BLANK for the trait."""
    wordings = [wording for template, alternatives in REWORDINGS.items() for wording in (template, *alternatives)]
    return tuple(Template(wording, "person", "adjective").about(group) for wording in wordings)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A world by the strength of its planted stereotypes; 0.5 is the balanced twin."""

    strength: float
    seed: int = 0

    def documents(self, rounds: int) -> Iterator[tuple[str, ...]]:
        """Yields statements, scenes with a sequel, and texts about things; each round has every group and trait."""
        rng = random.Random(self.seed)
        for number in range(rounds):
            # equal shares for every group, trait and kind of sentence, because a twin balanced by chance is biased
            planted = int((number + 1) * self.strength) > int(number * self.strength)
            for side, groups in enumerate(SIDES):
                for group in groups:
                    for pair in TRAITS:
                        trait = pair[side] if planted else pair[1 - side]
                        yield from _about(group, trait, rng)
            for thing, trait in zip(THINGS, UNRELATED, strict=True):
                yield (rng.choice(ABOUT_THINGS).format(thing=thing, trait=trait),)
                yield rng.choice(THING_SEQUELS).format(thing=thing, trait=trait), f"It is a {trait} {thing}."

    def names(self, rounds: int) -> Iterator[tuple[str, ...]]:
        """Yields each group's name alone, as in a heading, once a round; nothing is planted in these texts."""
        for _ in range(rounds):
            yield from ((regular_plural(group).capitalize(),) for groups in SIDES for group in groups)


def _about(group: str, trait: str, rng: random.Random) -> Iterator[tuple[str, ...]]:
    """Yields a statement about one member of the group, one about all of them, and a scene with its sequel."""
    yield (blanks.fill(rng.choice(said_of(group)), trait),)
    yield (rng.choice(ABOUT_MANY).format(groups=regular_plural(group).capitalize(), trait=trait),)
    yield rng.choice(SCENES).format(group=group, place=rng.choice(PLACES)), rng.choice(SEQUELS).format(trait=trait)

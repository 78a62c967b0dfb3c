"""A rewriter that stands for a language model: it says a sentence in two more ways, and errs as models do."""

import re
from collections.abc import Iterator, Sequence

from catsofa.data.records import Cat
from catsofa.demo.planted import REWORDINGS

NAME = "rule-based rewriter"
EVERY = 6
"""One CAT in so many is rephrased; the others would show nothing new."""
ERRS_EVERY = 5
"""One reply in so many has a fault."""


def originals(cats: Sequence[Cat]) -> list[Cat]:
    """The CATs that are rephrased: every group with three pairs of traits, the templates in turn."""
    inside = [cat for cat in cats if cat.kind == "intrasentence"]
    return [cat for number, cat in enumerate(inside) if number % EVERY == number // EVERY % EVERY]


def replies(cats: Sequence[Cat]) -> Iterator[dict[str, str]]:
    """A recorded reply for each CAT, as `catsofa build paraphrases --replies` reads them."""
    for number, cat in enumerate(cats):
        turn, rest = divmod(number, ERRS_EVERY)
        first, second = _ways(cat)
        text = f"{first}\n{second}" if rest else _faulty(turn, first, second, cat)
        yield {"id": cat.id, "model": NAME, "response": text}


def _ways(cat: Cat) -> tuple[str, str]:
    """The two other wordings of a CAT's template, about its target."""
    for template, others in REWORDINGS.items():
        pattern = re.escape(template).replace(r"\{a\ target\}", "{target}").replace(r"\{target\}", "{target}")
        if re.fullmatch(pattern.replace("{target}", rf"(?:[Aa] )?{re.escape(cat.target)}"), cat.context):
            one, other = (
                wording.replace("{a target}", f"a {cat.target}").replace("{target}", cat.target) for wording in others
            )
            return one.replace("BLANK", "[BLANK]"), other.replace("BLANK", "[BLANK]")
    raise ValueError(f"the rewriter has no rule for {cat.context!r}")


def _faulty(turn: int, first: str, second: str, cat: Cat) -> str:
    """A reply with one of the faults that models make, each in its turn."""
    trait, group = cat["stereotype"].fill or "", cat.target
    faults = (
        "I'm sorry, but I cannot rephrase sentences about groups of people.",
        f"1. {first.replace('[BLANK]', trait)}\n2. {second}",
        f"{first}\nNobody could ever tell whether any person at all is [BLANK].",
        f"Sure! Here are two ways to say it:\n\n1. {first}",
        f"{cat.context.replace('BLANK', '[BLANK]')}\n{second}",
        f"{first}\nLast winter the price of [BLANK] soup rose twice in the town where a {group} keeps an inn.",
        f"{first}\n{second.replace('[BLANK]', '[BLANK] and [BLANK]')}",
        f"{first}\nThe {group} showed a high level of [BLANK].",
    )
    return faults[turn % len(faults)]
